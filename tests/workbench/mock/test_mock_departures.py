"""A client that doesn't do what the recorded one did gets an exact report and sensible answers, and never hangs."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from acp_tui.client.transcript.events import Event, Exited
from acp_tui.rpc.messages import DEFAULT_MAX_FRAME_BYTES
from acp_tui.rpc.peer import RECEIVE_BYTES
from acp_tui.workbench.mock import Departed, MockAgent
from acp_tui.workbench.mock.script import read_script
from support.mock_wire import ASKS, NEW, OPENED, TURN, came, chosen, mocked, prompt, says, went
from support.peers import connected, notification, request, response
from support.waiting import LIMIT_S

DONE = {"stopReason": "end_turn"}
CANCELS = notification("session/cancel", {"sessionId": "s"})
SETS_MODE = request(2, "session/set_mode", {"sessionId": "s", "modeId": "m"})


def initialize(version: Any = 1, **capabilities: Any) -> dict[str, Any]:
    return request(
        "i", "initialize", {"protocolVersion": version, "clientCapabilities": capabilities, "clientInfo": {}}
    )


def turn(request_id: Any, text: str, session: str = "s") -> list[Event]:
    """A turn in which the agent says one thing."""
    said = {**says(text), "params": {**says(text)["params"], "sessionId": session}}
    return [*went(prompt(request_id, session)), *came(said, response(request_id, DONE))]


def open_another(request_id: Any, session: str) -> list[Event]:
    return [*went({**NEW, "id": request_id}), *came(response(request_id, {"sessionId": session}))]


# The handshake


@pytest.mark.parametrize(
    ("version", "departures"),
    [
        (3, []),  # a newer version gets what was recorded
        (1, ['has "protocolVersion" 1 now, but had 2']),
        ("2", ['has a text as "protocolVersion" now, but had a number']),
    ],
)
async def test_another_protocol_version_is_answered_as_recorded_and_a_lower_one_is_said(
    version: Any, departures: list[str]
) -> None:
    async with mocked(*went(initialize(2)), *came(response("i", {"protocolVersion": 2}))) as mock:
        await mock.client.send(initialize(version))
        assert await mock.client.receive() == response("i", {"protocolVersion": 2})
    assert mock.departures == [f"frame 1: initialize {departure}" for departure in departures]


async def test_what_the_client_does_not_offer_is_not_asked_and_the_turn_goes_on() -> None:
    offers = {
        "fs": {"readTextFile": True, "writeTextFile": True},
        "terminal": True,
        "elicitation": {"form": {}},
    }
    asks = [
        request(7, "fs/read_text_file", {"sessionId": "s", "path": "/rec/p/a"}),
        request(8, "terminal/create", {"sessionId": "s", "command": "ls"}),
        request(9, "elicitation/create", {"sessionId": "s", "mode": "form"}),
    ]
    asking = [event for each in asks for event in (*came(each), *went(response(each["id"], {})))]
    hands = [*went(initialize(**offers)), *came(response("i", {"protocolVersion": 1}))]
    recorded = [*hands, *OPENED, *went(prompt(2)), *asking, *came(says("so it is"), response(2, DONE))]
    async with mocked(*recorded) as mock:
        await mock.client.send(initialize(fs={"writeTextFile": True}, terminal=False))
        await mock.client.receive()
        await mock.open()
        await mock.client.send(prompt(5))
        assert await mock.client.receive_all() == [says("so it is"), response(5, DONE)]
    assert mock.departures == [
        "frame 6: fs/read_text_file won't be asked: the client doesn't offer fs.readTextFile now",
        "frame 8: terminal/create won't be asked: the client doesn't offer terminal now",
        "frame 10: elicitation/create won't be asked: the client doesn't offer elicitation.form now",
    ]


# Another order


async def test_a_request_that_comes_too_early_is_answered_at_once() -> None:
    async with mocked(*OPENED, *turn(3, "hi"), *went(SETS_MODE), *came(response(2, {"a": 1}))) as mock:
        await mock.open()
        await mock.client.send({**SETS_MODE, "id": 10})
        assert await mock.client.receive() == response(10, {"a": 1})
        await mock.client.send(prompt(11))
        assert await mock.client.receive_all() == [says("hi"), response(11, DONE)]
    assert mock.departures == ["frame 3: session/prompt was expected, but session/set_mode came"]


async def test_a_request_that_comes_late_is_answered_as_recorded() -> None:
    async with mocked(*OPENED, *went(SETS_MODE), *came(response(2, {"a": 1})), *turn(3, "hi")) as mock:
        await mock.open()
        await mock.client.send(prompt(11))
        assert await mock.client.receive_all() == [says("hi"), response(11, DONE)]
        await mock.client.send({**SETS_MODE, "id": 12})
        assert await mock.client.receive() == response(12, {"a": 1})
    assert mock.departures == ["frame 3: session/set_mode was expected, but session/prompt came"]


async def test_a_turn_goes_on_without_a_request_that_was_made_in_the_middle_of_it() -> None:
    lists = [*went(request(5, "session/list", {})), *came(response(5, {"sessions": []}))]
    first, *rest = turn(3, "hi")
    async with mocked(*OPENED, first, *lists, *rest, patience_s=0) as mock:
        await mock.open()
        await mock.client.send(prompt(11))
        assert [await mock.client.receive(), await mock.client.receive()] == [says("hi"), response(11, DONE)]
        await mock.client.send(request(12, "session/list", {}))
        assert await mock.client.receive() == response(12, {"sessions": []})
    assert mock.departures == ["frame 4: session/list was expected, but didn't come"]


async def test_a_turn_goes_on_without_the_turn_of_another_session_that_ran_beside_it() -> None:
    one, other = turn(5, "one"), turn(6, "other", "t")
    beside = [one[0], other[0], *other[1:], *one[1:]]
    async with mocked(*OPENED, *open_another(4, "t"), *beside, patience_s=0) as mock:
        await mock.open()
        await mock.client.send(request("m", "session/new", {"cwd": "/live", "mcpServers": []}))
        await mock.client.receive()
        await mock.client.send(prompt(15))
        assert [await mock.client.receive(), await mock.client.receive()] == [says("one"), response(15, DONE)]
        await mock.client.send(prompt(16, "t"))
        assert [(await mock.client.receive())["params"]["sessionId"], await mock.client.receive()] == [
            "t",
            response(16, DONE),
        ]
    assert mock.departures == ["frame 6: session/prompt was expected, but didn't come"]


async def test_nothing_is_said_of_a_session_that_the_client_has_not_opened() -> None:
    commands = notification("session/update", {"sessionId": "t", "update": {}})
    async with mocked(*OPENED, *open_another(4, "t"), *came(commands), *turn(5, "one"), patience_s=0) as mock:
        await mock.open()
        await mock.client.send(prompt(15))
        assert [await mock.client.receive(), await mock.client.receive()] == [says("one"), response(15, DONE)]
        assert await mock.client.receive_all() == []


# Sessions


async def test_a_session_that_is_loaded_and_was_not_recorded_is_an_error() -> None:
    async with mocked(*OPENED) as mock:
        await mock.client.send(request(4, "session/load", {"sessionId": "old", "cwd": "/live", "mcpServers": []}))
        error = (await mock.client.receive())["error"]
        await mock.open()
    assert (error["code"], error["data"]) == (-32601, {"details": "the recording doesn't have it"})
    assert mock.departures == ["session/load isn't in the recording"]


async def test_a_session_opened_twice_before_its_first_prompt_goes_on_in_the_second() -> None:
    async with mocked(*OPENED, *turn(2, "hi")) as mock:
        await mock.open()
        await mock.client.send(request(5, "session/new", {"cwd": "/live", "mcpServers": []}))
        assert await mock.client.receive() == response(5, {"sessionId": "s-2"})
        await mock.client.send(prompt(6, "s-2"))
        assert (await mock.client.receive())["params"]["sessionId"] == "s-2"
        assert await mock.client.receive() == response(6, DONE)
    assert mock.departures == [
        "frame 1: session/new came again, so it opens the recorded session under another id, 's-2'"
    ]


async def test_a_prompt_for_an_unknown_session_is_refused() -> None:
    async with mocked(*OPENED, *TURN) as mock:
        await mock.open()
        await mock.client.send(prompt(6, "nowhere"))
        assert await mock.client.receive() == response(6, {"stopReason": "refusal"})
    assert mock.departures == [
        "session/prompt came, but isn't in the recording, so it ends with refusal (session 'nowhere')"
    ]


async def test_a_session_that_is_loaded_at_once_is_told_before_the_load_is_answered() -> None:
    load = request(8, "session/load", {"sessionId": "old", "cwd": "/rec/p", "mcpServers": []})
    told = notification("session/update", {"sessionId": "old", "update": {}})
    async with mocked(*OPENED, *turn(2, "hi"), *went(load), *came(told, response(8, {}))) as mock:
        await mock.client.send({**load, "id": 4})
        assert await mock.client.receive_all() == [told, response(4, {})]
    assert mock.departures == ["frame 1: session/new was expected, but session/load came"]


async def test_a_client_takes_its_time_for_a_prompt_although_a_request_was_never_answered() -> None:
    async with mocked(*OPENED, *went(SETS_MODE), *turn(3, "hi"), patience_s=0) as mock:
        await mock.open()
        await mock.client.send(SETS_MODE)
        assert await mock.client.receive_all() == []
        await mock.client.send(prompt(3))
        assert await mock.client.receive_all() == [says("hi"), response(3, DONE)]
    assert mock.departures == []


# Cancelling


CANCELLED_TURN = [
    *went(prompt(2)),
    *came(says("a")),
    *went(CANCELS),
    *came(response(2, {"stopReason": "cancelled"})),
]


async def test_a_turn_that_was_cancelled_and_is_not_waits_and_says_for_what() -> None:
    async with mocked(*OPENED, *CANCELLED_TURN, patience_s=0) as mock:
        await mock.open()
        await mock.client.send(prompt(5))
        assert await mock.client.receive_all() == [says("a")]
        assert mock.notes == ["frame 5: waiting for session/cancel"]
        await mock.client.send(CANCELS)
        assert await mock.client.receive() == response(5, {"stopReason": "cancelled"})
    assert mock.departures == []


async def test_a_cancellation_that_was_too_late_is_not_waited_for() -> None:
    async with mocked(*OPENED, *turn(2, "a"), *went(CANCELS), *turn(3, "b")) as mock:
        await mock.open()
        for request_id, text in ((5, "a"), (6, "b")):
            await mock.client.send(prompt(request_id))
            assert await mock.client.receive_all() == [says(text), response(request_id, DONE)]
    assert mock.departures == []


async def test_a_request_that_the_client_takes_back_is_answered_with_the_error_for_that() -> None:
    async with mocked(*OPENED, *TURN) as mock:
        await mock.open()
        await mock.client.send(prompt(5))
        await mock.client.expect("session/update")
        await mock.client.expect("session/request_permission")
        await mock.client.send(notification("$/cancel_request", {"requestId": 5}))
        assert (await mock.client.receive())["error"]["code"] == -32800
    assert mock.departures == ["frame 3: session/prompt was canceled, but not in the recording"]


# Silence and ends


async def test_a_permission_that_is_never_answered_is_waited_for_and_said() -> None:
    async with mocked(*OPENED, *TURN, patience_s=0) as mock:
        await mock.open()
        await mock.client.send(prompt(5))
        assert [each["method"] for each in await mock.client.receive_all()] == [
            "session/update",
            ASKS["method"],
        ]
    assert mock.notes == ["frame 6: waiting for the answer to session/request_permission"]


async def test_with_a_timeout_the_silence_of_the_client_is_the_end() -> None:
    notes: list[str] = []
    agent = MockAgent(read_script([*OPENED, *TURN]), on_departure=print, on_note=notes.append, timeout_s=0.01)
    with connected() as (client, stream), anyio.fail_after(LIMIT_S), pytest.RaisesGroup(Departed):
        await client.send(NEW)
        await agent.serve(stream)
    assert notes == ["frame 3 (0.000s): gave up after 0.01 s of waiting for session/prompt"]


async def test_with_a_timeout_a_client_that_does_not_read_is_the_end() -> None:
    notes: list[str] = []
    flood = came(*[says("x" * 1000)] * 1000)
    script = read_script([*OPENED, *went(prompt(2)), *flood])
    agent = MockAgent(script, on_departure=print, on_note=notes.append, timeout_s=0.01)
    with connected(0) as (client, stream), anyio.fail_after(LIMIT_S), pytest.RaisesGroup(Departed):
        await client.send(NEW, prompt(2))
        await agent.serve(stream)
    assert notes == ["gave up after 0.01 s of waiting for the client to read"]


async def test_a_client_that_goes_in_the_middle_of_a_turn_still_hears_what_can_be_said() -> None:
    departures: list[str] = []
    agent = MockAgent(read_script([*OPENED, *TURN]), on_departure=departures.append)
    with connected() as (client, stream), anyio.fail_after(LIMIT_S):
        await client.send(NEW, prompt(2))
        await client.close_output()
        await agent.serve(stream)
        assert len(await client.receive_all()) == 3
    assert departures == ["frame 3 (0.000s): the client disconnected before the answer to session/prompt"]


@pytest.mark.parametrize(("ending", "is_lost"), [([Exited(0.0, "exited with code 0")], False), ([], True)])
async def test_a_silent_agent_is_silent_again_unless_its_recording_was_cut_off(
    ending: list[Event], is_lost: bool
) -> None:
    async with mocked(*OPENED, *went(prompt(2)), *came(says("a")), *ending) as mock:
        await mock.open()
        await mock.client.send(prompt(2))
        assert await mock.client.receive_all() == [says("a")]
        assert mock.agent.is_lost == is_lost
    assert len(mock.notes) == 1


# Invalid lines


async def test_junk_is_said_and_a_batch_is_answered_with_the_error_for_it() -> None:
    async with mocked(*OPENED) as mock:
        await mock.client.send_bytes(b"what?\n[]\n\n")
        assert (await mock.client.receive())["error"]["code"] == -32600
        await mock.client.send(response(99, {}))
        await mock.open()
    assert mock.departures == [
        "the client sent a line that isn't a message: not JSON",
        "the client sent a line that isn't a message: a batch, which ACP doesn't use",
        "an answer came for a request that isn't open, 99",
    ]


async def test_a_client_that_complains_of_a_faulty_line_does_not_depart() -> None:
    async with mocked(*OPENED) as mock:
        error = {"code": -32600, "message": "Batches aren't supported"}
        await mock.client.send({"jsonrpc": "2.0", "id": None, "error": error})
        await mock.open()
    assert mock.departures == []
    assert mock.notes == ["the client couldn't read a line: Batches aren't supported"]


async def test_a_line_without_an_end_is_the_end() -> None:
    departures: list[str] = []
    agent = MockAgent(read_script(OPENED), on_departure=departures.append)
    with connected() as (client, stream), anyio.fail_after(LIMIT_S), pytest.RaisesGroup(Departed):
        for _ in range(DEFAULT_MAX_FRAME_BYTES // RECEIVE_BYTES + 1):
            await client.send_bytes(b"x" * RECEIVE_BYTES)
        await agent.serve(stream)
    [departure] = departures
    assert f"more than {DEFAULT_MAX_FRAME_BYTES:,} bytes" in departure


async def test_an_agent_that_answers_twice_does_so_again_by_the_id_of_now() -> None:
    async with mocked(*OPENED, *went(prompt(2)), *came(response(2, DONE), response(2, DONE))) as mock:
        await mock.open()
        await mock.client.send(prompt("now"))
        assert await mock.client.receive_all() == [response("now", DONE)] * 2


async def test_another_answer_outside_of_a_turn_is_said_and_changes_nothing() -> None:
    asks = {**ASKS, "params": {**ASKS["params"], "sessionId": "s"}}
    async with mocked(*OPENED, *came(asks), *went(response(0, chosen("a1"))), *came(says("on"))) as mock:
        await mock.open()
        await mock.client.answer(await mock.client.receive(), chosen("r1"))
        assert await mock.client.receive() == says("on")
    assert mock.departures == ["frame 4: the answer to session/request_permission was allow and is reject"]
