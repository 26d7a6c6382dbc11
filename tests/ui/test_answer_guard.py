"""When an answer counts."""

import time

import pytest
from textual.events import Key

from acp_tui.ui.kit.answer_guard import GUARD_S, REPEAT_S, AnswerGuard, age_of
from support.screens import Clock

pytestmark = pytest.mark.usefixtures("keys_wait")


def pressed(key: str = "1", age_s: float = 0.0) -> Key:
    """A key that was pressed so long ago."""
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


def test_a_key_that_counted_counts_again_only_when_it_cannot_have_been_held(
    guard: AnswerGuard, clock: Clock
) -> None:
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
