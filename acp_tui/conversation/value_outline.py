"""Tells a decoded JSON value as an indented list, with a line for each part. Draws nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple, TypeAlias

from acp_tui.conversation.visible import collapse_blanks_in_line, make_visible_line
from acp_tui.conversation.visible.cutting import LINE_COST, MAX_DRAWN

Path: TypeAlias = tuple[str | int, ...]
"""The keys and indexes that lead to a part; empty for the whole value."""

MAX_FIELDS: Final = 1_000
"""More than any reader needs on a screen."""
MAX_KEY: Final = 200
"""Characters. A longer key is cut at its end; its value is still shown."""
MAX_DEPTH: Final = 20
"""What is deeper is told as if it were at this depth."""
MAX_LINES: Final = MAX_DRAWN // LINE_COST
DEEPER: Final = "…"
STEP: Final = "  "
ITEM: Final = "- "


class ReportedField(NamedTuple):
    path: Path
    text: str


def reported_fields(value: Any, name: str = "") -> Iterator[ReportedField]:
    """Yield every field of a value in order, at any depth. All paths begin with `name`, if there is one."""
    waiting: list[Iterator[tuple[Path, Any]]] = [iter([((name,) if name else (), value)])]
    while waiting:
        for path, part in waiting[-1]:
            if isinstance(part, Mapping | list | tuple) and part:
                waiting.append(_parts(path, part))
                break
            text = part if isinstance(part, str) else json.dumps(part, ensure_ascii=False, default=str)
            yield ReportedField(path, text)
        else:
            waiting.pop()


def _parts(path: Path, whole: Mapping[str, Any] | Sequence[Any]) -> Iterator[tuple[Path, Any]]:
    above = path if len(path) < MAX_DEPTH else (*path[:MAX_DEPTH], DEEPER)
    for step, part in whole.items() if isinstance(whole, Mapping) else enumerate(whole):
        yield (*above, step), part


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
    """The value, below its name if it has parts. Further lines of a text are indented below their field.

    Of many fields, the first are told: as many as the screen draws lines of anything.
    """
    labels = Labels()
    for number, (path, text) in enumerate(reported_fields(value, name)):
        if number == MAX_LINES:
            yield f"… only the first {MAX_LINES:,} values are shown"
            return
        *above, label = labels.lines(path)
        first, *more = text.split("\n")
        yield from above
        yield label + first
        yield from (STEP * len(path) + line for line in more)


def in_words(message: str) -> str:
    """What an error says if its message is a model's server's answer in JSON, which Gemini CLI passes on as it is."""
    said: Any = message
    with suppress(ValueError, TypeError, KeyError, RecursionError):
        while isinstance(said, str):
            message = said
            said = json.loads(said)["error"]["message"]
    return message
