"""Peer and the other side's messages: it answers every request once, and never a notification or junk."""

from collections.abc import Awaitable
from typing import Any

import anyio
import pytest

from acp_tui.rpc import ErrorCode, RequestFailed, RequestId
from support.agents import Counterpart, RecordingHandler, notification, request, response, serving, settle


async def echo(params: Any) -> Any:
    return params


async def for_ever(params: Any) -> Any:
    await anyio.sleep_forever()


async def answered_codes(counterpart: Counterpart) -> list[tuple[RequestId, int | None]]:
    """Each answer's ID, with its error code."""
    return [(message["id"], message.get("error", {}).get("code")) for message in await counterpart.receive_all()]


# Answers


@pytest.mark.parametrize("request_id", [1, "1", 0, "", None, 1.5, 10**30, "\ud83d"])
async def test_an_id_comes_back_with_its_value_and_its_type(request_id: RequestId) -> None:
    """R-RPC-2."""
    async with serving(RecordingHandler(echo=echo)) as (_, counterpart):
        await counterpart.send(request(request_id, "echo"), request(request_id, "unknown"))
        for answer in [await counterpart.receive(), await counterpart.receive()]:
            assert answer["id"] == request_id
            assert type(answer["id"]) is type(request_id)


async def test_an_unknown_request_is_answered_as_the_handler_says() -> None:
    """R-RPC-5."""
    async with serving() as (_, counterpart):
        await counterpart.send(request(1, "_ext/unknown"))
        assert await counterpart.receive() == {
            "jsonrpc": "2.0",
            "id": 1,
            "error": {
                "code": ErrorCode.METHOD_NOT_FOUND,
                "message": "no _ext/unknown here",
                "data": {"method": "_ext/unknown"},
            },
        }


async def test_a_request_refused_late_is_answered_with_that_error() -> None:
    async def refuse(params: Any) -> Any:
        await anyio.lowlevel.checkpoint()
        raise RequestFailed(ErrorCode.INVALID_PARAMS, "not like that")

    async with serving(RecordingHandler(refuse=refuse)) as (_, counterpart):
        await counterpart.send(request(1, "refuse"))
        error = (await counterpart.receive())["error"]
    assert error == {"code": -32602, "message": "not like that"}


def crash_at_once(params: Any) -> Awaitable[Any]:
    raise ValueError("a bug")


async def crash_later(params: Any) -> Any:
    await anyio.lowlevel.checkpoint()
    raise ValueError("a bug")


@pytest.mark.parametrize("crash", [crash_at_once, crash_later])
async def test_a_crashing_handler_is_answered_as_internal_error_without_a_traceback(crash: Any) -> None:
    """R-RPC-6; the connection survives."""
    async with serving(RecordingHandler(crash=crash, echo=echo)) as (_, counterpart):
        await counterpart.send(request(1, "crash"))
        error = (await counterpart.receive())["error"]
        assert (error["code"], error["data"]) == (ErrorCode.INTERNAL_ERROR, {"details": "a bug"})
        assert not any(word in str(error) for word in ("Traceback", "File", ".py"))
        await counterpart.send(request(2, "echo", "alive"))
        assert await counterpart.receive() == response(2, "alive")


async def test_a_result_that_cannot_be_written_is_answered_as_internal_error() -> None:
    async def unwritable(params: Any) -> Any:
        return object()

    async with serving(RecordingHandler(unwritable=unwritable)) as (_, counterpart):
        await counterpart.send(request(1, "unwritable"))
        assert await answered_codes(counterpart) == [(1, ErrorCode.INTERNAL_ERROR)]


async def test_two_requests_under_one_id_are_both_answered() -> None:
    async with serving(RecordingHandler(echo=echo)) as (_, counterpart):
        await counterpart.send(request(1, "echo", "a"), request(1, "echo", "b"))
        assert await counterpart.receive_all() == [response(1, "a"), response(1, "b")]


# What is never answered


class Raising(RecordingHandler):
    """Fails on every notification."""

    def on_notification(self, method: str, params: Any) -> None:
        super().on_notification(method, params)
        raise ValueError("a bug")


async def test_notifications_are_never_answered_unknown_malformed_or_failing() -> None:
    """R-RPC-4, R-UPD-1."""
    handler = Raising()
    odd = [notification("unknown"), notification("n", [1]), notification("n", 5), {"method": "n", "extra": 1}]
    async with serving(handler) as (_, counterpart):
        await counterpart.send(*odd, notification("$/cancel_request", "x"), notification("last"))
        assert await counterpart.receive_all() == []
    assert [method for method, _ in handler.notifications] == ["unknown", "n", "n", "n", "last"]


async def test_junk_is_reported_and_skipped_and_what_comes_behind_it_is_served() -> None:
    """R-TRANS-5, R-TRANS-6."""
    handler = RecordingHandler(echo=echo)
    junk = [b"Welcome!", b"\xff\xfe", b"5", b"null", b'"x"', b"[" * 100_000, b'{"a":']
    async with serving(handler) as (_, counterpart):
        for line in (*junk, b"", b"\r", b"   "):
            await counterpart.send_bytes(line + b"\n")
        await counterpart.send(request(1, "echo"))
        assert await answered_codes(counterpart) == [(1, None)]
    assert [line for line, _ in handler.junk] == junk


async def test_a_batch_is_answered_once_and_none_of_it_is_served() -> None:
    """R-TRANS-6."""
    handler = RecordingHandler(echo=echo)
    async with serving(handler) as (_, counterpart):
        await counterpart.send([request(1, "echo"), request(2, "echo"), notification("n")])
        assert await answered_codes(counterpart) == [(None, ErrorCode.INVALID_REQUEST)]
    assert handler.notifications == []
    assert len(handler.junk) == 1


# Side by side


async def test_an_open_request_holds_up_nothing() -> None:
    """R-RPC-7: it blocks neither notifications, nor other requests, nor our own."""
    gate = anyio.Event()

    async def wait(params: Any) -> Any:
        await gate.wait()
        return "done"

    async def open_gate(params: Any) -> Any:
        gate.set()

    handler = RecordingHandler(wait=wait, open_gate=open_gate)
    async with serving(handler) as (peer, counterpart), anyio.create_task_group() as tasks:
        await counterpart.send(request("w", "wait"), notification("n"))
        assert await counterpart.receive_all() == []
        assert handler.notifications == [("n", {})]
        tasks.start_soon(peer.request, "ours", {})
        await counterpart.answer(await counterpart.expect("ours"), {})
        await counterpart.send(request("o", "open_gate"))
        assert {message["id"] for message in await counterpart.receive_all()} == {"w", "o"}


async def test_a_request_is_taken_up_in_wire_order_with_notifications() -> None:
    order: list[str] = []

    class Ordered(RecordingHandler):
        def on_notification(self, method: str, params: Any) -> None:
            order.append(method)

        def on_request(self, method: str, params: Any) -> Awaitable[Any]:
            order.append(method)
            return echo(params)

    async with serving(Ordered()) as (_, counterpart):
        await counterpart.send(notification("a"), request(1, "b"), notification("c"), request(2, "d"))
        await counterpart.receive_all()
    assert order == ["a", "b", "c", "d"]


# Cancellation by the other side


async def test_a_cancelled_request_is_answered_once_as_cancelled() -> None:
    """R-CREQ-2, R-CREQ-4."""
    async with serving(RecordingHandler(for_ever=for_ever)) as (_, counterpart):
        await counterpart.send(request("r", "for_ever"))
        assert await counterpart.receive_all() == []
        cancel = notification("$/cancel_request", {"requestId": "r"})
        await counterpart.send(cancel, cancel)
        assert await answered_codes(counterpart) == [("r", ErrorCode.REQUEST_CANCELLED)]


async def test_a_cancellation_right_behind_its_request_finds_it() -> None:
    async with serving(RecordingHandler(for_ever=for_ever)) as (_, counterpart):
        cancel = notification("$/cancel_request", {"requestId": 1})
        await counterpart.send(request(1, "for_ever"), cancel)
        assert await answered_codes(counterpart) == [(1, ErrorCode.REQUEST_CANCELLED)]


async def test_work_that_turns_its_cancellation_into_a_result_answers_with_it() -> None:
    """R-CREQ-2: the outcome "cancelled" also answers a permission request."""

    async def ask(params: Any) -> Any:
        with anyio.CancelScope() as scope:
            try:
                await anyio.sleep_forever()
            except anyio.get_cancelled_exc_class():
                scope.cancel()
                return {"outcome": "cancelled"}

    async with serving(RecordingHandler(ask=ask)) as (_, counterpart):
        await counterpart.send(request(1, "ask"))
        await settle()
        await counterpart.send(notification("$/cancel_request", {"requestId": 1}))
        assert await counterpart.receive_all() == [response(1, {"outcome": "cancelled"})]


@pytest.mark.parametrize(
    "params", [*({"requestId": other} for other in ("1", 1.0, True, 2, None, [1])), {}, [1], None], ids=str
)
async def test_a_cancellation_that_names_no_open_request_does_nothing(params: Any) -> None:
    """R-CREQ-1."""
    async with serving(RecordingHandler(for_ever=for_ever, echo=echo)) as (_, counterpart):
        await counterpart.send(request(1, "for_ever"), notification("$/cancel_request", params))
        await counterpart.send(request(9, "echo"))
        assert await answered_codes(counterpart) == [(9, None)]


async def test_a_cancellation_after_the_answer_does_nothing() -> None:
    async with serving(RecordingHandler(echo=echo)) as (_, counterpart):
        await counterpart.send(request(1, "echo", "a"))
        assert await counterpart.receive() == response(1, "a")
        await counterpart.send(notification("$/cancel_request", {"requestId": 1}), request(1, "echo", "b"))
        assert await counterpart.receive_all() == [response(1, "b")]
