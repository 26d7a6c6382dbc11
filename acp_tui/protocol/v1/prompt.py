"""Messages of a turn: the prompt, its end, its cancellation; what happens in between is session updates."""

from __future__ import annotations

from typing import TypeAlias

from acp_tui.protocol.v1.content import ContentBlock
from acp_tui.protocol.wire import Int64, WireModel

StopReason: TypeAlias = str
"""end_turn, max_tokens, max_turn_requests, refusal, cancelled, or one we do not know (R-PROMPT-6)."""

RequestId: TypeAlias = Int64 | str | None


class PromptRequest(WireModel):
    """`session/prompt`."""

    session_id: str
    prompt: list[ContentBlock]


class PromptResponse(WireModel):
    """The turn is over."""

    stop_reason: StopReason


class CancelNotification(WireModel):
    """`session/cancel`: stop the turn."""

    session_id: str


class CancelRequestNotification(WireModel):
    """`$/cancel_request`: stop the work on one request."""

    request_id: RequestId
