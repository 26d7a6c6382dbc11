"""Keeps what goes wrong inside while the user interface has the screen, and says it once the terminal is free.

Textual takes what is written to stderr meanwhile, so that it would be lost. Failures that the user can do something
about never come here: they are told where they happen.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

MOST_KEPT: Final = 20
"""What comes later mostly follows from the first ones."""


class _Kept(logging.Handler):
    """The first records, each once, as texts, since a traceback would keep alive whatever it went through."""

    def __init__(self, *, shows_where: bool) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []
        self.more = 0
        self._shows_where = shows_where

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        # Most runs have nothing to keep.
        from acp_tui.conversation.visible import make_visible, make_visible_line

        text = (
            make_visible(self.format(record)) if self._shows_where else make_visible_line(_in_a_line(record))
        )
        if text in self.texts or len(self.texts) == MOST_KEPT:
            self.more += 1
        else:
            self.texts.append(text)


@contextmanager
def told_afterwards() -> Iterator[None]:
    """What is logged in the block as wrong is written to stderr behind it, however it ends."""
    kept = _Kept(shows_where=bool(os.environ.get("ACP_TUI_DEBUG")))
    log = logging.getLogger()  # the event loop logs there what nobody has waited for
    log.addHandler(kept)
    try:
        yield
    finally:
        log.removeHandler(kept)
        if kept.texts:
            sys.stderr.write(_told(kept))


def _told(kept: _Kept) -> str:
    head = "acp-tui: this went wrong inside; ACP_TUI_DEBUG=1 shows where, please report it with that"
    more = [f"and {kept.more} more like that"] if kept.more else []
    return "\n  ".join([head, *kept.texts, *more]) + "\n"


def _in_a_line(record: logging.LogRecord) -> str:
    error = record.exc_info[1] if record.exc_info is not None else None
    return record.getMessage() if error is None else f"{record.getMessage()}: {type(error).__name__}: {error}"
