"""Where the protocol's schema, golden messages, and recorded traffic are, beside the repository. Tests skip without."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import jsonschema  # type: ignore[import-untyped]
import pytest

from acp_tui.conversation import UNSET
from acp_tui.protocol.v1.agent_requests import TerminalRequest
from acp_tui.protocol.v1.session import SessionSetup
from acp_tui.protocol.validators import keys_of
from acp_tui.protocol.wire import WireModel

_BESIDE = Path(__file__).parents[3] / "shared"
GOLDEN = _BESIDE / "acp" / "golden"
SCHEMA_V1 = _BESIDE / "acp" / "schema" / "v1" / "schema.json"
DRAFTS_V1 = SCHEMA_V1.with_name("schema.unstable.json")
SCHEMA_V2 = _BESIDE / "acp" / "schema" / "v2" / "schema.unstable.json"
TRANSCRIPTS = _BESIDE / "agents" / "transcripts"
AGENTS = _BESIDE / "agents"

needs_schema = pytest.mark.skipif(not SCHEMA_V1.exists(), reason="the protocol's schema isn't beside the repository")


def golden_files() -> list[Path]:
    """The golden messages; without them, one that doesn't exist, so that its test is skipped."""
    return sorted(GOLDEN.glob("*.json")) or [GOLDEN / "absent.json"]


def read_or_skip(path: Path) -> Any:
    """A file's JSON."""
    if not path.exists():
        pytest.skip(f"{path} isn't beside the repository")
    return json.loads(path.read_text())


@cache
def schema_v1() -> Any:
    """The whole schema; if it is missing, one without types, so that tests made from it can be collected."""
    return json.loads(SCHEMA_V1.read_text()) if SCHEMA_V1.exists() else {"$defs": {}}


@cache
def drafts_v1() -> Any:
    """The same with its unstable parts."""
    return json.loads(DRAFTS_V1.read_text()) if DRAFTS_V1.exists() else {"$defs": {}}


@cache
def schema_v2() -> Any:
    """The same for version 2, with its unstable parts."""
    return json.loads(SCHEMA_V2.read_text()) if SCHEMA_V2.exists() else {"$defs": {}}


def is_valid(version: int, name: str, value: Any) -> bool:
    """Whether the unstable schema of this version allows a value of the type with this name."""
    definitions = (schema_v2() if version == 2 else drafts_v1())["$defs"]
    # Without validating the schema itself, which takes half a second.
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": definitions}).is_valid(value)


def recorded_messages(path: Path, direction: str = "in") -> Iterator[dict[str, Any]]:
    """A recording's messages in one direction: "in" is from the agent."""
    for line in path.read_text().splitlines():
        frame = json.loads(line)
        if frame["dir"] == direction and isinstance(frame.get("msg"), dict):
            yield frame["msg"]


SHARED_MODELS: Final[dict[str, type[WireModel]]] = {
    **dict.fromkeys(("AuthenticateResponse", "LogoutResponse", "SetSessionModeResponse"), WireModel),
    **dict.fromkeys(("DeleteSessionResponse", "CloseSessionResponse"), WireModel),
    **dict.fromkeys(("LoadSessionResponse", "ResumeSessionResponse"), SessionSetup),
    **dict.fromkeys(("TerminalOutputRequest", "WaitForTerminalExitRequest"), TerminalRequest),
    **dict.fromkeys(("KillTerminalRequest", "ReleaseTerminalRequest"), TerminalRequest),
}
"""The model of a type of the schema, where it has another name because several types are alike."""


def as_json(value: Any, raw: Any) -> Any:
    """What was read of `raw`, as JSON again: without unknown keys, and without what was malformed and so is absent."""
    if isinstance(value, WireModel):
        given = {key: getattr(value, name) for name, key in keys_of(type(value)).items() if key in raw}
        return {key: as_json(part, raw[key]) for key, part in given.items() if part is not UNSET}
    if isinstance(value, list) and isinstance(raw, list):
        return [as_json(item, part) for item, part in zip(value, raw, strict=False)]
    return {key: as_json(part, raw[key]) for key, part in value.items()} if isinstance(value, dict) else value
