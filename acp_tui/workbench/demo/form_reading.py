"""Reads the fields of a form into the protocol's schema for it; what is asked with it is for `step_reading`."""

from __future__ import annotations

from typing import Any, Final

from acp_tui.workbench.demo import script
from acp_tui.workbench.demo.table import Table

FORMATS: Final = ("email", "uri", "date", "date-time")

LIMITS: Final[dict[str, dict[str, tuple[str, type]]]] = {
    "string": {
        "min_length": ("minLength", int),
        "max_length": ("maxLength", int),
        "pattern": ("pattern", str),
        "default": ("default", str),
    },
    "number": {
        "minimum": ("minimum", float),
        "maximum": ("maximum", float),
        "default": ("default", float),
    },
    "integer": {"minimum": ("minimum", int), "maximum": ("maximum", int), "default": ("default", int)},
    "boolean": {"default": ("default", bool)},
    "array": {"min_items": ("minItems", int), "max_items": ("maxItems", int), "default": ("default", list)},
}
"""By the type of a field: what may be said of its values, how the wire calls it, and what it is."""


def read_schema(form: Table) -> script.Wire:
    """The schema of a form: its "title", "description" and "fields". Raises ScenarioError."""
    schema: dict[str, Any] = {"type": "object"} | form.given({"title": str, "description": str})
    properties: dict[str, script.Wire] = {}
    required: list[str] = []
    for field in form.tables("fields"):
        name = field.need("name", str)
        if field.get("required", bool, False):
            required.append(name)
        properties[name] = _read_property(field)
    schema["properties"] = properties
    return schema | {"required": required} if required else schema


def _read_property(field: Table) -> script.Wire:
    kind = field.one_of("type", LIMITS)
    prop: dict[str, Any] = {"type": kind} | field.given({"title": str, "description": str})
    for key, (wire_key, value_kind) in LIMITS[kind].items():
        if field.has(key):
            prop[wire_key] = field.need(key, value_kind)
    if kind == "string" and field.has("format"):
        prop["format"] = field.one_of("format", FORMATS)
    if kind == "string":
        prop |= _read_values(field, "oneOf") or {}
    elif kind == "array":
        prop["items"] = _read_items(field)
    field.close()
    return prop


def _read_items(field: Table) -> script.Wire:
    items = _read_values(field, "anyOf")
    if items is None:
        raise field.error('give the values of an array: "values" or "choices"')
    return {"type": "string"} | items if "enum" in items else items


def _read_values(field: Table, titled_key: str) -> dict[str, Any] | None:
    """What there is to choose from, by mere values or with names; None where nothing is."""
    if field.has("values"):
        return {"enum": list(field.texts("values"))}
    if field.has("choices"):
        return {titled_key: [_read_choice(choice) for choice in field.tables("choices")]}
    return None


def _read_choice(choice: Table) -> script.Wire:
    titled = {"const": choice.need("value", str), "title": choice.need("name", str)}
    titled |= choice.given({"description": str})
    choice.close()
    return titled
