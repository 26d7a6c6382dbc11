"""Rules of how an agent ends. No frame tells it: whoever runs the agent says what it did."""

from __future__ import annotations

from typing import Final

from acp_tui.protocol.conformance.rule import Judge, Rule, Severity

ENDS: Final = Rule(
    "A-END-1",
    Severity.WARNING,
    "An agent exits when its stdin is closed.",
    "Read until the end of stdin, then stop what runs and exit: else it is left behind when a client dies.",
    "transports",
    "R-TRANS-8",
)
STATUS: Final = Rule(
    "A-END-2",
    Severity.NOTE,
    "An agent that ends with its stdin exits with status 0.",
    "Treat the end of stdin as what it is: nobody needs the agent any more.",
    "transports",
    "R-TRANS-8",
)
SURVIVES: Final = Rule(
    "A-END-3",
    Severity.ERROR,
    "An agent stays until its stdin is closed.",
    "See the end of its stderr, and catch what single requests raise.",
    "transports",
    "R-TRANS-7",
)
RULES: Final = (ENDS, STATUS, SURVIVES)


def judge_end(judge: Judge, *, exit_code: int | None, waited_s: float, had_to_be_terminated: bool) -> None:
    """Its stdin was closed; `exit_code` None: it was ended by a signal, or it is not known."""
    judge.check(SURVIVES, True, "")
    judge.check(ENDS, not had_to_be_terminated, f"it did not within {waited_s:.0f} s, and was terminated")
    if exit_code is not None and not had_to_be_terminated:
        judge.check(STATUS, exit_code == 0, f"the status is {exit_code}")


def judge_death(judge: Judge, how: str) -> None:
    """It ended by itself."""
    judge.check(SURVIVES, False, how)
