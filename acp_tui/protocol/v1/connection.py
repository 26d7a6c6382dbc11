"""ACP v1 between a peer and the client.

What the agent asks is served by `inbound_requests`; the state of a session is the client's.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from acp_tui.conversation.facts import ConfigOption, SelectOption, SessionId, SessionPage
from acp_tui.conversation.updates import OptionChanged, SessionUpdate
from acp_tui.protocol.connection import Connection, OnUpdate, Serve, nothing
from acp_tui.protocol.roles import Workplace
from acp_tui.protocol.v1 import inbound, methods, outbound
from acp_tui.protocol.v1.inbound_requests import InboundRequests, read_completed
from acp_tui.protocol.v1.initialize import AuthenticateRequest, LogoutRequest
from acp_tui.protocol.wire import to_wire

T = TypeVar("T")


class ConnectionV1(Connection):
    """A connection that speaks version 1."""

    version: ClassVar[int] = methods.PROTOCOL_VERSION

    def _served(self) -> Mapping[str, Serve]:
        return InboundRequests(self.client, self.offer).served()

    def _notified(self, method: str, params: Any) -> bool:
        if method == methods.SESSION_UPDATE:
            session_id, updates = inbound.read_update(params)
            for update in updates:
                self.client.on_update(session_id, update)
        elif method == methods.ELICITATION_COMPLETE and self.offer.elicitation_url:
            self.client.on_elicitation_complete(read_completed(params))
        else:
            return False
        return True

    async def authenticate(self, method_id: str) -> None:
        """See the base class."""
        request = AuthenticateRequest(method_id=method_id)
        await self.request(methods.AUTHENTICATE, to_wire(request), nothing)

    async def logout(self) -> None:
        """See the base class."""
        await self.request(methods.LOGOUT, to_wire(LogoutRequest()), nothing)

    @property
    def _loading(self) -> tuple[str, Mapping[str, Any]]:
        return methods.SESSION_LOAD, {}

    def _workplace(self, workplace: Workplace) -> dict[str, Any]:
        return to_wire(outbound.new_session(workplace))

    async def list_sessions(self, cwd: Path | None, cursor: str | None) -> SessionPage:
        """See the base class."""
        request = outbound.list_sessions(cwd, cursor)
        return await self.request(methods.SESSION_LIST, to_wire(request), inbound.read_session_page)

    async def set_option(
        self, session_id: SessionId, option: ConfigOption, value: str | bool, on_update: OnUpdate
    ) -> None:
        """See the base class."""
        source = option.source if isinstance(option, SelectOption) else "config"
        method, request = outbound.set_option(session_id, option.option_id, source, value)

        def read(result: Any) -> None:
            if source == "config":
                on_update(self.read_config_options(result))
            else:
                # No echo is promised: the success is the report (R-MODE-2).
                on_update(OptionChanged(option.option_id, value, source))

        await self.request(method, to_wire(request), read)

    def read_new_session(self, result: Any) -> tuple[SessionId, tuple[SessionUpdate, ...]]:
        """See the base class."""
        return inbound.read_new_session(result)

    def read_opened_session(self, result: Any) -> tuple[SessionUpdate, ...]:
        """See the base class."""
        return inbound.read_opened_session(result)

    def read_prompt_answer(self, result: Any) -> SessionUpdate:
        """The end of the turn."""
        return inbound.read_turn_end(result)

    def read_config_options(self, result: Any) -> SessionUpdate:
        """See the base class."""
        return inbound.read_config_options(result)

    def brings_history(self, method: str, params: Mapping[str, Any]) -> bool:
        """See the base class."""
        return method == methods.SESSION_LOAD
