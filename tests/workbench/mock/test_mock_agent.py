"""What a recorded agent does when its client departs from the recording: it reports that, then follows known rules."""

from __future__ import annotations

import json

import anyio

from acp_tui.client.transcript.events import Event, Exited, Frame, OwnAction
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.updates import Disconnected
from acp_tui.rpc import Direction
from acp_tui.workbench.mock import MockAgent
from acp_tui.workbench.mock.script import read_script
from support.mock_wire import NEW, OPENED, TURN, came, chosen, mocked, prompt, says, went
from support.peers import connected, notification, request, response
from support.waiting import LIMIT_S


async def test_ids_and_folders_are_those_of_the_client() -> None:
    async with mocked(*OPENED, *TURN) as mock:
        await mock.open()
        await mock.client.send(prompt("p"))
        assert await mock.client.receive() == says("may I?")
        asked = await mock.client.expect("session/request_permission")
        await mock.client.answer(asked, chosen("a1"))
        assert await mock.client.receive() == says("in /live/x")
        assert await mock.client.receive() == response("p", {"stopReason": "end_turn"})
    assert mock.departures == []


async def test_another_option_of_the_same_kind_is_no_departure() -> None:
    async with mocked(*OPENED, *TURN) as mock:
        await mock.open()
        await mock.client.send(prompt(9))
        await mock.client.receive()
        await mock.client.answer(await mock.client.receive(), chosen("a2"))
        assert (await mock.client.receive_all())[-1] == response(9, {"stopReason": "end_turn"})
    assert mock.departures == []


async def test_an_answer_of_another_kind_ends_the_turn_with_refusal() -> None:
    async with mocked(*OPENED, *TURN, *went(prompt(3)), *came(says("again"), response(3, {}))) as mock:
        await mock.open()
        await mock.client.send(prompt(7))
        await mock.client.receive()
        await mock.client.answer(await mock.client.receive(), chosen("r1"))
        assert await mock.client.receive() == response(7, {"stopReason": "refusal"})
        await mock.client.send(prompt(8))
        assert await mock.client.receive_all() == [says("again"), response(8, {})]
    assert mock.departures == [
        "frame 6: the answer to session/request_permission was allow and is reject, so the turn ends with refusal"
    ]


async def test_a_cancellation_that_was_not_there_ends_the_turn_with_cancelled() -> None:
    async with mocked(*OPENED, *TURN) as mock:
        await mock.open()
        await mock.client.send(prompt(7))
        await mock.client.receive()
        asked = await mock.client.receive()
        await mock.client.send(notification("session/cancel", {"sessionId": "s"}))
        assert await mock.client.receive() == response(7, {"stopReason": "cancelled"})
        await mock.client.answer(asked, {"outcome": {"outcome": "cancelled"}})
    assert mock.departures == ["frame 3: the turn was canceled, but not in the recording"]


async def test_an_error_for_a_result_and_a_result_without_its_field_are_said() -> None:
    reads = request(5, "fs/read_text_file", {"sessionId": "s", "path": "/rec/p/a"})
    reading = [
        *came(reads),
        *went(response(5, {"content": "x"})),
        *came(response(2, {"stopReason": "end_turn"})),
    ]
    async with mocked(*OPENED, *went(prompt(2)), *reading) as mock:
        await mock.open()
        await mock.client.send(prompt(2))
        asked = await mock.client.receive()
        assert asked["params"]["path"] == "/live/a"
        await mock.client.answer(asked, {})
        assert await mock.client.receive() == response(2, {"stopReason": "end_turn"})
    assert mock.departures == ['frame 5: the answer to fs/read_text_file no longer has "content"']
    async with mocked(*OPENED, *went(prompt(2)), *reading) as mock:
        await mock.open()
        await mock.client.send(prompt(2))
        await mock.client.refuse(await mock.client.receive(), -32603, "no")
        assert await mock.client.receive() == response(2, {"stopReason": "refusal"})


async def test_requests_that_are_skipped_repeated_or_unknown_are_said_and_answered() -> None:
    mode = request(2, "session/set_mode", {"sessionId": "s", "modeId": "m"})
    turn = [*went(prompt(3)), *came(says("hi"), response(3, {"stopReason": "end_turn"}))]
    async with mocked(*OPENED, *went(mode), *came(response(2, {})), *turn) as mock:
        await mock.open()
        await mock.client.send(request(5, "session/list", {}))
        assert (await mock.client.receive())["error"]["code"] == -32601
        await mock.client.send(prompt(6))
        assert await mock.client.receive_all() == [says("hi"), response(6, {"stopReason": "end_turn"})]
        await mock.client.send(prompt(7))
        assert await mock.client.receive() == response(7, {"stopReason": "refusal"})
        await mock.client.send({**NEW, "id": 8})
        assert await mock.client.receive() == response(8, {"sessionId": "s-2"})
    assert mock.departures == [
        "session/list isn't in the recording",
        "frame 3: session/set_mode was expected, but session/prompt came",
        "frame 5: session/prompt came once more than in the recording, so it ends with refusal (session 's')",
        "frame 1: session/new came again, so it opens a session without turns, 's-2'",
    ]


async def test_sessions_side_by_side_may_be_prompted_in_another_order() -> None:
    two = [*went({**NEW, "id": 4}), *came(response(4, {"sessionId": "t"}))]
    turns = [
        *went(prompt(5), prompt(6, "t")),
        *came(response(6, {"stopReason": "end_turn"}), response(5, {"stopReason": "refusal"})),
    ]
    async with mocked(*OPENED, *two, *turns) as mock:
        await mock.open()
        await mock.client.send({**NEW, "id": 14})
        await mock.client.receive()
        await mock.client.send(prompt(16, "t"), prompt(15))
        answers = [await mock.client.receive(), await mock.client.receive()]
    assert answers == [response(16, {"stopReason": "end_turn"}), response(15, {"stopReason": "refusal"})]
    assert mock.departures == []


async def test_an_agent_that_ended_by_itself_does_so_again() -> None:
    ended: list[Event] = [OwnAction(0.0, SessionId("s"), Disconnected("x", "")), Exited(0.0, "exited with code 3")]
    agent = MockAgent(read_script([*OPENED, *went(prompt(2)), *came(says("oh")), *ended]), on_departure=print)
    with connected() as (client, stream), anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.serve, stream)
            await client.send(NEW, prompt(2))
            assert [await client.receive(), await client.receive()] == [
                response(1, {"sessionId": "s"}),
                says("oh"),
            ]
    assert agent.is_lost


async def test_what_is_no_json_and_what_is_doubled_goes_out_to_the_byte() -> None:
    odd = b'{"jsonrpc":"2.0","method":"x","params":{"a":1,"a":1e2}}'
    junk = b"npm warn deprecated"
    frames: list[Event] = [Frame(0.0, Direction.IN, odd), Frame(0.0, Direction.IN, junk)]
    async with mocked(*OPENED, *frames) as mock:
        await mock.client.send(NEW)
        assert json.loads(await mock.client.receive_line()) == response(1, {"sessionId": "s"})
        assert [await mock.client.receive_line(), await mock.client.receive_line()] == [odd, junk]
