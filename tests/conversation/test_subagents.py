"""Subagents: each has its own conversation, and an entry in that of the agent that started it."""

from __future__ import annotations

from acp_tui.conversation import reducer
from acp_tui.conversation.catch_up import retold
from acp_tui.conversation.conversation import Conversation, SubagentState, snapshot
from acp_tui.conversation.entries import Subagent, ToolCallEntry
from acp_tui.conversation.facts import Fact, SessionId, TurnUsage, Usage
from acp_tui.conversation.tool_calls import TerminalContent, TerminalId, ToolCallId
from acp_tui.conversation.updates import (
    CancelRequested,
    Disconnected,
    SessionUpdate,
    StateReported,
    SubagentReported,
    SubagentSaid,
    TerminalOutput,
    TurnEnded,
    UsageReported,
)
from acp_tui.conversation.wording import spent_words, subagent_state
from support.folding import agent, ask, call, fold, last_change, prompt, texts, user

CHILD = SessionId("child")
RUNNING = StateReported("running")


def said(update: SessionUpdate, child: SessionId = CHILD, *, is_of_call: bool = False) -> SubagentSaid:
    return SubagentSaid(child, update, is_of_call=is_of_call)


def child_of(conversation: Conversation, child: SessionId = CHILD) -> SubagentState:
    return conversation.subagents[child]


def test_what_a_subagent_says_is_a_conversation_of_its_own() -> None:
    conversation = fold(
        prompt("go"),
        agent("I let somebody look"),
        SubagentReported(CHILD, "Look", "for a bug", RUNNING, is_cancellable=True),
        said(agent("found ")),
        agent("meanwhile"),
        said(agent("it")),
        SubagentReported(CHILD, state=StateReported("idle", "end_turn", usage=TurnUsage(1200, 1000, 200))),
        said(UsageReported(Usage(9000, 200_000, 0.05, "USD"))),
    )
    child = child_of(conversation)
    assert texts(child.conversation) == [("agent", "found it")]
    assert conversation.entries[child.entry] == Subagent(CHILD)
    assert child.entry == 2
    assert (child.conversation.title, child.description) == ("Look", "for a bug")
    assert subagent_state(child) == "done"
    assert spent_words(child.conversation) == "1k tokens · $0.05"


def test_a_change_names_the_entry_and_what_changed_below_it() -> None:
    change = last_change(SubagentReported(CHILD, "Look", state=RUNNING), said(agent("a")), said(agent("b")))
    assert change.entries == (0,)
    assert change.facts == ()
    assert change.subagent is not None
    assert change.subagent[0] == CHILD
    assert change.subagent[1].entries == (0,)
    assert Fact.SUBAGENTS in last_change(SubagentReported(CHILD, "Look")).facts


def test_a_subagent_of_a_subagent_is_within_it() -> None:
    inner = SessionId("inner")
    conversation = fold(
        SubagentReported(CHILD, "Look"),
        said(SubagentReported(inner, "Look closer")),
        said(SubagentSaid(inner, agent("so"))),
    )
    below = child_of(conversation).conversation
    assert [*conversation.subagents] == [CHILD]
    assert texts(child_of(below, inner).conversation) == [("agent", "so")]


def test_what_stays_unsaid_stays_and_null_clears() -> None:
    reports = [
        SubagentReported(CHILD, "Look", "for a bug", RUNNING, is_cancellable=True),
        SubagentReported(CHILD, description=None, is_cancellable=False),
    ]
    child = child_of(fold(*reports))
    assert (child.conversation.title, child.description, child.is_cancellable) == ("Look", None, False)
    assert subagent_state(child) == "running"


def test_the_states_of_a_subagent_have_a_word_each() -> None:
    words = {}
    for name, states in {
        "idle": [],
        "running": [RUNNING],
        "needs you": [RUNNING, StateReported("requires_action")],
        "canceled": [RUNNING, StateReported("idle", "cancelled")],
        "stopped": [RUNNING, StateReported("idle", "max_tokens")],
    }.items():
        reports = [SubagentReported(CHILD, state=state) for state in states]
        words[name] = subagent_state(child_of(fold(SubagentReported(CHILD), *reports)))
    assert words == {name: name for name in words}


TASK = SessionId("task")


def test_the_work_of_a_tool_call_is_called_as_the_call_is_and_ends_with_it() -> None:
    conversation = fold(
        prompt("go"),
        call("task", title="Search the docs", status="in_progress"),
        said(user("search them"), TASK, is_of_call=True),
        said(call("grep", title="grep", status="in_progress"), TASK, is_of_call=True),
    )
    child = child_of(conversation, TASK)
    assert (child.conversation.title, subagent_state(child)) == ("Search the docs", "running")
    # claude-agent-acp reports the end of such a call without saying whose it is.
    reducer.apply(conversation, call("grep", status="completed"))
    assert child.conversation.tool_call(ToolCallId("grep")).call.status == "completed"
    assert ToolCallId("grep") not in conversation.tool_call_entries
    reducer.apply(conversation, call("task", status="completed"))
    assert subagent_state(child) == "done"


def test_a_cancelled_turn_ends_the_work_of_its_calls() -> None:
    conversation = fold(
        prompt("go"),
        call("task", title="Search", status="in_progress"),
        said(agent("so far"), TASK, is_of_call=True),
        CancelRequested(),
    )
    assert subagent_state(child_of(conversation, TASK)) == "canceled"


def test_a_question_about_a_call_of_a_subagent_is_settled_by_the_answer() -> None:
    conversation = fold(
        prompt("go"),
        call("task", title="Search", status="in_progress"),
        said(call("rm", title="rm"), TASK, is_of_call=True),
        ask(1, "rm", title="rm"),
    )
    (request,) = conversation.permissions.values()
    assert request.is_alone


def test_nobody_works_for_an_agent_that_is_gone() -> None:
    conversation = fold(SubagentReported(CHILD, "Look", state=RUNNING), said(call("t")), Disconnected("gone"))
    child = child_of(conversation)
    assert subagent_state(child) == "failed"
    entry = child.conversation.entries[0]
    assert isinstance(entry, ToolCallEntry)
    assert entry.call.status == "failed"


MUCH = (
    prompt("go"),
    SubagentReported(CHILD, "Look", "for a bug", RUNNING, is_cancellable=True),
    said(user("look")),
    said(call("t", title="Run", content=(TerminalContent(TerminalId("term")),))),
    said(TerminalOutput(TerminalId("term"), b"printed")),
    said(SubagentReported(SessionId("inner"), "Closer", state=RUNNING)),
    said(SubagentSaid(SessionId("inner"), agent("deep"))),
    said(agent("found")),
    SubagentReported(CHILD, state=StateReported("idle", "cancelled")),
    TurnEnded("end_turn"),
)


def test_a_copy_is_equal_and_stays_as_it_is() -> None:
    conversation = fold(*MUCH)
    copied = snapshot(conversation)
    assert copied == conversation
    assert child_of(copied).conversation.terminals is copied.terminals
    reducer.apply(conversation, said(agent(" more")))
    assert copied != conversation


def test_subagents_told_again_are_the_same() -> None:
    conversation = fold(*MUCH)
    again = fold(*retold(conversation))
    child, told = child_of(conversation), child_of(again)
    assert texts(told.conversation) == texts(child.conversation)
    assert subagent_state(told) == subagent_state(child) == "canceled"
    inner = SessionId("inner")
    assert texts(child_of(told.conversation, inner).conversation) == [("agent", "deep")]
    assert again.terminals[TerminalId("term")].output.read() == b"printed"
