"""What an agent's error says in its data is read in both versions, whatever the types, and can be told again."""

from __future__ import annotations

from typing import Any

import pytest

from acp_tui.conversation.facts import ErrorFacts
from acp_tui.conversation.updates import StateReported, TurnFailed
from acp_tui.protocol.failures import error_data, read_error_facts, read_failure
from acp_tui.protocol.v1.encode_updates import reported_state
from acp_tui.protocol.v1.subagents import read_state
from acp_tui.rpc import RequestFailed

DATA = {
    "details": "Too many tokens",
    "reason": "rate_limit",
    "scope": "organization",
    "correlationId": "req_42",
    "retryAfter": 30,
    "authMethods": ["key"],
}
FACTS = ErrorFacts("rate_limit", "organization", "req_42", 30.0, None, ("key",))


def test_all_that_an_error_says_is_read() -> None:
    error = RequestFailed(-32000, "Not now", DATA)
    assert read_failure(error) == TurnFailed("Not now", "Too many tokens", -32000, FACTS)


def test_an_idle_state_with_an_error_says_the_same_as_an_answer_with_it() -> None:
    """R2-ERR."""
    error = {"code": -32000, "message": "Not now", "data": DATA}
    report = read_state({"state": "idle", "stopReason": "error", "error": error})
    assert report.failure == read_failure(RequestFailed(-32000, "Not now", DATA))


def test_a_host_tells_an_error_as_the_agent_did() -> None:
    failed = read_failure(RequestFailed(-32000, "Not now", DATA))
    told = reported_state(StateReported("idle", failure=failed))
    assert told["error"] == {"code": -32000, "message": "Not now", "data": DATA}
    assert read_state(told).failure == failed


@pytest.mark.parametrize("data", [None, "words", ["reason"], 7, {}, {"details": "x"}, {"reason": ""}])
def test_data_without_any_of_it_says_nothing(data: Any) -> None:
    assert read_error_facts(data) is None


@pytest.mark.parametrize(
    ("told", "after", "at"),
    [
        (1.5, 1.5, None),
        (0, 0.0, None),
        ("60", 60.0, None),
        ("2026-01-01T00:00:00Z", None, 1767225600.0),
        ("2026-01-01T01:00:00.5+01:00", None, 1767225600.5),
    ],
)
def test_another_try_may_be_after_seconds_or_at_a_moment(told: Any, after: float | None, at: float | None) -> None:
    facts = read_error_facts({"retryAfter": told, "reason": "r"})
    assert facts == ErrorFacts("r", retry_after_s=after, retry_at=at)


@pytest.mark.parametrize(
    "told",
    [True, None, -1, 1e300, float("nan"), "soon", "nan", "", {"seconds": 3}, [3], "2026-01-01T00:00:00", "12:00"],
)
def test_what_is_no_time_for_another_try_counts_as_not_said(told: Any) -> None:
    assert read_error_facts({"retryAfter": told}) is None


def test_values_of_other_types_are_left_out_and_the_rest_is_read() -> None:
    data = {
        "reason": ["a"],
        "scope": {"b": 1},
        "correlationId": 42,
        "authMethods": ["a", 3, {"id": "b"}, {"methodId": "c"}, {"name": "d"}, None],
    }
    assert read_error_facts(data) == ErrorFacts(correlation_id="42", auth_methods=("a", "b", "c"))
    assert read_error_facts({"authMethods": "key", "scope": "team"}) == ErrorFacts(scope="team")


def test_the_kind_of_error_that_claudes_adapter_names_is_the_reason() -> None:
    assert read_error_facts({"errorKind": "rate_limit"}) == ErrorFacts("rate_limit")
    assert read_error_facts({"errorKind": "rate_limit", "reason": "quota"}) == ErrorFacts("quota")


def test_an_error_without_cause_or_facts_has_no_data() -> None:
    assert error_data(None, None) is None
    assert error_data("why", None) == {"details": "why"}
