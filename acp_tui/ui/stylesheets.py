"""Finds the stylesheets: inside the package in a wheel, beside it in a checkout and an editable install."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent.parent
_PLACES = (_PACKAGE / "styles", _PACKAGE.parent / "styles")


def stylesheets() -> list[Path]:
    """All stylesheets, by name. Raises FileNotFoundError where the installation is not whole."""
    for place in _PLACES:
        found = sorted(place.glob("*.tcss"))
        if found:
            return found
    places = " nor in ".join(map(str, _PLACES))
    raise FileNotFoundError(f"acp-tui's stylesheets are neither in {places}: install acp-tui again")
