"""Tells a decoded JSON value as an indented list, with a line for each part. Draws nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from acp_tui.conversation.visible import collapse_blanks_in_line, make_visible_line

Path: TypeAlias = tuple[str | int, ...]
"""The keys and indexes that lead to a part; empty for the whole value."""

MAX_FIELDS: Final = 1_000
"""More than any reader needs on a screen."""
MAX_KEY: Final = 200
"""Characters. A longer key is cut at its end; its value is still shown."""
MAX_DEPTH: Final = 20
"""What is deeper is told as if it were at this depth."""
DEEPER: Final = "…"
STEP: Final = "  "
ITEM: Final = "- "


class ReportedField(NamedTuple):
    """A value without parts."""

    path: Path
    text: str


def reported_fields(value: Any, name: str = "") -> Iterator[ReportedField]:
    """Yield every field of a value in order, at any depth. All paths begin with `name`, if there is one."""
    waiting: list[tuple[Path, Any]] = [((name,) if name else (), value)]
    while waiting:
        path, part = waiting.pop()
        if isinstance(part, Mapping) and part:
            waiting += [(_below(path, key), inner) for key, inner in part.items()][::-1]
        elif isinstance(part, list | tuple) and part:
            waiting += [(_below(path, at), inner) for at, inner in enumerate(part)][::-1]
        else:
            text = part if isinstance(part, str) else json.dumps(part, ensure_ascii=False, default=str)
            yield ReportedField(path, text)


def _below(path: Path, step: str | int) -> Path:
    return (*path, step) if len(path) < MAX_DEPTH else (*path[:MAX_DEPTH], DEEPER, step)


class Labels:
    """Names fields, in order. What holds several of them is named once, above the first."""

    def __init__(self) -> None:
        self._before: Path = ()

    def lines(self, path: Path) -> list[str]:
        """The lines that name a field. Its text goes behind the last one, such as `  - label: `."""
        same = 0
        while same < min(len(path), len(self._before)) and path[same] == self._before[same]:
            same += 1
        self._before = path
        lines, label = [], STEP * same
        for depth, step in enumerate(path[same:], same + 1):
            if isinstance(step, int):
                label += ITEM
                continue
            label += f"{_visible(step)}: "
            if depth < len(path):
                lines.append(label.rstrip())
                label = STEP * depth
        return [*lines, label]


def _visible(key: str) -> str:
    shown = collapse_blanks_in_line(make_visible_line(key[:MAX_KEY])).strip()
    return f"{shown} …" if len(key) > MAX_KEY else shown or '""'


def value_lines(value: Any, name: str) -> Iterator[str]:
    """The whole value, below its name if it has parts. Further lines of a text are indented below their field."""
    labels = Labels()
    for path, text in reported_fields(value, name):
        *above, label = labels.lines(path)
        first, *more = text.split("\n")
        yield from above
        yield label + first
        yield from (STEP * len(path) + line for line in more)
