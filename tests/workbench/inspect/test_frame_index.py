"""What the index knows about lines without their text: requests with answers and kinds; all within limits."""

from __future__ import annotations

import json
from typing import Any

from acp_tui.client.transcript.frame_log import LineKind, LoggedLine
from acp_tui.workbench.inspect.index import BLOCK, FrameIndex, Label, MessageKind, read_entry


def line(kind: LineKind, message: Any, at_s: float = 0.0) -> LoggedLine:
    return LoggedLine(at_s, kind, message if isinstance(message, bytes) else json.dumps(message).encode())


def index_of(*lines: LoggedLine) -> FrameIndex:
    index = FrameIndex()
    index.add(map(read_entry, lines))
    return index


def test_an_answer_is_paired_with_its_request() -> None:
    index = index_of(
        line(LineKind.OUT, {"id": 1, "method": "session/prompt", "params": {"sessionId": "s"}}, 1.0),
        line(LineKind.IN, {"id": 1, "method": "fs/read_text_file", "params": {}}, 1.5),
        line(LineKind.IN, {"id": 1, "result": {}}, 3.0),
    )
    request, question, answer = (index.row(at) for at in range(3))

    assert (request.partner, request.took_s) == (2, 2.0)
    assert (answer.label.method, answer.partner) == ("session/prompt", 0)
    assert (question.form, question.partner, question.took_s) == (MessageKind.REQUEST, None, None)


def test_ids_of_different_types_are_two() -> None:
    index = index_of(
        line(LineKind.OUT, {"id": 1, "method": "initialize"}),
        line(LineKind.IN, {"id": "1", "result": {}}),
    )
    assert index.row(0).partner is None
    assert index.row(1).label == Label()


def test_what_is_no_message_is_said_to_be_that() -> None:
    index = index_of(
        line(LineKind.IN, b"Welcome!"),
        line(LineKind.IN, b"[1, 2]"),
        line(LineKind.IN, b"\xff\xfe"),
        line(LineKind.IN, {"neither": 1}),
        line(LineKind.STDERR, b'{"id": 1}'),
    )
    assert [index.row(at).form for at in range(5)] == [MessageKind.JUNK] * 4 + [MessageKind.TEXT]


def test_an_update_has_its_kind_and_an_error_is_marked() -> None:
    update = {"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "plan"}}}
    index = index_of(line(LineKind.IN, update), line(LineKind.IN, {"id": 5, "error": {"code": 1}}))

    assert index.row(0).label == Label("session/update", "plan")
    assert (index.row(1).is_error, index.row(1).partner) == (True, None)


def test_what_is_wrapped_for_a_proxy_has_both_methods() -> None:
    update = {"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "plan"}}}
    index = index_of(
        line(LineKind.OUT, {"method": "proxy/successor", "params": update}),
        line(LineKind.IN, {"id": 1, "method": "proxy/successor", "params": {"method": 7}}),
    )
    assert index.row(0).label == Label("proxy/successor session/update", "plan")
    assert index.row(1).label == Label("proxy/successor")


def test_what_is_gone_is_forgotten_in_blocks() -> None:
    note = read_entry(line(LineKind.IN, {"method": "_x"}))
    index = FrameIndex()
    index.add([read_entry(line(LineKind.OUT, {"id": 1, "method": "m"})), *[note] * (BLOCK + 10)])

    index.drop_before(100)
    assert index.first == 0
    index.drop_before(BLOCK + 1)
    assert (index.first, index.end) == (BLOCK + 1, BLOCK + 11)
    index.add([read_entry(line(LineKind.IN, {"id": 1, "result": {}}))])
    assert index.row(BLOCK + 11).partner is None


def test_time_never_goes_back() -> None:
    index = index_of(line(LineKind.IN, {}, 1.0), line(LineKind.NOTE, b"no event", 0.0), line(LineKind.IN, {}, 2.0))

    assert [index.row(at).at_s for at in range(3)] == [1.0, 1.0, 2.0]
