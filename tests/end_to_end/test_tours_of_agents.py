"""Real agents on a tour through everything: what they do is what the table in docs/authors.md says.

All but the smallest run only with LONG_TOURS=1. `python tests/make_agent_table.py` writes the table.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from support.real_agents import LONG_TOURS, TITLES, WITHOUT_A_MODEL, row, rows_in_docs, tour, why_not


@pytest.mark.parametrize("name", TITLES)
async def test_an_agent_does_what_the_table_says(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name not in WITHOUT_A_MODEL and not LONG_TOURS:
        pytest.skip("LONG_TOURS=1 runs the large agents")
    if reason := why_not(name):
        pytest.skip(reason)
    monkeypatch.setenv("HOME", str(tmp_path))
    told = rows_in_docs()[TITLES[name]]
    # A quick turn may also be canceled before it ends, on a busy machine.
    assert row(name, await tour(name, tmp_path)) in (told, told.replace("ends first", "yes"))


def test_the_table_has_these_agents() -> None:
    assert sorted(rows_in_docs()) == sorted(TITLES.values())
