"""What an agent asks of the client: permissions, files, terminals, and questions to the user (`elicitation/*`).

Strict, because it decides what is touched and run.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any, Literal, TypeAlias

from acp_tui.conversation import UNSET, UnsetType
from acp_tui.protocol import wire
from acp_tui.protocol.v1.content import ToolCallUpdate
from acp_tui.protocol.v1.session import EnvVariable, RequestId
from acp_tui.protocol.validators import OTHER, Discriminator, OpenUnion, Tag, default_on_error


class CreateTerminalRequest(wire.WireModel):
    """`terminal/create`: starts a command. `output_byte_limit` is how much output to keep."""

    session_id: wire.Short
    command: wire.Word
    args: wire.NullIsEmpty[wire.Word] = field(default_factory=list)
    env: wire.NullIsEmpty[EnvVariable] = field(default_factory=list)
    cwd: wire.Short | None = None
    output_byte_limit: wire.UInt64 | None = None


class TerminalRequest(wire.WireModel):
    """`terminal/output`, `wait_for_exit`, `kill` (which keeps the terminal), or `release` (which forgets it)."""

    session_id: wire.Short
    terminal_id: wire.Short


class TerminalExitStatus(wire.WireModel):
    exit_code: wire.Lenient[wire.UInt32] = None
    signal: wire.Lenient[wire.Line] = None


class ReadTextFileRequest(wire.WireModel):
    """`fs/read_text_file`: a file, or `limit` lines from the 1-based `line` on."""

    session_id: wire.Short
    path: wire.Short
    line: wire.UInt32 | None = None
    limit: wire.UInt32 | None = None


class WriteTextFileRequest(wire.WireModel):
    session_id: wire.Short
    path: wire.Short
    content: wire.Text


class PermissionOption(wire.WireModel):
    """One of the answers to choose from. Its kind is only a hint."""

    option_id: wire.Short
    name: wire.Line
    kind: wire.Line


class RequestPermissionRequest(wire.WireModel):
    """The question. All options must be well-formed: without one, it would be another question (R-LEN-3)."""

    session_id: wire.Short
    tool_call: ToolCallUpdate
    options: list[PermissionOption]


class ToldCommand(wire.WireModel):
    """`command` of `ToldQuestion`."""

    line: wire.Passage
    cwd: wire.Line


class ToolCallReference(wire.WireModel):
    """`tool_call/cancel`, of version 2."""

    session_id: wire.Short
    tool_call_id: wire.Short


class ToldQuestion(wire.WireModel):
    """What a host adds to a permission request, because version 1 can't express it."""

    note: wire.Passage | None = None
    title: wire.Line | None = None
    description: wire.Passage | None = None
    command: ToldCommand | None = None
    more: wire.RawObject | None = None
    is_alone: bool = False
    is_ours: bool = False


class CancelledPermissionOutcome(wire.WireModel):
    """The turn was canceled before the user chose."""

    outcome: Literal["cancelled"] = "cancelled"


class SelectedPermissionOutcome(wire.WireModel):
    outcome: Literal["selected"] = "selected"
    option_id: wire.Short


RequestPermissionOutcome: TypeAlias = Annotated[
    CancelledPermissionOutcome | SelectedPermissionOutcome, Discriminator("outcome")
]


class RequestPermissionResponse(wire.WireModel):
    outcome: RequestPermissionOutcome


# The fields of a form


class EnumOption(wire.WireModel):
    const: wire.Short
    title: wire.Line
    description: wire.Lenient[wire.Line] = None


class PropertySchema(wire.WireModel):
    title: wire.Lenient[wire.Line] = None
    description: wire.Lenient[wire.Line] = None


class StringPropertySchema(PropertySchema):
    """A text, or a choice with `enum` or `one_of`."""

    type: Literal["string"] = "string"
    min_length: wire.UInt32 | None = None
    max_length: wire.UInt32 | None = None
    pattern: wire.Short | None = None
    """Comes from the agent: limit its evaluation (R-ELIC-9)."""
    format: wire.Line | None = None
    """email, uri, date, date-time; others are ignored (R-ELIC-5)."""
    default: wire.Lenient[wire.Word] = None
    enum: list[wire.Short] | None = None
    one_of: list[EnumOption] | None = None


class NumberPropertySchema(PropertySchema):
    type: Literal["number"] = "number"
    minimum: float | None = None
    maximum: float | None = None
    default: wire.Lenient[float] = None


class IntegerPropertySchema(PropertySchema):
    type: Literal["integer"] = "integer"
    minimum: wire.Int64 | None = None
    maximum: wire.Int64 | None = None
    default: wire.Lenient[wire.Int64] = None


class BooleanPropertySchema(PropertySchema):
    type: Literal["boolean"] = "boolean"
    default: wire.Lenient[bool] = None


class StringMultiSelectItems(wire.WireModel):
    type: Literal["string"] = "string"
    enum: list[wire.Short]


class TitledMultiSelectItems(wire.WireModel):
    """Values to choose from, with their display names."""

    any_of: list[EnumOption]


def _items_kind(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str) or (kind == "string" and "anyOf" in value):
        return "titled"
    return "string" if kind == "string" else OTHER


MultiSelectItems: TypeAlias = Annotated[
    Annotated[StringMultiSelectItems, Tag("string")]
    | Annotated[TitledMultiSelectItems, Tag("titled")]
    | Annotated[wire.RawObject, Tag(OTHER)],
    Discriminator(_items_kind),
]


class MultiSelectPropertySchema(PropertySchema):
    type: Literal["array"] = "array"
    min_items: wire.UInt64 | None = None
    max_items: wire.UInt64 | None = None
    items: MultiSelectItems
    default: wire.OptionalItems[wire.Short] = None


ElicitationPropertySchema: TypeAlias = Annotated[
    StringPropertySchema
    | NumberPropertySchema
    | IntegerPropertySchema
    | BooleanPropertySchema
    | MultiSelectPropertySchema
    | wire.RawObject,
    OpenUnion(),
]
"""A dict for an unknown kind of field, which we can't draw (R-ELIC-7)."""


class ElicitationSchema(wire.WireModel):
    """A form. Its fields are strict, because an answer must fit them (R-ELIC-4)."""

    type: Annotated[Literal["object"], default_on_error(lambda: "object")] = "object"
    title: wire.Lenient[wire.Line] = None
    description: wire.Lenient[wire.Line] = None
    properties: dict[wire.Short, ElicitationPropertySchema] = field(default_factory=dict)
    required: list[wire.Short] | None = None


# The request


class ElicitationMode(wire.WireModel):
    """What all questions have, with their scope: a session or a client request."""

    message: wire.Line
    session_id: wire.Short | None = None
    tool_call_id: wire.Lenient[wire.Short] = None
    request_id: RequestId | UnsetType = UNSET

    def __post_init__(self) -> None:
        # A request's ID may be null, so it counts if it's present at all.
        if self.session_id is None and self.request_id is UNSET:
            raise ValueError("it names no session and no request")


class ElicitationFormMode(ElicitationMode):
    mode: Literal["form"] = "form"
    requested_schema: ElicitationSchema


class ElicitationUrlMode(ElicitationMode):
    mode: Literal["url"] = "url"
    elicitation_id: wire.Short
    url: wire.Word


CreateElicitationRequest: TypeAlias = Annotated[ElicitationFormMode | ElicitationUrlMode, Discriminator("mode")]
"""`elicitation/create`. An unknown mode is malformed: it must not be shown as a known one (R-ELIC-2)."""

# The answer

ElicitationContentValue: TypeAlias = wire.Text | int | float | bool | list[wire.Short]


class CreateElicitationResponse(wire.WireModel):
    """The user's answer. `content` only goes with accepting a form."""

    action: wire.Short
    """accept, decline, cancel."""
    content: dict[wire.Short, ElicitationContentValue] | None = None


class CompleteElicitationNotification(wire.WireModel):
    """`elicitation/complete`: the page is done."""

    elicitation_id: wire.Short


class MessageMcpRequest(wire.WireModel):
    """`mcp/message`: a request to an MCP server of the client's; a draft, the same in both versions."""

    server_id: wire.Short
    request_id: wire.Short
    method: wire.Short
    params: wire.Whole | None = None
