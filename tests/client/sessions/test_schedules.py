"""What `/later` means."""

from __future__ import annotations

from datetime import datetime

import pytest

from acp_tui.client.sessions.prompt_queue import PromptQueue
from acp_tui.client.sessions.schedule import MAX_TIMES, TIMES, NotATime, Schedule, later

NOW = datetime(2026, 7, 1, 14, 0, 10).timestamp()


def at(day: int, hour: int, minute: int) -> float:
    return datetime(2026, 7, day, hour, minute).timestamp()


@pytest.mark.parametrize(
    ("when", "due"),
    [
        ("20s", NOW + 20),
        ("20m", NOW + 1200),
        ("2H", NOW + 7200),
        ("1d", NOW + 86400),
        ("14:30", at(1, 14, 30)),
        ("9:05", at(2, 9, 5)),
        ("14:00", at(2, 14, 0)),
        ("reset", NOW + 77),
    ],
)
def test_later_is_after_a_pause_at_a_time_or_when_the_limit_resets(when: str, due: float) -> None:
    assert later(f"{when}  Go on ", NOW, NOW + 77) == Schedule(f"/later {when}  Go on ", "Go on", due)


@pytest.mark.parametrize(
    "words", ["", "20m", "soon do it", "20 do it", "0s do it", "8d do it", "24:00 do it", "1:5 do it"]
)
def test_what_names_no_time_is_no_schedule(words: str) -> None:
    with pytest.raises(NotATime):
        later(words, NOW, None)


def test_without_a_known_reset_there_is_no_waiting_for_it() -> None:
    with pytest.raises(NotATime, match="hasn't said when"):
        later("reset go on", NOW, None)


def test_a_repeat_has_a_pause_and_maybe_a_count_and_a_command_that_ends_it() -> None:
    told = later("every 10m x6 Fix it, until it works. until make test until=1", NOW, None)
    assert told[1:] == ("Fix it, until it works.", NOW, 600, 6, "make test until=1")
    assert later("every 1h x2 Report", NOW, None)[1:] == ("Report", NOW, 3600, 2, "")


def test_a_repeat_without_a_count_says_how_often_it_is_sent() -> None:
    told = later("every 10m 3 files x2 until true", NOW, None)
    assert told == Schedule("/later every 10m x10 3 files x2 until true", "3 files x2", NOW, 600, TIMES, "true")
    left = told.sent(NOW)
    assert left is not None
    assert left.written == "/later every 10m x9 3 files x2 until true"
    assert later(left.written.removeprefix("/later "), NOW, None).times == TIMES - 1


@pytest.mark.parametrize(
    "words", ["", "10m", "10m x6", "10m x0 do it", f"10m x{MAX_TIMES + 1} do it", "soon x3 do it", "1s x3  until x"]
)
def test_what_has_no_end_is_no_repeat(words: str) -> None:
    with pytest.raises(NotATime):
        later(f"every {words}", NOW, None)


def test_scheduled_prompts_wait_in_the_order_of_their_times_and_can_be_taken_back() -> None:
    queue = PromptQueue()
    queue.add("now")
    for words in ("2m second", "1m first", "3m third"):
        queue.schedule(later(words, NOW, None))
    assert [each.text for each in queue.scheduled] == ["first", "second", "third"]
    taken = queue.take(queue.scheduled[1].key)
    assert taken is not None
    assert taken.text == "/later 2m second"
    queue.hold()
    [(prompt, due)] = queue.take_due(NOW + 60)
    assert due.text == "first"
    assert queue.take_due(NOW + 60) == []
    assert queue.reschedule(prompt.key, None)
    assert not queue.reschedule(prompt.key, due)
    assert [each.text for each in queue.scheduled] == ["third"]
    assert [each.text for each in queue.prompts] == ["now"]
