"""The user's prompt appears once, whether or not the agent echoes it (R-PROMPT-9)."""

import pytest

from acp_tui.conversation.content import Image, Text
from acp_tui.conversation.conversation import NOTHING
from acp_tui.conversation.updates import MessageChunk, PromptSent, SessionUpdate, TurnEnded
from support.folding import agent, call, fold, last_change, prompt, texts, thought, user

IMAGE = Image("aGk=", "image/png")
SHOWN_ONCE = [("user", "fix the bug")]


@pytest.mark.parametrize("pieces", [["fix the bug"], ["fix ", "the", " bug"], list("fix the bug"), ["", "fix the bug"]])
@pytest.mark.parametrize("message_id", [None, "m"])
def test_an_echo_is_swallowed_whole_or_in_pieces(pieces: list[str], message_id: str | None) -> None:
    updates: list[SessionUpdate] = [prompt("fix the bug"), *(user(piece, message_id) for piece in pieces)]
    assert texts(fold(*updates)) == SHOWN_ONCE
    assert last_change(*updates) == NOTHING


def test_an_echo_of_several_blocks_is_swallowed() -> None:
    sent = PromptSent((Text("look: "), IMAGE, Text("what is it?")))
    conversation = fold(sent, user("look: "), MessageChunk("user", IMAGE), user("what is it?"))
    assert texts(conversation) == [("user", "look: what is it?")]


def test_an_echo_that_diverges_is_shown_with_the_part_that_was_swallowed() -> None:
    conversation = fold(prompt("fix the bug"), user("fix the "), user("roof"), user(" too"))
    assert texts(conversation) == [*SHOWN_ONCE, ("user", "fix the roof too")]


def test_a_user_message_that_is_no_echo_is_shown() -> None:
    assert texts(fold(prompt("fix the bug"), user("hello"))) == [*SHOWN_ONCE, ("user", "hello")]


def test_a_user_message_behind_the_echo_is_shown_without_the_echo() -> None:
    conversation = fold(prompt("fix the bug"), user("fix the bug"), user("and the roof"))
    assert texts(conversation) == [*SHOWN_ONCE, ("user", "and the roof")]


def test_an_echo_that_stops_half_way_leaves_nothing_behind() -> None:
    conversation = fold(prompt("fix the bug"), user("fix"), agent("Done."))
    assert texts(conversation) == [*SHOWN_ONCE, ("agent", "Done.")]


def test_an_echo_is_known_behind_a_thought_or_a_tool_call() -> None:
    conversation = fold(prompt("fix the bug"), thought("hm"), call("t"), user("fix the bug"))
    assert texts(conversation) == [*SHOWN_ONCE, ("thought", "hm"), ("call", "t")]


def test_the_same_words_said_after_the_agent_spoke_are_no_echo() -> None:
    conversation = fold(prompt("fix the bug"), agent("Which?"), user("fix the bug"))
    assert texts(conversation) == [*SHOWN_ONCE, ("agent", "Which?"), ("user", "fix the bug")]


def test_the_same_words_said_after_the_turn_are_no_echo() -> None:
    conversation = fold(prompt("fix the bug"), TurnEnded("end_turn"), user("fix the bug"))
    assert texts(conversation) == SHOWN_ONCE * 2


def test_without_a_prompt_of_ours_user_messages_are_shown() -> None:
    """The agent replays a loaded session."""
    conversation = fold(user("fix "), user("the bug"), agent("Done."), user("thanks"))
    assert texts(conversation) == [*SHOWN_ONCE, ("agent", "Done."), ("user", "thanks")]


def test_each_prompt_has_an_echo_of_its_own() -> None:
    conversation = fold(prompt("one"), user("one"), TurnEnded("end_turn"), prompt("two"), user("two"))
    assert texts(conversation) == [("user", "one"), ("user", "two")]
