"""Terminals: their state is stored beside the entries, and a change names the entry that shows it."""

import pytest

from acp_tui.conversation.conversation import Change, Conversation
from acp_tui.conversation.entries import TERMINAL_SCROLLBACK_BYTES, EntryId, TerminalState
from acp_tui.conversation.facts import BackgroundWork, Fact
from acp_tui.conversation.reducer import apply
from acp_tui.conversation.tool_calls import TerminalContent, TerminalId
from acp_tui.conversation.updates import (
    SessionUpdate,
    StateReported,
    TerminalExited,
    TerminalOpened,
    TerminalOutput,
    TerminalWaiting,
    TurnEnded,
)
from acp_tui.conversation.wording import session_facts
from support.folding import agent, call, fold, last_change, prompt, texts

TERMINAL = TerminalId("term-1")
OPENED = TerminalOpened(TERMINAL, "ls -l", "/work")
EMBEDDED = call("t", content=(TerminalContent(TERMINAL),))


def output(data: bytes) -> TerminalOutput:
    return TerminalOutput(TERMINAL, data)


def state_of(conversation: Conversation) -> TerminalState:
    return conversation.terminals[TERMINAL]


def touched(*entries: int) -> Change:
    return Change(tuple(EntryId(entry) for entry in entries), (Fact.TERMINALS,), TERMINAL)


def test_an_agents_command_without_an_end_runs_until_its_call_or_the_turn_ends() -> None:
    begun = (prompt("go"), TerminalOutput(TERMINAL, b"a"), EMBEDDED)
    assert _runs(*begun)
    assert not _runs(*begun, call("t", status="failed"))
    assert not _runs(*begun, TurnEnded("end_turn"))
    assert not _runs(*begun[1:])  # a session that was read back
    behind = StateReported("running", background=(BackgroundWork("terminal", TERMINAL),))
    assert _runs(*begun, behind, call("t", status="completed"), TurnEnded("end_turn"))


def test_a_command_of_ours_runs_until_it_ends() -> None:
    begun = (prompt("go"), OPENED, EMBEDDED, call("t", status="completed"), TurnEnded("end_turn"))
    assert _runs(*begun)
    assert not _runs(*begun, TerminalExited(TERMINAL, 0, None))


def _runs(*updates: SessionUpdate) -> bool:
    conversation = fold(*updates)
    return ("Running", conversation.terminals[TERMINAL].command or "a command") in session_facts(
        conversation, "Agent", "/work", None
    )


def test_a_terminal_of_ours_keeps_its_command_its_output_and_its_end() -> None:
    state = state_of(fold(OPENED, output(b"a\n"), output(b"b\n"), TerminalExited(TERMINAL, 3, None)))
    assert (state.command, state.cwd, state.is_ours) == ("ls -l", "/work", True)
    assert state.output.read() == b"a\nb\n"
    assert (state.has_exited, state.exit_code, state.signal) == (True, 3, None)


def test_the_end_says_how_long_it_took_where_that_is_known() -> None:
    assert state_of(fold(OPENED, TerminalExited(TERMINAL, 0, None, 1.5))).seconds == 1.5
    assert state_of(fold(OPENED, TerminalExited(TERMINAL, 0, None))).seconds is None


def test_a_command_waits_for_input_until_it_goes_on_or_ends() -> None:
    waiting = TerminalWaiting(TERMINAL, True)
    assert state_of(fold(OPENED, waiting)).is_waiting
    assert not state_of(fold(OPENED, waiting, TerminalWaiting(TERMINAL, False))).is_waiting
    assert not state_of(fold(OPENED, waiting, TerminalExited(TERMINAL, 0, None))).is_waiting


def test_a_terminal_ended_by_a_signal_has_no_exit_code() -> None:
    state = state_of(fold(OPENED, TerminalExited(TERMINAL, None, "SIGKILL")))
    assert (state.has_exited, state.exit_code, state.signal) == (True, None, "SIGKILL")


def test_a_running_terminal_has_not_exited() -> None:
    assert not state_of(fold(OPENED)).has_exited


def test_a_terminal_that_the_agent_only_shows_is_not_ours() -> None:
    assert not state_of(fold(TerminalOpened(TERMINAL, is_ours=False))).is_ours
    assert not state_of(fold(output(b"x"))).is_ours


def test_output_before_the_terminal_is_known_is_kept() -> None:
    """R-TERM-11."""
    state = state_of(fold(output(b"early"), OPENED, output(b" late")))
    assert (state.is_ours, state.output.read()) == (True, b"early late")


@pytest.mark.parametrize("update", [OPENED, output(b"x"), TerminalExited(TERMINAL, 0, None)])
def test_a_terminal_that_no_call_shows_touches_no_entry(update: SessionUpdate) -> None:
    assert last_change(agent("a"), update) == touched()
    assert texts(fold(agent("a"), update)) == [("agent", "a")]


@pytest.mark.parametrize("update", [OPENED, output(b"x"), TerminalExited(TERMINAL, 0, None)])
def test_a_change_of_a_terminal_names_the_call_that_shows_it(update: SessionUpdate) -> None:
    """Whichever arrived first, the output or the call."""
    assert last_change(agent("a"), EMBEDDED, update) == touched(1)
    assert last_change(output(b"early"), agent("a"), EMBEDDED, update) == touched(1)


def test_output_of_a_terminal_that_two_calls_show_changes_both() -> None:
    again = call("u", content=(TerminalContent(TERMINAL),))
    assert last_change(EMBEDDED, again, output(b"x")) == touched(0, 1)


def test_a_call_may_show_a_terminal_that_nobody_knows() -> None:
    """R-TERM-11: a placeholder is drawn, and no state is made up."""
    assert fold(EMBEDDED).terminals == {}


def test_each_terminal_has_its_own_output() -> None:
    other = TerminalId("term-2")
    conversation = fold(output(b"a"), TerminalOutput(other, b"b"), output(b"c"))
    assert [state.output.read() for state in conversation.terminals.values()] == [b"ac", b"b"]


def test_the_output_that_is_kept_is_bounded() -> None:
    half = b"x" * (TERMINAL_SCROLLBACK_BYTES // 2)
    state = state_of(fold(*(output(half) for _ in range(5)), output(b"end")))
    assert len(state.output) == TERMINAL_SCROLLBACK_BYTES
    assert state.output.read(3) == b"end"


def test_terminals_far_back_keep_little_however_many_there_are() -> None:
    conversation = Conversation()
    for number in range(1_500):
        terminal = TerminalId(f"term-{number}")
        apply(conversation, TerminalOpened(terminal, "yes", "/work"))
        apply(conversation, TerminalOutput(terminal, b"x" * 100_000))
    kept = [len(state.output.read()) for state in conversation.terminals.values()]
    assert kept == [0] * 500 + [16 << 10] * 950 + [100_000] * 50
    apply(conversation, TerminalOutput(TerminalId("term-600"), b"y" * 100_000))
    assert conversation.terminals[TerminalId("term-600")].output.read() == b"y" * (16 << 10)
