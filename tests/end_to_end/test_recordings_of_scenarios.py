"""Every shipped scenario, recorded: its replay equals the session, and a redacted one looks the same everywhere."""

from __future__ import annotations

import re
from pathlib import Path

import anyio
import pytest

from acp_tui.workbench import demo as shipped
from support.led_sessions import Led, lead_scenario
from support.mocked import outline
from support.pictured import pictured
from support.recordings import as_recorded, redacted, replayed_whole
from support.shapes import shape

PICTURED = ("coding", "terminal")
"""Scenarios whose pictures are compared, too; the others' pictures show only what they say."""


@pytest.fixture(scope="module", params=shipped.names())
def scenario(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def played() -> dict[str, dict[str, list[Led]]]:
    """What was played so far, by scenario: its tests may come in any order, and on any worker."""
    return {}


@pytest.fixture(scope="module")
def runs_by_user(
    scenario: str, played: dict[str, dict[str, list[Led]]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[Led]]:
    """Played by two users, each at home. Redacted text keeps its width, so their names are equally long."""
    if scenario not in played:
        played[scenario] = _played_by_two(scenario, tmp_path_factory.mktemp("home"))
    return played[scenario]


def _played_by_two(scenario: str, homes: Path) -> dict[str, list[Led]]:
    runs: dict[str, list[Led]] = {}

    async def play(user: str) -> None:
        (homes / user / scenario).mkdir(parents=True)
        runs[user] = await lead_scenario(scenario, homes / user / scenario)

    async def play_all() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(play, "johanna")
            tasks.start_soon(play, "mathias")

    anyio.run(play_all)
    return runs


@pytest.fixture(scope="module")
def runs(runs_by_user: dict[str, list[Led]]) -> list[Led]:
    return runs_by_user["johanna"]


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


def test_redacted_it_says_the_same_whoever_has_played_it(runs_by_user: dict[str, list[Led]], scenario: str) -> None:
    for runs in zip(*runs_by_user.values(), strict=True):
        one, other = (redacted(run.recording) for run in runs)
        assert outlines(one) == outlines(other)
        if scenario in PICTURED:
            assert anyio.run(pictured, one) == anyio.run(pictured, other)


def outlines(recording: Path) -> list[set[str]]:
    """What each conversation contains, in no order: what follows a turn may come before the next prompt."""
    replay = replayed_whole(recording)
    told = map(outline, (replay.outside, *replay.conversations.values()))
    texts = (re.findall(r"^\S+ = (?:TextBuffer\()?['\"](.*)['\"]\)?$", each, flags=re.MULTILINE) for each in told)
    return [{line for text in each for line in text.split("\\n")} for each in texts]
