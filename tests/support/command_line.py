"""How a command line is parsed, what runs it, and the JSON that is printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final

from jsonschema import Draft202012Validator, FormatChecker  # type: ignore[import-untyped]

from acp_tui.cli.arguments import read_arguments
from acp_tui.cli.schemas import schema_of


def given(line: str) -> tuple[str, dict[str, Any]]:
    """The command's name and its values, without unset switches and options."""
    command, values = read_arguments(line.split())
    told = {name: value for name, value in vars(values).items() if value is not None and value is not False}
    if command.takes_agent:
        told.pop("word", None)
    return command.name, told


ONE_AFTER_THE_OTHER: Final = """
import json, sys
from acp_tui.cli.main import main
sys.exit(max([main(argv) for argv in json.loads(sys.argv.pop())]))
"""


def one_after_the_other(*commands: Sequence[str]) -> list[str]:
    """A process that runs several commands of acp-tui; most of what one takes is its start. Its status is the worst."""
    return [sys.executable, "-P", "-c", ONE_AFTER_THE_OTHER, json.dumps(commands)]


# JSON that acp-tui prints, held against the schema that acp-tui schema prints: here, it may have no other keys


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
