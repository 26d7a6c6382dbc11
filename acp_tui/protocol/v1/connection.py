"""ACP v1 between a peer and the client: calls become requests, the agent's messages become calls on the client.

It holds no state of a session; what a message means for a conversation is `inbound`'s.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeVar

from acp_tui.conversation.content import ContentBlock
from acp_tui.conversation.facts import ConfigOption, SelectOption, SessionId
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.updates import OptionChanged, SessionUpdate, TurnEnded, TurnFailed
from acp_tui.protocol.capabilities import AgentCapabilities, AgentIdentity, AuthMethod
from acp_tui.protocol.errors import MalformedMessage, UnsupportedVersion
from acp_tui.protocol.handler import ClientHandler, ClientOffer, ExitStatus
from acp_tui.protocol.v1 import fs, inbound, methods, outbound, terminal
from acp_tui.protocol.wire import decode, to_wire
from acp_tui.rpc import ConnectionLost, ErrorCode, Peer, RequestFailed

log = logging.getLogger(__name__)

PROTOCOL_VERSION: Final = 1

T = TypeVar("T")
Agreement = tuple[AgentIdentity | None, AgentCapabilities, tuple[AuthMethod, ...]]


class Connection:
    """One connection's ACP side; set `peer` before its first use. It is the peer's handler."""

    peer: Peer

    def __init__(self, client: ClientHandler, offer: ClientOffer) -> None:
        self._client = client
        self._offer = offer
        self._requests: dict[str, Callable[[Mapping[str, Any]], Awaitable[Any]]] = {
            methods.SESSION_REQUEST_PERMISSION: self._request_permission,
        }
        if offer.read_text_file:
            self._requests[methods.FS_READ_TEXT_FILE] = self._read_text_file
        if offer.write_text_file:
            self._requests[methods.FS_WRITE_TEXT_FILE] = self._write_text_file
        if offer.terminal:
            self._requests |= {
                methods.TERMINAL_CREATE: self._create_terminal,
                methods.TERMINAL_OUTPUT: self._terminal_output,
                methods.TERMINAL_WAIT_FOR_EXIT: self._wait_for_terminal_exit,
                methods.TERMINAL_KILL: self._kill_terminal,
                methods.TERMINAL_RELEASE: self._release_terminal,
            }

    # Client to agent

    async def initialize(self, name: str, title: str, version: str) -> Agreement:
        """Agree on version and capabilities. Raises UnsupportedVersion where the agent speaks another one."""
        request = outbound.initialize_request(PROTOCOL_VERSION, self._offer, name, title, version)
        return await self.peer.request(methods.INITIALIZE, to_wire(request), read=_read_agreement)

    async def authenticate(self, method_id: str) -> None:
        """Log in by a method that the agent performs itself."""
        await self.peer.request(methods.AUTHENTICATE, {"methodId": method_id})

    async def new_session(self, cwd: str, register: Callable[[SessionId, tuple[SessionUpdate, ...]], T]) -> T:
        """Open a session; `register` runs inside the read loop, before any update behind the response."""

        def read(result: Any) -> T:
            return register(*inbound.read_new_session(result))

        return await self.peer.request(methods.SESSION_NEW, {"cwd": cwd, "mcpServers": []}, read=read)

    async def prompt(
        self,
        session_id: SessionId,
        blocks: Sequence[ContentBlock],
        on_end: Callable[[TurnEnded | TurnFailed], None],
    ) -> None:
        """Run a turn, however long it takes; `on_end` runs inside the read loop, in wire order."""

        def read(result: Any) -> None:
            try:
                on_end(inbound.read_prompt_response(result))
            except MalformedMessage as error:
                on_end(TurnFailed("the agent ended the turn without a reason that can be read", str(error)))

        def read_error(error: RequestFailed) -> None:
            on_end(TurnFailed(error.message, error.detail, error.code))
            raise error

        params = {
            "sessionId": session_id,
            "prompt": [to_wire(outbound.content_block(block)) for block in blocks],
        }
        await self.peer.request(methods.SESSION_PROMPT, params, read=read, read_error=read_error)

    def cancel(self, session_id: SessionId) -> None:
        """Ask the agent to stop a session's turn; the turn's own response says when it has (R-CANC-1)."""
        # Where the agent is gone, nothing is left to stop, and the turn is about to end by that.
        with suppress(ConnectionLost):
            self.peer.notify(methods.SESSION_CANCEL, {"sessionId": session_id})

    async def set_option(
        self,
        session_id: SessionId,
        option: ConfigOption,
        value: str | bool,
        on_update: Callable[[SessionUpdate], None],
    ) -> None:
        """Set an option; what the agent makes of it is applied inside the read loop, in wire order (R-CFG-9)."""
        source = option.source if isinstance(option, SelectOption) else "config"
        if source == "config":
            params: dict[str, Any] = {"sessionId": session_id, "configId": option.option_id, "value": value}
            if isinstance(value, bool):
                params["type"] = "boolean"
            method = methods.SESSION_SET_CONFIG_OPTION
        else:
            key = "modeId" if source == "mode" else "modelId"
            params = {"sessionId": session_id, key: value}
            method = methods.SESSION_SET_MODE if source == "mode" else methods.SESSION_SET_MODEL

        def read(result: Any) -> None:
            if source == "config":
                on_update(inbound.read_config_options(result))
            else:
                # No echo is promised: the success is the report (R-MODE-2).
                on_update(OptionChanged(option.option_id, value, source))

        await self.peer.request(method, params, read=read)

    # Agent to client (rpc.Handler)

    def on_notification(self, method: str, params: Any) -> None:
        """Apply an update; drop and log what cannot be read; ignore what we do not know (R-RPC-5, R-LEN-3)."""
        if method != methods.SESSION_UPDATE:
            log.debug("the notification %s is not known and was ignored", method)
            return
        try:
            session_id, updates = inbound.read_update(params)
        except MalformedMessage as error:
            self._client.on_dropped(error.what, error.detail)
            return
        for update in updates:
            self._client.on_update(session_id, update)

    def on_request(self, method: str, params: Any) -> Awaitable[Any]:
        """Take up a request that we offered to serve."""
        serve = self._requests.get(method)
        if serve is None:
            raise RequestFailed(ErrorCode.METHOD_NOT_FOUND, f"Method not found: {method}", {"method": method})
        if not isinstance(params, dict):
            raise RequestFailed(ErrorCode.INVALID_PARAMS, f"Invalid params: {method} wants an object")
        return serve(params)

    def on_junk(self, line: bytes, reason: str) -> None:
        """Pass on a line that is no message."""
        self._client.on_dropped("a line", reason, line)

    def _request_permission(self, params: Mapping[str, Any]) -> Awaitable[Any]:
        with _as_invalid_params():
            asked = inbound.read_permission_request(params)
        return _permission_response(self._client.request_permission(*asked))

    async def _read_text_file(self, params: Mapping[str, Any]) -> Any:
        with _as_invalid_params():
            request = decode(fs.ReadTextFileRequest, params)
        session_id = SessionId(request.session_id)
        content = await self._client.read_text_file(session_id, request.path, request.line, request.limit)
        return {"content": content}

    async def _write_text_file(self, params: Mapping[str, Any]) -> Any:
        with _as_invalid_params():
            request = decode(fs.WriteTextFileRequest, params)
        await self._client.write_text_file(SessionId(request.session_id), request.path, request.content)
        return {}

    async def _create_terminal(self, params: Mapping[str, Any]) -> Any:
        with _as_invalid_params():
            request = decode(terminal.CreateTerminalRequest, params)
        terminal_id = await self._client.create_terminal(
            SessionId(request.session_id),
            request.command,
            request.args or (),
            [(variable.name, variable.value) for variable in request.env or ()],
            request.cwd,
            request.output_byte_limit,
        )
        return {"terminalId": terminal_id}

    async def _terminal_output(self, params: Mapping[str, Any]) -> Any:
        snapshot = self._client.terminal_output(*_read_terminal_id(params))
        result: dict[str, Any] = {"output": snapshot.output, "truncated": snapshot.truncated}
        if snapshot.exit_status is not None:
            result["exitStatus"] = _exit_status(snapshot.exit_status)
        return result

    async def _wait_for_terminal_exit(self, params: Mapping[str, Any]) -> Any:
        return _exit_status(await self._client.wait_for_terminal_exit(*_read_terminal_id(params)))

    async def _kill_terminal(self, params: Mapping[str, Any]) -> Any:
        await self._client.kill_terminal(*_read_terminal_id(params))
        return {}

    async def _release_terminal(self, params: Mapping[str, Any]) -> Any:
        await self._client.release_terminal(*_read_terminal_id(params))
        return {}


@contextmanager
def _as_invalid_params() -> Iterator[None]:
    """What cannot be read in a request is the sender's error (R-RPC-6)."""
    try:
        yield
    except MalformedMessage as error:
        raise RequestFailed(ErrorCode.INVALID_PARAMS, "Invalid params", {"details": str(error)}) from error


def _read_agreement(result: Any) -> Agreement:
    version, agreement = inbound.read_initialize_response(result)
    if version != PROTOCOL_VERSION:
        raise UnsupportedVersion(version)
    return agreement


async def _permission_response(decision: Awaitable[str | None]) -> Any:
    option_id = await decision
    if option_id is None:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


def _read_terminal_id(params: Mapping[str, Any]) -> tuple[SessionId, TerminalId]:
    with _as_invalid_params():
        request = decode(terminal.TerminalOutputRequest, params)
    return SessionId(request.session_id), TerminalId(request.terminal_id)


def _exit_status(status: ExitStatus) -> dict[str, Any]:
    return {"exitCode": status.exit_code, "signal": status.signal}
