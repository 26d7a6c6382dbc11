"""How a turn without a screen ends, as a status that a script can read."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


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
