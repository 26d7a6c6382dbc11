"""ACP v1 between a peer and the client: the client's calls become requests to the agent.

What the agent asks is served by `inbound_requests`; the state of a session is the client's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from acp_tui.conversation.content import ContentBlock
from acp_tui.conversation.facts import ConfigOption, SelectOption, SessionId, SessionPage
from acp_tui.conversation.updates import OptionChanged, SessionUpdate, TurnEnded, TurnFailed
from acp_tui.protocol import MalformedMessage, UnsupportedVersion
from acp_tui.protocol.roles import (
    AgentCapabilities,
    AgentIdentity,
    AuthMethod,
    ClientHandler,
    ClientOffer,
    Workplace,
)
from acp_tui.protocol.v1 import inbound, methods, outbound
from acp_tui.protocol.v1.inbound_requests import InboundRequests
from acp_tui.protocol.v1.initialize import AuthenticateRequest, LogoutRequest
from acp_tui.protocol.v1.session import (
    CancelNotification,
    CloseSessionRequest,
    DeleteSessionRequest,
    PromptRequest,
)
from acp_tui.protocol.wire import to_wire
from acp_tui.rpc import ConnectionLost, Peer, RequestFailed

TRACE_KEYS: Final = ("traceparent", "tracestate", "baggage")
"""What `_meta` may hold of W3C trace context (R-EXT-2)."""

T = TypeVar("T")
Agreement: TypeAlias = tuple[AgentIdentity | None, AgentCapabilities, tuple[AuthMethod, ...]]
OnOpened: TypeAlias = Callable[[tuple[SessionUpdate, ...]], None]
"""Gets the options that a session was loaded or resumed with, inside the read loop."""
OnRefused: TypeAlias = Callable[[], None]
"""Runs inside the read loop where the agent answers with an error."""


def _nothing(_: Any) -> None:
    """For results without content: whatever an agent writes there, null too, is fine (R-RPC-8)."""


class Connection(InboundRequests):
    """One connection's ACP side; set `peer` before its first use. It is the peer's handler."""

    peer: Peer

    def __init__(self, client: ClientHandler, offer: ClientOffer) -> None:
        super().__init__(client, offer)
        self._meta = {key: offer.trace_context[key] for key in TRACE_KEYS if key in offer.trace_context}

    async def _request(
        self,
        method: str,
        params: Mapping[str, Any],
        read: Callable[[Any], T],
        read_error: Callable[[RequestFailed], T] | None = None,
    ) -> T:
        if self._meta:
            params = {**params, "_meta": self._meta}
        return await self.peer.request(method, params, read=read, read_error=read_error)

    async def until_room(self) -> None:
        """Wait while the agent has not read what was answered before; long answers are made only then."""
        await self.peer.until_room()

    # Connection

    async def initialize(self, name: str, title: str, version: str) -> Agreement:
        """Agree on version and capabilities. Raises UnsupportedVersion where the agent speaks another one."""
        request = outbound.initialize_request(methods.PROTOCOL_VERSION, self._offer, name, title, version)
        return await self._request(methods.INITIALIZE, to_wire(request), _read_agreement)

    async def authenticate(self, method_id: str) -> None:
        """Log in by a method that the agent performs itself."""
        request = AuthenticateRequest(method_id=method_id)
        await self._request(methods.AUTHENTICATE, to_wire(request), _nothing)

    async def logout(self) -> None:
        """Log out; sessions that are open may then want a login."""
        await self._request(methods.LOGOUT, to_wire(LogoutRequest()), _nothing)

    # Sessions

    async def new_session(
        self, workplace: Workplace, register: Callable[[SessionId, tuple[SessionUpdate, ...]], T]
    ) -> T:
        """Open a session; `register` runs inside the read loop, before any update behind the response."""

        def read(result: Any) -> T:
            return register(*inbound.read_new_session(result))

        return await self._request(methods.SESSION_NEW, to_wire(outbound.new_session(workplace)), read)

    async def load_session(
        self, session_id: SessionId, workplace: Workplace, on_opened: OnOpened, on_refused: OnRefused
    ) -> None:
        """Open a session that the agent has kept; its history comes as updates before this returns (R-SESS-4)."""
        request = to_wire(outbound.load_session(session_id, workplace))
        await self._reopen(methods.SESSION_LOAD, request, on_opened, on_refused)

    async def resume_session(
        self, session_id: SessionId, workplace: Workplace, on_opened: OnOpened, on_refused: OnRefused
    ) -> None:
        """Go on with a session that the agent has kept, without its history (R-SESS-6)."""
        request = to_wire(outbound.resume_session(session_id, workplace))
        await self._reopen(methods.SESSION_RESUME, request, on_opened, on_refused)

    async def _reopen(
        self, method: str, request: Mapping[str, Any], on_opened: OnOpened, on_refused: OnRefused
    ) -> None:
        def read(result: Any) -> None:
            try:
                state = inbound.read_opened_session(result)
            except MalformedMessage:
                on_refused()
                raise
            on_opened(state)

        def read_error(error: RequestFailed) -> None:
            on_refused()
            raise error

        await self._request(method, request, read, read_error)

    async def list_sessions(self, cwd: Path | None, cursor: str | None) -> SessionPage:
        """A page of the sessions that the agent knows, of all directories or of one."""
        request = outbound.list_sessions(cwd, cursor)
        return await self._request(methods.SESSION_LIST, to_wire(request), inbound.read_session_page)

    async def close_session(self, session_id: SessionId) -> None:
        """Let the agent stop what it does in a session and free it."""
        request = CloseSessionRequest(session_id=session_id)
        await self._request(methods.SESSION_CLOSE, to_wire(request), _nothing)

    async def delete_session(self, session_id: SessionId) -> None:
        """Let the agent forget a session."""
        request = DeleteSessionRequest(session_id=session_id)
        await self._request(methods.SESSION_DELETE, to_wire(request), _nothing)

    # Turns and options

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

        request = PromptRequest(session_id=session_id, prompt=list(map(outbound.content_block, blocks)))
        await self._request(methods.SESSION_PROMPT, to_wire(request), read, read_error)

    def cancel(self, session_id: SessionId) -> None:
        """Ask the agent to stop a session's turn; the turn's own response says when it has (R-CANC-1)."""
        # Where the agent is gone, nothing is left to stop, and the turn is about to end by that.
        with suppress(ConnectionLost):
            self.peer.notify(methods.SESSION_CANCEL, to_wire(CancelNotification(session_id=session_id)))

    async def set_option(
        self,
        session_id: SessionId,
        option: ConfigOption,
        value: str | bool,
        on_update: Callable[[SessionUpdate], None],
    ) -> None:
        """Set an option; what the agent makes of it is applied inside the read loop, in wire order (R-CFG-9)."""
        source = option.source if isinstance(option, SelectOption) else "config"
        method, request = outbound.set_option(session_id, option.option_id, source, value)

        def read(result: Any) -> None:
            if source == "config":
                on_update(inbound.read_config_options(result))
            else:
                # No echo is promised: the success is the report (R-MODE-2).
                on_update(OptionChanged(option.option_id, value, source))

        await self._request(method, to_wire(request), read)

    # Beyond the protocol

    async def request_extension(self, method: str, params: Any) -> Any:
        """Send a request whose name begins with "_"; its params, `_meta` too, are the caller's alone."""
        return await self.peer.request(method, params)

    def notify_extension(self, method: str, params: Any) -> None:
        """Send a notification whose name begins with "_". Raises ConnectionLost."""
        self.peer.notify(method, params)


def _read_agreement(result: Any) -> Agreement:
    version, agreement = inbound.read_initialize_response(result)
    if version != methods.PROTOCOL_VERSION:
        raise UnsupportedVersion(version)
    return agreement
