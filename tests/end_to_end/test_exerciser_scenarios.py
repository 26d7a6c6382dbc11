"""The scenarios of the protocol's official exerciser, played by the demo agent as a real process."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.buffers import TextBuffer
from acp_tui.conversation.content import Audio, BlobResource, Image, ResourceLink, Text, TextResource
from acp_tui.conversation.elicitation import Form, FormValues, MultiChoiceField
from acp_tui.conversation.entries import Compaction, Message, ToolCallEntry
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.tool_calls import BlockContent, ToolCall
from acp_tui.conversation.updates import ElicitationAction
from acp_tui.protocol.roles import ClientOffer
from support.agents import agent_texts, running

PROMPT = "show me"
EVERYTHING = ClientOffer(elicitation_form=True, elicitation_url=True)


class User:
    """Answers all the agent's questions in order, and cancels the turn at a tool call with a given title."""

    def __init__(self, agent: Agent, session: Session, action: ElicitationAction, option: str, cancels_at: str) -> None:
        self._agent = agent
        self._session = session
        self._action = action
        self._option = option
        self._cancels_at = cancels_at
        self._changed = anyio.Event()
        session.subscribe(self._note)
        agent.on_elicitations = self._note

    def _note(self, *_: object) -> None:
        self._changed.set()

    async def attend(self) -> None:
        """Handle the session's questions until told to stop."""
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            if self._cancels_at in [call.title for call in calls(self._session)]:
                self._session.cancel()
            for key in list(self._session.conversation.permissions):
                self._session.answer_permission(key, self._option)
            for owner, waiting in (
                (self._session, self._session.conversation.elicitations),
                (self._agent, self._agent.elicitations),
            ):
                for key, question in list(waiting.items()):
                    owner.questions.answer(key, self._action, self._values(question))

    def _values(self, question: Any) -> FormValues | None:
        is_filled_in = self._action == "accept" and isinstance(question, Form)
        return filled_in(question) if is_filled_in else None


def filled_in(form: Form) -> FormValues:
    """The defaults, and the first choice for required fields."""
    values: FormValues = {}
    for field in form.fields:
        default = getattr(field, "default", None)
        if isinstance(field, MultiChoiceField):
            values[field.name] = list(field.default)
        elif default is not None:
            values[field.name] = default
        elif field.is_required:
            values[field.name] = field.choices[0].value  # type: ignore[union-attr]
    return values


def demo(name: str) -> AgentCommand:
    return AgentCommand("demo", (sys.executable, "-m", "acp_tui.demo", name, "--speed", "0"))


@asynccontextmanager
async def opened(name: str, cwd: Path, offer: ClientOffer = EVERYTHING) -> AsyncIterator[tuple[Agent, Session]]:
    """A session with the demo agent, which plays a scenario."""
    async with running(demo(name), offer) as agent:
        await agent.initialize()
        yield agent, await agent.new_session(cwd)


async def played(
    name: str,
    cwd: Path,
    *,
    action: ElicitationAction = "accept",
    option: str = "allow",
    cancels_at: str = "",
    offer: ClientOffer = EVERYTHING,
) -> Session:
    """The session after one turn in which the user answers everything this way."""
    async with opened(name, cwd, offer) as (agent, session), anyio.create_task_group() as tasks:
        tasks.start_soon(User(agent, session, action, option, cancels_at).attend)
        await session.send_prompt([Text(PROMPT)])
        tasks.cancel_scope.cancel()
    return session


def messages(session: Session, role: str) -> list[Message]:
    return [e for e in session.conversation.entries if isinstance(e, Message) and e.role == role]


def calls(session: Session) -> Sequence[ToolCall]:
    return [entry.call for entry in session.conversation.entries if isinstance(entry, ToolCallEntry)]


def said(session: Session) -> str:
    return "".join(agent_texts(session))


async def test_session_updates_reach_the_conversation_and_its_facts(tmp_path: Path) -> None:
    session = await played("session_updates", tmp_path)
    conversation = session.conversation

    assert [message.text for message in messages(session, "user")] == [PROMPT]
    assert len(messages(session, "thought")) == 1
    assert "has an id. So this sentence is part of it" in agent_texts(session)[0]
    assert [call.status for call in calls(session)] == ["completed"]
    [compaction] = [entry for entry in conversation.entries if isinstance(entry, Compaction)]
    assert compaction.status == "completed"
    assert compaction.summary != []
    assert conversation.plan is not None
    assert conversation.plan.completed == 3
    assert [command.name for command in conversation.commands] == ["plan", "carry-out"]
    assert {option.option_id: option.value for option in conversation.options} == {
        "mode": "plan",
        "model": "script",
        "web": True,
    }
    assert conversation.title == "The tour, nearly done"
    assert conversation.updated_at == "2026-09-01T12:00:00Z"
    assert "The model is busy" in [notice.title for notice in conversation.notices]
    assert conversation.usage is not None
    assert conversation.usage.used == 12288
    assert conversation.last_stop_reason == "end_turn"


async def test_content_of_every_kind_stands_in_the_message(tmp_path: Path) -> None:
    session = await played("content", tmp_path)

    kinds = [type(part) for message in messages(session, "agent") for part in message.parts]
    assert [kind for kind in kinds if kind is not TextBuffer] == [
        Image,
        Audio,
        ResourceLink,
        TextResource,
        BlobResource,
        Text,  # only for the model
    ]
    in_call = [type(item.block) for item in calls(session)[0].content if isinstance(item, BlockContent)]
    assert in_call == [Text, Image, ResourceLink]


async def test_tool_calls_end_as_they_were_told_to(tmp_path: Path) -> None:
    session = await played("tool_calls", tmp_path)

    assert [(call.title, call.status) for call in calls(session)] == [
        ('Search for "retries"', "completed"),
        ("Edit limits.toml", "completed"),
        ("Fetch https://example.org/limits, again", "completed"),
    ]
    assert len(calls(session)[0].locations) == 2


async def test_callbacks_are_served_and_what_is_allowed_is_done(tmp_path: Path) -> None:
    session = await played("callbacks", tmp_path)

    assert (tmp_path / "notes.txt").read_text() == "one\ntwo\nthree\nfour\n"
    assert [(call.title, call.status) for call in calls(session)] == [
        ("Write notes.txt", "completed"),
        ("Read notes.txt", "completed"),
        ("Read no-such-file.txt", "failed"),
        ("Update the packages", "completed"),
        ("Start the server, and stop it", "completed"),
    ]
    progress, server = session.conversation.terminals.values()
    assert progress.exit_code == 0
    assert (server.has_exited, server.exit_code) == (True, None)
    assert "the answer was: *Method not found: _demo/color*" in said(session)


async def test_a_callback_that_is_rejected_is_not_carried_out(tmp_path: Path) -> None:
    session = await played("callbacks", tmp_path, option="reject")

    assert not (tmp_path / "notes.txt").exists()
    assert calls(session)[0].status == "failed"


@pytest.mark.parametrize(
    ("action", "reply", "status"),
    [
        ("accept", "*durations* 1.2.0 it is; contact: none.", "completed"),
        ("decline", "Then I'll use the last release's values.", "failed"),
        ("cancel", "No answer, so I'll use the last release's values.", "failed"),
    ],
)
async def test_elicitations_are_answered_by_the_user(
    action: ElicitationAction, reply: str, status: str, tmp_path: Path
) -> None:
    session = await played("elicitations", tmp_path, action=action)

    assert reply in said(session)
    assert [call.status for call in calls(session)] == [status]
    assert (session.conversation.elicitations, session.conversation.visits) == ({}, {})
    assert session.conversation.last_stop_reason == "end_turn"


async def test_a_client_that_shows_no_questions_is_not_sent_any(tmp_path: Path) -> None:
    session = await played("elicitations", tmp_path, offer=ClientOffer())

    assert said(session).count("The client doesn't support forms") == 3
    assert "The client doesn't support pages to visit" in said(session)
    assert session.conversation.last_stop_reason == "end_turn"


async def test_wait_for_cancel_ends_when_it_is_cancelled(tmp_path: Path) -> None:
    session = await played("wait_for_cancel", tmp_path, cancels_at="Wait")

    assert session.conversation.last_stop_reason == "cancelled"


async def test_kept_sessions_are_listed_by_pages_loaded_with_their_history_and_deleted(
    tmp_path: Path,
) -> None:
    async with opened("sessions", tmp_path) as (agent, _):
        first = await agent.list_sessions()
        second = await agent.list_sessions(cursor=first.next_cursor)
        ids = [summary.session_id for page in (first, second) for summary in page.sessions]
        loaded = await agent.load_session(SessionId("kept-durations"), tmp_path)
        resumed = await agent.resume_session(SessionId("kept-ci"), tmp_path)
        await agent.delete_session(SessionId("kept-old"))

        assert (len(ids), second.next_cursor) == (6, None)
        assert [message.text for message in messages(loaded, "user")][1] == "Thanks! What about fractions?"
        assert resumed.conversation.entries == []
        assert "kept-old" not in [
            summary.session_id for summary in (await agent.list_sessions(cursor=first.next_cursor)).sessions
        ]
