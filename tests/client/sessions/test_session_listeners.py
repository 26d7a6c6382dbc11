"""A session's listeners: several at once, until each unsubscribes, without affecting one another."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from acp_tui.client.sessions.session import Session
from acp_tui.conversation.conversation import Change
from acp_tui.conversation.updates import ClientRemark, Disconnected
from support.agents import agent_texts, in_memory, open_session, response, said, settle, shake_hands
from support.screens import new_session


def test_every_subscriber_is_told_in_the_order_of_subscribing() -> None:
    session, told = new_session(), []
    for name in "abc":
        session.subscribe(lambda _, name=name: told.append(name))
    session.apply(ClientRemark("x"))
    assert told == ["a", "b", "c"]


def test_a_listener_that_subscribed_twice_is_told_twice_and_unsubscribes_each() -> None:
    session = new_session()
    told: list[Change] = []
    first, second = session.subscribe(told.append), session.subscribe(told.append)
    session.apply(ClientRemark("x"))
    first()
    first()
    session.apply(ClientRemark("y"))
    second()
    session.apply(ClientRemark("z"))
    assert len(told) == 3


def test_who_is_unsubscribed_during_a_change_is_not_told_of_it_any_more() -> None:
    session = new_session()
    told: list[str] = []

    def leave_and_take_the_next_along(_: Change) -> None:
        told.append("first")
        leave_first()
        leave_second()

    leave_first = session.subscribe(leave_and_take_the_next_along)
    leave_second = session.subscribe(lambda _: told.append("second"))
    session.subscribe(lambda _: told.append("third"))
    session.apply(ClientRemark("x"))
    session.apply(ClientRemark("y"))
    assert told == ["first", "third", "third"]


def test_who_subscribes_during_a_change_is_told_from_the_next_one_on() -> None:
    session = new_session()
    told: list[Change] = []
    leave = session.subscribe(lambda _: (leave(), session.subscribe(told.append)))
    session.apply(ClientRemark("x"))
    assert told == []
    session.apply(ClientRemark("y"))
    assert len(told) == 1


def test_a_listener_that_fails_silences_no_other_and_its_error_is_raised() -> None:
    session = new_session()
    told: list[Change] = []

    def fail(_: Change) -> None:
        raise LookupError("broken")

    session.subscribe(fail)
    session.subscribe(told.append)
    with pytest.raises(LookupError, match="broken"):
        session.apply(ClientRemark("x"))
    session.subscribe(fail)
    with pytest.raises(ExceptionGroup) as raised:
        session.apply(ClientRemark("y"))
    assert len(raised.value.exceptions) == 2
    assert len(told) == 2
    assert len(session.conversation.entries) == 2


async def test_a_listener_that_fails_does_not_end_the_connection(tmp_path: Path) -> None:
    async with in_memory() as (agent, wire):
        await shake_hands(agent, wire)
        session = await open_session(agent, wire, tmp_path)

        def fail(_: Change) -> None:
            raise LookupError("broken")

        session.subscribe(fail)
        await wire.send(said("one "), said("two"))
        await settle()
        assert agent_texts(session) == ["one two"]


async def test_who_follows_a_session_follows_the_one_that_goes_on_with_it(tmp_path: Path) -> None:
    async with in_memory() as (agent, wire), anyio.create_task_group() as tasks:
        await shake_hands(agent, wire)
        earlier = await open_session(agent, wire, tmp_path)
        told: list[Change] = []
        unsubscribe = earlier.subscribe(told.append)
        earlier.apply(Disconnected("gone"))
        opened: list[Session] = []

        async def go_on() -> None:
            opened.append(await agent.new_session(tmp_path, earlier=earlier))

        tasks.start_soon(go_on)
        opening = await wire.expect("session/new")
        await wire.send(response(opening["id"], {"sessionId": "s2"}))
        await settle()
        told.clear()
        opened[0].apply(ClientRemark("x"))
        assert len(told) == 1
        unsubscribe()
        opened[0].apply(ClientRemark("y"))
        assert len(told) == 1
