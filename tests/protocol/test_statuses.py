"""Who is logged in, and what a session does: drafts of both versions, read from agents and written by hosts."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from acp_tui.conversation.facts import Account, AuthStatus, SessionStatus
from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.roles import AgentCapabilities
from acp_tui.protocol.v1 import encode_updates, inbound
from acp_tui.protocol.v2 import encode_updates as encode_updates_v2
from support.schema import SCHEMA_V1, SCHEMA_V2, Messages

UNSTABLE = {1: SCHEMA_V1.with_name("schema.unstable.json"), 2: SCHEMA_V2}
needs_drafts = pytest.mark.skipif(not SCHEMA_V2.exists(), reason="the protocol's schema isn't beside the repository")
both_versions = pytest.mark.parametrize("version", [1, 2])

READERS: dict[str, Callable[[Any], Any]] = {
    "AuthStatusResponse": inbound.read_auth_status,
    "AuthStatusUpdateNotification": inbound.read_auth_status,
    "SessionStatusResponse": inbound.read_session_status,
}
TOLD = {
    "state": "authenticated",
    "accounts": [
        {"label": "OpenAI API key"},
        {"label": "Claude Max", "active": True, "name": "Ann", "email": "a@b.c", "organization": "Org", "_meta": {}},
    ],
}
ASKS = "requires_action"
MEANT = AuthStatus("authenticated", (Account("OpenAI API key"), Account("Claude Max", "Ann", "a@b.c", "Org", True)))


def definitions(version: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(UNSTABLE[version].read_text())["$defs"]
    return found


def assert_valid(version: int, name: str, value: Any) -> None:
    schema = {"$ref": f"#/$defs/{name}", "$defs": definitions(version)}
    jsonschema.Draft202012Validator(schema).validate(value)


@needs_drafts
@both_versions
def test_a_valid_status_is_read_and_a_broken_one_is_read_or_malformed(version: int) -> None:
    made = definitions(version)
    for index in range(600):
        messages = Messages(index, made)
        name = sorted(READERS)[index % len(READERS)]
        value = messages.valid(name)
        READERS[name](value)
        with suppress(MalformedMessage):
            READERS[name](messages.broken(value))


@needs_drafts
@both_versions
def test_what_a_host_tells_fits_the_schema_and_reads_as_the_same(version: int) -> None:
    written = encode_updates.auth_status_of(MEANT)
    for name in ("AuthStatusResponse", "AuthStatusUpdateNotification"):
        assert_valid(version, name, written)
    assert inbound.read_auth_status(written) == MEANT


@needs_drafts
@both_versions
def test_a_host_offers_both_questions_as_the_schema_wants_it(version: int) -> None:
    encoder = {1: encode_updates, 2: encode_updates_v2}[version]
    offered = AgentCapabilities(session_status=True, auth_status=True)
    written = encoder.agreement_of(None, offered, (), {})
    assert_valid(version, "InitializeResponse", written)
    read = written["capabilities"]["session"] if version == 2 else written["agentCapabilities"]["sessionCapabilities"]
    assert read["status"] == {}
    without = encoder.agreement_of(None, AgentCapabilities(), (), {})
    assert '"status"' not in json.dumps(without)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (TOLD, MEANT),
        ({"state": "unauthenticated", "accounts": "none"}, AuthStatus("unauthenticated")),
        ({"state": "_sso", "accounts": [5, {"label": 1}]}, AuthStatus("_sso")),
        (
            {"state": "x", "accounts": [{"label": "L", "active": "yes", "email": 5}]},
            AuthStatus("x", (Account("L"),)),
        ),
        # As Codex ACP 2.6.0 and Claude's adapter 0.101.0 tell it.
        (
            {"authStatus": {"kind": "gateway", "label": "Custom model gateway", "detail": "fake"}},
            AuthStatus("authenticated", (Account("Custom model gateway", "fake"),)),
        ),
        (
            {"authStatus": {"kind": "account", "label": "Claude Max", "account": {"email": "a@b.c", "plan": "max"}}},
            AuthStatus("authenticated", (Account("Claude Max", email="a@b.c"),)),
        ),
        ({"authStatus": {"kind": "none", "label": "Not logged in"}}, AuthStatus("unauthenticated")),
        ({"authStatus": {"kind": "new", "label": "L"}}, AuthStatus("unknown", (Account("L"),))),
    ],
)
def test_a_login_is_read_in_the_form_of_the_draft_and_of_the_agents_before_it(said: Any, meant: AuthStatus) -> None:
    assert inbound.read_auth_status(said) == meant


@pytest.mark.parametrize("said", [None, 5, [], {}, {"state": None}, {"state": 1}, {"authStatus": "x"}])
def test_a_login_without_a_state_is_malformed(said: Any) -> None:
    with pytest.raises(MalformedMessage):
        inbound.read_auth_status(said)


@pytest.mark.parametrize(
    ("said", "meant", "words"),
    [
        ({"status": "saved"}, SessionStatus(False), ""),
        ({"status": "_frozen"}, SessionStatus(False), ""),
        ({"status": "open"}, SessionStatus(True), "in memory"),
        ({"status": "open", "state": 5}, SessionStatus(True), "in memory"),
        ({"status": "open", "state": {"state": "unknown"}}, SessionStatus(True, "unknown"), "in memory"),
        ({"status": "open", "state": {"state": "idle", "stopReason": "x"}}, SessionStatus(True, "idle"), "idle"),
        ({"status": "open", "state": {"state": "running"}}, SessionStatus(True, "running"), "working"),
        ({"status": "open", "state": {"state": ASKS}}, SessionStatus(True, ASKS), "needs you"),
        ({"status": "open", "state": {"state": "_dreaming"}}, SessionStatus(True, "_dreaming"), "busy"),
    ],
)
def test_an_unknown_status_is_saved_an_unknown_state_busy_and_none_not_idle(
    said: Any, meant: SessionStatus, words: str
) -> None:
    status = inbound.read_session_status(said)
    assert (status, status.in_words) == (meant, words)


@pytest.mark.parametrize("said", [None, {}, {"status": None}, {"state": {"state": "idle"}}])
def test_an_answer_without_a_status_is_malformed(said: Any) -> None:
    with pytest.raises(MalformedMessage):
        inbound.read_session_status(said)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (MEANT, "yes: Claude Max (Ann, a@b.c, Org) in use; OpenAI API key"),
        (MEANT.nameless, "yes: Claude Max in use; OpenAI API key"),
        (AuthStatus("unauthenticated"), "no"),
        (AuthStatus("not_required"), "not needed"),
        (AuthStatus("_sso", (Account("Key"),)), "unknown: Key"),
    ],
)
def test_a_login_is_told_in_one_line(status: AuthStatus, words: str) -> None:
    assert status.in_words == words


def test_a_login_of_many_and_long_accounts_stays_one_short_line() -> None:
    accounts = [{"label": "L" * 100_000, "name": "N" * 100_000, "email": "E" * 100_000} for _ in range(5_000)]
    words = inbound.read_auth_status({"state": "S" * 100_000, "accounts": accounts}).in_words
    assert words.endswith("more")
    assert len(words) < 2_000
