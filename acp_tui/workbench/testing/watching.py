"""One session under test as it is seen on the kit's loop: what a turn has touched so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from pathlib import Path
from typing import Final

import anyio

from acp_tui.client.sessions.session import Session
from acp_tui.conversation.conversation import Change
from acp_tui.conversation.entries import Entry, EntryId, Message, ToolCallEntry
from acp_tui.conversation.facts import Fact
from acp_tui.conversation.tool_calls import TerminalId, ToolCall
from acp_tui.protocol.conformance import Frame
from acp_tui.workbench.testing.attending import Attendant
from acp_tui.workbench.testing.commands import RunCommand, run_command
from acp_tui.workbench.testing.turn import Turn

OWN_CALL: Final = "acp-tui_"
"""So begin the ids of the questions that the client asks of its own."""


class Watch:
    """Follows one session from before it is open; `session` is set once it is."""

    session: Session

    def __init__(self, attendant: Attendant, frames: list[Frame], recording: Path) -> None:
        self._changed = anyio.Event()
        self._attendant = attendant
        self._frames = frames
        self._recording = recording
        self._touched: dict[EntryId, None] = {}
        self._has_planned = False
        self._begin = (0, 0, 0)
        self._terminals_before: frozenset[TerminalId] = frozenset()

    def attend(self, session: Session) -> None:
        """Follow what happens in the session."""
        session.subscribe(self._note)

    def _note(self, change: Change) -> None:
        self._touched.update(dict.fromkeys(change.entries))
        self._has_planned |= Fact.PLAN in change.facts
        self.wake()
        self._attendant.note()

    def begin_turn(self) -> None:
        """What comes from now on belongs to the next turn."""
        self._touched.clear()
        self._has_planned = False
        self._begin = self._counts()
        self._terminals_before = frozenset(self.session.conversation.terminals)

    def _counts(self) -> tuple[int, int, int]:
        attendant = self._attendant
        return len(self._frames), len(attendant.permissions.asked), len(attendant.elicitations.asked)

    def wake(self) -> None:
        """Have whoever waits look again."""
        self._changed.set()
        self._changed = anyio.Event()

    async def until(self, is_so: Callable[[], bool], is_over: Callable[[], bool]) -> bool:
        """Wait until the one holds; False where the other does instead, or the agent is gone."""
        while not is_so():
            if is_over() or not self.session.conversation.is_connected:
                return False
            await self._changed.wait()
        return True

    def turn(self, prompt: str, *, is_over: bool) -> Turn:
        """The turn so far."""
        conversation, session_id = self.session.conversation, self.session.session_id
        entries = list(self._entries())
        frames, permissions, elicitations = self._begin
        asked, elicited = self._attendant.permissions.asked, self._attendant.elicitations.asked
        return Turn(
            prompt,
            session_id,
            stop_reason=conversation.last_stop_reason if is_over else None,
            messages=_texts(entries, "agent"),
            thoughts=_texts(entries, "thought"),
            tool_calls=_calls(entries),
            commands=tuple(self._commands()),
            plan=conversation.plan if self._has_planned else None,
            permissions=tuple(each for each in asked[permissions:] if each.session_id == session_id),
            elicitations=tuple(each for each in elicited[elicitations:] if each.session_id == session_id),
            frames=tuple(self._frames[frames:]),
            workspace=self.session.cwd,
            recording=self._recording,
        )

    def _commands(self) -> Iterator[RunCommand]:
        for terminal_id, state in self.session.conversation.terminals.items():
            if terminal_id not in self._terminals_before:
                yield run_command(state)

    def _entries(self) -> Iterator[Entry]:
        for entry_id in sorted(self._touched):
            yield self.session.conversation.entries[entry_id]


def _calls(entries: list[Entry]) -> tuple[ToolCall, ...]:
    """The agent's own."""
    calls = [entry.call for entry in entries if isinstance(entry, ToolCallEntry)]
    return tuple(copy(call) for call in calls if not call.tool_call_id.startswith(OWN_CALL))


def _texts(entries: list[Entry], role: str) -> tuple[str, ...]:
    return tuple(entry.text for entry in entries if isinstance(entry, Message) and entry.role == role)
