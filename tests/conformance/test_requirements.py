"""Every duty of an ACP v1 client has a test, and that table is correct; so has each difference of version 2."""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from support.schema import SCHEMA_V1, SCHEMA_V2

TESTS: Final = Path(__file__).parents[1]
TABLE: Final = TESTS / "conformance" / "requirements.toml"
REQUIREMENTS: Final = SCHEMA_V1.parents[2] / "requirements.md"
CLIENT_SECTIONS: Final = frozenset({*range(1, 18), 20})
"""Those of version 1; the others concern old or unstable parts, or version 2."""

_SECTION = re.compile(r"## (\d+)\.")
_REQUIREMENT = re.compile(r"- (R-[A-Z0-9]+-\d+) (.*)")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One line of the requirements."""

    section: int
    requirement_id: str
    text: str

    @property
    def is_must(self) -> bool:
        """Whether it is a duty of every version 1 client."""
        return "MUST" in self.text and self.section in CLIENT_SECTIONS


@cache
def requirements() -> dict[str, Requirement]:
    """All requirements by ID; empty if they aren't beside the repository."""
    found: dict[str, Requirement] = {}
    section = 0
    for line in REQUIREMENTS.read_text().splitlines() if REQUIREMENTS.exists() else ():
        if heading := _SECTION.match(line):
            section = int(heading[1])
        elif item := _REQUIREMENT.match(line):
            found[item[1]] = Requirement(section, item[1], item[2])
    return found


@dataclass(frozen=True, slots=True)
class Proof:
    """The table's entry for a requirement."""

    means: str
    tests: tuple[str, ...]
    """The tests, each as `file::name`, relative to the tests folder."""
    lacks: str | None = None
    """The part that no test proves yet."""


@cache
def table() -> dict[str, Proof]:
    """The proven requirements, by ID."""
    return {
        requirement_id: Proof(entry["means"], tuple(entry["tests"]), entry.get("lacks"))
        for requirement_id, entry in _read()["proved"].items()
    }


@cache
def not_built() -> dict[str, str]:
    """Requirements without a test because there is nothing to test yet, with the reason."""
    reasons: dict[str, str] = _read().get("not_built", {})
    return reasons


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads(TABLE.read_text())


@cache
def known_tests() -> frozenset[str]:
    """Every test function, as `file::name`."""
    return frozenset(
        f"{path.relative_to(TESTS)}::{node.name}"
        for path in TESTS.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    )


@cache
def ids_named_by_tests() -> frozenset[str]:
    """The requirements named anywhere in the tests by their full ID."""
    text = "\n".join(path.read_text() for path in TESTS.rglob("test_*.py"))
    return frozenset(re.findall(r"R-[A-Z0-9]+-\d+", text))


DESCRIBED = SCHEMA_V2.parents[2] / "v2.md"


@pytest.mark.skipif(not DESCRIBED.exists(), reason="the description of version 2 isn't beside the repository")
def test_every_difference_of_version_2_is_named_by_a_test() -> None:
    wanted = set()
    for row in DESCRIBED.read_text().splitlines():
        if row.startswith("| R2-"):
            wanted |= set(re.findall(r"R2-[A-Z0-9]+", row.split("|")[1]))
    named = {
        found
        for file in TESTS.rglob("test_*.py")
        for found in re.findall(r"R2-[A-Z0-9]+", file.read_text(encoding="utf-8"))
    }
    assert len(wanted) > 20
    assert wanted - named == set()


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
