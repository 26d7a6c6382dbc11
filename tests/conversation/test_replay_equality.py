"""Folding the same updates gives the same conversation, live and in a replay, and reading changes nothing."""

import copy

from hypothesis import given, settings
from hypothesis import strategies as st

from acp_tui.conversation.content import Image, Text
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.elicitation import FieldAnswer, Form, UrlVisit
from acp_tui.conversation.entries import Message
from acp_tui.conversation.entry_list import EntryList
from acp_tui.conversation.facts import BackgroundWork, PlanStep, RequestKey, SessionId, TurnUsage, Usage
from acp_tui.conversation.reducer import apply
from acp_tui.conversation.tool_calls import FilePart, TerminalContent, TerminalId, ToolCallId
from acp_tui.conversation.updates import (
    CancelRequested,
    ClientRemark,
    CommandRun,
    CommandsReplaced,
    CompactionChanged,
    CompactionChunk,
    DiffsPlaced,
    Disconnected,
    ElicitationAnswered,
    ElicitationAsked,
    ElicitationCompleted,
    InfoChanged,
    MessageChunk,
    MessageReplaced,
    NoticeShown,
    OptionChanged,
    OptionsReplaced,
    PermissionAnswered,
    PermissionNoted,
    PlanReplaced,
    PromptAccepted,
    PromptJoined,
    PromptRefused,
    PromptSent,
    Reconnected,
    Renamed,
    SessionUpdate,
    StateReported,
    SubagentReported,
    SubagentSaid,
    TerminalExit,
    TerminalExited,
    TerminalOpened,
    TerminalOutput,
    TerminalReported,
    TerminalResized,
    TerminalWaiting,
    ToolCallContentAdded,
    TurnEnded,
    TurnFailed,
    UnknownUpdate,
    UsageReported,
)
from support.folding import agent, ask, begun, call, fold, prompt, thought, user

TERMINAL = TerminalId("term-1")
EVERY_KIND: tuple[SessionUpdate, ...] = (
    prompt("hello"),
    user("hel"),
    user("x"),
    user("y", "m"),
    agent("a"),
    agent("b", "m"),
    thought("c"),
    thought("d", "m"),
    agent(""),
    MessageChunk("agent", Image("aGk=", "image/png")),
    call("t", title="Read", status="in_progress"),
    call("t", status="completed", meta={"a": 1}),
    begun("t", title="Again"),
    call("u", content=(TerminalContent(TERMINAL),), meta={"b": 2}),
    ask(1, "t"),
    ask(2, "v"),
    SubagentReported(SessionId("child"), "Look", state=StateReported("running")),
    SubagentReported(SessionId("child"), state=StateReported("idle", "cancelled"), is_cancellable=True),
    SubagentSaid(SessionId("child"), agent("said")),
    SubagentSaid(SessionId("child"), call("t", content=(TerminalContent(TERMINAL),))),
    SubagentSaid(SessionId("child"), SubagentSaid(SessionId("grandchild"), user("deep"))),
    SubagentSaid(SessionId("t"), call("of t", title="Search"), is_of_call=True),
    call("of t", status="completed"),
    Renamed("mine"),
    PermissionNoted(RequestKey(1), "a word"),
    PermissionAnswered(RequestKey(1), "opt-1"),
    PermissionAnswered(RequestKey(2), None),
    ElicitationAsked(Form(RequestKey(3), "Who?", ())),
    ElicitationAsked(UrlVisit(RequestKey(4), "Look", "e", "https://a.example")),
    ElicitationAnswered(RequestKey(3), "decline"),
    ElicitationAnswered(RequestKey(4), "accept", 1700000000.5),
    ElicitationAnswered(RequestKey(3), "accept", values=(FieldAnswer("Name", "Ada"),)),
    ElicitationCompleted("e"),
    PlanReplaced((PlanStep("step"),)),
    PlanReplaced(()),
    CommandRun("ls", TERMINAL),
    CommandsReplaced(()),
    OptionsReplaced(()),
    OptionChanged("o", "v"),
    InfoChanged(title="t"),
    UsageReported(Usage(1, 2)),
    NoticeShown("info", "n"),
    CompactionChanged("c", "completed", (Text("s"),)),
    CompactionChunk("c", Text("s")),
    TerminalOpened(TERMINAL, "ls"),
    TerminalOutput(TERMINAL, b"out"),
    TerminalWaiting(TERMINAL, True),
    TerminalResized(TERMINAL, 100, 40),
    TerminalExited(TERMINAL, 0, None, 1.5),
    CancelRequested(),
    TurnEnded("end_turn"),
    TurnEnded("cancelled"),
    TurnFailed("no"),
    UnknownUpdate("k", {"a": 1}),
    Disconnected("gone"),
    Reconnected(remembers=False),
    Reconnected(remembers=True, is_loaded=True),
    ClientRemark("a word"),
    PromptSent((Text("hello"),), awaits_id=True),
    user("hello", "u"),
    PromptAccepted("u"),
    PromptSent((Text("and this"),), awaits_id=True),
    PromptRefused(),
    PromptJoined((Text("turn left"),), ("Shortened.",)),
    MessageReplaced("agent", "m", (Text("whole"),)),
    MessageReplaced("agent", "m", ()),
    MessageReplaced("user", "u", ()),
    ToolCallContentAdded(ToolCallId("t"), (TerminalContent(TERMINAL),)),
    DiffsPlaced(ToolCallId("t"), (FilePart(0, 7, "above\n", "\nbelow\n"),)),
    StateReported("running", background=(BackgroundWork("tool_call", "t"),)),
    StateReported("idle", "end_turn", usage=TurnUsage(3, 2, 1)),
    StateReported("idle", "error", TurnFailed("no", code=-32000)),
    TerminalReported(TERMINAL, "ls", output=b"all", exit=TerminalExit(0), size=(80, 24)),
)
UPDATES = st.lists(st.sampled_from(EVERY_KIND), max_size=40)


def test_the_samples_hold_an_update_of_every_kind() -> None:
    assert {type(update) for update in EVERY_KIND} == set(SessionUpdate.__args__)


@settings(deadline=None)
@given(UPDATES)
def test_the_same_updates_give_equal_conversations(updates: list[SessionUpdate]) -> None:
    live = Conversation()
    for update in updates:
        apply(live, update)
        for entry in live.entries:  # a view that reads in between changes nothing
            if isinstance(entry, Message):
                assert entry.text is not None
    assert fold(*updates) == live


@settings(deadline=None)
@given(UPDATES)
def test_a_fold_changes_no_update(updates: list[SessionUpdate]) -> None:
    """They can be folded again, into another conversation."""
    before = copy.deepcopy(updates)
    fold(*updates, *updates)
    assert updates == before


@settings(deadline=None)
@given(UPDATES)
def test_a_change_names_every_entry_that_changed_and_none_that_is_absent(
    updates: list[SessionUpdate],
) -> None:
    conversation = Conversation()
    for update in updates:
        before = copy.deepcopy(conversation.entries)
        change = apply(conversation, update)
        now = conversation.entries
        changed = {n for n in range(len(now)) if n >= len(before) or now[n] != before[n]}
        assert changed <= set(change.entries) <= set(range(len(now)))
        assert len(change.entries) == len(set(change.entries))


def test_an_update_looks_at_its_own_entry_however_long_the_conversation_is() -> None:
    """Counted, because time would vary."""

    class CountedEntries(EntryList):
        looked_at = 0

        def __getitem__(self, index):  # type: ignore[no-untyped-def, override]
            self.looked_at += 1
            return super().__getitem__(index)

        def __iter__(self):  # type: ignore[no-untyped-def]
            raise AssertionError("an update went through all entries")

    conversation = fold(*(agent("x", f"m{n}") for n in range(1000)), call("t"), agent("open"))
    streamed = (agent("y"), agent("y", "m5"), thought("z"), call("t", status="failed"), call("new"))
    conversation.entries = counted = CountedEntries(conversation.entries)
    for update in streamed:
        apply(conversation, update)
    assert counted.looked_at <= 2 * len(streamed)
