"""Shared by the tests of the command line."""

from __future__ import annotations

import pytest

from acp_tui.cli.terminal import LineFence


@pytest.fixture(autouse=True)
def terminals_of_tests_answer_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal in this process is only a pair of descriptors."""
    monkeypatch.setattr(LineFence, "has_answered", False)
    monkeypatch.setattr("acp_tui.cli.terminal.UNANSWERED_S", 0.0)
