"""When an answer counts."""

from acp_tui.ui.widgets.answer_guard import GUARD_S, AnswerGuard


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
