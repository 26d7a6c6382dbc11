"""A client on the protocol's official Python SDK, written as its users write one, and its turn with a mock."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import acp
import anyio
from acp import schema

from acp_tui.client.transcript.plan import RecordingPlan
from support.recordings import play
from support.waiting import LIMIT_S

OFFERS = schema.ClientCapabilities(
    fs=schema.FileSystemCapabilities(read_text_file=True, write_text_file=True), terminal=True
)


class SdkClient:
    """Allows everything, serves files from memory, and runs nothing."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.files: dict[str, str] = {}

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)

    async def request_permission(self, options: Any, **_: Any) -> schema.RequestPermissionResponse:
        return schema.RequestPermissionResponse(
            outcome=schema.AllowedOutcome(option_id=options[0].option_id, outcome="selected")
        )

    async def write_text_file(self, path: str, content: str, **_: Any) -> None:
        self.files[path] = content

    async def read_text_file(self, path: str, **_: Any) -> schema.ReadTextFileResponse:
        if path not in self.files:
            raise acp.RequestError.resource_not_found(path)
        return schema.ReadTextFileResponse(content=self.files[path])

    async def create_terminal(self, **_: Any) -> schema.CreateTerminalResponse:
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
        pass


async def turn_with_callbacks(folder: Path, *options: str, offers: schema.ClientCapabilities | None) -> SdkClient:
    """A turn of an agent recorded in one folder and mocked in another."""
    recording = folder / "run.jsonl"
    await play("callbacks", RecordingPlan(folder, file=recording))
    client: Any = SdkClient()
    argv = ("-m", "acp_tui", "mock", str(recording), "--speed", "0", *options)
    with anyio.fail_after(LIMIT_S):
        async with acp.spawn_agent_process(client, sys.executable, *argv) as (agent, _):
            await agent.initialize(protocol_version=1, client_capabilities=offers)
            session = await agent.new_session(cwd=str(folder / "elsewhere"), mcp_servers=[])
            prompt: list[Any] = [acp.text_block("in other words")]
            ended = await agent.prompt(session_id=session.session_id, prompt=prompt)
    assert ended.stop_reason == "end_turn"
    return client  # type: ignore[no-any-return]
