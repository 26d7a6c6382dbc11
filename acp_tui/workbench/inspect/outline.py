"""JSON as lines that fold, exactly as written: duplicate keys, key order, and number formats stay."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import field
from enum import Enum
from typing import Any, Final, TypeAlias

from acp_tui.values import dataclass

LINES_AT_FIRST: Final = 300
"""The number of lines to unfold at first."""
LONG_TEXT: Final = 400
"""Longer texts can be folded. Texts with line breaks always can."""
SHORTENED: Final = 120
PART: Final = 100
"""The number of items of a long list, or lines of a long text, to fold into one part."""
MAX_DEPTH: Final = 100


class Role(Enum):
    KEY = "key"
    TEXT = "text"
    NUMBER = "number"
    WORD = "word"
    """true, false, or null."""
    SIGN = "sign"
    """Brackets and commas."""
    ASIDE = "aside"
    """Not in the JSON: how much is folded."""


Piece: TypeAlias = tuple[str, Role]


class _Literal(str):
    """A number as written."""

    __slots__ = ()


class _Object(list[tuple[str, Any]]):
    """The key-value pairs of an object."""


class _Lines(list[str]):
    """The lines of a text."""


@dataclass(eq=False, slots=True)
class Node:
    name: str | None
    """Its key; None in a list."""
    value: Any
    depth: int
    is_last: bool
    is_line: bool = False
    """Whether it's a line of a text."""
    is_part: bool = False
    """Whether it's a part of a long list or text."""
    first: int = 0
    """For a part: the index of its first item."""
    is_open: bool = False
    _children: list[Node] | None = field(default=None, repr=False)

    @property
    def is_foldable(self) -> bool:
        if self.is_line or isinstance(self.value, _Literal) or self.depth >= MAX_DEPTH:
            return False
        return _is_long(self.value) if isinstance(self.value, str) else bool(self.value and self.is_list)

    @property
    def is_list(self) -> bool:
        """Whether it's an object, a list, or a part of one."""
        return isinstance(self.value, list)

    @property
    def children(self) -> list[Node]:
        """Its children, created when it's first unfolded."""
        if self._children is None:
            self._children = list(_children_of(self))
        return self._children


@dataclass(frozen=True, slots=True)
class OutlineLine:
    """A line to draw. Its texts are as the agent wrote them."""

    node: Node
    depth: int
    pieces: tuple[Piece, ...]
    is_end: bool = False
    """Whether it's the closing bracket."""


class Outline:
    """One JSON text, partly folded."""

    def __init__(self, text: str) -> None:
        """Raises ValueError if the text isn't JSON."""
        self.root = Node(None, _parsed(text), 0, is_last=True)
        self.unfold()

    def unfold(self, most: int = LINES_AT_FIRST) -> None:
        """Unfold as much as fits into `most` lines, outermost first."""
        waiting, lines = [self.root], 1
        while waiting:
            following: list[Node] = []
            for node in waiting:
                if node.is_foldable and lines + len(node.children) < most and not _is_bulky(node):
                    node.is_open = True
                    lines += len(node.children) + 1
                    following += node.children
            waiting = following

    def fold(self) -> None:
        for node in tuple(_open_nodes(self.root)):
            node.is_open = node is self.root

    def lines(self) -> list[OutlineLine]:
        return list(_lines_of(self.root))


def _parsed(text: str) -> Any:
    try:
        return json.loads(
            text.removeprefix("\ufeff"),
            object_pairs_hook=_Object,
            parse_int=_Literal,
            parse_float=_Literal,
            parse_constant=_Literal,
        )
    except RecursionError:
        raise ValueError("nested too deep") from None


def _is_bulky(node: Node) -> bool:
    """Whether it's a long text without line breaks that nobody reads, such as an image."""
    return isinstance(node.value, str) and len(node.value) > LONG_TEXT and "\n" not in node.value


def _open_nodes(node: Node) -> Iterator[Node]:
    if node.is_open:
        yield node
        for child in node.children:
            yield from _open_nodes(child)


def _is_long(text: str) -> bool:
    return len(text) > LONG_TEXT or "\n" in text.rstrip("\n")


def _children_of(node: Node) -> Iterator[Node]:
    items = _text_lines(node.value) if isinstance(node.value, str) else node.value
    depth, kind = node.depth + 1, type(items)
    if len(items) > 2 * PART and not node.is_part:
        for at in range(0, len(items), PART):
            is_last = at + PART >= len(items)
            yield Node(None, kind(items[at : at + PART]), depth, is_last, is_part=True, first=at)
        return
    for at, item in enumerate(items):
        name, value = item if kind is _Object else (None, item)
        is_last = at == len(items) - 1
        yield Node(name, value, depth, is_last, is_line=kind is _Lines)


def _text_lines(text: str) -> _Lines:
    lines = _Lines()
    for line in text.split("\n"):
        lines += [line[at : at + LONG_TEXT] for at in range(0, len(line) or 1, LONG_TEXT)]
    return lines


def _lines_of(node: Node) -> Iterator[OutlineLine]:
    yield OutlineLine(node, node.depth, tuple(_pieces(node)))
    if not node.is_open:
        return
    for child in node.children:
        yield from _lines_of(child)
    if node.is_list and not node.is_part:
        bracket = "}" if isinstance(node.value, _Object) else "]"
        comma = "" if node.is_last else ","
        yield OutlineLine(node, node.depth, ((bracket + comma, Role.SIGN),), is_end=True)


def _pieces(node: Node) -> Iterator[Piece]:
    comma = "" if node.is_last else ","
    if node.name is not None:
        yield _quoted(node.name), Role.KEY
        yield ": ", Role.SIGN
    value = node.value
    if node.is_line:
        yield value, Role.TEXT
    elif node.is_list:
        yield from _pieces_of_list(node, comma)
    elif isinstance(value, _Literal):
        yield value, Role.NUMBER
        yield comma, Role.SIGN
    elif isinstance(value, str):
        yield from _pieces_of_text(node, comma)
    else:
        yield json.dumps(value), Role.WORD
        yield comma, Role.SIGN


def _pieces_of_list(node: Node, comma: str) -> Iterator[Piece]:
    value = node.value
    is_object = isinstance(value, _Object)
    opening, closing = "{}" if is_object else "[]"
    if node.is_part:
        yield f"{node.first + 1} to {node.first + len(value)}", Role.ASIDE
    elif not value or node.is_open:
        yield opening if value else opening + closing + comma, Role.SIGN
    else:
        yield opening, Role.SIGN
        yield " … ", Role.ASIDE
        yield closing + comma, Role.SIGN
        yield f" {counted(len(value), 'key' if is_object else 'item')}", Role.ASIDE


def _pieces_of_text(node: Node, comma: str) -> Iterator[Piece]:
    text = node.value
    if not node.is_foldable:
        yield _quoted(text), Role.TEXT
        yield comma, Role.SIGN
    elif node.is_open:
        yield f"text of {_extent(text)}", Role.ASIDE
    else:
        yield f"{_quoted(text[:SHORTENED])[:-1]}", Role.TEXT
        yield f" … {_extent(text)}", Role.ASIDE


def _extent(text: str) -> str:
    lines = text.rstrip("\n").count("\n") + 1
    said = counted(len(text), "character")
    return said if lines == 1 else f"{counted(lines, 'line')}, {said}"


def counted(number: int, what: str) -> str:
    """Format as "1 key" or "2 keys"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
