"""Loads scenarios, shipped ones by name and others by path."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from acp_tui.demo import DEFAULT, SCENARIOS, names, path_of
from acp_tui.demo.reading import ScenarioError, read_scenario
from acp_tui.demo.script import Scenario

__all__ = ["DEFAULT", "Scenario", "ScenarioError", "UnknownScenario", "available", "load"]


class UnknownScenario(ScenarioError):
    """There is neither a shipped scenario nor a file with that name."""


def available() -> dict[str, str]:
    """The name and a one-line description of each scenario, default first."""
    return {
        name: str(tomllib.loads((SCENARIOS / f"{name}.toml").read_text("utf-8"))["description"]) for name in names()
    }


def load(name_or_path: str | Path) -> Scenario:
    """Load a shipped scenario by name, or any by the path of its .toml file.

    Other scenarios that it plays are looked up among the shipped ones, then next to its file. Raises ScenarioError,
    UnknownScenario.
    """
    called = str(name_or_path)
    path = path_of(called)
    try:
        scenario = read_scenario(path.stem, path.read_text("utf-8"), path.name)
    except FileNotFoundError as error:
        if called.endswith(".toml"):
            raise UnknownScenario(f"there is no file {path.absolute()}") from error

        near = "".join(f"; did you mean {name}?" for name in get_close_matches(called, names(), n=1))
        raise UnknownScenario(f'there is no scenario "{called}"{near}') from error
    except OSError as error:
        raise ScenarioError(f"{path} can't be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path.name}: not UTF-8: {error}") from error
    turns = (replace(turn, play=turn.play and str(path_of(turn.play, path.parent))) for turn in scenario.turns)
    return replace(scenario, turns=tuple(turns))
