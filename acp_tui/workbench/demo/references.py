"""Checks what the steps of a scenario name elsewhere: modes, options, pages, other scenarios. It reads no steps."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from acp_tui.workbench.demo import script
from acp_tui.workbench.demo.table import ScenarioError

KEYS: Final = {"steps": "together"}
"""What a field that holds steps is called in the file, where that is not its own name."""


def check_references(scenario: script.Scenario, setup: script.SessionSetup, file: Path) -> None:
    """Raises ScenarioError where something is named that is not there; `setup` is what its sessions declare."""
    for number, turn in enumerate(scenario.turns, 1):
        place = f"{file.name}, prompt {number}"
        if turn.play is not None:
            _check_play(Path(turn.play), file, place)
        steps = list(_steps(turn.steps, f"{place}, step"))
        pages = [step.name for _, step in steps if isinstance(step, script.Elicit) and step.name is not None]
        for step_place, step in steps:
            _check_step(step, setup, pages, step_place)


def _check_play(played: Path, file: Path, place: str) -> None:
    if not played.is_file():
        raise ScenarioError(f'{place}: "play" is "{played.name}": there is no such scenario')
    if played.resolve() == file.resolve():
        raise ScenarioError(f'{place}: "play" is "{played.name}", the scenario itself')


def _steps(steps: Sequence[script.Step], place: str) -> Iterator[tuple[str, script.Step]]:
    """Each step with its place, and those in its branches."""
    for number, step in enumerate(steps, 1):
        yield f"{place} {number}", step
        for field in dataclasses.fields(step):
            branch = getattr(step, field.name)
            if isinstance(branch, tuple) and branch and isinstance(branch[0], script.Step):
                yield from _steps(branch, f"{place} {number}, {KEYS.get(field.name, field.name)}")


def _check_step(step: script.Step, setup: script.SessionSetup, pages: Sequence[str], place: str) -> None:
    match step:
        case script.SwitchMode(mode_id):
            modes = [mode["id"] for mode in setup.modes["availableModes"]] if setup.modes else []
            _check("mode", mode_id, modes, place)
        case script.ChangeConfig(values):
            options = {option["id"]: option for option in setup.config}
            for option_id, value in values.items():
                _check("config", option_id, options, place)
                _check(f"config.{option_id}", value, _values(options[option_id]), place)
        case script.Complete(name):
            _check("complete", name, pages, place)


def _values(option: script.Wire) -> list[Any]:
    return [True, False] if option["type"] == "boolean" else [each["value"] for each in option["options"]]


def _check(key: str, value: Any, allowed: Iterable[Any], place: str) -> None:
    # Exactly: 1 equals true in Python, and does not in a scenario.
    if not any(type(value) is type(each) and value == each for each in allowed):
        listed = ", ".join(str(each).lower() if isinstance(each, bool) else str(each) for each in allowed)
        raise ScenarioError(
            f'{place}: "{key}" is {value!r}; allowed: {listed or "nothing, none is declared"}'
        )
