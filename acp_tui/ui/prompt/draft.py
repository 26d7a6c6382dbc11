"""The draft's editor: colors, readline's keys, and long pastes folded into placeholders."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

from rich.text import Text
from textual import events
from textual.geometry import Offset
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import Document, Edit, EditResult, Location, Selection

from acp_tui.conversation.content import paste_label
from acp_tui.conversation.visible import make_visible
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.kit.themes import palette_for

MAX_LINES: Final = 10
MAX_CHARACTERS: Final = 1_000
"""Longer pastes are shown as placeholders."""
MAX_KNOWN: Final = 50
"""Pastes that are folded in earlier prompts, too."""
MAX_OPEN_CHARACTERS: Final = 200_000
MAX_OPEN_LINE: Final = 20_000
"""A text or line longer than this is never unfolded: each key in it would be noticeably slow."""
MAX_UNDONE: Final = 1_000
"""Steps of undo. What is written in one go may be several."""
_SPACES: Final = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")


class Chip(NamedTuple):
    """A placeholder in a line of the draft."""

    start: int
    stop: int
    placeholder: str


class Pastes:
    """The texts that the placeholders of one draft stand for. An unknown placeholder is just text."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._known: dict[str, None] = {}
        """Those of earlier drafts, too, the latest last."""
        self._any: re.Pattern[str] | None = None

    def keep(self, text: str) -> str:
        """The placeholder for this text. It keeps its number: the same text has the same one."""
        self.know(text)
        for placeholder, kept in self._texts.items():
            if kept == text:
                return placeholder
        placeholder = f"[{paste_label(text)} #{len(self._texts) + 1}]"
        self._texts[placeholder] = text
        self._any = re.compile("|".join(map(re.escape, self._texts)))
        return placeholder

    def know(self, text: str) -> None:
        """Fold this text wherever it is from now on."""
        self._known.pop(text, None)
        self._known[text] = None
        while len(self._known) > MAX_KNOWN:
            del self._known[next(iter(self._known))]

    def within(self, text: str) -> list[str]:
        """Which of the known pastes are in this text, in their order there. None is within another."""
        found: list[tuple[int, int]] = []
        for whole in sorted(self._known, key=len, reverse=True):
            start = text.find(whole)
            if start >= 0 and all(start >= stop or start + len(whole) <= begin for begin, stop in found):
                found.append((start, start + len(whole)))
        return [text[start:stop] for start, stop in sorted(found)]

    def forget(self) -> None:
        self._texts.clear()
        self._any = None

    def text_of(self, chip: Chip) -> str:
        return self._texts[chip.placeholder]

    def chips(self, line: str) -> Iterator[Chip]:
        if self._any is not None:
            for found in self._any.finditer(line):
                yield Chip(*found.span(), found[0])

    def expand(self, text: str) -> str:
        """Replace each placeholder with its text. Placeholders within that text stay as they are."""
        return text if self._any is None else self._any.sub(lambda found: self._texts[found[0]], text)

    def fold(self, text: str) -> str:
        """Replace known pastes with their placeholders. The reverse of `expand`."""
        for whole in self.within(text):
            self.keep(whole)
        for placeholder, whole in sorted(self._texts.items(), key=lambda kept: len(kept[1]), reverse=True):
            text = text.replace(whole, placeholder)
        return text if can_be_open(text) else self.keep(self.expand(text))

    def place_in(self, folded: str, at: int) -> int:
        """Where in `folded` is what is at this offset of its whole text. What is within a paste is behind it."""
        for chip in self.chips(folded):
            if at > chip.start:
                at = max(at - len(self.text_of(chip)) + len(chip.placeholder), chip.stop)
        return at


def is_long(text: str) -> bool:
    return len(text) > MAX_CHARACTERS or text.rstrip("\n").count("\n") >= MAX_LINES


def can_be_open(text: str) -> bool:
    return len(text) <= MAX_OPEN_CHARACTERS and all(len(line) <= MAX_OPEN_LINE for line in text.split("\n"))


def cleaned(text: str) -> str:
    """Return text that a draft may contain: line feeds at line ends, and control and hidden characters made visible.

    So the agent gets what the user sees. Spaces that only look different become plain ones.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return make_visible(text if text.isascii() else _SPACES.sub(" ", text))


class Killed:
    """The last killed text. Consecutive kills add up to one text."""

    def __init__(self) -> None:
        self.text = ""
        self._state: object = None

    def add(self, text: str, *, is_before: bool, state: object, state_after: object) -> None:
        """Add text killed before or after the cursor. The states tell whether anything happened since the last kill."""
        if self._state is None or state != self._state:
            self.text = text
        else:
            self.text = text + self.text if is_before else self.text + text
        self._state = state_after


_WORD: Final = re.compile(r"\W*\w*")
_BLANKS: Final = re.compile(r"\s*\S*")


class DraftArea(TextArea):
    """A text area that may contain placeholders. `text` is what is on the screen, `draft` is what it stands for."""

    def __init__(self, *, id: str | None = None, placeholder: str = "") -> None:  # noqa: A002 - Textual's own name for it
        self._text: str | None = None
        """The whole text until it changes. Joining a long one for each row would be noticeably slow."""
        self._edits = 0
        self._places = LineKinds()
        self.missing: frozenset[str] = frozenset()
        """The mentions that name no file, so that they are just text."""
        self._pastes = Pastes()
        self._killed = Killed()
        super().__init__(id=id, highlight_cursor_line=False, max_checkpoints=MAX_UNDONE, placeholder=placeholder)
        self.match_cursor_bracket = False  # it reads the whole draft for each key

    # The text, and what it stands for

    @property
    def text(self) -> str:
        """The text on the screen, with placeholders."""
        if self._text is None:
            self._text = self.document.text
        return self._text

    @text.setter
    def text(self, value: str) -> None:
        self.load_text(cleaned(value))

    @property
    def draft(self) -> str:
        """Everything written and pasted."""
        return self._pastes.expand(self.text)

    def set_draft(self, text: str) -> None:
        """Start over with `text` and the cursor after it. There is nothing to undo."""
        self.load_text(self._pastes.fold(cleaned(text)))
        self.move_cursor(self.document.end)

    def replace_draft(self, text: str) -> None:
        """Replace the draft. This can be undone."""
        folded = self._pastes.fold(cleaned(text))
        if folded != self.text:
            self.replace(folded, self.document.start, self.document.end, maintain_selection_offset=False)

    @property
    def selected_text(self) -> str:
        return self._pastes.expand(super().selected_text)

    def update_suggestion(self) -> None:
        """Note a change of the text: Textual asks for a suggestion after each one."""
        self._text = None
        self._edits += 1

    # Drawing

    def render_line(self, y: int) -> Strip:
        """Return a row. Textual 8.2.8 can't wrap the placeholder if the width is 0."""
        return super().render_line(y) if self.content_size.width else Strip.blank(self.size.width)

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        palette = palette_for(self.app.current_theme)
        place = self._places.place(self.document.lines, line_index)
        if place is not None:
            for start, stop, style in spans(line.plain, place):
                if line.plain[start:stop] not in self.missing:
                    line.stylize(getattr(palette, style), start, stop)
        for chip in self._pastes.chips(line.plain):
            line.stylize(palette.user + palette.accent, chip.start, chip.stop)
        return line

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Scroll to the cursor. During an undo, Textual 8.2.8 asks while it may still be below the last line."""
        if self.cursor_location[0] < self.document.line_count:
            return super().scroll_cursor_visible(center, animate)
        return Offset()

    # Editing

    def edit(self, edit: Edit) -> EditResult:
        """Apply an edit to whole placeholders. Only displayable text gets into the draft."""
        if edit.text != "\n" and not edit.text.isprintable():
            edit.text = cleaned(edit.text)
        edit.from_location, edit.to_location = self._with_whole_chips(edit.top, edit.bottom)
        self._places.edited(edit.from_location[0])
        return super().edit(edit)

    def _with_whole_chips(self, top: Location, bottom: Location) -> tuple[Location, Location]:
        first, last = self._chip_around(top), self._chip_around(bottom)
        if first is not None:
            top = (top[0], first.stop if top == bottom else first.start)
        if last is not None:
            bottom = (bottom[0], last.stop)
        return top, bottom

    def load_text(self, text: str) -> None:
        self._text = None
        self._places.edited(0)
        super().load_text(text)

    def undo(self) -> None:
        self._places.edited(0)
        super().undo()

    def redo(self) -> None:
        self._places.edited(0)
        super().redo()

    # Placeholders as units

    def validate_selection(self, selection: Selection) -> Selection:
        """Keep the cursor out of placeholders: it jumps across them in its direction."""
        return Selection(self._beside_chip(selection.start), self._beside_chip(selection.end))

    def _beside_chip(self, location: Location) -> Location:
        chip = self._chip_around(location)
        if chip is None:
            return location
        row, column = location
        before = self.selection.end
        if before == (row, chip.start):
            return row, chip.stop
        is_nearer_to_start = column - chip.start <= chip.stop - column
        return row, chip.start if before == (row, chip.stop) or is_nearer_to_start else chip.stop

    def _chip_around(self, location: Location) -> Chip | None:
        """The placeholder that contains a location. A location next to it doesn't count."""
        row, column = location
        return next((chip for chip in self._chips(row) if chip.start < column < chip.stop), None)

    def _chips(self, row: int) -> list[Chip]:
        return list(self._pastes.chips(self.document[row])) if row < self.document.line_count else []

    def action_open_paste(self) -> None:
        """Unfold the paste next to the cursor, or the only one in the draft. If none is folded, fold all of them."""
        here = self.cursor_location
        pastes = [(row, chip) for row in range(self.document.line_count) for chip in self._chips(row)]
        beside = [(row, chip) for row, chip in pastes if here in ((row, chip.start), (row, chip.stop))]
        if beside or len(pastes) == 1:
            self._open(*(beside or pastes)[-1])
        elif pastes:
            self.notify("Move the cursor next to the paste you want to unfold.")
        elif (folded := self._pastes.fold(self.text)) != self.text:
            self._show_instead(folded, (0, 0), self.document.end, lambda at: self._pastes.place_in(folded, at))

    def on_click(self, event: events.Click) -> None:
        row, column = self.get_target_document_location(event)
        chip = next((chip for chip in self._chips(row) if chip.start <= column < chip.stop), None)
        if chip is not None and self.selection.is_empty:
            self._open(row, chip)

    def _open(self, row: int, chip: Chip) -> None:
        text = self._pastes.text_of(chip)
        if can_be_open(text):
            start, longer = len(self.get_text_range((0, 0), (row, chip.start))), len(text) - len(chip.placeholder)
            self._show_instead(text, (row, chip.start), (row, chip.stop), lambda at: at + longer * (at > start))
        else:
            hint = keys_in_force(self).hint
            self.notify(hint("This paste is too long to show here. {edit_draft} opens it in your editor."))

    def _show_instead(self, text: str, start: Location, stop: Location, moved: Callable[[int], int]) -> None:
        """Fold or unfold. The selection stays where it is in the text: `moved` gives its new offsets."""
        assert isinstance(self.document, Document)
        ends = [moved(self.document.get_index_from_location(end)) for end in self.selection]
        self.replace(text, start, stop, maintain_selection_offset=False)
        self.selection = Selection(*map(self.document.get_location_from_index, ends))
        self.record_cursor_width()

    def insert_paste(self, text: str) -> None:
        """Replace the selection with a paste, folded if long, in one undo step."""
        text = cleaned(text)
        pasted = self._pastes.keep(text) if is_long(text) else text
        self.replace(pasted, *self.selection, maintain_selection_offset=False)

    def written_between(self, start: Location, stop: Location) -> str:
        """What the text between two places stands for."""
        return self._pastes.expand(self.get_text_range(*self._with_whole_chips(start, stop)))

    def pasted_in(self, text: str) -> list[str]:
        """The long pastes in a text that was written here, in their order."""
        return self._pastes.within(text)

    def know_pastes(self, texts: Iterable[str]) -> None:
        """Fold these wherever they are in the draft."""
        for text in texts:
            self._pastes.know(cleaned(text))

    def put(self, text: str, start: Location, stop: Location) -> None:
        """Replace the text between two places. Text that is a paste of this draft is folded as before."""
        self.replace(self._pastes.fold(text) if text else "", start, stop, maintain_selection_offset=False)

    # Keys

    def action_newline(self) -> None:
        self.replace("\n", *self.selection, maintain_selection_offset=False)

    def action_line_start(self) -> None:
        """Move to the beginning of the line, however it's wrapped."""
        self.move_cursor((self.cursor_location[0], 0))

    def action_line_end(self) -> None:
        row = self.cursor_location[0]
        self.move_cursor((row, len(self.document[row])))

    def action_kill_line_end(self) -> None:
        """Kill the rest of the line; at its end, kill the line break."""
        row, column = self.cursor_location
        line_end = (row, len(self.document[row]))
        self._kill((row + 1, 0) if (row, column) == line_end else line_end)

    def action_kill_line_start(self) -> None:
        self._kill((self.cursor_location[0], 0))

    def action_kill_blanks_left(self) -> None:
        self._kill(self._left(_BLANKS))

    def action_kill_word_left(self) -> None:
        self._kill(self.get_cursor_word_left_location())

    def action_kill_word_right(self) -> None:
        self._kill(self.get_cursor_word_right_location())

    def get_cursor_word_left_location(self) -> Location:
        return self._left(_WORD)

    def get_cursor_word_right_location(self) -> Location:
        """The end of the word after the cursor; after the last word of a line, the next line."""
        row, column = self.cursor_location
        rest = self.document[row][column:]
        return (row, column + _reach(_WORD, rest)) if rest else self.clamp_visitable((row + 1, 0))

    def _left(self, pattern: re.Pattern[str]) -> Location:
        """The beginning of the word before the cursor; before the first word of a line, the end of the line above."""
        row, column = self.cursor_location
        if column == 0:
            return (row - 1, len(self.document[row - 1])) if row else (0, 0)
        return row, column - _reach(pattern, self.document[row][:column][::-1])

    def _kill(self, target: Location) -> None:
        """Delete the selection, or the text up to `target`, and keep it to be yanked."""
        at, state = self.cursor_location, self._state
        start, end = (at, self.clamp_visitable(target)) if self.selection.is_empty else self.selection
        killed = self.delete(start, end, maintain_selection_offset=False).replaced_text
        if killed:
            self._killed.add(self._pastes.expand(killed), is_before=end < at, state=state, state_after=self._state)

    @property
    def _state(self) -> object:
        return self._edits, self.cursor_location

    def action_redo(self) -> None:
        """Redo what was undone last. If nothing was, yank what was killed: editors and shells share the key."""
        if self.history.redo_stack:
            self.redo()
        elif self._killed.text:
            self.replace(self._pastes.fold(self._killed.text), *self.selection, maintain_selection_offset=False)


def _reach(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.match(text)
    return found.end() if found else 0


MAX_LINE: Final = 2_000
"""A longer line isn't colored."""
MAX_COLORED_LINES: Final = 20_000
"""Lines of a draft below this aren't colored."""

Place: TypeAlias = Literal["first", "prose", "code", "fence", "shell"]
"""The kind of line: the draft's first, any other, inside a code block, a fence, or part of a shell command."""


class StyledSpan(NamedTuple):
    """A styled range of characters in a line."""

    start: int
    stop: int
    style: str


class LineKinds:
    """The kind of each line in a draft. Caches the requested ones above the last edit."""

    def __init__(self) -> None:
        self._open_fences = [""]
        """For each line, the fence it is inside; "" for none."""

    def edited(self, row: int) -> None:
        """Forget everything below this line."""
        del self._open_fences[row + 1 :]

    def place(self, lines: Sequence[str], row: int) -> Place | None:
        """The kind of this line; None if it's too far down to be colored."""
        if row >= MAX_COLORED_LINES:
            return None
        if lines[0].startswith("!"):
            return "shell"
        for index in range(len(self._open_fences) - 1, row + 1):
            line = lines[index] if index < len(lines) else ""
            self._open_fences.append(_fence_after(line, self._open_fences[index]))
        before, after = self._open_fences[row : row + 2]
        if before != after:
            return "fence"
        return "code" if before else "prose" if row else "first"


@lru_cache(maxsize=256)
def spans(line: str, place: Place) -> tuple[StyledSpan, ...]:
    """The styled parts of a line. Later ones apply over earlier ones."""
    if not line or len(line) > MAX_LINE:
        return ()
    match place:
        case "fence":
            return (StyledSpan(0, len(line), "code_label"),)
        case "code":
            return (StyledSpan(0, len(line), "code"),)
        case "shell":
            return (StyledSpan(0, 1, "warning"),) if line.startswith("!") else ()
        case _:
            return (*_command(line, place), *_block(line), *_inline(line), *_mentions(line))


_FENCE: Final = re.compile(r"[ \t>]*(?P<fence>`{3,}(?=[^`]*$)|~{3,})")
_CLOSING_FENCE: Final = re.compile(r"[ \t>]*(?P<fence>`{3,}|~{3,})[ \t]*$")
_COMMAND: Final = re.compile(r"/[^\s/]+(?=\s|$)")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:\s|$)")
_QUOTE: Final = re.compile(r" {0,3}>")
_RULE: Final = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_LIST: Final = re.compile(r"[\s>]*([-+*]|\d{1,9}[.)])(?:[ \t]+(?:(\[[ ]\])|(\[[xX]\]))?(?=\s|$)|[ \t]+|$)")
# The limits keep a line full of opening marks from taking more than a few milliseconds.
_INLINE: Final = re.compile(
    r"""
      (?P<escaped> \\[!-/:-@\[-`{-~] )
    | (?P<code> (?<!`)(?P<ticks>`+)(?!`) .{1,400}? (?<!`)(?P=ticks)(?!`) )
    | (?P<link> !?\[[^\]]{0,200}\]\([^)\s]{0,400}\) | \bhttps?://[^\s<>"'`)\]]+ )
    | (?P<strong> (?P<stars>\*\*|(?<!\w)__)(?=\S) .{1,400}? (?<=\S)(?P=stars) )
    | (?P<strikethrough> ~~(?=\S) .{1,400}? (?<=\S)~~ )
    | (?P<emphasis> \*(?=[^\s*]) [^*]{1,400}? (?<=\S)\*(?!\*) | (?<!\w)_(?=[^\s_]) .{1,400}? (?<=\S)_(?!\w) )
    """,
    re.VERBOSE,
)


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open after this line, if `fence` is open before it."""
    if not fence:
        opened = _FENCE.match(line)
        return opened["fence"] if opened else ""
    closing = _CLOSING_FENCE.match(line)
    return "" if closing and closing["fence"].startswith(fence) else fence


def _command(line: str, place: Place) -> Iterator[StyledSpan]:
    if place == "first" and (found := _COMMAND.match(line)):
        yield StyledSpan(*found.span(), "syntax_keyword")


def _block(line: str) -> Iterator[StyledSpan]:
    if heading := _HEADING.match(line):
        level = len(heading[1])
        yield StyledSpan(0, len(line), f"heading_{level}" if level <= 2 else "heading")
    elif _RULE.match(line):
        yield StyledSpan(0, len(line), "rule")
    else:
        if _QUOTE.match(line):
            yield StyledSpan(0, len(line), "quote")
        if item := _LIST.match(line):
            styles = ("list_marker", "task_open", "task_done")
            yield from (StyledSpan(*item.span(group), style) for group, style in enumerate(styles, 1) if item[group])


def _inline(line: str, start: int = 0, stop: int | None = None) -> Iterator[StyledSpan]:
    """The marks within a sentence, and within emphasized text."""
    for found in _INLINE.finditer(line, start, len(line) if stop is None else stop):
        style = found.lastgroup
        if style not in ("escaped", None):
            yield StyledSpan(*found.span(), style or "")
        if style in ("strong", "emphasis", "strikethrough"):
            margin = 1 if style == "emphasis" else 2
            yield from _inline(line, found.start() + margin, found.end() - margin)


def _mentions(line: str) -> Iterator[StyledSpan]:
    if "@" not in line:
        return
    from acp_tui.client.attachments.attach import mentions  # not needed for the first frame

    for mention in mentions(line):
        yield StyledSpan(mention.start, mention.stop, "link")
