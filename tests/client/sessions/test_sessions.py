"""Sessions on one connection: routing, order, turns, and options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.client.errors import AgentLost, AgentRefused, PromptInProgress
from acp_tui.client.sessions.session import Session
from acp_tui.client.transcript.recording_plan import RecordingPlan
from acp_tui.client.transcript.replay import replayed
from acp_tui.conversation.entries import Failure, TurnEnd
from acp_tui.conversation.facts import SessionId, TurnPhase
from acp_tui.conversation.updates import ClientRemark
from support.agents import (
    REPLY,
    MemoryProcess,
    agent_texts,
    asked,
    exchange,
    in_memory,
    in_session,
    in_turn,
    notification,
    open_session,
    response,
    said,
    settle,
    shake_hands,
)

MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "do", "name": "Do"}]}


def config(value: str) -> list[dict[str, Any]]:
    options = [{"value": "small", "name": "Small"}, {"value": "large", "name": "Large"}]
    return [{"id": "model", "name": "Model", "type": "select", "currentValue": value, "options": options}]


def values(session: Session) -> list[Any]:
    return [option.value for option in session.conversation.options]


# Routing and order


async def test_updates_before_and_right_behind_the_opening_are_kept_in_order(tmp_path: Path):
    """R-SESS-13, R-ORD-2."""
    async with in_memory() as (agent, wire), anyio.create_task_group() as tasks:
        await shake_hands(agent, wire)
        tasks.start_soon(agent.new_session, tmp_path)
        opening = await wire.expect("session/new")
        await wire.send(said("before, "), said("not ours", "s2"))
        await wire.send(response(opening["id"], {"sessionId": "s1"}), said("behind"))
        await settle()
        [session] = agent.sessions.values()
        assert agent_texts(session) == ["before, behind"]


async def test_updates_reach_their_own_session_only(tmp_path: Path):
    """R-SESS-12."""
    async with in_memory() as (agent, wire):
        await shake_hands(agent, wire)
        first = await open_session(agent, wire, tmp_path, "s1")
        second = await open_session(agent, wire, tmp_path, "s2")
        await wire.send(said("one", "s1"), said("two", "s2"), said("!", "s1"))
        await settle()
    assert agent_texts(first) == ["one!"]
    assert agent_texts(second) == ["two"]


async def test_a_request_for_an_unknown_session_is_refused(tmp_path: Path):
    async with in_session(tmp_path) as (_, wire):
        params = {"sessionId": "nobody", "path": str(tmp_path / "a")}
        await wire.send({"jsonrpc": "2.0", "id": 1, "method": "fs/read_text_file", "params": params})
        assert (await wire.receive())["error"]["code"] == -32002


@pytest.mark.parametrize("name", ["gemini-cli", "another-agent"])
async def test_a_session_that_gemini_lost_is_explained(tmp_path: Path, name: str):
    async with in_memory() as (agent, wire), anyio.create_task_group() as tasks:
        info = {"name": name, "version": "0.61.0"}
        told = {"protocolVersion": 1, "agentInfo": info, "agentCapabilities": {"loadSession": True}}
        await shake_hands(agent, wire, answer=told)

        async def load() -> None:
            with pytest.raises(AgentRefused) as refused:
                await agent.load_session(SessionId("s1"), tmp_path)
            assert ("resumed in the minute in which it began" in refused.value.hint) is (name == "gemini-cli")

        tasks.start_soon(load)
        await wire.refuse(await wire.expect("session/load"), -32603, "Internal error")


async def test_an_unreadable_update_is_logged_and_dropped(tmp_path: Path):
    """R-LEN-3."""
    async with in_memory() as (agent, wire):
        await shake_hands(agent, wire)
        session = await open_session(agent, wire, tmp_path)
        await wire.send(notification("session/update", {"sessionId": "s1"}), said("next"))
        await settle()
        assert [line for line in agent.log if "SessionNotification" in line]
    assert agent_texts(session) == ["next"]


async def test_every_update_lands_before_the_turn_ends(tmp_path: Path):
    """R-UPD-2."""
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire) as prompt:
        turns = []
        session.subscribe(lambda _: turns.append((agent_texts(session), session.conversation.turn)))
        await wire.send(said("the "), said("end"), response(prompt["id"], {"stopReason": "end_turn"}))
        await settle()
    assert turns[-2:] == [(["the end"], TurnPhase.RUNNING), (["the end"], TurnPhase.IDLE)]


async def test_updates_after_a_turn_are_accepted(tmp_path: Path):
    """R-PROMPT-10."""
    async with in_session(tmp_path) as (session, wire):
        async with in_turn(session, wire):
            pass
        await wire.send(said("by the way"))
        await settle()
    assert agent_texts(session) == ["by the way"]


# Turns


async def test_one_prompt_at_a_time(tmp_path: Path):
    """R-PROMPT-3."""
    async with in_session(tmp_path) as (session, wire):
        async with in_turn(session, wire):
            with pytest.raises(PromptInProgress):
                await session.send_prompt(REPLY)
            assert await wire.receive_all() == []
        async with in_turn(session, wire) as prompt:
            assert prompt["params"] == {"sessionId": "s1", "prompt": [{"type": "text", "text": "go"}]}


@pytest.mark.parametrize("reason", ["max_tokens", "refusal", "one-of-tomorrow"])
async def test_a_turn_that_ended_otherwise_shows_how(tmp_path: Path, reason: str):
    """R-PROMPT-6."""
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire) as prompt:
        await wire.answer(prompt, {"stopReason": reason})
        await settle()
        assert session.conversation.entries[-1] == TurnEnd(reason)
        assert session.conversation.turn is TurnPhase.IDLE


def changed(kind: str, **fields: Any) -> dict[str, Any]:
    return notification("session/update", {"sessionId": "s1", "update": {"sessionUpdate": kind, **fields}})


COUNTED = changed("usage_update", used=3, size=8)
ECHOED = changed("user_message_chunk", content={"type": "text", "text": "go"})
OFFERED = changed("available_commands_update", availableCommands=[{"name": "plan", "description": "Plan"}])
PLANNED = changed("plan", entries=[{"content": "Look", "priority": "high", "status": "pending"}])


@pytest.mark.parametrize("heard", [(), (said(""), COUNTED, ECHOED)], ids=["nothing", "no answer"])
async def test_a_turn_that_ends_without_anything_from_the_agent_is_told(tmp_path: Path, heard: tuple[Any, ...]):
    async with in_session(tmp_path) as (session, wire):
        async with in_turn(session, wire):
            await wire.send(*heard)
        _, remark = session.conversation.entries
    assert remark == ClientRemark("The agent ended its turn without saying or doing anything.")


@pytest.mark.parametrize("heard", [said("Hi"), asked(1, "yes"), OFFERED, PLANNED])
async def test_a_turn_in_which_the_agent_did_something_ends_without_a_remark(tmp_path: Path, heard: Any):
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire):
        await wire.send(heard)
    assert not any(isinstance(entry, ClientRemark) for entry in session.conversation.entries)


async def test_a_silent_turn_behind_another_is_told(tmp_path: Path):
    async with in_session(tmp_path) as (session, wire):
        async with in_turn(session, wire):
            await wire.send(said("Hi"), OFFERED)
        async with in_turn(session, wire):
            await wire.send(OFFERED)
    assert isinstance(session.conversation.entries[-1], ClientRemark)


@pytest.mark.parametrize(("name", "knows"), [("@zed-industries/claude-agent-acp", True), ("played", False)])
async def test_a_silent_turn_behind_a_canceled_one_is_told_with_what_helps(tmp_path: Path, name: str, knows: bool):
    """claude-agent-acp 0.23.1 then answers with each prompt the one before."""
    async with in_session(tmp_path, name=name) as (session, wire):
        async with in_turn(session, wire):
            pass
        await exchange(session.send_prompt(REPLY), wire, "session/prompt", said("Hi"), stopReason="cancelled")
        async with in_turn(session, wire):
            pass
    first, last = [entry.text for entry in session.conversation.entries if isinstance(entry, ClientRemark)]
    assert first == "The agent ended its turn without saying or doing anything."
    assert last.startswith(first)
    assert ("restart it (/restart), then send yours again" in last) == knows


async def test_a_turn_that_ends_right_before_its_question_was_not_silent(tmp_path: Path):
    """claude-agent-acp 0.23.1 does that in the turn after a canceled one."""
    async with in_session(tmp_path) as (session, wire):
        async with in_turn(session, wire) as prompt:
            await wire.send(response(prompt["id"], {"stopReason": "end_turn"}), asked(1, "yes"))
        assert session.conversation.is_idle
        assert session.conversation.permissions
    assert not any(isinstance(entry, ClientRemark) for entry in session.conversation.entries)


async def test_what_is_asked_outside_a_turn_can_be_canceled(tmp_path: Path):
    async with in_session(tmp_path) as (session, wire):
        await wire.send(asked(1, "yes"))
        await settle()
        session.cancel()
        assert await wire.receive_all() == [response(1, {"outcome": {"outcome": "cancelled"}})]
        assert not session.conversation.permissions


@pytest.mark.parametrize("result", [None, {}, {"stopReason": 5}, "done"])
async def test_a_turn_that_ended_unreadably_has_ended(tmp_path: Path, result: Any):
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire) as prompt:
        await wire.answer(prompt, result)
        await settle()
        assert isinstance(session.conversation.entries[-1], Failure)
        assert session.conversation.turn is TurnPhase.IDLE


async def test_an_error_ends_the_turn_and_is_told(tmp_path: Path):
    """R-PROMPT-8."""
    async with in_session(tmp_path) as (session, wire), anyio.create_task_group() as tasks:

        async def send_prompt() -> None:
            with pytest.raises(AgentRefused, match="played: quota"):
                await session.send_prompt(REPLY)

        tasks.start_soon(send_prompt)
        await wire.refuse(await wire.expect("session/prompt"), -32603, "quota")
    assert isinstance(session.conversation.entries[-1], Failure)
    assert session.conversation.turn is TurnPhase.IDLE


async def test_a_cancelled_turn_goes_on_until_the_agent_ends_it(tmp_path: Path):
    """R-CANC-1, R-CANC-6, R-CANC-7."""
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire) as prompt:
        session.cancel()
        session.cancel()
        assert await wire.receive_all() == [notification("session/cancel", {"sessionId": "s1"})]
        assert session.conversation.turn is TurnPhase.CANCELLING
        await wire.send(said("last words"))
        await wire.answer(prompt, {"stopReason": "cancelled"})
        await settle()
        assert agent_texts(session) == ["last words"]
        assert session.conversation.turn is TurnPhase.IDLE


async def test_a_cancel_without_a_turn_sends_nothing(tmp_path: Path):
    async with in_session(tmp_path) as (session, wire):
        session.cancel()
        assert await wire.receive_all() == []


async def test_a_cancel_reaches_its_own_session_only(tmp_path: Path):
    """R-CANC-8."""
    async with in_memory() as (agent, wire):
        await shake_hands(agent, wire)
        first = await open_session(agent, wire, tmp_path, "s1")
        second = await open_session(agent, wire, tmp_path, "s2")
        async with in_turn(first, wire), in_turn(second, wire):
            second.cancel()
            assert (await wire.receive())["params"] == {"sessionId": "s2"}
            assert first.conversation.turn is TurnPhase.RUNNING


async def test_the_end_of_the_agent_ends_the_turns_of_all_its_sessions(tmp_path: Path):
    async with in_memory() as (agent, wire):
        await shake_hands(agent, wire)
        sessions = [await open_session(agent, wire, tmp_path, name) for name in ("s1", "s2")]
        async with anyio.create_task_group() as tasks:

            async def send_prompt(session: Session) -> None:
                with pytest.raises(AgentLost, match="played closed its output"):
                    await session.send_prompt(REPLY)

            for session in sessions:
                tasks.start_soon(send_prompt, session)
                await wire.expect("session/prompt")
            await wire.close_output()
    for session in sessions:
        assert (session.conversation.turn, session.conversation.is_connected) == (TurnPhase.IDLE, False)


async def test_a_cancel_while_the_lost_agents_exit_is_awaited_is_harmless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async with in_session(tmp_path) as (session, wire), anyio.create_task_group() as tasks:

        async def cancel_meanwhile(*_: object) -> None:
            session.cancel()

        async def send_prompt() -> None:
            with pytest.raises(AgentLost, match="closed its output"):
                await session.send_prompt(REPLY)

        monkeypatch.setattr(MemoryProcess, "wait_for_end", cancel_meanwhile)
        tasks.start_soon(send_prompt)
        await wire.expect("session/prompt")
        await wire.close_output()
    assert (session.conversation.turn, session.conversation.is_connected) == (TurnPhase.IDLE, False)


# Options


async def test_a_config_option_is_what_the_agent_makes_of_it(tmp_path: Path):
    """R-CFG-7, R-CFG-9."""
    async with in_session(tmp_path, configOptions=config("small"), modes=MODES) as (session, wire):
        assert values(session) == ["small"]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.set_option, "model", "large")
            setting = await wire.expect("session/set_config_option")
            assert setting["params"] == {"sessionId": "s1", "configId": "model", "value": "large"}
            later = {"sessionUpdate": "config_option_update", "configOptions": config("small")}
            await wire.send(
                response(setting["id"], {"configOptions": config("large")}),
                notification("session/update", {"sessionId": "s1", "update": later}),
            )
        assert values(session) == ["small"]


async def test_a_boolean_option_says_its_type(tmp_path: Path):
    option = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": False}
    async with in_session(tmp_path, configOptions=[option]) as (session, wire):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.set_option, "fast", True)
            setting = await wire.expect("session/set_config_option")
            assert setting["params"] | {"type": "boolean", "value": True} == setting["params"]
            await wire.answer(setting, {"configOptions": [{**option, "currentValue": True}]})
        assert values(session) == [True]


async def test_a_mode_is_set_by_the_success_and_a_later_update_wins(tmp_path: Path):
    """R-MODE-2, R-CFG-9."""
    async with in_session(tmp_path, modes=MODES) as (session, wire):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.set_option, "mode", "do")
            setting = await wire.expect("session/set_mode")
            assert setting["params"] == {"sessionId": "s1", "modeId": "do"}
            assert values(session) == ["ask"]
            await wire.answer(setting, {})
        assert values(session) == ["do"]
        back = {"sessionUpdate": "current_mode_update", "currentModeId": "ask"}
        await wire.send(notification("session/update", {"sessionId": "s1", "update": back}))
        await settle()
        assert values(session) == ["ask"]


async def test_modes_that_the_handshake_says_are_those_of_a_session_that_says_none(tmp_path: Path):
    """R-DOC-1: older texts have them there, the schema in the session."""
    plan = RecordingPlan(tmp_path, file=tmp_path / "run.jsonl")
    async with in_memory(recordings=plan) as (agent, wire):
        await shake_hands(agent, wire, answer={"protocolVersion": 1, "modes": MODES})
        session = await open_session(agent, wire, tmp_path)
        other = await open_session(agent, wire, tmp_path, "s2", modes={**MODES, "currentModeId": "do"})
        assert (values(session), values(other)) == (["ask"], ["do"])
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.set_option, "mode", "do")
            setting = await wire.expect("session/set_mode")
            assert setting["params"] == {"sessionId": "s1", "modeId": "do"}
            await wire.answer(setting, {})
        assert values(session) == ["do"]
    again = replayed(tmp_path / "run.jsonl")
    assert [again[each.session_id].options for each in (session, other)] == [
        each.conversation.options for each in (session, other)
    ]


async def test_a_refused_option_stays_as_it_was(tmp_path: Path):
    async with in_session(tmp_path, modes=MODES) as (session, wire), anyio.create_task_group() as tasks:

        async def set_mode() -> None:
            with pytest.raises(AgentRefused, match="not now"):
                await session.set_option("mode", "do")

        tasks.start_soon(set_mode)
        await wire.refuse(await wire.expect("session/set_mode"), -32603, "not now")
    assert values(session) == ["ask"]


async def test_an_unreadable_answer_to_an_option_is_told(tmp_path: Path):
    async with (
        in_session(tmp_path, configOptions=config("small")) as (session, wire),
        anyio.create_task_group() as tasks,
    ):

        async def set_model() -> None:
            with pytest.raises(AgentLost, match="broke the protocol"):
                await session.set_option("model", "large")

        tasks.start_soon(set_model)
        await wire.answer(await wire.expect("session/set_config_option"), "done")
    assert values(session) == ["small"]
