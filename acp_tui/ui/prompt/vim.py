"""Vim's keys for the prompt: its modes, counts, operators with motions and text objects, one register, repeating.

Text is one string, and places are offsets in it; `PromptInput` has the document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from textual import events
from textual.keys import key_to_character
from textual.widgets.text_area import Edit, Location, Selection

from acp_tui.ui.commands.keymap import VIM_PROMPT
from acp_tui.ui.commands.keys import follow_keys, keys_in_force
from acp_tui.ui.prompt.input import PromptInput
from acp_tui.ui.textual_gaps.internals import bindings_of_key

MAX_COUNT: Final = 1_000
_COMMAND: Final = re.compile(r"([1-9]\d*)?([dcy])?([1-9]\d*)?(.*)")
"""A count, an operator, another count, and the rest."""
_WORD: Final = re.compile(r"\w+|[^\w\s]+|^$", re.MULTILINE)
_RUN: Final = re.compile(r"\w+|[^\w\s]+|[^\S\n]+")
_NAMED: Final = {"ctrl+r": "redo", "backspace": "h"}
"""Keys other than characters that normal mode uses."""
_SHORT: Final = {"x": "dl", "X": "dh", "s": "cl", "S": "cc", "D": "d$", "C": "c$", "Y": "yy"}
"""These are an operator and what it applies to."""
_FINDS: Final = frozenset("fFtT")
_CHANGES: Final = frozenset("pPiIaAoO~J")
_BRACKETS: Final = {key: pair for pair, keys in {"()": "()b", "[]": "[]", "{}": "{}B"}.items() for key in keys}
_OBJECTS: Final = frozenset(extent + kind for extent in "ia" for kind in ("w", *"\"'`", *_BRACKETS))
_BLANK_END: Final = re.compile(r"[ \t]*(?:\n[ \t]+)*\n")
"""What is blank before a bracket in a line of its own, read backwards: its indentation, and lines of blanks above."""
_Command: TypeAlias = tuple[str, str, int, bool]
"""An operator or "", its motion or text object or what is done without one, a count, and whether it was typed."""


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
    """The same column `count` lines below, or above if it's negative."""
    lines = text.split("\n")
    row = max(0, min(text.count("\n", 0, at) + count, len(lines) - 1))
    start = sum(len(line) + 1 for line in lines[:row])
    return Target(start + min(at - line_start(text, at), len(lines[row])), is_linewise=True)


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
    "k": lambda text, at, count: _down(text, at, -count),
    "w": _word,
    "b": _word_back,
    "e": _word_end,
    "0": lambda text, at, _: Target(line_start(text, at)),
    "^": _line_text,
    "$": _line_end,
    "gg": _first_line,
    "G": _last_line,
}


def target_of(text: str, at: int, keys: str, count: int, *, is_again: bool) -> Target | None:
    """Where a motion leads; None for a character that isn't in the line. `is_again`: not where `t` has led already."""
    if keys in MOTIONS:
        return MOTIONS[keys](text, at, count)
    is_till, is_right = keys[0] in "tT", keys[0] in "ft"
    skipped = 1 + (is_again and is_till)
    line = range(at + skipped, line_end(text, at)) if is_right else range(at - skipped, line_start(text, at) - 1, -1)
    places = [place for place in line if text[place] == keys[1:]]
    if len(places) < count:
        return None
    return Target(places[count - 1] - is_till * line.step, is_inclusive=is_right)


def object_at(text: str, at: int, keys: str, count: int) -> VimSpan | None:
    """What `iw`, `a(`, or another of the text objects means at an offset; None for nothing."""
    find = _words if keys[1] == "w" else _block if keys[1] in _BRACKETS else _quoted
    return find(text, at, keys[1], count, is_around=keys[0] == "a")


def _quoted(text: str, at: int, quote: str, count: int, *, is_around: bool) -> VimSpan | None:
    """What is between two quotes of the line. `is_around`: with them, and with the blanks after or before them."""
    line = line_start(text, at)
    marks = [line + one.start(1) for one in re.finditer(rf"\\.|({quote})", text[line : line_end(text, at)]) if one[1]]
    pairs = zip(marks[::2], marks[1::2], strict=False) if text[at : at + 1] == quote else pairwise(marks)
    start, stop = next((pair for pair in pairs if pair[1] >= at), (at, -1))
    if stop < 0 or not is_around:
        return VimSpan(start + (count == 1), stop + (count > 1)) if stop >= 0 else None
    rest = text[stop + 1 : line_end(text, at)]
    blanks = len(rest) - len(rest.lstrip())
    return VimSpan(start if blanks else line + len(text[line:start].rstrip()), stop + 1 + blanks)


def _block(text: str, at: int, bracket: str, count: int, *, is_around: bool) -> VimSpan | None:
    """What is between the brackets around an offset, or else the next ones. `is_around`: with them."""
    pair = _BRACKETS[bracket]
    opening = pair[0]
    at = max(at, _line_text(text, at, 1).at) if opening == "{" else at
    opened: list[int] = []
    blocks: list[tuple[int, int]] = []
    for found in re.finditer(f"[{re.escape(pair)}]", text):
        if found[0] == opening:
            opened.append(found.start())
        elif opened:
            blocks.append((opened.pop(), found.end()))
    enclosing = ([block for block in blocks if block[0] <= place < block[1]] for place in (at, text.find(opening, at)))
    around = next(filter(None, enclosing), [])[count - 1 :]
    if not around or is_around:
        return VimSpan(*around[0]) if around else None
    start, stop = around[0][0] + 1, around[0][1] - 1
    blank = _BLANK_END.match(text[start:stop][::-1])
    start += text.startswith("\n", start)
    stop -= blank.end() - 1 if blank is not None else 0
    return VimSpan(start, start) if stop <= start else _to_line(text, start, stop) if blank else VimSpan(start, stop)


def _words(text: str, at: int, _kind: str, count: int, *, is_around: bool) -> VimSpan:
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


def span_of(text: str, at: int, operator: str, keys: str, count: int, *, is_again: bool = False) -> VimSpan | None:
    """What an operator applies to, for a motion or text object, or for the operator's own key; None for nothing."""
    if keys == operator:
        return _lines(text, at, _down(text, at, count - 1).at)
    if keys in _OBJECTS:
        return object_at(text, at, keys, count)
    if operator == "c" and keys == "w" and not text[at : at + 1].isspace():
        return VimSpan(at, _word_end(text, at - 1, count).at + 1)
    target = target_of(text, at, keys, count, is_again=is_again)
    if target is None:
        return None
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
        return _to_line(text, start, stop)
    return VimSpan(start, min(stop + target.is_inclusive, len(text)))


def _to_line(text: str, start: int, stop: int) -> VimSpan:
    """A span up to the beginning of a line ends with the line above; if it begins before a line's text, it's lines."""
    has_text_before = bool(text[line_start(text, start) : start].strip())
    return VimSpan(start, stop - 1) if has_text_before else _lines(text, stop - 1, start)


def _lines(text: str, at: int, target: int) -> VimSpan:
    start, stop = line_start(text, min(at, target)), line_end(text, max(at, target))
    return VimSpan(start, stop, is_linewise=True, cursor=min(at, target))


def _is_rewriting(command: str) -> bool:
    """Whether it's `~`, or `r` with a character."""
    return command == "~" or command[:-1] == "r"


def _swapped(character: str) -> str:
    swapped = character.swapcase()
    return swapped if len(swapped) == 1 else character


# Modes and commands


class VimKeys:
    """Vim's keys in one prompt, if the user has chosen them. It starts in insert mode."""

    def __init__(self, prompt: PromptInput) -> None:
        self._prompt = prompt
        self._is_on = False
        self._is_normal = False
        self._visual = ""
        """`v` or `V` while that selects."""
        self._anchor = self._head = 0
        """The characters at the ends of that selection; the second one moves."""
        self._selected = prompt.selection
        self._keys = ""
        """The keys of a command that isn't complete."""
        self._register = ""
        self._is_register_linewise = False
        self._column = 0
        """Where `j` and `k` go if the line is long enough."""
        self._find = ""
        """The last `f`, `F`, `t`, or `T`, with its character."""
        self._change: _Command | None = None
        """What `.` repeats, with what was written then."""
        self._written = ""
        self._around = "", ""
        """The text before and after the cursor when insert mode began."""
        self._edits_before: list[list[Edit]] = []
        """What could be undone when the change began that is being made."""
        self._later_edits: list[list[Edit]] = []
        """What is undone and redone together with the edits before it."""
        follow_keys(prompt, self._follow_preset)
        self._follow_preset()

    def _follow_preset(self) -> None:
        self._is_on = VIM_PROMPT in keys_in_force(self._prompt).presets
        self.insert()

    @property
    def words(self) -> str:
        """The mode and an incomplete command; "" if the user hasn't chosen Vim's keys."""
        if not self._is_on:
            return ""
        mode = {"": "NORMAL", "v": "VISUAL", "V": "VISUAL LINE"}[self._visual]
        return f"{mode} {self._keys}".rstrip() if self._is_normal else "INSERT"

    def insert(self) -> None:
        self._end_change()
        self._begin_insert()

    def _begin_insert(self) -> None:
        self._is_normal, self._visual, self._keys = False, "", ""
        self._change = None
        self._prompt.show_mode(self.words)

    def _end_change(self) -> None:
        """Make one change of what was edited since the last one."""
        history = self._prompt.history
        history.checkpoint()
        edits = history.undo_stack
        known = set(map(id, (*edits, *history.redo_stack)))
        before = set(map(id, self._edits_before))
        new = [edit for edit in edits if id(edit) not in before]
        self._later_edits = [edit for edit in self._later_edits if id(edit) in known] + new[1:]
        self._edits_before = edits

    def leave_insert(self) -> bool:
        """Go to normal mode. Returns False if that's not possible, because Esc has its usual meaning."""
        if not self._is_on or self._is_normal:
            return False
        self._is_normal = True
        self._end_change()
        text, at = self._prompt.text, self._at
        before, after = self._around
        is_one_piece = text.startswith(before) and text[len(before) :].endswith(after)
        self._written = text[len(before) : len(text) - len(after)] if is_one_piece else ""
        self._go(max(at - 1, line_start(text, at)))
        self._prompt.show_mode(self.words)
        return True

    def takes_key(self, event: events.Key) -> bool:
        """Handle a key in normal mode. Returns False for keys with the same meaning in both modes."""
        is_free_alt = self._is_on and event.key.startswith("alt+") and not bindings_of_key(self._prompt, event.key)
        character = key_to_character(event.key.removeprefix("alt+")) if is_free_alt else None
        if character is not None and self.leave_insert():
            # Terminals send Alt and a character as Esc and that character.
            event = events.Key(character, character)
        if not self._is_on or not self._is_normal:
            return False
        if self._visual and self._prompt.selection != self._selected:
            self._visual = ""  # a click, or a key that isn't Vim's, has moved the cursor
        if event.key == "escape":
            was_waiting = bool(self._keys or self._visual)
            at, self._keys, self._visual = self._at, "", ""
            self._go(at)
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
        found = _COMMAND.fullmatch(self._keys)
        assert found is not None  # it matches any keys
        before, operator, between, rest = found.groups(default="")
        takes_object = bool(operator or self._visual)
        waits_for_more = ("", "g", *_FINDS, *(("i", "a") * takes_object), *("r" * (not operator)))
        if (self._visual and operator) or rest not in waits_for_more:
            self._keys = ""
            count = min(int(before or 1) * int(between or 1), MAX_COUNT)
            self._end_change()
            if not self._visual or not self._run_visual(operator or rest):
                self._run((operator, rest, count, bool(before or between)))
            if self._is_normal:
                self._end_change()
        self._prompt.show_mode(self.words)
        return True

    # The prompt's text

    @property
    def _at(self) -> int:
        if self._visual:
            return self._head
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
        if self._visual:
            self._head = at
            span = self._selection
            start, stop = self._place(span.start), self._place(span.stop)
            self._selected = Selection(start, stop) if at >= self._anchor else Selection(stop, start)
            self._prompt.selection = self._selected
        else:
            self._prompt.move_cursor(self._place(at))
        if not keeps_column:
            self._column = at - line_start(text, at)

    @property
    def _selection(self) -> VimSpan:
        """What visual mode selects."""
        text, (first, last) = self._prompt.text, sorted((self._anchor, self._head))
        return _lines(text, first, last) if self._visual == "V" else VimSpan(first, min(last + 1, len(text)))

    def _replace(self, start: int, stop: int, text: str) -> None:
        self._prompt.put(text, self._place(start), self._place(stop))

    # Commands

    def _run(self, command: _Command) -> None:
        operator, rest, count, has_count = command
        if rest in _SHORT and not operator and not self._visual:
            operator, rest = _SHORT[rest][0], _SHORT[rest][1]
        if rest == "G" and has_count:
            rest = "gg"
        is_again = rest in (";", ",")
        if is_again:
            rest = (self._find[:1] if rest == ";" else self._find[:1].swapcase()) + self._find[1:]
        elif rest[0] in _FINDS:
            self._find = rest
        is_motion = rest in MOTIONS or rest[:1] in _FINDS
        if not operator and is_motion:
            self._move(rest, count, is_again=is_again)
        elif is_motion or rest == operator or rest in _OBJECTS:
            self._operate(operator, span_of(self._prompt.text, self._at, operator, rest, count, is_again=is_again))
        elif not operator and not self._visual:
            self._do(rest, count)
        if operator in ("d", "c") or ((rest in _CHANGES or _is_rewriting(rest)) and not operator and not self._visual):
            self._note_change(command)

    def _note_change(self, command: _Command) -> None:
        text, at = self._prompt.text, self._at
        self._change, self._around = command, (text[:at], text[at:])

    def _run_visual(self, command: str) -> bool:
        """Handle a key of visual mode. Returns False for those that move, and for unknown ones."""
        operator = {"x": "d", "s": "c", "p": "d"}.get(command, command)
        if operator in ("d", "c", "y"):
            put, span = (self._register, self._is_register_linewise), self._selection
            self._visual = ""
            self._operate(operator, span)
            if command == "p":
                self._register, self._is_register_linewise = put
                self._put(1, is_after=self._at < span.start)
            elif operator != "y":
                text = self._register
                size = text.count("\n") + 1 if span.is_linewise else len(text)
                self._note_change((operator, operator if span.is_linewise else "l", size, False))
        elif command in ("v", "V"):
            self._visual = command if command != self._visual else ""
            self._go(self._head)
        elif command in _OBJECTS:
            found = object_at(self._prompt.text, self._head, command, 1)
            if found is not None and found.start < found.stop:
                self._visual = "V" if found.is_linewise else self._visual
                self._anchor = found.start
                self._go(found.stop - 1)
        elif command == "J" or _is_rewriting(command):
            span, self._visual = self._selection, ""
            self._go(span.start)
            count = span.stop - span.start
            if command == "J":
                count = self._prompt.text.count("\n", *sorted((self._anchor, self._head))) + 1
                self._join(span.start, count)
            else:
                self._rewrite(command, span.start, span.stop)
            self._note_change(("", command, count, False))
        else:
            return False
        return True

    def _do(self, command: str, count: int) -> None:
        text, at = self._prompt.text, self._at
        match command:
            case "v" | "V":
                self._anchor, self._head, self._visual = at, at, command
                self._go(at)
            case "." if self._change is not None:
                operator, rest, before, has_count = self._change
                written = self._written
                self._run((operator, rest, count if count > 1 else before, has_count))
                if not self._is_normal:
                    self._replace(self._at, self._at, written)
                    self.leave_insert()
            case "p" | "P":
                self._put(count, is_after=command == "p")
            case "u" | "redo":
                for _ in range(count):
                    self._step_through_history(is_back=command == "u")
                self._go(self._at)
            case "i" | "a":
                self._insert_at(_right(text, at, command == "a").at)
            case "I" | "A":
                self._insert_at(MOTIONS["^" if command == "I" else "$"](text, at, 1).at)
            case "o" | "O":
                place = line_end(text, at) if command == "o" else line_start(text, at)
                self._replace(place, place, "\n")
                self._insert_at(place + (command == "o"))
            case "J":
                self._join(at, count)
            case _ if _is_rewriting(command):
                end = line_end(text, at)
                stop = min(at + count, end) if command == "~" else at + count
                if stop <= end:
                    self._rewrite(command, at, stop)
                    self._go(stop - len(command) + 1)

    def _rewrite(self, command: str, start: int, stop: int) -> None:
        """Replace each character but line breaks. A folded paste stays what it is."""
        old = self._prompt.text[start:stop]
        new = "".join(one if one == "\n" else command[1:] or _swapped(one) for one in old)
        if old == self._prompt.written_between(self._place(start), self._place(stop)):
            at = self._at
            self._replace(start, stop, new)
            self._go(at)

    def _join(self, at: int, count: int) -> None:
        """Make one line of this many, at least two, with a space where there is none."""
        for _ in range(max(count, 2) - 1):
            text = self._prompt.text
            end = line_end(text, at)
            if end < len(text):
                after = _line_text(text, end + 1, 1).at
                is_joint = text[after : after + 1] in ("", "\n", ")") or text[end - 1 : end] in ("", "\n", " ", "\t")
                self._replace(end, after, "" if is_joint else " ")
                self._go(end)

    def _step_through_history(self, *, is_back: bool) -> None:
        """Undo or redo one change."""
        history, prompt = self._prompt.history, self._prompt
        later = set(map(id, self._later_edits))
        while is_back and (edits := history.undo_stack) and id(edits[-1]) in later:
            prompt.undo()
        (prompt.undo if is_back else prompt.redo)()
        while not is_back and (edits := history.redo_stack) and id(edits[-1]) in later:
            prompt.redo()
        self._edits_before = history.undo_stack

    def _move(self, keys: str, count: int, *, is_again: bool) -> None:
        text, at = self._prompt.text, self._at
        found = target_of(text, at, keys, count, is_again=is_again)
        target = at if found is None else found.at
        if keys not in "jk":
            self._go(target)
            return
        if line_start(text, target) == line_start(text, at):
            if self._visual:
                return
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
                self._begin_insert()
            self._go(span.start)
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
            self._begin_insert()
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

    def _insert_at(self, at: int) -> None:
        self._begin_insert()
        self._go(at)
