"""Loads scenarios: the shipped ones by name, any other by its path; it neither knows their form nor plays them."""

from __future__ import annotations

from pathlib import Path

from acp_tui.demo.reading import read_scenario
from acp_tui.demo.script import Scenario
from acp_tui.demo.shipped import DEFAULT, available, path_of
from acp_tui.demo.table import ScenarioError

__all__ = ["DEFAULT", "Scenario", "ScenarioError", "UnknownScenario", "available", "load"]


class UnknownScenario(ScenarioError):
    """There is neither a shipped scenario nor a file of that name."""


def load(name_or_path: str | Path) -> Scenario:
    """A shipped scenario by its name, or any by the path of its .toml file. Raises ScenarioError, UnknownScenario."""
    path = path_of(str(name_or_path))
    try:
        source = path.read_text("utf-8")
    except OSError as error:
        raise UnknownScenario(f'there is no scenario "{name_or_path}"') from error
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path.name}: not UTF-8: {error}") from error
    return read_scenario(path.stem, source, path.name)
