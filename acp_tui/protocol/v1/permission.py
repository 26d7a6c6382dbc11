"""`session/request_permission`: the agent's question about a tool call, and the user's answer."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field

from acp_tui.protocol.v1.tool_calls import ToolCallUpdate
from acp_tui.protocol.wire import Variant, WireModel


class PermissionOption(WireModel):
    """One of the answers to choose from; its kind is a hint only."""

    option_id: str
    name: str
    kind: str


class RequestPermissionRequest(WireModel):
    """The question; all of its options must be well-formed, since a missing one would change it (R-LEN-3)."""

    session_id: str
    tool_call: ToolCallUpdate
    options: list[PermissionOption]


class CancelledPermissionOutcome(Variant):
    """The turn was cancelled before the user chose."""

    discriminator: ClassVar[str] = "outcome"
    outcome: Literal["cancelled"] = "cancelled"


class SelectedPermissionOutcome(Variant):
    """The user chose."""

    discriminator: ClassVar[str] = "outcome"
    outcome: Literal["selected"] = "selected"
    option_id: str


RequestPermissionOutcome: TypeAlias = Annotated[
    CancelledPermissionOutcome | SelectedPermissionOutcome, Field(discriminator="outcome")
]


class RequestPermissionResponse(WireModel):
    """The answer."""

    outcome: RequestPermissionOutcome
