"""The command line: arguments, the turn without a screen, and the way into the user interface.

Begin with `command_table` (all commands, options and their help), then `main` (who does what). `exec` is the turn
without a screen, `plain` the conversation in lines, `screen` the user interface.

Here stands how acp-tui ends, as a status that a script can read.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from acp_tui.client.errors import (
    AgentLost,
    AgentNotFound,
    AgentNotRunnable,
    AuthenticationRequired,
    ClientError,
)


class ExitCode(IntEnum):
    """The exit statuses of `acp-tui exec`; where several apply, the first in `PRECEDENCE` counts."""

    DONE = 0
    ERROR = 1
    USAGE = 2
    REFUSED = 3
    LIMIT_REACHED = 4
    PERMISSION_REJECTED = 5
    LOGIN_NEEDED = 6
    AGENT_LOST = 7
    NOT_RUNNABLE = 126
    NOT_FOUND = 127
    CANCELLED = 130


PRECEDENCE: Final = (
    ExitCode.NOT_FOUND,
    ExitCode.NOT_RUNNABLE,
    ExitCode.AGENT_LOST,
    ExitCode.LOGIN_NEEDED,
    ExitCode.CANCELLED,
    ExitCode.ERROR,
    ExitCode.REFUSED,
    ExitCode.LIMIT_REACHED,
    ExitCode.PERMISSION_REJECTED,
    ExitCode.DONE,
)

OF_STOP_REASON: Final = {
    "end_turn": ExitCode.DONE,
    "refusal": ExitCode.REFUSED,
    "max_tokens": ExitCode.LIMIT_REACHED,
    "max_turn_requests": ExitCode.LIMIT_REACHED,
    "cancelled": ExitCode.CANCELLED,
}


def weightiest(codes: set[ExitCode]) -> ExitCode:
    """The one that counts; DONE where there is none."""
    return min(codes, key=PRECEDENCE.index, default=ExitCode.DONE)


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
