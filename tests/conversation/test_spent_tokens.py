"""What turns cost in tokens: from the prompt's answer or a quota in `_meta`, of one turn and of all together."""

from __future__ import annotations

from typing import Any

import pytest

from acp_tui.conversation import reducer
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import TurnUsage
from acp_tui.conversation.updates import TurnEnded
from acp_tui.conversation.wording import tokens_words
from acp_tui.protocol.v1.inbound import read_prompt_response

USAGE = {"totalTokens": 240, "inputTokens": 200, "outputTokens": 40, "cachedReadTokens": 120}
QUOTA = {
    "token_count": {"totalTokens": 240, "inputTokens": 200, "outputTokens": 40, "cachedInputTokens": 120}
}


@pytest.mark.parametrize(
    ("told", "read"),
    [
        ({"usage": USAGE}, TurnUsage(240, 200, 40, None, 120)),
        ({"_meta": {"quota": QUOTA}}, TurnUsage(240, 200, 40, None, 120)),
        (
            {"usage": USAGE, "_meta": {"quota": {"token_count": {"totalTokens": 1}}}},
            TurnUsage(240, 200, 40, None, 120),
        ),
        ({"usage": {"totalTokens": -1}}, None),
        ({"usage": "much"}, None),
        ({"_meta": {"quota": {"token_count": {"totalTokens": "much"}}}}, None),
        ({}, None),
    ],
)
def test_usage_is_read_where_it_can_be(told: dict[str, Any], read: TurnUsage | None) -> None:
    assert read_prompt_response({"stopReason": "end_turn", **told}).usage == read


def test_turns_add_up_and_one_without_a_count_adds_nothing() -> None:
    conversation = Conversation()
    for usage in (TurnUsage(120, 100, 20), TurnUsage(240, 200, 40, 5), None):
        reducer.apply(conversation, TurnEnded("end_turn", usage=usage))
    assert conversation.turn_usage is None
    assert conversation.spent == TurnUsage(360, 300, 60, 5)


def test_the_words_name_what_was_counted() -> None:
    words = tokens_words(TurnUsage(18_240, 18_000, 240, 0, 12_000))
    assert words == "18,240 tokens (18k in, 240 out, 12k from cache)"
