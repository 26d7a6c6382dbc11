"""When a terminal has shown what was painted: told by its answers, however late, lost, or many they are."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from textual.geometry import Region

from acp_tui.ui.textual_gaps import fence as fences
from acp_tui.ui.textual_gaps.fence import Fence
from support.waiting import LIMIT_S


class Terminal:
    """Counts what it is asked. The test answers."""

    def __init__(self) -> None:
        self.questions = 0
        self.sure: list[int] = []
        self.lag_s = 0.0
        self.has_news = True

    def ask(self, *, surely: bool = False) -> None:
        """Ask."""
        self.questions += 1
        self.sure += [self.questions] * surely
        self.has_news = False

    def question_behind_all(self) -> int:
        """Ask, if something was sent since the last question."""
        if self.has_news:
            self.ask()
        return self.questions

    def has_input_since(self, at_s: float) -> bool:
        """Nobody types."""
        return False


class Shown:
    """One widget behind a fence."""

    def __init__(self) -> None:
        self.terminal = Terminal()
        self.missed: set[int] = set()
        screen = SimpleNamespace(find_widget=lambda _: SimpleNamespace(visible_region=Region(0, 2, 10, 3)))
        app: Any = SimpleNamespace(_batch_count=0, screen_stack=[screen])
        self.widget: Any = SimpleNamespace(is_attached=True, screen=screen, call_after_refresh=_call)
        self.fence = Fence(app, lambda: self.terminal, self.missed)
        self.told: list[float] = []
        self.event = anyio.Event()

    def wait(self) -> None:
        """Wait for the widget as it is now."""
        self.fence.when_shown("key", self.widget, self.tell)

    def tell(self, at_s: float) -> None:
        """Record when it was shown."""
        self.told.append(at_s)
        self.event.set()

    def answer(self, count: int, number: int | None = None) -> None:
        """The terminal's answer with this count, perhaps saying for which question it is."""
        self.fence.note_answered(count, time.monotonic(), number)

    async def lose_patience(self, times: int = 1) -> None:
        """Wait until the terminal is asked again."""
        questions = self.terminal.questions
        with anyio.fail_after(LIMIT_S):
            while self.terminal.questions < questions + times:
                await anyio.lowlevel.checkpoint()


def _call(callback: Callable[..., None], *args: Any) -> bool:
    callback(*args)
    return True


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    monkeypatch.setattr(fences, "UNANSWERED_S", 0.02)
    return Shown()


async def test_it_is_shown_when_the_question_behind_it_is_answered(shown: Shown) -> None:
    shown.wait()
    assert (shown.terminal.questions, shown.told) == (1, [])
    shown.answer(1)
    assert len(shown.told) == 1


async def test_what_was_not_sent_is_not_asked_about(shown: Shown) -> None:
    shown.missed.add(3)
    shown.wait()
    assert shown.terminal.questions == 0
    shown.missed.clear()
    shown.fence.note_sent()
    assert shown.terminal.questions == 1


async def test_an_answer_to_an_earlier_question_shows_nothing_of_what_came_later(shown: Shown) -> None:
    shown.wait()
    shown.terminal.has_news = True
    shown.wait()
    shown.answer(1)
    assert shown.told == []
    shown.answer(2)
    assert len(shown.told) == 1


@pytest.mark.parametrize(("pause_s", "times"), [(0.0, 1), (1000.0, 0)])
async def test_what_was_sent_whole_a_glance_before_it_left_is_shown(
    shown: Shown, monkeypatch: pytest.MonkeyPatch, pause_s: float, times: int
) -> None:
    monkeypatch.setattr(fences, "GLANCE_S", pause_s)
    shown.wait()
    shown.fence.leave("key")
    shown.answer(1)
    assert len(shown.told) == times


async def test_what_left_before_it_was_sent_whole_is_not_shown(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fences, "GLANCE_S", 0.0)
    shown.missed.add(3)
    shown.wait()
    shown.fence.leave("key")
    shown.missed.clear()
    shown.fence.note_sent()
    shown.answer(1)
    assert shown.told == []


async def test_what_looks_as_before_is_shown_already(shown: Shown) -> None:
    shown.wait()
    shown.answer(1)
    shown.wait()
    assert (shown.terminal.questions, len(shown.told)) == (1, 2)


async def test_more_answers_than_questions_are_not_relied_on(shown: Shown) -> None:
    shown.wait()
    shown.answer(1)
    shown.answer(2)
    assert shown.fence.lag_s
    shown.event, shown.terminal.has_news = anyio.Event(), True
    shown.wait()
    shown.answer(3)
    assert len(shown.told) == 1, "only a while after the answer"
    await shown.event.wait()
    assert len(shown.told) == 2


async def test_what_a_multiplexer_answers_is_shown_only_a_while_later(shown: Shown) -> None:
    shown.terminal.lag_s = 0.02
    shown.wait()
    shown.answer(1)
    assert shown.told == []
    with anyio.fail_after(LIMIT_S):
        await shown.event.wait()


async def test_what_it_answered_before_the_terminal_was_lent_shows_nothing(shown: Shown) -> None:
    shown.terminal.lag_s = 0.02
    shown.wait()
    shown.answer(1)
    shown.fence.restart()
    later = anyio.Event()
    asyncio.get_running_loop().call_later(shown.terminal.lag_s, later.set)
    await later.wait()
    assert shown.told == []


async def test_a_terminal_that_never_answers_gets_time(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fences, "LOST_S", 0.0)
    assert shown.fence.is_silent
    shown.wait()
    assert shown.told == []
    await shown.event.wait()


@pytest.fixture
async def behind(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> Shown:
    """A widget behind the fourth question, of which only the first two are answered for long."""
    shown.wait()
    shown.answer(1)
    monkeypatch.setattr(fences, "LOST_S", 0.02)
    shown.event = anyio.Event()
    for _ in range(3):
        shown.terminal.ask()
    shown.wait()
    shown.answer(2)
    return shown


async def test_lost_answers_are_made_up_for_by_a_question_whose_answer_cannot_be_mistaken(behind: Shown) -> None:
    await behind.lose_patience()
    assert (behind.terminal.sure, len(behind.told)) == ([5], 1)
    behind.answer(3, 5)
    assert len(behind.told) == 2
    behind.terminal.has_news = True
    behind.wait()
    behind.answer(4)
    assert len(behind.told) == 3
    assert not behind.fence.lag_s


async def test_answers_that_are_only_late_are_not_taken_for_later_ones(behind: Shown) -> None:
    await behind.lose_patience()
    behind.terminal.has_news = True
    behind.wait()  # behind the sixth question
    for count in (3, 4):
        behind.answer(count)
    behind.answer(5, 5)
    assert len(behind.told) == 1
    behind.answer(6)
    assert len(behind.told) == 2


async def test_a_terminal_that_does_not_know_the_sure_question_is_not_relied_on(behind: Shown) -> None:
    await behind.lose_patience()
    behind.answer(3)
    await behind.lose_patience()
    assert behind.fence.lag_s
    behind.answer(4)
    assert len(behind.told) == 1, "only a while after the answer"
    with anyio.fail_after(LIMIT_S):
        await behind.event.wait()


async def test_what_the_user_knows_already_needs_only_an_answer(shown: Shown) -> None:
    shown.terminal.lag_s = LIMIT_S
    shown.fence.when_shown("key", shown.widget, shown.tell, is_known=True)
    assert shown.told == []
    shown.answer(1)
    assert len(shown.told) == 1
