"""The shipped scenarios show everything an agent can say and ask: each kind is in at least one."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any, get_args

import pytest

from acp_tui.demo import scenario
from acp_tui.protocol.v1.updates import PlanRemoved, PlanUpdate, SessionUpdate
from acp_tui.rpc import Direction
from support.scenario_frames import ANSWERS, frames_of

*_UPDATES, _ = get_args(get_args(SessionUpdate)[0])  # without the unknown ones
EXPECTED: Mapping[str, Collection[Any]] = {
    # In version 1, several plans are a draft; the demo has one.
    "sessionUpdate": [each.session_update for each in _UPDATES if each not in (PlanUpdate, PlanRemoved)],
    "kind": (
        *("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"),
        *("allow_once", "allow_always", "reject_once", "reject_always"),
    ),
    "status": ("pending", "in_progress", "completed", "failed"),
    "stopReason": ("end_turn", "max_tokens", "max_turn_requests", "refusal"),  # "cancelled", only by the user
    "severity": ("info", "warning", "error"),
    "priority": ("high", "medium", "low"),
    "category": ("mode", "model", "thought_level"),
    "mode": ("form", "url"),
    "format": ("email", "uri", "date", "date-time"),
    "code": (-32000, -32603),
    "type": (
        *("text", "image", "audio", "resource_link", "resource"),
        *("content", "diff", "terminal"),
        *("select", "string", "number", "integer", "boolean", "array"),
    ),
    "method": (
        *("session/update", "session/request_permission", "elicitation/create", "elicitation/complete"),
        *("fs/read_text_file", "fs/write_text_file"),
        *(f"terminal/{name}" for name in ("create", "output", "wait_for_exit", "kill", "release")),
    ),
}
"""For each key in the agent's messages, every value it has somewhere."""


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def shown(connect: Any) -> dict[str, set[Any]]:
    """For each key, its values in all scenarios' messages."""
    found: dict[str, set[Any]] = defaultdict(set)
    for name in scenario.available():
        shipped = scenario.load(name)
        for turn in shipped.turns:
            for answers in ANSWERS if turn.play is None else ():
                for way, frame in await frames_of(shipped, turn, answers, connect):
                    for key, value in plain_values(json.loads(frame) if way is Direction.OUT else None):
                        found[key].add(value)
    return found


def plain_values(message: Any) -> Iterator[tuple[str, Any]]:
    """Each key in a message, at any depth, with its value if that is text or a number."""
    if isinstance(message, list):
        for item in message:
            yield from plain_values(item)
    elif isinstance(message, dict):
        for key, value in message.items():
            if isinstance(value, str | int):
                yield key, value
            yield from plain_values(value)


async def test_every_kind_of_what_an_agent_says_is_shown(shown: dict[str, set[Any]]) -> None:
    missing = {key: set(values) - shown[key] for key, values in EXPECTED.items()}
    assert {key: values for key, values in missing.items() if values} == {}
