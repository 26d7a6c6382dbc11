"""Ways past a close look at a line, which nearly all lines can take; the close look itself is `passes`'.

A line whose strings are all known to hold nothing need not be read, one in which no string tells what another is can
have them replaced one by one, and a piece of a text stands among the same words as the piece before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from acp_tui.workbench.redact.json_strings import JsonString, decoded, encoded, literals
from acp_tui.workbench.redact.places import Piece, may_have_blocks, tells_a_place
from acp_tui.workbench.redact.texts import Place, Redactor
from acp_tui.workbench.redact.words import may_be_own_word

MAX_PLAIN: Final = 50_000
MAX_PLAIN_CHARS: Final = 100
MAX_FRAMES: Final = 1_000

_TIME: Final = re.compile(r'\{"t":\d+(?:\.\d+)?,')
_FRAME_KEY: Final = '"frame":'
_TEXT_KEY: Final = '"text":"'
_PLAIN: Final = r'[^"\\\x00-\x1f]*+'
_TEXT: Final = re.compile(rf'{_PLAIN}(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{{4}}){_PLAIN})*+(?=")')
_STREAMED: Final = ('_chunk"', "terminal_output", '"session/prompt"')


class Framed(NamedTuple):
    """A line that looks like one piece of a text, and what stands around it, but for the time."""

    around: tuple[str, str]
    start: int
    """Where the text begins, its quote included."""
    end: int
    literal: str

    @property
    def text(self) -> str:
        """What the piece says."""
        return decoded(self.literal)

    @property
    def string(self) -> JsonString:
        """The piece itself."""
        return JsonString(self.start, self.end, self.text, (), is_key=False)


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its secrets."""

    text: str
    found: tuple[Place, ...] = ()


class Shortcuts:
    """Knows what need not be looked at again; all of it is forgotten when more is known to be secret."""

    def __init__(self, redactor: Redactor, *, every_place_counts: bool) -> None:
        """Where contents of files are left out, any line may tell of another."""
        self._redactor = redactor
        self._every_place_counts = every_place_counts
        self._plain: set[str] = set()
        """Strings, as they are written, that hold nothing and tell of no place."""
        self._pieces: dict[tuple[str, str], Piece] = {}
        self._known_then = -1

    def piece(self, framed: Framed | None) -> Piece | None:
        """Which text a line is a piece of, if that is known by what stands around it."""
        self._forget_what_may_be_wrong()
        return None if framed is None else self._pieces.get(framed.around)

    def remember(self, framed: Framed, piece: Piece) -> None:
        """In a line of this kind there is but the piece to look at."""
        if not self._every_place_counts:
            self._forget_what_may_be_wrong()
            self._pieces[framed.around] = piece

    def line(self, text: str) -> Line | None:
        """A line that is JSON without its secrets; None where their places count."""
        if self._every_place_counts or _FRAME_KEY not in text or '"headers"' in text or may_have_blocks(text):
            return None
        if any(map(text.__contains__, self._redactor.ledger.numbers)):
            return None
        self._forget_what_may_be_wrong()
        written = literals(text)
        if self._plain.issuperset(written):
            return Line(text)
        return self._replaced(text, {*written} - self._plain)

    def _replaced(self, text: str, written: set[str]) -> Line | None:
        found: list[Place] = []
        for each in written:
            said = decoded(f'"{each}"')
            if tells_a_place(said):
                return None
            redacted = self._redactor.redact(said)
            if not redacted.found:
                if len(each) <= MAX_PLAIN_CHARS:
                    self._plain.add(each)
                continue
            if (
                may_be_own_word(said) or each[0] in " ,:[]{}"
            ):  # what stands between two strings, too, may read so
                return None
            old = f'"{each}"'
            found += redacted.found * text.count(old)
            text = text.replace(old, encoded(redacted.text, old))
        return Line(text, tuple(found))

    def _forget_what_may_be_wrong(self) -> None:
        known = self._redactor.ledger.version
        if known != self._known_then or len(self._plain) > MAX_PLAIN or len(self._pieces) > MAX_FRAMES:
            self._plain.clear()
            self._pieces.clear()
            self._known_then = known


def framed(line: str) -> Framed | None:
    """The line as a text with what is around it; None where it does not look like one."""
    at = line.find(_TEXT_KEY)
    time = _TIME.match(line) if at >= 0 else None
    if time is None:
        return None
    start = at + len(_TEXT_KEY) - 1
    text = _TEXT.match(line, start + 1)
    if text is None:
        return None
    end = text.end() + 1
    return Framed((line[time.end() : start], line[end:]), start, end, line[start:end])


def may_hold_a_piece(line: str) -> bool:
    """Whether it has to be read to know that none of its strings is a piece of a text."""
    return _FRAME_KEY not in line or any(map(line.__contains__, _STREAMED)) or may_have_blocks(line)
