"""The shipped scenarios, recorded: each replay equals its session, and redacted ones look the same everywhere."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui import demo as shipped
from acp_tui.conversation.buffers import ByteRing
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entry_list import EntryList
from support.recorded_sessions import shape
from support.recordings import Led, as_recorded, lead_scenario, redacted, replayed_whole
from support.screen_checks import pictured

CLOCKS = ("at", "seconds")


def outline(conversation: Conversation) -> str:
    """Everything in a conversation except clock times, names the client makes up."""
    names: dict[str, str] = {}
    told = "\n".join(_lines(conversation, ""))
    made_up = r"(?:term|acp-tui)_[0-9a-f]+"
    return re.sub(made_up, lambda found: names.setdefault(found[0], f"#{len(names)}"), told)


def _lines(value: Any, place: str) -> Iterator[str]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield f"{place}: {type(value).__name__}"
        names = (field.name for field in dataclasses.fields(value))
        value = {name: getattr(value, name) for name in names if name not in CLOCKS}
    if isinstance(value, dict | list | tuple | EntryList):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _lines(item, f"{place}.{key}")
    else:
        yield f"{place} = {value.read() if isinstance(value, ByteRing) else value!r}"


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
