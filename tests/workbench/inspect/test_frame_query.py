"""The filters users write, and which frames match them."""

from __future__ import annotations

import json

import pytest

from acp_tui.client.transcript.frame_log import LineKind, LoggedLine
from acp_tui.workbench.inspect.index import BLOCK, FrameIndex, read_entry
from acp_tui.workbench.inspect.search import Search, Term, read_query, toggled


def told(update: str, text: str = "", session: str = "s1") -> LoggedLine:
    params = {"sessionId": session, "update": {"sessionUpdate": update, "content": {"text": text}}}
    return LoggedLine(0.0, LineKind.IN, json.dumps({"method": "session/update", "params": params}).encode())


LINES = (
    LoggedLine(0.0, LineKind.OUT, b'{"id": 1, "method": "session/prompt", "params": {"sessionId": "s1"}}'),
    told("agent_message_chunk", 'It says "Grüße"'),
    told("tool_call", session="s2"),
    LoggedLine(0.0, LineKind.IN, b'{"id": 1, "error": {"code": -32603, "message": "C:/temp"}}'),
    LoggedLine(0.0, LineKind.STDERR, b"a warning"),
    LoggedLine(0.0, LineKind.IN, b"junk"),
)


def found(query: str) -> list[int]:
    index = FrameIndex()
    index.add(map(read_entry, LINES))
    index.mark_found(2)
    search = Search(read_query(query))
    return [at for at in search.candidates(0, index.flags(0, index.end)) if search.says(LINES[at])]


@pytest.mark.parametrize(
    ("query", "positions"),
    [
        ("", [0, 1, 2, 3, 4, 5]),
        ("session/prompt", [0]),
        ("session/update -chunk", [2]),
        ("is:error", [3, 5]),
        ("is:error temp", [3]),
        ("-is:error -session/", [4]),
        ("is:lint", [2]),
        ("WARNING", [4]),
        ("grüße", [1]),
        ('"it says"', [1]),
        ("c:/temp", [3]),
        ("s2 -", [2]),
    ],
)
def test_a_query_finds(query: str, positions: list[int]) -> None:
    assert found(query) == positions


def test_a_request_is_open_until_it_is_answered() -> None:
    index = FrameIndex()
    ask = LoggedLine(0.0, LineKind.IN, b'{"id": 7, "method": "session/request_permission"}')
    answer = LoggedLine(0.0, LineKind.OUT, b'{"id": 7, "result": {}}')
    index.add([read_entry(ask), read_entry(LINES[0])])
    assert index.waiting == [0, 1]
    is_open, is_not = Search(read_query("is:open")), Search(read_query("-is:open"))
    for search in (is_open, is_not):
        search.take(search.candidates(0, index.flags(0, index.end)), index.end)
    assert [*is_open.matches] == [0, 1]
    assert [*is_not.matches] == []

    answered = index.add([read_entry(answer)])
    for search in (is_open, is_not):
        search.settle(answered)

    assert index.waiting == [1]
    assert [*is_open.matches] == [1]
    assert is_not.examined == 0  # it is searched again


def test_what_is_gone_and_what_was_asked_again_waits_no_more() -> None:
    index = FrameIndex()
    ask, other = (read_entry(LoggedLine(0.0, LineKind.OUT, b'{"id": %d, "method": "x"}' % number)) for number in (1, 2))
    index.add([ask, other, *[read_entry(LoggedLine(0.0, LineKind.STDERR, b""))] * BLOCK, ask])
    assert index.waiting == [1, BLOCK + 2]
    assert index.drop_before(BLOCK)
    assert index.waiting == [BLOCK + 2]


def test_a_query_is_written_as_it_is_read() -> None:
    text = 'session/prompt -chunk "two words" is:error'

    assert " ".join(map(str, read_query(text))) == text
    assert read_query('"two words"') == (Term("two words"),)


def test_the_same_term_again_is_taken_away() -> None:
    query = read_query("is:error")

    assert toggled(query, Term("is:lint")) == (*query, Term("is:lint"))
    assert toggled(query, query[0]) == ()
