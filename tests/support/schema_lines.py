"""A JSON Schema as lines that a person can compare: one for each key, with its types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


def schema_lines(schema: dict[str, Any]) -> list[str]:
    """Each key of each object, with "?" if it may be missing, and what its value is."""
    found = dict.fromkeys(_keys(schema, schema["title"]))
    for name, each in schema.get("$defs", {}).items():
        found |= dict.fromkeys(_keys(each, name))
    return [*found, f"{schema['title']}: {_type(schema)}"] if "oneOf" in schema else [*found]


def _keys(schema: dict[str, Any], name: str) -> Iterator[str]:
    for key, value in schema.get("properties", {}).items():
        yield f"{name}.{key}{'' if key in schema.get('required', ()) else '?'}: {_type(value)}"
    if "enum" in schema:
        yield f"{name}: {_type(schema)}"


def _type(value: dict[str, Any]) -> str:
    for key in ("anyOf", "oneOf"):
        if key in value:
            return " | ".join(sorted(_type(each) for each in value[key]))
    if "$ref" in value:
        return str(value["$ref"]).rpartition("/")[2]
    if "const" in value or "enum" in value:
        return " | ".join(json.dumps(each) for each in value.get("enum", [value.get("const")]))
    if value.get("type") == "array":
        items = value.get("prefixItems") or [value.get("items", {})]
        return f"[{', '.join(map(_type, items))}]"
    if isinstance(value.get("additionalProperties"), dict):
        return f"{{string: {_type(value['additionalProperties'])}}}"
    return " ".join(filter(None, (value.get("type", "any"), value.get("format", ""))))
