"""Measures what it costs to compare, lay out, and draw diffs, and the longest single step on the event loop.

    python tests/benchmarks/diffs.py [ROUNDS]

Times are medians in milliseconds. The last column gives the whole in units of a calibration loop that runs in the same
round (splitting and counting the words of a text, about 10 ms): the machine wobbles, the ratio hardly does.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from acp_tui.ui.kit.themes import DARK, palette_for
from acp_tui.ui.rendering.diff import DiffRenderer

WIDTH = 110
PAGE = 40
CODE = """def step_{0}(state: dict[str, int]) -> int:
    \"\"\"Advance the machine by {0}.\"\"\"
    for key, value in state.items():
        if value > {0}:
            return len(key) * {0}
    return 0

"""


class Texts(NamedTuple):
    """A file before and after."""

    path: str
    old: str | None
    new: str


class Figures(NamedTuple):
    """Milliseconds, and the final number of rows."""

    compare: float
    longest_step: float
    layout: float
    page: float
    columns: float
    whole: float
    calibration: float
    rows: float


def code(lines: int) -> list[str]:
    """This many lines of a program."""
    count = CODE.count("\n")
    return "".join([CODE.format(number) for number in range(-(-lines // count))]).splitlines(True)[:lines]


def edited(lines: list[str], share: float) -> str:
    """The lines, some of them changed."""
    chosen = set(random.Random(1).sample(range(len(lines)), int(len(lines) * share)))
    return "".join([line.replace("e", "E", 1) if at in chosen else line for at, line in enumerate(lines)])


def scenes() -> dict[str, Texts]:
    """What is measured."""
    short, long = code(2_000), code(20_000)
    minified = '{"a":' + '"x",' * 250_000 + "}"
    wide = [f"{line.rstrip()} # {'so that it is longer than the view ' * 3}\n" for line in code(5_000)]
    dice = random.Random(2)
    return {
        "12 lines": Texts("a.py", "".join(short[:12]), edited(short[:12], 0.2)),
        "2,000 lines, 4% edited": Texts("a.py", "".join(short), edited(short, 0.04)),
        "20,000 lines, 4% edited": Texts("a.py", "".join(long), edited(long, 0.04)),
        "20,000 lines, 20% edited": Texts("a.py", "".join(long), edited(long, 0.2)),
        "20,000 lines, one edited": Texts("a.py", "".join(long), "".join([*long[:9_999], "x\n", *long[10_000:]])),
        "20,000 lines, new file": Texts("a.py", None, "".join(long)),
        "20,000 lines in Chinese": Texts("a.md", "这是一行文字,不长也不短\n" * 20_000, "这是另一行文字\n" * 20_000),
        "5,000 lines, all folded": Texts("a.py", edited(wide, 0.5), "".join(wide)),
        "20,000 lines at random": Texts("a.txt", *("".join(dice.choices("abcdefgh\n", k=40_000)) for _ in "ab")),
        "one line of 1 MB": Texts("a.json", minified, minified.replace("x", "y", 1)),
    }


def milliseconds(work: Callable[[], object]) -> float:
    """Measure how long it takes."""
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1e3


def calibrate() -> None:
    """A fixed piece of work in Python."""
    for _ in range(10):
        Counter(("the quick brown fox jumps over the lazy dog " * 800).split(" "))


def measure(texts: Texts) -> Figures:
    """A diff, from its texts to the screen."""
    palette = palette_for(DARK)
    renderer = DiffRenderer(*texts)
    steps: list[float] = []
    while not renderer.is_ready:
        steps.append(milliseconds(lambda: renderer.advance(1)))
    layout = milliseconds(lambda: renderer.lines(WIDTH, palette))
    rows = renderer.lines(WIDTH, palette)
    middle = len(rows) // 2
    return Figures(
        sum(steps),
        max(steps),
        layout,
        milliseconds(lambda: rows[middle : middle + PAGE]),
        milliseconds(lambda: renderer.lines(WIDTH, palette, "columns")[:PAGE]),
        milliseconds(lambda: renderer.lines(WIDTH, palette, context=None)[:PAGE]),
        milliseconds(calibrate),
        len(rows),
    )


def main() -> int:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    measure(scenes()["12 lines"])  # imports the lexer
    titles = ("compare", "longest step", "layout", "page", "2 columns", "whole file", "rows", "ratio")
    print(f"{f'median of {rounds}, ms':<26}" + "".join([f"{title:>14}" for title in titles]))
    for name, texts in scenes().items():
        measured = [measure(texts) for _ in range(rounds)]
        median = Figures(*map(statistics.median, zip(*measured, strict=True)))
        ratio = statistics.median(
            (figures.compare + figures.layout + figures.page) / figures.calibration for figures in measured
        )
        times = "".join([f"{figure:>14.1f}" for figure in median[:6]])
        print(f"{name:<26}{times}{int(median.rows):>14,}{ratio:>14.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
