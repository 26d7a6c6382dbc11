"""The strict shapes compared with the official schema, on messages made from it, whole and broken."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from acp_tui.workbench.conformance.messages import (
    NOTIFICATIONS,
    REQUESTS,
    RESULTS,
    own_keys,
    read,
    strange_values,
)
from support import schema
from support.schema import Messages, needs_schema, schema_v1

TABLES: tuple[tuple[dict[str, Any], schema.Shape, schema.Side], ...] = (
    (REQUESTS, "Request", "client"),
    (NOTIFICATIONS, "Notification", "client"),
    (RESULTS, "Response", "agent"),
)
MODELS = [
    (name, model)
    for table, shape, side in TABLES
    for method, model in table.items()
    if (name := schema.definition_for(method, side, shape)) is not None
]
STRICTER = (
    "less than",  # whole numbers have the size that the schema only names
    "'mode'",  # a kind of question that no client may show as another
    "authMethods",  # a malformed terminal login would pass as one of the agent's
)
"""Where our rules go beyond the schema."""
SEEDS = 150


def _official(name: str) -> Any:
    return Draft202012Validator({"$defs": schema_v1()["$defs"], "$ref": f"#/$defs/{name}"})


@needs_schema
@pytest.mark.parametrize(("name", "model"), MODELS, ids=[name for name, _ in MODELS])
def test_what_the_schema_forbids_is_found(name: str, model: Any) -> None:
    official = _official(name)
    for seed in range(SEEDS):
        messages = Messages(seed)
        value = messages.broken(messages.valid(name))
        known, flaw = read(model, value)
        flaws = [error.message for error in official.iter_errors(value)]
        is_borne = any("None" in text for text in flaws)  # null for an empty list, which the schema accepts
        assert flaw or is_borne or not flaws or list(strange_values(known, value)), (flaws, value)
        assert not flaw or flaws or any(each in flaw for each in STRICTER), (flaw, value)


@needs_schema
@pytest.mark.parametrize(("name", "model"), MODELS, ids=[name for name, _ in MODELS])
def test_what_the_schema_allows_has_no_flaw(name: str, model: Any) -> None:
    for seed in range(SEEDS):
        value = Messages(seed).valid(name)
        assert read(model, value)[1] == "", value


def test_own_keys_are_found_at_any_depth_and_not_in_meta() -> None:
    value = {
        "sessionId": "s1",
        "update": {
            "sessionUpdate": "tool_call",
            "toolCallId": "c1",
            "title": "T",
            "_meta": {"mine": 1},
            "rawInput": {"free": 1},
            "content": [{"type": "content", "content": {"type": "text", "text": "x", "color": "red"}}],
        },
    }
    known, flaw = read(NOTIFICATIONS["session/update"], value)
    assert flaw == ""
    assert list(own_keys(known, value)) == ["update.content.0.content.color"]
