"""Globs: what `*`, `**`, `?`, `[…]`, and `{a,b}` match, compared with an exhaustive matcher."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.client.path_globs import is_spelled_in

PACKAGE = Path(__file__).parents[2] / "acp_tui"
ROOT = "/w"
NAMES = st.sampled_from(["a", "b", "ab", "a.py", ".b"])
PARTS = st.sampled_from(["**", "*", "a", "*b", "?", "[ab]", "*.py", "a*"])


def fits(parts: list[str], names: list[str]) -> bool:
    """Whether a glob's parts match all names, or the first of them."""
    if not parts:
        return True
    if parts[0] == "**":
        return any(fits(parts[1:], names[skipped:]) for skipped in range(len(names) + 1))
    return bool(names) and fnmatchcase(names[0], parts[0]) and fits(parts[1:], names[1:])


@given(st.lists(PARTS, min_size=2, max_size=5), st.lists(NAMES, max_size=5))
def test_a_glob_with_a_slash_begins_at_a_root(parts: list[str], names: list[str]) -> None:
    assert is_spelled_in("/".join([ROOT, *names]), "/".join(parts), [ROOT]) is fits(parts, names)


@given(PARTS, st.lists(NAMES, min_size=1, max_size=5))
def test_a_glob_without_one_is_looked_for_at_any_depth(part: str, names: list[str]) -> None:
    assert is_spelled_in("/".join([ROOT, *names]), part, [ROOT]) is fits(["**", part], names)


@pytest.mark.parametrize(
    ("path", "glob", "is_in"),
    [
        ("/w/src/a.py", "src/*.py", True),
        ("/w/vendor/src/private/keys.py", "src/*.py", False),
        ("/w/src/private/keys.py", "src/*.py", False),
        ("/w/src/private/keys.py", "src/**", True),
        ("/w/src/private/keys.py", "src/{private,public}/*.py", True),
        ("src/a.py", "./src/a.py", True),
        ("/w/x/../src/a.py", "src/a.py", True),
        ("/etc/passwd", "/etc/*", True),
        ("/etc/ssh/key", "/etc/k*", False),
        ("/elsewhere/a.py", "*.py", True),
        ("/elsewhere/src/a.py", "src/*.py", False),
    ],
)
def test_where_a_glob_leads(path: str, glob: str, is_in: bool) -> None:
    assert is_spelled_in(path, glob, [ROOT]) is is_in


@pytest.mark.parametrize(
    "glob",
    ["**/" * 300 + "x", "**/*a*/" * 150 + "x", "*a" * 1_000 + "b", "{" * 3_000, "{,," * 1_000, "[" * 3_000],
    ids=lambda glob: glob[:6],
)
def test_no_glob_takes_for_ever(glob: str) -> None:
    assert not is_spelled_in("/w/" + "/".join(["a" * 8] * 400), glob, [ROOT])
    assert not is_spelled_in("/w/" + "a" * 4_000, glob, [ROOT])


def test_globs_are_matched_in_one_place() -> None:
    importing = re.compile(r"^\s*(?:from|import) (?:fnmatch|glob)\b|\.full_match\(", re.MULTILINE)
    found = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if importing.search(path.read_text())}
    names_of_ours = {"client/workspace/runs_later.py"}

    assert found - names_of_ours == {"client/path_globs.py"}
