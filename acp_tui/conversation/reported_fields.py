"""Takes a tool's input or output apart into fields, each with its name and its text; where they are shown is not known.

An agent may put what it is going to do under any key and at any depth.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

MAX_FIELDS: Final = 1_000
"""No screen shows more to anybody who reads it."""

MAX_PATH: Final = 200
"""Characters: of a longer way the beginning is named, and what stands at its end is shown all the same."""


class ReportedField(NamedTuple):
    """A value without parts of its own."""

    name: str
    """The keys that lead to it, as in `edits[0].path`; "" where the whole is one value."""
    text: str


def reported_fields(value: Any, name: str = "") -> Iterator[ReportedField]:
    """Every field of a decoded JSON value in its order, however deeply it is nested."""
    waiting: list[tuple[str, Any]] = [(name, value)]
    while waiting:
        path, part = waiting.pop()
        if isinstance(part, Mapping) and part:
            waiting += [(_below(path, f".{key}"), inner) for key, inner in part.items()][::-1]
        elif isinstance(part, list | tuple) and part:
            waiting += [(_below(path, f"[{at}]"), inner) for at, inner in enumerate(part)][::-1]
        else:
            text = part if isinstance(part, str) else json.dumps(part, ensure_ascii=False, default=str)
            yield ReportedField(path.removeprefix("."), text)


def _below(path: str, step: str) -> str:
    if len(path) > MAX_PATH:
        return path
    longer = path + step
    return longer if len(longer) <= MAX_PATH or not path else f"{longer} …"
