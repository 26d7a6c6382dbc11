"""Peer: its writer, its end, and its tap. No caller waits for an answer that can no longer come."""

import json
from typing import Any

import anyio
import pytest
from anyio.abc import ByteStream

from acp_tui.rpc import ConnectionLost, Direction, FrameTooLarge, Peer
from support.agents import RecordingHandler, connected, notification, request, serving, settle
from support.waiting import LIMIT_S


async def echo(params: Any) -> Any:
    return params


async def outcome_of_request(peer: Peer, outcomes: list[Any]) -> None:
    try:
        outcomes.append(await peer.request("m", {}))
    except ConnectionLost as error:
        outcomes.append(error)


# The end


async def test_the_end_of_the_stream_fails_every_pending_request() -> None:
    """R-TRANS-7."""
    outcomes: list[Any] = []
    with connected() as (counterpart, stream), anyio.fail_after(LIMIT_S):
        peer = Peer(stream, RecordingHandler())
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(outcome_of_request, peer, outcomes)
            tasks.start_soon(peer.serve)
            assert len(await counterpart.receive_all()) == 3
            await counterpart.close_output()
    assert [str(error) for error in outcomes] == ["the agent closed the connection"] * 3


async def test_after_the_end_nothing_can_be_sent() -> None:
    with connected() as (counterpart, stream), anyio.fail_after(LIMIT_S):
        peer = Peer(stream, RecordingHandler())
        await counterpart.close_output()
        await peer.serve()
        with pytest.raises(ConnectionLost):
            await peer.request("m", {})
        with pytest.raises(ConnectionLost):
            peer.notify("n", {})
        await peer.flush()


async def test_a_cancelled_serve_fails_every_pending_request() -> None:
    outcomes: list[Any] = []
    async with anyio.create_task_group() as tasks, serving() as (peer, counterpart):
        tasks.start_soon(outcome_of_request, peer, outcomes)
        await counterpart.expect("m")
    assert [str(error) for error in outcomes] == ["the connection was closed"]


async def test_a_partial_last_line_is_ignored() -> None:
    """R-TRANS-7."""
    handler, taps = RecordingHandler(), list[bytes]()
    with connected() as (counterpart, stream), anyio.fail_after(LIMIT_S):
        await counterpart.send_bytes(b'{"method":"whole"}\n{"method":"partial"}')
        await counterpart.close_output()
        await Peer(stream, handler, tap=lambda _, frame: taps.append(frame)).serve()
    assert handler.notifications == [("whole", {})]
    assert (handler.junk, taps) == ([], [b'{"method":"whole"}'])


async def test_work_that_is_open_at_the_end_is_stopped_and_not_answered() -> None:
    """R-TRANS-7; even if the request is the last thing sent."""
    stopped: list[str] = []

    async def wait(params: Any) -> Any:
        try:
            await anyio.sleep_forever()
        finally:
            stopped.append(params)

    with connected() as (counterpart, stream), anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(Peer(stream, RecordingHandler(wait=wait)).serve)
            await counterpart.send(request(1, "wait", "early"))
            await settle()
            await counterpart.send(request(2, "wait", "late"))
            await counterpart.close_output()
        assert await counterpart.receive_all() == []
    assert sorted(stopped) == ["early", "late"]


@pytest.mark.parametrize("end", [b"", b"\n"])
async def test_a_line_over_the_ceiling_ends_the_connection_and_says_so(
    monkeypatch: pytest.MonkeyPatch, end: bytes
) -> None:
    """R-TRANS-4: pending requests fail with the same reason."""
    monkeypatch.setattr("acp_tui.rpc.messages.DEFAULT_MAX_FRAME_BYTES", 1000)
    outcomes: list[Any] = []
    with connected() as (counterpart, stream), anyio.fail_after(LIMIT_S):
        peer = Peer(stream, RecordingHandler())
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(outcome_of_request, peer, outcomes)
            await counterpart.send_bytes(b"x" * 600)
            await counterpart.send_bytes(b"x" * 600 + end)
            with pytest.raises(FrameTooLarge, match="1,000 bytes"):
                await peer.serve()
    assert [type(error) for error in outcomes] == [FrameTooLarge]


# The writer


async def test_a_peer_that_closes_its_input_fails_the_requests_and_is_still_heard() -> None:
    handler = RecordingHandler(echo=echo)
    outcomes: list[Any] = []
    async with serving(handler) as (peer, counterpart):
        await counterpart.close_input()
        await outcome_of_request(peer, outcomes)
        assert [str(error) for error in outcomes] == ["the agent closed its input"]
        with pytest.raises(ConnectionLost):
            peer.notify("n", {})
        await peer.flush()
        await counterpart.send(request(1, "echo"), notification("last words"))
        await settle()
    assert handler.notifications == [("last words", {})]


async def test_the_first_reason_for_the_loss_is_the_one_that_is_told() -> None:
    async with serving() as (peer, counterpart):
        await counterpart.close_input()
        peer.notify("n", {})
        await settle()
        await counterpart.close_output()
        await settle()
        with pytest.raises(ConnectionLost, match="closed its input"):
            await peer.request("m", {})


async def test_messages_leave_in_the_order_in_which_they_were_sent() -> None:
    async with serving(RecordingHandler(echo=echo)) as (peer, counterpart):
        for n in range(200):
            peer.notify("n", n)
        assert [message["params"] for message in await counterpart.receive_all()] == list(range(200))


async def test_what_is_sent_before_serving_leaves_first() -> None:
    with connected() as (counterpart, stream), anyio.fail_after(LIMIT_S):
        peer = Peer(stream, RecordingHandler())
        peer.notify("early", {})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(peer.serve)
            peer.notify("later", {})
            assert [message["method"] for message in await counterpart.receive_all()] == ["early", "later"]
            tasks.cancel_scope.cancel()


async def test_flush_waits_until_the_stream_has_taken_everything() -> None:
    flushed: list[str] = []

    async def flush(peer: Peer) -> None:
        await peer.flush()
        flushed.append("flushed")

    async with serving(buffered_writes=0) as (peer, counterpart), anyio.create_task_group() as tasks:
        peer.notify("first", {})
        tasks.start_soon(flush, peer)
        await settle()
        assert flushed == []
        await counterpart.expect("first")
        await settle()
        assert flushed == ["flushed"]
        await peer.flush()


async def test_a_counterpart_that_does_not_read_delays_nothing_that_it_says() -> None:
    handler = RecordingHandler()
    async with serving(handler, buffered_writes=0) as (peer, counterpart):
        peer.notify("unread", {})
        await counterpart.send(notification("n"))
        await settle()
    assert handler.notifications == [("n", {})]


class EndsAsItTakes(ByteStream):
    """The counterpart reads what was sent at the very moment it ends."""

    def __init__(self) -> None:
        self._taken = anyio.Event()

    async def send(self, item: bytes) -> None:
        await self._taken.wait()

    async def receive(self, max_bytes: int = 65536) -> bytes:
        await settle()  # the message is on its way
        self._taken.set()
        raise anyio.EndOfStream

    async def send_eof(self) -> None: ...

    async def aclose(self) -> None: ...


async def test_a_counterpart_that_ends_as_it_takes_the_last_message_is_an_ordinary_end() -> None:
    peer = Peer(EndsAsItTakes(), RecordingHandler())
    peer.notify("last", {})
    with anyio.fail_after(LIMIT_S):
        await peer.serve()


# The tap


async def test_the_tap_sees_every_frame_raw_and_no_answer_before_its_question() -> None:
    taps: list[tuple[Direction, bytes]] = []
    handler = RecordingHandler(echo=echo)
    lines = [b" banner \xff", b'{"method" : "n"}\r', b"", b'{"id":"q","method":"echo","params":1}', b"[]"]
    async with serving(handler, tap=lambda *frame: taps.append(frame)) as (peer, counterpart):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(peer.request, "ours", {})
            ours = await counterpart.receive_line()
            await counterpart.send_bytes(b'{"id":%d,"result":2}\n' % json.loads(ours)["id"])
        await counterpart.send_bytes(b"".join(line + b"\n" for line in lines))
        answers = [await counterpart.receive_line(), await counterpart.receive_line()]
    incoming = [frame for direction, frame in taps if direction is Direction.IN]
    outgoing = [frame for direction, frame in taps if direction is Direction.OUT]
    assert incoming == [b'{"id":%d,"result":2}' % json.loads(ours)["id"], *lines]
    assert outgoing == [ours, *answers]
    assert taps[0] == (Direction.OUT, ours)
    for question, answer in ((lines[3], b'"id":"q"'), (lines[4], b'"id":null')):
        answered = next(frame for frame in outgoing if answer in frame)
        assert taps.index((Direction.IN, question)) < taps.index((Direction.OUT, answered))
