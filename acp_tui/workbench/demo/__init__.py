"""A scripted ACP agent in a process of its own: it plays a scenario; it owns no model, no network, no client code.

Here stands which scenarios come with acp-tui; quick to load, since the first frame of a demo waits for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

DEFAULT: Final = "coding"
SCENARIOS: Final = Path(__file__).with_name("scenarios")
HERE: Final = Path()


def names() -> list[str]:
    """The names, the default first."""
    return sorted((path.stem for path in SCENARIOS.glob("*.toml")), key=lambda name: (name != DEFAULT, name))


def path_of(name_or_path: str, beside: Path = HERE) -> Path:
    """The file of a shipped scenario, or of any other by its path from a folder; it need not exist."""
    shipped = SCENARIOS / f"{name_or_path}.toml"
    return shipped if shipped.is_file() else beside / name_or_path
