"""The command line: arguments, turns without a screen, and the start of the user interface.

Start with `commands` (all commands, options, and their help), then read `main` (what runs them). `exec` runs a
turn without a screen, `plain` is the line mode, `screen` starts the user interface. This module has the exit
statuses, and what ends output.
"""

from __future__ import annotations

import os
from enum import IntEnum
from typing import Final, TextIO

from acp_tui.client import errors


class ExitCode(IntEnum):
    """The exit statuses of `acp-tui exec`. If several apply, the first in `PRECEDENCE` counts."""

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
    ExitCode.USAGE,
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
    """Return the code that takes precedence; DONE if there are none."""
    return min(codes, key=PRECEDENCE.index, default=ExitCode.DONE)


def code_of(error: errors.ClientError | None) -> ExitCode:
    """Return the exit status for an error; DONE for None."""
    match error:
        case None:
            return ExitCode.DONE
        case errors.AgentNotFound():
            return ExitCode.NOT_FOUND
        case errors.AgentNotRunnable():
            return ExitCode.NOT_RUNNABLE
        case errors.AuthenticationRequired():
            return ExitCode.LOGIN_NEEDED
        case errors.AgentLost():
            return ExitCode.AGENT_LOST
        case errors.Unsupported() | errors.UnknownSession():
            return ExitCode.USAGE
        case errors.AgentRefused(said=said) if said is not None and (said.retry_after_s, said.retry_at) != (None, None):
            return ExitCode.LIMIT_REACHED
        case _:
            return ExitCode.ERROR


def discard_output(*streams: TextIO) -> None:
    """Discard what is still written to these streams. Python would fail at exit on what they have buffered."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
