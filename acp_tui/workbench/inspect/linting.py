"""The rules of the protocol over the lines of a connection; what a rule is, is `protocol.conformance`'s matter."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from acp_tui.client.transcript.frame_line import Kind, Line
from acp_tui.protocol.conformance import Finding, Frame, Linter
from acp_tui.rpc import Direction

MAX_NOTES: Final = 10_000
"""That are kept in words; lines with more of them are still marked."""


@dataclass(frozen=True, slots=True)
class LintNote:
    """A rule that a line breaks, in words."""

    severity: str
    """error, warning or note."""
    rule_id: str
    text: str
    """What happened; it may hold what the agent said."""
    advice: str
    reference: str
    """Where to read on."""
    earlier: tuple[int, ...] = ()
    """The lines that it began with."""


class Linting:
    """One pass over the lines; for a thread, since rules take their time."""

    def __init__(self, first: int = 0) -> None:
        self.examined = first
        """Behind the last line that was looked at."""
        self._first = first
        self._linter = Linter()
        self._counted = 0
        """By the linter, which sees frames only."""
        self._between = array("I")
        """How many frames stood before each other line."""

    def feed(self, lines: Mapping[int, Line]) -> list[tuple[int, LintNote]]:
        """The next lines; gives what is broken, each with where it shows."""
        found: list[tuple[int, LintNote]] = []
        for position, line in lines.items():
            self.examined = position + 1
            if line.kind not in (Kind.IN, Kind.OUT):
                self._between.append(self._counted)
                continue
            self._counted += 1
            direction = Direction.IN if line.kind is Kind.IN else Direction.OUT
            findings = self._linter.feed(Frame(direction, line.at_s, line.data))
            found += [self._note(finding) for finding in findings]
        return found

    def _note(self, finding: Finding) -> tuple[int, LintNote]:
        *earlier, at = map(self._position, finding.frames)
        rule = finding.rule
        note = LintNote(
            rule.severity.value, rule.rule_id, finding.text, rule.advice, rule.reference, tuple(earlier)
        )
        return at, note

    def _position(self, frame: int) -> int:
        return self._first + frame + bisect_right(self._between, frame)
