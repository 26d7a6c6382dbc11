"""The official SDK's client, written as its users write one: the mock serves it whatever was recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

# Imported in the tests: the SDK takes half a second, which every worker would spend to collect them.


@pytest.fixture(autouse=True)
def _with_the_sdk() -> None:
    pytest.importorskip("acp", reason="the protocol's Python SDK has no release for Python 3.15 yet")


async def test_a_turn_with_files_terminals_and_a_permission_is_no_departure(tmp_path: Path) -> None:
    from support.sdk_user import OFFERS, turn_with_callbacks

    client = await turn_with_callbacks(tmp_path, "--strict", offers=OFFERS)
    assert client.files.keys() == {str(tmp_path / "elsewhere" / "notes.txt")}


async def test_a_client_without_files_and_terminals_has_the_turn_too(tmp_path: Path) -> None:
    from support.sdk_user import turn_with_callbacks

    client = await turn_with_callbacks(tmp_path, offers=None)
    assert client.files == {}
    assert client.updates
