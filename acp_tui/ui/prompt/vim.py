"""Vim's keys for the prompt: normal and insert mode, counts, operators with motions and text objects, one register.

Text is one string, and places are offsets in it; `PromptInput` has the document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from textual import events
from textual.widgets.text_area import Location

from acp_tui.ui.commands.keys import follow_keys, keys_in_force
from acp_tui.ui.prompt.input import PromptInput

PRESET: Final = "vim-prompt"
MAX_COUNT: Final = 1_000
_COMMAND: Final = re.compile(r"([1-9]\d*)?([dcy])?([1-9]\d*)?(.*)")
_WORD: Final = re.compile(r"\w+|[^\w\s]+|^$", re.MULTILINE)
_RUN: Final = re.compile(r"\w+|[^\w\s]+|[^\S\n]+")
_NAMED: Final = {"ctrl+r": "redo", "backspace": "h"}
"""Keys other than characters that normal mode uses."""


class Target(NamedTuple):
    """Where a motion leads."""

    at: int
    is_linewise: bool = False
    is_inclusive: bool = False
    """Whether an operator also applies to the character at the target."""


class VimSpan(NamedTuple):
    """What an operator applies to; if linewise, whole lines without the last line break."""

    start: int
    stop: int
    is_linewise: bool = False
    cursor: int | None = None
    """Where the cursor goes if the text isn't changed; None for the start."""


# Motions


def line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """Where it ends: at its line break, or at the end of the text."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _left(text: str, at: int, count: int) -> Target:
    return Target(max(at - count, line_start(text, at)))


def _right(text: str, at: int, count: int) -> Target:
    return Target(min(at + count, line_end(text, at)))


def _down(text: str, at: int, count: int) -> Target:
    column = at - line_start(text, at)
    for _ in range(count):
        if (end := line_end(text, at)) == len(text):
            break
        at = end + 1
    return Target(min(line_start(text, at) + column, line_end(text, at)), is_linewise=True)


def _up(text: str, at: int, count: int) -> Target:
    column = at - line_start(text, at)
    for _ in range(count):
        if (start := line_start(text, at)) == 0:
            break
        at = start - 1
    return Target(min(line_start(text, at) + column, line_end(text, at)), is_linewise=True)


def _word(text: str, at: int, count: int) -> Target:
    starts = (found.start() for found in _WORD.finditer(text) if found.start() > at)
    return Target(next((start for number, start in enumerate(starts, 1) if number == count), len(text)))


def _word_back(text: str, at: int, count: int) -> Target:
    starts = [found.start() for found in _WORD.finditer(text) if found.start() < at]
    return Target(starts[-count] if count <= len(starts) else 0)


def _word_end(text: str, at: int, count: int) -> Target:
    ends = (found.end() - 1 for found in _WORD.finditer(text) if found[0] and found.end() - 1 > at)
    last = max(len(text) - 1, at)
    return Target(next((end for number, end in enumerate(ends, 1) if number == count), last), is_inclusive=True)


def _line_text(text: str, at: int, count: int) -> Target:
    start, end = line_start(text, at), line_end(text, at)
    line = text[start:end]
    return Target(start + len(line) - len(line.lstrip()))


def _line_end(text: str, at: int, count: int) -> Target:
    return Target(line_end(text, _down(text, line_start(text, at), count - 1).at))


def _first_line(text: str, at: int, count: int) -> Target:
    return Target(_line_text(text, _down(text, 0, count - 1).at, 1).at, is_linewise=True)


def _last_line(text: str, at: int, count: int) -> Target:
    return Target(_line_text(text, line_start(text, len(text)), 1).at, is_linewise=True)


MOTIONS: Final[Mapping[str, Callable[[str, int, int], Target]]] = {
    "h": _left,
    "l": _right,
    " ": _right,
    "j": _down,
    "k": _up,
    "w": _word,
    "b": _word_back,
    "e": _word_end,
    "0": lambda text, at, _: Target(line_start(text, at)),
    "^": _line_text,
    "$": _line_end,
    "gg": _first_line,
    "G": _last_line,
}


def object_at(text: str, at: int, count: int, *, is_around: bool) -> VimSpan:
    """The words at an offset; `is_around`: with the blanks after them, or else before them."""
    start, end = line_start(text, at), line_end(text, at)
    runs = [found.span() for found in _RUN.finditer(text, start, end)]
    first = next((number for number, (_, stop) in enumerate(runs) if at < stop), None)
    if first is None:
        return VimSpan(at, at)
    if not is_around:
        return VimSpan(runs[first][0], runs[min(first + count, len(runs)) - 1][1])
    blanks = [text[begin].isspace() for begin, _ in runs] + [False]
    last, begins_blank = first - 1, blanks[first]
    for _ in range(count):
        last += 1 + (blanks[last + 1] if begins_blank else blanks[min(last + 2, len(runs))])
        last = min(last, len(runs) - 1)
    # Blanks before the words, unless they indent the line.
    if not begins_blank and not blanks[last] and first > 1 and blanks[first - 1]:
        first -= 1
    return VimSpan(runs[first][0], runs[last][1])


def span_of(text: str, at: int, operator: str, keys: str, count: int) -> VimSpan | None:
    """What an operator applies to, for a motion or text object, or for the operator's own key; None for nothing."""
    if keys == operator:
        return _lines(text, at, _down(text, at, count - 1).at)
    if keys in ("iw", "aw"):
        return object_at(text, at, count, is_around=keys == "aw")
    if operator == "c" and keys == "w" and not text[at : at + 1].isspace():
        return VimSpan(at, _end_of_words(text, at, count))
    target = MOTIONS[keys](text, at, count)
    if target.is_linewise:
        if keys in "jk" and line_start(text, target.at) == line_start(text, at):
            return None
        return _lines(text, at, target.at)
    start, stop = sorted((at, target.at))
    if keys == "w":
        # The last word's line ends the span, unless the cursor is behind it.
        blanks = len(text[start:stop]) - len(text[start:stop].rstrip())
        line_break = text.find("\n", stop - blanks, stop)
        stop = line_break if line_break >= 0 else stop
    elif not target.is_inclusive and start < line_start(text, stop) == stop:
        # A span up to the beginning of a line ends with the line above; if it begins before a line's text, it's lines.
        has_text_before = bool(text[line_start(text, start) : start].strip())
        return VimSpan(start, stop - 1) if has_text_before else _lines(text, stop - 1, start)
    return VimSpan(start, min(stop + target.is_inclusive, len(text)))


def _end_of_words(text: str, at: int, count: int) -> int:
    """Where the word at an offset ends, or the `count`th word from there."""
    ends = [found.end() for found in _WORD.finditer(text) if found.end() > at]
    return ends[min(count, len(ends)) - 1] if ends else at


def _lines(text: str, at: int, target: int) -> VimSpan:
    start, stop = line_start(text, min(at, target)), line_end(text, max(at, target))
    return VimSpan(start, stop, is_linewise=True, cursor=min(at, target))


# Modes and commands


class VimKeys:
    """Vim's keys in one prompt, if the user has chosen them. It starts in insert mode."""

    def __init__(self, prompt: PromptInput) -> None:
        self._prompt = prompt
        self._is_on = False
        self._is_normal = False
        self._keys = ""
        """The keys of a command that isn't complete."""
        self._register = ""
        self._is_register_linewise = False
        self._column = 0
        """Where `j` and `k` go if the line is long enough."""
        follow_keys(prompt, self._follow_preset)
        self._follow_preset()

    def _follow_preset(self) -> None:
        self._is_on = PRESET in keys_in_force(self._prompt).presets
        self.insert()

    @property
    def words(self) -> str:
        """The mode and an incomplete command; "" if the user hasn't chosen Vim's keys."""
        if not self._is_on:
            return ""
        return f"NORMAL {self._keys}".rstrip() if self._is_normal else "INSERT"

    def insert(self) -> None:
        self._is_normal, self._keys = False, ""
        self._prompt.show_mode(self.words)

    def leave_insert(self) -> bool:
        """Go to normal mode. Returns False if that's not possible, because Esc has its usual meaning."""
        if not self._is_on or self._is_normal:
            return False
        self._is_normal = True
        text, at = self._prompt.text, self._at
        self._go(max(at - 1, line_start(text, at)))
        self._prompt.show_mode(self.words)
        return True

    def takes_key(self, event: events.Key) -> bool:
        """Handle a key in normal mode. Returns False for keys with the same meaning in both modes."""
        if not self._is_on or not self._is_normal:
            return False
        if event.key == "escape":
            was_waiting, self._keys = bool(self._keys), ""
            self._prompt.show_mode(self.words)
            return was_waiting
        if not self._prompt.text and event.character in ("/", "@", "!"):
            self.insert()  # these begin something here, and do nothing in Vim's normal mode
            return False
        key = _NAMED.get(event.key, event.character if event.is_printable else None)
        if key is None:
            self._keys = ""
            return False
        self._keys += key
        before, operator, between, rest = _command(self._keys)
        if rest not in ("", "g") and not (operator and rest in ("i", "a")):
            self._keys = ""
            count = min(int(before or 1) * int(between or 1), MAX_COUNT)
            self._run(operator, rest, count, has_count=bool(before or between))
        self._prompt.show_mode(self.words)
        return True

    # The prompt's text

    @property
    def _at(self) -> int:
        row, column = self._prompt.cursor_location
        return sum(len(line) + 1 for line in self._prompt.document.lines[:row]) + column

    def _place(self, at: int) -> Location:
        text = self._prompt.text
        return text.count("\n", 0, at), at - line_start(text, at)

    def _go(self, at: int, *, keeps_column: bool = False) -> None:
        """Move the cursor; in normal mode, it stays on a character if the line has any."""
        text = self._prompt.text
        at = max(0, min(at, len(text)))
        if self._is_normal and at == line_end(text, at) > line_start(text, at):
            at -= 1
        self._prompt.move_cursor(self._place(at))
        if not keeps_column:
            self._column = at - line_start(text, at)

    def _replace(self, start: int, stop: int, text: str) -> None:
        """Replace text, as one step to undo."""
        self._prompt.history.checkpoint()
        self._prompt.put(text, self._place(start), self._place(stop))
        self._prompt.history.checkpoint()

    # Commands

    def _run(self, operator: str, rest: str, count: int, *, has_count: bool) -> None:
        if rest == "G" and has_count:
            rest = "gg"
        if operator:
            if rest in MOTIONS or rest in (operator, "iw", "aw"):
                self._operate(operator, span_of(self._prompt.text, self._at, operator, rest, count))
        elif rest in MOTIONS:
            self._move(rest, count)
        else:
            self._do(rest, count)

    def _do(self, command: str, count: int) -> None:
        text, at = self._prompt.text, self._at
        match command:
            case "x":
                self._operate("d", VimSpan(at, _right(text, at, count).at))
            case "p" | "P":
                self._put(count, is_after=command == "p")
            case "u":
                self._repeat(self._prompt.undo, count)
            case "redo":
                self._repeat(self._prompt.redo, count)
            case "i":
                self._insert_at(at)
            case "I":
                self._insert_at(_line_text(text, at, 1).at)
            case "a":
                self._insert_at(_right(text, at, 1).at)
            case "A":
                self._insert_at(line_end(text, at))
            case "o":
                self._open_line(line_end(text, at), line_end(text, at) + 1)
            case "O":
                self._open_line(line_start(text, at), line_start(text, at))
            case "D" | "C":
                operator = command.lower()
                self._operate(operator, span_of(text, at, operator, "$", count))

    def _move(self, keys: str, count: int) -> None:
        text, at = self._prompt.text, self._at
        if keys not in "jk":
            self._go(MOTIONS[keys](text, at, count).at)
            return
        target = MOTIONS[keys](text, at, count).at
        if line_start(text, target) == line_start(text, at):
            # As with the arrow keys, earlier prompts are beyond the first and the last line.
            key = events.Key("up" if keys == "k" else "down", None)
            any(helper.takes_key(key) for helper in self._prompt.key_helpers)
            return
        start = line_start(text, target)
        self._go(min(start + self._column, line_end(text, target)), keeps_column=True)

    def _operate(self, operator: str, span: VimSpan | None) -> None:
        text = self._prompt.text
        if span is None:
            return
        if span.start == span.stop and not span.is_linewise:
            if operator == "c":
                self.insert()
            return
        self._register = self._prompt.written_between(self._place(span.start), self._place(span.stop))
        self._is_register_linewise = span.is_linewise
        if operator == "y":
            self._go(span.start if span.cursor is None else span.cursor)
            return
        start, stop = span.start, span.stop
        if operator == "d" and span.is_linewise:
            # With the line break after it, or else before it.
            start, stop = (start, stop + 1) if stop < len(text) else (max(start - 1, 0), stop)
        self._replace(start, stop, "")
        if operator == "c":
            self.insert()
            self._go(start)
        elif span.is_linewise:
            self._go(_line_text(self._prompt.text, min(start, len(self._prompt.text)), 1).at)
        else:
            self._go(start)

    def _put(self, count: int, *, is_after: bool) -> None:
        text, at = self._prompt.text, self._at
        if not self._register and not self._is_register_linewise:
            return
        if self._is_register_linewise:
            lines = "\n".join([self._register] * count)
            place = line_end(text, at) if is_after else line_start(text, at)
            self._replace(place, place, f"\n{lines}" if is_after else f"{lines}\n")
            self._go(_line_text(self._prompt.text, place + is_after, 1).at)
            return
        place = min(at + is_after, line_end(text, at))
        before = len(text)
        self._replace(place, place, self._register * count)
        self._go(place + len(self._prompt.text) - before - 1)

    def _repeat(self, step: Callable[[], None], count: int) -> None:
        for _ in range(count):
            step()
        self._go(self._at)

    def _insert_at(self, at: int) -> None:
        self.insert()
        self._go(at)

    def _open_line(self, place: int, cursor: int) -> None:
        self._replace(place, place, "\n")
        self._insert_at(cursor)


def _command(keys: str) -> tuple[str, str, str, str]:
    """A count, an operator, another count, and the rest of a command; "" for what is missing."""
    found = _COMMAND.fullmatch(keys)
    assert found is not None  # it matches any keys
    before, operator, between, rest = found.groups(default="")
    return before, operator, between, rest
