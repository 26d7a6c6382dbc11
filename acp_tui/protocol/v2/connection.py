"""ACP v2 between a peer and the client.

The agent works on its own machine in its own way. It asks the client for permissions and answers, never for files or
terminals.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any, ClassVar

from acp_tui.conversation.facts import ConfigOption, SessionId
from acp_tui.conversation.updates import PermissionAsked, PromptRefused, SessionUpdate
from acp_tui.protocol.connection import Connection, Inbound, OnUpdate
from acp_tui.protocol.failures import read_failure
from acp_tui.protocol.roles import ClientHandler, ClientOffer, Workplace
from acp_tui.protocol.v1 import outbound as v1
from acp_tui.protocol.v2 import inbound
from acp_tui.rpc import ErrorCode, RequestFailed


class ConnectionV2(Connection):
    version: ClassVar[int] = 2
    inbound: ClassVar[Inbound] = inbound
    login: ClassVar[str] = "auth/login"
    logging_out: ClassVar[str] = "auth/logout"
    loading: ClassVar[str] = "session/resume"
    loading_params: ClassVar[Mapping[str, Any]] = {"replayFrom": {"type": "start"}}
    accepts_prompts: ClassVar[bool] = True
    withdraws_questions = True

    def __init__(self, client: ClientHandler, offer: ClientOffer) -> None:
        super().__init__(client, offer)
        self._question_numbers = count(1)

    def _read_permission(self, params: Mapping[str, Any]) -> tuple[SessionId, PermissionAsked]:
        return inbound.read_permission_request(params, f"question {next(self._question_numbers)}")

    # The client's calls

    def _workplace(self, workplace: Workplace) -> dict[str, Any]:
        params = v1.new_session(workplace)
        if not (servers := params.pop("mcpServers")):
            return params
        return {**params, "mcpServers": [{"type": "stdio", **server} for server in servers]}

    async def set_option(
        self, session_id: SessionId, option: ConfigOption, value: str | bool, on_update: OnUpdate
    ) -> None:
        request = {
            "sessionId": session_id,
            "configId": option.option_id,
            "type": "boolean" if isinstance(value, bool) else "id",
            "value": value,
        }
        await self.request(
            "session/set_config_option", request, lambda result: on_update(inbound.read_config_options(result))
        )

    # What the agent answers

    def read_prompt_refusal(self, error: RequestFailed) -> SessionUpdate:
        """Convert an error. A prompt that was held back is canceled with the turn it waited for."""
        if error.code == ErrorCode.REQUEST_CANCELLED:
            return PromptRefused()
        return PromptRefused(read_failure(error))
