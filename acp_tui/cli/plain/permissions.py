"""Permission requests, asked in words one after the other. Only a number or letter that the user types allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from acp_tui.cli.exec_question import question_text
from acp_tui.cli.plain.asking import WITHDRAWN
from acp_tui.cli.plain.console import Console
from acp_tui.cli.plain.outbox import Outbox
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.answering import answer_of, keys_told
from acp_tui.conversation.facts import PermissionOption, PermissionRequest, RequestKey
from acp_tui.conversation.tool_calls import ToolCall
from acp_tui.conversation.wording import reason_prompt


class Permissions:
    """The requests of one session."""

    def __init__(
        self,
        session: Session,
        console: Console,
        outbox: Outbox,
        *,
        on_shown: Callable[[ToolCall], None],
        queue_first: Callable[[str], None],
    ) -> None:
        """`on_shown` hears which call was shown, `queue_first` the prompt that says why one was rejected."""
        self._session = session
        self._on_shown = on_shown
        self._console = console
        self._outbox = outbox
        self._queue_first = queue_first
        self._asked: RequestKey | None = None
        self._asking = anyio.CancelScope()

    def look(self, tasks: TaskGroup) -> None:
        """Ask what is to be asked, and ask no longer what is not waiting any more."""
        waiting = self._session.conversation.permissions
        if self._asked is not None and self._asked not in waiting:
            self._asking.cancel()
        elif self._asked is None and waiting:
            self._asked = next(iter(waiting))
            tasks.start_soon(self._ask_all)

    async def _ask_all(self) -> None:
        waiting = self._session.conversation.permissions
        while waiting:
            self._asked = next(iter(waiting))
            with anyio.CancelScope() as self._asking:
                await self._ask(waiting[self._asked])
            if self._asking.cancelled_caught:
                self._console.say(WITHDRAWN)
        self._asked = None

    async def _ask(self, request: PermissionRequest) -> None:
        await self._outbox.flush()
        text = await self._text(request)
        others = len(self._session.conversation.permissions)
        self._console.say(f"\n1 of {others} questions\n{text}" if others > 1 else f"\n{text}")
        rejection = request.rejection
        why = "" if rejection is None else ", w to reject and say why"
        prompt = f"Your choice, {keys_told(request.answers)}{why} (Ctrl+C cancels the turn): "
        while request.key in self._session.conversation.permissions:
            line = await self._console.ask(prompt)
            if line is None:
                self._session.cancel()
            elif line == "w" and rejection is not None:
                await self._reject(request, rejection)
            else:
                index, now = answer_of(request.answers, line), await self._text(request)
                if index is not None and now == text:
                    self._session.answer_permission(request.key, request.answers[index].option_id)
                elif now != text:  # the call changes in place
                    text = now
                    self._console.say(f"\nNothing is answered, since the question has changed:\n\n{text}")

    async def _text(self, request: PermissionRequest) -> str:
        conversation = self._session.conversation
        request = conversation.permissions.get(request.key, request)
        call = replace(conversation.tool_call(request.tool_call_id).call)  # it is looked at in a thread
        self._on_shown(call)
        return await to_thread.run_sync(question_text, call, request, str(self._session.cwd))

    async def _reject(self, request: PermissionRequest, rejection: PermissionOption) -> None:
        title = self._session.conversation.tool_call(request.tool_call_id).call.shown_title
        with anyio.CancelScope(shield=True):  # the answer takes the question back, not the reason
            self._session.answer_permission(request.key, rejection.option_id)
            reason = await self._console.ask("Rejected. Why? (Enter: no reason) ", is_guarded=False)
            if reason:
                self._queue_first(reason_prompt(title, reason))
