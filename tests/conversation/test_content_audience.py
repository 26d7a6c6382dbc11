"""Whom a content block is for: the user, unless its annotations name others only."""

import pytest

from acp_tui.conversation.content import Annotations, Text, UnknownBlock, is_for_user


@pytest.mark.parametrize(
    ("audience", "expected"),
    [(None, True), (("user",), True), (("assistant", "user"), True), (("assistant",), False), ((), False)],
)
def test_a_block_is_for_the_user_unless_it_names_others_only(
    audience: tuple[str, ...] | None, expected: bool
) -> None:
    assert is_for_user(Text("x", Annotations(audience))) is expected


def test_a_block_without_annotations_is_for_the_user() -> None:
    assert is_for_user(Text("x"))
    assert is_for_user(UnknownBlock("hologram", {"annotations": {"audience": ["assistant"]}}))
