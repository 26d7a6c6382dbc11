"""What a key on a question is: an answer, text for the draft, or neither. No screen is needed."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import Any, Final

import pytest
from textual.binding import Binding
from textual.events import Key, MouseDown, Paste
from textual.widget import Widget

from acp_tui.ui.kit import answer_guard
from acp_tui.ui.kit.answer_guard import GUARD_S, REPEAT_S, WARNING_S, AnswerGuard, QuestionGuard
from support.screens import Clock

YES: Final = Binding("y", "yes", "Yes")
NO: Final = Binding("n", "no", "No")
BINDINGS: Final = {
    "y": YES,
    "n": NO,
    "space": Binding("space", "page", "Page"),
    "tab": Binding("tab", "stay", "Stay"),
}
SEQUENCES: Final = int(os.environ.get("ACP_TUI_KEY_SEQUENCES", "300"))

pytestmark = pytest.mark.usefixtures("keys_are_held")


class Timer:
    """Fires when the question's time gets there, unless it was stopped."""

    def __init__(self, at_s: float, callback: Callable[[], Any]) -> None:
        self.at_s = at_s
        self.callback = callback
        self.is_on = True

    def stop(self) -> None:
        self.is_on = False


class Question:
    """Asks something: `y` says yes, `n` no, the space bar pages. Everything else is text."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.guard = QuestionGuard(self, self.clock)
        self.done: list[tuple[str, bool]] = []
        """What keys did, and whether it could be an answer."""
        self.allowed = self.rejected = False
        self.draft = ""
        self.warning = ""
        self._timers: list[Timer] = []
        self.clock.pass_guard()

    def warn(self, text: str) -> None:
        self.warning = text

    def write(self, text: str, *, is_paste: bool = False) -> None:
        self.draft += text

    def binding_of(self, key: str) -> Binding | None:
        return BINDINGS.get(key)

    async def run_action(self, action: str) -> None:
        self.done.append((action, self.guard.can_answer))
        self.allowed |= action == "yes" and self.guard.may_answer("press it again")
        self.rejected |= action == "no" and self.guard.may_answer("press it again", rejects=True)

    def set_timer(self, delay: float, callback: Callable[[], Any]) -> Any:
        self._timers.append(Timer(self.clock.now_s + delay, callback))
        return self._timers[-1]

    async def press(self, *keys: str, after_s: float = 0.0) -> None:
        """Press these keys, each after this pause."""
        for key in keys:
            await self.wait(after_s)
            event = Key(key, " " if key == "space" else key if len(key) == 1 else None)
            event.time = self.clock()
            decides = {"y": "Yes", "n": "No"}.get(key, "")
            await self.guard.take_key(event, decides, rejects=key == "n")

    async def wait(self, for_s: float) -> None:
        self.clock.now_s += for_s
        for timer in [each for each in self._timers if each.is_on and each.at_s <= self.clock.now_s]:
            timer.is_on = False
            after = timer.callback()
            if after is not None:
                await after


@pytest.fixture
def question(monkeypatch: pytest.MonkeyPatch) -> Question:
    """It came by itself, and was in view for a while."""
    monkeypatch.setattr(answer_guard, "WARNING_S", WARNING_S)
    return Question()


async def test_a_key_that_decides_is_held_and_answers_if_nothing_follows(question: Question) -> None:
    await question.press("y")
    assert (question.done, question.warning) == ([], "Yes in a moment; to write instead, type on")
    await question.wait(answer_guard.HOLD_S)
    assert (question.done, question.warning, question.draft) == ([("yes", True)], "", "")
    assert not question.guard.can_answer


async def test_a_key_that_is_held_is_text_if_another_letter_follows(question: Question) -> None:
    await question.press(*"yes", after_s=0.2)
    await question.wait(10)
    assert (question.done, question.draft, question.warning) == ([], "yes", "")


async def test_a_key_that_is_pressed_again_is_no_text_until_another_letter_follows(question: Question) -> None:
    await question.press(*"yyy", after_s=0.2)
    assert (question.done, question.draft) == ([], "")
    assert question.warning == "Too soon: pause 2 s, then press y again"
    await question.press("e", after_s=0.2)
    await question.wait(10)
    assert (question.done, question.draft) == ([], "yyye")


async def test_a_letter_that_follows_slowly_loses_nothing(question: Question, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_guard, "HOLD_S", 1.0)  # as for those who type slowly
    await question.press("y", "e", after_s=GUARD_S + 0.1)
    await question.wait(10)
    assert (question.done, question.draft) == ([], "ye")


@pytest.mark.parametrize("ends", ["arm", "down", "paste", "click"])
async def test_anything_that_happens_ends_the_hold(question: Question, ends: str) -> None:
    await question.press("y")
    if ends == "arm":
        question.guard.arm()
    elif ends == "paste":
        question.guard.take_paste(Paste("text"))
    elif ends == "click":
        question.guard.press(MouseDown(None, 0, 0, 0, 0, 1, False, False, False), None)
    else:
        await question.press(ends)
    await question.wait(10)
    assert (question.done, question.warning) == ([], "")


async def test_a_key_that_decides_too_soon_is_told_so_and_is_text_if_another_follows(question: Question) -> None:
    question.guard.arm()
    await question.press("y")
    assert question.warning == "Too soon: pause 1 s, then press y again"
    assert question.draft == ""
    await question.press("o", after_s=0.2)
    await question.wait(10)
    assert (question.done, question.draft) == ([], "yo")


@pytest.mark.parametrize("has_come", [False, True])
async def test_a_rejection_of_what_was_read_needs_no_pause_before_it(question: Question, has_come: bool) -> None:
    if has_come:
        question.guard.come()
    for key, again in (("n", [("no", True)]), ("y", [])):
        question.done.clear()
        question.guard.arm()  # something was above it
        await question.press(key, after_s=0.1)
        assert [each for each in question.done if each[1]] == []
        await question.wait(answer_guard.HOLD_S)
        assert [each for each in question.done if each[1]] == again
        question.clock.pass_guard()


async def test_a_rejection_of_what_reads_differently_is_too_soon(question: Question) -> None:
    question.guard.note_news()
    question.guard.arm()
    await question.press("n", after_s=0.1)
    await question.wait(answer_guard.HOLD_S)
    assert question.done == []
    assert "Too soon" in question.warning


async def test_a_rejection_after_a_return_is_text_next_to_another_letter(question: Question) -> None:
    for keys in ("no", " n"):
        question.draft = ""
        question.guard.arm()
        await question.press(*({" ": "space"}.get(key, key) for key in keys), after_s=0.1)
        await question.wait(10)
        assert ("no", True) not in question.done, keys
    await question.press("x")
    assert question.draft == "x"


@pytest.mark.parametrize("ends", ["key", "click", "paste", "change"])
async def test_too_soon_is_said_until_something_is_pressed_or_the_question_changes(
    question: Question, ends: str
) -> None:
    question.guard.arm()
    await question.press("y")
    await question.wait(WARNING_S - 0.1)
    assert "Too soon" in question.warning
    if ends == "key":
        await question.press("down")
    elif ends == "click":
        question.guard.press(MouseDown(None, 0, 0, 0, 0, 1, False, False, False), None)
    elif ends == "paste":
        question.guard.take_paste(Paste("text"))
    else:
        question.guard.note_news()
    assert question.warning == ""


async def test_too_soon_gives_way_to_the_keys_once_it_was_read_and_a_key_would_count(question: Question) -> None:
    question.guard.arm()
    await question.press("y")
    question.guard.note_move()  # the question moves, so that the pause begins again
    await question.wait(WARNING_S - 0.1)
    question.guard.note_move()
    await question.wait(0.1)
    assert "Too soon" in question.warning
    await question.wait(GUARD_S)
    assert question.warning == ""


async def test_too_soon_is_there_to_read_from_when_it_got_to_the_users_screen(
    question: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Callable[[float], None]] = []
    question.guard.arm()
    monkeypatch.setattr(QuestionGuard, "when_shown", lambda *words, **_: shown.append(words[-1]))
    await question.press("y")
    await question.wait(60)
    assert "Too soon" in question.warning
    shown[-1](time.monotonic())
    await question.wait(WARNING_S - 0.1)
    assert "Too soon" in question.warning
    await question.wait(GUARD_S)
    assert question.warning == ""


async def test_a_warning_that_something_else_is_asked_stays_until_that_is_gone(
    question: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QuestionGuard, "is_asked_elsewhere", True)
    await question.press("n", after_s=1)
    await question.wait(WARNING_S)
    await question.wait(60)
    assert "asked something else" in question.warning
    monkeypatch.setattr(QuestionGuard, "is_asked_elsewhere", False)
    await question.wait(GUARD_S)
    assert question.warning == ""


@pytest.mark.usefixtures("keys_wait")
async def test_a_letter_pressed_before_the_keyboards_way_was_in_view_is_text(question: Question) -> None:
    question.guard.come_unasked()
    question.guard.arm()
    event = Key("y", "y")
    event.time = time.monotonic() - GUARD_S
    await question.guard.take_key(event, "Yes")
    assert (question.done, question.draft, question.warning) == ([], "y", "")


@pytest.mark.parametrize("comes", ["tab", "click"])
async def test_for_a_user_who_has_come_each_key_counts_at_once(question: Question, comes: str) -> None:
    if comes == "tab":
        await question.press("tab")
        question.done.clear()
    else:
        question.guard.press(MouseDown(None, 0, 0, 0, 0, 1, False, False, False), None)
    await question.press("y", after_s=GUARD_S + 0.1)
    assert question.done == [("yes", True)]


async def test_while_the_user_writes_all_letters_are_text_until_tab(question: Question) -> None:
    question.guard.is_writing = True
    await question.press("y", "enter", "y", after_s=GUARD_S + 0.1)
    assert (question.done, question.draft) == ([], "yy")
    await question.press("tab", "y", after_s=GUARD_S + 0.1)
    assert question.done == [("stay", True), ("yes", True)]


async def test_a_letter_that_means_nothing_is_text_with_what_came_right_before(question: Question) -> None:
    question.guard.come()
    await question.press("y", "space", "x")
    assert question.done == [("yes", True), ("page", False)]
    assert question.draft == "y x"


def test_a_paste_is_text(question: Question) -> None:
    question.guard.take_paste(Paste("y"))
    assert (question.done, question.draft) == ([], "y")


def test_a_press_soon_after_a_release_does_not_count(question: Question) -> None:
    counted: list[bool] = []
    for pause_s in (GUARD_S, GUARD_S / 2):
        question.clock.now_s += pause_s
        question.guard.press(MouseDown(None, 0, 0, 0, 0, 1, False, False, False), "yes")
        question.guard.click("yes", lambda: counted.append(question.guard.can_answer))
    assert counted == [True, False]


def test_a_click_counts_where_the_mouse_was_pressed(question: Question) -> None:
    counted: list[bool] = []
    question.guard.press(MouseDown(None, 0, 0, 0, 0, 1, False, False, False), "yes")
    question.guard.click("yes", lambda: counted.append(question.guard.can_answer))
    question.guard.click("yes", lambda: counted.append(question.guard.can_answer))
    assert counted == [True, False]
    assert not question.guard.can_answer


async def test_a_question_that_moves_does_not_lose_a_key_that_is_held(question: Question) -> None:
    """It moves where it says so and that takes another row."""
    await question.press("y")
    question.guard.note_move()
    await question.wait(answer_guard.HOLD_S)
    assert (question.done, question.warning) == ([("yes", True)], "")


class Card(Question, Widget):
    """A question on a screen, where `enter` says yes, too, and `escape` no."""

    def __init__(self) -> None:
        Widget.__init__(self)
        Question.__init__(self)

    @property
    def app(self) -> Any:
        """It knows nothing of its user's keys."""
        return None

    @property
    def screen(self) -> Any:
        """It has no keys of its own."""
        return SimpleNamespace(is_current=True, _bindings=SimpleNamespace(key_to_bindings={}))

    def binding_of(self, key: str) -> Binding | None:
        return {"enter": YES, "escape": NO}.get(key, super().binding_of(key))


class Multiplexer:
    """Stands for the terminal, and answers when the test says so; what it has shown gets to the user's screen later."""

    def __init__(self, lag_s: float = 0.0) -> None:
        self.lag_s = lag_s
        self._waits: dict[object, tuple[Callable[[float], None], bool]] = {}
        self._on_its_way: dict[object, tuple[float, Callable[[float], None]]] = {}
        self.answered_s = math.inf
        """When it had shown the question as it is now."""

    def when_shown(
        self,
        key: tuple[object, str],
        _widget: Widget,
        tell: Callable[[float], None],
        *,
        is_known: bool = False,
        is_same: bool = False,
    ) -> None:
        if is_same and key in self._on_its_way:
            return
        self._on_its_way.pop(key, None)
        self._waits[key] = tell, is_known
        if key[1] != "too soon":  # that isn't about the question
            self.answered_s = math.inf

    def is_awaited(self, key: object) -> bool:
        return key in self._waits

    def has_input_since(self, at_s: float) -> bool:
        """Nobody types ahead."""
        return False

    def answer(self, now_s: float) -> None:
        """Say that it has shown all that it was given."""
        self.answered_s = min(self.answered_s, now_s)
        for key, (tell, is_known) in self._waits.items():
            if is_known:
                tell(now_s)
            else:
                self._on_its_way[key] = now_s + self.lag_s, tell
        self._waits.clear()

    def pass_on(self, now_s: float) -> None:
        """Get what is due to the user's screen."""
        for key, (at_s, tell) in tuple(self._on_its_way.items()):
            if at_s <= now_s:
                del self._on_its_way[key]
                tell(at_s)


@pytest.fixture
def multiplexer(monkeypatch: pytest.MonkeyPatch) -> Multiplexer:
    """Between every question and its user."""
    between = Multiplexer()
    monkeypatch.setattr(answer_guard, "fence_of", lambda _: between)
    return between


@pytest.mark.parametrize(
    ("was_shown", "comes", "is_other"),
    [(True, True, False), (True, False, False), (False, True, False), (False, False, False), (True, True, True)],
)
async def test_only_a_question_that_was_on_the_users_screen_needs_no_time_to_get_there(
    was_shown: bool, comes: bool, is_other: bool, multiplexer: Multiplexer, monkeypatch: pytest.MonkeyPatch
) -> None:
    multiplexer.lag_s = 5.0
    card = Card()
    monkeypatch.setattr(answer_guard, "time", SimpleNamespace(monotonic=card.clock))
    card.guard.note_news()
    multiplexer.answer(card.clock())
    card.clock.now_s += multiplexer.lag_s if was_shown else 1.0
    multiplexer.pass_on(card.clock())
    if comes:
        card.guard.come()
    card.guard.note_focus()
    if is_other:
        card.guard.arm()
    multiplexer.answer(card.clock())
    card.clock.now_s += GUARD_S
    multiplexer.pass_on(card.clock())
    await card.press("enter")
    assert card.allowed == (was_shown and not is_other)
    if not card.allowed:
        assert card.warning == "Too soon: pause 6 s, then press it again"
        card.clock.now_s += multiplexer.lag_s
        multiplexer.pass_on(card.clock())
        await card.press("enter", after_s=1.0)
        assert card.allowed


async def test_the_focus_does_not_restart_the_time_that_a_question_needs_to_get_there(
    multiplexer: Multiplexer, monkeypatch: pytest.MonkeyPatch
) -> None:
    multiplexer.lag_s = 1.0
    card = Card()
    monkeypatch.setattr(answer_guard, "time", SimpleNamespace(monotonic=card.clock))
    card.guard.note_news()
    multiplexer.answer(card.clock())
    card.clock.now_s += 0.9
    card.guard.note_focus()
    multiplexer.answer(card.clock())
    for wait_s in (0.1, GUARD_S):
        card.clock.now_s += wait_s
        multiplexer.pass_on(card.clock())
    await card.press("enter")
    assert card.allowed


async def test_only_a_click_waits_until_the_users_screen_shows_where_a_question_is_now(
    multiplexer: Multiplexer, monkeypatch: pytest.MonkeyPatch
) -> None:
    multiplexer.lag_s = 1.0
    card = Card()
    monkeypatch.setattr(answer_guard, "time", SimpleNamespace(monotonic=card.clock))
    card.guard.note_news()
    multiplexer.answer(card.clock())
    card.clock.now_s += multiplexer.lag_s
    multiplexer.pass_on(card.clock())
    card.guard.note_move()
    multiplexer.answer(card.clock())
    card.clock.now_s += GUARD_S
    card.guard.press(MouseDown(None, 0, 0, 0, 0, 1, False, False, False), None)
    assert card.guard.is_early
    card.clock.now_s += GUARD_S
    multiplexer.pass_on(card.clock())
    await card.press("enter")
    assert card.allowed


@pytest.mark.parametrize(("key", "pressed_s"), [("y", 0.6), ("y", 1.2), ("n", 0.1)])
async def test_the_key_counts_after_a_pause_on_the_users_screen(
    key: str, pressed_s: float, multiplexer: Multiplexer, monkeypatch: pytest.MonkeyPatch
) -> None:
    multiplexer.lag_s = 1.0
    card = Card()
    card.guard.come()
    monkeypatch.setattr(answer_guard, "time", SimpleNamespace(monotonic=card.clock))
    card.guard.note_news()
    multiplexer.answer(card.clock())
    card.clock.now_s += pressed_s
    multiplexer.pass_on(card.clock())
    await card.press(key)
    assert not card.allowed
    assert not card.rejected
    for wait_s in (multiplexer.lag_s, REPEAT_S):
        await card.wait(wait_s)
        multiplexer.pass_on(card.clock())
    await card.press(key)
    assert card.allowed or card.rejected


@pytest.mark.usefixtures("keys_wait")
async def test_behind_a_multiplexer_only_to_allow_waits_until_the_users_screen_shows_it(
    multiplexer: Multiplexer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys and answers of the terminal at random times, on what an agent asks and on what the user has opened."""
    allowed = rejected = own = 0
    for seed in range(SEQUENCES):
        random = Random(seed)
        card, multiplexer.lag_s = Card(), random.choice((0.0, 1.0, 2.0))
        card.clock.now_s += 100 * seed
        monkeypatch.setattr(answer_guard, "time", SimpleNamespace(monotonic=card.clock))
        AnswerGuard.last_press = None
        card.guard.allows = random.random() < 0.7
        card.guard.note_news()
        key, pressed_s, answered_s = "", -math.inf, math.inf
        for _ in range(12):
            await card.wait(random.choice((0.03, 0.1, 0.2, 0.39, 0.41, 0.5, 0.9, 1.2)) + random.random() / 1000)
            now_s = card.clock()
            multiplexer.pass_on(now_s)
            if random.random() < 0.15:
                card.guard.note_news()
            elif random.random() < 0.5:
                multiplexer.answer(now_s)
            answered_s = multiplexer.answered_s
            before, key = key, key if random.random() < 0.4 else random.choice(("enter", "tab", "escape", "n", "y"))
            seen_s = answered_s + multiplexer.lag_s
            may_be_held = key == before and now_s - pressed_s <= REPEAT_S and pressed_s < seen_s
            was_open = now_s - max(answered_s, pressed_s) >= GUARD_S
            card.allowed = card.rejected = False
            await card.press(key)
            if card.allowed:
                allowed += 1
                assert was_open, seed
                assert not card.guard.allows or now_s - seen_s >= GUARD_S - 1e-3, seed
                assert not card.guard.allows or not may_be_held, (seed, "a held key")
            if was_open and now_s - pressed_s > REPEAT_S and not card.guard.is_unasked:
                own += not card.guard.allows
                rejected += key in ("escape", "n")
                assert card.rejected or key not in ("escape", "n"), seed
                assert card.allowed or card.guard.allows or key not in ("enter", "y"), seed
            pressed_s = now_s
    assert min(allowed, rejected, own) > SEQUENCES // 20
