"""A snapshot equals the conversation when it is taken, and later changes don't affect it."""

from copy import deepcopy

from acp_tui.client.export.facts import ExportFacts
from acp_tui.client.export.jsonl import to_jsonl
from acp_tui.conversation.buffers import ByteRing
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Conversation, snapshot
from acp_tui.conversation.entries import ToolCallEntry
from acp_tui.conversation.facts import PlanStep
from acp_tui.conversation.reducer import apply
from acp_tui.conversation.tool_calls import TerminalId, TextDiff
from acp_tui.conversation.updates import (
    CompactionChanged,
    PlanReplaced,
    TerminalExited,
    TerminalOpened,
    TerminalOutput,
)
from support.folding import agent, ask, call, fold, prompt


def test_a_snapshot_is_equal_and_exports_equally(everything: Conversation, facts: ExportFacts) -> None:
    taken = snapshot(everything)

    assert taken == everything
    assert list(to_jsonl(taken, facts)) == list(to_jsonl(everything, facts))


def test_no_later_update_changes_a_snapshot() -> None:
    terminal = TerminalId("t")
    conversation = fold(
        prompt("Go"),
        call("c", title="Edit", meta={"a": 1}),
        TerminalOpened(terminal, "make", "/project"),
        TerminalOutput(terminal, b"one\n"),
        CompactionChanged("k", "in_progress", (Text("In"),), None),
        agent("Half a "),
    )
    before, taken = deepcopy(conversation), snapshot(conversation)

    for update in (
        agent("sentence"),
        call("c", title="Edited", status="completed", meta={"b": 2}),
        ask(1, "c2"),
        TerminalOutput(terminal, b"two\n"),
        TerminalExited(terminal, 0, None, 1.0),
        CompactionChanged("k", "completed", (Text("In short"),), None),
        PlanReplaced((PlanStep("Read"),)),
        prompt("More"),
    ):
        apply(conversation, update)

    assert taken == before
    assert taken != conversation


def test_the_kept_output_of_a_terminal_begins_where_it_began(everything: Conversation) -> None:
    ring = ByteRing(4)
    ring.append(b"0123456789")
    everything.terminals[TerminalId("t")].output = ring

    output = snapshot(everything).terminals[TerminalId("t")].output

    assert (output.dropped, output.end, output.read()) == (6, 10, b"6789")
    assert output == ring


def test_what_never_changes_is_shared() -> None:
    conversation = fold(call("c", content=(TextDiff("/x", "new", "old"),), raw_input={"a": [1]}))

    (entry,), (taken,) = conversation.entries, snapshot(conversation).entries

    assert isinstance(entry, ToolCallEntry)
    assert isinstance(taken, ToolCallEntry)
    assert taken.call.content is entry.call.content
    assert taken.call.raw_input is entry.call.raw_input
