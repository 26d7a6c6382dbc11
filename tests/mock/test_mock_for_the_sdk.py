"""The client of the protocol's official SDK takes a recorded agent for an agent."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import acp
import anyio
import pytest
from acp import schema

from acp_tui.client.transcript.plan import RecordingPlan
from support.recordings import play

WITHIN_S = 20


class SdkClient:
    """Allows everything, serves files from memory and runs nothing."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.files: dict[str, str] = {}
        self.served: list[str] = []

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)

    async def request_permission(self, options: Any, **_: Any) -> schema.RequestPermissionResponse:
        self.served.append("permission")
        return schema.RequestPermissionResponse(
            outcome=schema.AllowedOutcome(option_id=options[0].option_id, outcome="selected")
        )

    async def write_text_file(self, path: str, content: str, **_: Any) -> None:
        self.served.append("write")
        self.files[path] = content

    async def read_text_file(self, path: str, **_: Any) -> schema.ReadTextFileResponse:
        self.served.append("read")
        if path not in self.files:
            raise acp.RequestError.resource_not_found(path)
        return schema.ReadTextFileResponse(content=self.files[path])

    async def create_terminal(self, **_: Any) -> schema.CreateTerminalResponse:
        self.served.append("run")
        return schema.CreateTerminalResponse(terminal_id="mine")

    async def terminal_output(self, terminal_id: str, **_: Any) -> schema.TerminalOutputResponse:
        assert terminal_id == "mine"
        return schema.TerminalOutputResponse(output="", truncated=False)

    async def wait_for_terminal_exit(self, terminal_id: str, **_: Any) -> schema.WaitForTerminalExitResponse:
        assert terminal_id == "mine"
        return schema.WaitForTerminalExitResponse(exit_code=0)

    async def kill_terminal(self, **_: Any) -> None:
        pass

    async def release_terminal(self, **_: Any) -> None:
        pass

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise acp.RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        self.served.append(method)


@pytest.mark.parametrize("scenario", ["coding", "callbacks", "tools", "content"])
async def test_a_whole_turn(scenario: str, tmp_path: Path) -> None:
    recording = tmp_path / "run.jsonl"
    await play(scenario, RecordingPlan(tmp_path, file=recording))
    client: Any = SdkClient()
    folder = tmp_path / "elsewhere"
    argv = ("-m", "acp_tui", "mock", str(recording), "--speed", "0")
    with anyio.fail_after(WITHIN_S):
        async with acp.spawn_agent_process(client, sys.executable, *argv) as (agent, _):
            await agent.initialize(protocol_version=1)
            session = await agent.new_session(cwd=str(folder), mcp_servers=[])
            ended = await agent.prompt(session_id=session.session_id, prompt=[acp.text_block("show me")])
    assert ended.stop_reason == "end_turn"
    assert len(client.updates) > 5
    if scenario == "callbacks":
        assert client.files.keys() == {str(folder / "notes.txt")}
        assert {"permission", "write", "read", "run"} <= set(client.served)
