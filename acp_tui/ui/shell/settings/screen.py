"""The list of all settings: what each one is, its value, and where that comes from. Enter edits one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import ClassVar, Final, TypeAlias, cast

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from acp_tui.client.errors import SettingsError
from acp_tui.client.files import make_private
from acp_tui.client.settings.writing import TomlValue
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.kit.editor import edit
from acp_tui.ui.kit.filtered_list import FilteredList, ReadingScreen
from acp_tui.ui.kit.frame import Frame, shown, shown_line
from acp_tui.ui.shell.settings.editor import RESET, Item, SettingEditor, explanation, item_rows, judged, written_value
from acp_tui.ui.shell.settings.follower import SettingsDesk

ChooseTheme: TypeAlias = Callable[[str, Callable[[str], Awaitable[None]]], Awaitable[None]]
KEYS: Final = "Enter change · Ctrl+R default · Ctrl+O open the file · Esc close"


class SettingsScreen(ModalScreen[None]):
    """Shows the settings until the user presses Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close", show=False),
        Binding("ctrl+r", "reset", "Use the default", show=False, priority=True),
        Binding("ctrl+o", "open_file", "Open the file in the editor", show=False, priority=True),
        Binding("ctrl+n", "show_notes", "Show the problems", show=False, priority=True),
        Binding("ctrl+t", "ask_for_project", "Decide on the project's file", show=False, priority=True),
    ]

    def __init__(self, desk: SettingsDesk, choose_theme: ChooseTheme) -> None:
        """`choose_theme` lets the user preview themes, and saves the chosen one."""
        super().__init__(classes="dialog")
        self._choose_theme = choose_theme
        self._desk = desk
        self._notes = Static(classes="settings-notes", markup=False)
        self._list = FilteredList()
        self._about = Static(classes="setting-about", markup=False)

    def compose(self) -> ComposeResult:
        """The problems, the list, and details of the setting at the cursor."""
        yield Frame(shown_line(f"Settings · {self._desk.file}"), KEYS, self._notes, self._list, self._about)

    def on_mount(self) -> None:
        """Show the settings, and follow changes."""
        self._desk.listeners.append(self._show)
        self._show()

    def on_unmount(self) -> None:
        """Stop following changes."""
        self._desk.listeners.remove(self._show)

    def _show(self) -> None:
        rows = item_rows(self._desk, self._desk.settings, keys_in_force(self))
        self._list.show_rows(rows)
        notes = self._desk.notes
        problems = "1 problem" if len(notes) == 1 else f"{len(notes)} problems"
        lines = [f"✗ {problems} (Ctrl+N): {make_visible_line(notes[0])}"] if notes else []
        if self._desk.pending is not None:
            lines.insert(0, f"? {self._desk.project_file.name} has changed: press Ctrl+T to decide whether to use it")
        self._notes.update(Content.styled("\n".join(lines), "$text-warning"))
        self._notes.display = bool(lines)
        self._show_about()

    def on_filtered_list_moved(self) -> None:
        """Explain the setting at the cursor."""
        self._show_about()

    def _show_about(self) -> None:
        item = self._item
        lines = explanation(item, self._desk, keys_in_force(self)) if item is not None else ["No setting matches."]
        self._about.update(shown("\n".join(lines)))

    @property
    def _item(self) -> Item | None:
        return self._list.row.value if self._list.row is not None else None

    # Actions

    def on_filtered_list_chosen(self, message: FilteredList.Chosen) -> None:
        """Edit the setting; a table in the file."""
        item: Item = message.row.value
        if item.is_editable:
            self._change(item)
        else:
            self.action_open_file()

    @work
    async def _change(self, item: Item) -> None:
        keymap, settings = keys_in_force(self), self._desk.settings
        if item.key == "appearance.theme":
            await self._choose_theme(settings.appearance.theme, partial(self._write, item))
            return
        editor = SettingEditor(
            item,
            explanation(item, self._desk, keymap),
            written_value(item, self._desk.user.settings, keymap),
            lambda answer: judged(item, answer, settings),
        )
        value = await self.app.push_screen_wait(editor)
        if value is RESET:
            await self._reset(item)
        elif value is not None:
            await self._write(item, cast(TomlValue, value))

    async def _write(self, item: Item, value: TomlValue) -> None:
        try:
            await self._desk.set(item.key, value)
        except SettingsError as error:
            self._say_error(error)

    async def _reset(self, item: Item) -> None:
        try:
            await self._desk.reset(item.key)
        except SettingsError as error:
            self._say_error(error)

    def _say_error(self, error: SettingsError) -> None:
        text = f"{error}; {error.hint}" if error.hint else str(error)
        self.notify(text, title="Settings", severity="error", markup=False)

    @work
    async def action_reset(self) -> None:
        """Remove the setting at the cursor from the file."""
        if self._item is not None and self._item.is_editable:
            await self._reset(self._item)

    @work
    async def action_open_file(self) -> None:
        """Let the user edit the file, and read it again."""
        make_private(self._desk.file.parent)
        wrong = edit(self.app, self._desk.file)
        if wrong:
            self.notify(wrong, severity="error", markup=False)
        await self._desk.read_again()

    def action_show_notes(self) -> None:
        """Show all problems."""
        text = "\n\n".join(self._desk.notes) or "The settings have no problems."
        self.app.push_screen(ReadingScreen("Settings", text))

    @work
    async def action_ask_for_project(self) -> None:
        """Decide on the project's current file."""
        await self._desk.ask()
