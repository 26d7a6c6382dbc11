"""Loads scenarios: the shipped ones by name, any other by its path; it neither knows their form nor plays them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from acp_tui.workbench.demo.reading import read_scenario
from acp_tui.workbench.demo.references import check_references
from acp_tui.workbench.demo.script import Scenario, ScriptedTurn, SessionSetup, Step
from acp_tui.workbench.demo.shipped import DEFAULT, available, path_of
from acp_tui.workbench.demo.table import ScenarioError

__all__ = ["DEFAULT", "Scenario", "ScenarioError", "UnknownScenario", "available", "load"]


class UnknownScenario(ScenarioError):
    """There is neither a shipped scenario nor a file of that name."""


def load(name_or_path: str | Path) -> Scenario:
    """A shipped scenario by its name, or any by the path of its .toml file, with what it includes.

    What it includes and plays of others is looked for among the shipped ones, then beside its file.
    Raises ScenarioError, UnknownScenario.
    """
    path = path_of(str(name_or_path))
    written = _read(path, str(name_or_path))
    parts = [_read(path_of(part, path.parent), part) for part in written.include]
    scenario = _joined(written, parts) if parts else written
    check_references(written, scenario.session, path)
    return scenario


def _read(path: Path, called: str) -> Scenario:
    try:
        scenario = read_scenario(path.stem, path.read_text("utf-8"), path.name)
    except FileNotFoundError as error:
        if called.endswith(".toml"):
            raise UnknownScenario(f"there is no file {path.absolute()}") from error
        raise UnknownScenario(f'there is no scenario "{called}"') from error
    except OSError as error:
        raise ScenarioError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path.name}: not UTF-8: {error}") from error
    return replace(scenario, turns=tuple(_placed(turn, path.parent) for turn in scenario.turns))


def _placed(turn: ScriptedTurn, folder: Path) -> ScriptedTurn:
    """The turn with the file of the scenario that it plays."""
    return turn if turn.play is None else replace(turn, play=str(path_of(turn.play, folder)))


def _joined(scenario: Scenario, parts: Sequence[Scenario]) -> Scenario:
    """The first turns of the parts as one turn, before those of the scenario; all of them may use what any has."""
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
        raise ScenarioError(
            f'{scenario.name}: "include" has {part.name!r}, which does not begin with steps of its own'
        )
    return steps


def _joined_setup(setups: Sequence[SessionSetup]) -> SessionSetup:
    """Every command and option, and the modes of the first that has modes."""
    return SessionSetup(
        commands=tuple(command for setup in setups for command in setup.commands),
        modes=next((setup.modes for setup in setups if setup.modes is not None), None),
        config=tuple(option for setup in setups for option in setup.config),
    )
