"""Asks the terminal, before anything is drawn, whether it's light or dark and can show Unicode.

Doesn't import Textual, so that it can ask while that loads.
"""

from __future__ import annotations

import atexit
import codecs
import os
import re
import sys
import termios
import time
import tty
from collections.abc import Callable, Mapping
from contextlib import suppress
from select import select
from typing import Any, Final, Literal, TypeAlias

Shade: TypeAlias = Literal["light", "dark"]

QUERY: Final = b"\x1b]11;?\x1b\\\x1b[c"
"""Asks for the background (OSC 11) and the terminal type (DA1). Every terminal answers the second, in this order."""
FENCE: Final = re.compile(rb"\x1b\[\?[\d;]*c")
"""The answer to DA1. No other answer follows it."""
BACKGROUND: Final = re.compile(rb"\x1b\]11;rgba?:([\da-fA-F]{1,4})/([\da-fA-F]{1,4})/([\da-fA-F]{1,4})")
LIMIT_S: Final = 0.05
"""Loading the screen takes longer than this. The driver drops an answer that comes later."""
REMOTE_LIMIT_S: Final = 1.0
"""Over SSH."""
MUTE: Final = frozenset({"", "dumb", "linux", "unknown"})
"""Values of TERM for terminals that may show the query instead of answering it."""
LIGHT_INDEXES: Final = frozenset({"7", *map(str, range(9, 16))})
"""The indexes of light background colors among the 16; 8 is dark gray."""


def light_or_dark(environ: Mapping[str, str], query: Callable[[], bytes]) -> Shade | None:
    """Whether the terminal's background is light or dark; None if unknown. `query` asks the terminal."""
    # Some terminals set "foreground;background", or three values of which the last is the background.
    index = environ.get("COLORFGBG", "").rpartition(";")[2]
    if index.isdecimal():
        return "light" if index in LIGHT_INDEXES else "dark"
    return None if environ.get("TERM", "") in MUTE else shade_of(query())


def shade_of(answer: bytes) -> Shade | None:
    """The shade in a terminal's answer to `QUERY`; None if there isn't one."""
    found = BACKGROUND.search(answer)
    if found is None:
        return None
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in found.groups())
    return "light" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "dark"


def keep_keys(fd: int) -> None:
    """From now on until acp-tui ends, echo no key of the terminal."""
    before = termios.tcgetattr(fd)
    atexit.register(_restore, fd, before)
    tty.setcbreak(fd, termios.TCSANOW)  # keeps what was typed before


def _restore(fd: int, mode: list[Any]) -> None:
    with suppress(OSError, termios.error):
        termios.tcsetattr(fd, termios.TCSANOW, mode)


def ask_terminal(meanwhile: Callable[[], object]) -> bytes:
    """What has come from the terminal when `meanwhile` returns, or soon after: its answer to `QUERY`, and keys."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return b""
    is_remote = not {"SSH_CONNECTION", "SSH_TTY"}.isdisjoint(os.environ)
    return exchange(sys.stdin.fileno(), sys.stderr.fileno(), REMOTE_LIMIT_S if is_remote else LIMIT_S, meanwhile)


def exchange(
    read_fd: int, write_fd: int, limit_s: float, meanwhile: Callable[[], object] = lambda: None, query: bytes = QUERY
) -> bytes:
    """Query the terminal, call `meanwhile`, and read until the last answer, or until `limit_s` after the query.

    Returns what the user typed, too.
    """
    try:
        keep_keys(read_fd)
        os.write(write_fd, query)
        deadline = time.monotonic() + limit_s
        meanwhile()
        return _answer(read_fd, deadline)
    except (OSError, termios.error):
        return b""


def _answer(fd: int, deadline: float) -> bytes:
    answer = b""
    while not FENCE.search(answer) and select([fd], [], [], max(deadline - time.monotonic(), 0))[0]:
        more = os.read(fd, 1024)
        if not more:
            break
        answer += more
    return answer


def has_unicode(environ: Mapping[str, str]) -> bool:
    """Whether the locale supports more than ASCII. True if no locale is set."""
    locale = next(filter(None, (environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))), "")
    if locale in ("C", "POSIX"):
        return False
    encoding = locale.partition(".")[2].partition("@")[0]
    try:
        return not encoding or codecs.lookup(encoding).name == "utf-8"
    except LookupError:
        return True
