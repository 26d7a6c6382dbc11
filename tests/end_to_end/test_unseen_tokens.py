"""A token appears in no list of processes, recording, log, or report, and not in the inspector."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest
from anyio import to_thread

from acp_tui.client.agents.address import read_address
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.sessions.hub import open_hub
from acp_tui.workbench.inspect.inspection import Mask
from support.agents import REPLY
from support.hosts import User, a_user
from support.servers import http_server, websocket_server

TOKEN = "tok-7f3a9c51e2d84b60"
EXEC = ("exec", "gossip", "--prompt", "hello", "--record", "run.jsonl")
REPORTS = (("doctor",), ("doctor", "gossip"), ("agents",), ("sessions",), ("settings",))
over_both = pytest.mark.parametrize("scheme", ["ws", "http"])
from_each = pytest.mark.parametrize(
    "entry",
    [
        'headers = { Authorization = "Bearer ${THE_TOKEN}" }',
        'token_command = ["sh", "-c", "echo $THE_TOKEN"]',
    ],
    ids=["headers", "command"],
)


class Gossip:
    """An agent that looks around while it works, and repeats what it finds."""

    def __init__(self) -> None:
        self.command_lines: list[str] = []

    async def serve(self, connection: Any) -> None:
        async for frame in connection:
            message = json.loads(frame)
            answers = {
                "initialize": {
                    "protocolVersion": 1,
                    "agentInfo": {"name": f"Bearer {TOKEN}", "version": "1"},
                },
                "session/new": {"sessionId": "s1"},
                "session/prompt": {"stopReason": "end_turn"},
            }
            if message.get("method") == "session/prompt":
                self.command_lines += [
                    " ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])
                ]
                content = {"type": "text", "text": f"you say {TOKEN}"}
                update = {"sessionUpdate": "agent_message_chunk", "content": content}
                told = {"method": "session/update", "params": {"sessionId": "s1", "update": update}}
                await connection.send(json.dumps({"jsonrpc": "2.0", **told}))
            result = answers.get(message.get("method"), {})
            if "id" in message:
                await connection.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}))


def server(scheme: str, gossip: Gossip) -> Any:
    return websocket_server(gossip.serve) if scheme == "ws" else http_server(gossip.serve)


@over_both
@from_each
async def test_a_token_is_in_no_list_of_processes_and_in_no_file(scheme: str, entry: str) -> None:
    gossip = Gossip()
    with a_user() as user:
        async with server(scheme, gossip) as command:
            settings = user.home / "config" / "acp-tui"
            settings.mkdir(parents=True)
            (settings / "agents.toml").write_text(f'[agents.gossip]\nurl = "{command.name}"\n{entry}\n')
            done = await to_thread.run_sync(lambda: user.run(*EXEC, THE_TOKEN=TOKEN))
            assert done.returncode == 0, done.stdout + done.stderr
            report = await to_thread.run_sync(lambda: user.run_each(*REPORTS, THE_TOKEN=TOKEN))
        assert any("acp_tui" in line for line in gossip.command_lines)
        assert TOKEN not in "\n".join(gossip.command_lines)
        assert all(each in report.stdout for each in ("Machine", "gossip", "[mcp]")), report.stderr
        assert TOKEN not in report.stdout + report.stderr
        assert "you say" in (user.home / "run.jsonl").read_text()
        _appears_in_no_file(user)


def _appears_in_no_file(user: User) -> None:
    for file in user.home.rglob("*"):
        if file.is_file():
            assert TOKEN.encode() not in file.read_bytes(), file


@over_both
async def test_a_token_is_hidden_in_the_inspector(scheme: str, tmp_path: Path) -> None:
    gossip = Gossip()
    async with server(scheme, gossip) as direct, open_hub() as hub:
        address = read_address(direct.name, {"Authorization": f"Bearer {TOKEN}"})
        command = AgentCommand("gossip", (direct.name,), is_elsewhere=True, address=address)
        agent = await hub.start_agent(command, keeps_frames=True)
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        await session.send_prompt(REPLY)
        assert agent.frames is not None
        mask, log = Mask(agent.frames.environ), agent.frames
        lines = [mask.hidden(line).data for line in log.lines(0, log.end)]
        shown = b"\n".join(lines).decode()
        assert "you say" in shown
        assert TOKEN not in shown
        assert TOKEN not in repr(command)


async def test_the_token_of_a_host_is_in_no_list_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_user() as user:
        place = user.host("--listen", "127.0.0.1:0", "demo", ACP_TUI_HOST_TOKEN=TOKEN)
        lines = [" ".join(one.info["cmdline"] or ()) for one in psutil.process_iter(["cmdline"])]
        assert any(" host --listen " in line for line in lines)
        assert TOKEN not in "\n".join(lines)
        assert place.token.read_text() == TOKEN
        place.token.unlink()
        _appears_in_no_file(user)
