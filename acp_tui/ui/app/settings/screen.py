"""The list of all settings: what each one is, its value, and where that comes from. Enter edits one.

The dialog to edit one returns the value and writes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from textual import on, work
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from acp_tui.client.errors import SettingsError
from acp_tui.client.private_files import make_private
from acp_tui.client.settings.location import leaves, value_at
from acp_tui.client.settings.reader import interpret
from acp_tui.client.settings.setting import DeclaredSetting
from acp_tui.client.settings.settings import READ_ELSEWHERE, KeyChoice, Settings
from acp_tui.client.settings.wording import EXPANSION, allowed_values, set_value
from acp_tui.client.settings.writing import TomlValue
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.wording import from_home
from acp_tui.ui.app.settings.follower import LiveSettings, Origin
from acp_tui.ui.commands.command import Command
from acp_tui.ui.commands.keymap import (
    BY_ID,
    DEFAULT_KEYMAP,
    KEYS_PRESET,
    PRESET,
    Keymap,
    heading_of,
    keymap_of,
    parse_key,
    shown_key,
    written_key,
)
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.kit.desktop import edit
from acp_tui.ui.kit.dialog import Dialog, shown
from acp_tui.ui.kit.field_editors import ChoiceRows
from acp_tui.ui.kit.filtered_list import FilteredList
from acp_tui.ui.kit.pickers import FITTING, ListDialog, ReadingScreen
from acp_tui.ui.kit.row_list import MAX_NUMBERED, PickerRow
from acp_tui.ui.rendering.wrapping import break_words, cut, cut_at_word
from acp_tui.values import dataclass

MAX_VALUE_CELLS: Final = 30
BASIC: Final = (
    *("appearance.theme", "keys.preset", "keys.send", "keys.new_line", "agent.enter_while_working", "agent.sandbox"),
    *("notifications.needs_you", "notifications.done", "conversation.thoughts", "conversation.fold_kinds"),
    *("conversation.diff_lines", "appearance.sidebar", "appearance.status", "appearance.images"),
    *("workspace.read", "workspace.write", "workspace.terminals", "mcp", "history.keep"),
)
"""The settings that come first. Before a search, only those that differ from their defaults follow."""
OFTEN: Final = "Often changed"
_ORIGINS: dict[Origin, str] = {"default": "", "yours": "yours", "project": "the project's"}


@dataclass(frozen=True, slots=True)
class Item:
    """A setting, or the keys of a command. With neither, it can be changed only in the file."""

    key: str
    one: DeclaredSetting | None = None
    command: Command | None = None

    @property
    def is_editable(self) -> bool:
        """Whether it can be changed on the screen, which is everything but tables."""
        return self.command is not None or (self.one is not None and not is_dataclass(self.one.kind))


def item_rows(live: LiveSettings, settings: Settings, keymap: Keymap) -> Iterator[PickerRow[Item]]:
    """A row for each item: name, value, and where the value comes from. Under its section, but for the first ones."""
    rows = {row.value.key: row for row in _rows_by_section(live, settings, keymap)}
    yield from (replace(rows.pop(key), label=key, group=OFTEN, is_rare=False) for key in BASIC)
    yield from rows.values()


def _rows_by_section(live: LiveSettings, settings: Settings, keymap: Keymap) -> Iterator[PickerRow[Item]]:
    for key, one in leaves():
        if key == "keys":
            continue
        section, _, name = key.rpartition(".")
        value = _short_value(one, value_at(settings, key)) or (FITTING if key == "appearance.theme" else "none")
        yield _row(live, Item(key, one), section or "rules", name, value, one.setting.doc)
    preset = ", ".join(sorted(keymap.presets)) or "none"
    yield _row(live, Item(f"keys.{PRESET}", KEYS_PRESET), "keys", PRESET, preset, KEYS_PRESET.setting.doc)
    for key, doc in READ_ELSEWHERE.items():
        yield PickerRow(Item(key), key, doc, key, aside="in the file")
    for command in BY_ID.values():
        if not command.fixed_characters:
            item = Item(f"keys.{command.id}", command=command)
            keys = keymap.all_shown(command.id) or "none"
            yield _row(live, item, f"keys · {heading_of(command).lower()}", command.id, keys, command.title)


def _row(live: LiveSettings, item: Item, group: str, name: str, value: str, doc: str) -> PickerRow[Item]:
    origin = live.origin(item.key)
    aside = " · ".join(filter(None, (cut(value, MAX_VALUE_CELLS), _ORIGINS[origin])))
    # The search matches the description, too.
    return PickerRow(item, name, f"{doc} {item.key}", group, aside=aside, is_rare=origin == "default")


def _short_value(one: DeclaredSetting, value: object) -> str:
    if isinstance(value, tuple) and is_dataclass(one.kind):
        return f"{len(value) or 'no'} rule{'s' * (len(value) != 1)}"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return value if isinstance(value, str) else set_value(value)


def explanation(item: Item, live: LiveSettings) -> list[str]:
    """What the item is, its allowed values, and where its value comes from, as lines."""
    if item.command is not None:
        usual = " ".join(map(shown_key, DEFAULT_KEYMAP.keys[item.command.id])) or "none"
        first = f"{item.command.title}: {item.command.help}" if item.command.help else item.command.title
        return [first, f"{heading_of(item.command)} · usual: {usual}"]
    if item.one is None:
        return [READ_ELSEWHERE[item.key], "Enter opens the file in your editor."]
    about = item.one.setting
    lines = [f"{about.doc} {EXPANSION}" if about.is_expanded else about.doc]
    default = "" if is_dataclass(item.one.kind) else f"default: {set_value(item.one.default)}"
    applies = "" if about.applies == "at once" else f"takes effect with the {about.applies}"
    lines.append(" · ".join(filter(None, (allowed_values(item.one), default, applies))))
    if live.origin(item.key) == "project":
        yours = set_value(value_at(live.user.settings, item.key))
        lines.append(f"{live.project_file.name} decides here; yours: {yours}")
    return lines if item.is_editable else [*lines, "Enter opens the file in your editor."]


def written_value(item: Item, settings: Settings, keymap: Keymap) -> str:
    """The value as text to edit: lists with one item per line, keys separated by spaces."""
    if item.command is not None:
        return " ".join(map(written_key, keymap.keys[item.command.id]))
    value = tuple(keymap.presets) if item.one is KEYS_PRESET else value_at(settings, item.key)
    if isinstance(value, tuple):
        return "\n".join(map(str, value))
    return set_value(value) if isinstance(value, (bool, int, float)) else str(value)


Answer: TypeAlias = str | list[str]
"""One text, or several for a list."""


class NotAllowed(Exception):
    """The value isn't allowed. The message tells the user why."""


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


def _read(one: DeclaredSetting, answer: Answer) -> TomlValue:
    if isinstance(answer, list):
        return answer
    reading: dict[type[Any], Callable[[str], TomlValue]] = {
        bool: lambda text: text == "true",
        int: lambda text: int(text.replace(",", "_")),
        float: lambda text: int(text) if text.isdigit() else float(text),
        str: str,
        Path: str,
    }
    try:
        return reading[one.kind](answer.strip() if one.kind in (int, float) else answer)
    except ValueError:
        return answer  # the reader reports what is allowed


def _keys(id_: str, text: str, settings: Settings) -> TomlValue:
    texts = text.replace(",", " ").split() if text.strip() != "," else [","]
    others = [choice for choice in settings.keys if choice.command != id_]
    keymap = keymap_of([*others, KeyChoice(id_, tuple(texts))])
    if keymap.keys[id_] != tuple(dict.fromkeys(parse_key(each) for each in texts)):
        mine = [note.removeprefix(f"keys.{id_}") for note in keymap.notes if note.startswith(f"keys.{id_}")]
        raise NotAllowed("\n".join(note.lstrip(": ") for note in mine))
    return texts[0] if len(texts) == 1 else texts or ""


RESET: Final = object()
"""Stands for the default value."""


class SettingEditor(Dialog[object]):
    """Returns the value to write, RESET, or None to leave the setting unchanged."""

    PLACE: Final = "setting"
    BINDINGS = bindings_of(place=PLACE)

    def __init__(self, item: Item, about: Iterable[str], value: str, judge: Callable[[Answer], TomlValue]) -> None:
        """`value` is the current value as text. `judge` returns the one for the file, or raises NotAllowed."""
        self._item = item
        self._judge = judge
        self._control = _control_for(item.one, value)
        self._unchanged = self._answer
        self._wrong = Static(classes="setting-wrong", markup=False)
        write = "one per line · {setting_save} save" if isinstance(self._control, TextArea) else "Enter write"
        if item.one is not None and isinstance(self._control, ChoiceRows) and self._control.is_multi:
            write = f"Space or 1-{min(len(item.one.allowed), MAX_NUMBERED)} checks · {write}"
        if item.command is not None:
            write = "keys separated by spaces, none for no key · Enter save"
        super().__init__(
            item.key,
            f"{write} · {{setting_reset}} default · {{dialog_close}} leave it unchanged",
            Static(shown("\n".join(about)), classes="setting-about", markup=False),
            self._control,
            self._wrong,
        )

    def on_mount(self) -> None:
        self._wrong.display = False
        self.set_focus(self._control)
        if isinstance(self._control, ChoiceRows) and self._control.row is None:
            self._control.action_move(1)  # Space is for the first row
        self._first = self._row

    @property
    def _row(self) -> PickerRow[str] | None:
        """The row at the cursor, if there are several to check."""
        return self._control.row if isinstance(self._control, ChoiceRows) and self._control.is_multi else None

    @property
    def _answer(self) -> Answer:
        match self._control:
            case Input():
                return self._control.value
            case TextArea():
                return [line.strip() for line in self._control.text.splitlines() if line.strip()]
            case ChoiceRows():
                chosen = self._control.chosen
                return chosen if self._control.is_multi else chosen[0] if chosen else ""
        return ""

    def action_accept(self) -> None:
        try:
            if self._answer != self._unchanged:
                self.dismiss(self._judge(self._answer))
            elif (at := self._row) is not None and at is not self._first and at.value not in self._answer:
                raise NotAllowed(f"Nothing has changed: {keys_in_force(self).shown('choice_choose')} checks {at.value}")
            else:
                self.dismiss(None)
        except NotAllowed as wrong:
            self._wrong.update(Content.assemble(("✗ ", "$text-error"), shown(str(wrong), "$text-error")))
            self._wrong.display = True

    def action_reset(self) -> None:
        self.dismiss(RESET)

    @on(ChoiceRows.Finished)
    @on(Input.Submitted)
    def _finish(self, event: Message) -> None:
        event.stop()
        self.action_accept()


def _control_for(one: DeclaredSetting | None, value: str) -> Widget:
    allowed = ("true", "false") if one is not None and one.kind is bool else (one.allowed if one is not None else ())
    if allowed:
        is_multi = one is not None and one.is_list
        rows = [PickerRow(choice, choice) for choice in allowed]
        return ChoiceRows(rows, value.split("\n") if is_multi else (value,), is_multi=is_multi)
    if one is not None and one.is_list:
        return TextArea(value, compact=True, highlight_cursor_line=False)
    return Input(value, compact=True, select_on_focus=False)


ChooseTheme: TypeAlias = Callable[[str, Callable[[str], Awaitable[None]]], Awaitable[None]]
KEYS: Final = "{list_choose} change · {setting_reset} default · {settings_file} open the file · {dialog_close} close"


class SettingsScreen(ListDialog[None]):
    """Shows the settings until the user presses Esc."""

    PLACE: Final = "settings"
    BINDINGS = bindings_of(place=PLACE)

    def __init__(self, live: LiveSettings, choose_theme: ChooseTheme) -> None:
        """`choose_theme` lets the user preview themes, and saves the chosen one."""
        self._choose_theme = choose_theme
        self._live = live
        self._notes = Static(classes="settings-notes", markup=False)
        self._list = FilteredList()
        self._about = Static(classes="setting-about", markup=False)
        super().__init__(f"Settings · {from_home(live.file)}", KEYS, self._notes, self._list, self._about)

    def on_mount(self) -> None:
        self._live.listeners.append(self._show)
        self._show()

    def on_unmount(self) -> None:
        self._live.listeners.remove(self._show)

    def _show(self) -> None:
        keymap = keys_in_force(self)
        self._list.show_rows(item_rows(self._live, self._live.settings, keymap))
        notes = self._live.notes
        problems = "1 problem" if len(notes) == 1 else f"{len(notes)} problems"
        key = keymap.hint(" ({settings_notes})")
        lines = [f"✗ {problems}{key}: {make_visible_line(notes[0])}"] if notes else []
        self._notes.update(Content.styled("\n".join(lines), "$text-warning"))
        self._notes.display = bool(lines)
        self._show_about()

    @on(FilteredList.Moved)
    def _show_about(self) -> None:
        item = self._item
        about, *facts = explanation(item, self._live) if item is not None else ["No setting matches."]
        width, height = self._about.content_size
        room = max(height - sum(len(break_words(fact, width)) for fact in facts), height // 2)
        if len(lines := break_words(about, width)) > room > 0:  # Enter shows all of it
            last = lines[room - 1].start
            about = about[:last] + cut_at_word(about[last:], width)
        self._about.update(shown("\n".join((about, *facts))))

    @property
    def _item(self) -> Item | None:
        return self._list.row.value if self._list.row is not None else None

    # Actions

    @on(FilteredList.Chosen)
    def _open_item(self, message: FilteredList.Chosen) -> None:
        item: Item = message.row.value
        if item.is_editable:
            self._change(item)
        else:
            self.action_open_file()

    @work
    async def _change(self, item: Item) -> None:
        keymap, settings = keys_in_force(self), self._live.settings
        if item.key == "appearance.theme":
            await self._choose_theme(settings.appearance.theme, partial(self._write, item))
            return
        editor = SettingEditor(
            item,
            explanation(item, self._live),
            written_value(item, self._live.user.settings, keymap),
            lambda answer: judged(item, answer, settings),
        )
        value = await self.app.push_screen_wait(editor)
        if value is not None:
            await self._write(item, None if value is RESET else cast(TomlValue, value))

    async def _write(self, item: Item, value: TomlValue | None) -> None:
        try:
            await self._live.set(item.key, value)
        except SettingsError as error:
            text = f"{error}; {error.hint}" if error.hint else str(error)
            self.notify(text, title="Settings", severity="error", markup=False)

    def action_reset(self) -> None:
        if self._item is not None and self._item.is_editable:
            self.run_worker(self._write(self._item, None))

    @work
    async def action_open_file(self) -> None:
        """Let the user edit the file, and read it again."""
        make_private(self._live.file.parent)
        if wrong := await edit(self.app, self._live.file):
            self.notify(wrong, severity="error", markup=False)
        await self._live.read_again()

    def action_show_notes(self) -> None:
        text = "\n\n".join(self._live.notes) or "The settings have no problems."
        self.app.push_screen(ReadingScreen("Settings", text))
