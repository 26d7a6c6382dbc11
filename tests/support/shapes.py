"""The look of a conversation regardless of its words: each letter and digit counts as any other."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from acp_tui.conversation.buffers import ByteRing, TextBuffer
from acp_tui.conversation.entry_list import EntryList


def shape(value: Any) -> Any:
    """The same values and sizes; texts that differ only in letters and digits become equal."""
    match value:
        case Enum():
            return value
        case str():
            return "".join(map(_blank, value))
        case bytes():
            return shape(value.decode("utf-8", "surrogateescape"))
        case TextBuffer():
            return shape(value.text)
        case ByteRing():
            return value.end, shape(value.read())
        case Mapping():
            return sorted(([shape(key), shape(item)] for key, item in value.items()), key=lambda pair: str(pair[0]))
        case set() | frozenset():
            return sorted(map(shape, value))
        case list() | tuple() | EntryList():
            return [shape(item) for item in value]
        case _ if is_dataclass(value):
            return type(value).__name__, {each.name: shape(getattr(value, each.name)) for each in fields(value)}
        case _:
            return value


def _blank(char: str) -> str:
    if not char.isalnum():
        return char
    return "ｘ" if unicodedata.east_asian_width(char) in "WF" else "x"
