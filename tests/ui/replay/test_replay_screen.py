"""A recording on the screen looks as the session did, its keys move through it, and nothing can be changed."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from acp_tui.client.settings.settings import KeyChoice, Settings
from acp_tui.client.transcript.events import Dropped, Event, Exited, Frame, OwnAction, Restarted, UnknownEvent
from acp_tui.client.transcript.lines import Recording
from acp_tui.conversation.facts import RequestKey, SessionId
from acp_tui.conversation.updates import PermissionAnswered
from acp_tui.rpc import Direction
from acp_tui.ui.conversation.entry_views import EntryView
from acp_tui.ui.conversation.view import ConversationView
from acp_tui.ui.permission.request_keys import AnswerableRequest
from acp_tui.ui.replay.panel import RecordedCard
from acp_tui.ui.replay.player import Speed, Spot
from acp_tui.ui.replay.screen import Position, ReplayApp, ReplayBar, ReplayScreen, bar_of
from acp_tui.ui.replay.timeline import Timeline
from support.recorded_sessions import (
    HEADER,
    begun,
    form,
    got,
    prompted,
    said,
    timeline_of,
    told,
    two_turns,
    unread_timeline_of,
)
from support.screens import Shown, settled
from support.settling import until_so
from support.waiting import TEST_LIMIT_S

AT_ONCE = Speed(speed=0)
QUESTION = Spot(is_question=True)


class Projection(Shown):
    """A replay as its viewer sees it."""

    @property
    def screen(self) -> ReplayScreen:
        screen = self.pilot.app.screen_stack[0]
        assert isinstance(screen, ReplayScreen)
        return screen

    @property
    def position(self) -> Position:
        return self.screen.query_one(ReplayBar).position

    async def until(self, condition: Callable[[], bool]) -> None:
        await until_so(self.pilot, condition, lambda: f"{self.position}\n{self.text}")
        await settled(self.pilot)

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until the replay is where they lead."""
        await self.pilot.press(*keys)
        await self.until(lambda: self.screen.projector.goal is None)

    async def paused(self) -> None:
        await self.until(lambda: not self.position.is_playing and self.position != Position())
        await self.until(lambda: "reading the recording" not in self.text)


@asynccontextmanager
async def projected(folder: Path, events: Iterable[Event], *, until: Spot | None = None) -> AsyncIterator[Projection]:
    """A replay of these events, at its end or where it should pause."""
    app = ReplayApp(unread_timeline_of(folder, events), pace=AT_ONCE, until=until)
    with anyio.fail_after(TEST_LIMIT_S):
        async with app.run_test(size=(100, 30), notifications=True) as pilot:
            projection = Projection(pilot)
            await projection.paused()
            yield projection


async def test_a_recording_is_played_to_its_end(tmp_path: Path) -> None:
    async with projected(tmp_path, two_turns()) as replay:
        await replay.until(lambda: "built" in replay.text)  # its terminal is drawn again from its bytes
        assert "You are welcome." in replay.text
        assert "exit 0" in replay.text
        assert replay.position.at_s == replay.position.length_s
        assert replay.position.prompts == (2, 2)
        assert replay.position.note == "the end", "nothing is said of an agent that ends when all turns are over"


async def test_it_begins_at_the_first_prompt_however_long_that_took(tmp_path: Path) -> None:
    timeline = timeline_of(tmp_path, [*begun(), prompted(500.0, 2, "Go"), said(1000.0, "I do.")])
    with anyio.fail_after(TEST_LIMIT_S):
        async with ReplayApp(timeline, pace=Speed(max_wait_s=1000.0)).run_test(size=(100, 30)) as pilot:
            replay = Projection(pilot)
            await replay.until(lambda: "Go" in replay.text)
            assert replay.position.prompts == (1, 1)
            assert "I do." not in replay.text


async def test_a_permission_card_says_what_was_chosen_and_takes_no_answer(tmp_path: Path) -> None:
    async with projected(tmp_path, two_turns(), until=QUESTION) as replay:
        assert "chosen after 2.5 s: Allow once" in replay.text
        assert "❯ 1 y  Allow once" in replay.text
        shown = replay.text
        await replay.press("1", "2", "w", "f", "r")
        await replay.pilot.click("#options", offset=(6, 1))
        await settled(replay.pilot)
        assert replay.text == shown
        assert "Tab" not in replay.text  # nor does it say how to answer


def test_the_card_of_a_replay_has_no_key_and_no_message_that_answers() -> None:
    assert not issubclass(RecordedCard, AnswerableRequest)
    assert not RecordedCard.can_focus
    assert not list(RecordedCard._merge_bindings())
    assert "on_click" not in {name for base in RecordedCard.__mro__ for name in vars(base)}


async def test_a_question_that_nobody_answered_is_said_to_be_that(tmp_path: Path) -> None:
    async with projected(tmp_path, two_turns()[:6]) as replay:
        assert "unanswered in this recording" in replay.text


async def test_a_question_has_its_own_answer_although_each_process_counts_from_1(tmp_path: Path) -> None:
    asked = [event for event in two_turns() if event.at < 6.0]
    rejected = OwnAction(3.5, SessionId("s"), PermissionAnswered(RequestKey(1), "no"))
    again = [*asked[:-1], rejected, got(4.0, 2, stopReason="end_turn")]
    restart = Restarted(0.0, HEADER)
    events = [*asked, restart, *again, restart, *form({"name": "Ada"}), restart, *form({"name": "Grace"})[:-2]]
    async with projected(tmp_path, events, until=QUESTION) as replay:
        assert "chosen after 2.5 s: Allow once" in replay.text
        await replay.press("]", "right", "right", "right")
        assert "chosen after 0.5 s: Reject" in replay.text
        await replay.press("]", "right")
        assert "accepted after 2.0 s" in replay.text
        await replay.press("]", "right")
        assert "unanswered in this recording" in replay.text


async def test_keys_lead_from_prompt_to_prompt_and_from_event_to_event(tmp_path: Path) -> None:
    async with projected(tmp_path, two_turns()) as replay:
        await replay.press("[")
        assert replay.text.count("Thank you") == 1
        assert "You are welcome." not in replay.text
        await replay.press("[")
        assert "Fix it" in replay.text
        assert "I look" not in replay.text
        await replay.press("right", "right")
        assert "I look at it." in replay.text
        await replay.press("left")
        assert "I look at it." not in replay.text
        await replay.press("end")
        assert "You are welcome." in replay.text
        await replay.press("home")
        assert replay.position.prompts == (1, 2), "before, there is nothing to see"
        assert not replay.position.is_playing
        await replay.press("left", "left", "left")
        assert replay.position.at_s == 0.0


async def test_keys_scroll_and_choose_an_entry_as_in_a_session(tmp_path: Path) -> None:
    async with projected(
        tmp_path, [*begun(), *(prompted(1.0, number, f"Prompt {number}.") for number in range(30))]
    ) as replay:
        await replay.press("pageup", "pageup")
        assert "Prompt 29." not in replay.text
        await replay.press("up")
        assert isinstance(replay.pilot.app.focused, EntryView)
        await replay.press("pagedown", "pagedown")
        assert "Prompt 29." in replay.text


async def test_keys_pressed_faster_than_it_moves_add_up(tmp_path: Path) -> None:
    async with projected(tmp_path, two_turns()) as replay:
        await replay.press("home", "]", "[")
        assert replay.position.prompts == (1, 2)


async def test_space_pauses_and_plays_on_and_begins_anew_at_the_end(tmp_path: Path) -> None:
    timeline = timeline_of(tmp_path, two_turns())
    with anyio.fail_after(TEST_LIMIT_S):
        async with ReplayApp(timeline, pace=Speed(max_wait_s=1000.0)).run_test(size=(100, 30)) as pilot:
            replay = Projection(pilot)
            await replay.until(lambda: replay.position.is_playing)
            await replay.press("space")
            assert not replay.position.is_playing
            await replay.press("end", "space")
            await replay.until(lambda: replay.position.is_playing)
            assert "Fix it" in replay.text
            assert "I look at it." not in replay.text


async def test_the_speed_is_changed_by_key(tmp_path: Path) -> None:
    async with projected(tmp_path, two_turns()) as replay:
        await replay.press("plus")
        assert replay.position.speed == 0.25
        await replay.press("equals_sign", "minus", "plus", "plus")
        assert replay.position.speed == 1.0


async def test_going_back_in_ten_thousand_events_shows_what_was_there(tmp_path: Path) -> None:
    events = [*begun(), prompted(0.0, 2, "Go"), *(said(number / 100, "word ") for number in range(10_000))]
    async with projected(tmp_path, [*events, prompted(200.0, 3, "More")]) as replay:
        await replay.press("left", "left")
        assert replay.position.at_s == 99.98
        assert "More" not in replay.text
        await replay.until(lambda: "‖ 1:39 / 3:20" in replay.text)
        (bar,) = (line for line in replay.text.splitlines() if "‖ 1:39 / 3:20" in line)
        assert abs(bar.count("━") - bar.count("─")) <= 1, "half of the time has passed, after nearly all events"


async def test_what_needs_a_session_says_that_there_is_none(tmp_path: Path) -> None:
    async with projected(tmp_path, two_turns()) as replay:
        for key in ("f2", "f3", "f4", "f5", "f6", "f8", "ctrl+n", "alt+a", "alt+r", "ctrl+e", "ctrl+s", "delete"):
            before = replay.pilot.app.notices.shown
            await replay.press(key)
            assert replay.pilot.app.notices.shown is not before, key
            assert "Not available in a replay" in replay.pilot.app.notices.shown[-1].message, key
        await replay.press("f5")
        said = "Not available in a replay: show what has changed in the workspace."
        assert replay.pilot.app.notices.shown[-1].message == said


async def test_the_agents_sessions_are_shown_in_turn(tmp_path: Path) -> None:
    events = [*begun(), said(1.0, "the first"), *begun(2.0, "other", 2), said(3.0, "the second", "other")]
    async with projected(tmp_path, events) as replay:
        assert "the second" in replay.text
        assert "2 ● session" in replay.text
        await replay.press("tab")
        assert "the first" in replay.text
        await replay.press("tab")
        assert "the second" in replay.text


async def test_in_a_chosen_session_only_its_own_prompts_count(tmp_path: Path) -> None:
    first = [*begun(), prompted(1.0, 2, "one"), got(1.1, 2, stopReason="end_turn"), prompted(1.2, 3, "two")]
    second = [*begun(2.0, "other", 4), *(prompted(3.0, number, f"other {number}", "other") for number in range(5, 9))]
    async with projected(tmp_path, [*first, got(1.3, 3, stopReason="end_turn"), *second]) as replay:
        assert replay.position.prompts == (6, 6)
        await replay.press("tab")
        assert replay.position.prompts == (2, 2)
        await replay.press("[")
        assert replay.position.prompts == (2, 2)
        await replay.press("[")
        assert replay.position.prompts == (1, 2)
        assert "two" not in replay.text


async def test_an_agent_that_dies_in_a_turn_is_said_to_be_gone(tmp_path: Path) -> None:
    async with projected(tmp_path, [*two_turns()[:5], Exited(9.0, "exited with code 3")]) as replay:
        assert replay.position.note == "the agent's process exited with code 3"


async def test_what_was_said_can_be_found_and_the_search_closed(tmp_path: Path) -> None:
    async with projected(tmp_path, two_turns()) as replay:
        await replay.press("f9")
        await replay.pilot.press(*"welcome")
        await replay.until(lambda: "1 ·" in replay.text)
        await replay.pilot.press("escape")
        await replay.until(lambda: "Find" not in replay.text)
        await replay.press("[")
        assert replay.position.prompts == (2, 2)


async def test_help_lists_the_keys_and_does_what_is_chosen(tmp_path: Path) -> None:
    async with projected(tmp_path, two_turns()) as replay:
        await replay.pilot.press("f1")
        await replay.until(lambda: "Previous prompt" in replay.text)
        await replay.pilot.press(*"prompt before", "enter")
        await replay.until(lambda: "You are welcome." not in replay.text)


async def test_what_is_wrong_with_a_recording_is_said(tmp_path: Path) -> None:
    timeline = unread_timeline_of(
        tmp_path, [*two_turns(), Dropped(63.0, 5, "they arrived faster than they could be written")]
    )
    with timeline.recording.paths[0].open("a") as file:
        file.write("no event\n{}\n")
    with anyio.fail_after(TEST_LIMIT_S):
        async with ReplayApp(timeline, pace=AT_ONCE).run_test(size=(120, 30), notifications=True) as pilot:
            replay = Projection(pilot)
            await replay.until(lambda: "Skipped: line" in replay.text)
            await replay.paused()
            assert "5 events are missing" in replay.text
            await pilot.press("i")
            await replay.until(lambda: "couldn't be read (2)" in replay.text)


async def test_it_says_who_was_logged_in(tmp_path: Path) -> None:
    told = {"state": "authenticated", "accounts": [{"label": "Key \x1b[2J", "active": True}]}
    message = {"jsonrpc": "2.0", "method": "auth/status_update", "params": told}
    async with projected(tmp_path, [Frame(0.0, Direction.IN, json.dumps(message).encode())]) as replay:
        await replay.pilot.press("i")
        await replay.until(lambda: "Login    yes: Key ␛[2J in use" in replay.text)


async def test_a_recording_without_a_session_says_so(tmp_path: Path) -> None:
    async with projected(tmp_path, []) as replay:
        await replay.until(lambda: "Nothing was recorded." in replay.text)
        assert "no session with agent yet" in replay.text


class HeldRecording(Recording):
    """A recording of which only some events can be read, and then one for each release of `more`."""

    def __init__(self, folder: Path, events: Iterable[Event], count: int) -> None:
        whole = unread_timeline_of(folder, events).recording
        file = whole.paths[0].open("rb")
        file.readline()
        super().__init__(whole.paths, [file], whole.header)
        self.more = threading.Semaphore(0)
        self._count = count

    def with_messages(self, skip: Callable[[bytes], bool] = lambda _: False) -> Iterator[tuple[Event, Any]]:
        for number, each in enumerate(super().with_messages(skip)):
            if number >= self._count:
                assert self.more.acquire(timeout=TEST_LIMIT_S)
            yield each


async def test_a_long_recording_plays_while_it_is_read_and_its_end_waits_for_that(tmp_path: Path) -> None:
    recording = HeldRecording(tmp_path, two_turns(), 5)
    app = ReplayApp(Timeline(recording), pace=Speed(speed=16, max_wait_s=0.1))
    with anyio.fail_after(TEST_LIMIT_S):
        async with app.run_test(size=(100, 30), notifications=True) as pilot:
            replay = Projection(pilot)
            await replay.until(lambda: "I look at it." in replay.text)
            assert "reading the recording" in replay.text
            await pilot.press("end")
            assert replay.screen.timeline.length == 5
            recording.more.release(len(two_turns()))
            await replay.until(lambda: "You are welcome." in replay.text)
            await replay.until(lambda: "the end" in replay.text)
            assert replay.position.at_s == replay.position.length_s


def many_calls(count: int) -> Iterator[Event]:
    """A turn of calls with 70 KB each."""
    yield from (*begun(), prompted(0.5, 2, "Read everything"))
    output = [{"type": "content", "content": {"type": "text", "text": "line\n" * 12_000}}]
    for number in range(count):
        call = {"toolCallId": f"c{number}", "title": f"Call {number}", "status": "completed", "content": output}
        yield told(1.0 + number, sessionUpdate="tool_call", **call)
    yield said(1.0 + count, "All is read.")


async def test_the_end_of_a_long_recording_is_shown_while_the_rest_is_read(tmp_path: Path) -> None:
    recording = HeldRecording(tmp_path, many_calls(400), 5)
    app = ReplayApp(Timeline(recording), pace=Speed(speed=16, max_wait_s=0.1))

    def below_notices() -> list[str]:
        return replay.text.splitlines()[3:-2]

    with anyio.fail_after(TEST_LIMIT_S):
        async with app.run_test(size=(100, 30), notifications=True) as pilot:
            replay = Projection(pilot)
            await replay.until(lambda: "Read everything" in replay.text)
            await pilot.press("end")
            recording.more.release()
            await replay.until(lambda: "All is read." in replay.text)
            assert replay.screen.timeline.length == 6
            assert "reading the recording" in replay.text
            assert replay.position.at_s == replay.position.length_s
            shown = below_notices()
            await replay.press("left", "right", "left_square_bracket")  # moments around the end aren't known yet
            await replay.until(lambda: "Only the end has been read so far." in replay.text)
            assert below_notices() == shown

            while "What came before is still being read." not in replay.text:
                await pilot.press("pageup")
            recording.more.release(400)
            await replay.until(lambda: "reading the recording" not in replay.text)
            assert "What came before is still being read." in replay.text  # the viewer reads here

            await pilot.press("end")
            await replay.until(lambda: not replay.screen.projector.player.is_ahead)
            assert below_notices() == shown
            assert len(replay.screen.query_one(ConversationView).conversation.entries) == 402


async def test_the_events_of_a_recording_are_read_again_from_its_file(tmp_path: Path) -> None:
    timeline = timeline_of(tmp_path, two_turns())
    again = list(timeline.recording.paths[0].read_bytes().splitlines(keepends=True))
    assert list(timeline.events) == two_turns()
    assert all(one is not other for one, other in zip(timeline.events, timeline.events, strict=True))

    timeline.recording.paths[0].write_bytes(
        b"".join([again[0], *(b"?" * (len(line) - 1) + b"\n" for line in again[1:])])
    )
    assert {type(event) for event in timeline.events} == {UnknownEvent}


def test_a_narrow_bar_leaves_out_the_prompts_and_then_the_track() -> None:
    position = Position(1825, 3650, is_playing=True, speed=2.0, prompts=(1, 3))
    assert bar_of(position, 60).plain == "▶ 30:25 / 1:00:50  " + "━" * 10 + "─" * 11 + "  prompt 1 of 3 · ×2"
    assert bar_of(position, 40).plain == "▶ 30:25 / 1:00:50  " + "━" * 8 + "─" * 9 + "  ×2"
    assert bar_of(position, 24).plain == "▶ 30:25 / 1:00:50    ×2"


async def test_keys_that_the_user_chose_count_in_a_replay_too(tmp_path: Path) -> None:
    chosen = (
        KeyChoice("find", ("ctrl+g",)),
        KeyChoice("replay_play", ("x",)),
        KeyChoice("show_changes", ("ctrl+x",)),
    )
    timeline = unread_timeline_of(tmp_path, two_turns())
    app = ReplayApp(timeline, pace=AT_ONCE, settings=Settings(keys=chosen))
    with anyio.fail_after(TEST_LIMIT_S):
        async with app.run_test(size=(100, 30), notifications=True) as pilot:
            replay = Projection(pilot)
            await replay.paused()
            await pilot.press("f9")
            assert not replay.screen.query("FindBar")
            before = pilot.app.notices.shown
            await pilot.press("f5")
            assert pilot.app.notices.shown is before, "nothing is refused that the key no longer does"
            await pilot.press("ctrl+x")
            said = "Not available in a replay: show what has changed in the workspace."
            assert pilot.app.notices.shown[-1].message == said
            await pilot.press("ctrl+g")
            await replay.until(lambda: bool(replay.screen.query("FindBar")))
            await pilot.press("escape", "home")
            await replay.until(lambda: replay.position.prompts == (1, 2))
            await pilot.press("space")
            assert not replay.screen.projector.plays
            await pilot.press("x")
            await replay.until(lambda: "You are welcome." in replay.text)
            await pilot.press("f1")
            await replay.until(lambda: "Find in the conversation" in replay.text)
            assert "Ctrl+G" in replay.text


async def test_a_form_is_shown_with_what_was_filled_in_and_what_was_masked(tmp_path: Path) -> None:
    async with projected(tmp_path, form(values={"name": "***", "signed": True})[:-2]) as replay:
        assert "Who signs?" in replay.text
        assert "unanswered in this recording" in replay.text
    async with projected(tmp_path, form(values={"name": "***", "signed": True}), until=Spot(events=4)) as replay:
        assert "accepted after 2.0 s" in replay.text
        assert "Name *  filled in, masked" in replay.text
        assert "Signed  yes" in replay.text
        assert "Mail    left empty" in replay.text
        await replay.press("end")
        assert "accepted after" not in replay.text


async def test_the_keys_of_a_replay_are_told_below_it(tmp_path: Path) -> None:
    async with projected(tmp_path, two_turns()) as replay:
        assert replay.text.splitlines()[-1].strip().startswith("Space play · ← → events · [ ] prompts")
        assert replay.text.endswith("q quit")
