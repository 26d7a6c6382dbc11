"""Permission requests without a screen: asked on the terminal where there is one, else refused; never granted."""

from __future__ import annotations

import json
import os
import termios
from collections.abc import Callable
from contextlib import suppress

import anyio
from anyio.abc import TaskGroup

from acp_tui.client.sessions.session import Session
from acp_tui.conversation.entries import ToolCallEntry
from acp_tui.conversation.facts import PermissionRequest, RequestKey
from acp_tui.conversation.tool_calls import TextDiff, ToolCall
from acp_tui.conversation.unset import UNSET
from acp_tui.conversation.visible import make_visible, make_visible_line


class PermissionDesk:
    """Takes the requests of one session one after the other."""

    def __init__(self, session: Session, tasks: TaskGroup, say: Callable[[str], None]) -> None:
        self.has_rejected = False
        self._session = session
        self._tasks = tasks
        self._say = say
        self._taken: set[RequestKey] = set()
        self._lock = anyio.Lock()
        self._asked: RequestKey | None = None
        self._asking = anyio.CancelScope()

    def look(self) -> None:
        """Take up the requests that are new, and drop the question on the terminal where its request is gone."""
        waiting = self._session.conversation.permissions
        for key, request in waiting.items():
            if key not in self._taken:
                self._taken.add(key)
                self._tasks.start_soon(self._decide, request)
        if self._asked is not None and self._asked not in waiting:
            self._asking.cancel()

    def note_decisions(self, entry: ToolCallEntry) -> None:
        """See whether a permission about this call was rejected."""
        self.has_rejected |= any(
            (decision.option_kind or "").startswith("reject") for decision in entry.decisions
        )

    async def _decide(self, request: PermissionRequest) -> None:
        async with self._lock:
            if request.key not in self._session.conversation.permissions:
                return
            terminal = _open_terminal()
            if terminal is None:
                self._refuse(request)
                return
            try:
                await self._ask_until_gone(terminal, request)
            finally:
                os.close(terminal)

    async def _ask_until_gone(self, terminal: int, request: PermissionRequest) -> None:
        """Ask; where the agent takes its question back meanwhile, say so and let the next one be asked."""
        self._asked = request.key
        with anyio.CancelScope() as self._asking:
            await self._ask(terminal, request)
        self._asked = None
        if self._asking.cancelled_caught:
            _print(terminal, "\n(no answer is needed any more)\n")

    def _refuse(self, request: PermissionRequest) -> None:
        """Nobody can be asked. "Always" would speak for the user about more than this: only reject_once will do."""
        title = make_visible_line(self._call(request).shown_title)
        rejection = next((option for option in request.options if option.kind == "reject_once"), None)
        if rejection is not None:
            self._say(f"rejected, since there is no terminal to ask on: {title}")
            self._session.answer_permission(request.key, rejection.option_id)
        else:
            self._say(f"cancelled, since there is no terminal to ask on and no way to reject once: {title}")
            self.has_rejected = True
            self._session.cancel()

    def _call(self, request: PermissionRequest) -> ToolCall:
        return self._session.conversation.tool_call(request.tool_call_id).call

    async def _ask(self, terminal: int, request: PermissionRequest) -> None:
        _print(terminal, "\n" + "\n".join(_describe(self._call(request))) + "\n\n")
        for number, option in enumerate(request.options, 1):
            _print(
                terminal,
                f"  {number}  {make_visible_line(option.name)}  ({make_visible_line(option.kind)})\n",
            )
        # What was typed before the question was shown answers nothing.
        with suppress(termios.error):  # the terminal hung up; the read below says so
            termios.tcflush(terminal, termios.TCIFLUSH)
        while request.key in self._session.conversation.permissions:
            _print(terminal, f"\nYour choice, 1-{len(request.options)} (Ctrl+C cancels the turn): ")
            line = await _read_line(terminal)
            if line is None:
                self._session.cancel()
                return
            if line.isascii() and line.isdigit() and 1 <= int(line) <= len(request.options):
                self._session.answer_permission(request.key, request.options[int(line) - 1].option_id)
                return


def _open_terminal() -> int | None:
    """The controlling terminal, where there is one; it may be there while stdin and stdout are pipes."""
    try:
        return os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None


def _print(terminal: int, text: str) -> None:
    with suppress(OSError):
        os.write(terminal, text.encode("utf-8", "replace"))


async def _read_line(terminal: int) -> str | None:
    """A line the user typed; None at the end of input. The wait can be cancelled, which a blocking read could not."""
    await anyio.wait_readable(terminal)
    try:
        data = os.read(terminal, 4096)
    except OSError:  # the terminal hung up
        return None
    return data.decode("utf-8", "replace").strip() if data else None


def _describe(call: ToolCall) -> list[str]:
    lines = [f"The agent asks for permission: {make_visible_line(call.shown_title)}"]
    lines += [f"  at {make_visible_line(location.path)}" for location in call.locations]
    for item in call.content:
        if isinstance(item, TextDiff):
            lines += _describe_diff(item)
    reported = (
        "not reported"
        if call.raw_input is UNSET
        else json.dumps(call.raw_input, ensure_ascii=False, indent=2)
    )
    return [*lines, *f"  input: {make_visible(reported)}".splitlines()]


def _describe_diff(diff: TextDiff) -> list[str]:
    import difflib  # only for questions about edits

    old, new = (diff.old_text or "").splitlines(), diff.new_text.splitlines()
    changed = list(difflib.unified_diff(old, new, lineterm=""))[2:]
    return [f"  {make_visible_line(diff.path)}", *(f"  {make_visible(line)}" for line in changed)]
