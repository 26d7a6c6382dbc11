"""What a conversation keeps of an answered form or page, and what of it is recorded."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from acp_tui.client.sessions.elicitations import in_words
from acp_tui.client.sessions.session import Session
from acp_tui.client.transcript.events import OwnAction
from acp_tui.conversation.elicitation import (
    BooleanField,
    ChoiceField,
    Field,
    FieldAnswer,
    FieldChoice,
    Form,
    FormValues,
    MultiChoiceField,
    NumberField,
    TextField,
)
from acp_tui.conversation.entries import Entry, Question
from acp_tui.conversation.facts import RequestKey, SessionId
from acp_tui.conversation.updates import ElicitationAnswered
from acp_tui.protocol.roles import ClientOffer
from support.agents import Counterpart, in_session, notification, request
from support.recordings import replayed_whole, write

BOTH = ClientOffer(elicitation_form=True, elicitation_url=True)
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name"},
        "password": {"type": "string", "title": "Word"},
    },
}
ASKED = {"sessionId": "s1", "mode": "form", "message": "Who?", "requestedSchema": SCHEMA}
VISIT = {
    "sessionId": "s1",
    "mode": "url",
    "message": "Look",
    "elicitationId": "e1",
    "url": "https://a.example/x?state=s3cret#token=t0ken",
}
LICENCES = (FieldChoice("mit", "MIT"), FieldChoice("mpl", "Mozilla"))


@asynccontextmanager
async def in_asked(cwd: Path, params: Any) -> AsyncIterator[tuple[Session, Counterpart, RequestKey]]:
    async with in_session(cwd, offer=BOTH) as (session, wire):
        session.now = lambda: 1700000000.5
        await wire.send(request("q", "elicitation/create", params))
        await wire.receive_all()
        [key] = session.conversation.elicitations
        yield session, wire, key


def last_of(session: Session) -> Entry:
    return session.conversation.entries[-1]


async def test_an_answered_form_stands_in_the_conversation_without_its_secrets(tmp_path: Path) -> None:
    async with in_asked(tmp_path, ASKED) as (session, _, key):
        session.questions.answer(key, "accept", {"name": "Ada", "password": "hunter2"})
        values = (FieldAnswer("Your name", "Ada"), FieldAnswer("Word", "***"))
        assert last_of(session) == Question("Who?", "accept", None, values, 1700000000.5)
        assert "hunter2" not in repr(session.conversation)


async def test_a_form_that_is_declined_keeps_nothing_of_what_was_filled_in(tmp_path: Path) -> None:
    async with in_asked(tmp_path, ASKED) as (session, _, key):
        session.questions.answer(key, "decline", {"name": "Ada"})
        assert last_of(session) == Question("Who?", "decline", at=1700000000.5)


async def test_a_page_stands_there_with_its_place_and_without_what_its_address_carries(
    tmp_path: Path,
) -> None:
    async with in_asked(tmp_path, VISIT) as (session, _, key):
        session.questions.answer(key, "accept", None)
        assert last_of(session) == Question("Look", "accept", "https://a.example/x", at=1700000000.5)


async def test_a_question_that_the_agent_takes_back_is_told_as_cancelled(tmp_path: Path) -> None:
    async with in_asked(tmp_path, ASKED) as (session, wire, _):
        await wire.send(notification("$/cancel_request", {"requestId": "q"}))
        await wire.receive_all()
        assert last_of(session) == Question("Who?", "cancel", at=1700000000.5)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        (TextField("a", "Title"), "text", FieldAnswer("Title", "text")),
        (NumberField("a"), 0.85, FieldAnswer("a", "0.85")),
        (BooleanField("a"), False, FieldAnswer("a", "no", is_choice=True)),
        (ChoiceField("a", LICENCES), "mpl", FieldAnswer("a", "Mozilla", is_choice=True)),
        (MultiChoiceField("a", LICENCES), ["mpl", "mit"], FieldAnswer("a", "Mozilla, MIT", is_choice=True)),
        (MultiChoiceField("a", LICENCES), [], FieldAnswer("a", "none", is_choice=True)),
        (TextField("apiKey"), "abc", FieldAnswer("apiKey", "***")),
        (TextField("a", "B", "The PIN of your card"), "1234", FieldAnswer("B", "***")),
        (ChoiceField("token", LICENCES), "mit", FieldAnswer("token", "***")),
        (TextField("a"), "it is sk-1234567890abcdefghij", FieldAnswer("a", "it is ***")),
    ],
)
def test_a_value_is_told_as_the_form_showed_it_and_a_secret_is_not(
    field: Field, value: Any, words: FieldAnswer
) -> None:
    values: FormValues = {field.name: value}
    assert in_words(Form(RequestKey(1), "?", (field,)), values) == (words,)


def test_fields_that_were_left_empty_are_not_told() -> None:
    fields = (TextField("a"), TextField("b"))
    assert in_words(Form(RequestKey(1), "?", fields), {"b": "x"}) == (FieldAnswer("b", "x"),)


@pytest.mark.parametrize("is_raw", [False, True])
def test_a_recording_keeps_choices_and_what_was_typed_only_with_secrets(tmp_path: Path, is_raw: bool) -> None:
    values = (FieldAnswer("Name", "Ada Lovelace"), FieldAnswer("Which color?", "Red", is_choice=True))
    answered = ElicitationAnswered(RequestKey(1), "accept", 1.5, values)
    write(tmp_path / "a.jsonl", [OwnAction(0.5, SessionId("s"), answered)], is_raw=is_raw)
    written = (tmp_path / "a.jsonl").read_text(encoding="utf-8")
    assert ("Ada" in written) is is_raw
    assert "Red" in written  # the agent listed it itself
    replayed_whole(tmp_path / "a.jsonl")
