"""Elicitations over the wire: only the user answers them, each once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.elicitation import Form, FormValues, UrlVisit
from acp_tui.conversation.facts import RequestKey
from acp_tui.conversation.updates import ElicitationAction
from acp_tui.protocol.roles import ClientOffer
from support.agents import (
    Counterpart,
    asked,
    in_memory,
    in_session,
    in_turn,
    notification,
    open_session,
    settle,
    shake_hands,
)

BOTH = ClientOffer(elicitation_form=True, elicitation_url=True)
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "size": {"type": "integer"}, "tags": {"type": "hologram"}},
    "required": ["name"],
}
CANCEL = {"action": "cancel"}


def form(request_id: Any, schema: Any = SCHEMA, **scope: Any) -> dict[str, Any]:
    params = {"mode": "form", "message": "Who?", "requestedSchema": schema, **(scope or {"sessionId": "s1"})}
    return {"jsonrpc": "2.0", "id": request_id, "method": "elicitation/create", "params": params}


def visit(request_id: Any, elicitation_id: str = "e1", **scope: Any) -> dict[str, Any]:
    params = {"mode": "url", "message": "Look", "elicitationId": elicitation_id, "url": "https://a.example/x"}
    params |= scope or {"sessionId": "s1"}
    return {"jsonrpc": "2.0", "id": request_id, "method": "elicitation/create", "params": params}


def completed(elicitation_id: str) -> dict[str, Any]:
    return notification("elicitation/complete", {"elicitationId": elicitation_id})


@asynccontextmanager
async def in_both(cwd: Path) -> AsyncIterator[tuple[Session, Counterpart]]:
    async with in_session(cwd, offer=BOTH) as (session, wire):
        yield session, wire


async def waiting(session: Session | Agent) -> list[RequestKey]:
    await settle()
    return list((session.conversation if isinstance(session, Session) else session).elicitations)


# Answers


@pytest.mark.parametrize(
    ("action", "values", "result"),
    [
        (
            "accept",
            {"name": "Ada", "size": 3},
            {"action": "accept", "content": {"name": "Ada", "size": 3}},
        ),
        ("decline", None, {"action": "decline"}),
        ("decline", {"name": "Ada"}, {"action": "decline"}),
        ("cancel", None, CANCEL),
    ],
)
async def test_a_form_waits_for_the_user_and_gives_what_was_decided(
    tmp_path: Path, action: ElicitationAction, values: FormValues | None, result: Any
):
    """R-ELIC-1, R-ELIC-3, R-ELIC-8."""
    async with in_both(tmp_path) as (session, wire):
        await wire.send(form("q"))
        assert await wire.receive_all() == []
        [question] = session.conversation.elicitations.values()
        assert isinstance(question, Form)
        assert (question.message, [field.name for field in question.fields]) == (
            "Who?",
            ["name", "size", "tags"],
        )
        session.questions.answer(question.key, action, values)
        assert await wire.receive_all() == [{"jsonrpc": "2.0", "id": "q", "result": result}]
        assert session.conversation.elicitations == {}


@pytest.mark.parametrize(
    ("values", "flaw"),
    [
        ({}, "'name' is required"),
        ({"name": 5}, "'name' isn't valid"),
        ({"name": "Ada", "size": 1.5}, "'size' isn't valid"),
        ({"name": "Ada", "size": True}, "'size' isn't valid"),
        ({"name": "Ada", "tags": "x"}, "'tags' isn't valid"),
        ({"name": "Ada", "invented": "x"}, "no field 'invented'"),
    ],
)
async def test_values_that_do_not_fit_are_not_sent_and_the_form_waits_on(tmp_path: Path, values: FormValues, flaw: str):
    """R-ELIC-8."""
    async with in_both(tmp_path) as (session, wire):
        await wire.send(form(1))
        [key] = await waiting(session)
        with pytest.raises(ValueError, match=flaw):
            session.questions.answer(key, "accept", values)
        assert (await wire.receive_all(), await waiting(session)) == ([], [key])


async def test_a_form_that_requires_what_nobody_can_answer_is_not_accepted(tmp_path: Path):
    """R-ELIC-7."""
    async with in_both(tmp_path) as (session, wire):
        await wire.send(form(1, SCHEMA | {"required": ["tags"]}))
        [key] = await waiting(session)
        with pytest.raises(ValueError, match="'tags' is required"):
            session.questions.answer(key, "accept", {"name": "Ada"})
        session.questions.answer(key, "decline")
        assert (await wire.receive())["result"] == {"action": "decline"}


async def test_an_elicitation_is_answered_once(tmp_path: Path):
    """R-CREQ-4."""
    async with in_both(tmp_path) as (session, wire), in_turn(session, wire):
        await wire.send(form(1))
        [key] = await waiting(session)
        session.questions.answer(key, "decline")
        session.questions.answer(key, "accept", {"name": "Ada"})
        session.cancel()
        answers = [message for message in await wire.receive_all() if message.get("id") == 1]
        assert [answer["result"] for answer in answers] == [{"action": "decline"}]


async def test_questions_of_both_kinds_have_keys_of_their_own(tmp_path: Path):
    """R-PERM-6."""
    async with in_both(tmp_path) as (session, wire), in_turn(session, wire):
        await wire.send(asked(1, "a"), form(2), asked(3, "a"), visit(4))
        keys = {*await waiting(session), *session.conversation.permissions}
        assert len(keys) == 4


# Pages


async def test_a_visit_is_agreed_to_at_once_and_stays_until_it_is_completed(tmp_path: Path):
    """R-ELIC-11, R-ELIC-12."""
    async with in_both(tmp_path) as (session, wire):
        await wire.send(visit(1))
        [question] = await waiting(session)
        session.questions.answer(question, "accept")
        assert (await wire.receive())["result"] == {"action": "accept"}
        assert list(session.conversation.visits) == ["e1"]
        assert session.conversation.elicitations == {}
        await wire.send(completed("e2"), completed("e1"), completed("e1"))
        await settle()
        assert session.conversation.visits == {}
        assert await wire.receive_all() == []


async def test_a_visit_that_is_never_reported_done_can_be_dismissed(tmp_path: Path):
    """R-ELIC-12."""
    async with in_both(tmp_path) as (session, wire):
        await wire.send(visit(1))
        session.questions.answer((await waiting(session))[0], "accept")
        session.questions.dismiss("unknown")
        assert list(session.conversation.visits) == ["e1"]
        session.questions.dismiss("e1")
        assert session.conversation.visits == {}


async def test_a_page_that_is_done_before_the_user_agreed_says_so(tmp_path: Path):
    async with in_both(tmp_path) as (session, wire):
        await wire.send(visit(1), completed("e1"))
        [key] = await waiting(session)
        question = session.conversation.elicitations[key]
        assert isinstance(question, UrlVisit)
        assert question.is_complete
        session.questions.answer(key, "accept")
        assert session.conversation.visits == {}


async def test_an_unreadable_completion_is_dropped(tmp_path: Path):
    """R-LEN-3."""
    async with in_both(tmp_path) as (session, wire):
        await wire.send(notification("elicitation/complete", {"elicitationId": 5}), form(1))
        assert len(await waiting(session)) == 1


# Withdrawn


async def test_cancel_is_sent_first_and_then_every_waiting_elicitation_is_cancelled(tmp_path: Path):
    """R-CANC-5, R-ORD-4."""
    async with in_both(tmp_path) as (session, wire), in_turn(session, wire):
        await wire.send(form(1), visit(2))
        await settle()
        session.cancel()
        first, *answers = await wire.receive_all()
        assert first["method"] == "session/cancel"
        assert [(answer["id"], answer["result"]) for answer in answers] == [(1, CANCEL), (2, CANCEL)]
        assert session.conversation.elicitations == {}
        await wire.send(form(3))
        assert (await wire.receive())["result"] == CANCEL


async def test_the_cancel_of_one_session_leaves_the_questions_of_another_and_of_none(tmp_path: Path):
    """R-CANC-8."""
    async with in_memory(BOTH) as (agent, wire):
        await shake_hands(agent, wire)
        first, second = [await open_session(agent, wire, tmp_path, name) for name in ("s1", "s2")]
        async with in_turn(first, wire):
            await wire.send(form(1, sessionId="s1"), form(2, sessionId="s2"), form(3, requestId=9))
            await settle()
            first.cancel()
            answered = [message["id"] for message in await wire.receive_all() if "id" in message]
            assert answered == [1]
        assert (len(await waiting(second)), len(await waiting(agent))) == (1, 1)


async def test_a_withdrawn_elicitation_leaves_the_screen_and_is_answered_once(tmp_path: Path):
    """R-CREQ-2."""
    async with in_both(tmp_path) as (session, wire):
        await wire.send(form(1), notification("$/cancel_request", {"requestId": 1}))
        [answer] = await wire.receive_all()
        assert (answer["id"], answer["error"]["code"]) == (1, -32800)
        assert session.conversation.elicitations == {}


async def test_the_end_of_the_agent_takes_back_all_questions(tmp_path: Path):
    """R-TRANS-7."""
    async with in_memory(BOTH) as (agent, wire):
        await shake_hands(agent, wire)
        session = await open_session(agent, wire, tmp_path)
        await wire.send(form(1), visit(2), form(3, requestId=1))
        session.questions.answer((await waiting(session))[1], "accept")
        await wire.close_output()
        await settle()
        assert (session.conversation.elicitations, session.conversation.visits) == ({}, {})
        assert agent.elicitations == {}


# Outside sessions


async def test_a_login_may_ask_the_user_before_there_is_any_session():
    """R-ELIC-1: request scope."""
    async with in_memory(BOTH) as (agent, wire), anyio.create_task_group() as tasks:
        tasks.start_soon(agent.initialize)
        methods = [{"id": "m", "name": "M"}]
        await wire.answer(await wire.expect("initialize"), {"protocolVersion": 1, "authMethods": methods})
        await settle()
        changes: list[int] = []
        agent.on_elicitations = lambda: changes.append(len(agent.elicitations))
        tasks.start_soon(agent.authenticate, "m")
        login = await wire.expect("authenticate")
        await wire.send(form("f", requestId=login["id"]), visit("v", requestId=login["id"]))
        first, second = await waiting(agent)
        agent.questions.answer(first, "accept", {"name": "Ada"})
        agent.questions.answer(second, "accept")
        results = {message["id"]: message["result"] for message in await wire.receive_all()}
        assert results == {
            "f": {"action": "accept", "content": {"name": "Ada"}},
            "v": {"action": "accept"},
        }
        assert list(agent.outside.visits) == ["e1"]
        await wire.send(completed("e1"))
        await settle()
        assert (agent.outside.visits, changes) == ({}, [1, 2, 1, 0, 0])
        await wire.answer(login, {})


async def test_a_question_for_an_unknown_session_is_refused(tmp_path: Path):
    async with in_both(tmp_path) as (_, wire):
        await wire.send(form(1, sessionId="nobody"))
        assert (await wire.receive())["error"]["code"] == -32002


# What is not offered


@pytest.mark.parametrize(
    ("offer", "request_", "code"),
    [
        (ClientOffer(), form(1), -32601),
        (ClientOffer(elicitation_url=True), form(1), -32602),
        (ClientOffer(elicitation_form=True), visit(1), -32602),
        (BOTH, form(1) | {"params": form(1)["params"] | {"mode": "hologram"}}, -32602),
        (BOTH, form(1, {"properties": None}), -32602),
        (BOTH, form(1) | {"params": {"mode": "form", "message": "m", "requestedSchema": {}}}, -32602),
        (BOTH, visit(1) | {"params": {"mode": "url", "message": "m", "sessionId": "s1"}}, -32602),
    ],
    ids=["nothing", "form", "url", "unknown mode", "no properties", "no scope", "no url"],
)
async def test_what_was_not_offered_or_cannot_be_read_is_shown_to_nobody(
    tmp_path: Path, offer: ClientOffer, request_: Any, code: int
):
    """R-ELIC-2, R-ELIC-4, R-RPC-6."""
    async with in_session(tmp_path, offer=offer) as (session, wire):
        await wire.send(request_)
        assert (await wire.receive())["error"]["code"] == code
        assert await waiting(session) == []


@pytest.mark.parametrize(
    ("offer", "offered"),
    [
        (ClientOffer(), None),
        (ClientOffer(elicitation_form=True), {"form": {}}),
        (ClientOffer(elicitation_url=True), {"url": {}}),
        (BOTH, {"form": {}, "url": {}}),
    ],
)
async def test_elicitations_are_offered_as_far_as_someone_shows_them(offer: ClientOffer, offered: Any):
    """R-INIT-6."""
    async with in_memory(offer) as (agent, wire):
        capabilities = (await shake_hands(agent, wire))["params"]["clientCapabilities"]
    assert capabilities.get("elicitation") == offered
