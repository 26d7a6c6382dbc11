"""Each rule is broken by a small connection that breaks no other rule."""

import pytest

from acp_tui.workbench.conformance import RULES
from support.broken_rules import CASES, Case


@pytest.mark.parametrize(("rule_id", "case"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_only_the_rule_that_is_broken_is_named(rule_id: str, case: Case) -> None:
    talk = case()
    assert talk.broken == {rule_id}, [finding.text for finding in talk.findings]
    assert rule_id in talk.linter.looked_at


def test_every_rule_of_the_frames_is_broken_by_one_of_these() -> None:
    of_the_frames = {rule_id for rule_id in RULES if not rule_id.startswith("A-END-")}
    assert {rule_id for rule_id, _ in CASES} == of_the_frames
