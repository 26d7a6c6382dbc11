"""What an agent asks of the client: permissions, files, terminals, and questions to the user (`elicitation/*`).

Strict, because it decides what is touched and run.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from acp_tui.protocol.schemas import OTHER, DefaultOnError, Discriminator, OpenUnion, Tag, field
from acp_tui.protocol.v1.content import ToolCallUpdate
from acp_tui.protocol.v1.session import EnvVariable, RequestId
from acp_tui.protocol.wire import (
    Int64,
    Lenient,
    Line,
    NullIsEmpty,
    OptionalItems,
    Passage,
    Text,
    UInt32,
    UInt64,
    WireModel,
    Word,
)


class CreateTerminalRequest(WireModel):
    """`terminal/create`: starts a command. `output_byte_limit` is how much output to keep."""

    session_id: str
    command: Word
    args: NullIsEmpty[Word] = field(default_factory=list)
    env: NullIsEmpty[EnvVariable] = field(default_factory=list)
    cwd: str | None = None
    output_byte_limit: UInt64 | None = None


class TerminalRequest(WireModel):
    """`terminal/output`, `wait_for_exit`, `kill` (which keeps the terminal), or `release` (which forgets it)."""

    session_id: str
    terminal_id: str


class TerminalExitStatus(WireModel):
    """How a command ended: a code or a signal."""

    exit_code: Lenient[UInt32] = None
    signal: Lenient[Line] = None


class ReadTextFileRequest(WireModel):
    """`fs/read_text_file`: a file, or `limit` lines from the 1-based `line` on."""

    session_id: str
    path: str
    line: UInt32 | None = None
    limit: UInt32 | None = None


class WriteTextFileRequest(WireModel):
    """`fs/write_text_file`: a file's whole new text."""

    session_id: str
    path: str
    content: Text


class PermissionOption(WireModel):
    """One of the answers to choose from. Its kind is only a hint."""

    option_id: str
    name: Line
    kind: Line


class RequestPermissionRequest(WireModel):
    """The question. All options must be well-formed: without one, it would be another question (R-LEN-3)."""

    session_id: str
    tool_call: ToolCallUpdate
    options: list[PermissionOption]


class ToldCommand(WireModel):
    """`command` of `ToldQuestion`."""

    line: Passage
    cwd: Line


class ToolCallReference(WireModel):
    """`tool_call/cancel`, of version 2."""

    session_id: str
    tool_call_id: str


class ToldQuestion(WireModel):
    """What a host adds to a permission request, because version 1 can't express it."""

    note: Passage | None = None
    title: Line | None = None
    description: Passage | None = None
    command: ToldCommand | None = None
    more: dict[str, Any] | None = None
    is_alone: bool = False


class CancelledPermissionOutcome(WireModel):
    """The turn was canceled before the user chose."""

    outcome: Literal["cancelled"] = "cancelled"


class SelectedPermissionOutcome(WireModel):
    """The user chose."""

    outcome: Literal["selected"] = "selected"
    option_id: str


RequestPermissionOutcome: TypeAlias = Annotated[
    CancelledPermissionOutcome | SelectedPermissionOutcome, Discriminator("outcome")
]


class RequestPermissionResponse(WireModel):
    """The answer."""

    outcome: RequestPermissionOutcome


# The fields of a form


class EnumOption(WireModel):
    """A value to choose, with its display name."""

    const: str
    title: Line
    description: Lenient[Line] = None


class PropertySchema(WireModel):
    """What all kinds of fields have."""

    title: Lenient[Line] = None
    description: Lenient[Line] = None


class StringPropertySchema(PropertySchema):
    """A text, or a choice with `enum` or `one_of`."""

    type: Literal["string"] = "string"
    min_length: UInt32 | None = None
    max_length: UInt32 | None = None
    pattern: str | None = None
    """Comes from the agent: limit its evaluation (R-ELIC-9)."""
    format: Line | None = None
    """email, uri, date, date-time; others are ignored (R-ELIC-5)."""
    default: Lenient[Word] = None
    enum: list[str] | None = None
    one_of: list[EnumOption] | None = None


class NumberPropertySchema(PropertySchema):
    """A number."""

    type: Literal["number"] = "number"
    minimum: float | None = None
    maximum: float | None = None
    default: Lenient[float] = None


class IntegerPropertySchema(PropertySchema):
    """An integer."""

    type: Literal["integer"] = "integer"
    minimum: Int64 | None = None
    maximum: Int64 | None = None
    default: Lenient[Int64] = None


class BooleanPropertySchema(PropertySchema):
    """Yes or no."""

    type: Literal["boolean"] = "boolean"
    default: Lenient[bool] = None


class StringMultiSelectItems(WireModel):
    """Values to choose from."""

    type: Literal["string"] = "string"
    enum: list[str]


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
    | Annotated[dict[str, Any], Tag(OTHER)],
    Discriminator(_items_kind),
]


class MultiSelectPropertySchema(PropertySchema):
    """Any number of the given values."""

    type: Literal["array"] = "array"
    min_items: UInt64 | None = None
    max_items: UInt64 | None = None
    items: MultiSelectItems
    default: OptionalItems[str] = None


ElicitationPropertySchema: TypeAlias = Annotated[
    StringPropertySchema
    | NumberPropertySchema
    | IntegerPropertySchema
    | BooleanPropertySchema
    | MultiSelectPropertySchema
    | dict[str, Any],
    OpenUnion(),
]
"""A dict for an unknown kind of field, which we can't draw (R-ELIC-7)."""


class ElicitationSchema(WireModel):
    """A form. Its fields are strict, because an answer must fit them (R-ELIC-4)."""

    type: Annotated[Literal["object"], DefaultOnError(lambda: "object")] = "object"
    title: Lenient[Line] = None
    description: Lenient[Line] = None
    properties: dict[str, ElicitationPropertySchema] = field(default_factory=dict)
    required: list[str] | None = None


# The request


class ElicitationMode(WireModel):
    """What all questions have, with their scope: a session or a client request."""

    message: Line
    session_id: str | None = None
    tool_call_id: Lenient[str] = None
    request_id: RequestId = None

    def _settle(self, _: Any, /) -> None:
        # A request's ID may be null, so it counts if it's present at all.
        if self.session_id is None and "request_id" not in self.given:
            raise ValueError("it names no session and no request")


class ElicitationFormMode(ElicitationMode):
    """A form to fill in."""

    mode: Literal["form"] = "form"
    requested_schema: ElicitationSchema


class ElicitationUrlMode(ElicitationMode):
    """A page to visit."""

    mode: Literal["url"] = "url"
    elicitation_id: str
    url: Word


CreateElicitationRequest: TypeAlias = Annotated[ElicitationFormMode | ElicitationUrlMode, Discriminator("mode")]
"""`elicitation/create`. An unknown mode is malformed: it must not be shown as a known one (R-ELIC-2)."""

# The answer

ElicitationContentValue: TypeAlias = Text | int | float | bool | list[str]


class CreateElicitationResponse(WireModel):
    """The user's answer. `content` only goes with accepting a form."""

    action: str
    """accept, decline, cancel."""
    content: dict[str, ElicitationContentValue] | None = None


class CompleteElicitationNotification(WireModel):
    """`elicitation/complete`: the page is done."""

    elicitation_id: str
