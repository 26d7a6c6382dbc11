"""Which chunks form one message (R-MSG-1, R-MSG-2, R-MSG-3), and what a message contains."""

import pytest

from acp_tui.conversation.buffers import TextBuffer
from acp_tui.conversation.catch_up import retold
from acp_tui.conversation.content import Image, Text, labeled, with_pastes
from acp_tui.conversation.conversation import NOTHING, Change
from acp_tui.conversation.entries import EntryId, Message
from acp_tui.conversation.facts import OfferedCommand, PlanStep, Usage
from acp_tui.conversation.reducer import apply
from acp_tui.conversation.updates import (
    CommandsReplaced,
    CompactionChanged,
    InfoChanged,
    MessageChunk,
    MessageReplaced,
    NoticeShown,
    PlanReplaced,
    PromptAccepted,
    PromptJoined,
    PromptSent,
    Role,
    SessionUpdate,
    StateReported,
    TurnEnded,
    UnknownUpdate,
    UsageReported,
)
from support.folding import agent, call, chunk, fold, last_change, prompt, texts, thought, user

IMAGE = Image("aGk=", "image/png")

# Without ids


def test_chunks_of_one_role_join_without_a_separator() -> None:
    """R-UPD-3."""
    assert texts(fold(agent("Hel"), agent("lo"), agent(" you"))) == [("agent", "Hello you")]


def test_a_change_of_role_begins_a_new_message() -> None:
    """R-MSG-2."""
    assert texts(fold(thought("a"), agent("b"), thought("c"), user("d"), agent("e"))) == [
        ("thought", "a"),
        ("agent", "b"),
        ("thought", "c"),
        ("user", "d"),
        ("agent", "e"),
    ]


@pytest.mark.parametrize(
    "between",
    [
        call("t"),
        PlanReplaced((PlanStep("a step"),)),
        CompactionChanged("c"),
        UnknownUpdate("new_kind", {}),
        prompt("next"),
        TurnEnded("end_turn"),
        TurnEnded("refusal"),
    ],
    ids=lambda update: type(update).__name__,
)
def test_another_entry_in_between_begins_a_new_message(between: SessionUpdate) -> None:
    """R-MSG-2."""
    said = [text for role, text in texts(fold(agent("a"), between, agent("b"))) if role == "agent"]
    assert said == ["a", "b"]


@pytest.mark.parametrize(
    "between",
    [
        UsageReported(Usage(1, 2)),
        CommandsReplaced((OfferedCommand("help", "Help"),)),
        InfoChanged(title="A title"),
        NoticeShown("info", "Hello"),
        agent(""),
        thought(""),
    ],
    ids=lambda update: type(update).__name__,
)
def test_what_has_no_place_in_the_conversation_splits_no_message(between: SessionUpdate) -> None:
    assert texts(fold(agent("a"), between, agent("b"))) == [("agent", "ab")]


def test_a_report_on_an_earlier_tool_call_splits_no_message() -> None:
    """The call's card is above; nothing appears between the two chunks on the screen."""
    conversation = fold(call("t"), agent("a"), call("t", status="completed"), agent("b"))
    assert texts(conversation) == [("call", "t"), ("agent", "ab")]


# With ids


def test_chunks_with_one_id_are_one_message_whatever_comes_in_between() -> None:
    """R-MSG-1."""
    conversation = fold(agent("a", "m"), call("t"), agent("b", "m"), thought("c"), agent("d", "m"))
    assert texts(conversation) == [("agent", "abd"), ("call", "t"), ("thought", "c")]


def test_another_id_is_another_message() -> None:
    """R-MSG-1."""
    assert texts(fold(agent("a", "m"), agent("b", "n"))) == [("agent", "a"), ("agent", "b")]


def test_interleaved_ids_each_append_to_their_own_message() -> None:
    """R-MSG-3."""
    conversation = fold(agent("1", "m"), agent("x", "n"), agent("2", "m"), agent("y", "n"))
    assert texts(conversation) == [("agent", "12"), ("agent", "xy")]


def test_one_id_under_two_roles_is_two_messages() -> None:
    """R-MSG-3."""
    conversation = fold(thought("t", "m"), agent("a", "m"), thought("u", "m"))
    assert texts(conversation) == [("thought", "tu"), ("agent", "a")]


@pytest.mark.parametrize(("first", "second"), [("m", None), (None, "m")])
def test_an_id_that_comes_or_goes_begins_a_new_message(first: str | None, second: str | None) -> None:
    """R-MSG-2."""
    assert texts(fold(agent("a", first), agent("b", second))) == [("agent", "a"), ("agent", "b")]


def test_a_chunk_with_a_known_id_ends_the_message_without_one() -> None:
    """R-MSG-2: the id was absent, then present, then absent."""
    conversation = fold(agent("a", "m"), agent("b"), agent("c", "m"), agent("d"))
    assert texts(conversation) == [("agent", "ac"), ("agent", "b"), ("agent", "d")]


REUSED = [("agent", "a"), ("user", "next"), ("agent", "bc")]


def test_an_id_of_an_earlier_turn_begins_a_new_message() -> None:
    """R-MSG-1: an agent may count its messages anew in each process."""
    conversation = fold(prompt("first"), agent("a", "m"), TurnEnded("end_turn"), prompt("next"), agent("b", "m"))
    apply(conversation, agent("c", "m"))
    assert texts(conversation) == [("user", "first"), *REUSED]
    assert texts(fold(*retold(conversation))) == texts(conversation)


def test_an_id_that_a_loaded_session_used_in_an_earlier_turn_begins_a_new_message() -> None:
    """R-MSG-1: what several processes said is told by one."""
    turn = (user("next", "u"), agent("b", "m"), call("t"), agent("c", "m"))
    conversation = fold(user("fi", "u"), user("rst", "u"), agent("a", "m"), *turn)
    assert texts(conversation) == [("user", "first"), *REUSED, ("call", "t")]
    assert texts(fold(*retold(conversation))) == texts(conversation)


def test_a_message_goes_on_under_its_id_after_its_turn_and_steering() -> None:
    """R-MSG-1."""
    joined = PromptJoined((Text("also"),))
    conversation = fold(prompt("first"), agent("a", "m"), joined, agent("b", "m"), TurnEnded("end_turn"))
    apply(conversation, agent("c", "m"))
    assert texts(conversation) == [("user", "first"), ("agent", "abc"), ("user", "also")]


TURN_OF_TWO = (
    StateReported("running"),
    agent("a", "m"),
    StateReported("idle"),
    PromptSent((Text("next"),), awaits_id=True),
    PromptAccepted("u"),
    StateReported("running"),
)


def test_an_id_of_an_earlier_turn_begins_a_new_message_in_version_two() -> None:
    """R-MSG-1: codex-acp 2.6.0 passes on the IDs of its model's server, which may count anew in each process."""
    conversation = fold(*TURN_OF_TWO, agent("b", "m"), agent("c", "m"))
    assert texts(conversation) == [("agent", "a"), *REUSED[1:]]
    assert texts(fold(*retold(conversation))) == texts(conversation)


def test_an_earlier_message_that_is_replaced_in_version_two_goes_on_in_its_place() -> None:
    """R-MSG-3, R-V2-6."""
    replaced = MessageReplaced("agent", "m", (Text("b"),))
    conversation = fold(*TURN_OF_TWO, replaced, agent("c", "m"), thought("d"), agent("e", "m"))
    assert texts(conversation) == [("agent", "bce"), ("user", "next"), ("thought", "d")]


def test_an_id_announced_again_while_a_session_is_loaded_begins_a_new_message() -> None:
    """R-V2-6: codex-acp 2.6.0 announces each message empty."""
    announced = MessageReplaced("agent", "m", ())
    conversation = fold(user("first", "u"), announced, agent("a", "m"), user("next", "v"), announced, agent("bc", "m"))
    assert texts(conversation) == [("user", "first"), *REUSED]
    apply(conversation, StateReported("idle"))
    apply(conversation, announced)
    assert texts(conversation) == [("user", "first"), *REUSED[:2], ("agent", "")]


def test_a_message_of_version_two_goes_on_while_the_agent_is_idle() -> None:
    """R-V2-4."""
    conversation = fold(*TURN_OF_TWO, agent("b", "m"), StateReported("idle"), agent("c", "m"))
    assert texts(conversation) == [("agent", "a"), *REUSED[1:]]


def test_a_message_keeps_the_id_it_came_with_and_is_given_none() -> None:
    """R-MSG-4."""
    entries = fold(agent("a", "m"), agent("b")).entries
    assert [entry.message_id for entry in entries if isinstance(entry, Message)] == ["m", None]


# Content


@pytest.mark.parametrize("role", ["user", "agent", "thought"])
def test_an_empty_chunk_makes_and_touches_nothing(role: Role) -> None:
    assert last_change(chunk(role, "")) == NOTHING
    assert texts(fold(chunk(role, ""))) == []


def test_a_block_between_texts_keeps_its_place() -> None:
    conversation = fold(agent("a"), agent("b"), MessageChunk("agent", IMAGE), agent("c"))
    message = conversation.entries[0]
    assert isinstance(message, Message)
    assert message.parts == [TextBuffer("ab"), IMAGE, TextBuffer("c")]
    assert message.text == "abc"


def test_a_message_may_begin_with_a_block_that_is_no_text() -> None:
    conversation = fold(MessageChunk("agent", IMAGE), agent("a"))
    assert conversation.entries == [Message("agent", None, [IMAGE, TextBuffer("a")])]


def test_the_halves_of_a_character_split_over_two_chunks_stand_side_by_side() -> None:
    assert texts(fold(agent("\ud83d"), agent("\ude00"))) == [("agent", "\ud83d\ude00")]


def test_a_chunk_touches_its_own_message_and_no_fact() -> None:
    before = (agent("a", "m"), agent("b", "n"))
    assert last_change(*before, agent("c", "m")) == Change((EntryId(0),))
    assert last_change(*before, agent("c")) == Change((EntryId(2),))
    assert last_change(MessageChunk("agent", Text("a"))) == Change((EntryId(0),))


# What the user didn't type


def test_what_was_pasted_is_a_part_of_its_own_and_of_the_text() -> None:
    message = fold(PromptSent((with_pastes("a PASTE b", ["PASTE"]),))).entries[0]
    assert isinstance(message, Message)
    assert message.parts == [TextBuffer("a "), labeled("PASTE", 'pasted 5 characters: "PASTE"'), TextBuffer(" b")]
    assert (message.text, message.typed) == ("a PASTE b", "a\nb")


def test_an_agent_that_repeats_a_prompt_with_a_paste_adds_nothing() -> None:
    conversation = fold(PromptSent((with_pastes("a PASTE b", ["PASTE"]),)), user("a PASTE"), user(" b"))
    assert len(conversation.entries) == 1


@pytest.mark.parametrize("spans", [[[0, 99]], [[3, 1]], [["0", 1]], [[-1, 2]], 7, [[0, 2], [1, 3]]])
def test_spans_that_do_not_fit_are_text_and_nothing_is_lost(spans: object) -> None:
    text = Text("abc", meta={"acp_tui": {"pastes": spans, "of": 3}})
    message = fold(PromptSent((text,))).entries[0]
    assert isinstance(message, Message)
    assert message.text == "abc"


def test_a_masked_text_has_no_pastes_anymore() -> None:
    text = Text("<masked>", meta={"acp_tui": {"pastes": [[0, 2]], "of": 9}})
    assert texts(fold(PromptSent((text,)))) == [("user", "<masked>")]


def test_a_session_is_called_by_what_was_typed_not_by_what_was_pasted() -> None:
    assert fold(PromptSent((with_pastes("LOG\nWhy?", ["LOG\n"]),))).shown_title == "Why?"
    assert fold(PromptSent((with_pastes("LOG", ["LOG"]),))).shown_title == "LOG"
