"""Turns what the user wrote for a setting into a value for the file, or says what is wrong with it.

What is allowed is declared with the setting; this asks the same reader that reads the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from acp_tui.client.settings.reader import interpret
from acp_tui.client.settings.setting import Declared
from acp_tui.client.settings.tree import KeyChoice, Settings
from acp_tui.client.settings.writing import TomlValue
from acp_tui.ui.commands.key_names import parse_key
from acp_tui.ui.commands.keymap import keymap_of
from acp_tui.ui.shell.settings.items import Item

Answer: TypeAlias = str | list[str]
"""One text, or one for each of several values."""


class NotAllowed(Exception):
    """The message says why, for the user."""


def judged(item: Item, answer: Answer, settings: Settings) -> TomlValue:
    """The value for the file. Raises NotAllowed."""
    if item.command is not None:
        return _keys(item.command.id, answer if isinstance(answer, str) else " ".join(answer), settings)
    assert item.one is not None
    value = _read(item.one, answer)
    document: Any = value
    for name in reversed(item.key.split(".")):
        document = {name: document}
    for problem in interpret(document, "", os.environ).problems:
        raise NotAllowed(problem.text.removeprefix(f": {problem.key} "))
    return value


def _read(one: Declared, answer: Answer) -> TomlValue:
    if isinstance(answer, list):
        return answer
    reading: dict[type[Any], Callable[[str], TomlValue]] = {
        bool: lambda text: text == "true",
        int: lambda text: int(text.replace(",", "_")),
        float: _number,
        str: str,
        Path: str,
    }
    try:
        return reading[one.kind](answer.strip() if one.kind in (int, float) else answer)
    except ValueError:
        return answer  # the reader says what is allowed


def _number(text: str) -> TomlValue:
    return int(text) if text.isdigit() else float(text)


def _keys(id_: str, text: str, settings: Settings) -> TomlValue:
    texts = text.replace(",", " ").split() if text.strip() != "," else [","]
    others = [choice for choice in settings.keys if choice.command != id_]
    keymap = keymap_of([*others, KeyChoice(id_, tuple(texts))])
    if keymap.keys[id_] != tuple(dict.fromkeys(parse_key(each) for each in texts)):
        mine = [note.removeprefix(f"keys.{id_}") for note in keymap.notes if note.startswith(f"keys.{id_}")]
        raise NotAllowed("\n".join(note.lstrip(": ") for note in mine))
    return texts[0] if len(texts) == 1 else texts or ""
