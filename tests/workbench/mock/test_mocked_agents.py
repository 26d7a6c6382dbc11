"""Redacted recordings of real agents: each mock behaves as that agent, for acp-tui and for the SDK's client."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from acp_tui.client.transcript.lines import open_recording
from acp_tui.client.transcript.replay import replayed
from acp_tui.rpc.messages import Request, Result
from acp_tui.workbench.mock.script import PROMPT, Script, read_script
from support.led_sessions import Lead, lead
from support.mocked import mock_of, outline
from support.recordings import as_recorded

RECORDINGS = sorted(Path(__file__).parents[2].joinpath("data", "recordings").glob("*.jsonl"))


@pytest.fixture(params=RECORDINGS, ids=lambda path: path.stem)
def recording(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


def script_of(recording: Path) -> Script:
    with open_recording(recording) as events:
        return read_script(events)


def version_spoken(script: Script) -> object:
    answers = (step.message for step in script.steps if step.method == "initialize" and step.is_ours)
    return next(answer.value["protocolVersion"] for answer in answers if isinstance(answer, Result))


async def do_the_same(script: Script, lead: Lead) -> None:
    """Send a recording's prompts, and set the options that were set."""
    session = await lead.begin()
    for step in script.steps:
        if step.is_ours or not isinstance(step.message, Request):
            continue
        params = step.message.params
        if step.method == PROMPT:
            await lead.prompt(session, params["prompt"][0]["text"])
        elif step.method == "session/set_config_option":
            await session.set_option(params["configId"], params["value"])


async def test_acp_tui_has_the_same_conversation_with_the_mock(recording: Path, tmp_path: Path) -> None:
    script = script_of(recording)
    tour, again = partial(do_the_same, script), tmp_path / "again.jsonl"
    seen = await lead(mock_of(recording, "--strict"), tmp_path, again, tour)
    with open_recording(recording) as events:
        recorded_in = Path(events.header.cwd)
    [live] = seen.conversations.values()
    [recorded] = replayed(recording).values()
    assert outline(as_recorded(live), tmp_path) == outline(recorded, recorded_in)


async def test_the_client_of_the_sdk_has_the_whole_session_without_a_complaint(
    recording: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("acp")
    from acp.meta import CLIENT_METHODS

    from support.sdk_client import follow, json_of

    script = script_of(recording)
    if version_spoken(script) != 1:
        pytest.skip("the Python SDK's client speaks version 1 of ACP only")
    followed = await follow(recording, tmp_path)
    assert followed.departures == []
    assert followed.status == 0
    assert caplog.messages == []
    assert len(followed.frames) == len(list(json_of(script.steps)))
    asked = [step.method for step in script.steps if step.is_ours and isinstance(step.message, Request)]
    # The SDK itself rejects what is neither the protocol's nor an extension by its name (qwen has such methods).
    assert followed.served == [method for method in asked if method in CLIENT_METHODS.values()]
