"""Diffs that show only a part of a file get their place in it, when the agent asks."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from anyio import Lock

from acp_tui.client.line_comparison import unified_diff
from acp_tui.client.sessions.diff_checks import MAX_AROUND, compare, find_parts
from acp_tui.client.workspace.workspace import Workspace
from acp_tui.conversation.permission_requests import shown_state
from acp_tui.conversation.tool_calls import HunkStart, TextDiff, ToolCall, ToolCallId
from support.agents import asked, in_session, in_turn, until

LINES = "".join(f"line {number}\n" for number in range(1, 21))


def placed(text: str, diff: TextDiff) -> TextDiff | None:
    [*found] = find_parts(text, {0: diff})
    return diff.placed(found[0]) if found else None


def test_a_part_has_the_lines_around_it_and_its_place() -> None:
    diff = placed(LINES, TextDiff("/a", "LINE 11", "line 11"))
    assert diff is not None
    assert diff.old_text == "".join(f"line {number}\n" for number in range(8, 15))
    assert diff.new_text == diff.old_text.replace("line 11", "LINE 11")
    assert diff.hunks == (HunkStart(0, 8, 0, 8),)
    assert unified_diff("/a", diff.old_text, diff.new_text, diff.parts).split("\n")[2] == "@@ -8,7 +8,7 @@"


def test_within_a_line_the_rest_of_the_line_belongs_to_it() -> None:
    diff = placed("one two three\n", TextDiff("/a", "2", "two"))
    assert diff is not None
    assert (diff.old_text, diff.new_text) == ("one two three\n", "one 2 three\n")


@pytest.mark.parametrize("text", ["line 1\nline 1\n", "something else\n", ""], ids=["twice", "not there", "empty"])
def test_a_part_that_is_not_there_exactly_once_has_no_place(text: str) -> None:
    assert placed(text, TextDiff("/a", "LINE 1", "line 1")) is None


@pytest.mark.parametrize("is_there", [False, True])
async def test_what_replaces_nothing_is_a_new_file_only_if_there_is_none(tmp_path: Path, *, is_there: bool) -> None:
    if is_there:
        (tmp_path / "a").touch()
    workspace = Workspace([tmp_path])
    call = ToolCall(ToolCallId("c"), content=(TextDiff(str(tmp_path / "a"), "text", ""),))
    compared = await compare(call, tmp_path, workspace, Lock())
    call.places = {part.item: part for part in compared.parts}
    (diff,) = call.shown_content
    assert isinstance(diff, TextDiff)
    assert diff.old_text == ("" if is_there else None)


def test_a_place_without_lines_is_not_shown() -> None:
    assert placed("x" * (MAX_AROUND + 1) + "line 1", TextDiff("/a", "LINE 1", "line 1")) is None


def test_other_line_ends_in_the_file_do_not_count_as_changes() -> None:
    diff = placed(LINES.replace("\n", "\r\n"), TextDiff("/a", "LINE 11\nx", "line 11\nline 12"))
    assert diff is not None
    assert "\r" not in (diff.old_text or "")


def test_a_whole_file_that_ends_in_a_line_says_so() -> None:
    diff = placed("one", TextDiff("/a", "two", "one"))
    assert diff is not None
    assert "\\ No newline at end of file" in unified_diff("/a", diff.old_text, diff.new_text, diff.parts)


def test_without_its_place_a_part_claims_none_and_no_end_of_the_file() -> None:
    diff = TextDiff("/a", "two", "one")
    assert unified_diff("/a", diff.old_text, diff.new_text, diff.parts).split("\n")[2:] == ["@@", "-one", "+two"]


def test_any_part_is_found_where_it_is() -> None:
    for seed in range(500):
        chance = random.Random(seed)
        text = "".join(chance.choice("ab\n") for _ in range(chance.randrange(1, 60)))
        start = chance.randrange(len(text))
        old = text[start : start + chance.randrange(1, 20)]
        new = "".join(chance.choice("ab\nc") for _ in range(chance.randrange(10)))
        diff = placed(text, TextDiff("/a", new, old))
        if text.count(old) != 1 or diff is None:
            continue
        [part] = find_parts(text, {0: TextDiff("/a", new, old)})
        above = "".join(text.splitlines(keepends=True)[: part.line - 1])
        changed = text.replace(old, new, 1)
        assert text.startswith(above + (diff.old_text or ""))
        assert changed.startswith(above + diff.new_text)


async def test_the_call_is_shown_at_its_place_and_allowed_as_it_was_reported(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text(LINES)
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire):
        request = asked("q", "yes")
        diff = {"type": "diff", "path": str(file), "oldText": "line 11", "newText": "LINE 11"}
        request["params"]["toolCall"]["content"] = [diff]
        await wire.send(request)
        await until(session, lambda: bool(session.conversation.permissions))
        call = session.conversation.tool_call(ToolCallId("call")).call
        [question] = session.conversation.permissions.values()
        as_asked = shown_state(question, replace(call, places={}), {})
        await until(session, lambda: bool(call.places))
        assert shown_state(question, call, {}) == as_asked, "where it is makes it no other question"
        [shown] = call.shown_content
        assert isinstance(shown, TextDiff)
        assert shown.hunks == (HunkStart(0, 8, 0, 8),)
        assert call.content == (TextDiff(str(file), "LINE 11", "line 11"),)
