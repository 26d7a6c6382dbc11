"""However damaged a recording is, replaying, rendering, and mocking it end in time and without a crash."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_tui.client.transcript.lines import RecordingUnreadable, open_recording
from acp_tui.client.transcript.replay import Replay
from acp_tui.ui.replay.render import View, render, timeline_of
from acp_tui.workbench.mock import Departed, MockAgent
from acp_tui.workbench.mock.script import Script, read_script
from support.broken_recordings import EXAMPLES, broken_recordings
from support.peers import Counterpart, connected, notification, request, response
from support.waiting import LIMIT_S

SESSION = {"sessionId": "demo-1", "cwd": "/live", "mcpServers": []}
CLIENT_SAYS = st.sampled_from([
    request(1, "initialize", {"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": True}}}),
    request(2, "session/new", SESSION), request(3, "session/prompt", {**SESSION, "prompt": []}), response(1, {}),
    request("x", "session/load", SESSION), request(None, "session/prompt", {**SESSION, "prompt": []}), [], 7,
    notification("session/cancel", SESSION), notification("$/cancel_request", {"requestId": 3}),
    notification("$/cancel_request", {"requestId": [3]}), request(1.5, "session/set_mode", []), {"id": 0, "error": 5},
    notification("session/cancel", {"sessionId": {}}), request(6, "session/prompt", {"sessionId": []}),
])  # fmt: skip
ALLOWED = {"outcome": {"outcome": "selected", "optionId": "allow"}}
ANSWERS: st.SearchStrategy[Any] = st.sampled_from([{}, None, [], ALLOWED, {"terminalId": 5}])
ACCIDENTS = settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))


def script_of(data: bytes, folder: str) -> Script:
    source = Path(folder, "broken.jsonl")
    source.write_bytes(data)
    try:
        with open_recording(source) as recording:
            return read_script(recording)
    except RecordingUnreadable:
        return Script()


@ACCIDENTS
@given(broken_recordings())
def test_no_accident_stops_a_replay(data: bytes) -> None:
    with TemporaryDirectory() as folder, suppress(RecordingUnreadable):
        source = Path(folder, "broken.jsonl")
        source.write_bytes(data)
        with open_recording(source) as recording:
            assert all(Replay(recording).events)


@settings(ACCIDENTS, max_examples=max(3, EXAMPLES // 20))
@given(broken_recordings())
def test_no_accident_spoils_a_picture(data: bytes) -> None:
    with TemporaryDirectory() as folder, suppress(RecordingUnreadable):
        source = Path(folder, "broken.jsonl")
        source.write_bytes(data)
        assert anyio.run(pictured, source)


async def pictured(source: Path) -> bytes:
    async with timeline_of(source) as timeline:
        return await render(timeline, View(), ".svg")


@ACCIDENTS
@given(broken_recordings(), st.lists(CLIENT_SAYS, max_size=12), ANSWERS)
def test_no_accident_and_no_client_makes_a_mock_crash_or_hang(data: bytes, said: list[Any], answer: Any) -> None:
    with TemporaryDirectory() as folder:
        script = script_of(data, folder)
    anyio.run(talk_to, MockAgent(script, on_departure=lambda _: None, patience_s=0, timeout_s=0.01), said, answer)


async def talk_to(agent: MockAgent, said: list[Any], answer: Any) -> None:
    with connected() as (client, stream), anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer_all, client, answer)
            for message in said:
                await client.send(message)
                await anyio.lowlevel.checkpoint()
            await client.close_output()
            try:
                await agent.serve(stream)
            except* Departed:
                pass
            tasks.cancel_scope.cancel()


async def answer_all(client: Counterpart, answer: Any) -> None:
    with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
        while True:
            message = as_json(await client.receive_line())
            if isinstance(message, dict) and "method" in message and "id" in message:
                await client.answer(message, answer)


def as_json(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
