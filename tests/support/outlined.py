"""Conversations without the parts that differ from run to run."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

from acp_tui.conversation.buffers import ByteRing
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entry_list import EntryList

CLOCKS = ("at", "seconds")


def outline(conversation: Conversation) -> str:
    """Everything in a conversation except clock times, names the client makes up."""
    names: dict[str, str] = {}
    told = "\n".join(_lines(conversation, ""))
    made_up = r"(?:term|acp-tui)_[0-9a-f]+"
    return re.sub(made_up, lambda found: names.setdefault(found[0], f"#{len(names)}"), told)


def _lines(value: Any, place: str) -> Iterator[str]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield f"{place}: {type(value).__name__}"
        names = (field.name for field in dataclasses.fields(value))
        value = {name: getattr(value, name) for name in names if name not in CLOCKS}
    if isinstance(value, dict | list | tuple | EntryList):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _lines(item, f"{place}.{key}")
    else:
        yield f"{place} = {value.read() if isinstance(value, ByteRing) else value!r}"
