"""Completes paths after `@` and commands after `/` in a list above the prompt, and handles the keys of an open list."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from anyio import to_thread
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Offset
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.client.attachments.attach import mentions, missing_in
from acp_tui.client.completion import workspace_files
from acp_tui.client.completion.matching import Match, PartialMention, being_written, fit, mention_of
from acp_tui.client.prompts.templates import Template, templates
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import ToolCallEntry
from acp_tui.conversation.facts import ConfigOption, OfferedCommand, SelectOption
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.commands.table import COMMANDS, OURS
from acp_tui.ui.kit.notice_lines import is_asked_on
from acp_tui.ui.kit.row_list import GAP, NO_ROW, PickerRow, RowList
from acp_tui.ui.kit.themes import THEME_NAMES
from acp_tui.ui.prompt.input import PromptInput
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import cut, cut_at_word, width_cells
from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A row of the list. Its texts may come from an agent or the disk."""

    label: str
    written: str
    """The text that replaces what is being written."""
    further: str = ""
    """The text that Tab inserts instead, to continue from there: an open folder."""
    is_run: bool = False
    """Whether Enter runs it instead of inserting it: a command that needs nothing after its name."""
    places: tuple[int, ...] = ()
    """The letters of the label that were typed."""
    name_at: int = 0
    """Where in the label the name begins, after its path."""
    description: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class InfoRow:
    """A row with information that can't be chosen."""

    text: str
    aside: str = ""
    """Shown at the end of the row."""


MIN_ROWS: Final = 8
"""If there is room. On a high screen, the list takes half of it."""
FRAME_ROWS: Final = 2
LOW: Final = 5
"""With fewer rows above the prompt, the list has no frame."""
MIN_DESCRIPTION_CELLS: Final = 16
MAX_MEASURED: Final = 100


class SuggestionList(RowList):
    """Rows above the prompt, with the typed letters marked."""

    DEFAULT_CSS = """
    SuggestionList { constrain: inside inside; display: none; width: 100%; }
    SuggestionList.-over { overlay: screen; width: 100vw; }
    """

    heading_indent = 1
    """The same as for rows."""

    def __init__(self, choose: Callable[[], None]) -> None:
        """`choose` is called after a click has moved the cursor to a row."""
        super().__init__(most_rows=MAX_MEASURED)
        self._choose = choose
        self._label_cells = 0
        """The width of the labels, so that descriptions start in one column."""

    @property
    def suggestion(self) -> Suggestion | None:
        row = self.row
        return row.value if row is not None and isinstance(row.value, Suggestion) else None

    def open(self, rows: Sequence[Suggestion | InfoRow], room: int) -> None:
        """Show the rows in the `room` rows above. The cursor is on the first row that can be chosen."""
        described = (row for row in rows[:MAX_MEASURED] if isinstance(row, Suggestion) and row.description)
        self._label_cells = max(map(width_cells, map(_text, described)), default=0)
        has_frame = room >= LOW
        self.set_class(not has_frame, "-bare")
        shown = [PickerRow(row, _text(row), group=row.group if isinstance(row, Suggestion) else "") for row in rows]
        self.show(shown, 0 if isinstance(rows[0], Suggestion) else NO_ROW)
        lines = min(len(self._lines), max(MIN_ROWS, room // 2), max(room - FRAME_ROWS * has_frame, 1))
        height = lines + FRAME_ROWS * has_frame
        self.styles.height = height
        # Never cover a question from the agent: that moves up instead.
        is_asked = is_asked_on(self.screen)
        self.set_class(not is_asked, "-over")
        self.styles.offset = Offset(0, 0) if is_asked else Offset(-1, -height)  # what is below must not show beside it
        self.go_to_line(0)
        self.display = True

    def on_click(self, event: events.Click) -> None:
        """Choose the clicked row. Clicks on the frame and on headings do nothing."""
        event.prevent_default()
        index = self.row_at(event)
        if index is not None:
            self.move_to(index)
            self._choose()

    def _reveal(self) -> None:
        if self.scrollable_content_region.height:
            super()._reveal()

    # Drawing

    def _row_segments(self, index: int, width: int, palette: Palette) -> list[Segment]:
        value: Suggestion | InfoRow = self.rows[index].value
        room = width - 1
        if isinstance(value, InfoRow):
            aside = make_visible_line(value.aside)
            text = cut(_text(value), max(room - width_cells(aside), 2))
            gap = " " * (room - width_cells(text) - width_cells(aside))
            return [Segment(f" {text}{gap}{aside}", palette.muted)]
        label_cells, about = min(self._label_cells, room // 2), ""
        about_cells = room - label_cells - len(GAP)
        if value.description and about_cells >= MIN_DESCRIPTION_CELLS:
            gap = " " * max(label_cells - width_cells(_text(value)), 0) + GAP
            about = gap + cut_at_word(make_visible_line(value.description), about_cells)
        segments = [*_label(value, palette, is_at_cursor=index == self.cursor)]
        label = _fitted(segments, label_cells if about else room, keeps_end=bool(value.name_at))
        return [Segment(" "), *label, Segment(about, palette.muted)]


def _text(value: Suggestion | InfoRow) -> str:
    return make_visible_line(value.label if isinstance(value, Suggestion) else value.text)


def _label(value: Suggestion, palette: Palette, *, is_at_cursor: bool) -> Iterator[Segment]:
    """The label in segments of one style each: path, name, and in both the typed letters."""
    places = frozenset(value.places)
    kinds = [(at >= value.name_at, at in places) for at in range(len(value.label))]
    start = 0
    for at in range(1, len(kinds) + 1):
        if at == len(kinds) or kinds[at] != kinds[start]:
            is_name, is_typed = kinds[start]
            style = palette.text + Style(bold=is_at_cursor) if is_name else palette.muted
            typed = palette.accent + palette.match
            yield Segment(make_visible_line(value.label[start:at]), style + typed if is_typed else style)
            start = at


def _fitted(segments: list[Segment], room: int, *, keeps_end: bool) -> list[Segment]:
    """Cut to `room` cells. A path keeps its end, which has the name."""
    strip = Strip(segments)
    cells = strip.cell_length
    if cells <= room:
        return segments
    mark = Segment("…")
    if keeps_end:
        return [mark, *strip.crop(cells - room + 1, cells)]
    return [*strip.crop(0, room - 1), mark]


PEEKED_LINES: Final = 6
MAX_RECENT: Final = 8
LOOKED_BACK: Final = 200
"""The number of conversation entries to search for files."""
READING: Final = InfoRow("Finding files …")
NONE_FOUND: Final = InfoRow("No file matches, so this is sent as text")

Row: TypeAlias = Suggestion | InfoRow


async def rows_for(
    writing: PartialMention, files: workspace_files.WorkspaceFiles, recent: Sequence[str], is_stale: Callable[[], bool]
) -> list[Row]:
    """What to suggest for a mention being written. May take a while; it gives up when `is_stale()`."""

    def look() -> list[Row]:
        if writing.lines is not None:
            return _lines_of(files.root, writing, writing.lines)
        return list(_suggestions(files.find(writing.path, recent, is_stale)))

    rows = await to_thread.run_sync(look, abandon_on_cancel=True)
    if rows or writing.lines is not None or workspace_files.is_written_out(writing.path):
        return rows
    return [NONE_FOUND if files.is_read else READING]


def _suggestions(found: Iterable[Match]) -> Iterator[Suggestion]:
    """Suggest only what a prompt can contain so that it's read back as the same path."""
    for match in found:
        written = mention_of(match.text)
        if written is None:
            continue
        further = mention_of(match.text, is_open=True) if match.text.endswith("/") else None
        name_at = match.text.rfind("/", 0, -1) + 1
        yield Suggestion(match.text, f"{written} ", further or "", places=match.places, name_at=name_at)


def _lines_of(root: Path, writing: PartialMention, lines: str) -> list[Row]:
    """The number of lines in the file, and a preview of the lines being mentioned."""
    try:
        path = Path(writing.path).expanduser() if writing.path.startswith("~/") else root / writing.path
    except RuntimeError:  # there is no home folder
        return []
    seen = workspace_files.peek(path, lines, PEEKED_LINES)
    if seen is None:
        return []
    count = f"{seen.count:,}{' or more' * seen.is_cut} line{'s' * (seen.count != 1)}"
    width = len(str(seen.lines[-1][0])) if seen.lines else 0
    numbered = (InfoRow(f"{number:>{width}} │ {text.expandtabs(4)}") for number, text in seen.lines)
    return [InfoRow(writing.path, count), *numbered]


def recent_paths(conversation: Conversation, root: Path) -> list[str]:
    """The files that the agent used most recently, relative to `root`, latest first."""
    found: dict[str, None] = {}
    for entry in reversed(conversation.entries[-LOOKED_BACK:]):
        locations = entry.call.locations if isinstance(entry, ToolCallEntry) else ()
        for path in (location.path for location in reversed(locations)):
            found.setdefault(path.removeprefix(f"{root}/"))
        if len(found) >= MAX_RECENT:
            break
    return list(found)[:MAX_RECENT]


OWN_GROUP: Final = "acp-tui"
TEMPLATES: Final = "Prompt templates"
MAX_NAME: Final = 100
MAX_DESCRIPTION: Final = 400
"""The characters of a description to search: an agent once sent half a megabyte of them."""
_BY_DESCRIPTION: Final = -1000
"""Commands that match only by description come after those that match by name."""
_EXACT: Final = 1000
"""Those whose whole name is written come first."""


@dataclass(frozen=True, slots=True)
class _Known:
    name: str
    suggestion: Suggestion
    about: str
    """Its description in lowercase, with a space before each word."""
    hint: str
    aliases: str = ""
    """Other names for it, separated by spaces."""


class Commands:
    """The commands of one agent, the user's templates, and acp-tui's commands. Recreated when any of them changes."""

    def __init__(
        self,
        of_agent: Sequence[OfferedCommand],
        agent_title: str,
        templates: Mapping[str, Template] | None = None,
        options: Sequence[ConfigOption] = (),
    ) -> None:
        self._agent_title = agent_title or "the agent"
        theirs = [_theirs(command, agent_title or "The agent") for command in of_agent if _is_writable(command)]
        taken = {known.name for known in theirs}
        offered = [one.offered for name, one in (templates or {}).items() if name not in taken]
        yours = [_theirs(one, TEMPLATES) for one in offered if _is_writable(one)]
        self._known = [*theirs, *yours, *_ours(taken | {known.name for known in yours})]
        self._prefixed = list(_ours(None))
        self._by_name = {known.name: known for known in (*self._prefixed, *reversed(self._known))}
        self._values = [value for known in self._by_name.values() for value in _values(known, options)]

    def hint(self, draft: str) -> str:
        """What may follow if the draft is a command's name and a space; "" otherwise."""
        return next((known.hint for name, known in self._by_name.items() if draft == f"/{name} "), "")

    def unknown(self, name: str) -> str:
        """Return what to say of a command that no one has; "" if someone has it."""
        if name in self._by_name:
            return ""
        near = "".join(f" Did you mean /{each}?" for each in get_close_matches(name, self._by_name, n=1))
        return f"Neither {self._agent_title} nor acp-tui has /{name}.{near} Enter sends it as it is."

    def find(self, query: str) -> list[Suggestion]:
        """Matches by name; if there are none, by letters in order and by description. The best group comes first."""
        values = (each for each in self._values if each.name.startswith(f"{query.partition(' ')[0]} "))
        known = [*values] if " " in query else self._prefixed if query.startswith(OURS) else self._known
        named = [each for each in known if query.lower() in each.name.lower() or query in each.aliases.split()]
        scored = [found for command in named or known if (found := _scored(command, query)) is not None]
        groups = [suggestion.group for _, suggestion in scored]
        best = {group: max(score for score, each in scored if each.group == group) for group in groups}
        order = {group: at for at, group in enumerate(dict.fromkeys(groups))}
        scored.sort(key=lambda found: (-best[found[1].group], order[found[1].group], -found[0]))
        return [suggestion for _, suggestion in scored]


def _scored(known: _Known, query: str) -> tuple[int, Suggestion] | None:
    if not query:
        return 0, known.suggestion
    is_exact = query == known.name or query in known.aliases.split()
    match = fit(query, known.name)
    if match is not None:
        places = tuple(at + 1 for at in match.places)  # after the slash
        return match.score + _EXACT * is_exact, replace(known.suggestion, places=places)
    if is_exact:
        return _EXACT, known.suggestion
    has_word = f" {query.lower()}" in known.about
    return (_BY_DESCRIPTION, known.suggestion) if has_word else None


def _is_writable(command: OfferedCommand) -> bool:
    """Whether the name is a single printable word."""
    name = command.name.removeprefix("/")
    return len(name) <= MAX_NAME and name.isprintable() and len(name.split()) == 1


def _theirs(command: OfferedCommand, group: str) -> _Known:
    return _known(command.name.removeprefix("/"), command.description, group, (command.hint or "").strip())


def _ours(taken: set[str] | None) -> Iterator[_Known]:
    """Our commands; with a prefix if the agent has one of the same name. None: all with the prefix."""
    for command in COMMANDS:
        for slash, title in command.slashes.items() if command.action else ():
            name = f"{OURS}{slash}" if taken is None or slash in taken else slash
            aliases = command.aliases if slash == command.slash else ""
            yield _known(name, title, OWN_GROUP, command.slash_argument(slash), aliases)


def _values(command: _Known, options: Sequence[ConfigOption]) -> Iterator[_Known]:
    """One of our commands with each value that it takes, if they are known. Before one is written, it comes first."""
    name = command.name.removeprefix(OURS) if command.suggestion.group == OWN_GROUP else ""
    values = [(theme, "") for theme in sorted(THEME_NAMES) if name == "theme"]
    for option in options if name in ("mode", "model") else ():
        if isinstance(option, SelectOption) and name in (option.category, option.option_id):
            for choice in option.choices:
                about = " · ".join(filter(None, (option.caution(choice), choice.name, choice.description)))
                values.append((choice.name if "://" in choice.value else choice.value, about))
    yield from [replace(command, name=f"{command.name} ")] * bool(values)
    for value, about in values:
        yield _known(f"{command.name} {value}", about, OWN_GROUP, "")


def _known(name: str, description: str, group: str, hint: str, aliases: str = "") -> _Known:
    about = " ".join(description[:MAX_DESCRIPTION].split())
    is_run = not hint or _OPTIONAL.search(hint) is not None
    suggestion = Suggestion(f"/{name}", f"/{name} ", is_run=is_run, description=about, group=group)
    return _Known(name, suggestion, f" {about.lower()} {aliases}", hint, aliases)


_OPTIONAL: Final = re.compile(r"\A\[[^]]*\]\Z|\boptional", re.IGNORECASE)
"""What hints say if nothing has to follow: agents have no other way to tell."""
TYPING_KEYS: Final = frozenset({"backspace", "delete", "ctrl+h"})
"""In addition to keys that insert a character."""
CLOSING: Final = frozenset(" \t.,;:!?)]}>'\"")
"""No space is inserted before these."""
JOINING: Final = frozenset(" .,;:!?)]}")
"""These take the place of the space after a path: lines of it, the rest of the sentence, or a typed space."""


@dataclass(frozen=True, slots=True)
class CompletionContext:
    cwd: Path
    conversation: Conversation | None = None
    agent_title: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    """A part of a line in the draft that can be completed."""

    row: int
    start: int
    stop: int
    mention: PartialMention | None
    """None for a command's name."""
    command: str = ""
    """The part of the name written so far."""


class Completion:
    """Completes one prompt. The list is mounted when it's first needed."""

    def __init__(self, prompt: PromptInput, context: Callable[[], CompletionContext]) -> None:
        self._prompt = prompt
        self._context = context
        self._list = SuggestionList(self._choose_clicked)
        self._files: workspace_files.WorkspaceFiles | None = None
        self._is_reading = False
        self._commands: tuple[tuple[object, ...], Commands] | None = None
        """What they were made of, and they."""
        self.templates: Mapping[str, Template] = {}
        """As they were when a slash command was last begun."""
        self._is_typed = False
        """The last key typed something. Recalled or pasted text opens no list."""
        self._left_alone: tuple[int, int] | None = None
        """Where the mention begins for which the user closed the list."""
        self._place: _Place | None = None
        """The place to suggest something for."""
        self._shown: _Place | None = None
        """The place that the list's suggestions are for."""
        self._delayed: events.Key | None = None
        """Enter or Tab, pressed before the suggestions for the typed text were ready."""
        self._ghost = ""
        self._end: tuple[int, int] | None = None
        """Where the cursor was after a path and a space were written, until the next key."""
        self._mentioned: list[str] = []
        """What was looked for on the disk, as it's written."""

    @property
    def is_open(self) -> bool:
        return self._list.display and self._list.is_attached

    # Keys

    def takes_key(self, event: events.Key) -> bool:
        """Handle the list's keys while it's open."""
        end, self._end = self._end, None
        if end == self._prompt.cursor_location and event.character in JOINING:
            self._prompt.action_delete_left()
        self._is_typed = event.is_printable or event.key in TYPING_KEYS
        if not self.is_open:
            # Textual would insert the hint into the draft.
            return bool(self._ghost) and event.key in ("right", "ctrl+f")
        match event.key:
            case "up" | "down" | "pageup" | "pagedown" if self._list.suggestion is None:
                return False
            case "up" | "down":
                self._list.move(1 if event.key == "down" else -1)
            case "pageup" | "pagedown":
                self._list.move_page(1 if event.key == "pagedown" else -1)
            case "enter" | "tab":
                return self._take(event)
            case "escape":
                self._left_alone = self._beginning
                self.close()
            case _:
                return False
        return True

    def _take(self, event: events.Key) -> bool:
        """Insert the suggestion, with the space after it. Enter isn't handled if only that is missing: it sends."""
        self.draft_changed()  # keys may arrive before the message that the draft has changed
        if self._place is None:  # which has closed the list
            return event.key == "tab"
        if self._shown != self._place:
            self._delayed = event
            return True
        suggestion, line = self._list.suggestion, self._prompt.document.get_line(self._place.row)
        is_tab = event.key == "tab"
        is_written = suggestion is not None and line[self._place.start :] == suggestion.written.rstrip()
        if suggestion is None or (is_written and not is_tab):
            self._left_alone = self._beginning
            self.close()
            return is_tab
        self._write(suggestion, goes_further=is_tab)
        return True

    def _choose_clicked(self) -> None:
        if self._list.suggestion is not None and self._place is not None:
            self._write(self._list.suggestion)

    def _write(self, suggestion: Suggestion, *, goes_further: bool = False) -> None:
        place = self._place
        assert place is not None
        line = self._prompt.document.get_line(place.row)
        # Before there is a session, the agent may have a command that was meant instead.
        may_run = suggestion.is_run and not goes_further and self._context().conversation is not None
        if may_run and self._prompt.text == line[place.start : place.stop]:
            self.close()
            self._prompt.set_draft(suggestion.written.rstrip())
            self._prompt.action_send()
            return
        text = suggestion.further if goes_further and suggestion.further else suggestion.written
        self._is_typed = goes_further  # whose list opens: what is in the folder, or the command's values
        following = line[place.stop :]
        if following[:1] in CLOSING and following:
            text = text.rstrip(" ")
        self.close()
        self._prompt.replace(text, (place.row, place.start), (place.row, place.stop), maintain_selection_offset=False)
        if text.endswith(" ") and place.mention is not None:
            self._end = self._prompt.cursor_location

    # What is being written

    def draft_changed(self) -> None:
        """Look for suggestions if the text at the cursor can have any; otherwise close the list."""
        self._show_hint()
        text = self._prompt.text
        mentioned = [text[mention.start : mention.stop] for mention in mentions(text)]
        if mentioned != self._mentioned:
            self._mentioned = mentioned
            self._run(partial(self._look_at_mentions, text), "completion-mentions")
        place = self._find_place()
        if place is None:
            self._left_alone = None
            self.close()
        elif place != self._place and (
            self.is_open or (self._is_typed and self._left_alone != (place.row, place.start))
        ):
            self._suggest_at(place)

    async def _look_at_mentions(self, text: str) -> None:
        look = partial(missing_in, text, self._context().cwd)
        missing = await to_thread.run_sync(look, abandon_on_cancel=True)
        if missing != self._prompt.missing:
            self._prompt.missing = missing
            self._prompt.notify_style_update()  # it keeps drawn lines

    def _find_place(self) -> _Place | None:
        prompt = self._prompt
        first = prompt.document.get_line(0)
        if first.startswith("!") or not prompt.selection.is_empty or not prompt.has_focus:
            return None
        row, column = prompt.cursor_location
        if row == 0 and column and first.startswith("/") and not prompt.asks_why:
            name = first[1:column]
            if not any(map(str.isspace, name)) or self._known_commands(self._context()).find(name):
                rest = first[column:].split(maxsplit=1)
                stop = column + (len(rest[0]) if rest and not first[column].isspace() else 0)
                return _Place(0, 0, stop, None, name)
        line = first if row == 0 else prompt.document.get_line(row)
        mention = being_written(line, column)
        return _Place(row, mention.start, mention.stop, mention) if mention is not None else None

    @property
    def _beginning(self) -> tuple[int, int] | None:
        return (self._place.row, self._place.start) if self._place is not None else None

    # Suggestions

    def _suggest_at(self, place: _Place) -> None:
        self._place = place
        context = self._context()
        if place.mention is None:
            self._show(place, self._known_commands(context).find(place.command))
            if not place.command:
                self._run(partial(self.read_templates, place), "completion-templates")
            return
        if self._files is None or self._files.root != context.cwd:
            self._files = workspace_files.WorkspaceFiles(context.cwd)
        files = self._files
        if files.is_old and not self._is_reading:
            self._run(partial(self._read, files), "completion-reading")
        self._run(partial(self._look_for_files, place, place.mention, files, context), "completion")

    def _run(self, work: Callable[[], Awaitable[None]], group: str) -> None:
        """Run this instead of earlier work in the same group."""
        self._prompt.run_worker(work, group=group, exclusive=True)

    async def _look_for_files(
        self, place: _Place, mention: PartialMention, files: workspace_files.WorkspaceFiles, context: CompletionContext
    ) -> None:
        conversation = context.conversation
        recent = recent_paths(conversation, files.root) if conversation is not None and not mention.path else ()
        rows = await rows_for(mention, files, recent, lambda: self._place is not place)
        if self._place is place:
            self._show(place, rows)

    async def _read(self, files: workspace_files.WorkspaceFiles) -> None:
        """Read the files. If they or the workspace changed, search again for an open list."""
        self._is_reading = True
        try:
            is_other = await files.read()
        finally:
            self._is_reading = False
        place = self._place
        if (is_other or files is not self._files) and place is not None and place.mention is not None:
            self._suggest_at(replace(place))  # an equal but new object, so that the work begun for the old one is stale

    async def read_templates(self, place: _Place | None = None) -> None:
        """Read the templates anew. If they changed, search again for an open list."""
        found = await to_thread.run_sync(templates, self._context().cwd)
        if found != self.templates:
            self.templates = found
            if place is not None and self._place is not None and self._place.mention is None:
                self._suggest_at(self._place)

    def unknown(self, prompt: str) -> str:
        """What to say of a prompt that begins with a command that neither the agent nor acp-tui has; "" for others."""
        name = workspace_files.command_named_in(prompt)
        return self._known_commands(self._context()).unknown(name) if name else ""

    def _known_commands(self, context: CompletionContext) -> Commands:
        conversation = context.conversation
        of_agent = conversation.commands if conversation is not None else ()
        options = conversation.options if conversation is not None else ()
        made_of = of_agent, context.agent_title, self.templates, options
        if self._commands is None or self._commands[0] != made_of:
            self._commands = made_of, Commands(*made_of)
        return self._commands[1]

    # The list

    def _show(self, place: _Place, rows: Sequence[Suggestion | InfoRow]) -> None:
        room = self._prompt.region.y
        if not rows or room < 1:
            self._list.display = False
        else:
            if self._list.parent is None:
                frame = self._prompt.parent
                assert isinstance(frame, Widget)
                frame.mount(self._list, before=self._prompt)
                self._prompt.watch(self._prompt, "has_focus", self._focus_changed, init=False)
            self._list.open(rows, room)
        self._shown = place
        delayed, self._delayed = self._delayed, None
        if delayed is not None:
            self._prompt.post_message(events.Key(delayed.key, delayed.character))

    def _focus_changed(self, has_focus: bool) -> None:
        if not has_focus:
            self.close()

    def close(self) -> None:
        self._place = self._shown = self._delayed = None
        self._list.display = False

    def _show_hint(self) -> None:
        """Show what may follow a command's name, until something does."""
        document = self._prompt.document
        line = document.get_line(0) if document.line_count == 1 else ""
        hint = ""
        if line.startswith("/") and line.endswith(" ") and self._prompt.cursor_location == (0, len(line)):
            hint = make_visible_line(self._known_commands(self._context()).hint(line))
        if hint or self._ghost:
            self._ghost = self._prompt.suggestion = hint
