"""A connection that breaks one rule, and the list of all of them; the other modules here define them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from support.linting import Talk

Case: TypeAlias = Callable[[], Talk]
CASES: list[tuple[str, Case]] = []
"""Each with the ID of the rule it breaks."""
CALL = {"toolCallId": "c1", "title": "Read", "kind": "read", "status": "pending"}
OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


def breaks(rule_id: str) -> Callable[[Case], Case]:
    """Register a case that breaks this rule."""

    def add(case: Case) -> Case:
        CASES.append((rule_id, case))
        return case

    return add
