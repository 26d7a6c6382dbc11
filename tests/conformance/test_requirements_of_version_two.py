"""Each documented difference of version 2 has a test that names it."""

from __future__ import annotations

import re

import pytest

from support.golden import SCHEMA_V2
from support.requirements import TESTS

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
