"""JSON that acp-tui prints, held against the schema that `acp-tui schema` prints: here, it may have no other keys."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker  # type: ignore[import-untyped]

from acp_tui.cli.schemas import schema_of


def data_of(name: str, text: str) -> Any:
    """The data in the envelope that a command printed."""
    return _checked(name, text)["data"]


def problems_of(name: str, text: str) -> Any:
    return _checked(name, text)["problems"]


def lines_of(lines: Iterable[str]) -> list[Any]:
    """The lines of `exec --format ndjson`, or of an export."""
    return [_checked("exec", line) for line in lines]


def _checked(name: str, text: str) -> Any:
    value = json.loads(text)
    _validator(name).validate(value)
    return value


@cache
def _validator(name: str) -> Any:
    schema = _closed(schema_of(name))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema, format_checker=FormatChecker())


def _closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _closed(value) for key, value in schema.items()}
    return {**closed, "additionalProperties": False} if "properties" in schema and "type" in schema else closed
