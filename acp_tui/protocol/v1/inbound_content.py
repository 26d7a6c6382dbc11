"""Converts ACP v1 content blocks and tool calls to the conversation's values, for any kind of message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar, assert_never

from acp_tui.conversation import UNSET, UnsetType, content, tool_calls
from acp_tui.conversation.facts import TurnUsage
from acp_tui.conversation.updates import SessionUpdate, TerminalExited, TerminalOpened, TerminalOutput
from acp_tui.conversation.visible.cutting import cut_text
from acp_tui.protocol.v1 import content as wire
from acp_tui.protocol.v1 import session, updates
from acp_tui.protocol.wire import is_id

S = TypeVar("S")
T = TypeVar("T")

# Blocks


def read_block(block: wire.ContentBlock) -> content.ContentBlock:
    match block:
        case wire.TextContent():
            return content.Text(block.text, _annotations(block.annotations), block.meta)
        case wire.ImageContent():
            annotations = _annotations(block.annotations)
            return content.Image(block.data, block.mime_type, block.uri, annotations, block.meta)
        case wire.AudioContent():
            return content.Audio(block.data, block.mime_type, _annotations(block.annotations), block.meta)
        case wire.ResourceLink():
            about = (block.title, block.description, block.mime_type, block.size)
            return content.ResourceLink(block.uri, block.name, *about, _annotations(block.annotations), block.meta)
        case wire.EmbeddedResource():
            return _resource(block)
        case dict():
            return content.UnknownBlock(cut_text(block["type"]), block)
        case _:
            assert_never(block)


def _annotations(annotations: wire.Annotations | None) -> content.Annotations | None:
    if annotations is None:
        return None
    audience = None if annotations.audience is None else tuple(annotations.audience)
    return content.Annotations(audience, annotations.last_modified, annotations.priority, annotations.meta)


def _resource(block: wire.EmbeddedResource) -> content.TextResource | content.BlobResource:
    inner, annotations = block.resource, _annotations(block.annotations)
    if isinstance(inner, wire.TextResourceContents):
        return content.TextResource(inner.uri, inner.text, inner.mime_type, annotations, block.meta, inner.meta)
    return content.BlobResource(inner.uri, inner.blob, inner.mime_type, annotations, block.meta, inner.meta)


# Tool calls


def read_tool_call(call: updates.ToolCall | wire.ToolCallUpdate) -> tool_calls.ToolCallPatch:
    """Convert a report to a patch. Null means absent, and a list replaces the previous one (R-TOOL-2)."""
    return tool_calls.ToolCallPatch(
        tool_calls.ToolCallId(call.tool_call_id),
        title=or_unset(call.title),
        kind=or_unset(call.kind),
        status=or_unset(call.status),
        content=_each(_tool_call_content, call.content),
        locations=_each(read_location, call.locations),
        raw_input=or_unset(call.raw_input),
        raw_output=or_unset(call.raw_output),
        name=or_unset(call.name),
        meta=call.meta,
    )


def or_unset(value: T | None) -> T | UnsetType:
    return UNSET if value is None else value


def _each(read: Callable[[S], T], items: Iterable[S] | None) -> tuple[T, ...] | UnsetType:
    return UNSET if items is None else tuple(map(read, items))


def _tool_call_content(item: wire.ToolCallContent) -> tool_calls.ToolCallContent:
    match item:
        case wire.Content():
            return tool_calls.BlockContent(read_block(item.content), item.meta)
        case wire.Diff():
            return tool_calls.TextDiff(item.path, item.new_text, item.old_text, item.meta)
        case wire.Terminal():
            return tool_calls.TerminalContent(tool_calls.TerminalId(item.terminal_id), item.meta)
        case dict():
            return tool_calls.UnknownContent(cut_text(item["type"]), item)
        case _:
            return tool_calls.BlockContent(read_block(item))


def read_location(location: wire.ToolCallLocation) -> tool_calls.Location:
    return tool_calls.Location(location.path, location.line, location.meta)


# The agent's own terminals, in the `_meta` of its tool calls: claude-agent-acp 0.23 and codex-acp 2.6 run commands
# themselves and report them this way instead of asking the client for a terminal.


def read_agent_terminals(meta: content.Meta | None) -> tuple[SessionUpdate, ...]:
    """Return the terminal updates in a tool call's `_meta`, in the order they happened. Ignores malformed parts."""
    return tuple(_terminal_updates(meta)) if meta else ()


def _terminal_updates(meta: content.Meta) -> Iterator[SessionUpdate]:
    for key, read in _TERMINAL_READERS:
        part = meta.get(key)
        if isinstance(part, dict) and is_id(terminal_id := part.get("terminal_id")):
            update = read(tool_calls.TerminalId(terminal_id), part)
            if update is not None:
                yield update


def _opened(terminal_id: tool_calls.TerminalId, part: dict[str, Any]) -> SessionUpdate:
    cwd = part.get("cwd")
    return TerminalOpened(terminal_id, cwd=cut_text(cwd) if isinstance(cwd, str) else None, is_ours=False)


def _printed(terminal_id: tool_calls.TerminalId, part: dict[str, Any]) -> SessionUpdate | None:
    data = part.get("data")
    return TerminalOutput(terminal_id, data.encode(errors="replace")) if isinstance(data, str) else None


def _exited(terminal_id: tool_calls.TerminalId, part: dict[str, Any]) -> SessionUpdate:
    exit_code, signal = part.get("exit_code"), part.get("signal")
    named = cut_text(signal) if isinstance(signal, str) else None
    return TerminalExited(terminal_id, exit_code if type(exit_code) is int else None, named)


# Both kinds of output are pieces to append. An agent uses the kind the client asked for.
_TERMINAL_READERS: tuple[tuple[str, Callable[[tool_calls.TerminalId, dict[str, Any]], SessionUpdate | None]], ...] = (
    ("terminal_info", _opened),
    ("terminal_output", _printed),
    ("terminal_output_delta", _printed),
    ("terminal_exit", _exited),
)


def read_turn_usage(usage: session.TurnUsage | None) -> TurnUsage | None:
    if usage is None:
        return None
    more = (usage.thought_tokens, usage.cached_read_tokens, usage.cached_write_tokens)
    return TurnUsage(usage.total_tokens, usage.input_tokens, usage.output_tokens, *more)
