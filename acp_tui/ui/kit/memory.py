"""Keeps the garbage collector from looking again and again at what stays."""

from __future__ import annotations

import gc


def keep_what_is_loaded() -> None:
    """Once all is loaded: without this, each full collection looks at all of it and stalls the screen for 40 ms.

    Only once: what is frozen is never collected, and a later tab is to leave nothing behind when it is closed.
    """
    if not gc.get_freeze_count():
        gc.freeze()
    # A young collection of so many takes 10 ms at most: a row that scrolls by is garbage in cycles (Strip.divide).
    # A middle one looks at five of them: fifty took as long as a full one, again and again in a long conversation.
    gc.set_threshold(20_000, 5, 100)
