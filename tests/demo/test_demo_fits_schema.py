"""Every message of every shipped scenario fits the official schema; what is wrong on purpose bypasses the tap."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from acp_tui.demo import scenario, script
from acp_tui.rpc import Direction
from support.golden import SCHEMA_V1, needs_schema

jsonschema = pytest.importorskip("jsonschema")

pytestmark = needs_schema

ENDLESS = {"exit", "hang"}


@pytest.fixture(scope="module")
def check() -> Any:
    """Checks one message of the agent's against the definition that its method names."""
    schema = json.loads(SCHEMA_V1.read_text())
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


def alone(shipped: script.Scenario, turn: script.ScriptedTurn) -> script.Scenario:
    """A scenario of this one turn, for any prompt, without what would never end."""
    steps = tuple(s for s in turn.steps if not (isinstance(s, script.Fault) and s.kind in ENDLESS))
    initialize = replace(shipped.initialize, hang=False)
    return replace(shipped, turns=(replace(turn, match=None, steps=steps),), initialize=initialize)


ANSWERS = [("allow_once", "accept"), ("reject_once", "decline"), ("reject_once", "cancel")]
"""What is chosen of the options of a permission request, and what is made of an elicitation."""


@pytest.mark.parametrize("answers", ANSWERS, ids=lambda answers: answers[1])
@pytest.mark.parametrize("name", sorted(scenario.available()))
async def test_every_message_fits_the_schema(name, answers, connect, check):
    shipped = scenario.load(name)
    for turn in shipped.turns:
        if turn.play is None:
            check_frames(await frames_of(alone(shipped, turn), answers, connect), check)


async def frames_of(
    played: script.Scenario, answers: tuple[str, str], connect: Any
) -> list[tuple[Direction, bytes]]:
    frames: dict[tuple[Direction, bytes], None] = {}
    async with connect(played, tap=lambda way, frame: frames.setdefault((way, frame))) as client:
        client.permission_kind, client.elicitation_action = answers
        client.files["/project/durations.py"] = "total = 0\n"
        await client.initialize()
        for method in played.auth.methods:
            if method.get("type") != "terminal":
                await client.peer.request("authenticate", {"methodId": method["id"]})
        await client.new_session()
        await client.peer.request("session/prompt", {"sessionId": "demo-1", "prompt": []}, read_error=str)
        await use_kept_sessions(played.keeping, client)
        if played.auth.logout:
            await client.peer.request("logout", {})
    return list(frames)


async def use_kept_sessions(keeping: script.Keeping, client: Any) -> None:
    """Every method for sessions that are kept, as far as the scenario offers it."""
    if "list" in keeping.offers:
        await client.peer.request("session/list", {})
    for old in keeping.sessions:
        place = {"sessionId": old.session_id, "cwd": "/project", "mcpServers": []}
        for method in sorted(keeping.offers & {"load", "resume"}):
            await client.peer.request(f"session/{method}", place)
        await client.peer.request("session/close", {"sessionId": old.session_id})
        if "delete" in keeping.offers:
            await client.peer.request("session/delete", {"sessionId": old.session_id})


def check_frames(frames: list[tuple[Direction, bytes]], check: Any) -> None:
    asked: dict[Any, str] = {}
    for direction, frame in frames:
        message = json.loads(frame)
        if direction is Direction.IN:
            asked |= {message["id"]: message["method"]} if "method" in message and "id" in message else {}
        elif "method" in message and not message["method"].startswith("_"):
            check(message["method"], "client", False, message["params"])
        elif "result" in message:
            check(asked[message["id"]], "agent", True, message["result"])
