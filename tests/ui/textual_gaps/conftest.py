"""Shared by the tests of what lies between Textual and the terminal."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def every_frame(paints: None) -> None:
    """Paint every frame, looked at or not."""
