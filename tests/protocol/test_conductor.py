"""What a conductor sends to each member of a chain, line by line; the test plays all of them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any
from unittest.mock import patch

import anyio
import pytest

from acp_tui.protocol.conductor import BrokeTheChain, Conductor
from acp_tui.rpc import AnswersUnread, Direction
from support.agents import Counterpart, connected, notification, response, settle
from support.schema import flaws, golden_files, read_or_skip
from support.waiting import TEST_LIMIT_S

INFO = {"name": "played", "version": "1"}
AGREED = {1: {"protocolVersion": 1, "agentInfo": INFO}, 2: {"protocolVersion": 2, "info": INFO}}
ASKED = {
    1: {"protocolVersion": 1, "clientCapabilities": {}},
    2: {"protocolVersion": 2, "info": INFO, "capabilities": {}},
}
UNSTABLE = 2
"""The schema that has the envelope; it's the same in version 1."""
GOLDEN_UPDATES = [path for path in golden_files() if path.stem.startswith("session_update_")]


def request(request_id: Any, method: str, /, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def wrapped(request_id: Any, method: str, params: Any) -> dict[str, Any]:
    """What a proxy sends to its successor."""
    return request(request_id, "proxy/successor", method=method, params=params)


@dataclass
class Played:
    """A chain whose members the test plays."""

    client: Counterpart
    components: list[Counterpart]
    conductor: Conductor
    junk: list[tuple[int, bytes]] = field(default_factory=list)
    tapped: list[tuple[int, Direction, bytes]] = field(default_factory=list)

    async def shake_hands(self, version: int = 1) -> list[Any]:
        """Let all proxies pass the handshake on; return what each component was asked."""
        *proxies, agent = self.components
        await self.client.send(request("hello", "initialize", **ASKED[version]))
        asked = []
        for proxy in proxies:
            asked.append(await proxy.receive())
            await proxy.send(wrapped("on", "initialize", asked[-1]["params"]))
        asked.append(await agent.receive())
        await agent.answer(asked[-1], AGREED[version])
        for proxy, first in reversed(list(zip(proxies, asked, strict=False))):
            assert await proxy.receive() == response("on", AGREED[version])
            await proxy.answer(first, AGREED[version])
        assert await self.client.receive() == response("hello", AGREED[version])
        return asked


@asynccontextmanager
async def played(proxies: int = 1, buffered_writes: float = 100, **limits: Any) -> AsyncIterator[Played]:
    with ExitStack() as ends, anyio.fail_after(TEST_LIMIT_S):
        (client, to_client), *others = [ends.enter_context(connected(buffered_writes)) for _ in range(proxies + 2)]
        streams = [stream for _, stream in others]
        for name, limit in limits.items():
            ends.enter_context(patch(f"acp_tui.rpc.peer.{name.upper()}", limit))
        conductor = Conductor(
            to_client, streams, lambda *seen: chain.tapped.append(seen), lambda *seen: chain.junk.append(seen)
        )
        chain = Played(client, [component for component, _ in others], conductor)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(conductor.serve)
            yield chain
            tasks.cancel_scope.cancel()


@pytest.mark.parametrize("version", [1, 2])
async def test_only_the_last_is_told_that_it_is_the_agent(version: int) -> None:
    async with played(proxies=2) as chain:
        asked = await chain.shake_hands(version)
    assert [each["method"] for each in asked] == ["proxy/initialize", "proxy/initialize", "initialize"]
    assert all(each["params"] == ASKED[version] for each in asked)
    assert flaws("InitializeRequest", asked[0]["params"], version) == []


@pytest.mark.parametrize("path", GOLDEN_UPDATES, ids=lambda path: path.stem)
async def test_an_update_reaches_each_proxy_wrapped_and_the_client_as_it_was(path: Any) -> None:
    params = {"sessionId": "s1", "update": read_or_skip(path), "_meta": {"traceparent": "00-1"}}
    async with played() as chain:
        await chain.shake_hands()
        proxy, agent = chain.components
        await agent.send(notification("session/update", params))
        told = await proxy.receive()
        assert told == notification("proxy/successor", {"method": "session/update", "params": params})
        assert flaws("ProxySuccessorNotification", told["params"], UNSTABLE) == []
        await proxy.send(notification("session/update", params))
        assert await chain.client.receive() == notification("session/update", params)


@pytest.mark.parametrize(
    "answer",
    [
        {
            "result": {
                "outcome": {"outcome": "selected", "optionId": "a"},
                "_meta": {"its": "own"},
                "other": [1.5, None],
            }
        },
        {"result": None},
        {"error": {"code": -32000, "message": "x" * 30_000, "data": [{"deep": {}}], "beside": True}},
        {"error": {"code": "odd", "message": 7}},
    ],
)
async def test_an_answer_goes_back_unchanged_under_the_id_of_its_question(answer: Any) -> None:
    async with played() as chain:
        await chain.shake_hands()
        proxy, agent = chain.components
        await agent.send(request("q", "session/request_permission", sessionId="s1"))
        asked = await proxy.receive()
        assert asked["params"] == {"method": "session/request_permission", "params": {"sessionId": "s1"}}
        assert flaws("ProxySuccessorRequest", asked["params"], UNSTABLE) == []
        await proxy.send(request(-3.5, "session/request_permission", sessionId="s1"))
        asked_client = await chain.client.receive()
        assert asked_client["method"] == "session/request_permission"
        await chain.client.send({"jsonrpc": "2.0", "id": asked_client["id"], **answer})
        assert await proxy.receive() == {"jsonrpc": "2.0", "id": -3.5, **answer}
        await proxy.send({"jsonrpc": "2.0", "id": asked["id"], **answer})
        assert await agent.receive() == {"jsonrpc": "2.0", "id": "q", **answer}


@pytest.mark.parametrize("params", [{}, [], [1, "two"], {"_meta": {"a": 1}}])
async def test_the_params_of_a_wrapped_call_go_on_and_the_envelopes_meta_does_not(params: Any) -> None:
    async with played() as chain:
        await chain.shake_hands()
        proxy, agent = chain.components
        await proxy.send(notification("proxy/successor", {"method": "_any", "params": params, "_meta": {"hop": 1}}))
        assert await agent.receive() == notification("_any", params)


@pytest.mark.parametrize("absent", [{}, {"params": None}])
async def test_a_wrapped_call_without_params_has_none_behind_either(absent: Any) -> None:
    async with played() as chain:
        await chain.shake_hands()
        proxy, agent = chain.components
        await proxy.send(notification("proxy/successor", {"method": "_any", **absent}))
        assert await agent.receive() == {"jsonrpc": "2.0", "method": "_any"}


@pytest.mark.parametrize(
    "params", [{}, {"method": 7}, {"method": "_any", "params": "text"}, {"method": "_any", "params": 1}, [], "text"]
)
async def test_a_proxy_that_wraps_no_call_is_told(params: Any) -> None:
    async with played() as chain:
        await chain.shake_hands()
        proxy, agent = chain.components
        await proxy.send(request("bad", "proxy/successor") | {"params": params})
        assert (await proxy.receive())["error"]["code"] == -32602
        await proxy.send(notification("proxy/successor", params), notification("proxy/successor", {"method": "_ok"}))
        assert (await agent.receive())["method"] == "_ok"


async def test_a_cancel_has_the_id_of_the_next_hop_and_is_never_wrapped() -> None:
    async with played() as chain:
        await chain.shake_hands()
        proxy, agent = chain.components
        await agent.send(request("q", "session/request_permission"), request("r", "_other"))
        questions = [await proxy.receive(), await proxy.receive()]
        await agent.send(notification("$/cancel_request", {"requestId": "r", "_meta": {"why": "late"}}))
        told = notification("$/cancel_request", {"requestId": questions[1]["id"], "_meta": {"why": "late"}})
        assert await proxy.receive() == told
        await chain.client.send(request(1, "session/prompt"))
        prompt = await proxy.receive()
        await chain.client.send(notification("$/cancel_request", {"requestId": 1}))
        assert await proxy.receive() == notification("$/cancel_request", {"requestId": prompt["id"]})


@pytest.mark.parametrize("params", [{"requestId": "unknown"}, {"requestId": [1]}, {}, [], None])
async def test_a_cancel_of_what_is_not_under_way_goes_nowhere(params: Any) -> None:
    async with played() as chain:
        await chain.shake_hands()
        proxy, agent = chain.components
        await agent.send(notification("$/cancel_request", params), notification("_next", {}))
        assert (await proxy.receive())["params"]["method"] == "_next"


async def test_nothing_comes_before_initialize() -> None:
    async with played() as chain:
        proxy, agent = chain.components
        await agent.send(notification("session/update", {}), request("q", "session/request_permission"))
        assert (await agent.receive())["error"]["code"] == -32600
        await chain.client.send(request("hello", "initialize", **ASKED[1]))
        first = await proxy.receive()
        assert first["method"] == "proxy/initialize"
        await proxy.send(wrapped("early", "session/new", {}))
        assert (await proxy.receive())["error"]["code"] == -32600


@pytest.mark.parametrize("method", ["proxy/initialize", "proxy/successor", "_proxy/initialize", "_proxy/successor"])
async def test_no_one_beyond_a_proxy_is_sent_what_only_a_conductor_says(method: str) -> None:
    async with played() as chain:
        await chain.shake_hands()
        proxy, agent = chain.components
        await agent.send(request("q", method, method="session/new", params={}))
        assert (await agent.receive())["error"]["code"] == -32601
        await proxy.send(wrapped("q", method, {"method": "session/new"}))
        assert (await proxy.receive())["error"]["code"] == -32601


async def test_a_proxy_of_the_released_crates_is_spoken_to_in_their_words() -> None:
    async with played() as chain:
        proxy, agent = chain.components
        await chain.client.send(request("hello", "initialize", **ASKED[1]))
        unknown = await proxy.receive()
        await proxy.send(request("on", "_proxy/successor", method="proxy/initialize", params=unknown["params"]))
        refusal = await proxy.receive()
        await proxy.send({"jsonrpc": "2.0", "id": unknown["id"], "error": refusal["error"]})
        first = await proxy.receive()
        assert (first["method"], first["params"]) == ("_proxy/initialize", ASKED[1])
        await proxy.send(request("on", "_proxy/successor", method="initialize", params=first["params"]))
        asked = await agent.receive()
        await agent.send(request("q", "_early"), notification("$/cancel_request", {"requestId": "q"}))
        question, given_up = await proxy.receive(), await proxy.receive()
        assert {question["method"], given_up["method"]} == {"_proxy/successor"}
        assert given_up["params"] == {"method": "$/cancel_request", "params": {"requestId": question["id"]}}
        await agent.answer(asked, AGREED[1])


async def test_an_agent_that_refuses_the_handshake_is_the_one_awaited() -> None:
    async with played(proxies=2) as chain:
        await chain.client.send(request("hello", "initialize", **ASKED[1]))
        *proxies, agent = chain.components
        for number, proxy in enumerate(proxies):
            assert chain.conductor.awaited in (None, number - 1)
            asked = await proxy.receive()
            assert chain.conductor.awaited == number
            await proxy.send(wrapped("on", "initialize", asked["params"]))
        await agent.refuse(await agent.receive(), -32022, "no such version", {"supported": [3]})
        assert (await proxies[1].receive())["error"]["code"] == -32022
        assert chain.conductor.awaited == 2


async def test_an_answer_that_no_one_asked_for_is_ignored() -> None:
    async with played() as chain:
        await chain.shake_hands()
        proxy, _ = chain.components
        await proxy.send(response(999, {}), response("x", {}), response(None, {}), notification("_next", {}))
        assert await chain.client.receive() == notification("_next", {})


async def test_lines_that_are_no_messages_are_told_of_and_go_no_further() -> None:
    async with played() as chain:
        await chain.shake_hands()
        proxy, agent = chain.components
        await agent.send_bytes(b"Loading...\n\n  \n")
        await proxy.send_bytes(b"{\n")
        await proxy.send(notification("_next", {}))
        assert await chain.client.receive() == notification("_next", {})
        await settle()
        assert sorted(chain.junk) == [(0, b"{"), (1, b"Loading...")]


async def test_each_hop_is_seen_as_it_speaks_and_hears() -> None:
    async with played() as chain:
        await chain.shake_hands()
    methods = [(hop, direction.value, b"initialize" in line) for hop, direction, line in chain.tapped]
    assert methods == [
        (0, "out", True), (0, "in", True), (1, "out", True), (1, "in", False), (0, "out", False), (0, "in", False),
    ]  # fmt: skip


ODD = [
    *("1" * 5000, "NaN", "1e400", "-0", "1.5", "true", "null", '""', '"\\ud800"', "{}", "[]", "[" * 198 + "]" * 198),
    *(
        '"' + "y" * 5000 + '"',
        '{"method":"initialize"}',
        '{"method":"_x","params":1}',
        '{"requestId":1}',
        "1",
        '"hello"',
    ),
]
METHODS = [
    "initialize",
    "proxy/initialize",
    "proxy/successor",
    "_proxy/successor",
    "$/cancel_request",
    "_x",
    "m" * 9000,
]


def odd_line(random: Random) -> bytes:
    """Something like a message, in JSON or nearly."""
    wrapped = f'{{"method":"{random.choice(METHODS)}","params":{random.choice(ODD)}}}'
    parts = {"id": ODD, "method": [json.dumps(each) for each in METHODS], "params": [*ODD, wrapped]}
    parts |= {"result": ODD, "error": [*ODD, '{"code":1,"message":"no"}']}
    line = ",".join(f'"{key}":{random.choice(values)}' for key, values in parts.items() if random.random() < 0.6)
    return f"{{{line}}}"[: random.choice([None, None, None, 20])].encode() + b"\n"


@pytest.mark.parametrize("seed", range(20))
async def test_no_line_of_a_component_makes_the_conductor_fail(seed: int) -> None:
    random = Random(seed)
    async with played(proxies=2) as chain:
        await chain.shake_hands()
        for component in chain.components:
            await component.send_bytes(b"".join(odd_line(random) for _ in range(100)))
        await settle()
        fault = chain.conductor.fault
        assert fault is None or isinstance(fault[1], BrokeTheChain)
        if fault is None:
            await chain.components[0].send(notification("_still", {"here": seed}))
            while (await chain.client.receive()).get("method") != "_still":
                pass


UPDATE = notification("session/update", {"text": "x" * 1000})


async def test_an_agent_is_read_no_faster_than_its_proxy_reads() -> None:
    async with played(buffered_writes=0, max_waiting_bytes=50_000) as chain:
        await chain.shake_hands()
        proxy, agent = chain.components
        await agent.send(*[UPDATE] * 1000)
        await settle()
        assert sum(b"session/update" in line for hop, _, line in chain.tapped if hop == 1) < 60
        for _ in range(1000):
            assert (await proxy.receive())["method"] == "proxy/successor"


async def test_a_proxy_that_never_reads_ends_the_chain() -> None:
    async with played(buffered_writes=0, max_waiting_bytes=50_000, unread_limit_s=0) as chain:
        await chain.shake_hands()
        await chain.components[1].send(*[UPDATE] * 1000)
        with pytest.raises(anyio.EndOfStream):
            await chain.client.receive()
        assert chain.conductor.fault is not None
        position, why = chain.conductor.fault
        assert (position, type(why)) == (0, AnswersUnread)
