"""The tokens that turns use: from the prompt's answer or a quota in `_meta`, per turn and in total."""

from __future__ import annotations

from typing import Any

import pytest

from acp_tui.conversation import reducer
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import TurnUsage, Usage
from acp_tui.conversation.updates import SessionUpdate, TurnEnded, UsageReported
from acp_tui.conversation.wording import money, tokens_words, turn_words
from acp_tui.protocol.v1.inbound import read_prompt_response
from acp_tui.protocol.v2.inbound import read_update as read_v2
from support.folding import fold, prompt, user

USAGE = {"totalTokens": 240, "inputTokens": 200, "outputTokens": 40, "cachedReadTokens": 120}
QUOTA = {"token_count": {"totalTokens": 240, "inputTokens": 200, "outputTokens": 40, "cachedInputTokens": 120}}


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


def cost(amount: float | None, currency: str | None = "USD") -> UsageReported:
    return UsageReported(Usage(1000, 200_000, amount, currency if amount is not None else None))


def test_a_turn_costs_what_the_session_costs_more_at_its_end() -> None:
    conversation = fold(prompt("one"), cost(0.02), TurnEnded("end_turn"))
    assert conversation.turn_cost == pytest.approx(0.02)
    for update in (prompt("two"), cost(0.05), TurnEnded("end_turn", usage=TurnUsage(1200, 1000, 200))):
        reducer.apply(conversation, update)
    assert conversation.turn_cost == pytest.approx(0.03)
    assert turn_words(conversation) == "1,200 tokens (1k in, 200 out), $0.03"
    reducer.apply(conversation, cost(0.06))  # it arrives late
    assert conversation.turn_cost == pytest.approx(0.04)
    assert [(turn.end, turn.usage, turn.cost) for turn in conversation.turns] == [
        (1, None, pytest.approx(0.02)),
        (2, TurnUsage(1200, 1000, 200), pytest.approx(0.04)),
    ]


def test_a_cost_that_is_not_said_again_stays() -> None:
    report = {"sessionUpdate": "usage_update", "used": 1000, "size": 200_000}
    _, omitted = read_v2({"sessionId": "s", "update": report})
    _, cleared = read_v2({"sessionId": "s", "update": {**report, "cost": None}})
    assert fold(cost(0.02), *omitted).usage == Usage(1000, 200_000, 0.02, "USD")
    assert fold(cost(0.02), *cleared).usage == Usage(1000, 200_000)


@pytest.mark.parametrize(
    "updates",
    [
        (prompt("one"), TurnEnded("end_turn")),
        # The first report of a continued session includes what the earlier one cost.
        (user("before"), prompt("one"), cost(3.0), TurnEnded("end_turn")),
        (prompt("one"), cost(3.0), TurnEnded("end_turn"), prompt("two"), cost(1.0)),
    ],
)
def test_nothing_is_made_up(updates: tuple[SessionUpdate, ...]) -> None:
    assert fold(*updates).turn_cost is None


@pytest.mark.parametrize(
    ("amount", "currency", "words"),
    [
        (0.5, "USD", "$0.50"),
        (0.0, "USD", "$0.00"),
        (0.0042, "USD", "$0.0042"),
        (0.003, "USD", "$0.0030"),
        (0.00004, "USD", "<$0.0001"),
        (0.00004, "credits", "<0.0001 credits"),
        (12.345, "EUR", "12.35 EUR"),
        (3, "credits", "3.00 credits"),
        (1, None, "1.00"),
    ],
)
def test_money_is_told_in_the_agents_unit(amount: float, currency: str | None, words: str) -> None:
    assert money(amount, currency) == words
