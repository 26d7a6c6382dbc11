"""The rules of the protocol over the lines of a connection; what a rule is, is `protocol.conformance`'s matter."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from acp_tui.client.inspection.line import Kind, Line
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
        self._linter = Linter()
        self._positions = array("I")
        """Where the frames stand that the linter has counted."""

    def feed(self, lines: Sequence[Line]) -> list[tuple[int, LintNote]]:
        """The next lines; gives what is broken, each with where it shows."""
        found: list[tuple[int, LintNote]] = []
        for line in lines:
            if line.kind in (Kind.IN, Kind.OUT):
                self._positions.append(self.examined)
                direction = Direction.IN if line.kind is Kind.IN else Direction.OUT
                findings = self._linter.feed(Frame(direction, line.at_s, line.data))
                found += [self._note(finding) for finding in findings]
            self.examined += 1
        return found

    def _note(self, finding: Finding) -> tuple[int, LintNote]:
        *earlier, at = (self._positions[frame] for frame in finding.frames)
        rule = finding.rule
        note = LintNote(
            rule.severity.value, rule.rule_id, finding.text, rule.advice, rule.reference, tuple(earlier)
        )
        return at, note
