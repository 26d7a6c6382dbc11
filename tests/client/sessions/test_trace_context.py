"""W3C trace context in the `_meta` of the client's requests."""

from __future__ import annotations

from pathlib import Path

import anyio

from acp_tui.protocol.roles import ClientOffer
from support.agents import in_memory, in_session, in_turn, open_session, shake_hands

TRACE = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "baggage": "a=1", "requestId": "7"}


async def test_every_request_carries_the_trace_context(tmp_path: Path):
    """R-EXT-2."""
    async with in_memory(ClientOffer(trace_context=TRACE)) as (agent, wire):
        assert (await shake_hands(agent, wire))["params"]["_meta"] == TRACE
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.new_session, tmp_path)
            opening = await wire.expect("session/new")
            assert opening["params"]["_meta"] == TRACE
            await wire.answer(opening, {"sessionId": "s1"})
        session = await open_session(agent, wire, tmp_path, "s2")
        async with in_turn(session, wire) as prompt:
            assert prompt["params"]["_meta"] == TRACE


async def test_no_other_key_is_sent(tmp_path: Path):
    """R-EXT-3: of the keys in `_meta`, we send only those reserved for this."""
    offer = ClientOffer(trace_context={**TRACE, "tracestate": "v=1", "x-request-id": "7"})
    async with in_session(tmp_path, offer=offer) as (session, wire), in_turn(session, wire) as prompt:
        assert prompt["params"]["_meta"] == {**TRACE, "tracestate": "v=1"}


async def test_without_a_trace_context_there_is_no_meta(tmp_path: Path):
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire) as prompt:
        assert "_meta" not in prompt["params"]


async def test_notifications_carry_none(tmp_path: Path):
    async with (
        in_session(tmp_path, offer=ClientOffer(trace_context=TRACE)) as (session, wire),
        in_turn(session, wire),
    ):
        session.cancel()
        assert (await wire.receive())["params"] == {"sessionId": "s1"}
