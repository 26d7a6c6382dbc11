"""ACP v1 between a peer and the client: converts the client's calls to requests, and the agent's messages to calls.

Only what was offered is served. The client keeps the state of sessions. `inbound` knows what an update means.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from acp_tui.conversation.facts import ConfigOption, SelectOption, SessionId
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.updates import OptionChanged, PermissionAsked, TerminalExit
from acp_tui.protocol.connection import Connection, Inbound, OnUpdate, Serve
from acp_tui.protocol.roles import FilesAndTerminals, Workplace
from acp_tui.protocol.v1 import agent_requests, inbound, outbound
from acp_tui.protocol.wire import reading


class ConnectionV1(Connection):
    version: ClassVar[int] = 1
    inbound: ClassVar[Inbound] = inbound
    login: ClassVar[str] = "authenticate"
    logging_out: ClassVar[str] = "logout"
    loading: ClassVar[str] = "session/load"

    def _workplace(self, workplace: Workplace) -> dict[str, Any]:
        return outbound.new_session(workplace)

    async def set_option(
        self, session_id: SessionId, option: ConfigOption, value: str | bool, on_update: OnUpdate
    ) -> None:
        source = option.source if isinstance(option, SelectOption) else "config"
        method, request = outbound.set_option(session_id, option.option_id, source, value)

        def read(result: Any) -> None:
            if source == "config":
                on_update(inbound.read_config_options(result))
            else:
                # The agent needn't confirm a change, so success counts as the report (R-MODE-2).
                on_update(OptionChanged(option.option_id, value, source))

        await self.request(method, request, read)

    # What the agent asks

    def _served(self) -> dict[str, Serve]:
        offer, requests = self.offer, super()._served()
        if offer.read_text_file:
            requests["fs/read_text_file"] = reading(agent_requests.ReadTextFileRequest, self._read_text_file)
        if offer.write_text_file:
            requests["fs/write_text_file"] = reading(agent_requests.WriteTextFileRequest, self._write_text_file)
        if offer.terminal:
            requests["terminal/create"] = reading(agent_requests.CreateTerminalRequest, self._create_terminal)
            for method, serve in (
                ("terminal/output", _terminal_output),
                ("terminal/wait_for_exit", _wait_for_terminal_exit),
                ("terminal/kill", lambda tools, terminal_id: tools.kill_terminal(terminal_id)),
                ("terminal/release", lambda tools, terminal_id: tools.release_terminal(terminal_id)),
            ):
                requests[method] = reading(agent_requests.TerminalRequest, partial(self._in_terminal, serve))
        return requests

    def _read_permission(self, params: Mapping[str, Any]) -> tuple[SessionId, PermissionAsked]:
        return inbound.read_permission_request(params)

    async def _read_text_file(self, request: agent_requests.ReadTextFileRequest) -> Any:
        tools = self.client.client_tools(SessionId(request.session_id))
        content = await tools.read_text_file(request.path, request.line, request.limit)
        return {"content": content}

    async def _write_text_file(self, request: agent_requests.WriteTextFileRequest) -> Any:
        await self.client.client_tools(SessionId(request.session_id)).write_text_file(request.path, request.content)
        return {}

    async def _create_terminal(self, request: agent_requests.CreateTerminalRequest) -> Any:
        terminal_id = await self.client.client_tools(SessionId(request.session_id)).create_terminal(
            request.command,
            request.args or (),
            [(variable.name, variable.value) for variable in request.env or ()],
            request.cwd,
            request.output_byte_limit,
        )
        return {"terminalId": terminal_id}

    async def _in_terminal(
        self, serve: Callable[[Any, TerminalId], Awaitable[Any]], request: agent_requests.TerminalRequest
    ) -> Any:
        tools = self.client.client_tools(SessionId(request.session_id))
        return await serve(tools, TerminalId(request.terminal_id)) or {}


async def _terminal_output(tools: FilesAndTerminals, terminal_id: TerminalId) -> Any:
    snapshot = tools.terminal_output(terminal_id)
    result: dict[str, Any] = {"output": snapshot.output, "truncated": snapshot.truncated}
    if snapshot.exit_status is not None:
        result["exitStatus"] = _exit_status(snapshot.exit_status)
    return result


async def _wait_for_terminal_exit(tools: FilesAndTerminals, terminal_id: TerminalId) -> Any:
    return _exit_status(await tools.wait_for_terminal_exit(terminal_id))


def _exit_status(status: TerminalExit) -> dict[str, Any]:
    return {"exitCode": status.exit_code, "signal": status.signal}
