"""JSON Lines: the documented shape, with no text lost."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from acp_tui.client.export.facts import ExportFacts
from acp_tui.client.export.jsonl import to_jsonl
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import RequestKey
from acp_tui.conversation.tool_calls import BlockContent, TextDiff
from acp_tui.conversation.updates import PermissionAnswered, UnknownUpdate
from acp_tui.conversation.visible import hidden_characters
from support.command_line import lines_of
from support.folding import agent, ask, call, fold, prompt

FACTS = ExportFacts("Demo Agent", "/project", "s-1")


def objects(conversation: Conversation, facts: ExportFacts = FACTS) -> list[dict[str, Any]]:
    return lines_of(to_jsonl(conversation, facts))


def test_the_header_names_the_format_and_the_session(everything: Conversation, facts: ExportFacts) -> None:
    assert objects(everything, facts)[0] == {
        "type": "session",
        "schema": "acp-tui/conversation/1",
        "title": "Fix the parser",
        "agent": {"title": "Demo Agent", "version": "1.2"},
        "cwd": "/project",
        "session_id": "s-1",
        "exported_at": "2026-11-21T10:00:00+00:00",
    }


def test_entries_stand_in_their_order_and_what_they_refer_to_behind_them(everything: Conversation) -> None:
    types = [line["type"] for line in objects(everything)[1:]]

    assert types == (
        ["message"] * 12
        + ["tool_call", "tool_call", "own_command", "compaction", "turn_end", "message", "failure", "unknown"]
        + ["failure", "terminal", "terminal", "plan", "usage"]
    )


def test_every_kind_of_entry_has_its_documented_shape(everything: Conversation) -> None:
    lines = objects(everything)[1:]
    calls = [line for line in lines if line["type"] == "tool_call"]
    rest = {line["type"]: line for line in reversed(lines)}

    assert lines[0] == {
        "type": "message",
        "entry": 0,
        "role": "user",
        "parts": [
            {"type": "text", "text": "Why?\n\nAnd how?"},
            {"type": "text_resource", "uri": "file:///a.py", "text": "one\ntwo\n"},
        ],
        "notes": ["Shortened."],
    }
    assert calls[0] == {
        "type": "tool_call",
        "entry": 12,
        "call": {
            "tool_call_id": "c1",
            "title": "Edit a.py",
            "kind": "edit",
            "status": "unfinished",
            "content": [
                {"type": "block", "block": {"type": "text", "text": "Some *words*."}},
                {
                    "type": "diff",
                    "path": "/project/a.py",
                    "old_text": "one\ntwo\n",
                    "new_text": "one\nthree\n",
                    "hunks": [],
                },
                {"type": "terminal_ref", "terminal_id": "t"},
                {"type": "unknown_content", "kind": "dance", "raw": {"type": "dance", "steps": 3}},
            ],
            "locations": [{"path": "/project/a.py", "line": 2}],
            "is_cancellable": False,
            "meta": {},
        },
        "decisions": [
            {
                "option_name": "Allow once",
                "option_kind": "allow_once",
                "at": 1_700_000_000.0,
                "rule": "no edits",
                "is_withdrawn": False,
            }
        ],
        "waiting": 0,
    }  # fmt: skip
    assert calls[1]["call"]["raw_input"] == {"url": "https://example.org"}
    assert calls[1]["decisions"] == [{"is_withdrawn": False}]
    assert rest["own_command"] == {"type": "own_command", "entry": 14, "line": "ls", "terminal_id": "own"}
    assert rest["compaction"] == {
        "type": "compaction",
        "entry": 15,
        "compaction_id": "k",
        "status": "failed",
        "summary": [{"type": "text", "text": "In short."}],
        "error": "no room",
    }
    assert rest["turn_end"] == {"type": "turn_end", "entry": 16, "stop_reason": "max_tokens"}
    assert rest["failure"] == {
        "type": "failure",
        "entry": 18,
        "message": "Overloaded",
        "detail": "try later",
        "stderr_tail": "",
    }
    assert rest["unknown"] == {
        "type": "unknown",
        "entry": 19,
        "kind": "mood",
        "raw": {"sessionUpdate": "mood", "smile": True},
    }
    assert rest["terminal"] == {
        "type": "terminal",
        "terminal_id": "t",
        "command": "make test",
        "cwd": "/project",
        "is_ours": True,
        "columns": 120,
        "rows": 30,
        "output": "\x1b[31m1 failed\x1b[0m\r\n",
        "output_dropped": 0,
        "has_exited": True,
        "exit_code": 2,
        "seconds": 1.5,
    }
    assert rest["plan"] == {
        "type": "plan",
        "plan_id": "plan",
        "steps": [
            {"content": "Read", "priority": "high", "status": "completed"},
            {"content": "Write", "priority": "medium", "status": "in_progress"},
        ],
    }
    assert rest["usage"] == {
        "type": "usage",
        "used": 1200,
        "size": 8000,
        "cost_amount": 0.5,
        "cost_currency": "USD",
    }


def test_blocks_of_every_kind_are_kept_also_those_for_the_model(everything: Conversation) -> None:
    messages = [line for line in objects(everything) if line.get("role") == "agent"]

    assert [line["parts"][0]["type"] for line in messages] == [
        *("text", "image", "image", "audio", "resource_link", "resource_link", "text_resource"),
        *("blob_resource", "unknown_block", "text"),
    ]
    assert messages[-1]["parts"][0] == {
        "type": "text",
        "text": "for the model only",
        "annotations": {"audience": ["assistant"]},
    }


@given(st.text(min_size=1))
def test_text_is_read_back_as_it_was_said(text: str) -> None:
    lines = list(to_jsonl(fold(agent(text)), FACTS))

    assert json.loads(lines[1])["parts"] == [{"type": "text", "text": text}]
    assert all("\n" not in line and hidden_characters().isdisjoint(line) for line in lines)


def test_halves_of_a_pair_are_joined_or_replaced_so_any_program_reads_the_line() -> None:
    lines = list(to_jsonl(fold(agent("\ud83d"), agent("\ude00 \ud83d")), FACTS))

    assert json.loads(lines[1])["parts"][0]["text"] == "\U0001f600 \ufffd"
    assert lines[1].encode()


def test_null_is_kept_in_what_is_raw_and_numbers_that_json_has_not_become_text() -> None:
    raw = {"none": None, "odd": [float("nan"), float("-inf")]}
    _, unknown, reported = objects(fold(UnknownUpdate("x", raw), call("c", raw_input={"a": None})))

    assert unknown["raw"] == {"none": None, "odd": ["nan", "-inf"]}
    assert reported["call"]["raw_input"] == {"a": None}
    assert "raw_output" not in reported["call"]


def test_the_content_of_a_tool_call_is_what_the_agent_last_reported() -> None:
    asked = ask(1, "c", content=(TextDiff("/a.py", "x = 2\n", "x = 1\n"),))
    ended = call("c", status="completed", content=(BlockContent(Text("Written.")),))
    [_, entry] = objects(fold(asked, PermissionAnswered(RequestKey(1), "opt-1"), ended))
    assert entry["call"]["content"] == [{"type": "block", "block": {"type": "text", "text": "Written."}}]
    assert "decided_on" not in entry


def test_the_conversations_own_title_stands_where_none_is_given() -> None:
    conversation = fold(prompt("hi"))
    conversation.title = "Its own"

    assert objects(conversation)[0]["title"] == "Its own"
