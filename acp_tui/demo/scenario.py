"""Finds scenarios: the shipped ones by name, any other by its path; it neither knows their form nor plays them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

from acp_tui.demo.reading import read_scenario
from acp_tui.demo.script import Scenario
from acp_tui.demo.table import ScenarioError

__all__ = ["DEFAULT", "Scenario", "ScenarioError", "UnknownScenario", "available", "load"]

DEFAULT: Final = "coding"
SCENARIOS: Final = Path(__file__).with_name("scenarios")


class UnknownScenario(ScenarioError):
    """There is neither a shipped scenario nor a file of that name."""


def available() -> dict[str, str]:
    """The shipped scenarios: name and one line about each, the default first."""
    paths = sorted(SCENARIOS.glob("*.toml"), key=lambda path: (path.stem != DEFAULT, path.stem))
    return {path.stem: str(tomllib.loads(path.read_text("utf-8"))["description"]) for path in paths}


def load(name_or_path: str | Path) -> Scenario:
    """A shipped scenario by its name, or any by the path of its .toml file. Raises ScenarioError, UnknownScenario."""
    path = SCENARIOS / f"{name_or_path}.toml"
    if not path.is_file():
        path = Path(name_or_path)
    try:
        source = path.read_text("utf-8")
    except OSError as error:
        raise UnknownScenario(f'there is no scenario "{name_or_path}"') from error
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path.name}: not UTF-8: {error}") from error
    return read_scenario(path.stem, source, path.name)
