"""The user's system prompt goes to agents that take one, each time a session is opened, and to no others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.facts import SessionId
from support.agents import in_memory, open_session, shake_hands
from support.schema import flaws

PROMPT = "Answer in one word."
APPENDED = {"mode": "append", "content": [{"type": "text", "text": PROMPT}]}
REPLACING = {**APPENDED, "mode": "override"}
Open = Callable[[Agent, Session, Path], Awaitable[Any]]


def answer_of(version: int, offered: Any) -> dict[str, Any]:
    """An agent's answer to the handshake that has `offered` as its capability."""
    session = {"resume": {}, "fork": {}, "systemPrompt": offered}
    if version == 2:
        info = {"name": "played", "version": "1"}
        return {"protocolVersion": 2, "info": info, "capabilities": {"session": session}}
    return {"protocolVersion": 1, "agentCapabilities": {"loadSession": True, "sessionCapabilities": session}}


async def opened_with(tmp_path: Path, offered: Any, *, version: int, overrides: bool = False) -> tuple[Any, str]:
    """The params of session/new, and what the user is told of a prompt that isn't sent."""
    command = AgentCommand("played", ("played",), system_prompt=PROMPT, overrides_prompt=overrides)
    async with in_memory(command=command) as (agent, wire):
        await shake_hands(agent, wire, answer=answer_of(version, offered))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.new_session, tmp_path)
            request = await wire.expect("session/new")
            await wire.answer(request, {"sessionId": "s1"})
        return request["params"], agent.untaken_prompt


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("offered", [{}, {"mode": None}, {"mode": {}}, {"mode": 5}, {"mode": {"override": {}}}])
async def test_an_agent_that_takes_a_system_prompt_gets_it_added(version: int, offered: Any, tmp_path: Path) -> None:
    params, told = await opened_with(tmp_path, offered, version=version)
    assert params["systemPrompt"] == APPENDED
    assert flaws("NewSessionRequest", params, version) == []
    assert told == ""


@pytest.mark.parametrize("version", [1, 2])
async def test_only_an_agent_that_says_so_gets_its_own_prompt_replaced(version: int, tmp_path: Path) -> None:
    params, _ = await opened_with(tmp_path, {"mode": {"override": {}}}, version=version, overrides=True)
    assert params["systemPrompt"] == REPLACING
    for offered in ({}, {"mode": {"override": None}}, {"mode": {"override": True}}):
        params, told = await opened_with(tmp_path, offered, version=version, overrides=True)
        assert "systemPrompt" not in params
        assert told == "The system prompt isn't sent: played only adds one to its own, and yours is to replace it"


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("offered", [None, False, "yes", []])
async def test_an_agent_that_takes_none_gets_none(version: int, offered: Any, tmp_path: Path) -> None:
    params, told = await opened_with(tmp_path, offered, version=version)
    assert "systemPrompt" not in params
    assert told == "The system prompt isn't sent: played doesn't take one"


@pytest.mark.parametrize(
    ("method", "kind", "version", "call"),
    [
        ("session/load", "LoadSession", 1, lambda agent, _, cwd: agent.load_session(SessionId("s2"), cwd)),
        ("session/resume", "ResumeSession", 1, lambda agent, _, cwd: agent.resume_session(SessionId("s2"), cwd)),
        ("session/resume", "ResumeSession", 2, lambda agent, _, cwd: agent.resume_session(SessionId("s2"), cwd)),
        ("session/resume", "ResumeSession", 2, lambda agent, _, cwd: agent.load_session(SessionId("s2"), cwd)),
        ("session/fork", "ForkSession", 1, lambda agent, source, _: agent.fork_session(source, title="a")),
        ("session/fork", "ForkSession", 2, lambda agent, source, _: agent.fork_session(source, title="a")),
    ],
)
async def test_the_same_prompt_goes_with_every_way_to_open_a_session(
    method: str, kind: str, version: int, call: Open, tmp_path: Path
) -> None:
    command = AgentCommand("played", ("played",), system_prompt=PROMPT)
    async with in_memory(command=command) as (agent, wire):
        await shake_hands(agent, wire, answer=answer_of(version, {}))
        source = await open_session(agent, wire, tmp_path)
        seen: list[Any] = []

        async def open_it() -> None:
            await call(agent, source, tmp_path)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(open_it)
            request = await wire.expect(method)
            seen.append(request["params"])
            await wire.answer(request, {"sessionId": "s2"} if method == "session/fork" else {})
    assert seen[0]["systemPrompt"] == APPENDED
    assert flaws(f"{kind}Request", seen[0], version) == []
