"""Whatever an agent and its user do, in any order, the replay of the recording equals the live session."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest
from anyio.abc import TaskGroup
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_tui.client.early_updates import MAX_EARLY_UPDATES
from acp_tui.client.errors import ClientError
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.session import Session
from acp_tui.client.transcript.recording_plan import RecordingPlan
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.tool_calls import TerminalId, ToolCallId
from acp_tui.conversation.updates import TerminalExited, TerminalOpened, TerminalOutput
from acp_tui.rpc import ConnectionLost
from support.agents import EVERY_SESSION_CALL, Counterpart, asked, in_memory, notification, request, said
from support.folding import texts
from support.recordings import EVERYTHING, as_recorded, replayed_whole

EXAMPLES = int(os.environ.get("REPLAYED_SESSIONS", "100"))
IDS = ("s1", "s2")
OPTIONS = [{"id": "web", "name": "Web", "type": "boolean", "currentValue": True}]
Act = Callable[["Stage", str, int], Awaitable[None]]


@pytest.fixture(autouse=True, scope="module")
def no_patience() -> Iterator[None]:
    """A silent turn is told at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Session, "late_patience_s", 0.0)
        yield


@dataclass
class Stage:
    """An agent in memory and its user. `waiting` holds the client's requests that the agent hasn't answered."""

    agent: Agent
    wire: Counterpart
    tasks: TaskGroup
    waiting: list[Any] = field(default_factory=list)
    closed: dict[SessionId, Conversation] = field(default_factory=dict)
    terminals: dict[TerminalId, Session] = field(default_factory=dict)
    numbers: count[int] = field(default_factory=count)

    async def hear(self) -> None:
        """Let everything settle, and note what the client asks."""
        messages = await self.wire.receive_all()
        self.waiting += [message for message in messages if "id" in message and "method" in message]

    def session(self, session_id: str) -> Session | None:
        """The open session."""
        return self.agent.sessions.get(SessionId(session_id))

    def call(self, call: Callable[[], Awaitable[Any]]) -> None:
        """Let the user request something of the agent, which may lead to nothing."""

        async def make() -> None:
            with suppress(ClientError):
                await call()

        self.tasks.start_soon(make)

    @property
    def opening(self) -> set[str]:
        """The IDs of sessions the user doesn't have yet."""
        methods = ("session/load", "session/resume")
        return {asked["params"]["sessionId"] for asked in self.waiting if asked["method"] in methods}

    @property
    def conversations(self) -> dict[SessionId, Conversation]:
        """Those of all sessions, open or closed last."""
        opened = {session_id: session.conversation for session_id, session in self.agent.sessions.items()}
        return {**self.closed, **opened}


# What the agent does


async def say(stage: Stage, session_id: str, number: int) -> None:
    await stage.wire.send(said(f"word {number} ", session_id))


async def report(stage: Stage, session_id: str, number: int) -> None:
    content = [{"type": "terminal", "terminalId": f"t{number}"}]
    call = {"sessionUpdate": "tool_call", "toolCallId": f"c{number}", "title": "Run", "content": content}
    await stage.wire.send(notification("session/update", {"sessionId": session_id, "update": call}))


async def finish(stage: Stage, session_id: str, number: int) -> None:
    call = {"sessionUpdate": "tool_call_update", "toolCallId": f"c{number}", "status": "completed"}
    await stage.wire.send(notification("session/update", {"sessionId": session_id, "update": call}))


async def ask(stage: Stage, session_id: str, number: int) -> None:
    options = ("a", "b") if number else ()
    await stage.wire.send(asked(f"p{next(stage.numbers)}", *options, call_id=f"c{number}", session_id=session_id))


async def elicit(stage: Stage, session_id: str, number: int) -> None:
    properties = {"name": {"type": "string", "default": "Ada"}}
    schema = {"type": "object", "properties": properties}
    scope = {"sessionId": session_id} if number else {"requestId": 1}
    params = {**scope, "mode": "form", "message": "Who?", "requestedSchema": schema}
    await stage.wire.send(request(f"e{next(stage.numbers)}", "elicitation/create", params))


async def withdraw(stage: Stage, session_id: str, number: int) -> None:
    await stage.wire.send(notification("$/cancel_request", {"requestId": f"p{number}"}))


async def answer(stage: Stage, session_id: str, number: int) -> None:
    """Answer a waiting request, the oldest or the newest, for one that opens a session with this ID."""
    if stage.waiting:
        asked_for = stage.waiting.pop(-(number % 2))
        if asked_for["method"] == "session/new" and stage.session(session_id) is not None:
            session_id += "'"  # no agent uses an ID twice
        result = {"sessionId": session_id, "stopReason": ("end_turn", "cancelled", "refusal")[number]}
        await stage.wire.answer(asked_for, {**result, "configOptions": OPTIONS})


async def refuse(stage: Stage, session_id: str, number: int) -> None:
    if stage.waiting:
        await stage.wire.refuse(stage.waiting.pop(-(number % 2)), -32000 if number else -32603, "no")


async def send_nonsense(stage: Stage, session_id: str, number: int) -> None:
    if number and stage.waiting:
        await stage.wire.answer(stage.waiting.pop(), None if number == 1 else {"sessionId": 5})
    else:
        await stage.wire.send_bytes(b'{"method": "session/update", \xff\n[]\n')


async def hang_up(stage: Stage, session_id: str, number: int) -> None:
    if number == 2:
        await stage.wire.close_output()


# What the user does


async def begin(stage: Stage, session_id: str, number: int) -> None:
    stage.call(lambda: stage.agent.new_session(Path("/project")))


async def load(stage: Stage, session_id: str, number: int) -> None:
    call = stage.agent.load_session if number else stage.agent.resume_session
    stage.call(lambda: call(SessionId(session_id), Path("/project")))


async def close(stage: Stage, session_id: str, number: int) -> None:
    session = stage.session(session_id)
    if session is not None and number == 1:
        stage.closed[session.session_id] = session.conversation
        stage.call(lambda: stage.agent.close_session(session))


async def prompt(stage: Stage, session_id: str, number: int) -> None:
    session = stage.session(session_id)
    if session is not None and session_id not in stage.opening:
        stage.call(lambda: session.send_prompt([Text(f"prompt {number}")], ["a note"] * number))


async def cancel(stage: Stage, session_id: str, number: int) -> None:
    session = stage.session(session_id)
    if session is not None:
        session.cancel()


async def decide(stage: Stage, session_id: str, number: int) -> None:
    session = stage.session(session_id)
    for key, question in list(session.conversation.permissions.items())[:1] if session else ():
        session.answer_permission(key, question.options[number % 2].option_id)  # type: ignore[union-attr]
    for owner in (session, stage.agent):
        waiting = owner.elicitations if isinstance(owner, Agent) else owner and owner.conversation.elicitations
        for key in list(waiting or ())[:1]:
            owner.questions.answer(key, ("accept", "decline", "cancel")[number], {"name": "Bob"})  # type: ignore


async def switch(stage: Stage, session_id: str, number: int) -> None:
    session = stage.session(session_id)
    if session is not None:
        stage.call(lambda: session.set_option("web", bool(number)))


async def print_to_terminal(stage: Stage, session_id: str, number: int) -> None:
    """What `client.sessions.machine` reports about a terminal of the session it was opened in."""
    terminal_id = TerminalId(f"t{number}")
    session = stage.terminals.get(terminal_id)
    opened = stage.session(session_id)
    if stage.agent.lost:
        return  # it took all terminals with it
    if session is not None:
        session.apply(TerminalOutput(terminal_id, b"output\r\n"))
    elif opened is not None:
        stage.terminals[terminal_id] = opened
        opened.apply(TerminalOpened(terminal_id, "make", "/project"))


async def end_terminal(stage: Stage, session_id: str, number: int) -> None:
    session = stage.terminals.get(TerminalId(f"t{number}"))
    if session is not None and not stage.agent.lost:
        session.apply(TerminalExited(TerminalId(f"t{number}"), number, None, 0.5))


ACTS: tuple[Act, ...] = (
    *(say, report, finish, ask, elicit, withdraw, answer, answer, answer, refuse, send_nonsense, hang_up),
    *(begin, load, close, prompt, prompt, cancel, decide, switch, print_to_terminal, end_terminal),
)
Acts = list[tuple[Act, str, int]]
one_act = st.tuples(st.sampled_from(ACTS), st.sampled_from(IDS), st.integers(0, 2))
OPENED: Acts = [(begin, "s1", 0), (answer, "s1", 0)]


async def play(acts: Acts, file: Path) -> tuple[dict[SessionId, Conversation], Conversation]:
    """Everything said live."""
    plan = RecordingPlan(Path("/project"), file=file)
    async with in_memory(EVERYTHING, recordings=plan) as (agent, wire), anyio.create_task_group() as tasks:
        tasks.start_soon(agent.initialize)
        result = {"protocolVersion": 1, "agentCapabilities": EVERY_SESSION_CALL}
        await wire.answer(await wire.expect("initialize"), result)
        stage = Stage(agent, wire, tasks)
        for act, session_id, number in acts:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await act(stage, session_id, number)
            await stage.hear()
        tasks.cancel_scope.cancel()
    return stage.conversations, agent.outside


@settings(max_examples=EXAMPLES)
@given(st.lists(one_act, max_size=40))
def test_the_replay_of_whatever_happens_equals_it(acts: Acts) -> None:
    check([*OPENED, *acts])


async def hang_up_before_a_prompt(stage: Stage, session_id: str, number: int) -> None:
    """The connection is lost, which the session doesn't know yet when the user sends a prompt."""
    stage.agent.connection.peer.lose(ConnectionLost())
    await prompt(stage, session_id, number)
    await stage.hear()
    await stage.wire.close_output()


def test_a_prompt_that_could_not_be_sent_any_more_is_replayed() -> None:
    live = check([*OPENED, (hang_up_before_a_prompt, "s1", 1)])
    assert texts(live[SessionId("s1")]) == [("user", "prompt 1"), ("Failure", "")]


@pytest.mark.parametrize("end", [answer, refuse])
def test_a_command_of_a_session_that_is_loaded_again_prints_where_it_was_begun(end: Act) -> None:
    begun: Acts = [(print_to_terminal, "s1", 1), (report, "s1", 1), (load, "s1", 1)]
    check([*OPENED, *begun, (print_to_terminal, "s1", 1), (end, "s1", 0), (end_terminal, "s1", 1)])


def test_a_session_that_was_being_loaded_when_its_agent_ended_is_what_it_was() -> None:
    turn: Acts = [(prompt, "s1", 0), (answer, "s1", 0)]
    live = check([*OPENED, *turn, (load, "s1", 1), (say, "s1", 0), (hang_up, "s1", 2)])
    assert texts(live[SessionId("s1")]) == [("user", "prompt 0"), ("ClientRemark", ""), ("Failure", "")]


@pytest.mark.parametrize("end", [(hang_up, "s1", 2), (refuse, "s1", 0)], ids=["hangs up", "refuses"])
def test_a_session_that_was_closed_while_it_was_opened_in_vain_is_kept(end: tuple[Act, str, int]) -> None:
    live = check([*OPENED, (load, "s2", 1), (say, "s2", 0), (close, "s2", 1), end])
    assert texts(live[SessionId("s2")])[0] == ("agent", "word 0 ")


def test_a_closed_session_does_not_fail_when_its_agent_ends_while_it_is_resumed() -> None:
    live = check([*OPENED, (close, "s1", 1), (answer, "s1", 0), (load, "s1", 0), (hang_up, "s1", 2)])
    assert texts(live[SessionId("s1")]) == []


def test_a_session_is_again_what_it_was_if_loading_it_was_closed_and_failed() -> None:
    live = check([*OPENED, (load, "s1", 1), (close, "s1", 1), (answer, "s1", 1), (hang_up, "s1", 2)])
    assert live[SessionId("s1")].options


def test_a_request_that_waits_when_its_turn_ends_is_canceled_with_it() -> None:
    live = check([*OPENED, (prompt, "s1", 0), (ask, "s1", 1), (answer, "s1", 0)])
    assert live[SessionId("s1")].tool_call(ToolCallId("c1")).status_words == "unfinished"


def test_a_call_with_the_id_of_an_earlier_one_is_another_in_the_replay_too() -> None:
    turn: Acts = [(prompt, "s1", 0), (report, "s1", 1), (finish, "s1", 1), (answer, "s1", 0)]
    live = check([*OPENED, *turn, *turn])
    assert texts(live[SessionId("s1")]) == [("user", "prompt 0"), ("call", "c1")] * 2


def test_questions_of_two_sessions_with_the_same_id_are_answered_each_in_its_own() -> None:
    """One session is open, another is being opened when the agent exits."""
    begun: Acts = [(begin, "s2", 0), (answer, "s2", 0), (ask, "s2", 1), (elicit, "s2", 1)]
    check([*OPENED, *begun, (ask, "s2", 0), (load, "s2", 2), (elicit, "s2", 2), (ask, "s2", 1)])
    check([*OPENED, *begun, (load, "s2", 2), (decide, "s2", 0), (ask, "s2", 1), (hang_up, "s2", 2)])


def test_an_unknown_session_keeps_as_much_as_a_live_one() -> None:
    early: Acts = [(say, "s1", 0)] * (MAX_EARLY_UPDATES + 1)
    check([(begin, "s1", 0), *early, (answer, "s1", 0)])


async def begin_anew(stage: Stage, session_id: str, number: int) -> None:
    """Continue in a new session below the conversation of this one."""
    earlier = stage.session(session_id)
    stage.call(lambda: stage.agent.new_session(Path("/project"), earlier=earlier))


def test_what_a_new_session_declares_is_kept_where_it_goes_on_below_another(tmp_path: Path) -> None:
    acts: Acts = [*OPENED, (begin_anew, "s1", 0), (answer, "s2", 0)]
    live, _ = anyio.run(play, acts, tmp_path / "recording.jsonl")
    went_on = replayed_whole(tmp_path / "recording.jsonl").conversations[SessionId("s2")]
    assert went_on.options
    assert went_on == as_recorded(live[SessionId("s2")])


def check(acts: Acts) -> dict[SessionId, Conversation]:
    with TemporaryDirectory() as folder:
        file = Path(folder, "recording.jsonl")
        live, outside = anyio.run(play, acts, file)
        replay = replayed_whole(file)
    assert replay.conversations == {name: as_recorded(conversation) for name, conversation in live.items()}
    assert replay.outside == as_recorded(outside)
    return live
