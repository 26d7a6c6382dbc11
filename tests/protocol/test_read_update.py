"""What each kind of session update means for a conversation."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from acp_tui.conversation import UNSET
from acp_tui.conversation.content import (
    Annotations,
    Audio,
    BlobResource,
    Image,
    ResourceLink,
    Text,
    TextResource,
    UnknownBlock,
)
from acp_tui.conversation.facts import BooleanOption, Choice, OfferedCommand, PlanStep, SelectOption, Usage
from acp_tui.conversation.tool_calls import (
    BlockContent,
    Location,
    TerminalContent,
    TextDiff,
    ToolCallPatch,
    UnknownContent,
)
from acp_tui.conversation.updates import (
    CommandsReplaced,
    CompactionChanged,
    CompactionChunk,
    InfoChanged,
    MessageChunk,
    NoticeShown,
    OptionChanged,
    OptionsReplaced,
    PlanReplaced,
    SessionUpdate,
    TerminalExited,
    TerminalOpened,
    TerminalOutput,
    ToolCallReported,
    UnknownUpdate,
    UsageReported,
)
from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.v1 import inbound


def read_all(kind: str, /, **fields: Any) -> tuple[SessionUpdate, ...]:
    session_id, updates = inbound.read_update({"sessionId": "s", "update": {"sessionUpdate": kind, **fields}})
    assert session_id == "s"
    return updates


def read(kind: str, /, **fields: Any) -> SessionUpdate:
    (update,) = read_all(kind, **fields)
    return update


def read_patch(kind: str = "tool_call_update", /, **fields: Any) -> ToolCallPatch:
    update = read(kind, toolCallId="c", **fields)
    assert isinstance(update, ToolCallReported)
    return update.patch


def read_block(block: Any) -> Any:
    update = read("agent_message_chunk", content=block)
    assert isinstance(update, MessageChunk)
    return update.block


# Messages


@pytest.mark.parametrize(
    ("kind", "role"),
    [("user_message_chunk", "user"), ("agent_message_chunk", "agent"), ("agent_thought_chunk", "thought")],
)
def test_a_chunk_bears_its_role_and_message_id(kind: str, role: Any) -> None:
    text = {"type": "text", "text": "hi"}
    assert read(kind, content=text) == MessageChunk(role, Text("hi"))
    assert read(kind, content=text, messageId="m") == MessageChunk(role, Text("hi"), "m")


@pytest.mark.parametrize("extra", [{"_meta": None}, {"timestamp": 1}, {"messageId": None}, {"messageId": 5}])
def test_a_chunk_with_more_or_worse_fields_reads_as_the_plain_one(extra: dict[str, Any]) -> None:
    """R-MSG-1, R-LEN-1, R-RPC-9"""
    text = {"type": "text", "text": "hi"}
    assert read("agent_message_chunk", content=text, **extra) == MessageChunk("agent", Text("hi"))


def test_a_chunk_keeps_its_meta_and_its_annotations() -> None:
    block = {"type": "text", "text": "hi", "annotations": {"audience": ["assistant"], "priority": 1}}
    update = read("agent_message_chunk", content=block, messageId="m", _meta={"k": 1})
    assert update == MessageChunk("agent", Text("hi", Annotations(("assistant",), None, 1.0)), "m", {"k": 1})


def test_half_a_surrogate_pair_passes_as_it_is_since_its_other_half_may_follow() -> None:
    assert read_block({"type": "text", "text": "\ud83d", "_meta": {}}) == Text("\ud83d", meta={})


def test_every_kind_of_block_is_read() -> None:
    """R-CONT-1 to R-CONT-4"""
    assert read_block({"type": "image", "data": "aa", "mimeType": "image/png"}) == Image("aa", "image/png")
    assert read_block({"type": "audio", "data": "aa", "mimeType": "audio/wav"}) == Audio("aa", "audio/wav")
    link = {"type": "resource_link", "uri": "file:///a", "name": "a", "size": 3, "mimeType": 5}
    assert read_block(link) == ResourceLink("file:///a", "a", size=3)
    text = {"type": "resource", "resource": {"uri": "u", "text": "t", "mimeType": "m"}}
    assert read_block(text) == TextResource("u", "t", "m")
    blob = {"type": "resource", "resource": {"uri": "u", "blob": "b", "_meta": {"k": 1}}}
    assert read_block(blob) == BlobResource("u", "b", resource_meta={"k": 1})


def test_a_block_of_an_unknown_type_is_kept_whole() -> None:
    """R-LEN-4"""
    raw = {"type": "hologram", "depth": 3}
    assert read_block(raw) == UnknownBlock("hologram", raw)


# Tool calls


def test_a_tool_call_leaves_unset_what_it_does_not_say() -> None:
    """R-TOOL-1, R-TOOL-2: null is the same as absent"""
    nulls = dict.fromkeys(("kind", "status", "content", "locations", "rawInput", "rawOutput", "name", "_meta"))
    bare = ToolCallPatch("c", title="Read")  # type: ignore[arg-type]
    assert read_patch("tool_call", title="Read") == bare
    assert read_patch("tool_call", title="Read", **nulls) == bare
    assert read_patch(title="Read", **nulls) == bare


def test_a_tool_call_update_may_say_nothing_at_all() -> None:
    assert read_patch().title is UNSET


def test_a_tool_call_is_read_with_all_it_says() -> None:
    patch = read_patch(
        "tool_call",
        title="Edit",
        name="edit_file",
        kind="edit",
        status="in_progress",
        locations=[{"path": "/a", "line": 3}],
        rawInput={"path": "/a"},
        rawOutput=[],
        _meta={"k": 1},
    )
    assert patch == ToolCallPatch(
        "c",  # type: ignore[arg-type]
        title="Edit",
        kind="edit",
        status="in_progress",
        locations=(Location("/a", 3),),
        raw_input={"path": "/a"},
        raw_output=[],
        name="edit_file",
        meta={"k": 1},
    )


def test_an_empty_list_is_a_value_of_its_own() -> None:
    """R-TOOL-2"""
    patch = read_patch(content=[], locations=[])
    assert (patch.content, patch.locations) == ((), ())


def test_every_kind_of_tool_content_is_read() -> None:
    """R-TOOL-7, R-TOOL-8"""
    unknown = {"type": "chart", "points": []}
    content = [
        {"type": "content", "content": {"type": "text", "text": "t"}, "_meta": {"k": 1}},
        {"type": "diff", "path": "/a", "newText": "new"},
        {"type": "diff", "path": "/a", "newText": "new", "oldText": "old"},
        {"type": "terminal", "terminalId": "t1"},
        unknown,
    ]
    assert read_patch(content=content).content == (
        BlockContent(Text("t"), {"k": 1}),
        TextDiff("/a", "new"),
        TextDiff("/a", "new", "old"),
        TerminalContent("t1"),  # type: ignore[arg-type]
        UnknownContent("chart", unknown),
    )


def test_a_bare_block_counts_as_tool_content() -> None:
    """R-DOC-2"""
    assert read_patch(content=[{"type": "text", "text": "t"}]).content == (BlockContent(Text("t")),)


def test_a_malformed_item_is_dropped_and_the_others_stay(caplog: pytest.LogCaptureFixture) -> None:
    """R-LEN-2"""
    caplog.set_level(logging.DEBUG, "acp_tui.protocol.wire")
    content = [5, {"type": "diff", "path": "/secret"}, {"type": "terminal", "terminalId": "t"}, {}]
    assert read_patch(content=content).content == (TerminalContent("t"),)  # type: ignore[arg-type]
    assert len(caplog.records) == 3
    assert "/secret" not in caplog.text


def test_a_malformed_field_counts_as_absent() -> None:
    """R-LEN-1"""
    fields = {
        "title": 1,
        "kind": {},
        "status": 5,
        "content": "no list",
        "locations": 3,
        "name": [],
        "_meta": 1,
    }
    assert read_patch(**fields) == read_patch()
    assert read_patch(locations=[{"path": "/a", "line": -1}]).locations == (Location("/a"),)


def test_an_unknown_kind_and_status_are_kept_as_they_came() -> None:
    """R-TOOL-5, R-TOOL-6, R-LEN-4"""
    patch = read_patch(kind="dream", status="paused")
    assert (patch.kind, patch.status) == ("dream", "paused")


def test_an_agents_own_terminal_is_reported_after_its_tool_call() -> None:
    meta = {
        "terminal_exit": {"terminal_id": "t", "exit_code": 3, "signal": None},
        "terminal_output": {"terminal_id": "t", "data": "é\n"},
        "terminal_info": {"terminal_id": "t", "cwd": "/w"},
    }
    call, *terminal = read_all("tool_call_update", toolCallId="c", _meta=meta)
    assert isinstance(call, ToolCallReported)
    assert terminal == [
        TerminalOpened("t", cwd="/w", is_ours=False),  # type: ignore[arg-type]
        TerminalOutput("t", "é\n".encode()),  # type: ignore[arg-type]
        TerminalExited("t", 3, None),  # type: ignore[arg-type]
    ]


def test_a_piece_of_an_agents_terminal_output_is_read() -> None:
    meta = {"terminal_output_delta": {"terminal_id": "t", "data": "x"}}
    assert read_all("tool_call_update", toolCallId="c", _meta=meta)[1:] == (TerminalOutput("t", b"x"),)  # type: ignore[arg-type]


@pytest.mark.parametrize("part", [None, 5, [], {}, {"terminal_id": 5, "data": "x"}, {"terminal_id": "t"}])
def test_a_malformed_report_of_an_agents_terminal_says_nothing(part: Any) -> None:
    assert len(read_all("tool_call_update", toolCallId="c", _meta={"terminal_output": part})) == 1


# Facts


def test_a_plan_keeps_unknown_priorities_and_drops_malformed_steps() -> None:
    """R-PLAN-1, R-LEN-2, R-LEN-4"""
    entries = [{"content": "a", "priority": "urgent", "status": "pending"}, {"content": "b"}]
    assert read("plan", entries=entries) == PlanReplaced((PlanStep("a", "urgent", "pending"),))
    assert read("plan", entries=[]) == PlanReplaced(())


def test_commands_are_read_with_their_hints() -> None:
    """R-CMD-1, R-CMD-3"""
    commands = [
        {"name": "a", "description": "A", "input": {"hint": "what"}},
        {"name": "b", "description": "B", "input": None},
        {"name": "c", "description": "C", "input": "odd"},
        {"name": "d"},
    ]
    expected = (OfferedCommand("a", "A", "what"), OfferedCommand("b", "B"), OfferedCommand("c", "C"))
    assert read("available_commands_update", availableCommands=commands) == CommandsReplaced(expected)


@pytest.mark.parametrize("key", ["currentModeId", "modeId"])
def test_a_mode_changes_the_option_that_stands_for_the_modes(key: str) -> None:
    """R-MODE-3"""
    assert read("current_mode_update", **{key: "plan"}) == OptionChanged("mode", "plan", "mode")


def test_flat_grouped_and_boolean_options_are_read_and_unknown_ones_left_out() -> None:
    """R-CFG-2, R-CFG-3, R-CFG-6"""
    flat = {"id": "m", "name": "M", "type": "select", "currentValue": "x", "category": "model"}
    grouped = {"id": "g", "name": "G", "type": "select", "currentValue": "x"}
    options = [
        flat | {"options": [{"value": "x", "name": "X", "description": "the X"}]},
        grouped | {"options": [{"group": "1", "name": "One", "options": [{"value": "x", "name": "X"}, 5]}]},
        {"id": "b", "name": "B", "type": "boolean", "currentValue": True},
        {"id": "u", "name": "U", "type": "slider", "currentValue": 3},
    ]
    assert read("config_option_update", configOptions=options) == OptionsReplaced(
        (
            SelectOption("m", "M", "x", (Choice("x", "X", "the X"),), "model"),
            SelectOption("g", "G", "x", (Choice("x", "X", group="One"),)),
            BooleanOption("b", "B", True),
        )
    )


def test_session_info_tells_absent_from_null() -> None:
    """R-INFO-1"""
    assert read("session_info_update", title=None) == InfoChanged(title=None)
    assert read("session_info_update", updatedAt="now") == InfoChanged(updated_at="now")
    assert read("session_info_update", title=5, _meta={}) == InfoChanged(meta={})


def test_usage_is_read_with_a_cost_in_any_unit_or_without() -> None:
    """R-USAGE-1, R-POST-4"""
    assert read("usage_update", used=9, size=0) == UsageReported(Usage(9, 0))
    update = read("usage_update", used=9, size=0, cost={"amount": 2, "currency": "credits"})
    assert update == UsageReported(Usage(9, 0, 2.0, "credits"))
    assert read("usage_update", used=9, size=0, cost={"amount": "2"}) == UsageReported(Usage(9, 0))


def test_a_notice_of_any_severity_is_read() -> None:
    """R-POST-2"""
    assert read("notice", severity="dire", title="Quota") == NoticeShown("dire", "Quota")


def test_a_compaction_tells_absent_from_null_and_from_malformed() -> None:
    """R-POST-3"""
    said = {"compactionId": "k", "status": "completed"}
    assert read("compaction_update", **said) == CompactionChanged("k", "completed")
    assert read("compaction_update", **said, summary="?", error=5) == CompactionChanged("k", "completed")
    cleared = CompactionChanged("k", "completed", summary=(), error=None)
    assert read("compaction_update", **said, summary=None, error=None) == cleared
    summary = [{"type": "text", "text": "s"}, 5]
    assert read("compaction_update", **said, summary=summary) == CompactionChanged("k", "completed", (Text("s"),))


def test_a_piece_of_a_compactions_summary_is_read() -> None:
    """R-POST-3"""
    update = read("compaction_summary_chunk", compactionId="k", content={"type": "text", "text": "s"})
    assert update == CompactionChunk("k", Text("s"))


# What we do not know, and what is wrong


def test_an_update_of_an_unknown_kind_is_kept_whole() -> None:
    """R-LEN-4, R-UNS-1"""
    raw = {"sessionUpdate": "telepathy", "x": [1]}
    assert inbound.read_update({"sessionId": "s", "update": raw}) == (
        "s",
        (UnknownUpdate("telepathy", raw),),
    )


@pytest.mark.parametrize(
    "params",
    [
        None,
        [],
        {"update": {"sessionUpdate": "plan", "entries": []}},
        {"sessionId": 1, "update": {"sessionUpdate": "plan", "entries": []}},
        {"sessionId": "s"},
        {"sessionId": "s", "update": {}},
        {"sessionId": "s", "update": {"sessionUpdate": 5}},
        {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk"}},
        {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text"}}},
        {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": {"text": "x"}}},
        {"sessionId": "s", "update": {"sessionUpdate": "tool_call", "title": "no id"}},
        {"sessionId": "s", "update": {"sessionUpdate": "tool_call_update", "toolCallId": 5}},
        {"sessionId": "s", "update": {"sessionUpdate": "usage_update", "used": True, "size": 1}},
    ],
)
def test_a_malformed_update_is_told_as_such(params: Any) -> None:
    """R-LEN-3"""
    with pytest.raises(MalformedMessage):
        inbound.read_update(params)


def test_what_is_malformed_is_named_without_its_value() -> None:
    params = {
        "sessionId": "s",
        "update": {"sessionUpdate": "tool_call", "toolCallId": "c", "title": ["secret"]},
    }
    with pytest.raises(MalformedMessage) as caught:
        inbound.read_update(params)
    assert caught.value.what == "ToolCall"
    assert "title" in caught.value.detail
    assert "secret" not in str(caught.value)
