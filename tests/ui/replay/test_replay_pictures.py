"""Pictures of a replay. To update them, run `pytest THIS_FILE --snapshot-update` and look at each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from textual.pilot import Pilot

from acp_tui.client.settings.settings import Appearance, Settings
from acp_tui.client.transcript.events import Event
from acp_tui.ui.replay.player import Speed, Spot
from acp_tui.ui.replay.screen import ReplayApp
from support.changes import LOOKS
from support.recorded_sessions import begun, form, prompted, said, told, two_turns, unread_timeline_of
from support.screens import rows, settled
from support.settling import until_so

Compare = Callable[..., bool]


class State(NamedTuple):
    """A replay's position, and the keys that lead from there to what must show."""

    events: list[Event]
    until: Spot | None = None
    keys: tuple[str, ...] = ()
    sign: str = "built"
    """By default, what its terminal shows, which is drawn last."""


def two_sessions() -> list[Event]:
    """Both have a title; the second is working."""
    titles = {"s": "Fix the durations", "other": "Read the changelog"}
    named = [
        told(4.0 + number, session, sessionUpdate="session_info_update", title=title)
        for number, (session, title) in enumerate(titles.items())
    ]
    return [
        *two_turns()[:-1],
        *begun(63.0, "other", 4),
        prompted(64.0, 5, "What is new?", "other"),
        said(65.0, "I am reading it.", "other"),
        *named,
    ]


QUESTION: Final = Spot(is_question=True)
STATES: Final = {
    "the-end": State(two_turns()),
    "a-permission": State(two_turns(), QUESTION, sign="chosen after 2.5 s"),
    "a-form": State(form(values={"name": "***", "signed": True}), Spot(events=4), sign="accepted after 2.0 s"),
    "two-sessions": State(two_sessions(), sign="Read the changelog"),
    "the-other-session": State(two_sessions(), keys=("tab",)),
    "help": State(two_turns(), keys=("f1",), sign="Play or pause"),
    "about": State(two_turns(), keys=("i",), sign="Started"),
}


@pytest.fixture(autouse=True)
def _everywhere_the_same(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    pytest.importorskip("pyghostty", reason="the pictures were taken with its terminals")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture
def show_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Compare, str, str], bool]:
    """Compares a state of a replay, in a look, with what it was."""
    monkeypatch.chdir(tmp_path)

    def show(compare: Compare, state: str, look: str) -> bool:
        theme, size = LOOKS[look]
        events, end, keys, sign = STATES[state]
        timeline = unread_timeline_of(Path(), events)
        settings = Settings(appearance=Appearance(theme=theme))

        async def shows(pilot: Pilot[Any], sign: str) -> None:
            await until_so(pilot, lambda: any(sign in row.text for row in rows(pilot)), lambda: sign)
            await settled(pilot)

        async def look_on(pilot: Pilot[Any]) -> None:
            await shows(pilot, "‖")
            # What a dialog covers isn't drawn before it is visible again.
            await shows(pilot, "You are" if state == "about" else "‖")
            await pilot.press(*keys)
            await shows(pilot, sign)

        app = ReplayApp(timeline, pace=Speed(speed=0), until=end, settings=settings)
        return compare(app, terminal_size=size, run_before=look_on)

    return show


Show = Callable[[Compare, str, str], bool]


@pytest.mark.parametrize("state", STATES)
def test_a_replay_looks_as_it_did(state: str, show_state: Show, snap_compare: Compare) -> None:
    assert show_state(snap_compare, state, "80x24-dark")


def test_a_replay_looks_as_it_did_in_a_light_theme(show_state: Show, snap_compare: Compare) -> None:
    assert show_state(snap_compare, "a-permission", "120x40-light")


@pytest.mark.parametrize("state", [name for name in STATES if name != "a-permission"])
def test_a_replay_reads_as_it_did(state: str, show_state: Show, text_compare: Compare) -> None:
    assert show_state(text_compare, state, "120x40-light")
