"""ACP v1 between a peer and the client: converts the client's calls to requests, and the agent's messages to calls.

Only what was offered is served. The client keeps the state of sessions. `inbound` knows what an update means.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from acp_tui.conversation.facts import ConfigOption, SelectOption, SessionId, SessionPage
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.updates import OptionChanged
from acp_tui.protocol import v1
from acp_tui.protocol.connection import (
    Connection,
    Inbound,
    OnUpdate,
    Serve,
    as_invalid_params,
    nothing,
    permission_response,
    require_distinct,
)
from acp_tui.protocol.roles import (
    ElicitationAnswer,
    ExitStatus,
    FilesAndTerminals,
    Workplace,
)
from acp_tui.protocol.v1 import agent_requests, inbound, outbound
from acp_tui.protocol.wire import decode


class ConnectionV1(Connection):
    version: ClassVar[int] = v1.PROTOCOL_VERSION
    inbound: ClassVar[Inbound] = inbound

    async def authenticate(self, method_id: str) -> None:
        await self.request(v1.AUTHENTICATE, {"methodId": method_id}, nothing)

    async def logout(self) -> None:
        await self.request(v1.LOGOUT, {}, nothing)

    @property
    def _loading(self) -> tuple[str, Mapping[str, Any]]:
        return v1.SESSION_LOAD, {}

    def _workplace(self, workplace: Workplace) -> dict[str, Any]:
        return outbound.new_session(workplace)

    async def list_sessions(self, cwd: Path | None, cursor: str | None) -> SessionPage:
        request = outbound.list_sessions(cwd, cursor)
        return await self.request(v1.SESSION_LIST, request, inbound.read_session_page)

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

    def brings_history(self, method: str, params: Mapping[str, Any]) -> bool:
        return method == v1.SESSION_LOAD

    # What the agent asks

    def _served(self) -> Mapping[str, Serve]:
        offer = self.offer
        requests: dict[str, Serve] = {v1.SESSION_REQUEST_PERMISSION: self._request_permission}
        if offer.read_text_file:
            requests[v1.FS_READ_TEXT_FILE] = self._read_text_file
        if offer.write_text_file:
            requests[v1.FS_WRITE_TEXT_FILE] = self._write_text_file
        if offer.elicitation_form or offer.elicitation_url:
            requests[v1.ELICITATION_CREATE] = partial(create_elicitation, self)
        if offer.terminal:
            requests |= {
                v1.TERMINAL_CREATE: self._create_terminal,
                v1.TERMINAL_OUTPUT: self._terminal_output,
                v1.TERMINAL_WAIT_FOR_EXIT: self._wait_for_terminal_exit,
                v1.TERMINAL_KILL: self._kill_terminal,
                v1.TERMINAL_RELEASE: self._release_terminal,
            }
        return requests

    def _request_permission(self, params: Mapping[str, Any]) -> Awaitable[Any]:
        with as_invalid_params():
            session_id, question = inbound.read_permission_request(params)
            question = inbound.with_told(question) if self.offer.is_for_host else question
        require_distinct(question.options)
        return permission_response(self.client.request_permission(session_id, question))

    async def _read_text_file(self, params: Mapping[str, Any]) -> Any:
        with as_invalid_params():
            request = decode(agent_requests.ReadTextFileRequest, params)
        machine = self.client.machine(SessionId(request.session_id))
        content = await machine.read_text_file(request.path, request.line, request.limit)
        return {"content": content}

    async def _write_text_file(self, params: Mapping[str, Any]) -> Any:
        with as_invalid_params():
            request = decode(agent_requests.WriteTextFileRequest, params)
        await self.client.machine(SessionId(request.session_id)).write_text_file(request.path, request.content)
        return {}

    async def _create_terminal(self, params: Mapping[str, Any]) -> Any:
        with as_invalid_params():
            request = decode(agent_requests.CreateTerminalRequest, params)
        terminal_id = await self.client.machine(SessionId(request.session_id)).create_terminal(
            request.command,
            request.args or (),
            [(variable.name, variable.value) for variable in request.env or ()],
            request.cwd,
            request.output_byte_limit,
        )
        return {"terminalId": terminal_id}

    def _terminal(self, params: Mapping[str, Any]) -> tuple[FilesAndTerminals, TerminalId]:
        with as_invalid_params():
            request = decode(agent_requests.TerminalRequest, params)
        return self.client.machine(SessionId(request.session_id)), TerminalId(request.terminal_id)

    async def _terminal_output(self, params: Mapping[str, Any]) -> Any:
        machine, terminal_id = self._terminal(params)
        snapshot = machine.terminal_output(terminal_id)
        result: dict[str, Any] = {"output": snapshot.output, "truncated": snapshot.truncated}
        if snapshot.exit_status is not None:
            result["exitStatus"] = _exit_status(snapshot.exit_status)
        return result

    async def _wait_for_terminal_exit(self, params: Mapping[str, Any]) -> Any:
        machine, terminal_id = self._terminal(params)
        return _exit_status(await machine.wait_for_terminal_exit(terminal_id))

    async def _kill_terminal(self, params: Mapping[str, Any]) -> Any:
        machine, terminal_id = self._terminal(params)
        await machine.kill_terminal(terminal_id)
        return {}

    async def _release_terminal(self, params: Mapping[str, Any]) -> Any:
        machine, terminal_id = self._terminal(params)
        await machine.release_terminal(terminal_id)
        return {}


def create_elicitation(connection: Connection, params: Mapping[str, Any]) -> Awaitable[Any]:
    with as_invalid_params():
        asked = inbound.read_elicitation(params, connection.offer)
    return _elicitation_response(connection.client.elicit(*asked))


async def _elicitation_response(answer: Awaitable[ElicitationAnswer]) -> Any:
    return outbound.elicitation_answer(await answer)


def _exit_status(status: ExitStatus) -> dict[str, Any]:
    return {"exitCode": status.exit_code, "signal": status.signal}
