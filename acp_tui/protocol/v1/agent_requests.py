"""What an agent asks of the client: permissions, files, terminals, and questions to the user (`elicitation/*`).

Strict, because it decides what is touched and run.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any, Literal, TypeAlias

from acp_tui.conversation import UNSET, UnsetType
from acp_tui.protocol.schemas import OTHER, Discriminator, OpenUnion, Tag, default_on_error
from acp_tui.protocol.v1.content import ToolCallUpdate
from acp_tui.protocol.v1.session import EnvVariable, RequestId
from acp_tui.protocol.wire import (
    Int64,
    Lenient,
    Line,
    NullIsEmpty,
    OptionalItems,
    Passage,
    RawObject,
    Short,
    Text,
    UInt32,
    UInt64,
    Whole,
    WireModel,
    Word,
)


class CreateTerminalRequest(WireModel):
    """`terminal/create`: starts a command. `output_byte_limit` is how much output to keep."""

    session_id: Short
    command: Word
    args: NullIsEmpty[Word] = field(default_factory=list)
    env: NullIsEmpty[EnvVariable] = field(default_factory=list)
    cwd: Short | None = None
    output_byte_limit: UInt64 | None = None


class TerminalRequest(WireModel):
    """`terminal/output`, `wait_for_exit`, `kill` (which keeps the terminal), or `release` (which forgets it)."""

    session_id: Short
    terminal_id: Short


class TerminalExitStatus(WireModel):
    exit_code: Lenient[UInt32] = None
    signal: Lenient[Line] = None


class ReadTextFileRequest(WireModel):
    """`fs/read_text_file`: a file, or `limit` lines from the 1-based `line` on."""

    session_id: Short
    path: Short
    line: UInt32 | None = None
    limit: UInt32 | None = None


class WriteTextFileRequest(WireModel):
    session_id: Short
    path: Short
    content: Text


class PermissionOption(WireModel):
    """One of the answers to choose from. Its kind is only a hint."""

    option_id: Short
    name: Line
    kind: Line


class RequestPermissionRequest(WireModel):
    """The question. All options must be well-formed: without one, it would be another question (R-LEN-3)."""

    session_id: Short
    tool_call: ToolCallUpdate
    options: list[PermissionOption]


class ToldCommand(WireModel):
    """`command` of `ToldQuestion`."""

    line: Passage
    cwd: Line


class ToolCallReference(WireModel):
    """`tool_call/cancel`, of version 2."""

    session_id: Short
    tool_call_id: Short


class ToldQuestion(WireModel):
    """What a host adds to a permission request, because version 1 can't express it."""

    note: Passage | None = None
    title: Line | None = None
    description: Passage | None = None
    command: ToldCommand | None = None
    more: RawObject | None = None
    is_alone: bool = False


class CancelledPermissionOutcome(WireModel):
    """The turn was canceled before the user chose."""

    outcome: Literal["cancelled"] = "cancelled"


class SelectedPermissionOutcome(WireModel):
    outcome: Literal["selected"] = "selected"
    option_id: Short


RequestPermissionOutcome: TypeAlias = Annotated[
    CancelledPermissionOutcome | SelectedPermissionOutcome, Discriminator("outcome")
]


class RequestPermissionResponse(WireModel):
    outcome: RequestPermissionOutcome


# The fields of a form


class EnumOption(WireModel):
    const: Short
    title: Line
    description: Lenient[Line] = None


class PropertySchema(WireModel):
    title: Lenient[Line] = None
    description: Lenient[Line] = None


class StringPropertySchema(PropertySchema):
    """A text, or a choice with `enum` or `one_of`."""

    type: Literal["string"] = "string"
    min_length: UInt32 | None = None
    max_length: UInt32 | None = None
    pattern: Short | None = None
    """Comes from the agent: limit its evaluation (R-ELIC-9)."""
    format: Line | None = None
    """email, uri, date, date-time; others are ignored (R-ELIC-5)."""
    default: Lenient[Word] = None
    enum: list[Short] | None = None
    one_of: list[EnumOption] | None = None


class NumberPropertySchema(PropertySchema):
    type: Literal["number"] = "number"
    minimum: float | None = None
    maximum: float | None = None
    default: Lenient[float] = None


class IntegerPropertySchema(PropertySchema):
    type: Literal["integer"] = "integer"
    minimum: Int64 | None = None
    maximum: Int64 | None = None
    default: Lenient[Int64] = None


class BooleanPropertySchema(PropertySchema):
    type: Literal["boolean"] = "boolean"
    default: Lenient[bool] = None


class StringMultiSelectItems(WireModel):
    type: Literal["string"] = "string"
    enum: list[Short]


class TitledMultiSelectItems(WireModel):
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
    | Annotated[RawObject, Tag(OTHER)],
    Discriminator(_items_kind),
]


class MultiSelectPropertySchema(PropertySchema):
    type: Literal["array"] = "array"
    min_items: UInt64 | None = None
    max_items: UInt64 | None = None
    items: MultiSelectItems
    default: OptionalItems[Short] = None


ElicitationPropertySchema: TypeAlias = Annotated[
    StringPropertySchema
    | NumberPropertySchema
    | IntegerPropertySchema
    | BooleanPropertySchema
    | MultiSelectPropertySchema
    | RawObject,
    OpenUnion(),
]
"""A dict for an unknown kind of field, which we can't draw (R-ELIC-7)."""


class ElicitationSchema(WireModel):
    """A form. Its fields are strict, because an answer must fit them (R-ELIC-4)."""

    type: Annotated[Literal["object"], default_on_error(lambda: "object")] = "object"
    title: Lenient[Line] = None
    description: Lenient[Line] = None
    properties: dict[Short, ElicitationPropertySchema] = field(default_factory=dict)
    required: list[Short] | None = None


# The request


class ElicitationMode(WireModel):
    """What all questions have, with their scope: a session or a client request."""

    message: Line
    session_id: Short | None = None
    tool_call_id: Lenient[Short] = None
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
    elicitation_id: Short
    url: Word


CreateElicitationRequest: TypeAlias = Annotated[ElicitationFormMode | ElicitationUrlMode, Discriminator("mode")]
"""`elicitation/create`. An unknown mode is malformed: it must not be shown as a known one (R-ELIC-2)."""

# The answer

ElicitationContentValue: TypeAlias = Text | int | float | bool | list[Short]


class CreateElicitationResponse(WireModel):
    """The user's answer. `content` only goes with accepting a form."""

    action: Short
    """accept, decline, cancel."""
    content: dict[Short, ElicitationContentValue] | None = None


class CompleteElicitationNotification(WireModel):
    """`elicitation/complete`: the page is done."""

    elicitation_id: Short


class MessageMcpRequest(WireModel):
    """`mcp/message`: a request to an MCP server of the client's; a draft, the same in both versions."""

    server_id: Short
    request_id: Short
    method: Short
    params: Whole | None = None
