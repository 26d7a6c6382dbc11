"""The user's own commands beside the agent: run in the session's directory, their output offered to the next prompt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

from acp_tui.client.errors import CommandFailed
from acp_tui.client.sessions.machine import Machine
from acp_tui.client.terminals.errors import TerminalError
from acp_tui.conversation.content import TextResource
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.updates import CommandRun, SessionUpdate


@dataclass(frozen=True, slots=True)
class Offered:
    """A command of which the next prompt takes the output along."""

    line: str
    terminal_id: TerminalId
    number: int
    """Counts the session's own commands, from 1."""


class OwnCommands:
    """Nobody is asked about them: the user typed them."""

    def __init__(self, machine: Machine, apply: Callable[[SessionUpdate], None]) -> None:
        self._machine = machine
        self._apply = apply
        self._offered: list[Offered] = []
        self._numbers = count(1)

    @property
    def offered(self) -> Sequence[Offered]:
        """The oldest first."""
        return tuple(self._offered)

    async def run(self, line: str) -> None:
        """Start a shell line; it shows in the conversation. Raises CommandFailed."""
        try:
            terminal_id = await self._machine.run_own(line)
        except TerminalError as error:
            raise CommandFailed(str(error)) from error
        self._apply(CommandRun(line, terminal_id))
        self._offered.append(Offered(line, terminal_id, next(self._numbers)))

    def drop_last(self) -> Offered | None:
        """The next prompt is not to take the last one's output along."""
        return self._offered.pop() if self._offered else None

    def take(self) -> tuple[TextResource, ...]:
        """What the next prompt takes along: each command with what it has printed so far and how it ended."""
        offered, self._offered = self._offered, []
        return tuple(self._resource(one) for one in offered)

    def _resource(self, one: Offered) -> TextResource:
        snapshot = self._machine.output_of_own(one.terminal_id)
        status = snapshot.exit_status
        if status is None:
            end = "(still running)"
        else:
            end = f"(exit {status.exit_code})" if status.signal is None else f"(ended by {status.signal})"
        cut = "(the beginning is left out)\n" if snapshot.truncated else ""
        text = f"$ {one.line}\n{cut}{snapshot.output.rstrip()}\n{end}\n"
        # Not by the terminal's id: what the command prints from now on is between it and the user.
        return TextResource(f"terminal:{one.number}", text, "text/plain")
