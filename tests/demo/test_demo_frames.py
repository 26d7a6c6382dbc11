"""What the shipped scenarios send: every kind of what an agent can say and ask, and all of it fits the schema.

Deliberately invalid messages bypass the tap.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, get_args

import jsonschema  # type: ignore[import-untyped]
import pytest

from acp_tui.client.agents.demo_agent import copy_project
from acp_tui.demo import scenario, script
from acp_tui.protocol.v1.updates import PlanRemoved, PlanUpdate, SessionUpdate
from acp_tui.rpc import Direction
from support.schema import SCHEMA_V1, SCHEMA_V2, needs_schema

ENDLESS: Final = {"exit", "hang"}
ANSWERS: Final = [("allow_once", "accept"), ("reject_once", "decline"), ("reject_once", "cancel")]
"""The choice among a permission request's options, and the answer to an elicitation."""


async def frames_of(
    shipped: script.Scenario,
    turn: script.ScriptedTurn,
    answers: tuple[str, str],
    connect: Any,
    cwd: str = "/project",
    protocol: int = 1,
) -> list[tuple[Direction, bytes]]:
    """One turn of a scenario, with each frame once; `connect` is the fixture of tests/demo."""
    frames: dict[tuple[Direction, bytes], None] = {}
    played = _alone(shipped, turn)
    of_two = protocol == 2
    async with connect(played, tap=lambda way, frame: frames.setdefault((way, frame))) as client:
        client.permission_kind, client.elicitation_action = answers
        client.files["/project/durations.py"] = "total = 0\n"
        client.cwd = cwd
        await client.initialize(protocol=protocol)
        for method in played.auth.methods:
            if method.get("type") != "terminal":
                log_in = "auth/login" if of_two else "authenticate"
                await client.peer.request(log_in, {"methodId": method["id"]})
        await client.new_session()
        await client.peer.request("session/prompt", {"sessionId": "demo-1", "prompt": []}, read_error=str)
        if of_two:
            await client.until(lambda: client.is_idle)
        await _use_kept_sessions(played.keeping, client, of_two=of_two)
        if played.auth.logout:
            await client.peer.request("auth/logout" if of_two else "logout", {})
    return list(frames)


def _alone(shipped: script.Scenario, turn: script.ScriptedTurn) -> script.Scenario:
    """A scenario of only this turn, for any prompt, without steps that never end."""
    steps = tuple(step for step in turn.steps if not _is_endless(step))
    initialize = replace(shipped.initialize, hang=False)
    return replace(shipped, turns=(replace(turn, match=None, steps=steps),), initialize=initialize)


def _is_endless(step: script.Step) -> bool:
    if step.kind == "run":  # a program that waits for its end
        return "wait" in step.value.get("args", ()) and "kill_after_s" not in step.value
    return step.kind == "fault" and step.value in ENDLESS


async def _use_kept_sessions(keeping: script.StoredSessions, client: Any, *, of_two: bool) -> None:
    """Call every method for saved sessions that the scenario offers."""
    if "list" in keeping.offers or of_two:
        await client.peer.request("session/list", {}, read_error=str)  # the login may be over
    for old in keeping.sessions:
        place = {"sessionId": old.session_id, "cwd": client.cwd, "mcpServers": []}
        if of_two:
            await client.peer.request("session/resume", {**place, "replayFrom": {"type": "start"}})
            await client.peer.request("session/resume", place)
        else:
            for method in sorted(keeping.offers & {"load", "resume"}):
                await client.peer.request(f"session/{method}", place)
        await client.peer.request("session/close", {"sessionId": old.session_id})
        if "delete" in keeping.offers:
            await client.peer.request("session/delete", {"sessionId": old.session_id})


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


@pytest.fixture(scope="module")
def checks() -> dict[int, Any]:
    """By version: checks a message from the agent against its method's definition."""
    return {1: checked_by(SCHEMA_V1), 2: checked_by(SCHEMA_V2)}


def checked_by(file: Path) -> Any:
    """The check against one schema."""
    schema = json.loads(file.read_text())
    definitions = {
        (value["x-method"], value["x-side"], name.endswith("Response")): name
        for name, value in schema["$defs"].items()
        if "x-method" in value
    }
    validators: dict[str, Any] = {}

    def check(method: str, side: str, is_response: bool, payload: Any) -> None:
        name = definitions[method, side, is_response]
        root = {"$defs": schema["$defs"], "$ref": f"#/$defs/{name}"}
        validator = validators.setdefault(name, jsonschema.Draft202012Validator(root))
        validator.validate(payload)

    return check


NAMES = sorted(scenario.available())
OF_ONE = [(1, name, answers) for name in NAMES for answers in ANSWERS]
OF_TWO = [
    (2, name, answers)
    for name in NAMES
    for answers in (ANSWERS if name in ("elicitations", "permissions") else ANSWERS[:1])
]


@needs_schema
@pytest.mark.parametrize(
    ("protocol", "name", "answers"),
    [*OF_ONE, *OF_TWO],
    ids=lambda value: str(value[1] if value in ANSWERS else value),
)
async def test_every_message_fits_the_schema(name, answers, connect, checks, protocol, tmp_path):
    shipped, folder = scenario.load(name), "/project"
    if protocol == 2:  # the agent works on its own
        copy_project(tmp_path / "project")
        folder = str(tmp_path / "project")
    for turn in shipped.turns:
        if turn.play is None:
            frames = await frames_of(shipped, turn, answers, connect, folder, protocol)
            check_frames(frames, checks[protocol])


def check_frames(frames: list[tuple[Direction, bytes]], check: Any) -> None:
    asked: dict[Any, str] = {}
    pieces: set[str] = set()
    for direction, frame in frames:
        message = json.loads(frame)
        if direction is Direction.IN:
            asked |= {message["id"]: message["method"]} if "method" in message and "id" in message else {}
        elif "method" in message and not message["method"].startswith("_"):
            update = message["params"].get("update", {})
            kind = str(update.get("sessionUpdate"))
            piece = f"{kind} {sorted(update)} {sorted(update.get('content') or ())}" if "_chunk" in kind else ""
            if piece not in pieces:  # one chunk of a text is like another
                check(message["method"], "client", False, message["params"])
            pieces |= {piece} - {""}
        elif "result" in message:
            check(asked[message["id"]], "agent", True, message["result"])
