"""Commands that an agent under test had run, as plain values; the terminals themselves are the client's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from acp_tui.client.terminals.plain_text import plain_text
from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.visible import make_visible_line
from acp_tui.workbench.testing.evidence import quoted

SHOWN_OUTPUT_LINES = 10


@dataclass(frozen=True, slots=True)
class RunCommand:
    """A command in a terminal: of the client, or of the agent's own where it reports one."""

    command: str
    """The whole line; "" where the agent does not say it."""
    output: str
    """Without escape sequences, lines end with \\n."""
    exit_code: int | None = None
    """None: it still runs, or ended by a signal."""
    signal: str | None = None
    cwd: str | None = None


def run_command(state: TerminalState) -> RunCommand:
    """As it is now."""
    output = plain_text(state.output.read(), is_complete=state.has_exited)
    return RunCommand(state.command or "", output, state.exit_code, state.signal, state.cwd)


def commands_text(commands: Iterable[RunCommand]) -> str:
    """Commands with their ends and the last of their output."""
    return "\n".join(map(_command_text, commands)) or "  none"


def _command_text(run: RunCommand) -> str:
    end = f"signal {run.signal}" if run.signal is not None else f"exit code {run.exit_code}"
    output = quoted(quoted(run.output, SHOWN_OUTPUT_LINES))
    return f"  {make_visible_line(run.command)!r}: {end}\n{output}"
