"""ACP v2 between a peer and the client.

The agent works on its own machine in its own way. It asks the client for permissions and answers, never for files or
terminals.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

from acp_tui.conversation.facts import ConfigOption, SessionId, SessionPage
from acp_tui.conversation.updates import PromptRefused, SessionUpdate, TurnFailed
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
from acp_tui.protocol.roles import ClientHandler, ClientOffer, Workplace
from acp_tui.protocol.v1 import outbound as v1
from acp_tui.protocol.v1.connection import create_elicitation
from acp_tui.protocol.v1.inbound import read_session_page, with_told
from acp_tui.protocol.v2 import inbound
from acp_tui.rpc import ErrorCode, RequestFailed


class ConnectionV2(Connection):
    version: ClassVar[int] = 2
    inbound: ClassVar[Inbound] = inbound
    accepts_prompts: ClassVar[bool] = True
    withdraws_questions: ClassVar[bool] = True

    def __init__(self, client: ClientHandler, offer: ClientOffer) -> None:
        super().__init__(client, offer)
        self._question_numbers = count(1)

    # What the agent sends

    def _served(self) -> Mapping[str, Serve]:
        served: dict[str, Serve] = {"session/request_permission": self._request_permission}
        if self.offer.elicitation_form or self.offer.elicitation_url:
            served["elicitation/create"] = partial(create_elicitation, self)
        return served

    def _request_permission(self, params: Mapping[str, Any]) -> Awaitable[Any]:
        with as_invalid_params():
            session_id, question = inbound.read_permission_request(params, f"question {next(self._question_numbers)}")
            question = with_told(question) if self.offer.is_for_host else question
        require_distinct(question.options)
        return permission_response(self.client.request_permission(session_id, question))

    # The client's calls

    async def authenticate(self, method_id: str) -> None:
        await self.request("auth/login", {"methodId": method_id}, nothing)

    async def logout(self) -> None:
        await self.request("auth/logout", {}, nothing)

    @property
    def _loading(self) -> tuple[str, Mapping[str, Any]]:
        return "session/resume", {"replayFrom": {"type": "start"}}

    def _workplace(self, workplace: Workplace) -> dict[str, Any]:
        params = v1.new_session(workplace)
        if not (servers := params.pop("mcpServers")):
            return params
        return {**params, "mcpServers": [{"type": "stdio", **server} for server in servers]}

    async def list_sessions(self, cwd: Path | None, cursor: str | None) -> SessionPage:
        request = v1.list_sessions(cwd, cursor)
        return await self.request("session/list", request, read_session_page)

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
        return PromptRefused(TurnFailed(error.message, error.detail, error.code))

    def brings_history(self, method: str, params: Mapping[str, Any]) -> bool:
        return method == "session/resume" and params.get("replayFrom") is not None
