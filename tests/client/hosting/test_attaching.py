"""Several terminals attached to one session all see the same, and a turn continues without any of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.client.errors import SessionClosed
from acp_tui.client.hosting.host import ClientAccess
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Message
from acp_tui.conversation.facts import Provider, ProviderRoute, SelectOption, TurnPhase
from conversation.test_catch_up import shown
from support.agents import (
    REPLY,
    Counterpart,
    agent_texts,
    asked,
    notification,
    our_children,
    request,
    said,
    settle,
    until,
)
from support.folding import texts
from support.hosts import Link, hosted

pytestmark = pytest.mark.anyio

STEERED = (Text("turn left"),)
WATCHING = ClientAccess("elsewhere", is_read_only=True)
MODES = {
    "modes": {
        "currentModeId": "ask",
        "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
    }
}


def same(*sessions: Session) -> bool:
    """Whether they look the same to their users."""
    first, *others = (_comparable(session.conversation) for session in sessions)
    return all(other == first for other in others)


def _comparable(conversation: Conversation) -> dict[str, Any]:
    looks = shown(conversation)
    # Behind a host, legacy modes are options like any others, and its terminals aren't ours.
    looks["options"] = [(option.option_id, option.value) for option in conversation.options]
    looks["terminals"] = {key: state[:-1] for key, state in looks["terminals"].items()}
    return looks


async def test_a_client_sees_what_was_said_before_it_came_and_what_is_said_then(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its, anyio.create_task_group() as tasks:
        tasks.start_soon(its.session.send_prompt, REPLY)
        prompt = await its.wire.expect("session/prompt")
        await its.wire.send(said("be"), said("fore"))
        await until(its.session, lambda: agent_texts(its.session) == ["before"])
        client = await its.attach()
        assert same(its.session, client)
        await its.wire.send(said(" and after"))
        await until(client, lambda: agent_texts(client) == ["before and after"])
        assert client.conversation.turn is TurnPhase.RUNNING
        await its.wire.answer(prompt, {"stopReason": "end_turn"})
        await until(client, lambda: client.conversation.is_idle)
        assert same(its.session, client)


async def test_two_clients_see_each_others_prompts_and_turns(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its, anyio.create_task_group() as tasks:
        one, other = await its.attach("one"), await its.attach("other")
        tasks.start_soon(one.send_prompt, REPLY)
        prompt = await its.wire.expect("session/prompt")
        await until(other, lambda: other.conversation.turn is TurnPhase.RUNNING)
        await its.wire.send(said("done"))
        await its.wire.answer(prompt, {"stopReason": "max_tokens"})
        for client in (one, other):
            await until(client, lambda client=client: client.conversation.is_idle)  # type: ignore[misc]
        assert same(its.session, one, other)
        assert texts(other.conversation)[-1] == ("TurnEnd", "")


async def test_a_plan_on_its_way_as_a_client_sends_a_prompt_ends_with_it_there(tmp_path: Path) -> None:
    done = {"content": "Step", "priority": "medium", "status": "completed"}
    link = Link()
    async with hosted(tmp_path) as its, anyio.create_task_group() as tasks:
        client = await its.attach(link=link)
        link.hold("to_client")
        await its.wire.send(
            notification("session/update", {"sessionId": "s1", "update": {"sessionUpdate": "plan", "entries": [done]}})
        )
        await until(its.session, lambda: bool(its.session.conversation.plans))
        tasks.start_soon(client.send_prompt, REPLY)
        prompt = await its.wire.expect("session/prompt")
        link.open()
        await its.wire.answer(prompt, {"stopReason": "end_turn"})
        await until(client, lambda: client.conversation.is_idle)
        assert client.conversation.plans == its.session.conversation.plans == {}


async def test_several_plans_of_an_agent_reach_clients_that_know_more_than_one(tmp_path: Path) -> None:
    step = {"content": "Step", "priority": "medium", "status": "pending"}
    plans = [{"type": "items", "planId": plan_id, "entries": [step]} for plan_id in "ab"]
    told = [{"sessionUpdate": "plan_update", "plan": plan} for plan in plans]
    async with hosted(tmp_path) as its, its.played() as simple:
        await its.wire.send(*(notification("session/update", {"sessionId": "s1", "update": each}) for each in told))
        await until(its.session, lambda: len(its.session.conversation.plans) == len(plans))
        client = await its.attach()
        assert client.conversation.plans == its.session.conversation.plans
        await simple.send(request(1, "initialize", {"protocolVersion": 1, "clientCapabilities": {}}))
        await simple.send(request(2, "session/load", {"sessionId": "s1", "cwd": "/", "mcpServers": []}))
        updates = [each["params"]["update"] for each in await simple.receive_all() if "params" in each]
        assert {"sessionUpdate": "plan", "entries": [step]} in updates
        assert "plan_update" not in {update["sessionUpdate"] for update in updates}
        await its.wire.send(
            notification(
                "session/update", {"sessionId": "s1", "update": {"sessionUpdate": "plan_removed", "planId": "a"}}
            )
        )
        await until(client, lambda: list(client.conversation.plans) == ["b"])


async def test_a_server_that_a_client_names_is_never_started_by_the_host(tmp_path: Path) -> None:
    named = {"name": "theirs", "command": "/bin/sleep", "args": ["60"], "env": []}
    able = {"mcpCapabilities": {"acp": True}}
    async with hosted(tmp_path, capabilities=able) as its, its.played() as client:
        its.host.agent.command = replace(its.host.agent.command, is_elsewhere=True)
        assert its.host.agent.runs_servers_here
        await client.send(request(1, "session/new", {"cwd": str(tmp_path), "mcpServers": [named]}))
        asked = await its.wire.expect("session/new")
        assert asked["params"]["mcpServers"] == [named]
        await its.wire.answer(asked, {"sessionId": "s2"})
        assert (await client.receive_all())[-1]["result"]["sessionId"] == "s2"
        assert our_children() == []


@pytest.mark.parametrize("version", [1, 2])
async def test_who_is_attached_can_choose_who_serves_the_agents_models(tmp_path: Path, version: int) -> None:
    route = {"apiType": "openai", "baseUrl": "https://a"}
    told = {"providerId": "main", "supported": ["openai"], "required": False, "current": route}
    asked: list[tuple[str, Any]] = []

    async def play(wire: Counterpart) -> None:
        for result in ({"providers": [told]}, {"providers": [told]}, {}, {"providers": [told]}, {}):
            message = await wire.receive()
            asked.append((message["method"], message["params"]))
            await wire.answer(message, result)

    able = {"providers": {}}
    async with hosted(tmp_path, version=version, capabilities=able) as its, anyio.create_task_group() as tasks:
        client = await its.connect()
        tasks.start_soon(play, its.wire)
        (provider,) = await client.list_providers()
        assert provider == Provider("main", ("openai",), False, ProviderRoute("openai", "https://a"))
        await client.set_provider(provider, ProviderRoute("openai", "https://b"), {"X-Key": "k"})
        await client.set_provider(provider, None, {})
    assert [each for each in asked if each[0] != "providers/list"] == [
        (
            "providers/set",
            {"providerId": "main", "apiType": "openai", "baseUrl": "https://b", "headers": {"X-Key": "k"}},
        ),
        ("providers/disable", {"providerId": "main"}),
    ]


async def test_a_turn_goes_on_where_its_client_has_gone(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its, anyio.create_task_group() as tasks:
        agent = await its.connect("leaving")
        client = await agent.load_session(its.session.session_id, tmp_path)

        async def send() -> None:
            with pytest.raises(Exception, match="stopped"):
                await client.send_prompt(REPLY)

        tasks.start_soon(send)
        prompt = await its.wire.expect("session/prompt")
        await agent.stop()
        await its.wire.send(said("still here"))
        await its.wire.answer(prompt, {"stopReason": "end_turn"})
        await until(its.session, lambda: its.session.conversation.is_idle)
        assert agent_texts(its.session) == ["still here"]
        assert await its.wire.receive_all() == []  # nothing was canceled


async def test_prompts_of_two_clients_are_sent_one_after_the_other(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its, its.played() as one, its.played() as other:
        for client in (one, other):
            await client.send(request(1, "session/load", {"sessionId": "s1", "cwd": "/", "mcpServers": []}))
            await client.receive_all()
        prompt = {"sessionId": "s1", "prompt": [{"type": "text", "text": "go"}]}
        await one.send(request(2, "session/prompt", prompt))
        first = await its.wire.expect("session/prompt")
        await other.send(request(2, "session/prompt", prompt))
        assert await its.wire.receive_all() == []
        await its.wire.answer(first, {"stopReason": "end_turn"})
        await its.wire.answer(await its.wire.expect("session/prompt"), {"stopReason": "refusal"})
        assert [message for message in await other.receive_all() if "id" in message] == [
            {"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "refusal"}}
        ]


async def test_a_prompt_that_joins_a_turn_stands_in_every_terminal_where_it_did(tmp_path: Path) -> None:
    async with hosted(tmp_path, offers={"steering": {"supported": True}}) as its:
        one, other = await its.attach("one"), await its.attach("other")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one.send_prompt, REPLY)
            prompt = await its.wire.expect("session/prompt")
            await its.wire.send(said("so far"))
            await until(other, lambda: agent_texts(other) == ["so far"])
            taken: list[bool] = []

            async def steer() -> None:
                taken.append(await other.steer(STEERED))

            tasks.start_soon(steer)
            await its.wire.answer(await its.wire.expect("_session/steering"), {"outcome": "injected"})
            await its.wire.send(said("as you say"))
            await its.wire.answer(prompt, {"stopReason": "end_turn"})
        for client in (one, other):
            await until(client, lambda client=client: client.conversation.is_idle)  # type: ignore[misc]
        messages = [entry.text for entry in other.conversation.entries if isinstance(entry, Message)]
        assert messages[1:] == ["so far", "turn left", "as you say"]
        assert taken == [True]
        assert same(its.session, one, other)


async def test_a_login_of_the_agents_own_is_passed_on(tmp_path: Path) -> None:
    async with hosted(tmp_path, ways=[{"id": "code", "name": "A code"}]) as its:
        client = await its.connect()
        assert [way.method_id for way in client.auth_methods] == ["code"]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.authenticate, "code")
            login = await its.wire.expect("authenticate")
            assert login["params"] == {"methodId": "code"}
            await its.wire.answer(login, {})


async def test_a_client_takes_back_a_prompt_that_waits_for_anothers_turn(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its, its.played() as one, its.played() as other:
        prompt = {"sessionId": "s1", "prompt": []}
        await one.send(request(1, "session/prompt", prompt))
        running = await its.wire.expect("session/prompt")
        await other.send(request(1, "session/prompt", prompt))
        await settle()
        await other.send(notification("session/cancel", {"sessionId": "s1"}))
        await settle()
        await its.wire.answer(running, {"stopReason": "end_turn"})
        assert (await other.receive())["result"] == {"stopReason": "cancelled"}
        assert await its.wire.receive_all() == []


async def test_an_option_that_one_client_sets_is_shown_in_all(tmp_path: Path) -> None:
    async with hosted(tmp_path, **MODES) as its, anyio.create_task_group() as tasks:
        one, other = await its.attach("one"), await its.attach("other")
        tasks.start_soon(one.set_option, "mode", "code")
        await its.wire.answer(await its.wire.expect("session/set_mode"), {})
        for client in (one, other):
            await until(client, lambda client=client: _mode(client) == "code")  # type: ignore[misc]
        assert same(its.session, one, other)


async def test_a_session_renamed_by_one_client_is_called_so_in_all_and_in_the_status(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its, its.played() as played:
        one, other, spy = await its.attach("one"), await its.attach("other"), await its.connect(access=WATCHING)
        assert await one.rename(" The  stars ") == "The stars"
        await until(other, lambda: other.conversation.title == "The stars")
        (session,) = (await (await its.connect("third")).send_extension("_acp_tui/status", {}))["sessions"]
        assert session["title"] == "The stars"
        await played.send(request(1, "initialize", {"protocolVersion": 1}))
        assert (await played.receive())["result"]["agentCapabilities"]["sessionCapabilities"]["title"] == {}
        await played.send(request(2, "session/set_title", {"sessionId": "s1", "title": " "}))
        assert (await played.receive())["error"]["code"] == -32602
        assert not spy.capabilities.set_title
        assert await its.wire.receive_all() == [], "the agent takes no titles"


def _mode(session: Session) -> str:
    option = session.conversation.options[0]
    assert isinstance(option, SelectOption)
    return option.value


async def test_a_client_of_plain_acp_sees_prompts_as_messages_and_none_of_our_additions(
    tmp_path: Path,
) -> None:
    async with hosted(tmp_path) as its, anyio.create_task_group() as tasks, its.played() as client:
        await client.send(request(1, "initialize", {"protocolVersion": 1}))
        offered = (await client.receive())["result"]["agentCapabilities"]
        assert offered["loadSession"] is True
        assert "resume" not in offered["sessionCapabilities"]
        await client.send(request(2, "session/load", {"sessionId": "s1", "cwd": "/", "mcpServers": []}))
        assert (await client.receive_all())[-1]["result"] == {}
        tasks.start_soon(its.session.send_prompt, REPLY)
        prompt = await its.wire.expect("session/prompt")
        await its.wire.send(said("hello"), asked("p", "yes"))
        await its.wire.answer(prompt, {"stopReason": "end_turn"})
        await until(its.session, lambda: its.session.conversation.is_idle)
        heard = await client.receive_all()
        assert [message["method"] for message in heard] == [
            "session/update",
            "session/update",
            "session/request_permission",
            "$/cancel_request",
        ]
        kinds = [message["params"]["update"]["sessionUpdate"] for message in heard[:2]]
        assert kinds == ["user_message_chunk", "agent_message_chunk"]


async def test_the_host_ends_with_its_last_session(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its:
        one, other = await its.connect("one"), await its.connect("other")
        closed = await one.load_session(its.session.session_id, tmp_path)
        left = await other.load_session(its.session.session_id, tmp_path)
        await one.close_session(closed)
        await its.host.ended.wait()
        await until(left, lambda: not left.conversation.is_connected)


async def test_a_session_that_another_terminal_closed_is_closed_and_its_agent_not_gone(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its:
        one, other = await its.connect("one"), await its.connect("other")
        closed = await one.load_session(its.session.session_id, tmp_path)
        left = await other.load_session(its.session.session_id, tmp_path)
        async with anyio.create_task_group() as tasks:

            async def send() -> None:
                with pytest.raises(SessionClosed):
                    await left.send_prompt(REPLY)

            tasks.start_soon(send)
            prompt = await its.wire.expect("session/prompt")
            await one.close_session(closed)
            await its.wire.answer(prompt, {"stopReason": "cancelled"})
        with pytest.raises(SessionClosed):
            await left.send_prompt(REPLY)
        assert other.lost is None


async def test_its_status_says_what_runs_and_what_waits_for_an_answer(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its:
        client = await its.connect()
        await client.load_session(its.session.session_id, tmp_path)
        await its.wire.send(asked("p", "yes"))
        await until(its.session, lambda: bool(its.session.conversation.permissions))
        status = await client.send_extension("_acp_tui/status", {})
        (session,) = status["sessions"]
        assert status["startedAt"] <= session.pop("openedAt")
        assert [session] == [
            {
                "sessionId": "s1",
                "cwd": str(tmp_path),
                "title": "",
                "turn": "idle",
                "waiting": ["Delete everything"],
                "attached": 1,
            }
        ]


async def test_stopping_it_by_a_client_ends_it(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its:
        client = await its.connect()
        await client.send_extension("_acp_tui/stop", {})
        await its.host.ended.wait()
