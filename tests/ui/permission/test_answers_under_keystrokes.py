"""Random keystrokes never allow anything the user didn't mean. The judge doesn't know the implementation.

They reject only what the user meant to, or could read before; then the pause is after the key (`test_sentences`).

`ACP_TUI_KEY_SEQUENCES=20000` runs so many sequences against the card itself, one in ten of them on the
whole screen, and one in three hundred on each dialog that answers and on each form, which take an app each.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from textual import actions
from textual.events import Click, Key, MouseDown, MouseUp, Paste
from textual.geometry import Offset, Region
from textual.message import Message
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Button, Input

from acp_tui.client.agents.command import AgentCommand, Package
from acp_tui.conversation.elicitation import (
    BooleanField,
    ChoiceField,
    Elicitation,
    FieldChoice,
    Form,
    TextField,
    UrlVisit,
)
from acp_tui.conversation.facts import PermissionOption, PermissionRequest, RequestKey, TurnPhase
from acp_tui.conversation.request_outline import ShownRequest
from acp_tui.conversation.tool_calls import ToolCall, ToolCallId
from acp_tui.conversation.updates import PermissionAnswered
from acp_tui.ui.dialogs.trust import FirstRunDialog, TrustDialog
from acp_tui.ui.kit import answer_guard
from acp_tui.ui.kit.question_screen import QuestionScreen
from acp_tui.ui.permission.permission_card import Docked, PermissionCard
from acp_tui.ui.permission.request_body import RequestBody, RowCounts
from acp_tui.ui.permission.request_keys import AnswerableRequest
from support.dialogs import NOTHING, open_dialog
from support.folding import call as reported
from support.screens import Clock, Page, open_page

SEQUENCES = int(os.environ.get("ACP_TUI_KEY_SEQUENCES", "300"))
IN_ONE_APP = 25
"""More would take longer than an app may in a test."""
ON_SCREEN = max(SEQUENCES // 300 * 30, 1) if SEQUENCES > 300 else IN_ONE_APP // 5
EACH_IN_AN_APP = max(SEQUENCES // 300, 1)
PAUSE_S, HOLD_S = 0.4, 1.1
"""What the docs promise, and how long a keyboard waits before it repeats a key."""
WAITS = (0.0, 0.03, 0.1, 0.2, 0.38, 0.42, 0.5, 0.66, 1.0, 1.2, 3.0)
LETTERS = (*"yanwrfjksc xeHY0123459", "enter", "up", "down", "pagedown", "tab", "escape", "ctrl+t")
WORDS = ("line 1 is wrong", "yes", "no, any way", "allow 2", "why", "for 1 y a n", "11111", "raw 1")


def _option(name: str, kind: str, id_: str = "") -> PermissionOption:
    return PermissionOption(id_ or f"{kind}/{name}", name, kind)


ONCE, ALWAYS = _option("Yes", "allow_once"), _option("No", "allow_always")
NO, NEVER, ODD = _option("Allow", "reject_once"), _option("n", "reject_always"), _option("No", "reject_twice")
TWICE, TWICE_NO = _option("x", "allow_always", "same"), _option("No", "reject_once", "same")
ONE_WAY, OTHER_WAY = _option("a", "allow_once"), _option("b", "allow_once")
OFFERS: tuple[tuple[tuple[PermissionOption, ...], dict[str, PermissionOption]], ...] = (
    ((ONCE, NO), {"1": ONCE, "2": NO, "y": ONCE, "n": NO}),
    (
        (NEVER, ALWAYS, NO, ONCE),
        {"1": ONCE, "2": ALWAYS, "3": NO, "4": NEVER, "y": ONCE, "a": ALWAYS, "n": NO},
    ),
    ((ODD, NO), {"1": ODD, "2": NO, "n": NO}),
    ((ONCE, TWICE_NO, TWICE), {"1": ONCE, "2": TWICE_NO, "3": TWICE, "y": ONCE}),
    ((ONE_WAY, OTHER_WAY, NO), {"1": ONE_WAY, "2": OTHER_WAY, "3": NO, "n": NO}),
    ((ALWAYS, NEVER), {"1": ALWAYS, "2": NEVER, "a": ALWAYS}),
    ((ALWAYS,), {"1": ALWAYS, "a": ALWAYS}),
)
"""The options, and what each key must mean there; other keys answer nothing."""
STARTS = (0, 0, 1, 0, 0, 1, None)
"""The row where Enter starts, of the options as they are sorted; None if it gives no answer."""
MAY_ALLOW = {option.option_id for option in (ONCE, ALWAYS, ODD, TWICE, ONE_WAY, OTHER_WAY)}


class BareBody(RequestBody):
    """The body without a screen: all of it is in view, one option in each row."""

    def __init__(self, card: BareCard, place: Docked) -> None:
        super().__init__(card, place)
        stub: Any = SimpleNamespace(region=Region(0, 0, 40, 9), scroll_offset=Offset(0, 0), go_to_line=lambda _: None)
        self._options = stub
        self.rows = RowCounts(1, 1, 0, 1, 4)
        self.drawing.seen.is_all_seen = True

    def lay_out(self) -> None:
        """There is nothing to draw on."""
        options = self.asked.request.answers if self.asked is not None else ()
        self._option_rows = [range(at, at + 1) for at in range(len(options))]

    redraw = lay_out

    def warn(self, text: str) -> None:
        """Nobody reads it."""

    def may_allow(self, option_id: str, again: str) -> bool:
        """Everything is in view."""
        return True


class BareCard(PermissionCard):
    """The card without a screen: it decides as it does there, and the test tells it what the screen would."""

    has_focus = False

    @property
    def has_focus_within(self) -> bool:
        return self.has_focus

    def __init__(self, clock: Clock) -> None:
        super().__init__(self, clock=clock)
        self.answered: list[tuple[RequestKey, str]] = []
        self.is_left = False
        self.comments: list[Any] = []
        self.body = BareBody(self, Docked(self))

    @property
    def screen(self) -> Any:
        """It has no keys of its own."""
        return SimpleNamespace(_bindings=SimpleNamespace(key_to_bindings={}))

    @property
    def app(self) -> Any:
        """There is no prompt."""
        return None

    def set_timer(self, *_: Any, **__: Any) -> Any:
        """A warning stays."""
        return SimpleNamespace(stop=lambda: None)

    def post_message(self, message: Message) -> bool:
        """Nobody hears it."""
        return True

    def answer_request(self, key: RequestKey, option_id: str) -> None:
        """Store it."""
        self.answered.append((key, option_id))

    def leave(self, *, to_read: bool = False) -> None:
        """The keyboard goes to the prompt."""
        self.is_left = True

    def make_way(self) -> list[Any]:
        """The same, with text or to say why."""
        self.is_left = True
        return []

    def ask_why(self, *_: Any) -> None:
        """There is no prompt."""

    def write(self, *_: Any, **__: Any) -> None:
        """As from a card with a prompt below."""
        self.make_way()

    def action_review(self) -> None:
        """There is no other screen."""

    def action_page(self, direction: int) -> None:
        """There is nothing to page."""

    def action_toggle_raw(self) -> None:
        """There is nothing to show."""

    async def run_action(self, action: Any, default_namespace: Any = None) -> bool:
        """It works without an app."""
        _, name, parameters = actions.parse(action)
        getattr(self, f"action_{name}")(*parameters)
        return True


@dataclass
class Judge:
    """Decides when an answer may count, from what happened and when."""

    pressed_s: float = -100.0
    changed_s: float = -100.0
    """When the question, its position, or the keyboard's owner last changed."""
    version: int = 0
    last_key: tuple[str, float, int] = ("", -100.0, -1)
    """The key, when it was last pressed, and on which version in vain; -1: it counted, or may be held since."""
    was_read: bool = False
    """Whether the question was in view for a pause as it reads now, before it changed its position or was covered."""
    typed_s: float = -100.0
    """When the last character was typed."""

    def changes(self, now_s: float, *, is_news: bool = True) -> None:
        """Something has changed: what the question says, or only its position or the keyboard's owner."""
        self.was_read = not is_news and (self.was_read or now_s - self.changed_s >= PAUSE_S)
        self.changed_s, self.version = now_s, self.version + 1

    def may_reject(self, key: str, at_s: float) -> bool:
        """Whether this key, pressed then, may reject without a pause before it. Ask before `is_meant`."""
        is_alone = at_s - self.typed_s >= PAUSE_S
        self.typed_s = max(self.typed_s, at_s) if len(key) == 1 or key == "space" else self.typed_s
        was_read = self.was_read or at_s - self.changed_s >= PAUSE_S
        return was_read and at_s >= self.changed_s and is_alone and not self._is_held(key, at_s)

    def _is_held(self, key: str, at_s: float) -> bool:
        last, last_s, seen = self.last_key
        return bool(key) and key == last and at_s - last_s < HOLD_S and seen != self.version

    def is_meant(self, key: str, at_s: float) -> bool:
        """Whether this key, pressed then, may answer."""
        is_held = self._is_held(key, at_s)
        is_meant = at_s - self.pressed_s >= PAUSE_S and at_s - self.changed_s >= PAUSE_S and not is_held
        self.pressed_s = max(self.pressed_s, at_s)
        was_before = at_s < self.changed_s  # a waiting key was meant for what was there before
        self.last_key = (key, at_s, -1 if is_meant or is_held or was_before else self.version)
        return is_meant


@dataclass
class Run:
    """One sequence against one card."""

    random: Random
    clock: Clock
    judge: Judge = field(default_factory=Judge)
    log: list[str] = field(default_factory=list)
    keys: int = 0
    offer: int = 0
    meant: int = 0
    rejected_soon: int = 0
    chosen: int | None = None
    has_come: bool = False
    """Whether the user came to the card: by Tab, or by a click."""
    is_stale: bool = False
    down: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        self.card = BareCard(self.clock)
        self.card.guard.come()
        self.call = ToolCall(ToolCallId("call"), title="Edit")
        self.judge.changes(self.clock.now_s)  # a new card

    def ask(self) -> None:
        """Another request replaces the current one."""
        self.keys += 1
        self.is_stale = False
        self.offer = self.random.randrange(len(OFFERS))
        self.chosen, self.has_come = None, False
        options = OFFERS[self.offer][0]
        request = PermissionRequest(RequestKey(self.keys), ToolCallId("call"), options)
        self.card.body.show_request(ShownRequest(request, self.call))
        self.judge.changes(self.clock.now_s)

    def change(self) -> None:
        """The same request changes, reported or not; or the card moves, or something covered it."""
        how = self.random.choice(["content", "silent", "moved", "above", "withdrawn"])
        if self.card.asked is None:
            return
        if how == "withdrawn":
            self.card.body.show_request(None)
        elif how in ("content", "silent"):
            self.call.raw_input = {"command": self.random.random()}
            if how == "silent":
                self.is_stale = True  # it comes into view with the next key or click
                return
            self.card.body.show_changes()
            self.is_stale = False
        else:
            self.card.guard.arm()
        self.judge.changes(self.clock.now_s, is_news=how not in ("moved", "above"))

    def show_stale(self) -> None:
        """An unseen change becomes visible."""
        if self.is_stale:
            self.is_stale = False
            self.judge.changes(self.clock.now_s)

    def focus(self, has_focus: bool) -> None:
        """The keyboard goes to the card or to the prompt."""
        if self.card.has_focus != has_focus:
            self.card.has_focus = has_focus
            self.card.guard.arm()
            self.judge.changes(self.clock.now_s, is_news=False)

    async def press(self, key: str, age_s: float = 0.0) -> None:
        """A key, pressed this long ago."""
        if not self.card.has_focus or self.card.asked is None:
            return
        self.log.append(f"{self.clock.now_s - age_s:.2f} {key}")
        self.show_stale()
        event = Key("space" if key == " " else key, key if len(key) == 1 else " " if key == "space" else None)
        event.time = self.clock.now_s - age_s
        may_reject = self.judge.may_reject(event.key, self.clock.now_s - age_s)
        is_meant = self.judge.is_meant(event.key, self.clock.now_s - age_s)
        expected = OFFERS[self.offer][1].get(key)
        chosen = STARTS[self.offer] if self.chosen is None and self.has_come else self.chosen
        if key == "enter" and chosen is not None:
            expected = self.card.options[chosen]
        if key in ("up", "down", "tab"):
            step = -1 if key == "up" else 1
            start = chosen if chosen is not None else (0 if step < 0 else (STARTS[self.offer] or 0) - 1)
            self.chosen = (start + step) % len(OFFERS[self.offer][0])
        self.has_come |= key == "tab"
        request_key = self.card.asked.request.key
        await self.card.on_key(event)
        soon = expected if may_reject and not is_meant and len(key) == 1 else None
        self._check(expected if is_meant else None, request_key, soon)

    def _check(self, expected: PermissionOption | None, key: RequestKey, soon: PermissionOption | None = None) -> None:
        """What was answered is what was `expected`, or at most a rejection that may come `soon`."""
        answers, self.card.answered = self.card.answered, []
        if self.card.is_left:
            self.card.is_left = False
            self.focus(False)
        assert len(answers) <= 1
        for answered, option_id in answers:
            assert answered == key, self.log
            may_allow = option_id in MAY_ALLOW
            if expected is not None:
                assert option_id == expected.option_id, self.log
                self.meant += may_allow
            else:
                assert not may_allow, f"allowed unasked: {self.log}"
                assert soon is not None, f"rejected unasked: {self.log}"
                assert option_id == soon.option_id, self.log
                self.rejected_soon += 1
            self.card.body.show_request(None)
            self.judge.changes(self.clock.now_s)
            if self.random.random() < 0.8:
                self.ask()
        if expected is not None:
            assert answers, f"not answered: {self.log}"

    def mouse(self, is_down: bool) -> None:
        """Press or release the mouse on a row."""
        if self.card.asked is None:
            return
        row = self.random.randrange(4)
        kind = MouseDown if is_down else MouseUp
        event = kind(None, 3, row, 0, 0, 1, False, False, False, screen_x=3, screen_y=row)
        event.time = self.clock.now_s
        self.log.append(f"{self.clock.now_s:.2f} {kind.__name__} {row}")
        self.show_stale()
        if is_down:
            is_meant = self.judge.is_meant("", self.clock.now_s)
            self.down = (self.judge.version, row) if is_meant else None
            self.has_come = True
            self.card.on_mouse_down(event)
            return
        # A press on a card without the keyboard gives it the keyboard; a click counts only where it already was.
        is_meant = self.down == (self.judge.version, row) and self.card.has_focus
        options = self.card.options
        self.judge.pressed_s = max(self.judge.pressed_s, self.clock.now_s)
        self.card.on_click(Click.from_event(self.card, event))
        self._check(options[row] if is_meant and row < len(options) else None, RequestKey(self.keys))

    async def step(self) -> None:
        """Something happens."""
        pick = self.random.random()
        self.clock.now_s += self.random.choice(WAITS) + self.random.random() / 1000  # never by chance
        age_s = self.random.choice([0.0, 0.0, 0.0, 0.1, 0.5, 1.0])
        if pick < 0.12:
            self.ask()
        elif pick < 0.22:
            self.change()
        elif pick < 0.34:
            self.focus(True)
        elif pick < 0.36:
            self.focus(False)
        elif pick < 0.42:
            self.mouse(is_down=True)
            self.clock.now_s += self.random.choice((0.0, 0.05, 0.5))
            if self.random.random() < 0.3:
                self.change()
            self.mouse(is_down=False)
        elif pick < 0.5:
            for letter in self.random.choice(WORDS):
                self.clock.now_s += self.random.choice((0.05, 0.1, 0.29, 0.385))
                await self.press(letter)
        elif pick < 0.58:
            key = self.random.choice(("1", "y", "a", "enter", "2"))
            await self.press(key)
            for pause_s in (self.random.choice((0.25, 0.5, 0.66, 1.0)), *[0.03] * self.random.randrange(40)):
                self.clock.now_s += pause_s
                await self.press(key)
        elif pick < 0.6:
            if self.card.has_focus and self.card.asked is not None:
                self.judge.is_meant("", self.clock.now_s)
                event = Paste("1\ny\n")
                event.time = self.clock.now_s
                self.card.on_paste(event)
                self._check(None, RequestKey(self.keys))
        else:
            await self.press(self.random.choice(LETTERS), age_s)


@pytest.mark.usefixtures("keys_wait")
async def test_no_sequence_of_keys_and_changes_allows_what_was_not_meant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, meant, rejected_soon = Clock(), 0, 0
    monkeypatch.setattr(answer_guard, "time", SimpleNamespace(monotonic=clock))  # no key waits, except by the script
    for seed in range(SEQUENCES):
        clock.now_s += 100
        run = Run(Random(seed), clock)
        run.ask()
        run.focus(True)
        for _ in range(30):
            await run.step()
        meant += run.meant
        rejected_soon += run.rejected_soon
    assert meant > SEQUENCES // 10, "answers that are meant are given"
    assert rejected_soon > SEQUENCES // 50, "what could be read before is rejected without a pause before the key"


# On the screen


async def _some_steps(page: Page, seed: int) -> int:
    """Requests come and go while somebody types; each answer is judged by when its key was pressed.

    How many were allowed, all of them meant.
    """
    random, judge, clock, names, allowed = Random(seed), Judge(changed_s=page.clock.now_s), page.clock, 0, 0

    async def look(act: Callable[[], Any]) -> None:
        """Do this, and note when it changes the card."""
        before = _seen(page)
        await act()
        if _seen(page) != before:
            judge.changes(clock.now_s)

    for _ in range(14):
        clock.now_s += random.choice(WAITS)
        pick = random.random()
        if pick < 0.25 or not page.session.conversation.permissions:
            names += 1
            name = f"call {seed}.{names}"
            await look(partial(page.ask, name, ONCE, ALWAYS, NO, title=name))
        elif pick < 0.32:
            key = next(iter(page.session.conversation.permissions))
            await look(partial(page.apply, PermissionAnswered(key, None)))
        elif pick < 0.4:
            title = f"changed {random.random()}"
            request = next(iter(page.session.conversation.permissions.values()))
            await look(partial(page.apply, reported(request.tool_call_id, title=title)))
        else:
            word = random.choice(WORDS) if pick < 0.55 else ""
            for letter in word or [random.choice((*LETTERS, *"1yyaa", "tab", "tab", "f"))]:
                if word:
                    clock.now_s += random.choice((0.05, 0.2, 0.39))
                had_focus, answered = _has_keyboard(page), dict(page.decisions)
                is_meant = judge.is_meant(letter, clock.now_s)
                await look(partial(page.press, "space" if letter == " " else letter))
                for name, option in page.decisions.items():
                    if name not in answered and option in (ONCE.option_id, ALWAYS.option_id):
                        assert is_meant, (letter, name)
                        assert had_focus, (letter, name)
                        assert letter in ("1", "2", "y", "a", "enter"), (letter, name)
                        allowed += 1
                        judge.changes(clock.now_s)
    return allowed


async def _begin_anew(page: Page) -> None:
    """As at first: nothing is asked, nothing is above the session, and the prompt is empty and has the keyboard."""
    page.withdraw()
    await page.settled()
    app = page.pilot.app
    while len(app.screen_stack) > 1:
        app.pop_screen()
        await page.settled()
    page.prompt.text = ""
    page.prompt.focus()
    if page.connection.prompts and page.session.conversation.turn is not TurnPhase.IDLE:
        await page.end_turn()
    page.clock.now_s += 100
    await page.settled()


def _seen(page: Page) -> tuple[object, ...]:
    """The question, its position, and the keyboard's owner."""
    asked = next(iter(page.session.conversation.permissions.values()), None)
    title = page.session.conversation.tool_call(asked.tool_call_id).call.title if asked else None
    cards = (page.card, page.pilot.app.focused)
    numbers = [card.asked.waiting for card in cards if isinstance(card, AnswerableRequest) and card.asked is not None]
    return asked, title, numbers, _has_keyboard(page), page.pilot.app.screen


def _has_keyboard(page: Page) -> object:
    """The card, docked or full screen, if it has the keyboard; otherwise None."""
    focused = page.pilot.app.focused
    return focused if type(focused).__name__ in ("PermissionCard", "FullRequest") else None


async def test_on_the_screen_nothing_is_allowed_that_was_not_meant() -> None:
    allowed = 0
    for first in range(0, ON_SCREEN, IN_ONE_APP):
        async with open_page(size=(80, 24)) as page:
            for seed in range(first, min(first + IN_ONE_APP, ON_SCREEN)):
                allowed += await _some_steps(page, seed)
                await _begin_anew(page)
    assert allowed >= ON_SCREEN // 20, "answers that are meant are given"


# Each dialog that answers

PACKAGE = AgentCommand("fetched", ("npx", "-y", "f@1.0"), package=Package("npx", "f@1.0", "1.0"))
DIALOGS: dict[str, Callable[[], ModalScreen[Any]]] = {
    "servers": lambda: TrustDialog(Path("/project/.mcp.json"), []),
    "package": lambda: FirstRunDialog(PACKAGE),
    "recorded command": lambda: FirstRunDialog(AgentCommand("agent", ("agent",), recorded_in=Path("/project"))),
    "closing": lambda: QuestionScreen("Close the tab?", (), yes="Yes"),
}


def _keystrokes(random: Random) -> Iterator[tuple[float, str]]:
    """Waits, each followed by a key; now and then, the button that says yes is clicked."""
    for _ in range(10):
        yield random.choice(WAITS), random.choice((*LETTERS, *"yynn", "right", "left", "ctrl+s", "click"))


@pytest.mark.parametrize("kind", DIALOGS)
async def test_no_dialog_says_yes_to_what_was_not_meant(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(EACH_IN_AN_APP):
        clock = Clock()
        monkeypatch.setattr(QuestionScreen, "clock", staticmethod(clock))
        async with open_dialog(DIALOGS[kind]()) as page:
            judge = Judge(changed_s=clock.now_s)
            for wait_s, key in _keystrokes(Random(seed)):
                clock.now_s += wait_s
                is_meant = judge.is_meant("" if key == "click" else key, clock.now_s)
                if key == "click":
                    yes = next(each for each in page.app.screen.query(Button) if each.id in ("yes", "accept"))
                    await page.click(str(yes.label))
                else:
                    await page.press("space" if key == " " else key)
                if page.result is not NOTHING:
                    answer = page.result[0] if isinstance(page.result, tuple) else page.result
                    assert is_meant or answer not in (True, "accept"), (kind, seed, key)
                    break
            with suppress(Exception):
                page.app.pop_screen()


# Forms and pages on their card

QUESTIONS: dict[str, Elicitation] = {
    "page": UrlVisit(RequestKey(1), "Log in", "1", "https://a.example/"),
    "yes or no": Form(RequestKey(1), "OK?", (BooleanField("b", default=True),)),
    "choice": Form(RequestKey(1), "OK?", (ChoiceField("b", (FieldChoice("y", "Yes"), FieldChoice("n", "No"))),)),
    "fields": Form(RequestKey(1), "OK?", (TextField("a"), BooleanField("b", default=True))),
}


BUTTONS = ("Send", "1 Open in the browser", "Yes", "No", "0 Decline", "Cancel", "OK?", "Write a prompt")


@pytest.mark.parametrize("kind", QUESTIONS)
async def test_no_question_on_a_card_is_accepted_by_what_was_not_meant(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the user has gone to a field after a pause, what is typed there is meant."""
    monkeypatch.setattr("webbrowser.open", lambda _: True)
    for seed in range(EACH_IN_AN_APP):
        async with open_page() as page:
            await _Answering(page, kind, seed).go()


class _Answering:
    """Random keys, clicks, and changes, on one question after another."""

    def __init__(self, page: Page, kind: str, seed: int) -> None:
        self.page = page
        self.kind = kind
        self.random = Random(f"{kind} {seed}")
        self.judge = Judge()
        self.log: list[str] = []

    async def go(self) -> None:
        """Continue until something is accepted, and assert that the user meant it."""
        await self._ask(self.kind)
        for _ in range(24):
            self.page.clock.now_s += self.random.choice(WAITS) + self.random.random() / 1000
            pick = self.random.random()
            if pick < 0.08:
                await self._ask_otherwise()
            elif pick < 0.25:
                await self._click()
            elif pick < 0.4:
                for letter in self.random.choice(WORDS):
                    self.page.clock.now_s += self.random.choice((0.05, 0.2, 0.39))
                    if not self.page.answers:
                        await self._press(letter)
            else:
                await self._press(self.random.choice((*LETTERS, *"011", "ctrl+s", "tab", "tab")))
            if self.page.answers:
                break

    async def _ask(self, kind: str) -> None:
        self.log.append(f"{self.page.clock.now_s:.2f} asks {kind}")
        await self.page.elicit(QUESTIONS[kind])
        self.judge.changes(self.page.clock.now_s)

    async def _ask_otherwise(self) -> None:
        """The agent withdraws its question, and usually asks another."""
        self.log.append(f"{self.page.clock.now_s:.2f} takes the keyboard back")
        self.page.withdraw()
        await self.page.until(lambda: "asks" not in self.page.words)
        self.judge.changes(self.page.clock.now_s)
        self.page.clock.now_s += self.random.choice((0.0, 0.0, 0.3))
        await self._ask(self.random.choice((*QUESTIONS, self.kind)))

    async def _press(self, key: str) -> None:
        focused = self.page.pilot.app.focused
        is_written = isinstance(focused, Input) and bool(focused.value)
        had_focus = _is_on_card(focused)
        self.log.append(f"{self.page.clock.now_s:.2f} {key}")
        is_meant = self.judge.is_meant(key, self.page.clock.now_s)
        await self.page.press("space" if key == " " else key)
        if had_focus != _is_on_card(self.page.pilot.app.focused):
            self.judge.changes(self.page.clock.now_s)
        may_accept = key in ("enter", "ctrl+s", *"123456789")
        await self._check(had_focus and may_accept and (is_meant or is_written))

    async def _click(self) -> None:
        here = [text for text in BUTTONS if any(text in line for line in self.page.lines)]
        if not here:
            return
        text = self.random.choice(here)
        self.log.append(f"{self.page.clock.now_s:.2f} clicks {text}")
        is_meant = self.judge.is_meant("", self.page.clock.now_s)
        version = self.judge.version
        await self.page.use_mouse(MouseDown, text)
        self.page.clock.now_s += self.random.choice((0.0, 0.05, 0.5))
        if self.random.random() < 0.2:
            await self._ask_otherwise()
        if any(text in line for line in self.page.lines):
            await self.page.use_mouse(MouseUp, text)
            self.judge.pressed_s = self.page.clock.now_s
            await self.page.settled()
            accepts = text in BUTTONS[:4]
            await self._check(is_meant and accepts and version == self.judge.version)

    async def _check(self, may_accept: bool) -> None:
        waiting = self.page.session.conversation.elicitations
        await self.page.until(lambda: bool(waiting or self.page.answers))  # the decision has arrived there
        accepted = [answer for answer in self.page.answers if answer[0] == "accept"]
        assert may_accept or not accepted, "\n".join(self.log)


def _is_on_card(focused: Widget | None) -> bool:
    return focused is not None and any(type(each).__name__ == "FormCard" for each in focused.ancestors_with_self)
