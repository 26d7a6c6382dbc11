"""Finds the stylesheets: inside the package in a wheel, beside it in a checkout and an editable install."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_PACKAGE = Path(__file__).parents[2]
_PLACES = (_PACKAGE / "styles", _PACKAGE.parent / "styles")
_FIRST_FRAME: Final = {"app", "conversation", "prompt", "sidebar"}
"""What is in the first frame. The others take longer to parse than these: an app may read them behind it."""


def stylesheets() -> list[Path]:
    """All stylesheets, those of the first frame first. Raises FileNotFoundError where the installation is not whole."""
    for place in _PLACES:
        found = sorted(place.glob("*.tcss"), key=lambda sheet: (not _is_first(sheet), sheet))
        if found:
            return found
    places = " nor in ".join(map(str, _PLACES))
    raise FileNotFoundError(f"acp-tui's stylesheets are neither in {places}: install acp-tui again")


def split_stylesheets() -> tuple[list[Path], list[Path]]:
    """Those of the first frame, and the others. Raises FileNotFoundError likewise."""
    found = stylesheets()
    return [sheet for sheet in found if _is_first(sheet)], [sheet for sheet in found if not _is_first(sheet)]


def _is_first(sheet: Path) -> bool:
    return sheet.stem in _FIRST_FRAME


def stylesheet(name: str) -> str:
    """The text of one of the stylesheets, for a widget that brings its looks along into another app."""
    return next(sheet for sheet in stylesheets() if sheet.stem == name).read_text(encoding="utf-8")
