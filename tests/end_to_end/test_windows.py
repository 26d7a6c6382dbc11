"""Windows of any size, resized faster than they can be drawn: nothing breaks, nothing is left behind.

ACP_TUI_STORMS=20 raises that many storms.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from support.terminals import OnTerminal, on_terminal

CTRL_Q = "\x11"
RESIZES = 100
SIZES = ((1, 1), (300, 100), (20, 5), (1, 100), (300, 1), (80, 24))
STORMS = int(os.environ.get("ACP_TUI_STORMS", "1"))


def works(screen: OnTerminal) -> None:
    """Typed text shows, the whole window is drawn, and it quits properly."""
    screen.resize(80, 24)
    screen.wait_for("╰────")
    screen.type("still here")
    screen.wait_for("still here")
    screen.wait_for("F1 help")
    screen.type(2 * CTRL_Q)  # an agent may be at work
    assert screen.wait_for_end() == 0, screen.written[-2000:]
    assert screen.is_as_before()
    assert b"Traceback" not in screen.written


@pytest.mark.parametrize("seed", range(STORMS))
def test_a_storm_of_resizes_while_the_demo_plays_leaves_it_working(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    with on_terminal(tmp_path, "demo", "--speed", "5") as screen:
        screen.prompt("hello")
        for number in range(RESIZES):
            known = SIZES[number % len(SIZES)]
            screen.resize(*random.choice([known, (random.randint(1, 300), random.randint(1, 100))]))
            screen.read(0.01)
        works(screen)


@pytest.mark.parametrize("size", SIZES)
def test_it_starts_and_plays_in_a_window_of_any_size(tmp_path: Path, size: tuple[int, int]) -> None:
    with on_terminal(tmp_path, "demo", "--speed", "20", size=size) as screen:
        screen.until(lambda: b"\x1b[?1049h" in screen.written)
        screen.type("hello")
        screen.read(0.5)
        screen.type("\r")
        screen.read(0.5)
        works(screen)
