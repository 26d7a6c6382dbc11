"""Messages made from the official schema: valid ones with everything that is allowed, and broken ones.

The same seed gives the same message. Keys that begin with `UNKNOWN_KEY` are mixed in, as newer agents might send them.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from support.golden import schema_v1

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
    """An endless source of values of the schema's definitions."""

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
