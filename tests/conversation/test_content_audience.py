"""A content block is for the user, unless its annotations name only others."""

import pytest

from acp_tui.conversation.buffers import TextBuffer
from acp_tui.conversation.content import Annotations, Image, Text, UnknownBlock, is_for_user
from acp_tui.conversation.entries import Message

FOR_THE_MODEL = Text("not for you", Annotations(("assistant",)))


@pytest.mark.parametrize(
    ("audience", "expected"),
    [(None, True), (("user",), True), (("assistant", "user"), True), (("assistant",), False), ((), False)],
)
def test_a_block_is_for_the_user_unless_it_names_others_only(audience: tuple[str, ...] | None, expected: bool) -> None:
    assert is_for_user(Text("x", Annotations(audience))) is expected


def test_a_block_without_annotations_is_for_the_user() -> None:
    assert is_for_user(Text("x"))
    assert is_for_user(UnknownBlock("hologram", {"annotations": {"audience": ["assistant"]}}))


def test_text_that_is_not_for_the_user_is_kept_and_joins_no_text() -> None:
    message = Message("agent")
    for block in (Text("one "), FOR_THE_MODEL, Text("two", Annotations(("user",))), FOR_THE_MODEL):
        message.append(block)
    assert message.text == "one two"
    assert message.parts == [TextBuffer("one two"), FOR_THE_MODEL, FOR_THE_MODEL]


def test_a_block_that_is_seen_parts_the_text_around_it() -> None:
    image = Image("", "image/png")
    message = Message("agent")
    for block in (FOR_THE_MODEL, Text("one"), image, FOR_THE_MODEL, Text("two")):
        message.append(block)
    assert message.parts == [FOR_THE_MODEL, TextBuffer("one"), image, FOR_THE_MODEL, TextBuffer("two")]
