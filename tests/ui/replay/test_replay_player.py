"""Where a replay is and where it can go, without a screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.client.transcript.replay import Replay, ReplayStep
from acp_tui.conversation.facts import RequestKey, SessionId
from acp_tui.ui.replay import player as player_module
from acp_tui.ui.replay.player import Player, Projector, Speed, Spot, moment_of, read_spot
from acp_tui.ui.replay.timeline import Timeline
from support.recorded_sessions import begun, prompted, said, timeline_of, two_turns

FIRST_PROMPT, QUESTION, SECOND_PROMPT = 3, 6, 13
"""How many events come before this."""


@pytest.fixture
def timeline(tmp_path: Path) -> Timeline:
    return timeline_of(tmp_path, two_turns())


def played(timeline: Timeline, moment: int) -> Player:
    player = Player(timeline)
    while player.moment < moment:
        player.step()
    return player


def test_a_replay_to_its_end_gives_what_the_recording_gives(timeline: Timeline) -> None:
    replay = Replay(timeline.events)
    assert len(list(replay.events)) == timeline.length
    assert played(timeline, timeline.length).conversations == replay.conversations


def test_prompts_are_found_from_any_moment(timeline: Timeline) -> None:
    assert [timeline.prompt_after(moment) for moment in (0, FIRST_PROMPT, SECOND_PROMPT)] == [
        FIRST_PROMPT,
        SECOND_PROMPT,
        timeline.length,
    ]
    assert [timeline.prompt_before(moment) for moment in (SECOND_PROMPT + 1, SECOND_PROMPT, FIRST_PROMPT)] == [
        SECOND_PROMPT,
        FIRST_PROMPT,
        0,
    ]
    assert timeline.prompts_until(QUESTION) == (1, 2)


def test_a_step_leaves_out_events_that_change_nothing(timeline: Timeline) -> None:
    assert timeline.change_after(0) == 2  # a request for a session isn't visible
    assert timeline.change_after(FIRST_PROMPT) == FIRST_PROMPT + 1
    assert timeline.change_before(FIRST_PROMPT) == 2
    assert (
        timeline.change_after(timeline.length - 2) == timeline.length - 1
    )  # the process has ended, which isn't visible
    assert timeline.change_before(0) == 0


def test_it_is_known_how_and_when_a_question_was_answered(timeline: Timeline) -> None:
    answer = timeline.answers[timeline.question(SessionId("s"), RequestKey(1), QUESTION)]
    assert answer.decision is not None
    assert (answer.decision.option_name, answer.after_s) == ("Allow once", 2.5)


def test_the_session_that_was_prompted_last_is_in_front(tmp_path: Path) -> None:
    events = [*begun(), *begun(1.0, "other", 2), prompted(2.0, 3, "here"), said(3.0, "elsewhere", "other")]
    timeline = timeline_of(tmp_path, events)
    assert played(timeline, 4).front == "other"
    assert played(timeline, timeline.length).front == "s"


@pytest.mark.parametrize(("far", "is_told"), [(100, True), (3, False)])
async def test_what_a_far_move_leads_past_is_not_told_one_by_one(
    timeline: Timeline, monkeypatch: pytest.MonkeyPatch, far: int, is_told: bool
) -> None:
    monkeypatch.setattr(player_module, "FAR", far)
    told: list[ReplayStep] = []
    projector = Projector(Player(timeline), Speed(), told.append)
    projector.goal = timeline.length
    await projector.go_to_goal()
    assert (len(told), projector.is_news) == (timeline.length if is_told else 1, not is_told)
    assert projector.player.is_at_end


async def test_the_end_of_a_long_recording_is_not_played_a_second_time(
    timeline: Timeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player_module, "FAR", 3)
    expected = played(timeline, timeline.length)
    projector = Projector(Player(timeline), Speed(), lambda step: None)
    monkeypatch.setattr(Player, "step", lambda self: pytest.fail("an event was applied again"))
    projector.goal = timeline.length
    await projector.go_to_goal()
    player = projector.player
    assert (player.front, player.at_s, player.is_at_end) == (expected.front, expected.at_s, True)
    shown, wanted = player.conversation(player.front), expected.conversation(expected.front)
    assert shown.entries == wanted.entries


@pytest.mark.parametrize(
    ("pace", "waited"),
    [(Speed(), 2.0), (Speed(max_wait_s=60), 10.0), (Speed(4.0, 60), 2.5), (Speed(0, 60), 0.0)],
)
def test_no_pause_is_longer_than_was_wished(pace: Speed, waited: float) -> None:
    assert pace.wait_s(10.0) == waited


def test_the_speed_goes_up_and_down_in_steps_and_no_farther() -> None:
    assert Speed().changed(1).speed == 2.0
    assert Speed(3.0).changed(-1).speed == 2.0
    assert Speed(16.0).changed(1).speed == 16.0
    assert Speed(0.25).changed(-1).speed == 0.25


@pytest.mark.parametrize(
    ("written", "spot"),
    [
        ("120", Spot(events=120)),
        ("12.5s", Spot(seconds=12.5)),
        ("1:05", Spot(seconds=65)),
        ("1:00:05.5", Spot(seconds=3605.5)),
        ("question", Spot(is_question=True)),
    ],
)
def test_a_moment_is_a_number_of_events_a_time_or_a_question(written: str, spot: Spot) -> None:
    assert read_spot(written) == spot


@pytest.mark.parametrize("written", ["", "soon", "-1", "1:2:3", "12,5s"])
def test_what_is_no_moment_is_refused_with_what_is_one(written: str) -> None:
    with pytest.raises(ValueError, match=r"12\.5s"):
        read_spot(written)


@pytest.mark.parametrize(
    ("spot", "moment"),
    [
        (Spot(events=4), 4),
        (Spot(events=4000), 16),
        (Spot(seconds=2.5), 5),
        (Spot(seconds=0.5), 2),
        (Spot(is_question=True), QUESTION),
        (Spot(text="look at"), 5),
        (Spot(text="Edit durations"), QUESTION),
        (Spot(text="built"), 10),
        (Spot(text="never said"), None),
    ],
)
def test_a_moment_is_found_by_what_it_is_named_after(timeline: Timeline, spot: Spot, moment: int | None) -> None:
    assert moment_of(timeline, spot) == moment
