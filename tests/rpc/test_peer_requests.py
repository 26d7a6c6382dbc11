"""Peer's own requests: each gets its own response, in wire order."""

from typing import Any

import anyio
import pytest

from acp_tui.rpc import ErrorCode, Peer, RequestFailed
from support.agents import RecordingHandler, notification, request, response, serving, settle


class Asked:
    """A peer's request that runs beside the test."""

    def __init__(self, peer: Peer, method: str, **options: Any) -> None:
        self._peer = peer
        self._method = method
        self._options = options
        self.scope = anyio.CancelScope()
        self.is_over = False
        self.outcome: Any = None

    async def run(self) -> None:
        with self.scope:
            try:
                self.outcome = await self._peer.request(self._method, {}, **self._options)
            except Exception as error:  # noqa: BLE001 - the test looks at it
                self.outcome = error
        self.is_over = True


async def test_a_request_returns_the_result_of_its_response() -> None:
    async with serving() as (peer, counterpart), anyio.create_task_group() as tasks:
        asked = Asked(peer, "add")
        tasks.start_soon(asked.run)
        received = await counterpart.expect("add")
        assert received == {"jsonrpc": "2.0", "id": received["id"], "method": "add", "params": {}}
        await counterpart.answer(received, {"sum": 3})
    assert asked.outcome == {"sum": 3}


async def test_an_error_response_is_raised_with_code_and_data() -> None:
    async with serving() as (peer, counterpart), anyio.create_task_group() as tasks:
        asked = Asked(peer, "login")
        tasks.start_soon(asked.run)
        await counterpart.refuse(await counterpart.expect("login"), -32000, "who are you?")
    assert isinstance(asked.outcome, RequestFailed)
    assert (asked.outcome.code, asked.outcome.message) == (-32000, "who are you?")


async def test_responses_in_any_order_find_their_own_requests() -> None:
    async with serving() as (peer, counterpart), anyio.create_task_group() as tasks:
        all_asked = [Asked(peer, f"m{n}") for n in range(10)]
        for asked in all_asked:
            tasks.start_soon(asked.run)
        received = await counterpart.receive_all()
        assert len({message["id"] for message in received}) == 10
        await counterpart.send(*(response(message["id"], message["method"]) for message in reversed(received)))
    assert [asked.outcome for asked in all_asked] == [f"m{n}" for n in range(10)]


async def test_responses_to_unknown_ids_are_ignored() -> None:
    """R-RPC-3; an ID's type counts, so "1" and 1.0 don't answer a request with ID 1."""
    handler = RecordingHandler()
    async with serving(handler) as (peer, counterpart), anyio.create_task_group() as tasks:
        asked = Asked(peer, "m")
        tasks.start_soon(asked.run)
        request_id = (await counterpart.expect("m"))["id"]
        for wrong in (request_id + 1, str(request_id), float(request_id), None, -1):
            await counterpart.send(response(wrong, "wrong"))
        await settle()
        assert not asked.is_over
        await counterpart.send(response(request_id, "right"))
    assert asked.outcome == "right"
    assert handler.junk == []


async def test_a_second_response_to_the_same_request_is_ignored() -> None:
    async with serving() as (peer, counterpart), anyio.create_task_group() as tasks:
        first, second = Asked(peer, "first"), Asked(peer, "second")
        tasks.start_soon(first.run)
        received = await counterpart.expect("first")
        await counterpart.send(response(received["id"], 1), response(received["id"], 2))
        tasks.start_soon(second.run)
        await counterpart.answer(await counterpart.expect("second"), 3)
    assert (first.outcome, second.outcome) == (1, 3)


async def test_the_ids_of_the_two_sides_do_not_mix() -> None:
    """R-RPC-2: their request may have the same ID as an open one of ours."""

    async def echo(params: Any) -> Any:
        return params

    async with (
        serving(RecordingHandler(echo=echo)) as (peer, counterpart),
        anyio.create_task_group() as tasks,
    ):
        asked = Asked(peer, "ours")
        tasks.start_soon(asked.run)
        ours = await counterpart.expect("ours")
        await counterpart.send(request(ours["id"], "echo", "theirs"))
        assert await counterpart.receive() == response(ours["id"], "theirs")
        assert not asked.is_over
        await counterpart.answer(ours, "mine")
    assert asked.outcome == "mine"


async def test_every_notification_is_applied_in_wire_order_before_the_response_behind_it() -> None:
    """R-UPD-2, R-ORD-1."""
    handler = RecordingHandler()
    async with serving(handler) as (peer, counterpart), anyio.create_task_group() as tasks:
        seen: list[int] = []
        for name in ("a", "b", "c"):
            read = Asked(peer, name, read=lambda _: seen.append(len(handler.notifications)))
            tasks.start_soon(read.run)
        received = await counterpart.receive_all()
        stream: list[object] = []
        for part, message in enumerate(received):
            stream += [notification("n", 1000 * part + n) for n in range(1000)]
            stream.append(response(message["id"], None))
        await counterpart.send(*stream)
    assert seen == [1000, 2000, 3000]
    assert handler.notifications == [("n", n) for n in range(3000)]


async def test_a_flood_of_notifications_lets_other_tasks_run_in_between() -> None:
    handler = RecordingHandler()
    looks: list[int] = []

    async def look() -> None:
        while not handler.notifications or handler.notifications[-1][1] < 2999:
            looks.append(len(handler.notifications))
            await anyio.sleep(0)

    async with serving(handler) as (_, counterpart), anyio.create_task_group() as tasks:
        tasks.start_soon(look)
        await counterpart.send(*(notification("n", n) for n in range(3000)))
    assert len(set(looks)) > 10


async def test_a_response_is_read_inside_the_read_loop_before_the_message_behind_it() -> None:
    """A session registered by a response is ready for the update that follows in the same write (R-SESS-13)."""
    order: list[str] = []

    class Ordered(RecordingHandler):
        def on_notification(self, method: str, params: Any) -> None:
            order.append(method)

    async with serving(Ordered()) as (peer, counterpart), anyio.create_task_group() as tasks:
        asked = Asked(peer, "new", read=lambda _: order.append("read"))
        tasks.start_soon(asked.run)
        received = await counterpart.expect("new")
        await counterpart.send(notification("before"), response(received["id"], {}), notification("after"))
    assert order == ["before", "read", "after"]


async def test_a_response_that_cannot_be_read_fails_its_own_call_and_no_other() -> None:
    """R-LEN-3."""
    async with serving() as (peer, counterpart), anyio.create_task_group() as tasks:
        bad, good = Asked(peer, "bad", read=lambda result: result["missing"]), Asked(peer, "good")
        tasks.start_soon(bad.run)
        tasks.start_soon(good.run)
        received = await counterpart.receive_all()
        await counterpart.send(*(response(message["id"], {}) for message in received))
    assert isinstance(bad.outcome, KeyError)
    assert good.outcome == {}


async def test_an_error_response_can_be_read_into_a_value() -> None:
    async with serving() as (peer, counterpart), anyio.create_task_group() as tasks:
        asked = Asked(peer, "m", read_error=lambda error: error.code)
        tasks.start_soon(asked.run)
        await counterpart.refuse(await counterpart.expect("m"), -32601, "unknown")
    assert asked.outcome == ErrorCode.METHOD_NOT_FOUND


async def test_a_cancelled_request_tells_the_other_side_and_its_response_is_still_read() -> None:
    """R-CREQ-3."""
    results: list[Any] = []
    async with serving() as (peer, counterpart), anyio.create_task_group() as tasks:
        asked = Asked(peer, "slow", read=results.append)
        tasks.start_soon(asked.run)
        received = await counterpart.expect("slow")
        asked.scope.cancel()
        cancelled = await counterpart.expect("$/cancel_request")
        assert cancelled["params"] == {"requestId": received["id"]}
        assert "id" not in cancelled
        assert asked.is_over
        await counterpart.answer(received, "late")
        assert await counterpart.receive_all() == []
    assert (asked.outcome, results) == (None, ["late"])


async def test_a_request_cancelled_when_its_answer_is_there_is_not_cancelled_on_the_wire() -> None:
    async with serving() as (peer, counterpart), anyio.create_task_group() as tasks:
        asked: Asked = Asked(peer, "m", read=lambda _: asked.scope.cancel())
        tasks.start_soon(asked.run)
        await counterpart.answer(await counterpart.expect("m"), {})
        assert await counterpart.receive_all() == []
    assert asked.is_over


async def test_what_cannot_be_written_as_json_fails_its_call_and_leaves_the_connection() -> None:
    async with serving() as (peer, counterpart), anyio.create_task_group() as tasks:
        with pytest.raises(TypeError):
            await peer.request("m", {"bad": object()})
        asked = Asked(peer, "next")
        tasks.start_soon(asked.run)
        await counterpart.answer(await counterpart.expect("next"), 1)
    assert asked.outcome == 1


@pytest.mark.parametrize("size", [1, 7, 70_000])
async def test_messages_cut_at_any_byte_arrive_whole(size: int) -> None:
    handler = RecordingHandler()
    text = "é日\U0001f600" * (20 if size < 100 else 20_000)
    async with serving(handler) as (_, counterpart):
        stream = b"".join(b'{"method":"n","params":"%s"}\r\n' % text.encode() for _ in range(2))
        for start in range(0, len(stream), size):
            await counterpart.send_bytes(stream[start : start + size])
        await settle()
    assert handler.notifications == [("n", text), ("n", text)]
