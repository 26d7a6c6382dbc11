"""What went wrong with an agent, for who reads lines: as text, and as an exit status."""

from __future__ import annotations

from acp_tui.cli.exit_codes import ExitCode
from acp_tui.client.errors import (
    AgentLost,
    AgentNotFound,
    AgentNotRunnable,
    AuthenticationRequired,
    ClientError,
)
from acp_tui.conversation.visible import make_visible


def error_text(error: ClientError) -> str:
    """The error with its cause and what to do, a line each."""
    lines = [f"acp-tui: {make_visible(str(error))}"]
    lines += [
        f"  {make_visible(line)}" for line in (error.detail + "\n" + error.hint).splitlines() if line.strip()
    ]
    return "\n".join(lines)


def code_of(error: ClientError | None) -> ExitCode:
    """The status that tells it from others; where there is no error, that of what is done."""
    match error:
        case None:
            return ExitCode.DONE
        case AgentNotFound():
            return ExitCode.NOT_FOUND
        case AgentNotRunnable():
            return ExitCode.NOT_RUNNABLE
        case AuthenticationRequired():
            return ExitCode.LOGIN_NEEDED
        case AgentLost():
            return ExitCode.AGENT_LOST
        case _:
            return ExitCode.ERROR
