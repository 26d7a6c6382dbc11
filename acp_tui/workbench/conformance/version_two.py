"""Rules of ACP v2: message contents, the order of prompts and states, and references to background work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.connection import MCP_MESSAGE
from acp_tui.protocol.v1.agent_requests import MessageMcpRequest
from acp_tui.protocol.v1.inbound import read_auth_status, read_providers, read_session_page, read_session_status
from acp_tui.protocol.v2 import inbound
from acp_tui.protocol.wire import decode
from acp_tui.rpc import ErrorCode
from acp_tui.rpc.messages import Recent
from acp_tui.workbench.conformance.connection_state import Check, Scene, objects
from acp_tui.workbench.conformance.exchange import Event, SeenNotification, SeenRequest, SeenResponse
from acp_tui.workbench.conformance.rule import Judge, shown

PROBED_SERVER: Final = "_acp-tui.check"
"""A kind of MCP server that no agent knows."""
_OF_VERSION_1: Final = frozenset({"tool_call", "plan", "current_mode_update"})
_RESULTS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "initialize": inbound.read_initialize_response,
    "session/new": inbound.read_new_session,
    "session/resume": inbound.read_opened_session,
    "session/list": read_session_page,
    "session/status": read_session_status,
    "auth/status": read_auth_status,
    "providers/list": read_providers,
    "session/set_config_option": inbound.read_config_options,
}
_PIECES: Final = frozenset({"user_message_chunk", "agent_message_chunk", "agent_thought_chunk"})


class _Session:
    def __init__(self) -> None:
        self.state: Any = "idle"
        self.told_in: int | None = None
        """The frame of the last state."""
        self.user_messages: Recent[str, bool] = Recent()
        self.known: Recent[str, bool] = Recent()
        """The IDs of tool calls and terminals."""
        self.accepted: dict[str, int] = {}
        """Prompts accepted since the last idle, and the frames of their answers."""


class VersionTwoCheck(Check):
    """Tracks the sessions of a connection, starting with the answer to `initialize`."""

    def __init__(self, judge: Judge, scene: Scene) -> None:
        super().__init__(judge, scene)
        self._sessions: Recent[str, _Session] = Recent()

    def see(self, event: Event) -> None:
        match event:
            case SeenNotification(is_agents=True, method="session/update"):
                self._updated(event)
            case SeenRequest(is_agents=True):
                self._asked(event)
            case SeenResponse(is_agents=True):
                self._answered(event)

    def _shape(self, what: str, read: Callable[[], Any]) -> None:
        try:
            read()
        except MalformedMessage as error:
            self._judge("A2-SHAPE-1", False, f"{what}: {error.detail}")
        else:
            self._judge("A2-SHAPE-1", True, "")

    def _session(self, params: Mapping[str, Any]) -> _Session:
        session_id = str(params.get("sessionId"))
        if session_id not in self._sessions:
            self._sessions[session_id] = _Session()
        return self._sessions[session_id]

    def _asked(self, request: SeenRequest) -> None:
        if request.method.startswith("_"):
            return
        is_gone = request.method.startswith(("fs/", "terminal/"))
        self._judge("A2-METHOD-1", not is_gone, f"{request.method} isn't a version 2 request")
        if request.method == "session/request_permission":
            self._shape(request.method, lambda: inbound.read_permission_request(request.params, "question"))
        if request.method == MCP_MESSAGE:
            self._shape(request.method, lambda: decode(MessageMcpRequest, request.params))

    def _answered(self, answer: SeenResponse) -> None:
        request = answer.request
        kinds = [server.get("type") for server in objects(request.params.get("mcpServers"))]
        if PROBED_SERVER in kinds:
            text = f"an MCP server of the type {PROBED_SERVER} was answered with {shown(answer.error or answer.result)}"
            self._judge("A2-MCP-1", answer.code == ErrorCode.INVALID_PARAMS, text, request.index)
        if answer.error is not None:
            return
        if request.method in _RESULTS:
            self._shape(f"the answer to {request.method}", lambda: _RESULTS[request.method](answer.result))
        if request.method == "session/prompt":
            result = answer.result if isinstance(answer.result, dict) else {}
            message_id = result.get("messageId")
            self._judge("A2-TURN-1", isinstance(message_id, str), f"the answer was {shown(answer.result)}")
            if isinstance(message_id, str):
                self._session(request.params).accepted[message_id] = answer.index
        elif request.method == "session/resume":
            told_in = self._session(request.params).told_in
            is_told = told_in is not None and told_in > request.index
            self._judge("A2-STATE-2", is_told, "no state was sent after the request", request.index)

    def _updated(self, told: SeenNotification) -> None:
        update = told.params.get("update")
        if not isinstance(update, dict):
            self._shape("an update", lambda: inbound.read_update(told.params))
            return
        kind, session = update.get("sessionUpdate"), self._session(told.params)
        self._shape(f"the update {shown(kind)}", lambda: inbound.read_update(told.params))
        self._judge("A2-UPDATE-1", kind not in _OF_VERSION_1, f"{kind} is a version 1 update")
        if kind in _PIECES:
            self._judge("A2-MSG-1", isinstance(update.get("messageId"), str), f"a {kind} has no messageId")
        if kind in ("user_message", "user_message_chunk") and isinstance(update.get("messageId"), str):
            session.user_messages[update["messageId"]] = True
        for name in ("toolCallId", "terminalId"):
            if isinstance(update.get(name), str):
                session.known[update[name]] = True
        if kind == "state_update":
            self._state(told, update, session)

    def _state(self, told: SeenNotification, update: Mapping[str, Any], session: _Session) -> None:
        state = update.get("state")
        if state == "idle" and session.accepted:
            self._judge("A2-STATE-1", session.state != "idle", "a prompt was completed without a state other than idle")
            for message_id, answered_in in session.accepted.items():
                is_echoed = session.user_messages.may_know(message_id)
                self._judge("A2-TURN-2", is_echoed, f"{shown(message_id)} wasn't sent", answered_in)
            session.accepted.clear()
        background = update.get("background")
        for work in background if isinstance(background, list) else ():
            for key in ("toolCallId", "terminalId"):
                name = work.get(key) if isinstance(work, dict) else None
                if isinstance(name, str):
                    self._judge("A2-STATE-3", session.known.may_know(name), f"{shown(name)} wasn't reported")
        session.state, session.told_in = state, told.index
