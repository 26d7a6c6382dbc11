"""Modes, models and config options of ACP v1 as one list of options; how one is set is told by its `source`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from acp_tui.conversation.facts import BooleanOption, Choice, ConfigOption, SelectOption
from acp_tui.conversation.updates import OptionsReplaced
from acp_tui.protocol.v1 import session

MODE: str = "mode"
"""Id, category and source of the option that stands for the modes."""
MODEL: str = "model"
"""The same for the models of old (R-OLD-1)."""


def read_setup(setup: session.SessionSetup) -> tuple[OptionsReplaced, ...]:
    """The options that a session starts with; config options, where there are any, are all of them (R-CFG-1)."""
    if setup.config_options is not None:
        return (OptionsReplaced(read_options(setup.config_options)),)
    legacy = tuple(_legacy_options(setup))
    return (OptionsReplaced(legacy),) if legacy else ()


def read_options(options: Iterable[session.SessionConfigOption]) -> tuple[ConfigOption, ...]:
    """The options in the agent's order."""
    return tuple(map(_option, options))


def _option(option: session.SessionConfigOption) -> ConfigOption:
    match option:
        case session.SessionConfigSelect():
            choices = tuple(_choices(option.options))
            return SelectOption(
                option.id, option.name, option.current_value, choices, option.category, option.description
            )
        case session.SessionConfigBoolean():
            return BooleanOption(
                option.id, option.name, option.current_value, option.category, option.description
            )
        case _:
            assert_never(option)


def _choices(options: session.SessionConfigSelectOptions) -> Iterator[Choice]:
    for option in options:
        if isinstance(option, session.SessionConfigSelectGroup):
            for member in option.options:
                yield Choice(member.value, member.name, member.description, option.name)
        else:
            yield Choice(option.value, option.name, option.description)


def _legacy_options(setup: session.SessionSetup) -> Iterator[SelectOption]:
    if (modes := setup.modes) is not None:
        choices = tuple(Choice(mode.id, mode.name, mode.description) for mode in modes.available_modes)
        yield SelectOption(MODE, "Mode", modes.current_mode_id, choices, MODE, source=MODE)
    if (models := setup.models) is not None:
        choices = tuple(
            Choice(model.model_id, model.name, model.description) for model in models.available_models
        )
        yield SelectOption(MODEL, "Model", models.current_model_id, choices, MODEL, source=MODEL)
