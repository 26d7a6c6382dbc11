"""How answered forms and pages look in the conversation."""

from __future__ import annotations

import time

import pytest

from acp_tui.conversation.elicitation import Elicitation, FieldAnswer, Form, UrlVisit
from acp_tui.conversation.facts import RequestKey
from acp_tui.conversation.updates import (
    ElicitationAction,
    ElicitationAnswered,
    ElicitationAsked,
    SessionUpdate,
)
from support.screens import open_page

AT = 1_700_000_000.0
FORM = Form(RequestKey(1), "Who\nsigns?", ())
PAGE = UrlVisit(RequestKey(1), "Confirm it", "e", "https://a.example/confirm?token=x")
VALUES = tuple(FieldAnswer(f"Field {number}", f"value {number}") for number in range(9))


def said(question: Elicitation, action: ElicitationAction, *values: FieldAnswer) -> list[SessionUpdate]:
    return [ElicitationAsked(question), ElicitationAnswered(RequestKey(1), action, AT, values)]


@pytest.mark.parametrize(
    ("question", "action", "words"),
    [
        (FORM, "accept", "you answered"),
        (FORM, "decline", "you declined"),
        (FORM, "cancel", "canceled without an answer"),
        (PAGE, "accept", "you opened the page"),
        (PAGE, "decline", "you declined"),
    ],
)
async def test_a_question_says_what_became_of_it_and_when(
    question: Elicitation, action: ElicitationAction, words: str
) -> None:
    async with open_page(*said(question, action)) as page:
        at = time.strftime("%H:%M:%S", time.localtime(AT))
        assert f"    ╰ {words} · {at}" in page.text


async def test_a_form_shows_what_was_filled_in_and_folds_what_is_long() -> None:
    async with open_page(*said(FORM, "accept", *VALUES)) as page:
        assert "  ◇ Who" in page.text
        assert "    signs?" in page.text
        assert "    │ Field 0: value 0" in page.text
        assert "value 8" not in page.text
        await page.press("ctrl+o")
        assert "    │ Field 8: value 8" in page.text


async def test_a_page_shows_its_host() -> None:
    async with open_page(*said(PAGE, "accept")) as page:
        assert "    │ a.example\n" in "\n".join(line.rstrip() for line in page.text.split("\n"))
        assert "token" not in page.text


async def test_nothing_hides_in_a_question() -> None:
    form = Form(RequestKey(1), "a\u202eb", ())
    async with open_page(*said(form, "accept", FieldAnswer("c\x1b[31m", "[red]d\ne"))) as page:
        assert "a⟨U+202E⟩b" in page.text
        assert "[red]d" in page.text
        assert "\x1b" not in page.text
