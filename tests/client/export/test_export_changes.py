"""The lines of changes give the same conversation as its export, whatever happened in which order."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_tui.client.export.facts import ExportFacts
from acp_tui.client.export.jsonl import ChangedLines, to_jsonl
from acp_tui.conversation import reducer
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.tool_calls import BlockContent, ToolCallId
from acp_tui.conversation.updates import MessageReplaced, SessionUpdate, ToolCallContentAdded
from support.command_line import lines_of
from support.folding import agent, call, prompt
from support.recorded_sessions import Recorded, kept_recordings, transcripts

FACTS = ExportFacts("Demo Agent", "/project", "s-1")
PLACES = ("session_id", "terminal_id", "plan_id", "subagent", "entry")
LAST = {"session", "turn", "usage", "tokens", "terminal"}
"""What an export says at its end, and changes don't: totals, and commands that still run."""


def changes(updates: list[SessionUpdate]) -> tuple[Conversation, list[Any]]:
    """The conversation, and the lines printed while it grew."""
    conversation = Conversation()
    lines = ChangedLines(conversation)
    printed = [line for update in updates for line in lines.of(reducer.apply(conversation, update))]
    return conversation, lines_of(printed)


def place(line: dict[str, Any]) -> tuple[object, ...]:
    return ("entry" if "entry" in line else line["type"], *map(line.get, PLACES))


def joined(lines: list[Any]) -> dict[tuple[object, ...], Any]:
    """What holds in the end, by place."""
    found: dict[tuple[object, ...], Any] = {}
    for line in lines:
        if line["type"] == "message_chunk":
            found[place(line)]["parts"][-1]["text"] += line["text"]
        elif line["type"] == "tool_call_chunk":
            found[place(line)]["call"]["content"] += line["content"]
        elif line["type"] not in LAST:
            found[place(line)] = line
    return {key: line for key, line in found.items() if line["type"] != "plan" or line["steps"]}


@pytest.mark.parametrize("recorded", [*kept_recordings(), *transcripts()], ids=lambda recorded: recorded.name)
def test_the_last_line_about_each_thing_is_that_of_the_export(recorded: Recorded) -> None:
    conversation, lines = changes(recorded.updates)
    assert joined(lines) == joined([json.loads(line) for line in to_jsonl(conversation, FACTS)])


def test_only_new_text_is_printed_until_a_message_changes_otherwise() -> None:
    _, lines = changes(
        [
            prompt("hi"),
            agent("One", "m"),
            agent(" two", "m"),
            call("c", title="Run"),
            call("c", title="Run"),
            agent(" three", "m"),
            MessageReplaced("agent", "m", (Text("One"),)),
        ]
    )
    assert [(line["type"], line.get("text") or line.get("parts", [{}])[0].get("text")) for line in lines] == [
        ("message", "hi"),
        ("message", "One"),
        ("message_chunk", " two"),
        ("tool_call", None),
        ("message_chunk", " three"),
        ("message", "One"),
    ]


def test_content_added_to_a_tool_call_is_printed_alone() -> None:
    first, second = BlockContent(Text("one")), BlockContent(Text("two"))
    _, lines = changes(
        [
            call("c", title="Run", content=(first,)),
            ToolCallContentAdded(ToolCallId("c"), (second,)),
            call("c", content=(first,)),
            call("c", status="completed"),
        ]
    )
    shown = [(line.get("call", line)["content"], line["type"]) for line in lines]
    one, two = ({"type": "block", "block": {"type": "text", "text": text}} for text in ("one", "two"))
    assert shown == [
        ([one], "tool_call"),
        ([two], "tool_call_chunk"),
        ([one], "tool_call"),
        ([one], "tool_call"),
    ]
