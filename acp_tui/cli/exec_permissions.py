"""Permission requests without a screen: asked on the terminal where there is one, else refused; never granted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Final

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from acp_tui.cli.exec_question import question_text
from acp_tui.cli.exec_terminal import Terminal, open_terminal
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.answering import answer_of, keys_told
from acp_tui.conversation.entries import ToolCallEntry
from acp_tui.conversation.facts import REJECTIONS, PermissionRequest, RequestKey
from acp_tui.conversation.tool_calls import ToolCall
from acp_tui.conversation.visible import make_visible_line

GUARD_S: Final = 0.4
"""Nobody reads a question and answers it in less."""


class PermissionDesk:
    """Takes the requests of one session one after the other."""

    def __init__(
        self,
        session: Session,
        tasks: TaskGroup,
        say: Callable[[str], None],
        hold_output: Callable[[], AbstractContextManager[None]],
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        """`hold_output`: nothing else is to be printed within, so that the question stays the last thing shown."""
        self.has_rejected = False
        self._session = session
        self._tasks = tasks
        self._say = say
        self._hold_output = hold_output
        self._sleep = sleep
        self._taken: set[RequestKey] = set()
        self._lock = anyio.Lock()
        self._asked: RequestKey | None = None
        self._asking = anyio.CancelScope()

    def look(self) -> None:
        """Take up the requests that are new, and drop the question on the terminal where its request is gone."""
        waiting = self._session.conversation.permissions
        for key in waiting:
            if key not in self._taken:
                self._taken.add(key)
                self._tasks.start_soon(self._decide, key)
        if self._asked is not None and self._asked not in waiting:
            self._asking.cancel()

    def note_decisions(self, entry: ToolCallEntry) -> None:
        """See whether a permission about this call was rejected."""
        self.has_rejected |= any(decision.option_kind in REJECTIONS for decision in entry.decisions)

    async def _decide(self, key: RequestKey) -> None:
        async with self._lock:
            request = self._session.conversation.permissions.get(key)
            if request is None:
                return
            terminal = open_terminal()
            if terminal is None:
                self._refuse(request)
                return
            try:
                with self._hold_output():
                    await self._ask_until_gone(terminal, request)
            finally:
                terminal.close()

    async def _ask_until_gone(self, terminal: Terminal, request: PermissionRequest) -> None:
        """Ask; where the agent takes its question back meanwhile, say so and let the next one be asked."""
        self._asked = request.key
        with anyio.CancelScope() as self._asking:
            await self._ask(terminal, request)
        self._asked = None
        if self._asking.cancelled_caught:
            terminal.show("\n(no answer is needed any more)\n")

    def _refuse(self, request: PermissionRequest) -> None:
        """Nobody can be asked. "Always" would speak for the user about more than this: only reject_once will do."""
        title = make_visible_line(self._call(request).shown_title)
        if self._session.refuse_unasked(request.key):
            self._say(f"rejected, since there is no terminal to ask on: {title}")
        else:
            self._say(f"cancelled, since there is no terminal to ask on and no way to reject once: {title}")
            self.has_rejected = True
            self._session.cancel()

    def _call(self, request: PermissionRequest) -> ToolCall:
        return self._session.conversation.tool_call(request.tool_call_id).call

    async def _ask(self, terminal: Terminal, request: PermissionRequest) -> None:
        text = await self._text(request)
        terminal.show(f"\n{text}\n")
        keys = keys_told(request.answers)
        while request.key in self._session.conversation.permissions:
            # What is typed until the question can have been read, or behind another line, was meant for something else.
            await self._sleep(GUARD_S)
            terminal.forget_typed()
            terminal.show(f"\nYour choice, {keys} (Ctrl+C cancels the turn): ")
            line = await terminal.read_line()
            if line is None:
                self._session.cancel()
                return
            index = answer_of(request.answers, line)
            if index is None:
                continue
            await self._sleep(GUARD_S)
            if terminal.has_more():  # a paste, or text
                terminal.show("\nNothing is answered, since more was typed behind it.\n")
                continue
            now = await self._text(request)
            if now != text:
                text = now
                terminal.show(f"\nNothing is answered, since the question has changed:\n\n{text}\n")
                continue
            self._session.answer_permission(request.key, request.answers[index].option_id)
            return

    async def _text(self, request: PermissionRequest) -> str:
        """The question as it is now: the call changes in place, and the client may have found something out."""
        request = self._session.conversation.permissions.get(request.key, request)
        call, cwd = replace(self._call(request)), str(self._session.cwd)
        return await to_thread.run_sync(question_text, call, request, cwd)
