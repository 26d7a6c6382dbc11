"""The help: all commands with their keys, those for the current place first, and `acp_tui/docs`. Searchable."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from textual import on
from textual.app import App
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.docs import for_terminals, sections, topics
from acp_tui.ui.commands.command import PLACES, Command, Place
from acp_tui.ui.commands.keymap import (
    BY_ID,
    DEFAULT_KEYMAP,
    SEVERAL,
    Keymap,
    heading_of,
    places_of,
    shown_key,
    written_key,
)
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import BASIC, COMMANDS, MOVING
from acp_tui.ui.kit.filtered_list import FilteredList, matching
from acp_tui.ui.kit.pickers import ListDialog, Picker, ReadingScreen, ThemePicker
from acp_tui.ui.kit.row_list import PickerRow
from acp_tui.ui.kit.themes import palette_for
from acp_tui.ui.rendering.markdown import MarkdownRenderer
from acp_tui.ui.rendering.wrapping import Rows

NARROW_CELLS: Final = 60


class HelpScreen(ListDialog["str | None"]):
    """Returns the action of the command that the user chose; None if they only read."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f1", "help", "Close", show=False, id="help")]

    KEYS: ClassVar[str] = "{move_up} {move_down} move · {list_choose} run · {dialog_close} close"

    def __init__(self, here: Sequence[Place] = (), *, is_all: bool = True) -> None:
        """`here` has the current places, from the focus outwards. Without `is_all`, other places are left out."""
        self._here = here
        self._is_all = is_all
        self._rows = FilteredList()
        super().__init__("Help", self.KEYS, self._rows)

    def on_mount(self) -> None:
        is_narrow = self.app.size.width < NARROW_CELLS
        rows = help_rows(keys_in_force(self), self._here, is_narrow=is_narrow)
        groups = [PLACES[place] for place in self._here]
        shown: list[PickerRow[Any]] = [
            row if self._is_all else replace(row, is_rare=False)
            for row in rows
            if row.group in groups or (self._is_all and row.value.where != "replay")
        ]
        if self._is_all:
            for topic, title in topics().items():  # and each of its sections, which its text finds
                about = ", ".join(filter(None, sections(topic)))
                for heading, text in sections(topic).items():
                    label, said = (f"{title}: {heading}", "") if heading else (title, about)
                    row = PickerRow((topic, heading), label, said, "To read", is_rare=bool(heading), other_words=text)
                    shown.append(row)
        self._rows.show_rows(shown)

    def action_help(self) -> None:
        self.dismiss(None)

    @on(FilteredList.Moved)
    def _show_keys_of_row(self) -> None:
        """Tell what Enter does with the row: nothing if its command needs another focus."""
        value = self._rows.row.value if self._rows.row is not None else None
        does = "{list_choose} run · " * bool(value.action) if isinstance(value, Command) else "{list_choose} read · "
        self.frame.foot.keys = self.KEYS.replace("{list_choose} run · ", does)

    @on(FilteredList.Chosen)
    def _do_row(self, message: FilteredList.Chosen) -> None:
        """Run the command, if it doesn't need another focus; open a topic above the help."""
        if not isinstance(message.row.value, Command):
            self.app.push_screen(TopicScreen(*message.row.value))
        elif message.row.value.action:
            self.dismiss(message.row.value.action)


TOGETHER: Final[Mapping[str, tuple[str, ...]]] = {
    "Next or previous field": ("next_field", "field_before"),
    "Revert the hunk or file; undo that": ("revert", "revert_file", "undo_revert"),
    "Go to the line's ends, or by a word": ("line_start", "line_end", "word_left", "word_right"),
    "Kill words or line ends": (
        *("kill_line_end", "kill_line_start"),
        *("kill_to_blank", "kill_word_left", "kill_word_right"),
    ),
    "Undo, redo, or yank what you killed": ("undo", "redo"),
    "Send it earlier or later": ("queue_earlier", "queue_later"),
    "Next or previous match": ("next_match", "previous_match"),
    "Move the tab up or down": ("sessions_up", "sessions_down"),
    "Yes or no": ("ask_yes", "ask_no"),
    "Next or previous event": ("replay_next", "replay_previous"),
    "Next or previous prompt": ("replay_prompt_below", "replay_prompt_above"),
    "Faster or slower": ("replay_faster", "replay_slower"),
    "To the beginning or the end": ("replay_start", "replay_end"),
    "Next or previous session": ("replay_next_session", "replay_previous_session"),
    "Next or previous change": ("next_change", "previous_change"),
    "Next or previous file": ("next_file", "previous_file"),
    "Select the line above or below, too": ("select_up", "select_down"),
    "Move, scroll, page, or go to an end": MOVING,
    "Go to the prompt above or below": ("prompt_above", "prompt_below"),
    "Go to another tab, also by its number": ("next_tab", "previous_tab", "go_to_tab"),
}
"""Commands that are one row in lists of keys, by its title."""
_ROW_OF: Final = {id_: (title, ids) for title, ids in TOGETHER.items() for id_ in ids}


def help_rows(
    keymap: Keymap, here: Sequence[Place] = (), *, is_narrow: bool = False, is_each: bool = False
) -> Iterator[PickerRow[Command]]:
    """A row for each command, under the headings of their places, the current ones first.

    Commands that differ only in a direction share a row, unless `is_each`, or the user can run them from here.

    What is nearer takes its keys from what is around it, whose commands without any other are left out.

    Besides the basic ones, those of the focused widget are common, except in the prompt, which has many. If there is
    little room, only the first key of a command is shown.
    """
    possible = [row for place in here for row in COMMANDS if row.where == place]
    takers = {key: row.where for row in reversed(possible) for key in keymap.keys[row.id]}
    nearest = [
        row
        for row in possible
        if row.has_priority or row.where in map(takers.get, keymap.keys[row.id]) or not keymap.keys[row.id]
    ]
    others = [row for place in PLACES if place not in here for row in BY_ID.values() if row.where == place]
    # The prompt's come first, where there is nothing nearer.
    others.sort(key=lambda row: (heading_of(row) != PLACES["prompt"], heading_of(row) != SEVERAL))
    shown: set[str] = set()
    for command in (*nearest, *others):
        place, group = command.where, PLACES[command.where] if command in nearest else heading_of(command)
        has_keys = keymap.keys[command.id] or command.fixed_characters or place in ("session", "app")
        if has_keys and command.id not in shown:
            title, ids = _ROW_OF.get(command.id, (command.title, (command.id,)))
            # On a question, the one before may be the conversation.
            if is_each or (here and (command.action or place in ("card", "question"))):
                title, ids = command.title, (command.id,)
            shown.update(ids)
            rows = (command,) if len(ids) == 1 else tuple(BY_ID[id_] for id_ in ids)
            has_few = is_narrow or len(ids) > 1
            keys = " ".join(filter(None, (_keys_shown(row, keymap, is_first=has_few) for row in rows)))
            usual = dict.fromkeys(_usual(row, keymap) for row in rows)
            slashes = ", ".join(f"/{each}" for each in command.slashes) + " in the prompt" * bool(command.slashes)
            about = "; ".join(filter(None, (command.help, slashes, *usual)))
            is_rare = not BASIC.intersection(ids) and (place not in here[:1] or place == "prompt")
            titles, names = " ".join(row.title for row in rows), " ".join(_names(row, keymap) for row in rows)
            yield PickerRow(rows[0], title, about, group, aside=keys, is_rare=is_rare, other_words=titles, names=names)


def _keys_shown(command: Command, keymap: Keymap, *, is_first: bool) -> str:
    first = keymap.shown(command.id) or command.fixed_characters
    return first if is_first and not command.is_numbered else keymap.all_shown(command.id)


def matching_rows(keymap: Keymap, query: str) -> Sequence[PickerRow[Command]]:
    """The rows that match, the best first, one for each command; for nothing the common rows, for a space all."""
    return matching(list(help_rows(keymap, is_each=bool(query.strip()))), query)


def _names(command: Command, keymap: Keymap) -> str:
    """Its name in the settings, its slash commands, and its keys as they are shown and as they are written."""
    keys = (name(key) for key in keymap.keys[command.id] for name in (shown_key, written_key))
    return " ".join((command.id, *command.slashes, command.aliases, *keys, command.fixed_characters))


def _usual(command: Command, keymap: Keymap) -> str:
    """The default keys, if they were changed."""
    usual = DEFAULT_KEYMAP.keys[command.id]
    return f"usually {' '.join(map(shown_key, usual)) or 'no key'}" if keymap.keys[command.id] != usual else ""


SUGGESTED: Final = "Suggested"
MAX_SUGGESTED: Final = 5


class CommandPicker(Picker[Command]):
    """Returns the command that the user chose, or None."""


def palette_rows(
    commands: Iterable[Command],
    keymap: Keymap,
    here: Sequence[Place],
    suggested: Sequence[str],
    *,
    is_narrow: bool = False,
) -> Iterator[PickerRow[Command]]:
    """A row for each command: those suggested first, as far as they are possible; then the current places first.

    `here` has the current places, from the focus outwards; `suggested` has commands' IDs, the best first.
    """
    known = {command.id: command for command in commands}
    places = [place for place in here if place != "app"]
    order = [*places, *(place for place in PLACES if place not in places)]
    by_place = sorted((one for one in known.values()), key=lambda one: order.index(one.where))
    first = [known[id_] for id_ in dict.fromkeys(suggested) if id_ in known][:MAX_SUGGESTED]
    for command in (*first, *(one for one in by_place if one not in first)):
        keys = keymap.shown(command.id) if is_narrow else keymap.all_shown(command.id)
        group = SUGGESTED if command in first else PLACES[command.where]
        is_common = not first or command in first or command.id in BASIC or command.where in here[:1]
        names = _names(command, keymap)
        yield PickerRow(command, command.title, command.help, group, aside=keys, is_rare=not is_common, names=names)


class Pickers:
    """Opens pickers over the app, and the keys of a dialog."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app

    def choose_command(
        self,
        commands: Callable[[], Iterable[Command]],
        keymap: Keymap,
        here: Sequence[Place],
        suggested: Sequence[str],
        run: Callable[[Command | None], Awaitable[None]],
    ) -> None:
        """Let the user choose a command, unless a picker is already open."""
        if not isinstance(self._app.screen, CommandPicker):
            is_narrow = self._app.size.width < NARROW_CELLS
            rows = palette_rows(commands(), keymap, here, suggested, is_narrow=is_narrow)
            self._app.push_screen(CommandPicker("Commands", list(rows)), run)

    async def choose_theme(
        self, names: Sequence[str], chosen: str, show: Callable[[str], None], words: str
    ) -> str | None:
        """The chosen theme, "" for the one that fits the terminal. `show` previews one. Await it in a worker."""
        if not any(words in name for name in names):
            self._app.notify(f"There is no theme {words!r}.", severity="warning", markup=False)
            words = ""
        return await self._app.push_screen_wait(ThemePicker(names, chosen, show, words))

    def show_keys(self, dialog: Screen[Any]) -> None:
        here = [place for place in places_of(dialog.focused or dialog) if place != "app"]
        self._app.push_screen(HelpScreen(here, is_all=False))


class TopicScreen(ReadingScreen):
    """A page, from its beginning or from a heading."""

    def __init__(self, topic: str, heading: str = "") -> None:
        _, _, text = for_terminals(topic).partition("\n")  # the frame has the title
        self._page, self._heading = MarkdownPage(text), heading
        super().__init__(topics()[topic], self._page)

    def on_mount(self) -> None:
        if self._heading:
            self.call_after_refresh(lambda: self._body.scroll_to(y=self._page.row_of(self._heading), animate=False))


class MarkdownPage(Widget):
    """Markdown, as high as its content."""

    DEFAULT_CSS = "MarkdownPage { height: auto; }"

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self._markdown = MarkdownRenderer(markdown)
        self._markdown.finish()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))

    def render_line(self, y: int) -> Strip:
        width = self.content_size.width
        lines, background = self._lines(width), self.visual_style.rich_style
        line = lines[y] if y < len(lines) else Strip.blank(width)
        return line.adjust_cell_length(width).apply_style(background)

    def row_of(self, heading: str) -> int:
        lines = (line.text.strip() for line in self._lines(self.content_size.width))
        return next((y for y, line in enumerate(lines) if line and heading.replace("`", "").startswith(line)), 0)

    def _lines(self, width: int) -> Rows:
        return self._markdown.lines(width, palette_for(self.app.current_theme))
