"""The official ACP schemas, which judge single messages; without them, tests skip.

It is stricter than the schema in one point: unknown keys of a type are flaws (R-RPC-9), except in `_meta`.
"""

from __future__ import annotations

import json
from functools import cache, lru_cache
from typing import Any, Final, Literal

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from support.golden import drafts_v1, schema_v1, schema_v2

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
