"""When an answer counts."""

from acp_tui.ui.widgets.answer_guard import GUARD_S, AnswerGuard, age_of


def test_it_opens_a_moment_after_it_was_armed_last() -> None:
    now_s = 0.0
    guard = AnswerGuard(lambda: now_s)
    assert not guard.is_open
    now_s = GUARD_S
    assert guard.is_open
    guard.arm()
    assert not guard.is_open
    now_s = 2 * GUARD_S - 0.001
    assert not guard.is_open
    now_s = 2 * GUARD_S
    assert guard.is_open


def test_what_was_done_before_it_opened_does_not_count_however_late_it_is_read() -> None:
    now_s = 0.0
    guard = AnswerGuard(lambda: now_s)
    now_s = GUARD_S + 1
    assert guard.was_open(0.9)
    assert not guard.was_open(1.1)


def test_a_wait_that_nobody_notices_is_none() -> None:
    assert age_of(10.0, 10.04) == 0
    assert age_of(10.0, 11.0) == 1.0
