"""Peer, flooded by a side that reads nothing: the backlog is limited, and the end states the reason."""

from typing import Any

import anyio
import pytest

from acp_tui.rpc import AnswersUnread, ErrorCode, Peer, messages
from acp_tui.rpc.messages import MAX_ID_CHARACTERS, Malformed, read_message
from acp_tui.rpc.peer import MAX_UNDER_WAY
from support.agents import (
    RecordingHandler,
    connected,
    notification,
    request,
    response,
    serving,
    settle,
)
from support.waiting import LIMIT_S

LIMIT_BYTES = 10_000
ANSWER_BYTES = 5_000


class Answering:
    """Gives long answers, and counts those it has made."""

    def __init__(self) -> None:
        self.made = 0

    async def __call__(self, params: Any) -> Any:
        self.made += 1
        return "x" * ANSWER_BYTES


async def test_what_waits_to_be_read_is_bounded_and_goes_on_when_it_is_read() -> None:
    async with serving(buffered_writes=0, max_waiting_bytes=LIMIT_BYTES) as (peer, counterpart):
        for number in range(1_000):
            await counterpart.send(request(number, "unknown"))
        await counterpart.send(notification("last"))
        await settle()
        assert LIMIT_BYTES < peer.waiting_bytes < LIMIT_BYTES + 200
        assert [(await counterpart.receive())["id"] for _ in range(1_000)] == [*range(1_000)]


async def test_long_answers_are_made_only_as_they_are_read() -> None:
    answering = Answering()
    handler = RecordingHandler(long=answering)
    async with serving(handler, buffered_writes=0, max_waiting_bytes=LIMIT_BYTES) as (peer, counterpart):
        await counterpart.send(*(request(number, "long") for number in range(100)))
        await settle()
        assert answering.made <= LIMIT_BYTES // ANSWER_BYTES + 1
        assert peer.waiting_bytes <= LIMIT_BYTES + 2 * ANSWER_BYTES
        for _ in range(100):
            await counterpart.receive()
    assert answering.made == 100


async def test_a_long_text_counts_as_waiting_while_its_answer_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Piece by piece, so that other tasks run in between."""
    monkeypatch.setattr(messages, "PIECE_CHARACTERS", 500)
    text = "\u00e9\n" * 50_000

    async def long(params: Any) -> Any:
        return {"content": text}

    answering = Answering()
    handler = RecordingHandler(long=long, other=answering)
    async with serving(handler, buffered_writes=0, max_waiting_bytes=LIMIT_BYTES) as (peer, counterpart):
        await counterpart.send(request(1, "long"))
        await settle()
        assert peer.waiting_bytes >= len(text)
        await counterpart.send(request(2, "other"))
        await settle()
        assert answering.made == 0
        assert (await counterpart.receive())["result"] == {"content": text}
        assert (await counterpart.receive())["id"] == 2


async def test_blank_lines_that_come_together_count_as_one() -> None:
    taps: list[bytes] = []
    handler = RecordingHandler()
    async with serving(handler, tap=lambda _, line: taps.append(line)) as (_, counterpart):
        first, last = b'{"method":"first"}', b'{"method":"last"}'
        blank = b"\n" * 50_000 + b" \r\n" * 5_000
        await counterpart.send_bytes(blank + first + b"\n" + blank + last + b"\n")
        await settle()
    assert [method for method, _ in handler.notifications] == ["first", "last"]
    assert [line for line in taps if line.strip()] == [first, last]
    assert 2 <= len([line for line in taps if not line.strip()]) <= 20


async def test_a_side_that_reads_nothing_is_given_up_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_tui.rpc.peer.MAX_WAITING_BYTES", LIMIT_BYTES)
    monkeypatch.setattr("acp_tui.rpc.peer.UNREAD_LIMIT_S", 0)
    with connected(buffered_writes=0) as (counterpart, stream), anyio.fail_after(LIMIT_S):
        peer = Peer(stream, RecordingHandler())
        await counterpart.send(*(request(number, "unknown") for number in range(1_000)))
        with pytest.raises(AnswersUnread, match="it hasn't read 10,"):
            await peer.serve()
        assert peer.waiting_bytes == 0


async def test_requests_in_flight_are_bounded_whatever_their_ids_until_answered() -> None:
    gate = anyio.Event()

    async def wait(params: Any) -> Any:
        await gate.wait()

    async with serving(RecordingHandler(wait=wait)) as (_, counterpart):
        await counterpart.send(*(request("same", "wait") for _ in range(MAX_UNDER_WAY + 10)))
        refused = [await counterpart.receive() for _ in range(10)]
        assert {answer["error"]["code"] for answer in refused} == {ErrorCode.INTERNAL_ERROR}
        assert "500 others are waiting" in refused[0]["error"]["message"]
        gate.set()
        for _ in range(MAX_UNDER_WAY):
            assert await counterpart.receive() == response("same", None)
        await counterpart.send(request("again", "wait"))
        assert await counterpart.receive() == response("again", None)


async def test_the_lines_of_requests_under_way_are_bounded_but_one_may_be_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("acp_tui.rpc.peer.MAX_UNDER_WAY_BYTES", LIMIT_BYTES)
    gate = anyio.Event()

    async def wait(params: Any) -> Any:
        await gate.wait()

    async with serving(RecordingHandler(wait=wait)) as (_, counterpart):
        await counterpart.send(request(1, "wait", "x" * 2 * LIMIT_BYTES), request(2, "wait"))
        assert (await counterpart.receive())["id"] == 2
        gate.set()
        assert await counterpart.receive() == response(1, None)


@pytest.mark.parametrize("size", [MAX_ID_CHARACTERS + 1, 1_000_000])
async def test_a_huge_id_is_no_id(size: int) -> None:
    handler = RecordingHandler()
    async with serving(handler) as (_, counterpart):
        await counterpart.send(request("x" * size, "unknown"), request("x" * MAX_ID_CHARACTERS, "unknown"))
        refused, answered = await counterpart.receive(), await counterpart.receive()
    assert (refused["id"], refused["error"]["code"]) == (None, ErrorCode.INVALID_REQUEST)
    assert len(answered["id"]) == MAX_ID_CHARACTERS


@pytest.mark.parametrize(("begin", "end"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_json_a_hundred_thousand_levels_deep_is_junk(begin: bytes, end: bytes) -> None:
    line = b'{"method":"m","params":' + begin * 100_000 + b"1" + end * 100_000 + b"}"
    assert isinstance(read_message(line), Malformed)
