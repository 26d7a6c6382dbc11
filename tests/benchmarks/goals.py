"""Measures what users wait for, against goals, for one commit or two in turn; seconds alone decide nothing.

    python tests/benchmarks/goals.py [--rounds N] [--against COMMIT] [--bench FOLDER] [WORK ...]

Each run has a home and an empty folder of its own, bytecode as an installation has, and a 120x40 terminal that
`ptybench.py` plays (default: ../shared/bench beside the repository). Before each run a loop of 2,000,000 additions is
timed: "loops" are the work's time over that loop's, which stays comparable where seconds wobble. With `--against` both
commits take turns, work by work, so that what slows the machine slows both.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from own_home import own_home
from workspaces import WORKSPACES, made, run_git

ROOT: Final = Path(__file__).parent.parent.parent
HOSTILE: Final = Path(__file__).parent / "hostile_agent.py"
ADDITIONS: Final = 2_000_000
FRAMES_A_SECOND: Final = 30
FLOOD_MB: Final = 100
PACED_CHUNKS: Final = 500
BARE_APP: Final = """
from textual.app import App
from textual.widgets import TextArea

class Bare(App):
    def compose(self):
        yield TextArea(soft_wrap=True)

    def on_mount(self):
        self.call_after_refresh(self.show_ready)

    def show_ready(self):
        self.query_one(TextArea).text = "READY"

Bare().run()
"""


class Goal(NamedTuple):
    """A limit: the most a figure may be, or with `is_least`, the least."""

    limit: float
    is_least: bool = False

    def is_met(self, value: float) -> bool:
        """Whether the figure meets it."""
        return value >= self.limit if self.is_least else value <= self.limit

    def __str__(self) -> str:
        return f"{'>=' if self.is_least else '<='} {self.limit:g}"


EMPTY: Final = "empty"
HELD: Final = "prompt held longer than in an empty folder, s"
CPU: Final = "CPU in 25 s / in an empty folder"
RSS: Final = "RSS beyond an empty folder, MB"
ECHO: Final = "echo median / in an empty folder"
ECHO_P99: Final = "echo p99 beyond an empty folder, ms"
GOALS: Final[Mapping[str, Goal]] = {
    "first frame / bare Textual app": Goal(1.2),
    "ready / first frame": Goal(1.4),
    "CPU until ready, loops": Goal(6.5),
    "RSS at ready, MB": Goal(60),
    "stream 10000, loops": Goal(8),
    "stream 10000, RSS in MB": Goal(75),
    "paced 500 at 100/s, echo p99 ms": Goal(40),
    "paced 500 at 100/s, KB a frame": Goal(3),
    "terminal in view, MB/s": Goal(25, is_least=True),
    "paragraph of 5 MB drawn, s": Goal(1),
    "paragraph of 5 MB, echo max ms": Goal(50),
    "paragraph of 12 MB drawn, s": Goal(2.5),
    "paragraph of 12 MB, echo max ms": Goal(50),
    "--version / bare Python, CPU": Goal(2),
    "exec until the agent starts, s": Goal(0.25),
    "tools 300, loops": Goal(14),
    "history 2500, loops": Goal(27),
    "history 2500, RSS in MB": Goal(150),
    "bigdiff 20000, loops": Goal(9),
    "checkout of 53,000 files: CPU, loops": Goal(120),
    "checkout of 53,000 files: RSS, MB": Goal(80),
    **{
        f"{name}: {figure}": Goal(limit)
        for name in WORKSPACES
        if name != EMPTY
        for figure, limit in ((HELD, 0.1), (CPU, 1.5), (RSS, 15), (ECHO, 1.5), (ECHO_P99, 34))
    },
}
Figures = dict[str, float]


def loop_s() -> float:
    """Calibrate: the CPU time of a fixed amount of Python."""
    begin, total = time.process_time(), 0
    for number in range(ADDITIONS):
        total += number
    return time.process_time() - begin


class Side:
    """One commit, run from its own tree."""

    def __init__(self, name: str, tree: Path, bench: Path) -> None:
        self.name = name
        self.figures: dict[str, list[float]] = {}
        self.loops: list[float] = []
        self._tree = tree
        self._bench = bench
        subprocess.run([sys.executable, "-m", "compileall", "-q", str(tree / "acp_tui")], check=True)

    @contextmanager
    def place(self) -> Iterator[dict[str, Any]]:
        """How to run something there as a first-time user, in an empty folder."""
        with own_home() as env, tempfile.TemporaryDirectory(prefix="acp-tui-benchmark-") as folder:
            yield {"env": {**env, "PYTHONPATH": str(self._tree)}, "cwd": folder}

    def in_terminal(self, command: list[str], *options: str, cwd: Path | None = None) -> dict[str, Any]:
        """What ptybench measures of a client in `cwd` or an empty folder. `command` begins with Python's arguments."""
        words = [sys.executable, str(self._bench / "ptybench.py"), *options, "--", sys.executable, *command]
        with self.place() as place:
            place |= {} if cwd is None else {"cwd": cwd}
            done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=True, **place)
        figures: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
        return figures

    def turn(
        self, prompt: str, *options: str, agent: Path | None = None, ready: str = "Scripted", cwd: Path | None = None
    ) -> dict[str, Any]:
        """The same for a turn with an agent that plays `prompt`."""
        agent = agent or self._bench / "bench_agent.py"
        command = ["-m", "acp_tui", "--", sys.executable, str(agent)]
        return self.in_terminal(
            command, "--prompt", prompt, "--ready", ready, "--exclude", agent.stem, *options, cwd=cwd
        )

    def note(self, work: Work) -> None:
        """Run it once."""
        loop = loop_s()
        self.loops.append(loop)
        for name, value in work(self, loop).items():
            self.figures.setdefault(name, []).append(value)

    def median(self, name: str) -> float:
        """The median of all rounds."""
        return statistics.median(self.figures[name])


Work = Callable[[Side, float], Figures]

# The tasks


def start(side: Side, loop: float) -> Figures:
    """The time to the first frame and to the agent's title, with the demo agent, compared with a bare Textual app."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as bare_app:
        bare_app.write(BARE_APP)
        bare_app.flush()
        bare = side.in_terminal([bare_app.name], "--ready", "READY")
    ours = side.in_terminal(["-m", "acp_tui", "demo"], "--ready", "● demo", "--exclude", r"acp_tui\.demo")
    return {
        "first frame / bare Textual app": ours["first_paint_s"] / bare["first_paint_s"],
        "ready / first frame": ours["ready_s"] / ours["first_paint_s"],
        "CPU until ready, loops": ours["ready_cpu_s"] / loop,
        "RSS at ready, MB": ours["ready_rss_mb"],
    }


def stream(side: Side, loop: float) -> Figures:
    """10,000 chunks as fast as they arrive."""
    turn = side.turn("stream 10000")
    return {"stream 10000, loops": turn["turn_s"] / loop, "stream 10000, RSS in MB": turn["peak_rss_mb"]}


def paced(side: Side, _: float) -> Figures:
    """Chunks at a model's pace, with and without typing."""
    prompt = f"paced {PACED_CHUNKS} 100"
    echo, quiet = side.turn(prompt), side.turn(prompt, "--echo", "0")
    frames = quiet["turn_s"] * FRAMES_A_SECOND
    return {
        "paced 500 at 100/s, echo p99 ms": echo["echo_ms"]["p99"],
        "paced 500 at 100/s, KB a frame": quiet["turn_bytes"] / frames / 1000,
    }


def terminal(side: Side, _: float) -> Figures:
    """A command's flood, with its output in view."""
    return {"terminal in view, MB/s": FLOOD_MB / side.turn(f"termflood {FLOOD_MB}")["turn_s"]}


def paragraph(side: Side, _: float) -> Figures:
    """A message of one endless line."""
    figures: Figures = {}
    for size in (5, 12):
        turn = side.turn(f"paragraph {size}", "--marker", "FLOOD-ENDS-HERE", agent=HOSTILE, ready="Hostile")
        # The end of the turn shows before the last of it is drawn.
        figures[f"paragraph of {size} MB drawn, s"] = turn["turn_s"] + turn["after_cpu_s"]
        if "echo_ms" in turn:  # a turn may be over before a key was typed
            figures[f"paragraph of {size} MB, echo max ms"] = turn["echo_ms"]["max"]
    return figures


def version(side: Side, _: float) -> Figures:
    """`--version`, which scripts call, compared with bare Python."""
    with side.place() as place:
        ours = _cpu_s([sys.executable, "-m", "acp_tui", "--version"], place)
        return {"--version / bare Python, CPU": ours / _cpu_s([sys.executable, "-c", "pass"], place)}


def _cpu_s(command: list[str], place: Mapping[str, Any]) -> float:
    taken = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True, **place)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(taken)


def exec_start(side: Side, _: float) -> Figures:
    """The time until the agent's process runs; the agent ends right away."""
    with side.place() as place:
        stamp = Path(place["cwd"], "stamp")
        agent = [sys.executable, "-ISc", f"open({str(stamp)!r}, 'w').write(str(__import__('time').time()))"]
        begin = time.time()
        words = [sys.executable, "-m", "acp_tui", "exec", "-p", "hello", "--", *agent]
        subprocess.run(words, capture_output=True, check=False, timeout=60, stdin=subprocess.DEVNULL, **place)
        return {"exec until the agent starts, s": float(stamp.read_text()) - begin}


def tools(side: Side, loop: float) -> Figures:
    """300 tool calls with a diff each."""
    return {"tools 300, loops": side.turn("tools 300")["turn_s"] / loop}


def history(side: Side, loop: float) -> Figures:
    """2,500 pairs of messages, as a loaded session sends them."""
    turn = side.turn("history 2500")
    return {"history 2500, loops": turn["turn_s"] / loop, "history 2500, RSS in MB": turn["peak_rss_mb"]}


def bigdiff(side: Side, loop: float) -> Figures:
    """One diff of 20,000 lines."""
    return {"bigdiff 20000, loops": side.turn("bigdiff 20000")["turn_s"] / loop}


def workspaces(side: Side, _: float) -> Figures:
    """The first prompt, sent as soon as the agent is ready, and the 25 seconds after the start, in each workspace."""
    turns, echoes = {}, {}
    for name in WORKSPACES:
        folder = _kept(name)
        if folder is not None:
            turns[name] = side.turn("stream 1", "--settle", "0.2", "--linger", "24", cwd=folder)
            echoes[name] = side.turn("paced 100 20", "--settle", "0.2", cwd=folder)["echo_ms"]
    empty, echo = turns.pop(EMPTY), echoes[EMPTY]
    figures: Figures = {}
    for name, turn in turns.items():
        figures[f"{name}: {HELD}"] = turn["turn_s"] - empty["turn_s"]
        figures[f"{name}: {CPU}"] = _turn_cpu_s(turn) / _turn_cpu_s(empty)
        figures[f"{name}: {RSS}"] = turn["peak_rss_mb"] - empty["peak_rss_mb"]
        figures[f"{name}: {ECHO}"] = echoes[name]["median"] / echo["median"]
        figures[f"{name}: {ECHO_P99}"] = echoes[name]["p99"] - echo["p99"]
    return figures


def checkout(side: Side, loop: float) -> Figures:
    """`git checkout` of a branch on which half of the files differ, 25 seconds after the start, compared with none."""
    folder = _kept("two branches")
    if folder is None:
        return {}
    options = ("--echo", "0", "--linger", "70")
    without = side.turn("tools 5", *options, cwd=folder)
    changing = threading.Timer(25, run_git, (folder, "checkout", "-q", "other"))
    changing.start()
    turn = side.turn("tools 5", *options, cwd=folder)
    changing.join()
    run_git(folder, "checkout", "-qf", "main")
    return {
        "checkout of 53,000 files: CPU, loops": (_turn_cpu_s(turn) - _turn_cpu_s(without)) / loop,
        "checkout of 53,000 files: RSS, MB": turn["peak_rss_mb"] - without["peak_rss_mb"],
    }


def _turn_cpu_s(turn: Mapping[str, Any]) -> float:
    return float(turn["ready_cpu_s"] + turn["turn_cpu_s"] + turn["after_cpu_s"])


_until_the_end: Final = ExitStack()


@cache
def _kept(name: str) -> Path | None:
    """A workspace that's kept until the end; None if it can't be made here."""
    try:
        return _until_the_end.enter_context(made(name))
    except subprocess.CalledProcessError as error:
        print(f"{name}: not measured: {error}", file=sys.stderr)
        return None


SLOW: Final[tuple[Work, ...]] = (workspaces, checkout)
"""Only run if named."""
WORKS: Final[tuple[Work, ...]] = (
    *(start, stream, paced, terminal, paragraph, version, exec_start, tools, history, bigdiff),
)


@contextmanager
def sides_of(against: str | None, bench: Path) -> Iterator[list[Side]]:
    """This file's tree, and the commit to compare with in a temporary worktree."""
    now = Side("now", ROOT, bench)
    if against is None:
        yield [now]
        return
    with tempfile.TemporaryDirectory(prefix="acp-tui-against-") as folder:
        tree = Path(folder, "tree")
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "-q", "--detach", str(tree), against], check=True)
        try:
            yield [now, Side(against[:9], tree, bench)]
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def table_of(sides: list[Side]) -> Iterator[str]:
    """The medians as a Markdown table."""
    now, *others = sides
    loops = [loop * 1000 for side in sides for loop in side.loops]
    spread = f"{min(loops):.0f} to {max(loops):.0f}"
    yield f"A loop took {statistics.median(loops):.0f} ms ({spread}); {os.cpu_count()} cores."
    yield ""
    names = [side.name for side in sides]
    yield f"| figure | goal | {' | '.join(names)} |{' now / before |' if others else ''}"
    yield f"|---|---|{'---|' * (len(names) + bool(others))}"
    for figure, goal in GOALS.items():
        if figure not in now.figures:
            continue
        values = [side.median(figure) for side in sides]
        cells = [f"{values[0]:.3g}{'' if goal.is_met(values[0]) else ' (missed)'}"]
        cells += [f"{value:.3g}" for value in values[1:]]
        cells += [f"{values[0] / value:.2f}" for value in values[1:]]
        yield f"| {figure} | {goal} | {' | '.join(cells)} |"


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--against", metavar="COMMIT", help="the commit to compare with")
    parser.add_argument("--bench", type=Path, default=ROOT.parent / "shared" / "bench")
    parser.add_argument("works", nargs="*", metavar="WORK", help=", ".join(work.__name__ for work in (*WORKS, *SLOW)))
    given = parser.parse_args()
    if not (given.bench / "ptybench.py").exists():
        print(f"there is no ptybench.py in {given.bench}", file=sys.stderr)
        return 2
    works = [work for work in (*WORKS, *SLOW) if work.__name__ in given.works] or WORKS
    with _until_the_end, sides_of(given.against, given.bench) as sides:
        for number in range(given.rounds):
            for work in works:
                for side in sides if number % 2 else sides[::-1]:
                    side.note(work)
                    print(f"round {number + 1}: {work.__name__}, {side.name}", file=sys.stderr, flush=True)
        print("\n".join(table_of(sides)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
