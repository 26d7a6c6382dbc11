"""What all versions of ACP share between a peer and the client: the peer's handler.

The client's calls become requests to the agent, and the agent's requests become calls on the client. The differences
between versions are in `v1.connection` and `v2.connection`; `negotiation` chooses one of them. The client keeps the
state of sessions.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol, TypeAlias, TypeVar

from acp_tui.conversation.content import OWN_META, ContentBlock
from acp_tui.conversation.facts import ConfigOption, Provider, ProviderRoute, SessionId, SessionPage, SessionStatus
from acp_tui.conversation.tool_calls import TerminalId, ToolCallId
from acp_tui.conversation.updates import PermissionAsked, PromptRefused, SessionUpdate, TurnFailed
from acp_tui.conversation.visible.cutting import cut_text
from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.failures import read_failure
from acp_tui.protocol.roles import ClientHandler, ClientOffer, Workplace
from acp_tui.protocol.v1.agent_requests import MessageMcpRequest
from acp_tui.protocol.v1.inbound import (
    read_auth_status,
    read_completed,
    read_elicitation,
    read_providers,
    read_session_page,
    read_session_status,
    with_told,
)
from acp_tui.protocol.v1.outbound import content_block, elicitation_answer, list_sessions
from acp_tui.protocol.wire import reading
from acp_tui.rpc import ConnectionLost, ErrorCode, Peer, RequestFailed

log = logging.getLogger(__name__)

STEERING: Final = "_session/steering"
"""A draft of ACP: a prompt for the running turn."""
TRACE_KEYS: Final = ("traceparent", "tracestate", "baggage", "requestId")
"""The keys of W3C trace context that `_meta` may have (R-EXT-2), and the one that ACP names beside them."""
MCP_MESSAGE: Final = "mcp/message"
"""A draft of ACP: what goes to and comes from an MCP server that the client runs."""

T = TypeVar("T")
Serve: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[Any]]
"""Accepts a request from the agent. The awaitable returns the result. Raises MalformedMessage."""
OnOpened: TypeAlias = Callable[[tuple[SessionUpdate, ...]], None]
"""Gets the updates a session was loaded or resumed with. Runs inside the read loop."""
OnRefused: TypeAlias = Callable[[], None]
"""Runs inside the read loop when the agent answers with an error."""
OnUpdate: TypeAlias = Callable[[SessionUpdate], None]
"""Runs inside the read loop, in wire order."""


class Inbound(Protocol):
    """A module that reads one version's messages from the agent. Raises MalformedMessage for invalid ones."""

    def read_update(self, params: Any) -> tuple[SessionId, tuple[SessionUpdate, ...]]: ...

    def read_new_session(self, result: Any) -> tuple[SessionId, tuple[SessionUpdate, ...]]: ...

    def read_opened_session(self, result: Any) -> tuple[SessionUpdate, ...]:
        """Return the initial updates of a loaded or resumed session."""

    def read_prompt_answer(self, result: Any) -> SessionUpdate:
        """Return what happens to the prompt. Doesn't raise."""

    def read_config_options(self, result: Any) -> SessionUpdate:
        """Return all options after one was set."""


class Connection(ABC):
    """The ACP side of a connection. Set `peer` before the first call."""

    inbound: ClassVar[Inbound]
    """Reads the agent's messages and answers, live and from a recording."""
    version: ClassVar[int]
    login: ClassVar[str]
    """The method that logs in."""
    logging_out: ClassVar[str]
    """The method that logs out."""
    loading: ClassVar[str]
    """The method that opens a session with its history."""
    loading_params: ClassVar[Mapping[str, Any]] = {}
    """The params that it adds to those of resuming."""
    accepts_prompts: ClassVar[bool] = False
    """Whether the agent reports when it accepted a prompt, and the turn's end through states."""
    withdraws_questions: bool = False
    """Whether the agent withdraws its own questions when a turn is canceled. Remaining ones belong to other work."""
    peer: Peer
    early_modes: tuple[SessionUpdate, ...] = ()
    """What the agent said of modes in its answer to `initialize`, where older texts have them (R-DOC-1)."""

    def __init__(self, client: ClientHandler, offer: ClientOffer) -> None:
        self.client = client
        self.offer = offer
        if offer.is_for_host:
            self.withdraws_questions = True
        self._meta = {key: offer.trace_context[key] for key in TRACE_KEYS if key in offer.trace_context}
        self._requests = self._served()

    def _served(self) -> dict[str, Serve]:
        """The requests we serve, by method: only what we offered."""
        served: dict[str, Serve] = {
            "session/request_permission": self._request_permission,
            MCP_MESSAGE: reading(MessageMcpRequest, self._ask_mcp_server),
        }
        if self.offer.elicitation_form or self.offer.elicitation_url:
            served["elicitation/create"] = self._create_elicitation
        return served

    # What the agent sends

    def on_notification(self, method: str, params: Any) -> None:
        """Apply an update. Drops and logs an invalid one; ignores an unknown one (R-RPC-5, R-LEN-3)."""
        try:
            if method.removeprefix("_") == "auth/status_update":  # with the underscore until the draft is accepted
                self.client.on_auth_status(read_auth_status(params))
            elif method.startswith("_"):
                self.client.on_extension(method, params)
            elif not self._notified(method, params):
                log.debug("the notification %s isn't known and was ignored", method)
        except MalformedMessage as error:
            self.client.on_dropped(error.what, error.detail)

    def _notified(self, method: str, params: Any) -> bool:
        """Apply a protocol notification. Returns False if it's unknown. Raises MalformedMessage."""
        if method == "session/update":
            session_id, updates = self.inbound.read_update(params)
            for update in updates:
                self.client.on_update(session_id, update)
        elif method == "elicitation/complete" and self.offer.elicitation_url:
            self.client.on_elicitation_complete(read_completed(params))
        else:
            return False
        return True

    def on_request(self, method: str, params: Any) -> Awaitable[Any]:
        """Accept a request that we offered to serve. Raises RequestFailed."""
        serve = self._requests.get(method)
        if serve is None:
            raise RequestFailed(ErrorCode.METHOD_NOT_FOUND, f"Method not found: {method}", {"method": method})
        if not isinstance(params, dict):
            raise RequestFailed(ErrorCode.INVALID_PARAMS, f"Invalid params: {method} requires an object")
        try:
            return serve(params)
        except MalformedMessage as error:  # the sender's mistake (R-RPC-6)
            raise RequestFailed(ErrorCode.INVALID_PARAMS, "Invalid params", {"details": str(error)}) from error

    def on_malformed(self, line: bytes, reason: str) -> None:
        self.client.on_dropped("a line", reason, line)

    def _request_permission(self, params: Mapping[str, Any]) -> Awaitable[Any]:
        session_id, asked = self._read_permission(params)
        asked = with_told(asked) if self.offer.is_for_host else asked
        options = asked.request.options
        # Only the ID of an option goes back, so a shared one could turn a rejection into permission.
        if len({option.option_id for option in options}) < len(options):
            raise RequestFailed(ErrorCode.INVALID_PARAMS, "Two options have the same optionId")
        return permission_response(self.client.request_permission(session_id, asked))

    @abstractmethod
    def _read_permission(self, params: Mapping[str, Any]) -> tuple[SessionId, PermissionAsked]:
        """Read a permission request. Raises MalformedMessage."""

    def _create_elicitation(self, params: Mapping[str, Any]) -> Awaitable[Any]:
        answer = self.client.elicit(*read_elicitation(params, self.offer))

        async def respond() -> Any:
            return elicitation_answer(await answer)

        return respond()

    def _ask_mcp_server(self, asked: MessageMcpRequest) -> Awaitable[Any]:
        return self.client.ask_mcp_server(asked.server_id, asked.request_id, asked.method, asked.params)

    def tell_of_mcp(self, server_id: str, request_id: str, method: str, params: Mapping[str, Any]) -> None:
        """Pass on what an MCP server says while it answers a request of the agent."""
        # If the agent is gone, nobody waits for the answer.
        with suppress(ConnectionLost):
            told = {"serverId": server_id, "requestId": request_id, "method": method, "params": params}
            self.peer.notify(MCP_MESSAGE, told)

    # The client's calls

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        read: Callable[[Any], T],
        read_error: Callable[[RequestFailed], T] | None = None,
    ) -> T:
        if self._meta:
            params = {**params, "_meta": self._meta}
        return await self.peer.request(method, params, read=read, read_error=read_error)

    @property
    def is_lost(self) -> bool:
        return self.peer.lost is not None

    async def until_room(self) -> None:
        """Wait while the agent hasn't read earlier answers. Call it before making a long answer."""
        await self.peer.until_room()

    async def authenticate(self, method_id: str) -> None:
        """Log in with a method that the agent performs itself."""
        await self.request(self.login, {"methodId": method_id}, nothing)

    async def logout(self) -> None:
        """Log out. Open sessions may then require a login."""
        await self.request(self.logging_out, {}, nothing)

    async def auth_status(self) -> None:
        """Ask who is logged in. The answer goes to the client like the agent's own reports. A draft."""
        await self.request("auth/status", {}, lambda result: self.client.on_auth_status(read_auth_status(result)))

    async def list_providers(self) -> tuple[Provider, ...]:
        """Return the providers of models that can be configured. A draft, like the next two."""
        return await self.request("providers/list", {}, read_providers)

    async def set_provider(self, provider_id: str, route: ProviderRoute, headers: Mapping[str, str]) -> None:
        params = {"providerId": provider_id, "apiType": route.api_type, "baseUrl": route.base_url}
        await self.request("providers/set", {**params, "headers": dict(headers)}, nothing)

    async def disable_provider(self, provider_id: str) -> None:
        await self.request("providers/disable", {"providerId": provider_id}, nothing)

    async def new_session(
        self,
        workplace: Workplace,
        register: Callable[[SessionId, tuple[SessionUpdate, ...]], T],
        forked_from: SessionId | None = None,
    ) -> T:
        """Open a session, which may know what was said in another one.

        `register` runs inside the read loop, before any update after the response.
        """

        def read(result: Any) -> T:
            return register(*self.read_new_session(result, is_fork=forked_from is not None))

        params = self._workplace(workplace)
        if forked_from is None:
            return await self.request("session/new", params, read)
        return await self.request("session/fork", {"sessionId": forked_from, **params}, read)

    async def load_session(
        self, session_id: SessionId, workplace: Workplace, on_opened: OnOpened, on_refused: OnRefused
    ) -> None:
        """Open a session the agent has kept. Its history arrives as updates before this returns (R-SESS-4)."""
        params = {**self._workplace(workplace), **self.loading_params}
        await self._reopen(self.loading, session_id, params, on_opened, on_refused)

    async def resume_session(
        self, session_id: SessionId, workplace: Workplace, on_opened: OnOpened, on_refused: OnRefused
    ) -> None:
        """Continue a session the agent has kept, without its history (R-SESS-6)."""
        await self._reopen("session/resume", session_id, self._workplace(workplace), on_opened, on_refused)

    async def _reopen(
        self, method: str, session_id: SessionId, params: Mapping[str, Any], on_opened: OnOpened, on_refused: OnRefused
    ) -> None:
        def read(result: Any) -> None:
            try:
                state = self.inbound.read_opened_session(result)
            except MalformedMessage:
                on_refused()
                raise
            on_opened(state)

        def read_error(error: RequestFailed) -> None:
            on_refused()
            raise error

        await self.request(method, {"sessionId": session_id, **params}, read, read_error)

    @abstractmethod
    def _workplace(self, workplace: Workplace) -> dict[str, Any]:
        """Return the params for a session's folders and servers."""

    async def list_sessions(self, cwd: Path | None, cursor: str | None) -> SessionPage:
        return await self.request("session/list", list_sessions(cwd, cursor), read_session_page)

    async def session_status(self, session_id: SessionId) -> SessionStatus:
        """Ask what a session does, which changes nothing. A draft."""
        return await self.request("session/status", {"sessionId": session_id}, read_session_status)

    async def close_session(self, session_id: SessionId) -> None:
        """Ask the agent to stop its work in a session and free it."""
        await self.request("session/close", {"sessionId": session_id}, nothing)

    async def delete_session(self, session_id: SessionId) -> None:
        await self.request("session/delete", {"sessionId": session_id}, nothing)

    async def set_title(self, session_id: SessionId, title: str) -> str:
        def read(result: Any) -> str:
            kept = result.get("title") if isinstance(result, dict) else None
            return cut_text(kept) if isinstance(kept, str) and kept else title

        return await self.request("session/set_title", {"sessionId": session_id, "title": title}, read)

    async def archive_session(self, session_id: SessionId, is_archived: bool) -> None:
        method = "session/archive" if is_archived else "session/unarchive"
        await self.request(method, {"sessionId": session_id}, nothing)

    async def prompt(self, session_id: SessionId, blocks: Sequence[ContentBlock], on_update: OnUpdate) -> None:
        """Send a prompt and wait for the agent's answer, which goes to `on_update`.

        The answer is either the end of the turn, or the acceptance of the prompt; then updates report the end.
        """

        def read(result: Any) -> None:
            on_update(self.inbound.read_prompt_answer(result))

        def read_error(error: RequestFailed) -> None:
            update = self.read_prompt_refusal(error)
            on_update(update)
            if isinstance(update, TurnFailed) or (isinstance(update, PromptRefused) and update.failure):
                raise error

        prompt = [content_block(block) for block in blocks]
        await self.request("session/prompt", {"sessionId": session_id, "prompt": prompt}, read, read_error)

    async def steer(self, session_id: SessionId, blocks: Sequence[ContentBlock], on_taken: Callable[[], None]) -> bool:
        """Send a prompt into the running turn. Returns whether the agent took it.

        If it did, `on_taken` runs inside the read loop, before the agent's next message.
        """

        def read(result: Any) -> bool:
            outcome = result.get("outcome") if isinstance(result, dict) else None
            is_taken = outcome in ("injected", "startedNewTurn")
            # A host tells all of its clients, as an update among those of the agent.
            if is_taken and OWN_META not in (result.get("_meta") or ()):
                on_taken()
            return is_taken

        params = {
            "sessionId": session_id,
            "prompt": [content_block(block) for block in blocks],
            "_meta": {**self._meta, "steering": {"idleBehavior": "promptRequired"}},
        }
        return await self.peer.request(STEERING, params, read=read)

    def cancel(self, session_id: SessionId) -> None:
        """Ask the agent to stop a session's turn. The agent reports when it has (R-CANC-1)."""
        # If the agent is gone, there's nothing to stop, and the turn is about to end anyway.
        with suppress(ConnectionLost):
            self.peer.notify("session/cancel", {"sessionId": session_id})

    async def cancel_tool_call(self, session_id: SessionId, call_id: ToolCallId) -> None:
        """Ask the agent to stop one cancellable tool call. Its updates report when it has."""
        await self.request("tool_call/cancel", {"sessionId": session_id, "toolCallId": call_id}, nothing)

    async def cancel_terminal(self, session_id: SessionId, terminal_id: TerminalId) -> None:
        """Ask the agent to stop the command in one of its cancellable terminals."""
        await self.request("terminal/cancel", {"sessionId": session_id, "terminalId": terminal_id}, nothing)

    @abstractmethod
    async def set_option(
        self, session_id: SessionId, option: ConfigOption, value: str | bool, on_update: OnUpdate
    ) -> None:
        """Set an option. The agent's result is applied inside the read loop, in wire order (R-CFG-9)."""

    # Also used for recordings

    def read_new_session(self, result: Any, *, is_fork: bool = False) -> tuple[SessionId, tuple[SessionUpdate, ...]]:
        """Return a new session's ID and its options, which may be those that the handshake said."""
        session_id, state = self.inbound.read_new_session(result)
        return session_id, state or (() if is_fork else self.early_modes)

    def read_prompt_refusal(self, error: RequestFailed) -> SessionUpdate:
        """Return what happens to a prompt that was answered with an error."""
        return read_failure(error)

    def brings_history(self, method: str, params: Mapping[str, Any]) -> bool:
        """Whether this client request opens a session with its history."""
        return method == self.loading and all(params.get(name) is not None for name in self.loading_params)


def nothing(_: Any) -> None:
    """Accept any result, including null, where the protocol defines no content (R-RPC-8)."""


async def permission_response(decision: Awaitable[str | None]) -> Any:
    """Wait for the decision and return the result of a permission request. None means canceled."""
    option_id = await decision
    if option_id is None:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": option_id}}
