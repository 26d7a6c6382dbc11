"""Rules of drafts that are alike in both versions."""

from __future__ import annotations

from typing import Final

from acp_tui.protocol import AUTH_REQUIRED, RESOURCE_NOT_FOUND
from acp_tui.protocol.connection import MCP_MESSAGE
from acp_tui.rpc import ErrorCode
from acp_tui.rpc.messages import Recent
from acp_tui.workbench.conformance.connection_state import Check, Scene, as_object, objects
from acp_tui.workbench.conformance.exchange import Event, SeenRequest, SeenResponse
from acp_tui.workbench.conformance.rule import Judge, shown

NOBODYS: Final = "_acp-tui.check/unknown-session"
"""The ID of a session that no agent has."""


class StatusCheck(Check):
    """Compares what an agent says of logins and sessions with what it may answer."""

    def see(self, event: Event) -> None:
        if not isinstance(event, SeenResponse) or not event.is_agents:
            return
        asked = event.request
        if asked.method == "auth/status":
            is_answered = event.code != AUTH_REQUIRED
            self._judge("A-AUTH-4", is_answered, f"it was answered with {shown(event.error)}", asked.index)
        elif asked.method == "session/status":
            session_id = asked.params.get("sessionId")
            if event.code == RESOURCE_NOT_FOUND:
                told = as_object(as_object(event.error).get("data")).get("sessionId")
                text = f"{shown(session_id)} was answered with {shown(event.error)}"
                self._judge("A-SESS-6", told == session_id, text, asked.index)
            elif session_id == NOBODYS:
                said = event.result if event.error is None else event.error
                self._judge("A-SESS-6", False, f"one it never had was answered with {shown(said)}", asked.index)


class ProviderCheck(Check):
    """Compares what an agent lists of its providers of models with what it was asked to do with them."""

    def __init__(self, judge: Judge, scene: Scene) -> None:
        super().__init__(judge, scene)
        self._is_required: Recent[str, bool] = Recent()
        self._disabled: Recent[str, int] = Recent()
        """In which frame each one was disabled."""

    def see(self, event: Event) -> None:
        if not (isinstance(event, SeenResponse) and event.is_agents):
            return
        provider_id = str(event.request.params.get("providerId"))
        match event.request.method:
            case "providers/list":
                self._look_at_list(event)
            case "providers/set" if event.error is None:
                self._disabled.pop(provider_id, None)
            case "providers/disable":
                if self._is_required.get(provider_id, False):
                    is_refused = event.code == ErrorCode.INVALID_PARAMS
                    text = f"{shown(provider_id)} is required, and was disabled"
                    self._judge("A-PROV-2", is_refused, text, event.request.index)
                elif event.error is None:
                    self._disabled[provider_id] = event.index

    def _look_at_list(self, answer: SeenResponse) -> None:
        for provider in objects(as_object(answer.result).get("providers")):
            provider_id = str(provider.get("providerId"))
            self._is_required[provider_id] = provider.get("required") is True
            disabled_in = self._disabled.get(provider_id)
            if disabled_in is not None:
                current = provider.get("current")
                self._judge("A-PROV-1", current is None, f"it is still {shown(current)}", disabled_in)


class McpCheck(Check):
    """Compares requests to MCP servers of the client's with what the agent was given."""

    def __init__(self, judge: Judge, scene: Scene) -> None:
        super().__init__(judge, scene)
        self._given: Recent[str, bool] = Recent()
        self._under_way: Recent[tuple[str, str], bool] = Recent()

    def see(self, event: Event) -> None:
        match event:
            case SeenRequest(is_agents=False, params={"mcpServers": servers}):
                for server in objects(servers):
                    if server.get("type") == "acp":
                        self._given[str(server.get("serverId"))] = True
            case SeenRequest(is_agents=True, method=method, params=params) if method == MCP_MESSAGE:
                server_id, request_id = str(params.get("serverId")), str(params.get("requestId"))
                if self._scene.is_whole:
                    self._judge("A-MCP-1", self._given.may_know(server_id), f"it wasn't given {shown(server_id)}")
                is_free = (server_id, request_id) not in self._under_way
                self._judge("A-MCP-2", is_free, f"{shown(request_id)} is under way")
                self._under_way[server_id, request_id] = True
            case SeenResponse(is_agents=False, request=asked) if asked.method == MCP_MESSAGE:
                self._under_way.pop((str(asked.params.get("serverId")), str(asked.params.get("requestId"))), None)
