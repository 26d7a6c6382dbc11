"""Every duty of an ACP v1 client has a test, and the table of those tests is correct."""

from __future__ import annotations

import pytest

from support.requirements import (
    REQUIREMENTS,
    Requirement,
    ids_named_by_tests,
    known_tests,
    not_built,
    requirements,
    table,
)

needs_requirements = pytest.mark.skipif(
    not REQUIREMENTS.exists(), reason="the requirements aren't beside the repository"
)
DUTIES = [requirement for requirement in requirements().values() if requirement.is_must]


@needs_requirements
@pytest.mark.parametrize("duty", DUTIES, ids=lambda duty: duty.requirement_id)
def test_a_duty_has_a_test_or_is_said_not_to_be_built(duty: Requirement) -> None:
    is_proved = duty.requirement_id in table()
    assert is_proved != (duty.requirement_id in not_built()), "it wants one place in requirements.toml"
    assert not is_proved or table()[duty.requirement_id].tests, "no test is named"


@pytest.mark.parametrize("requirement_id", sorted(table()))
def test_the_tests_of_a_requirement_exist(requirement_id: str) -> None:
    proof = table()[requirement_id]
    assert proof.means
    assert sorted(set(proof.tests) - known_tests()) == []


@needs_requirements
def test_every_id_is_one_of_the_requirements() -> None:
    named = {*table(), *not_built(), *ids_named_by_tests()}
    # Those of the agent registry aren't duties of the protocol.
    assert sorted(each for each in named - requirements().keys() if not each.startswith("R-REG-")) == []


def test_what_is_not_built_has_no_test_and_a_reason() -> None:
    assert sorted(not_built().keys() & table().keys()) == []
    assert all(not_built().values())
