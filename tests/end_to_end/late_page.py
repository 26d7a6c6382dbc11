"""A program for a terminal: a session whose agent asks what it is told to, with all of acp-tui's waits scaled.

`late_page.py SCALE IN OUT`: it reads commands from the descriptor IN, one JSON list per line, and writes what the user
decides to OUT. The terminal decides when it shows what, and what the user presses.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from typing import Any, cast

from textual import events

from acp_tui.conversation.elicitation import ChoiceField, FieldChoice, Form, UrlVisit
from acp_tui.conversation.facts import PermissionOption, RequestKey
from acp_tui.conversation.tool_calls import ToolCallId, ToolCallPatch
from acp_tui.conversation.updates import ToolCallReported
from acp_tui.ui.commands import keys
from acp_tui.ui.kit import answer_guard
from acp_tui.ui.prompt import input as prompt_input
from acp_tui.ui.tab import questions
from acp_tui.ui.tab.screen import SessionScreen
from acp_tui.ui.textual_gaps import fence, flow_control
from support.folding import question_about
from support.screens import AGENT, Clock, ScreenApp, new_session

OPTIONS = (PermissionOption("yes", "Yes", "allow_once"), PermissionOption("no", "No", "reject_once"))
WAITS = (
    (answer_guard, "GUARD_S"),
    (answer_guard, "REPEAT_S"),
    (answer_guard, "HOLD_S"),
    (answer_guard, "LATE_KEY_S"),
    (keys, "GUARD_S"),
    (keys, "REPEAT_S"),
    (prompt_input, "IDLE_S"),
    (prompt_input, "LOOK_AGAIN_S"),
    (fence, "LOST_S"),
    (fence, "UNANSWERED_S"),
    (flow_control, "LOST_S"),
)


class LatePage(ScreenApp):
    """Does what it is told, and reports."""

    def __init__(self, commands: int, out: int) -> None:
        super().__init__(clock=cast(Clock, time.monotonic))
        self.session = new_session()
        self._commands = commands
        self._out = out
        self._asked: dict[str, asyncio.Task[Any]] = {}

    async def on_mount(self) -> None:
        """Show the session, then begin to listen."""
        assert isinstance(self.screen, SessionScreen)
        self.call_after_refresh(self._begin)

    async def _begin(self) -> None:
        assert isinstance(self.screen, SessionScreen)
        await self.screen.tab.show(self.session, AGENT)
        reader = asyncio.StreamReader()
        pipe = os.fdopen(self._commands, "rb")
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        self.run_worker(self._obey(reader))
        self._report("ready", "", 0)

    async def on_event(self, event: events.Event) -> None:
        """Report when each key was read."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            self._report("key", event.key, event.time)
        await super().on_event(event)

    async def _obey(self, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            do, name, what = json.loads(line)
            if do == "ask":
                patch = ToolCallPatch(ToolCallId(name), title="Run it", kind="execute", raw_input={"command": what})
                self._wait(name, what, self.session.request_permission(question_about(patch, OPTIONS)))
            elif do == "swap":
                self.session.apply(ToolCallReported(ToolCallPatch(ToolCallId(name), raw_input={"command": what})))
            elif do == "choose":
                # Each choice says what it is for: the card may have scrolled down to them.
                field = ChoiceField("choice", (FieldChoice("a", f"A {what}"), FieldChoice("b", f"B {what}")))
                self._wait(name, what, self.session.elicit(Form(RequestKey(0), what, (field,))))
            elif do == "visit":
                visit = UrlVisit(RequestKey(0), "Look", "e", f"https://{what}.example")
                self._wait(name, what, self.session.elicit(visit))
            elif do == "report":
                self._report("ready", "", 0)
            elif do == "withdraw" and (asked := self._asked.pop(name, None)) is not None:
                asked.cancel()

    def _wait(self, name: str, what: str, answer: Any) -> None:
        async def wait() -> None:
            given = await answer
            self._asked.pop(name, None)
            call = self.session.conversation.tool_call_entries.get(ToolCallId(name))
            if call is not None:
                said = self.session.conversation.tool_call(ToolCallId(name)).call.raw_input
                self._report("decided", said["command"], str(given))
            else:
                self._report("decided", what, given.action)

        self._asked[name] = asyncio.ensure_future(wait())

    def _report(self, kind: str, name: str, what: object) -> None:
        os.write(self._out, (json.dumps([kind, name, what]) + "\n").encode())


def main() -> None:
    """Run it."""
    scale, commands, out = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    for module, name in WAITS:
        setattr(module, name, getattr(module, name) * scale)
    questions.open_page = _opened
    LatePage(commands, out).run()


async def _opened(_: str) -> str:
    return ""


if __name__ == "__main__":
    main()
