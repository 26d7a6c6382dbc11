"""Repairs terminal input before Textual parses it: pastes never become keys, and keys keep their modifiers.

Textual 8.2.8 reads text after an escape character in a paste as keys, Alt+Enter as Enter, Alt+Backspace as Ctrl+W, and
Alt with a letter or digit as a character, too. It doesn't support the form in which tmux and xterm report Shift+Enter.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

from textual import constants
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.events import Key, Paste
from textual.message import Message

from acp_tui.client.desktop import ANSWER

ESCAPE: Final = "\x1b"
PASTE_BEGINS: Final = "\x1b[200~"
PASTE_ENDS: Final = "\x1b[201~"
STAND_IN: Final = "␛"
_BACKGROUND: Final = "\x1b]11;"
"""The beginning of a late answer to what was asked before the start (kit/terminal_colors.py)."""
_ANSWER: Final = re.compile(rf"{re.escape(ANSWER)}|\x1b\[\?[0-9;]*c|{_BACKGROUND}[^\x07\x1b]*(?:\x07|\x1b\\)")
_HALF_ANSWER: Final = re.compile(r"\x1b(?:\[(?:0|\?[0-9;]*\$?)?|\](?:1(?:1(?:;[^\x07\x1b]*\x1b?)?)?)?)?\Z")
_FOR_TEXTUAL: Final = re.compile(rf"{re.escape(PASTE_BEGINS)}|\x1b\[\?[0-9;]*\$y")
"""What Textual must have whole: the beginning of a paste, and the terminal's answers to it."""
_TYPED: Final = re.compile(r"\x1b\]1{0,2}")
"""Also Esc, then a bracket."""
HELD_S: Final = 1.0
"""For so long, these may be the beginning of an answer, and while one is awaited, so may Esc."""
LATE_S: Final = 10.0
"""After late pieces, others may be as late, for so long."""
LINE_END: Final = "early_line_end"
"""The key that ends a line of several that came before there was a screen. It sends nothing, and answers nothing."""
EARLY_S: Final = 0.1
"""What follows sooner is typed in one go with what came before."""
_MODIFIED_KEY: Final = re.compile(r"\x1b\[27;(\d+);(\d+)~")
"""xterm's form (modifyOtherKeys)."""
_ALT_KEY: Final = re.compile(r"(?<!\x1b)\x1b([\r\x7f1-9]|[ac-eg-z](?=\x1b|\Z))")
"""With Alt. But for two letters, Textual waits for more, and takes a key that follows for proof of Esc."""


class InputRepair:
    """Repairs input for Textual, however it's split into pieces."""

    def __init__(self) -> None:
        self._is_paste = False
        self._held = ""
        """The beginning of a possible marker."""
        self._is_told = False
        """Whether the escape character at its beginning was already told as the Esc key."""
        self._pasted: list[str] = []
        """The pieces of the paste so far."""
        self.pastes: list[str] = []
        """Whole pastes. Textual gets only their markers: it would need more than a second for each megabyte."""
        self.answers: list[str] = []
        """What the terminal has answered to us."""

    def feed(self, data: str) -> str:
        """Return what to pass to Textual; "" at the end of the input."""
        data, self._held = self._held + data, ""
        data = self._without_answers(data)
        pieces: list[str] = []
        while data:
            piece, data = self._paste(data) if self._is_paste else self._keys(data)
            pieces.append(piece)
        return "".join(pieces)

    def _without_answers(self, data: str) -> str:
        """Take out the terminal's answers to us. They also come in the middle of a paste."""
        self.answers += [answer for answer in _ANSWER.findall(data) if not answer.startswith(_BACKGROUND)]
        self._is_told = self._is_told and not _ANSWER.match(data)
        return _ANSWER.sub("", data)

    def may_go_on(self, data: str) -> bool:
        """Whether this may be the rest of what is held."""
        return self._held != "" and (self._held != ESCAPE or data.startswith(("[", "]")))

    def take_esc(self) -> bool:
        """Whether Esc is held, which is a key from now on. An answer that goes on behind it is still none."""
        is_esc = self._held == ESCAPE and not self._is_paste and not self._is_told
        self._is_told = self._is_told or is_esc
        return is_esc

    def let_go(self) -> str:
        """Keys that were held, and may only look like the beginning of an answer."""
        if self._is_paste or _TYPED.fullmatch(self._held) is None:
            return ""
        held, self._held, self._is_told = self._held[self._is_told :], "", False
        return held

    def _keys(self, data: str) -> tuple[str, str]:
        """Split into text outside of a paste, and the rest."""
        keys, marker, rest = data.partition(PASTE_BEGINS)
        self._is_paste = bool(marker)
        if not marker:
            keys, self._held = _without_half(keys, PASTE_BEGINS)
        sent = keys + marker
        if sent:
            is_needed_again = _FOR_TEXTUAL.match(sent) is not None
            sent, self._is_told = sent[self._is_told and not is_needed_again :].replace(PASTE_ENDS, ""), False
        return _MODIFIED_KEY.sub("\x1b[\\2;\\1u", _ALT_KEY.sub(lambda found: f"\x1b[{ord(found[1])};3u", sent)), rest

    def _paste(self, data: str) -> tuple[str, str]:
        """Split into what ends a paste, and the rest. The pasted text, without escape characters, is kept."""
        pasted, marker, rest = data.partition(PASTE_ENDS)
        # An end marker followed by another one is part of the paste.
        while marker and PASTE_ENDS in rest.partition(PASTE_BEGINS)[0]:
            more, _, rest = rest.partition(PASTE_ENDS)
            pasted += PASTE_ENDS + more
        self._is_paste = not marker
        if not marker:
            pasted, self._held = _without_half(pasted, PASTE_ENDS)
        self._pasted.append(pasted.replace(ESCAPE, STAND_IN).replace("\0", ""))
        if marker:
            self.pastes.append("".join(self._pasted))
            self._pasted.clear()
        return marker, rest


def _without_half(data: str, marker: str) -> tuple[str, str]:
    """Split off the beginning of a marker, or of an answer, at the end of the data."""
    half = _HALF_ANSWER.search(data)
    begun = max((length for length in range(1, len(marker)) if data.endswith(marker[:length])), default=0)
    at = min(len(data) - begun, half.start() if half is not None else len(data))
    return data[:at], data[at:]


class TerminalAnswered(Message):
    """The terminal has answered a question of ours."""

    def __init__(self, answer: str) -> None:
        super().__init__()
        self.answer = answer


_early: Final[list[bytes]] = []


def feed_early(data: bytes) -> None:
    """Have the next parser begin with input that was read before there is one."""
    _early.append(data)


def _typed(event: Message) -> str:
    """A line end or a letter for what is typed. In the mode of a shell, the system has turned Enter into Ctrl+J."""
    if not isinstance(event, Key):
        return "x" * isinstance(event, Paste)
    return "\n" if event.key in ("enter", "ctrl+j") else "x" * (event.is_printable or event.key == "tab")


class InputParser(XTermParser):
    """Textual's parser, fed with repaired input."""

    def __init__(self, debug: bool = False, *, is_awaited: Callable[[], bool] = lambda: False) -> None:
        """`is_awaited`: whether the terminal owes an answer."""
        super().__init__(debug)
        self._repair = InputRepair()
        self._is_awaited = is_awaited
        self._owes_first = bool(_early)
        """Whether the terminal was asked what it is before the start, and hasn't answered that."""
        self._early = b"".join(_early).decode("utf-8", "ignore")
        _early.clear()
        self._begun = ""
        """What was typed before there was a screen, and without a pause behind that: its lines, with any letters."""
        self._begun_until_s = math.inf
        """When that pause is over, in monotonic seconds."""
        self._held_s = 0.0
        """When the input ended with what may be a half answer, in monotonic seconds."""
        self._late_until_s = 0.0
        """Until then, the rest of an answer may come late."""

    def tick(self) -> Iterable[Message]:
        """The events that are due without input. Called at least ten times a second."""
        if self._early:
            yield from self.feed("")
        self._begin([])
        yield from map(self._mended, super().tick())
        now_s = time.monotonic()
        may_be_answer = now_s < self._late_until_s or self._is_awaited()
        if now_s - self._held_s >= (HELD_S if may_be_answer else constants.ESCAPE_DELAY) and self._repair.take_esc():
            yield Key("escape", ESCAPE)
        elif now_s - self._held_s >= HELD_S and (typed := self._repair.let_go()):
            yield from map(self._mended, super().feed(typed))

    def feed(self, data: str) -> Iterable[Message]:
        """The events for input from the terminal; "" ends the input, if there is none from before."""
        return self._begin([*self._fed(data)])

    def _fed(self, data: str) -> Iterable[Message]:
        data, self._early = self._early + data, ""
        before_s, self._held_s = self._held_s, time.monotonic()
        is_late = self._held_s - before_s >= constants.ESCAPE_DELAY
        if goes_on := is_late and self._repair.may_go_on(data):
            self._late_until_s = self._held_s + LATE_S
        is_esc = not goes_on and (is_late or data.startswith(ESCAPE)) and self._repair.take_esc()
        repaired = self._repair.feed(data)
        answers, self._repair.answers = self._repair.answers, []
        for answer in answers:
            if answer != ANSWER and self._owes_first:
                self._owes_first = False
            else:
                yield TerminalAnswered(answer)
        if is_esc:
            yield Key("escape", ESCAPE)
        if repaired or not data:
            yield from map(self._mended, super().feed(repaired))

    def _begin(self, events: list[Message]) -> Iterable[Message]:
        """What the first events mean. Several lines may be a paste, which nothing marks: Enter doesn't send them."""
        now_s, typed = time.monotonic(), "".join(map(_typed, events))
        if now_s >= self._begun_until_s:
            return events
        self._begun += typed
        are_several = "\n" in self._begun.strip("\n")
        over_s = now_s + (HELD_S if are_several else EARLY_S)  # the user may have yet to see several
        self._begun_until_s = over_s if typed else min(self._begun_until_s, over_s)
        enter = (LINE_END, None) if are_several else ("enter", "\r")
        return [Key(*enter) if _typed(event) == "\n" else event for event in events]

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[Key]:
        """The keys of a sequence. A letter with Alt is no text, which a field would type.

        What follows Esc too fast, and is no sequence after all, are keys: the first of them is Esc.
        """
        if sequence == ESCAPE:
            yield Key(ESCAPE, ESCAPE)
            return
        for key in super()._sequence_to_key_events(sequence, alt):
            if key.key.startswith("alt+"):
                key.character = None
            yield key

    def _mended(self, event: Message) -> Message:
        """A paste with its text; an Esc that Textual 8.2.8 would have turned into a `^` if it had its name already."""
        if isinstance(event, Paste):
            return Paste(self._repair.pastes.pop(0))
        return Key("escape", ESCAPE) if isinstance(event, Key) and event.key == ESCAPE else event


def repair_terminal_input(is_awaited: Callable[[], bool]) -> None:
    """Make Textual's driver use our parser from its next start on; `is_awaited`: whether an answer is due."""
    parser: Any = partial(InputParser, is_awaited=is_awaited)
    linux_driver.XTermParser = parser  # type: ignore[attr-defined]  # imported there, but not exported
