"""A turn as text: one empty line between messages, however the agent begins them."""

from __future__ import annotations

import pytest

from acp_tui.cli.exec import Streams, TextOutput
from acp_tui.conversation import reducer
from acp_tui.conversation.conversation import Conversation
from support.folding import agent
from support.folding import call as tool


def never_lost(error: OSError) -> None:
    raise error


@pytest.mark.parametrize(
    "chunks",
    [("One", "Two"), ("One\n", "\n\nTwo"), ("One", "\n", "\n", "Two")],
    ids=["none", "in front", "in chunks of their own"],
)
def test_between_two_messages_there_is_one_empty_line(
    chunks: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    first, *second = chunks
    conversation, output = Conversation(), TextOutput(Streams(never_lost))
    for update in (agent(first), tool("c", title="make", status="failed"), *map(agent, second)):
        for entry_id in reducer.apply(conversation, update).entries:
            output.show(entry_id, conversation.entries[entry_id])
    assert capfd.readouterr().out == "One\n\nTwo"
