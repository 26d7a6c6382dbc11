"""Tool calls as ACP v1 writes them; how reports add up to the state of a call is the conversation's matter."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Discriminator, Tag

from acp_tui.protocol.v1.content import BLOCK_TYPES, ContentBlock
from acp_tui.protocol.wire import UNKNOWN, Lenient, OptionalItems, UInt32, Variant, WireModel, kind_of

ToolKind: TypeAlias = str
ToolCallStatus: TypeAlias = str


class Content(Variant):
    """A content block as part of a tool call."""

    type: Literal["content"] = "content"
    content: ContentBlock


class Diff(Variant):
    """A change of one file, whole before and whole after; without `old_text` the file is new."""

    type: Literal["diff"] = "diff"
    path: str
    new_text: str
    old_text: Lenient[str] = None


class Terminal(Variant):
    """A terminal shown inside a tool call."""

    type: Literal["terminal"] = "terminal"
    terminal_id: str


_BARE_BLOCK: Final = "block"
_CONTENT_TYPES: Final = frozenset({"content", "diff", "terminal"})


def _content_tag(value: Any) -> str | None:
    kind = kind_of(value)
    if kind in BLOCK_TYPES:
        return _BARE_BLOCK
    return kind if kind is None or kind in _CONTENT_TYPES else UNKNOWN


ToolCallContent: TypeAlias = Annotated[
    Annotated[Content, Tag("content")]
    | Annotated[Diff, Tag("diff")]
    | Annotated[Terminal, Tag("terminal")]
    # Not in the schema, but in an example of the documentation, and so in agents (R-DOC-2).
    | Annotated[ContentBlock, Tag(_BARE_BLOCK)]
    | Annotated[dict[str, Any], Tag(UNKNOWN)],
    Discriminator(_content_tag),
]


class ToolCallLocation(WireModel):
    """A place in a file; `line` is 1-based."""

    path: str
    line: Lenient[UInt32] = None


class ToolCallFields(WireModel):
    """What a report about a tool call may leave out; null is the same as absent."""

    tool_call_id: str
    name: Lenient[str] = None
    kind: Lenient[ToolKind] = None
    status: Lenient[ToolCallStatus] = None
    content: OptionalItems[ToolCallContent] = None
    locations: OptionalItems[ToolCallLocation] = None
    raw_input: Any = None
    raw_output: Any = None


class ToolCallUpdate(ToolCallFields):
    """A change of a tool call, also of one that was not mentioned before."""

    title: Lenient[str] = None
