"""What can be set, one item after the other, with the words that stand beside it; it draws and writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from typing import Final

from acp_tui.client.settings.location import leaves, value_at
from acp_tui.client.settings.reference import EXPANSION
from acp_tui.client.settings.setting import Declared
from acp_tui.client.settings.tree import READ_ELSEWHERE, Settings
from acp_tui.client.settings.wording import allowed_values, set_value
from acp_tui.ui.commands.command import PLACES, Command
from acp_tui.ui.commands.help import key_notes
from acp_tui.ui.commands.key_names import shown_key, written_key
from acp_tui.ui.commands.keymap import AS_BUILT, Keymap
from acp_tui.ui.commands.table import COMMANDS
from acp_tui.ui.kit.row_list import PickerRow, cut
from acp_tui.ui.shell.settings.follower import Origin, SettingsDesk

MOST_VALUE_CELLS: Final = 30
_ORIGINS: dict[Origin, str] = {"default": "", "yours": "yours", "project": "the project's"}


@dataclass(frozen=True, slots=True)
class Item:
    """A setting, or the keys of a command; with neither, something that is changed in the file only."""

    key: str
    one: Declared | None = None
    command: Command | None = None

    @property
    def is_editable(self) -> bool:
        """Whether it can be changed on the screen: tables cannot."""
        return self.command is not None or (self.one is not None and not is_dataclass(self.one.kind))


def item_rows(desk: SettingsDesk, settings: Settings, keymap: Keymap) -> Iterator[PickerRow[Item]]:
    """A row for each item under its section: its name, its value, and whose that is."""
    for key, one in leaves():
        if key == "keys":
            continue
        section, _, name = key.rpartition(".")
        value = _short_value(one, value_at(settings, key))
        yield _row(desk, Item(key, one), section or "rules", name, value, one.setting.doc)
    for key, doc in READ_ELSEWHERE.items():
        yield PickerRow(Item(key), key, doc, key, aside="in the file")
    for command in COMMANDS:
        if not command.typed:
            item = Item(f"keys.{command.id}", command=command)
            keys = keymap.all_shown(command.id) or "none"
            yield _row(desk, item, f"keys · {PLACES[command.where].lower()}", command.id, keys, command.title)


def _row(desk: SettingsDesk, item: Item, group: str, name: str, value: str, doc: str) -> PickerRow[Item]:
    aside = " · ".join(filter(None, (_ORIGINS[desk.origin(item.key)], cut(value, MOST_VALUE_CELLS))))
    return PickerRow(item, name, f"{doc} {item.key}", group, aside=aside)  # what is searched


def _short_value(one: Declared, value: object) -> str:
    if isinstance(value, tuple) and is_dataclass(one.kind):
        return f"{len(value) or 'no'} rule{'s' * (len(value) != 1)}"
    return set_value(value)


def explanation(item: Item, desk: SettingsDesk, keymap: Keymap) -> list[str]:
    """What it is, what it may be, and where its value comes from; a line each."""
    if item.command is not None:
        return _about_keys(item.command, keymap)
    if item.one is None:
        return [READ_ELSEWHERE[item.key], "Enter opens the file in your editor."]
    about = item.one.setting
    lines = [f"{about.doc} {EXPANSION}" if about.is_expanded else about.doc]
    default = "" if is_dataclass(item.one.kind) else f"default: {set_value(item.one.default)}"
    applies = "" if about.applies == "at once" else f"counts from the {about.applies} on"
    lines.append(" · ".join(filter(None, (allowed_values(item.one), default, applies))))
    if desk.origin(item.key) == "project":
        yours = set_value(value_at(desk.user.settings, item.key))
        lines.append(f"{desk.project_file} decides here; yours: {yours}")
    return lines if item.is_editable else [*lines, "Enter opens the file in your editor."]


def _about_keys(command: Command, keymap: Keymap) -> list[str]:
    usual = " ".join(map(shown_key, AS_BUILT.keys[command.id])) or "none"
    first = f"{command.title}: {command.help}" if command.help else command.title
    return [first, f"{PLACES[command.where]} · usual: {usual}", *key_notes(command, keymap)]


def written_value(item: Item, settings: Settings, keymap: Keymap) -> str:
    """The value as text to be changed: lists one item a line, keys with a space between them."""
    if item.command is not None:
        return " ".join(map(written_key, keymap.keys[item.command.id]))
    value = value_at(settings, item.key)
    if isinstance(value, tuple):
        return "\n".join(map(str, value))
    return set_value(value) if isinstance(value, (bool, int, float)) else str(value)
