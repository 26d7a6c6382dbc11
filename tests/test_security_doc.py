"""The threat model, and what else promises safety, names existing tests and files. The page on security is short."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
DOCUMENT: Final = ROOT / "acp_tui/docs/threat-model.md"
SUMMARY: Final = ROOT / "acp_tui/docs/security.md"
MAX_LINES: Final = 200
MAX_WORDS: Final = 750
"""Of the summary: three minutes, at 250 words a minute."""
PROMISES: Final = re.compile(r"\b(?:allow|allowed|permission|confine|secrets?|masked|runs commands itself)\b")


@cache
def names_of_tests(file: str) -> frozenset[str]:
    """The names of the tests in a file."""
    tree = ast.parse((ROOT / file).read_text())
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_every_test_that_the_threat_model_names_exists() -> None:
    named, file = [], ""
    for found, test in re.findall(r"`((?:tests/[\w/]+\.py)?)::(\w+)`", DOCUMENT.read_text()):
        file = found or file
        named.append((file, test))
    assert len(named) > 100
    assert [f"{file}::{test}" for file, test in named if test not in names_of_tests(file)] == []


def test_every_file_that_the_threat_model_names_exists() -> None:
    text = DOCUMENT.read_text()
    files = re.findall(r"`((?:[\w]+/)+\w+\.(?:py|md))`", text)
    assert len(files) > 10
    assert [file for file in files if not any((base / file).exists() for base in (ROOT, ROOT / "acp_tui"))] == []


def test_each_row_of_a_table_says_which_test_holds_it() -> None:
    rows = [row for row in DOCUMENT.read_text().splitlines() if row.startswith("| ") and " try to " not in row]
    assert len(rows) > 25
    assert [row for row in rows if "`tests/" not in row] == []


def test_both_are_short_enough_to_be_read() -> None:
    assert len(DOCUMENT.read_text().splitlines()) < MAX_LINES
    assert len(SUMMARY.read_text().split()) <= MAX_WORDS


def test_readme_and_permissions_lead_to_the_summary_and_that_to_the_threat_model() -> None:
    assert "(acp_tui/docs/security.md)" in (ROOT / "README.md").read_text()
    assert "(security.md)" in (ROOT / "acp_tui/docs/permissions.md").read_text()
    assert "(threat-model.md)" in SUMMARY.read_text()


def test_the_readme_names_the_tests_that_hold_what_it_promises() -> None:
    text = (ROOT / "README.md").read_text()
    named = re.findall(r"tests/[\w/]+\.py", " ".join(re.findall(r"<!-- Held by (.*?)-->", text, re.DOTALL)))
    assert named
    assert [file for file in named if not (ROOT / file).exists()] == []
    # A picture's words and the rows of a table promise nothing.
    told = [part for part in re.split(r"\n\n|\n(?=- )", text) if not part.startswith(("![", "|", "```", "#"))]
    assert [part for part in told if PROMISES.search(part) and "<!-- Held by" not in part] == []
