"""MCP over ACP with an agent on the official SDK, a real MCP server, and acp-tui between them."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from acp_tui.client.agents.command import AgentCommand
from acp_tui.conversation.facts import StdioServer
from support.agents import REPLY, agent_texts, our_children, running
from support.real_agents import NODE_SDK

TESTS: Final = Path(__file__).parents[1]
AGENT: Final = AgentCommand("ts-mcp", ("node", str(TESTS / "data/ts_mcp_agent.mjs"), str(NODE_SDK)), is_elsewhere=True)


@pytest.mark.skipif(shutil.which("node") is None or not NODE_SDK.is_dir(), reason="the SDK for Node isn't installed")
@pytest.mark.parametrize("revision", ["", "old"])
async def test_an_agent_on_the_official_sdk_calls_a_tool_that_runs_here(tmp_path: Path, revision: str) -> None:
    program = str(TESTS / "data/mcp_server.py")
    written = StdioServer("tools", sys.executable, ("-I", "-S", program, revision))
    async with running(AGENT) as agent:
        await agent.initialize()
        assert agent.runs_servers_here
        session = await agent.new_session(tmp_path, mcp_servers=[replace(written, runs_here=True)])
        await session.send_prompt(REPLY)
        assert agent_texts(session) == ['tools | {"a": 1} | notifications/progress']
    assert our_children() == []
