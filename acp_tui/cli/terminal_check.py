"""Looks at the terminal for the doctor: what it is, and what works there and what does not. It draws nothing."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import sys
import termios
import time
import tty
from collections.abc import Iterator, Mapping
from typing import Final

from acp_tui.cli.environment import reason_not_to_draw
from acp_tui.client.doctor import Finding, note, ok, wrong
from acp_tui.ui.terminal_colours import FENCE, MUTE, has_unicode

LEAST_SIZE: Final = (40, 12)
"""Below, cards and lists show little of what is in them."""
KITTY_QUERY: Final = b"\x1b[?u\x1b[c"
"""Which keys are told apart (Kitty's protocol), and what are you? Every terminal answers the second."""
KITTY_ANSWER: Final = re.compile(rb"\x1b\[\?\d+u")
ANSWER_LIMIT_S: Final = 1.0
TMUX_LIMIT_S: Final = 2.0


def look_at_terminal(environ: Mapping[str, str]) -> Iterator[Finding]:
    """What it is and what it can do, as far as it says so. It may take a second: the terminal is asked."""
    yield _terminal(environ)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        yield note("Screen", "this is no terminal, so there is no more to say of it")
    else:
        yield _size()
        yield _keys(environ)
    yield _colours(environ)
    yield _letters(environ)
    if environ.get("TMUX"):
        yield from _tmux()


def _terminal(environ: Mapping[str, str]) -> Finding:
    reason, _, hint = reason_not_to_draw(environ).partition("\n  ")
    if reason:
        return wrong("Terminal", reason, hint)
    term = environ.get("TERM", "")
    where = " over SSH" if environ.get("SSH_CONNECTION") else ""
    return ok("Terminal", f"{environ.get('TERM_PROGRAM') or term} (TERM={term}){where}")


def _size() -> Finding:
    columns, rows = os.get_terminal_size(sys.stderr.fileno())
    text = f"{columns}x{rows}"
    if columns < LEAST_SIZE[0] or rows < LEAST_SIZE[1]:
        return note("Size", f"{text}: it works, but from {LEAST_SIZE[0]}x{LEAST_SIZE[1]} on more can be read")
    return ok("Size", text)


def _colours(environ: Mapping[str, str]) -> Finding:
    if environ.get("NO_COLOR"):
        return ok("Colours", "none, as NO_COLOR says")
    if environ.get("COLORTERM") in ("truecolor", "24bit"):
        return ok("Colours", "16 million")
    count = "256" if "256" in environ.get("TERM", "") else "16"
    return ok("Colours", f"{count}; COLORTERM=truecolor says that there are more")


def _letters(environ: Mapping[str, str]) -> Finding:
    if has_unicode(environ):
        return ok("Letters", "UTF-8")
    return note("Letters", "ASCII only, as the locale says", "for more: LANG=C.UTF-8, or your own in UTF-8")


def _keys(environ: Mapping[str, str]) -> Finding:
    if environ.get("TERM", "") in MUTE:
        return note("Keys", "not asked")
    if KITTY_ANSWER.search(_answer_to(KITTY_QUERY)):
        return ok("Keys", "told apart, Shift+Enter too (Kitty's protocol)")
    return note("Keys", "Shift+Enter may look like Enter here: Ctrl+J makes a new line everywhere")


def _answer_to(query: bytes) -> bytes:
    """What the terminal says until its last answer; nothing of it is left to be read, and nothing is shown."""
    read_fd, deadline, answer = sys.stdin.fileno(), time.monotonic() + ANSWER_LIMIT_S, b""
    try:
        before = termios.tcgetattr(read_fd)
        tty.setcbreak(read_fd, termios.TCSANOW)
        try:
            os.write(sys.stderr.fileno(), query)
            while not FENCE.search(answer):
                if not select.select([read_fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
                    break
                answer += os.read(read_fd, 1024)
        finally:
            termios.tcsetattr(read_fd, termios.TCSANOW, before)
    except (OSError, termios.error):
        pass
    return answer


def _tmux() -> Iterator[Finding]:
    passthrough = _tmux_option("allow-passthrough", "-gv")
    if passthrough in ("on", "all"):
        yield ok("tmux", "hands sequences on (allow-passthrough)")
    else:
        hint = "tmux set -g allow-passthrough on"
        yield note("tmux", "keeps pictures, copies and notices from the terminal around it", hint)
    if _tmux_option("focus-events", "-gv") != "on":
        yield note(
            "tmux",
            "does not tell which window has the focus, so nothing is told",
            "tmux set -g focus-events on",
        )


def _tmux_option(name: str, flags: str) -> str:
    """Its value; "" where tmux does not say."""
    program = shutil.which("tmux")
    if program is None:
        return ""
    try:
        done = subprocess.run(
            [program, "show-options", flags, name], capture_output=True, timeout=TMUX_LIMIT_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace").strip()
