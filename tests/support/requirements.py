"""The table of requirements and the tests that prove them, and how to check it. It proves nothing itself."""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from support.golden import SCHEMA_V1

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
