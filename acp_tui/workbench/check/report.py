"""What came of a check: the findings, the frames they speak of, and what could not be looked at. It prints nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from acp_tui.client.errors import ClientError
from acp_tui.protocol.conformance import RULES, Finding, Frame, Rule, Severity
from acp_tui.protocol.roles import AgentIdentity

KEPT_FRAME_BYTES: Final = 2000
KEPT_FRAMES: Final = 100_000
KEPT_LAST_WORDS: Final = 15
KEPT_BREACHES: Final = 100
"""Of one rule: who breaks it more often is known by then."""


@dataclass(slots=True)
class Report:
    """It grows while the agent is checked."""

    identity: AgentIdentity | None = None
    """None: it did not say who it is, or nothing at all."""
    findings: list[Finding] = field(default_factory=list)
    """In the order in which they were made; not all of those that there are very many of."""
    times: Counter[str] = field(default_factory=Counter)
    """How often each rule was broken, by its id."""
    frames: list[Frame] = field(default_factory=list)
    """How each begins; the first ones, where there are very many."""
    looked_at: frozenset[str] = frozenset()
    """The ids of the rules for which there was an occasion."""
    left_out: list[str] = field(default_factory=list)
    """What was not done with the agent, and why."""
    failure: ClientError | None = None
    """What it came to an end by; None: it went to its end."""
    last_words: tuple[str, ...] = ()
    """Where it came to an early end: the last lines on stderr, and what on stdout was no message."""

    def keep(self, frame: Frame) -> None:
        """Remember how a frame begins."""
        if len(self.frames) < KEPT_FRAMES:
            self.frames.append(Frame(frame.direction, frame.at_s, frame.raw[:KEPT_FRAME_BYTES]))

    def add(self, findings: tuple[Finding, ...]) -> None:
        """Count them, and remember the first of each rule."""
        for finding in findings:
            self.times[finding.rule.rule_id] += 1
            if self.times[finding.rule.rule_id] <= KEPT_BREACHES:
                self.findings.append(finding)

    def breaches(self, severity: Severity) -> Iterator[tuple[Rule, list[Finding]]]:
        """The broken rules of one severity, in the order of the table, each with its findings."""
        for rule in RULES:
            found = [finding for finding in self.findings if finding.rule is rule]
            if found and rule.severity is severity:
                yield rule, found

    @property
    def not_looked_at(self) -> tuple[Rule, ...]:
        """The rules without an occasion."""
        return tuple(rule for rule in RULES if rule.rule_id not in self.looked_at)

    @property
    def has_errors(self) -> bool:
        """What makes the agent wrong."""
        return any(finding.rule.severity is Severity.ERROR for finding in self.findings)
