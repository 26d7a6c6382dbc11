"""Loads scenarios, shipped ones by name and others by path, with what they include."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from acp_tui.demo import DEFAULT, SCENARIOS, names, path_of
from acp_tui.demo.reading import read_scenario
from acp_tui.demo.script import Scenario, ScriptedTurn, SessionTerms, Step
from acp_tui.demo.table import ScenarioError

__all__ = ["DEFAULT", "Scenario", "ScenarioError", "UnknownScenario", "available", "load"]


class UnknownScenario(ScenarioError):
    """There is neither a shipped scenario nor a file with that name."""


def available() -> dict[str, str]:
    """The name and a one-line description of each scenario, default first."""
    return {
        name: str(tomllib.loads((SCENARIOS / f"{name}.toml").read_text("utf-8"))["description"]) for name in names()
    }


def load(name_or_path: str | Path) -> Scenario:
    """Load a shipped scenario by name, or any by the path of its .toml file, with what it includes.

    Other scenarios that it includes or plays are looked up among the shipped ones, then next to its file. Raises
    ScenarioError, UnknownScenario.
    """
    path = path_of(str(name_or_path))
    written = _read(path, str(name_or_path))
    parts = [_read(path_of(part, path.parent), part) for part in written.include]
    return _joined(written, parts) if parts else written


def _read(path: Path, called: str) -> Scenario:
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
    return replace(scenario, turns=tuple(_placed(turn, path.parent) for turn in scenario.turns))


def _placed(turn: ScriptedTurn, folder: Path) -> ScriptedTurn:
    return turn if turn.play is None else replace(turn, play=str(path_of(turn.play, folder)))


def _joined(scenario: Scenario, parts: Sequence[Scenario]) -> Scenario:
    """Prepend the first turns of the parts as one turn. Texts, commands, and options are shared."""
    together = ScriptedTurn(None, tuple(step for part in parts for step in _first_steps(scenario, part)))
    matched = (turn for part in parts for turn in part.turns if turn.match is not None)
    texts = {name: text for one in (*parts, scenario) for name, text in one.texts.items()}
    return replace(
        scenario,
        turns=(together, *scenario.turns, *matched),
        session=_joined_setup([scenario.session, *(part.session for part in parts)]),
        texts=texts,
    )


def _first_steps(scenario: Scenario, part: Scenario) -> tuple[Step, ...]:
    steps = next((turn.steps for turn in part.unmatched), ())
    if not steps or part.include:
        raise ScenarioError(f'{scenario.name}: "include" has {part.name!r}, whose first turn has no steps of its own')
    return steps


def _joined_setup(setups: Sequence[SessionTerms]) -> SessionTerms:
    """All commands and options, and the modes of the first setup that has any."""
    return SessionTerms(
        commands=tuple(command for setup in setups for command in setup.commands),
        modes=next((setup.modes for setup in setups if setup.modes is not None), None),
        config=tuple(option for setup in setups for option in setup.config),
    )
