"""Every message of every shipped scenario fits the official schema; deliberately invalid ones bypass the tap."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from acp_tui.client.agents.demo_agent import copy_project
from acp_tui.demo import scenario
from acp_tui.rpc import Direction
from support.golden import SCHEMA_V1, SCHEMA_V2, needs_schema
from support.scenario_frames import ANSWERS, frames_of

jsonschema = pytest.importorskip("jsonschema")

pytestmark = needs_schema


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
