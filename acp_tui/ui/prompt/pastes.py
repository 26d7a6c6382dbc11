"""Long pastes in a draft: which placeholder stands for which text. It draws nothing and edits nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

MAX_LINES: Final = 10
MAX_CHARACTERS: Final = 1_000
"""What is longer is shown as a placeholder."""
MAX_OPEN_CHARACTERS: Final = 200_000
MAX_OPEN_LINE: Final = 20_000
"""What is longer, in all or in one line, is never shown whole: each key in it would cost a visible time."""
PREVIEW: Final = 24
_SPACES: Final = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")


class Chip(NamedTuple):
    """A placeholder in a line of the draft."""

    start: int
    stop: int
    placeholder: str


class Pastes:
    """The texts behind the placeholders of one draft. A placeholder that nothing is known of is just text."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._any: re.Pattern[str] | None = None

    def keep(self, text: str) -> str:
        """The placeholder that stands for it from now on."""
        placeholder = f"[pasted {_extent(text)}: {_preview(text)} #{len(self._texts) + 1}]"
        self._texts[placeholder] = text
        self._any = re.compile("|".join(map(re.escape, self._texts)))
        return placeholder

    def forget(self) -> None:
        """The draft is another one."""
        self._texts.clear()
        self._any = None

    def text_of(self, chip: Chip) -> str:
        """What it stands for."""
        return self._texts[chip.placeholder]

    def chips(self, line: str) -> Iterator[Chip]:
        """The placeholders in it, from left to right."""
        if self._any is not None:
            for found in self._any.finditer(line):
                yield Chip(*found.span(), found[0])

    def expand(self, text: str) -> str:
        """With each placeholder replaced by what it stands for; a placeholder within that is just text."""
        return text if self._any is None else self._any.sub(lambda found: self._texts[found[0]], text)

    def fold(self, text: str) -> str:
        """With what the placeholders stand for replaced by them again, each once; the way back from `expand`."""
        for placeholder, whole in self._texts.items():
            text = text.replace(whole, placeholder, 1)
        return text if can_be_open(text) else self.keep(text)


def is_long(text: str) -> bool:
    """Whether it is shown as a placeholder when it is pasted."""
    return len(text) > MAX_CHARACTERS or text.rstrip("\n").count("\n") >= MAX_LINES


def can_be_open(text: str) -> bool:
    """Whether it can stand in a draft as it is."""
    return len(text) <= MAX_OPEN_CHARACTERS and all(len(line) <= MAX_OPEN_LINE for line in text.split("\n"))


def cleaned(text: str) -> str:
    """What may stand in a draft: lines end with a line feed, and what a terminal obeys or hides is visible.

    So what the user sees is what the agent gets. Spaces that only look different become plain ones.
    """
    from acp_tui.conversation.visible import make_visible  # not for the first frame

    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return make_visible(text if text.isascii() else _SPACES.sub(" ", text))


def _extent(text: str) -> str:
    lines = text.rstrip("\n").count("\n") + 1
    return f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"


def _preview(text: str) -> str:
    first = next((line for line in text.split("\n") if line.strip()), "")[: PREVIEW * 4]
    words = " ".join(first.split())
    return f'"{words}"' if len(words) <= PREVIEW else f'"{words[:PREVIEW]}…"'
