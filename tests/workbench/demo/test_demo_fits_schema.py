"""Every message of every shipped scenario fits the official schema; what is wrong on purpose bypasses the tap."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_tui.client.agents.catalogue import copy_project
from acp_tui.rpc import Direction
from acp_tui.workbench.demo import scenario
from support.golden import SCHEMA_V1, SCHEMA_V2, needs_schema
from support.scenario_frames import ANSWERS, frames_of

jsonschema = pytest.importorskip("jsonschema")

pytestmark = needs_schema


@pytest.fixture(scope="module", params=[1, 2])
def protocol(request: pytest.FixtureRequest) -> int:
    """Which version is spoken."""
    return int(request.param)


@pytest.fixture(scope="module")
def check(protocol: int) -> Any:
    """Checks one message of the agent's against the definition that its method names."""
    schema = json.loads((SCHEMA_V1 if protocol == 1 else SCHEMA_V2).read_text())
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


@pytest.mark.parametrize("answers", ANSWERS, ids=lambda answers: answers[1])
@pytest.mark.parametrize("name", sorted(scenario.available()))
async def test_every_message_fits_the_schema(name, answers, connect, check, protocol, tmp_path):
    shipped = scenario.load(name)
    if protocol == 2:  # the agent works by itself
        cwd = tmp_path / "project"
        copy_project(cwd)
    for turn in shipped.turns:
        if turn.play is None:
            folder = "/project" if protocol == 1 else str(cwd)
            check_frames(await frames_of(shipped, turn, answers, connect, folder, protocol), check)


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
