"""The shipped scenarios, recorded: each replay equals its session, and redacted ones look the same everywhere.

A mock of one behaves as its agent, faults included, for our client and for that of the official SDK.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from pydantic import ValidationError

from acp_tui import demo as shipped
from acp_tui.client.agents.demo_agent import copy_project
from acp_tui.client.transcript.lines import open_recording
from acp_tui.rpc.messages import Request
from acp_tui.workbench.mock.progress import Mapping
from acp_tui.workbench.mock.script import PROMPT, Script, read_script
from support import led_sessions
from support.led_sessions import Led, lead, lead_scenario, start_limit_s
from support.mocked import mock_of, outline
from support.pictured import pictured
from support.recordings import as_recorded, redacted, replayed_whole
from support.shapes import shape

if TYPE_CHECKING:
    from support.sdk_client import Followed

SCENARIOS = shipped.names()
"""`full` plays six of the others in one turn."""
USERS = ("johanna", "mathias")
"""Redacted text keeps its width, so their names are equally long."""
PLAYED_BY_BOTH = ("callbacks", "coding", "sessions")
"""Scenarios that tell of a user's folders: in files, in diffs, in commands and what they print, in lists of sessions.
"""
MESSAGE_IS_NO_OBJECT = "Receive loop failed"
"""The SDK client's message before it gives up the connection: a JSON line that isn't an object ends it."""


@pytest.fixture(scope="module", params=SCENARIOS)
def scenario(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], list[Led]]:
    """Has a user play a scenario at home, but only once: its tests may come in any order, and on any worker."""
    homes = tmp_path_factory.mktemp("home")

    @cache
    def play(scenario: str, user: str) -> list[Led]:
        folder = homes / user / scenario
        folder.mkdir(parents=True)
        return anyio.run(lead_scenario, scenario, folder)

    return play


@pytest.fixture(scope="module")
def runs(scenario: str, played: Callable[[str, str], list[Led]]) -> list[Led]:
    return played(scenario, USERS[0])


def test_a_replay_equals_the_session(runs: list[Led]) -> None:
    """fold(live) == fold(replay(recording)), including terminals."""
    for run in runs:
        replay = replayed_whole(run.recording)
        assert replay.conversations == run.as_recorded
        assert replay.outside == as_recorded(run.outside)


def test_a_redacted_recording_has_the_same_shape(runs: list[Led]) -> None:
    for run in runs:
        replay = replayed_whole(redacted(run.recording))
        assert shape(replay.conversations) == shape(run.as_recorded)
        assert shape(replay.outside) == shape(as_recorded(run.outside))


@pytest.mark.parametrize("name", PLAYED_BY_BOTH)
def test_its_redacted_recording_is_the_same_for_any_user(name: str, played: Callable[[str, str], list[Led]]) -> None:
    for runs in zip(*(played(name, user) for user in USERS), strict=True):
        one, other = (redacted(run.recording) for run in runs)
        assert outlines(one) == outlines(other)
        assert anyio.run(pictured, one) == anyio.run(pictured, other)


def outlines(recording: Path) -> list[set[str]]:
    """What each conversation contains, in no order: what follows a turn may come before the next prompt."""
    replay = replayed_whole(recording)
    told = map(outline, (replay.outside, *replay.conversations.values()))
    texts = (re.findall(r"^\S+ = (?:TextBuffer\()?['\"](.*)['\"]\)?$", each, flags=re.MULTILINE) for each in told)
    return [{line for text in each for line in text.split("\\n")} for each in texts]


# Its mock


def script_of(recording: Path) -> Script:
    with open_recording(recording) as events:
        return read_script(events)


def prompts_of(script: Script) -> Iterator[str]:
    for step in script.steps:
        if step.method == PROMPT and isinstance(step.message, Request):
            yield step.message.params["prompt"][0]["text"]


def outlines_of(run: Led, cwd: Path) -> list[str]:
    return [outline(each, cwd) for each in (run.outside, *run.conversations.values())]


async def test_acp_tui_has_the_same_conversations_with_the_mock(scenario: str, runs: list[Led], tmp_path: Path) -> None:
    """fold(live with the mock) == fold(original), including terminals, in another folder."""
    copy_project(tmp_path / "project")
    limit_s = start_limit_s(scenario)
    for run in runs:
        tour = partial(led_sessions._tour, prompts=deque(prompts_of(script_of(run.recording))))
        mock = mock_of(run.recording, "--strict")
        again = await lead(mock, tmp_path / "project", tmp_path / "again.jsonl", tour, start_limit_s=limit_s)
        assert outlines_of(again, tmp_path) == outlines_of(run, run.recording.parent)


async def test_the_client_of_the_sdk_has_all_of_it_and_complains_of_faulty_frames_only(
    runs: list[Led], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("acp")
    from support.sdk_client import follow

    for run in runs:
        script = script_of(run.recording)
        caplog.clear()
        followed = await follow(run.recording, tmp_path)
        recorded = in_folder(script, run.recording.parent / "project", tmp_path)
        assert followed.departures == []
        if any(not isinstance(frame, dict) for frame in recorded):
            assert_given_up(followed, recorded, caplog)
        else:
            assert_satisfied(followed, recorded, script, caplog)


def in_folder(script: Script, then: Path, now: Path) -> list[Any]:
    """The agent's frames, with the IDs the SDK gives to its requests."""
    from support.sdk_client import json_of

    mapping = Mapping()
    mapping.learn({"cwd": str(then)}, {"cwd": str(now)})
    asked = (step.message for step in script.steps if not step.is_ours)
    for live, request in enumerate(message for message in asked if isinstance(message, Request)):
        mapping.learn_name("requestId", request.id, live)
    frames = json_of(script.steps)
    return [renumbered(json.loads(mapping.frame(json.dumps(frame).encode())), mapping) for frame in frames]


def renumbered(frame: Any, mapping: Mapping) -> Any:
    is_answer = isinstance(frame, dict) and "id" in frame and "method" not in frame
    return {**frame, "id": mapping.name("requestId", frame["id"])} if is_answer else frame


def assert_given_up(followed: Followed, recorded: list[Any], caplog: pytest.LogCaptureFixture) -> None:
    """The SDK received everything up to the line it can't handle."""
    end = next(at for at, frame in enumerate(recorded) if not isinstance(frame, dict))
    assert followed.frames == recorded[: end + 1]
    assert MESSAGE_IS_NO_OBJECT in caplog.text
    assert isinstance(followed.answers[-1], ConnectionError)


def assert_satisfied(followed: Followed, recorded: list[Any], script: Script, caplog: pytest.LogCaptureFixture) -> None:
    assert followed.frames == recorded
    updates = [frame["params"] for frame in recorded if frame.get("method") == "session/update"]
    taken = list(filter(is_known_to_the_sdk, updates))
    assert [each.session_update for each in followed.updates] == [each["update"]["sessionUpdate"] for each in taken]
    complaints = [text for text in caplog.messages if "method=session/update" in text]
    assert len(complaints) == len(updates) - len(taken)
    assert followed.served == [
        step.method for step in script.steps if step.is_ours and isinstance(step.message, Request)
    ]
    assert followed.status == (3 if script.ended_itself and "3" in script.how_it_ended else 0)


def is_known_to_the_sdk(params: Any) -> bool:
    from acp import schema

    try:
        schema.SessionNotification.model_validate(params)
    except ValidationError:
        return False
    return True
