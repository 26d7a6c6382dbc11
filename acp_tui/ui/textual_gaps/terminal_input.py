"""Repairs terminal input before Textual parses it: pastes never become keys, and keys keep their modifiers.

Textual 8.2.8 reads what follows an escape character in a paste as keys, Alt+Enter as Enter, Alt+Backspace as Ctrl+W,
Alt with a digit as a character, and not the form in which tmux and xterm report Shift+Enter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.message import Message

ESCAPE: Final = "\x1b"
PASTE_BEGINS: Final = "\x1b[200~"
PASTE_ENDS: Final = "\x1b[201~"
STAND_IN: Final = "␛"
_MODIFIED_KEY: Final = re.compile(r"\x1b\[27;(\d+);(\d+)~")
"""As xterm tells of it (modifyOtherKeys)."""
_ALT: Final = {f"\x1b{key}": f"\x1b[{ord(key)};3u" for key in "\r\x7f123456789"}
_ALT_KEY: Final = re.compile(r"(?<!\x1b)\x1b[\r\x7f1-9]")


class Mended:
    """What was fed, made fit for Textual, however it is cut into pieces."""

    def __init__(self) -> None:
        self._is_paste = False
        self._held = ""
        """The beginning of what may be a marker."""
        self._has_escaped = False
        """The escape character that it begins with was given to Textual."""

    def feed(self, data: str) -> str:
        """What Textual gets for this; "" at the end of the input."""
        data, self._held = self._held + data, ""
        pieces: list[str] = []
        while data:
            piece, data = self._paste(data) if self._is_paste else self._keys(data)
            pieces.append(piece)
        return "".join(pieces)

    def _keys(self, data: str) -> tuple[str, str]:
        """What is no paste, and what is left."""
        keys, marker, rest = data.partition(PASTE_BEGINS)
        self._is_paste = bool(marker)
        if not marker:
            keys, self._held = _without_half(keys, PASTE_BEGINS)
        begun, self._has_escaped = self._has_escaped, False
        if self._held == ESCAPE:  # it may be the key, which must not wait
            keys, self._has_escaped = keys + ESCAPE, True
        elif begun and not keys + marker:
            self._has_escaped = True
        sent = (keys + marker)[begun:].replace(PASTE_ENDS, "")
        return _MODIFIED_KEY.sub("\x1b[\\2;\\1u", _ALT_KEY.sub(lambda found: _ALT[found[0]], sent)), rest

    def _paste(self, data: str) -> tuple[str, str]:
        """What is pasted, without an escape character, and what is left."""
        pasted, marker, rest = data.partition(PASTE_ENDS)
        # An end behind which another comes was part of the paste.
        while marker and PASTE_ENDS in rest.partition(PASTE_BEGINS)[0]:
            more, _, rest = rest.partition(PASTE_ENDS)
            pasted += PASTE_ENDS + more
        self._is_paste = not marker
        if not marker:
            pasted, self._held = _without_half(pasted, PASTE_ENDS)
        return pasted.replace(ESCAPE, STAND_IN) + marker, rest


def _without_half(data: str, marker: str) -> tuple[str, str]:
    """The data without the beginning of a marker at its end, and that beginning."""
    for length in range(len(marker) - 1, 0, -1):
        if data.endswith(marker[:length]):
            return data[:-length], data[-length:]
    return data, ""


class InputParser(XTermParser):
    """Textual's parser, fed with what is mended."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._mended = Mended()

    def feed(self, data: str) -> Iterable[Message]:
        """The events for what the terminal has sent; "" ends the input."""
        mended = self._mended.feed(data)
        return super().feed(mended) if mended or not data else ()


def mend_terminal_input() -> None:
    """Have Textual's driver use the parser from its next start on."""
    linux_driver.XTermParser = InputParser  # type: ignore[attr-defined]  # imported there, not meant for others
