"""Somebody begins to write while something comes and asks: no sentence is an answer, and none is lost.

`ACP_TUI_SENTENCES=1000` types so many messages, each at five speeds.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from itertools import chain, repeat
from random import Random
from typing import Any, Final

import pytest
from textual.events import Key
from textual.widget import Widget

from acp_tui.conversation.elicitation import ChoiceField, FieldChoice, Form, UrlVisit
from acp_tui.conversation.facts import PermissionOption, RequestKey
from acp_tui.ui.kit.answer_guard import GUARD_S
from acp_tui.ui.kit.question_screen import QuestionScreen
from acp_tui.ui.permission.form_card import FormCard
from acp_tui.ui.permission.full_request import FullRequest
from acp_tui.ui.permission.permission_card import PermissionCard
from acp_tui.ui.prompt.input import IDLE_S, PromptInput
from support.folding import ALLOW, REJECT
from support.screens import Clock, Page, open_page

_BEGINNINGS: Final = (
    "you forgot", "yes but first check", "yeah, also look at", "yesterday I changed", "your last change broke",
    "no need to touch", "now fix", "nice, next is", "not sure about", "nothing in the docs mentions",
    "and then update", "also rename", "actually, revert", "after that, run", "add a test for",
    "any idea why this fails:", "are you sure about", "ask me before you touch", "all callers use",
    "what about", "why did you change", "wait, look at", "when is this used:", "we don't need", "with more care:",
    "1. add tests for", "2 things: first", "100 files still use", "3rd time this happens in", "0 tests cover",
    "fix the bug in", "find where we call", "for now leave", "run the tests of", "read", "remove", "rewrite",
    "please simplify", "can you explain", "the cache breaks",
)  # fmt: skip
_ENDS: Final = (
    "the tests", "the parser", "setup.py", "the README, it is out of date", "the migration and its rollback",
    "the login form", "src/app/main.ts", "that helper", "the retry logic", "the flaky test in CI",
    "error handling there", "the type hints", "the new endpoint", "line 42", "the logging config",
    "how dates are parsed", "the Dockerfile", "this function", "the old API", "both branches",
    "the build on Windows", "the naming", "y and n options", "all 12 warnings", "it, thanks",
)  # fmt: skip
MESSAGES: Final = tuple(f"{beginning} {end}" for beginning in _BEGINNINGS for end in _ENDS)


SENTENCES: Final = int(os.environ.get("ACP_TUI_SENTENCES", "4"))
SPEEDS_S: Final = (0.03, 0.08, 0.15, 0.24, 0.33)
"""The mean time between two letters. The time since the first varies by a fifth, so there are bursts and pauses."""
LENGTH: Final = 14
"""So many letters of each: an answer would be one of the first."""
ALWAYS: Final = PermissionOption("always", "Always", "allow_always")

pytestmark = pytest.mark.usefixtures("keys_are_held")


class Timers:
    """Replaces the timers of all that asks: they fire when the test's clock gets there."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._due: list[tuple[float, Widget, Callable[[], Any], list[bool]]] = []

    def set_timer(self, widget: Widget, delay: float, callback: Callable[[], Any], **_: Any) -> Any:
        """As Textual's."""
        is_on = [True]
        self._due.append((self.clock.now_s + delay, widget, callback, is_on))
        return type("Timer", (), {"stop": lambda _: is_on.__setitem__(0, False)})()

    async def pass_to(self, at_s: float, settled: Callable[[], Awaitable[None]]) -> None:
        """Let time pass until then."""
        while due := [each for each in self._due if each[0] <= at_s]:
            first = min(due, key=lambda each: each[0])
            self._due.remove(first)
            due_s, widget, callback, is_on = first
            self.clock.now_s = max(self.clock.now_s, due_s)
            if is_on[0] and widget.is_attached:
                widget.call_next(callback)
                await settled()
        self.clock.now_s = max(self.clock.now_s, at_s)


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> Timers:
    timers = Timers(Clock())

    def set_timer(widget: Widget, delay: float, callback: Callable[[], Any], **options: Any) -> Any:
        return timers.set_timer(widget, delay, callback, **options)

    for kind in (PermissionCard, FullRequest, FormCard, PromptInput, QuestionScreen):
        monkeypatch.setattr(kind, "set_timer", set_timer, raising=False)
    monkeypatch.setattr(QuestionScreen, "clock", staticmethod(timers.clock))
    return timers


async def _ask(page: Page, kind: str, results: list[Any]) -> None:
    if kind == "long permission":
        lines = "\n".join(f"step {number}" for number in range(99))
        await page.ask("call", ALLOW, ALWAYS, REJECT, raw_input={"command": lines})
    elif kind == "permission":
        await page.ask("call", ALLOW, ALWAYS, REJECT, raw_input={"command": "rm -rf build"})
    elif kind == "form":
        field = ChoiceField("choice", (FieldChoice("a", "A"), FieldChoice("b", "B"), FieldChoice("c", "C")))
        await page.elicit(Form(RequestKey(0), "Which?", (field,)))
    elif kind == "page":
        await page.elicit(UrlVisit(RequestKey(0), "Look", "e", "https://evil.example"))
    else:
        page.pilot.app.push_screen(QuestionScreen("Trust this?", []), results.append)
        await page.settled()


@pytest.mark.parametrize("kind", ["permission", "long permission", "form", "page", "dialog"])
async def test_no_sentence_is_an_answer_and_none_is_lost(kind: str, timers: Timers) -> None:
    random = Random(SENTENCES)
    for sentence in random.sample(MESSAGES, SENTENCES):
        async with open_page(clock=timers.clock) as page:
            for speed_s in SPEEDS_S:
                await _type_around(page, kind, sentence[:LENGTH], speed_s, random, timers)


async def test_a_letter_that_opens_the_full_screen_is_written_once(timers: Timers) -> None:
    async with open_page(clock=timers.clock) as page:
        for begins_s in (IDLE_S, GUARD_S / 2):
            await _type_around(page, "permission", "for now", 0.15, _Beginning(begins_s), timers)


async def test_a_letter_that_goes_on_with_a_draft_answers_no_dialog(timers: Timers) -> None:
    async with open_page(clock=timers.clock) as page:
        for begins_s in (-0.9, -0.8):  # only the last letter comes after the dialog
            await _type_around(page, "dialog", "trn", 0.75, _Beginning(begins_s), timers)


@pytest.mark.parametrize("comes", ["by itself", "with Tab"])
async def test_no_sentence_rejects_a_request_that_was_read_before(comes: str, timers: Timers) -> None:
    """The user closes a dialog above the card, and goes on writing at once, with a letter that rejects or another."""
    random, clock = Random(SENTENCES), timers.clock
    rejecting = [each for each in MESSAGES if each.startswith("n")]
    # With Tab, each key after a pause is meant for the card, and those that answer nothing act at once.
    latest_s, acting = (IDLE_S, "") if comes == "by itself" else (GUARD_S / 2, "frw")
    async with open_page(clock=clock) as page:
        for sentence in (*random.sample(rejecting, SENTENCES), *random.sample(MESSAGES, SENTENCES)):
            text, speed_s = sentence[:LENGTH], random.choice(SPEEDS_S)
            if text[0] in acting:
                continue
            await _ask(page, "permission", [])
            if comes == "with Tab":
                await page.press("tab")
            await timers.pass_to(clock.now_s + 3, page.settled)
            assert page.card.has_focus
            await page.press("f1", "escape")
            at_s = clock.now_s + random.uniform(0.05, latest_s)
            for letter in text:
                await timers.pass_to(at_s, page.settled)
                page.pilot.app.post_message(Key("space" if letter == " " else letter, letter))
                await page.settled()
                at_s += speed_s * random.uniform(0.9, 1.1)
            await timers.pass_to(clock.now_s + 2, page.settled)
            assert (page.decisions, page.draft) == ({}, text), (text, speed_s)
            await page.start_over()


class _Beginning(Random):
    """Begins at this time, and then types as evenly as can be."""

    def __init__(self, begins_s: float) -> None:
        super().__init__()
        self._numbers = chain([begins_s], repeat(1.0))

    def uniform(self, a: float, b: float) -> float:
        return next(self._numbers)


async def _type_around(page: Page, kind: str, text: str, speed_s: float, random: Random, timers: Timers) -> None:
    clock, results = timers.clock, list[Any]()
    await timers.pass_to(clock.now_s + 3, page.settled)
    # Before the question, while it waits for the keyboard, as it takes it, or well after.
    comes_s = clock.now_s + 2
    begins_s = comes_s + random.uniform(-len(text) * speed_s, IDLE_S + 2 * GUARD_S)
    keys = [(begins_s + at * speed_s * random.uniform(0.9, 1.1), letter) for at, letter in enumerate(text)]
    is_asked = False
    for at_s, letter in keys:
        if not is_asked and at_s >= comes_s:
            await timers.pass_to(comes_s, page.settled)
            await _ask(page, kind, results)
            is_asked = True
        await timers.pass_to(at_s, page.settled)
        page.pilot.app.post_message(Key("space" if letter == " " else letter, letter))
        await page.settled()
    if not is_asked:
        await timers.pass_to(comes_s, page.settled)
        await _ask(page, kind, results)
    await timers.pass_to(clock.now_s + 2, page.settled)
    told = f"{text!r} at {speed_s} s from {begins_s - comes_s:.2f} s"
    assert (page.decisions, page.answers, results) == ({}, [], []), told
    assert page.draft == text, told
    if kind == "dialog":
        page.pilot.app.screen.dismiss()
        await page.settled()
    await page.start_over()
