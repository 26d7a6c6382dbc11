"""Which version of the protocol is spoken: what we request, what agents answer, and what the user is told."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import anyio
import pytest

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import UnsupportedProtocol
from support.agents import in_memory

INFO = {"name": "two", "version": "2"}


async def answered(result: Any, command: AgentCommand | None = None) -> tuple[int | None, Any]:
    """The version spoken after this answer, and what was requested."""
    async with in_memory(command=command) as (agent, wire):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.initialize)
            request = await wire.expect("initialize")
            await wire.answer(request, result)
        return agent.protocol_version, request["params"]


async def refused(code: int, data: Any, command: AgentCommand | None = None) -> UnsupportedProtocol:
    """The error if the agent refuses the handshake."""
    async with in_memory(command=command) as (agent, wire), anyio.create_task_group() as tasks:
        found: list[UnsupportedProtocol] = []

        async def initialize() -> None:
            with pytest.raises(UnsupportedProtocol) as failure:
                await agent.initialize()
            found.append(failure.value)

        tasks.start_soon(initialize)
        await wire.refuse(await wire.expect("initialize"), code, "no", data)
    return found[0]


@pytest.mark.parametrize(
    ("result", "version"),
    [
        ({"protocolVersion": 2, "info": INFO}, 2),
        ({"protocolVersion": 2}, 1),
        ({"protocolVersion": 2, "agentInfo": INFO, "agentCapabilities": {}}, 1),
        ({"protocolVersion": 2, "info": None}, 1),
        ({"protocolVersion": 1}, 1),
        ({"protocolVersion": 1, "info": INFO}, 1),
    ],
)
async def test_the_answer_decides_which_version_is_spoken(result: Any, version: int):
    """R2-INIT: fast-agent, gptme and deepagents repeat the 2, and speak version 1."""
    spoken, asked = await answered(result)
    assert (spoken, asked["protocolVersion"]) == (version, 2)


async def test_one_initialize_has_the_shapes_of_both_versions():
    """R2-INIT."""
    _, asked = await answered({"protocolVersion": 1})
    assert asked["info"] == asked["clientInfo"]
    assert {"capabilities", "clientCapabilities"} <= asked.keys()


async def test_asking_for_version_1_sends_the_same_handshake_as_ever():
    """R2-INIT."""
    command = AgentCommand("played", ("played",), protocol=1)
    spoken, asked = await answered({"protocolVersion": 1}, command)
    assert (spoken, asked["protocolVersion"]) == (1, 1)
    assert not {"info", "capabilities"} & asked.keys()


async def test_a_refused_version_names_those_of_both_sides():
    """R2-INIT: error -32022 says which versions the agent speaks."""
    error = await refused(-32022, {"requested": 2, "supported": [3, 4]})
    assert str(error) == "played speaks versions 3 and 4 of ACP, and acp-tui speaks versions 1 and 2"
    assert "update" in error.hint


@pytest.mark.parametrize("data", [None, {}, {"supported": "2"}, {"supported": ["x", None]}])
async def test_a_refusal_that_names_no_version_is_said_all_the_same(data: Any):
    assert "another version" in str(await refused(-32022, data))


async def test_a_refusal_says_which_version_would_do():
    """R2-INIT."""
    assert "--protocol 1" in (await refused(-32022, {"supported": [1]})).hint


async def test_an_agent_of_version_2_only_refuses_version_1_clearly():
    """R2-INIT."""
    command = AgentCommand("played", ("played",), protocol=1)
    error = await refused(-32022, {"supported": [2]}, command)
    assert "only version 1, as you asked" in str(error)
    assert "--protocol" in error.hint


def test_nothing_of_version_2_is_loaded_for_an_agent_of_version_1():
    """Its models take time to build, and most agents don't need them."""
    script = (
        "import sys, acp_tui.client.sessions.hub, acp_tui.client.sessions.driver;"
        "sys.exit(any(name.startswith('acp_tui.protocol.v2') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
