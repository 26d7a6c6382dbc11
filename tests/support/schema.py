"""The official schemas, what is beside them, and messages made from them. Tests skip without."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from random import Random
from typing import Any, Final, Literal

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from acp_tui.conversation import UNSET
from acp_tui.protocol.v1.agent_requests import TerminalRequest
from acp_tui.protocol.v1.session import SessionSetup
from acp_tui.protocol.validators import keys_of
from acp_tui.protocol.wire import WireModel

# Where the schema, golden messages, and recorded traffic are, beside the repository

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
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": definitions}).is_valid(value)


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


# The schemas judge single messages. Unknown keys of a type are flaws, too (R-RPC-9), except in _meta

Shape = Literal["Request", "Response", "Notification"]
"""A message's role in its method; names of the schema's definitions end with these words."""
Side = Literal["agent", "client", "protocol"]
"""Which side handles the request or notification. A response has its request's side."""

_COMPOSED: Final = ("$ref", "allOf", "anyOf", "oneOf", "properties")


_DRAFTS: Final = ("NewSession", "LoadSession", "ResumeSession", "ForkSession", "SystemPrompt", "SystemPromptMode")
"""Version 1's requests that may have a system prompt, which the stable schema lacks."""


def _definitions(version: int) -> dict[str, Any]:
    stable: dict[str, Any] = (schema_v1 if version == 1 else schema_v2)()["$defs"]
    drafts = drafts_v1()["$defs"] if version == 1 else {}
    names = (name if name in drafts else f"{name}Request" for name in _DRAFTS)
    return {**stable, **{name: drafts[name] for name in names if name in drafts}}


@cache
def definitions(version: int = 1) -> dict[tuple[str, Side, Shape], str]:
    """The definition's name for each method, side, and shape; empty without a schema."""
    shapes: tuple[Shape, ...] = ("Request", "Response", "Notification")
    return {
        (definition["x-method"], definition["x-side"], shape): name
        for name, definition in _definitions(version).items()
        for shape in shapes
        if "x-method" in definition and name.endswith(shape)
    }


def definition_for(method: str, side: Side, shape: Shape, version: int = 1) -> str | None:
    """The definition's name; None if the protocol has no such message."""
    names = definitions(version)
    return names.get((method, side, shape)) or names.get((method, "protocol", shape))


def flaws(name: str, value: Any, version: int = 1) -> list[str]:
    """The flaws of `value` as the definition `name`, each with its place."""
    return list(_flaws(name, json.dumps(value), version))


@lru_cache(1_000)  # most connections begin with the same messages
def _flaws(name: str, text: str, version: int) -> tuple[str, ...]:
    errors = _validator(name, version).iter_errors(json.loads(text))
    return tuple(f"{error.json_path}: {error.message[:300]}" for error in errors)


@cache
def _validator(name: str, version: int) -> Draft202012Validator:
    root = {"$ref": f"#/$defs/{name}", "unevaluatedProperties": False}
    return Draft202012Validator({"$defs": _strict_definitions(version), **root})


@cache
def _strict_definitions(version: int) -> dict[str, Any]:
    return {name: _strict(definition) for name, definition in _definitions(version).items()}


def _strict(schema: Any) -> Any:
    """The schema with every nested value closed. Types stay open, since others are built from them with `allOf`."""
    if isinstance(schema, list):
        return [_strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {key: _strict(part) for key, part in schema.items() if key != "properties"}
    if "properties" in schema:
        strict["properties"] = {key: _closed(part) for key, part in schema["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            strict[key] = _closed(schema[key])
    return strict


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    strict: dict[str, Any] = _strict(schema)
    is_made_of_parts = any(key in schema for key in _COMPOSED)
    return strict | {"unevaluatedProperties": False} if is_made_of_parts else strict


# Messages made from the schema: valid ones with everything that is allowed, and broken ones

UNKNOWN_KEY: Final = "xUnknown"
UNKNOWN_VALUE: Final = "x-unknown"
MAX_DEPTH: Final = 6

OPEN_UNIONS: Final = {
    "ContentBlock": "type",
    "ToolCallContent": "type",
    "SessionUpdate": "sessionUpdate",
    "ElicitationPropertySchema": "type",
}
"""Unions that get unknown variants, and the key that tells the variant (R-LEN-4)."""
OPEN_ENUMS: Final = frozenset(
    {
        *("ToolKind", "ToolCallStatus", "PlanEntryPriority", "PlanEntryStatus", "PermissionOptionKind"),
        *("StopReason", "Role", "StringFormat"),
    }
)
"""Closed in the schema, open for us, since an agent may be newer than we are."""

STRINGS: Final = (
    *("", "x", "end_turn", "null", "  ", "a\nb\r\n", "\x1b[31mred\x1b[0m", "\x00", "[b]markup[/b]"),
    *(
        "größer",
        "日本語",
        "👩‍👩‍👧",
        "\u202eright to left",
        "e\u0301",
        "/tmp/a b/ü",
        "a" * 500,
        "half of a pair: \ud83d",
    ),
)
INTEGERS: Final = (0, 1, 2, 7, 1000, 2**31 - 1, 2**32 - 1)
NUMBERS: Final = (0, 1, -1.5, 0.25, 1e-9, 12345678.5)
WRONG: Final[tuple[Any, ...]] = (
    None,
    True,
    1,
    1.5,
    -1,
    2**70,
    "x",
    "",
    [],
    {},
    [None],
    [{}],
    {"type": "x"},
    {"type": 5},
)


class Messages:
    """An endless source of values of the schema's definitions. The same seed gives the same values.

    Keys that begin with `UNKNOWN_KEY` are mixed in, as newer agents might send them.
    """

    def __init__(self, seed: int, definitions: dict[str, Any] | None = None) -> None:
        """Those of version 1, unless other `definitions` are given."""
        self._random = Random(seed)
        self._definitions: dict[str, Any] = schema_v1()["$defs"] if definitions is None else definitions

    def valid(self, name: str) -> Any:
        """A value of this definition."""
        return self._named(name, 0)

    def broken(self, value: Any) -> Any:
        """The value with one to three parts missing or invalid. By chance, it may still be valid."""
        broken = copy.deepcopy(value)
        for _ in range(self._random.randint(1, 3)):
            places = list(_places(broken))
            if not places:
                return self._random.choice(WRONG)
            parent, key = self._random.choice(places)
            if isinstance(parent, dict) and self._random.random() < 0.4:
                del parent[key]
            else:
                parent[key] = copy.deepcopy(self._random.choice(WRONG))
        return broken

    # By definition

    def _named(self, name: str, depth: int) -> Any:
        if name in OPEN_UNIONS and self._chance(0.05):
            return {OPEN_UNIONS[name]: UNKNOWN_VALUE, **self._any_object()}
        if name in OPEN_ENUMS and self._chance(0.1):
            return UNKNOWN_VALUE
        value = self._value(self._definitions[name], depth)
        if isinstance(value, dict) and self._chance(0.2):
            value[UNKNOWN_KEY + str(self._random.randint(0, 9))] = self._any(0)
        return value

    def _value(self, schema: dict[str, Any], depth: int) -> Any:
        if "$ref" in schema:
            return self._named(schema["$ref"].rsplit("/", 1)[1], depth)
        if "const" in schema:
            return schema["const"]
        value = self._own(schema, depth)
        for part in self._parts(schema):
            made = self._value(part, depth)
            value = value | made if isinstance(value, dict) and isinstance(made, dict) else made
        return value

    def _parts(self, schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """For each way a schema is composed, what must hold in addition."""
        yield from schema.get("allOf", ())
        for key in ("oneOf", "anyOf"):
            if key in schema:
                known = [part for part in schema[key] if part.get("title") != "other"]
                yield self._random.choice(known or schema[key])

    def _own(self, schema: dict[str, Any], depth: int) -> Any:
        kinds = schema.get("type")
        kind = self._random.choice(kinds) if isinstance(kinds, list) else kinds
        match kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                length = 0 if depth > MAX_DEPTH else self._random.choice((0, 1, 1, 2, 3))
                return [self._value(schema["items"], depth + 1) for _ in range(length)]
            case "string" if schema.get("contentEncoding") == "base64":
                return self._random.choice(("", "aGk=", "4pyT", "/wA="))
            case "string":
                return self._random.choice(STRINGS)
            case "integer":
                return self._integer(schema)
            case "number":
                return self._random.choice(NUMBERS)
            case "boolean":
                return self._chance(0.5)
            case "null":
                return None
        composed = any(key in schema for key in ("allOf", "oneOf", "anyOf"))
        return {} if composed else self._any(depth)

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        required = schema.get("required", ())
        share = 0.15 if depth > MAX_DEPTH else self._random.choice((0.1, 0.5, 0.9))
        value = {
            name: self._meta() if name == "_meta" else self._value(part, depth + 1)
            for name, part in schema.get("properties", {}).items()
            if name in required or self._chance(share)
        }
        if isinstance(extra := schema.get("additionalProperties"), dict):
            value |= {f"field{index}": self._value(extra, depth + 1) for index in range(self._random.randint(0, 3))}
        return value

    def _integer(self, schema: dict[str, Any]) -> int:
        bits = int(schema.get("format", "int32").lstrip("uint"))
        fitting = [number for number in INTEGERS if number < 2 ** (bits - 1)]
        return self._random.choice(fitting if "minimum" in schema else [*fitting, -1])

    # Without a definition

    def _meta(self) -> Any:
        return self._random.choice((None, {}, {"example.org/key": self._any(0)}, self._any_object()))

    def _any(self, depth: int) -> Any:
        simple = (None, True, 0, 1.5, *STRINGS)
        if depth > 2 or self._chance(0.6):
            return self._random.choice(simple)
        return self._any_object() if self._chance(0.5) else [self._any(depth + 1), self._random.choice(simple)]

    def _any_object(self) -> dict[str, Any]:
        return {f"k{index}": self._any(2) for index in range(self._random.randint(0, 3))}

    def _chance(self, share: float) -> bool:
        return self._random.random() < share


def without_unknown_keys(value: Any) -> Any:
    """The value without the keys that were mixed in."""
    if isinstance(value, list):
        return [without_unknown_keys(item) for item in value]
    if isinstance(value, dict):
        return {key: without_unknown_keys(item) for key, item in value.items() if not key.startswith(UNKNOWN_KEY)}
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each key of an object and index of a list, at any depth."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield value, key
        yield from _places(value[key])
