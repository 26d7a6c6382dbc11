"""A scripted ACP agent in its own process: it plays a scenario, without a model, network, or client code.

This module lists the scenarios that come with acp-tui. It must load fast, because the first frame of a demo waits for
it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

DEFAULT: Final = "coding"
SCENARIOS: Final = Path(__file__).with_name("scenarios")
HERE: Final = Path()


def names() -> list[str]:
    """The names, default first."""
    return sorted((path.stem for path in SCENARIOS.glob("*.toml")), key=lambda name: (name != DEFAULT, name))


def path_of(name_or_path: str, beside: Path = HERE) -> Path:
    """The file of a shipped scenario, or of another by its path relative to a folder. It may not exist."""
    shipped = SCENARIOS / f"{name_or_path}.toml"
    return shipped if shipped.is_file() else beside / name_or_path
