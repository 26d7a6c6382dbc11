"""Session options: which request sets one, which value wins, and that only offered values are sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.client.errors import Unsupported
from acp_tui.client.sessions.driver import choose
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.facts import BooleanOption, SelectOption
from support.agents import in_memory, in_session, in_turn, notification, response, settle, shake_hands

MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "do", "name": "Do"}]}
MODELS = {"currentModelId": "s", "availableModels": [{"modelId": m, "name": m.upper()} for m in ("s", "l")]}
FAST = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": False}


def select(option_id: str, value: str, **fields: Any) -> dict[str, Any]:
    options = [{"value": name, "name": name.upper()} for name in ("a", "b")]
    option = {"id": option_id, "name": option_id, "type": "select", "currentValue": value, "options": options}
    return {**option, **fields}


def update(kind: str, **fields: Any) -> dict[str, Any]:
    return notification("session/update", {"sessionId": "s1", "update": {"sessionUpdate": kind, **fields}})


def values(session: Session) -> dict[str, Any]:
    return {option.option_id: option.value for option in session.conversation.options}


async def test_the_legacy_model_is_set_by_its_own_request_and_by_its_success(tmp_path: Path):
    """R-OLD-1, R-CFG-1."""
    async with in_session(tmp_path, modes=MODES, models=MODELS) as (session, wire):
        assert values(session) == {"mode": "ask", "model": "s"}
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.set_option, "model", "l")
            setting = await wire.expect("session/set_model")
            assert setting["params"] == {"sessionId": "s1", "modelId": "l"}
            await wire.answer(setting, None)
        assert values(session) == {"mode": "ask", "model": "l"}


async def test_config_options_win_over_modes_and_models(tmp_path: Path):
    """R-CFG-1: even over a later report of the current mode."""
    config = [select("mode", "a", category="mode")]
    async with in_session(tmp_path, configOptions=config, modes=MODES, models=MODELS) as (session, wire):
        await wire.send(update("current_mode_update", currentModeId="do"))
        await settle()
        assert values(session) == {"mode": "a"}
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.set_option, "mode", "b")
            setting = await wire.expect("session/set_config_option")
            assert setting["params"] == {"sessionId": "s1", "configId": "mode", "value": "b"}
            await wire.answer(setting, {"configOptions": [select("mode", "b")]})
        assert values(session) == {"mode": "b"}


async def test_an_answer_replaces_all_options_and_others_may_come_and_go(tmp_path: Path):
    """R-CFG-6, R-CFG-7."""
    async with in_session(tmp_path, configOptions=[select("x", "a"), select("y", "a")]) as (session, wire):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.set_option, "x", "b")
            setting = await wire.expect("session/set_config_option")
            await wire.answer(setting, {"configOptions": [FAST, select("x", "b")]})
        assert list(values(session).items()) == [("fast", False), ("x", "b")]


async def test_the_last_on_the_wire_wins(tmp_path: Path):
    """R-CFG-9: whatever was asked first, even in the middle of a turn."""
    async with in_session(tmp_path, configOptions=[select("x", "a")]) as (session, wire):
        async with in_turn(session, wire), anyio.create_task_group() as tasks:
            tasks.start_soon(session.set_option, "x", "b")
            first = await wire.expect("session/set_config_option")
            tasks.start_soon(session.set_option, "x", "a")
            second = await wire.expect("session/set_config_option")
            await wire.send(
                response(second["id"], {"configOptions": [select("x", "a")]}),
                update("config_option_update", configOptions=[select("x", "a", name="meanwhile")]),
                response(first["id"], {"configOptions": [select("x", "b")]}),
            )
        assert values(session) == {"x": "b"}


async def test_grouped_values_can_be_chosen_and_an_option_of_an_unknown_type_is_skipped(tmp_path: Path):
    """R-CFG-2, R-CFG-3."""
    groups = [{"group": "g", "name": "Group", "options": [{"value": "deep", "name": "Deep"}]}]
    config = [select("x", "a", options=groups), {**FAST, "type": "dial"}]
    async with in_session(tmp_path, configOptions=config) as (session, wire):
        [option] = session.conversation.options
        assert isinstance(option, SelectOption)
        assert [(choice.value, choice.group) for choice in option.choices] == [("deep", "Group")]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.set_option, "x", "deep")
            setting = await wire.expect("session/set_config_option")
            assert setting["params"]["value"] == "deep"
            await wire.answer(setting, {"configOptions": []})


@pytest.mark.parametrize(
    ("option_id", "value"), [("x", "c"), ("x", True), ("fast", "yes"), ("mode", "ask"), ("invented", "a")]
)
async def test_what_was_not_given_to_choose_is_not_sent(tmp_path: Path, option_id: str, value: str | bool):
    """R-MODE-2."""
    config = [select("x", "a"), FAST]
    async with in_session(tmp_path, configOptions=config, modes=MODES) as (session, wire):
        with pytest.raises(Unsupported):
            await session.set_option(option_id, value)
        assert await wire.receive_all() == []
        assert any(isinstance(option, BooleanOption) for option in session.conversation.options)


async def test_what_a_session_can_show_is_offered_exactly():
    """R-INIT-6, R-CFG-4, R-POST-2, R-POST-3."""
    async with in_memory() as (agent, wire):
        capabilities = (await shake_hands(agent, wire))["params"]["clientCapabilities"]
    assert capabilities["session"] == {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}}


CHOSEN = [select("mode", "a", category="mode"), select("depth", "a", category="thought_level"), FAST]


@pytest.mark.parametrize(
    ("name", "value", "sent"),
    [("mode", "b", ("mode", "b")), ("depth", "B", ("depth", "b")), ("thought_level", "b", ("depth", "b"))],
)
async def test_what_was_chosen_before_is_set_by_id_or_category_and_value_or_name(
    tmp_path: Path, name: str, value: str, sent: tuple[str, str]
) -> None:
    async with in_session(tmp_path, configOptions=CHOSEN) as (session, wire), anyio.create_task_group() as tasks:
        tasks.start_soon(choose, session, [(name, value), ("fast", "off")])  # which is so already
        setting = await wire.expect("session/set_config_option")
        assert (setting["params"]["configId"], setting["params"]["value"]) == sent
        await wire.answer(setting, {"configOptions": CHOSEN})


@pytest.mark.parametrize(
    ("name", "value", "why", "hint"),
    [
        ("model", "x", "the agent has no model to choose", "its options: mode, depth, fast"),
        ("mode", "c", "mode can't be 'c'", "it is one of A, B"),
        ("fast", "maybe", "fast can't be 'maybe'", "it is on or off"),
    ],
)
async def test_what_the_agent_does_not_offer_is_refused_with_what_it_does(
    tmp_path: Path, name: str, value: str, why: str, hint: str
) -> None:
    async with in_session(tmp_path, configOptions=CHOSEN) as (session, wire):
        with pytest.raises(Unsupported, match=why) as refused:
            await choose(session, [(name, value)])
        assert refused.value.hint == hint
        assert await wire.receive_all() == []
