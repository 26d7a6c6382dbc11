"""Answers what a program asks its terminal, such as where the cursor is; shows nothing.

Whoever waits for such an answer waits for ever without one, also where nobody looks at the terminal. Few programs ask,
so the emulator that knows the answers is loaded at the first question, and gets all that was printed until then.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from acp_tui.client.terminals.emulator import Emulator, load_emulator, make_emulator
from acp_tui.client.terminals.feeder import Feeder
from acp_tui.conversation.buffers import ByteRing

RECENT_BYTES: Final = 64 * 1024
"""More than fills a screen: what was printed before does not move the cursor."""
LONGEST_QUESTION: Final = 32
"""Bytes of a question that came before the rest of it."""
_QUESTION: Final = re.compile(
    rb"\x1b(?:"
    rb"\[[?>=]?[\d;]*[cntx]"  # attributes, cursor, sizes
    rb"|\[\?[\d;]*\$p|\[[\d;]*\$p"  # modes
    rb"|\[>\d*q|\[\?u"  # version, keyboard
    rb"|\][\d;]+;\?"  # colors
    rb"|P[$+]q|Z"
    rb")"
)


class Answerer:
    """Follows one terminal's output; `reply` types the answers. Everything is called on the event loop."""

    def __init__(self, columns: int, rows: int, feeder: Feeder, reply: Callable[[bytes], None]) -> None:
        self._size = columns, rows
        self._feeder = feeder
        self._reply = reply
        self._recent = ByteRing(RECENT_BYTES)
        """What an emulator would be fed first."""
        self._is_loading = False
        self._emulator: Emulator | None = None

    def take(self, data: bytes) -> None:
        """The program has printed this."""
        if self._emulator is not None:
            self._feed(self._emulator, data)
            return
        self._recent.append(data)
        if not self._is_loading and _QUESTION.search(self._recent.read(len(data) + LONGEST_QUESTION)):
            self._is_loading = True
            self._feeder.run(load_emulator, self._on_loaded)

    def resize(self, columns: int, rows: int) -> None:
        """The terminal has another size."""
        self._size = columns, rows
        if self._emulator is not None:
            self._emulator.resize(columns, rows)

    def close(self) -> None:
        """Answer no more. May be called twice."""
        self._is_loading = True  # never again
        self._recent = ByteRing(0)
        if self._emulator is not None:
            self._emulator.close()
            self._emulator = None

    def _on_loaded(self) -> None:
        if self._recent.limit_bytes:
            self._emulator = make_emulator(*self._size, 0)
            self._feed(self._emulator, self._recent.read())
            self._recent = ByteRing(0)

    def _feed(self, emulator: Emulator, data: bytes) -> None:
        emulator.feed(data)
        if replies := emulator.take_replies():
            self._reply(replies)
