"""The connected pair of memory streams: one end receives what the other sends, in pieces as large as it asks for."""

import anyio
import pytest

from acp_tui.rpc import Peer
from acp_tui.rpc.memory_stream import connected_pair
from support.waiting import LIMIT_S


async def test_bytes_travel_both_ways_and_are_cut_to_what_was_asked_for() -> None:
    here, there = connected_pair()
    async with here, there:
        await here.send(b"hello")
        await there.send(b"you")
        assert [await there.receive(2), await there.receive(2), await there.receive()] == [b"he", b"ll", b"o"]
        assert await here.receive() == b"you"


async def test_the_end_of_one_direction_leaves_the_other_open() -> None:
    here, there = connected_pair()
    async with here, there:
        await here.send_eof()
        with pytest.raises(anyio.EndOfStream):
            await there.receive()
        await there.send(b"still here")
        assert await here.receive() == b"still here"


async def test_a_closed_end_is_seen_by_reader_and_writer() -> None:
    here, there = connected_pair()
    async with here, there:
        await here.aclose()
        with pytest.raises(anyio.EndOfStream):
            await there.receive()
        with pytest.raises(anyio.BrokenResourceError):
            await there.send(b"x")


async def test_two_peers_talk_to_each_other() -> None:
    class Doubling:
        def on_notification(self, method: str, params: object) -> None: ...

        async def on_request(self, method: str, params: int) -> int:
            return params * 2

        def on_malformed(self, line: bytes, reason: str) -> None: ...

    here, there = connected_pair()
    async with here, there:
        asking, answering = Peer(here, Doubling()), Peer(there, Doubling())
        with anyio.fail_after(LIMIT_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(asking.serve)
                tasks.start_soon(answering.serve)
                assert await asking.request("double", 21) == 42
                assert await answering.request("double", 4) == 8
                tasks.cancel_scope.cancel()
