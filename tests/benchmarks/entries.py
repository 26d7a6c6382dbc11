"""Measures what a long conversation costs, and what typing costs on a slow terminal.

    python tests/benchmarks/entries.py [ENTRIES ...] [--only inside|outside|slow] [--agent BENCH_AGENT]

Inside: a built conversation of so many entries (default: 100, 1,000 and 5,000) on a headless screen of 120x40 that
makes every byte a terminal would get; CPU milliseconds from the cause to the frame that shows its effect. Beside them
stands a calibration: the time of a fixed loop of Python, so that runs on two machines compare.

Outside: the whole program in a PTY with `bench_agent.py` (default: ../shared/bench beside the repository; left out
where that is missing), read as fast as it writes, and at 60 and 20 KB/s, as over a poor connection.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import os
import pty
import re
import select
import statistics
import struct
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from own_home import own_home  # noqa: E402
from textual import events  # noqa: E402
from textual.drivers.headless_driver import HeadlessDriver  # noqa: E402
from textual.geometry import Size  # noqa: E402

from acp_tui.client.desktop import ANSWER, QUESTION, SURE_QUESTION  # noqa: E402
from acp_tui.conversation.tool_calls import TextDiff  # noqa: E402
from acp_tui.conversation.updates import SessionUpdate  # noqa: E402
from acp_tui.ui.base.app import keep_what_is_loaded  # noqa: E402
from support.folding import agent, call, user  # noqa: E402
from support.screens import Page, ScreenApp, new_session, show  # noqa: E402

SIZE: Final = (120, 40)
LOOPS: Final = 1_000_000
ROUNDS: Final = 15
SLOW_LINKS: Final = {60_000: "p99 < 300", 20_000: "p99 < 200"}
"""Bytes per second, and how soon a key must show."""
UNLIMITED: Final = 1e9
TICK_S: Final = 0.01
LIMIT_S: Final = 2.0
"""For work that draws no frame."""
KEY_S: Final = 0.15
ECHO_LIMIT_S: Final = 5.0
KEYS: Final = 60
LETTERS: Final = [chr(code) for code in range(0x0410, 0x0410 + 200)]
"""Each is typed once, so its first appearance is its echo."""
IDLE_S: Final = 10.0
BEGINNING_S: Final = 0.5
"""Until the answer streams."""


def loop_ms() -> float:
    """Calibrate: time a fixed amount of Python."""
    begin, total = time.process_time(), 0
    for number in range(LOOPS):
        total += number * number
    return (time.process_time() - begin) * 1000


# Inside


def updates(entries: int) -> Iterator[SessionUpdate]:
    """This many entries: questions, answers with a list and code, and edits with a diff."""
    for number in range(entries):
        match number % 4:
            case 0:
                yield user(f"Question {number}: why does it do that?", f"u{number}")
            case 1 | 3:
                yield agent(
                    f"Answer **{number}**: `value_{number}` is read before it is set, which goes unnoticed until the"
                    f" cache is cold.\n\n- one reason\n- another\n\n```python\nvalue_{number} = {number}\n```\n",
                    f"a{number}",
                )
            case _:
                old = "\n".join(f"line {line} of file {number}" for line in range(12))
                diff = TextDiff(f"/project/{number}.py", old.replace("line 5", "row 5"), old)
                yield call(f"c{number}", title=f"Edit {number}", kind="edit", status="completed", content=(diff,))


class Stage:
    """A page whose frames are rendered to the last byte and counted."""

    def __init__(self, page: Page, app: ScreenApp) -> None:
        self.page, self.app = page, app
        self.frames = 0
        app.post_display_hook = self._count  # type: ignore[method-assign]

    def _count(self) -> None:
        self.frames += 1

    async def cost_ms(self, act: Callable[[], object], is_done: Callable[[], bool]) -> float:
        """CPU time from the action to the frame after `is_done`. Then lets everything settle, uncounted."""
        await asyncio.sleep(0.05)  # a key holds frames back for a moment
        begin, frames, limit = time.process_time(), self.frames, time.monotonic() + LIMIT_S
        act()
        while not (is_done() and self.frames > frames) and time.monotonic() < limit:
            await asyncio.sleep(0.001)
        cost = (time.process_time() - begin) * 1000
        await self.page.settled()
        return cost

    def press(self, key: str) -> Callable[[], object]:
        """Presses a key when called."""
        return lambda: self.app.post_message(events.Key(key, key if len(key) == 1 else None))

    async def works(self) -> dict[str, float]:
        """The median cost of each task."""
        view, prompt, app = self.page.view, self.page.prompt, self.app
        costs: dict[str, list[float]] = {}

        async def note(name: str, act: Callable[[], object], is_done: Callable[[], bool] = lambda: True) -> None:
            costs.setdefault(name, []).append(await self.cost_ms(act, is_done))

        for number in range(ROUNDS):
            await note("append", partial(self._append, f"appended {number}"), lambda: view.is_settled)
            await note("key echo", self.press("a"), partial(_differs, len(prompt.text), lambda: len(prompt.text)))
        for name in [name for name in ("page up", "page down") for _ in range(ROUNDS)]:
            await note(
                name,
                self.press(name.replace(" ", "")),
                partial(_differs, view.top_line, lambda: view.top_line),
            )
        for width in (100, 90, 80, 120, 110):
            resized = events.Resize(Size(width, SIZE[1]), Size(width, SIZE[1]))
            await note("resize", partial(app.post_message, resized), partial(self._has_width, width))
        view.scroll_to_line(view.max_top_line // 2)  # something foldable is in view
        for _ in range(4):
            await note("toggle all", view.toggle_all)
        for theme in ("acp-light", "acp-dark"):
            await note("theme", partial(setattr, app, "theme", theme))
        return {name: statistics.median(each) for name, each in costs.items()}

    def _append(self, text: str) -> None:
        self.page.session.apply(agent(text, text))

    def _has_width(self, width: int) -> bool:
        return bool(self.app.screen.size.width == width)


def _differs(before: int, now: Callable[[], int]) -> bool:
    return now() != before


async def inside(entries: int) -> dict[str, float]:
    """The cost of each task with this many entries."""
    HeadlessDriver.is_headless = property(lambda _: False)  # type: ignore[method-assign, assignment]
    app = ScreenApp()
    session = new_session(*updates(entries))
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        keep_what_is_loaded()  # as the app does once it has its first session
        await pilot.pause()
        begin = time.process_time()
        await show(pilot, session)
        shown = (time.process_time() - begin) * 1000
        page = Page(pilot, session, None, app.clock)  # type: ignore[arg-type]
        costs = await Stage(page, app).works()
        widgets = len(app.screen.walk_children())
    return {"show whole": shown, **costs, "widgets": widgets}


GOALS: Final = {
    "show whole": "5,000 in 3 s, with the wire",
    "append": "<= 8, flat",
    "resize": "<= 80",
    "widgets": "< 60",
}


def show_inside(lengths: list[int]) -> None:
    """Print the cost of each task by length, and the longest divided by the calibration."""
    loop = statistics.median(loop_ms() for _ in range(5))
    columns = {length: asyncio.run(inside(length)) for length in lengths}
    print(
        f"{'CPU ms, ' + f'{LOOPS:,} loops: {loop:.0f}':<26}" + "".join(f"{each:>9,}" for each in lengths) + "   x loop"
    )
    for name in columns[lengths[0]]:
        row = [columns[length][name] for length in lengths]
        ratio = f"{row[-1] / loop:>9.2f}" if name != "widgets" else " " * 9
        print(f"{name:<26}" + "".join(f"{cost:>9.1f}" for cost in row) + ratio + f"  {GOALS.get(name, '')}")


# Outside


class Terminal:
    """A PTY, read as fast as it is written, or at a given speed. It shows nothing, but answers as terminals do."""

    def __init__(self, command: list[str], env: Mapping[str, str], bytes_a_second: float) -> None:
        self._speed = bytes_a_second
        self._may_read = 0.0
        self._at = time.monotonic()
        self.read = bytearray()
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            time.sleep(0.05)  # by then, the window has its size
            os.execve(command[0], command, {**env, "TERM": "xterm-256color", "COLORTERM": "truecolor"})
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))

    def write(self, text: str) -> None:
        """Type this."""
        os.write(self._fd, text.encode())

    def work(self, until_s: float, is_done: Callable[[], bool] = lambda: False) -> bool:
        """Read until this time; return True as soon as it is done."""
        while (now := time.monotonic()) < until_s:
            if is_done():
                return True
            self._may_read = min(self._may_read + (now - self._at) * self._speed, max(self._speed * TICK_S * 2, 1))
            self._at = now
            if self._may_read >= 1 and select.select([self._fd], [], [], TICK_S)[0]:
                data = os.read(self._fd, int(min(self._may_read, 65_536)))
                self._may_read -= len(data)
                for question, answer in ((QUESTION, ANSWER), (SURE_QUESTION, "\x1b[?62;4c")):
                    asked = (self.read[1 - len(question) :] + data).count(question.encode())
                    os.write(self._fd, (answer * asked).encode())
                self.read += data
            elif self._may_read < 1:
                time.sleep(TICK_S)
        return is_done()

    def wait_for(self, text: str, limit_s: float) -> float:
        """Seconds until this is written. Earlier output doesn't count."""
        begin, start = time.monotonic(), len(self.read)

        def has_come() -> bool:
            return self.read.find(text.encode(), start) >= 0

        if not self.work(begin + limit_s, has_come):
            raise TimeoutError(f"{text!r} wasn't written in {limit_s} s")
        return time.monotonic() - begin

    def cpu_s(self) -> float:
        """The CPU time the program has used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss_mb(self) -> float:
        """The most memory the program has used."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+)", status)
        return int(found[1]) / 1000 if found else -1

    def echoes_ms(self, keys: int) -> list[float]:
        """Type this many letters, and time the echo of each."""
        echoes: list[float] = []
        for letter in LETTERS[:keys]:
            begin = time.monotonic()
            self.write(letter)
            try:
                echoes.append(self.wait_for(letter, ECHO_LIMIT_S) * 1000)
            except TimeoutError:
                echoes.append(ECHO_LIMIT_S * 1000)
            self.work(begin + KEY_S)
        return sorted(echoes)

    def close(self) -> None:
        """End the program and wait for it."""
        self.write("\x11\x11")  # twice: the agent is at work
        while os.waitpid(self.pid, os.WNOHANG) == (0, 0):
            self._speed = UNLIMITED
            try:
                self.work(time.monotonic() + TICK_S)
            except OSError:
                time.sleep(TICK_S)
        os.close(self._fd)


@contextmanager
def terminal(bench_agent: Path, bytes_a_second: float = UNLIMITED) -> Iterator[Terminal]:
    """The program in a terminal, ready for a prompt."""
    command = [sys.executable, "-m", "acp_tui", "--", sys.executable, str(bench_agent)]
    with own_home() as env:  # no draft of an earlier run reappears
        opened = Terminal(command, env, bytes_a_second)
        try:
            opened.wait_for("Scripted", 30)
            opened.work(time.monotonic() + 1)
            yield opened
        finally:
            opened.close()


def _row(name: str, figures: str, goal: str) -> None:
    print(f"{name:<34}{figures:<44}{goal}", flush=True)


def _echo(echoes: list[float]) -> str:
    p99 = echoes[min(len(echoes) - 1, round(len(echoes) * 0.99))]
    return f"echo ms p50 {statistics.median(echoes):.0f}, p99 {p99:.0f}, max {echoes[-1]:.0f}"


def show_outside(bench_agent: Path) -> None:
    """Print what the whole program costs in a terminal."""
    with terminal(bench_agent) as quick:
        cpu = quick.cpu_s()
        quick.work(time.monotonic() + IDLE_S)
        _row("idle", f"{(quick.cpu_s() - cpu) / IDLE_S:.2%} of a core", "< 0.5%")
        _row("typing, nothing else", _echo(quick.echoes_ms(KEYS)), "p99 < 25")
        quick.write("\x03")
    with terminal(bench_agent) as quick:
        quick.write("history 2500\r")
        took = quick.wait_for("DONE-1", 60)
        quick.work(time.monotonic() + 2)
        _row("replay of 5,000 entries", f"{took:.2f} s, RSS {quick.rss_mb():.0f} MB", "<= 3 s, <= 150 MB")
        _row("typing below 5,000 entries", _echo(quick.echoes_ms(KEYS)), "p99 < 25")


def show_slow(bench_agent: Path) -> None:
    """Print what typing costs over slow connections while an answer streams."""
    for bytes_a_second, goal in SLOW_LINKS.items():
        for work in ("paced 100000 100", "prose 100000 1000"):
            with terminal(bench_agent, bytes_a_second) as slow:
                slow.write(f"{work}\r")
                slow.work(time.monotonic() + BEGINNING_S)
                read, begin = len(slow.read), time.monotonic()
                echoes = slow.echoes_ms(KEYS)
                speed = (len(slow.read) - read) / (time.monotonic() - begin) / 1000
                _row(f"at {bytes_a_second // 1000} KB/s, {work}", f"{_echo(echoes)}; {speed:.0f} KB/s", goal)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("entries", nargs="*", type=int, default=[100, 1_000, 5_000])
    parser.add_argument("--only", choices=("inside", "outside", "slow"))
    parser.add_argument("--agent", type=Path, default=ROOT.parent / "shared" / "bench" / "bench_agent.py")
    words = parser.parse_args()
    if words.only in (None, "inside"):
        show_inside(words.entries)
    if words.only == "inside":
        return 0
    if not words.agent.exists():
        print(f"in a terminal: left out, there is no {words.agent}")
        return 0
    if words.only != "slow":
        show_outside(words.agent)
    show_slow(words.agent)
    return 0


if __name__ == "__main__":
    sys.exit(main())
