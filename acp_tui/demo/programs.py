"""Small programs for the demo's terminals, run by path: `python programs.py NAME`.

They print what terminals must handle, and need only the standard library. DEMO_SPEED scales their pauses like the
agent's; 0 is without any.
"""

from __future__ import annotations

import os
import sys
import time

SPEED = float(os.environ.get("DEMO_SPEED") or 1)


def show(text: str, pause_s: float = 0.0) -> None:
    """Print `text` immediately, then pause."""
    sys.stdout.write(text)
    sys.stdout.flush()
    if SPEED:
        time.sleep(pause_s / SPEED)


def progress() -> int:
    """A bar that redraws its own line."""
    width = 40
    for done in range(width + 1):
        bar = "█" * done + "░" * (width - done)
        show(f"\r\x1b[2K\x1b[36m{bar}\x1b[0m {done * 100 // width:3d}%", 0.06)
    show("\r\x1b[2K\x1b[32m✔\x1b[0m 41 packages are up to date\n")
    return 0


def colors() -> int:
    """The 16 colors, a part of the 256, a gradient, and the attributes."""
    for first in (30, 90):
        show("".join(f"\x1b[{first + n}m ●●● \x1b[0m" for n in range(8)) + "\n", 0.15)
    for start in (16, 52, 88, 124, 160, 196):
        show("".join(f"\x1b[48;5;{start + n}m  \x1b[0m" for n in range(36)) + "\n", 0.1)
    show("".join(f"\x1b[48;2;{red};60;{255 - red}m \x1b[0m" for red in range(0, 256, 4)) + "\n", 0.2)
    attributes = (("bold", 1), ("dim", 2), ("italic", 3), ("underlined", 4), ("reversed", 7), ("struck", 9))
    show("  ".join(f"\x1b[{code}m{name}\x1b[0m" for name, code in attributes) + "\n")
    show("wide: 日本語 한국어 👩‍👩‍👧 🇪🇺 é\n")
    return 0


def fail() -> int:
    """A build that fails, with exit status 3."""
    for target in ("configure", "compile", "link"):
        show(f"\x1b[1m==>\x1b[0m {target}\n", 0.4)
    show("\x1b[31;1merror:\x1b[0m undefined symbol \x1b[33mparse_duration\x1b[0m\n", 0.2)
    return 3


def lines() -> int:
    for number in range(1, 2001):
        color = 31 + number % 6
        show(f"\x1b[2m{number:5d}\x1b[0m \x1b[{color}m{'▪' * (number % 40)}\x1b[0m\n", 0.001)
    return 0


def ask() -> int:
    """A question that waits for an answer from the keyboard."""
    show("Install 3 packages? [y/N] ")
    is_yes = sys.stdin.readline().strip().lower() in ("y", "yes")
    show("installed\n" if is_yes else "nothing was installed\n")
    return 0 if is_yes else 1


def wait() -> int:
    """A server that never exits."""
    if SPEED:  # otherwise it is stopped right away, and chance would decide whether it had printed this
        show("listening on port 8000\n")
    while True:
        time.sleep(3600)


PROGRAMS = {"ask": ask, "colors": colors, "fail": fail, "lines": lines, "progress": progress, "wait": wait}

if __name__ == "__main__":
    sys.exit(PROGRAMS[sys.argv[1]]())
