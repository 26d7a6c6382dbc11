"""When an answer counts."""

import math
import os
import time
from collections.abc import Callable
from random import Random
from types import SimpleNamespace

import pytest
from textual.events import Key, Paste

from acp_tui.ui.kit import answer_guard
from acp_tui.ui.kit.answer_guard import GUARD_S, REPEAT_S, AnswerGuard, age_of
from support.screens import Clock

pytestmark = pytest.mark.usefixtures("keys_wait")


def pressed(key: str = "1", age_s: float = 0.0) -> Key:
    """A key pressed this long ago."""
    event = Key(key, key)
    event.time = time.monotonic() - age_s
    return event


@pytest.fixture
def clock() -> Clock:
    """Stands still."""
    return Clock()


@pytest.fixture
def guard(clock: Clock) -> AnswerGuard:
    """On something that was in view for a second."""
    guard = AnswerGuard(clock)
    clock.now_s += 1
    return guard


def test_it_opens_a_moment_after_it_was_armed_last(guard: AnswerGuard, clock: Clock) -> None:
    guard.arm()
    clock.now_s += GUARD_S - 0.001
    assert not guard.is_open
    clock.now_s += 0.001
    assert guard.is_open


def test_a_key_counts_behind_a_pause_and_ends_it(guard: AnswerGuard, clock: Clock) -> None:
    assert guard.takes(pressed("x"))
    assert not guard.takes(pressed("1"))
    clock.now_s += GUARD_S + 0.1
    assert guard.takes(pressed("1"))


def test_asked_twice_about_one_key_it_says_the_same(guard: AnswerGuard) -> None:
    key = pressed()
    assert guard.takes(key)
    assert guard.takes(key)


def test_what_was_pressed_before_it_opened_does_not_count_however_late_it_is_read(
    guard: AnswerGuard, clock: Clock
) -> None:
    guard.arm()
    clock.now_s += 10
    assert not guard.takes(pressed("1", age_s=9.9))
    assert guard.takes(pressed("2", age_s=5))


def test_a_key_that_counted_counts_again_only_when_it_cannot_have_been_held(guard: AnswerGuard, clock: Clock) -> None:
    assert guard.takes(pressed("1"))
    other = AnswerGuard(clock)
    for pause_s in (0.66, 0.5, 1.0, 0.03):
        clock.now_s += pause_s
        assert not other.takes(pressed("1"))
    clock.now_s += GUARD_S + 0.1
    assert other.takes(pressed("2"))
    clock.now_s += REPEAT_S + 0.1
    assert other.takes(pressed("2"))


def test_a_key_that_came_too_early_counts_behind_a_pause_unless_something_changed(
    guard: AnswerGuard, clock: Clock
) -> None:
    guard.arm()
    assert not guard.takes(pressed("1"))
    clock.now_s += GUARD_S + 0.1
    assert guard.takes(pressed("1"))

    clock.now_s += REPEAT_S + 0.1
    guard.arm()
    assert not guard.takes(pressed("1"))
    guard.arm()
    clock.now_s += GUARD_S + 0.1
    assert not guard.takes(pressed("1"))


def test_a_wait_that_nobody_notices_is_none() -> None:
    assert age_of(10.0, 10.04) == 0
    assert age_of(10.0, 11.0) == 1.0


SEQUENCES = int(os.environ.get("ACP_TUI_KEY_SEQUENCES", "300")) * 10


class Asked:
    """A question on a card, form, or dialog, and what happened to it; each has such a guard."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.guard = AnswerGuard(clock)
        self.changed_s = clock()
        self.pressed_s = -math.inf


def test_no_sequence_over_several_questions_is_an_answer_without_a_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Waiting keys, held keys, the mouse, and questions that change or replace each other."""
    taken = 0
    for seed in range(SEQUENCES):
        random, now = Random(seed), SimpleNamespace(s=1_000.0 * seed)

        def clock(now: SimpleNamespace = now) -> float:
            return float(now.s)

        monkeypatch.setattr(answer_guard, "time", SimpleNamespace(monotonic=clock))
        AnswerGuard.last_press = None
        questions = [Asked(clock) for _ in range(3)]
        last: tuple[str, float, Asked, bool] = ("", -math.inf, questions[0], True)
        for _ in range(40):
            now.s += random.choice((0.0, 0.03, 0.2, 0.39, 0.41, 0.7, 1.2))
            asked = random.choice(questions[: random.randint(1, 3)])
            if random.random() < 0.25:
                asked.guard.arm()
                asked.changed_s = now.s
                continue
            key = random.choice("1111yn")
            at_s = now.s - random.choice((0.0, 0.0, 0.0, 0.1, 0.5))
            event = Key(key, key) if random.random() < 0.8 else Paste(key)
            event.time = at_s
            name = key if isinstance(event, Key) else ""
            is_taken = asked.guard.takes(event)
            assert asked.guard.takes(event) is is_taken
            if is_taken:
                taken += 1
                assert at_s - asked.changed_s >= GUARD_S - 1e-6, seed
                assert at_s - asked.pressed_s >= GUARD_S - 1e-6, seed
                if name and name == last[0] and at_s - last[1] < REPEAT_S:
                    was_in_vain = last[2] is asked and not last[3] and asked.changed_s <= last[1] + 1e-6
                    assert was_in_vain, (seed, "a held key")
            asked.pressed_s = max(asked.pressed_s, at_s)
            last = (name, at_s, asked, is_taken)
        now.s += 10
        event = Key("y", "y")
        event.time = now.s
        assert questions[0].guard.takes(event), "behind a pause it counts"
    assert taken > SEQUENCES
