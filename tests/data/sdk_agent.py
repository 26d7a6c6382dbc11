"""An agent on the protocol's official Python SDK; its one turn uses what a client serves. Knows nothing of acp_tui."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any, cast

import acp
from acp import schema


class SdkAgent:
    """Thinks, plans, reads a file, edits it with permission, runs a command, and reports the results."""

    def on_connect(self, conn: Any) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> acp.InitializeResponse:
        info = schema.Implementation(name="sdk-agent", title="SDK agent", version="1")
        return acp.InitializeResponse(protocol_version=1, agent_info=info)

    async def new_session(self, cwd: str, **_: Any) -> acp.NewSessionResponse:
        self._file = str(Path(cwd, "notes.txt"))
        return acp.NewSessionResponse(session_id="sdk-1")

    async def prompt(self, prompt: Any, session_id: str, **_: Any) -> acp.PromptResponse:
        self._session_id = session_id
        await self._update(acp.update_agent_thought_text("a thought"))
        await self._update(acp.update_plan([acp.plan_entry("edit", status="in_progress")]))
        outcome = await self._edit()
        output = await self._run()
        await self._update(acp.update_agent_message_text(f"edit: {outcome}\ncommand: {output}"))
        return acp.PromptResponse(stop_reason="end_turn")

    async def _update(self, update: Any) -> None:
        await self._client.session_update(session_id=self._session_id, update=update)

    async def _edit(self) -> str:
        old = (await self._client.read_text_file(session_id=self._session_id, path=self._file)).content
        new = old.upper()
        diff = acp.tool_diff_content(self._file, new, old)
        await self._update(acp.start_tool_call("edit", "Edit notes.txt", kind="edit", content=[diff]))
        response = await self._client.request_permission(
            session_id=self._session_id,
            tool_call=schema.ToolCallUpdate(tool_call_id="edit"),
            options=[
                schema.PermissionOption(option_id="yes", name="Allow", kind="allow_once"),
                schema.PermissionOption(option_id="no", name="Reject", kind="reject_once"),
            ],
        )
        outcome = str(getattr(response.outcome, "option_id", "cancelled"))
        if outcome == "yes":
            await self._client.write_text_file(session_id=self._session_id, path=self._file, content=new)
            await self._update(acp.update_tool_call("edit", status="completed"))
        else:
            await self._update(acp.update_tool_call("edit", status="failed"))
        return outcome

    async def _run(self) -> str:
        terminal = await self._client.create_terminal(
            session_id=self._session_id, command=sys.executable, args=["-S", "-c", "print('from the shell')"]
        )
        about = {"session_id": self._session_id, "terminal_id": terminal.terminal_id}
        content = [acp.tool_terminal_ref(terminal.terminal_id)]
        await self._update(acp.start_tool_call("run", "Run it", kind="execute", content=content))
        ended = await self._client.wait_for_terminal_exit(**about)
        output = await self._client.terminal_output(**about)
        await self._client.release_terminal(**about)
        await self._update(acp.update_tool_call("run", status="completed"))
        return f"{output.output.strip()} ({ended.exit_code})"


if __name__ == "__main__":
    # It lacks the methods it doesn't offer, although the SDK's protocol class demands them.
    asyncio.run(acp.run_agent(cast(Any, SdkAgent())))
