"""Measures the inspector from outside: on an agent that sends 2,000 frames a second, and on a long recording.

    python tests/benchmarks/inspector.py [SECONDS] [FRAMES]

The app runs in a PTY of 120x40, and notes how long its event loop's longest handle took, in ms by the clock and of the
CPU; keys are typed meanwhile, and their echo is waited for in what comes out. Before each run a loop of plain Python is
timed; "x loop" is the CPU time over that loop's, which stays comparable where seconds wobble with the machine.
"""

from __future__ import annotations

import codecs
import fcntl
import json
import os
import pty
import signal
import statistics
import struct
import sys
import tempfile
import termios
import threading
import time
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from own_home import own_home

LOOPS: Final = 3_000_000
HZ: Final = 2_000
LETTERS: Final = "бгджзиклмнптфцчшщэюяБГДЖЗИЛПФЦЧШЩЭЮЯλμξπσφψω"
"""Letters that appear nowhere else on the screen."""
KEY_S: Final = 0.08
LIMIT_S: Final = 120.0
TICKS: Final = os.sysconf("SC_CLK_TCK")
PAGE: Final = os.sysconf("SC_PAGE_SIZE")
TITLE: Final = "Flooding"
FAST: Final = "cpu < 0.60, echo p99 < 60, handle < 15"


def loop_s() -> float:
    """Calibrate: time a fixed amount of Python."""
    begin, total = time.perf_counter(), 0
    for number in range(LOOPS):
        total += number * number
    return time.perf_counter() - begin


# What runs in other processes


def play_agent() -> None:
    """An agent on stdio that answers each prompt with this many seconds of updates."""
    for line in sys.stdin:
        message = json.loads(line)
        match message.get("method"):
            case "initialize":
                answer: dict[str, Any] = {"protocolVersion": 1, "agentInfo": {"name": TITLE, "version": "1"}}
            case "session/new":
                answer = {"sessionId": "s"}
            case "session/prompt":
                flood(float(message["params"]["prompt"][0]["text"]))
                answer = {"stopReason": "end_turn"}
            case _:
                continue
        send({"id": message["id"], "result": answer})


def send(fields: dict[str, Any]) -> None:
    """Send a line to the client."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **fields}) + "\n")
    sys.stdout.flush()


def flood(seconds: float) -> None:
    """Updates at `HZ` a second: words, and every tenth a piece of a tool call's output."""
    begin = time.monotonic()
    for number in range(int(seconds * HZ)):
        time.sleep(max(0.0, begin + number / HZ - time.monotonic()))
        send({"method": "session/update", "params": {"sessionId": "s", "update": update(number)}})


def update(number: int) -> dict[str, Any]:
    """One update."""
    text = {"type": "text", "text": f"word {number} of the **text**" + ("\n\n" if number % 40 == 0 else " ")}
    if number % 10:
        return {"sessionUpdate": "agent_message_chunk", "content": text}
    call = {"toolCallId": f"call-{number // 1000}", "title": "Run the tests", "kind": "execute"}
    content = [{"type": "content", "content": text}]
    return {"sessionUpdate": "tool_call_update", "status": "in_progress", "content": content, **call}


def run_app(log: Path, words: list[str]) -> None:
    """acp-tui, which writes its longest event handler's time whenever it gets SIGUSR1."""
    from asyncio import events

    run, longest = events.Handle._run, [0.0, 0.0]

    def timed(handle: events.Handle) -> None:
        begin, begin_cpu = time.perf_counter(), time.thread_time()
        run(handle)
        longest[0] = max(longest[0], time.perf_counter() - begin)
        longest[1] = max(longest[1], time.thread_time() - begin_cpu)

    def tell(*_: object) -> None:
        log.write_text(f"{longest[0]} {longest[1]}\n")
        longest[:] = 0.0, 0.0

    events.Handle._run = timed  # type: ignore[assignment, method-assign]
    signal.signal(signal.SIGUSR1, tell)
    sys.argv = ["acp-tui", *words]
    from acp_tui.cli.main import main as acp_tui

    sys.exit(acp_tui())


# The user


class Screen:
    """The app in a PTY."""

    def __init__(self, words: list[str], folder: Path, env: dict[str, str]) -> None:
        self._log = folder / "handles"
        command = [sys.executable, __file__, "app", str(self._log), *words]
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            time.sleep(0.05)  # by then, the window has its size
            terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
            os.execvpe(command[0], command, {**env, **terminal})
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self._seen = ""
        self._times: list[tuple[int, float]] = []
        """When this much had arrived."""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("ignore")
        while True:
            try:
                data = os.read(self._terminal, 65_536)
            except OSError:
                return
            now = time.monotonic()
            self._seen += decoder.decode(data)
            self._times.append((len(self._seen), now))

    def press(self, keys: str) -> None:
        """Type."""
        os.write(self._terminal, keys.encode())

    def wait_for(self, text: str, since: int = 0) -> float:
        """When this was printed."""
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            found = self._seen.find(text, since)
            if found >= 0 and self._times[-1][0] > found:
                return self._times[bisect_right(self._times, found, key=itemgetter(0))][1]
            time.sleep(0.001)
        raise TimeoutError(f"{text!r} never came")

    @property
    def mark(self) -> int:
        """For `wait_for`: only count output from now on."""
        return len(self._seen)

    def type_for(self, seconds: float, erase: str = "\x15") -> list[float]:
        """Type letter by letter; return how many ms each echo took."""
        end, echoes = time.monotonic() + seconds, []
        while time.monotonic() < end:
            for letter in LETTERS:
                mark, begin = self.mark, time.monotonic()
                self.press(letter)
                echoes.append((self.wait_for(letter, mark) - begin) * 1000)
                time.sleep(max(0.0, begin + KEY_S - time.monotonic()))
                if time.monotonic() > end:
                    break
            self.press(erase)
            time.sleep(KEY_S)
        return echoes

    @property
    def cpu_s(self) -> float:
        """The CPU time the app has used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_bytes().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    @property
    def rss_mb(self) -> float:
        """The memory the app uses."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * PAGE / 1e6

    def longest_ms(self) -> tuple[float, ...]:
        """The longest handler since the last call, by the clock and in CPU time."""
        self._log.unlink(missing_ok=True)
        os.kill(self.pid, signal.SIGUSR1)
        while not (self._log.exists() and self._log.read_text().endswith("\n")):
            time.sleep(0.01)
        return tuple(float(figure) * 1000 for figure in self._log.read_text().split())

    def close(self) -> None:
        """End the app."""
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)
        os.close(self._terminal)


@contextmanager
def screen(*words: str) -> Iterator[Screen]:
    """An app that is always ended."""
    with own_home() as env, tempfile.TemporaryDirectory() as folder:
        shown = Screen(list(words), Path(folder), env)
        try:
            yield shown
        finally:
            shown.close()


# The measurements

COLUMNS: Final = ("cpu s/s", "x loop", "echo p50", "p99", "max", "handle", "its cpu", "RSS MB")


def row(name: str, figures: list[float], goal: str) -> None:
    """Print a row."""
    print(f"{name:<26}" + "".join(f"{figure:>9.2f}" for figure in figures) + f"  {goal}", flush=True)


def measure_flood(name: str, keys: str, ready: str, seconds: float, goal: str) -> None:
    """Over a busy agent. `keys` lead to where the letters are typed."""
    loop = loop_s()
    with screen("--", sys.executable, __file__, "agent") as shown:
        shown.wait_for(TITLE)
        time.sleep(1)
        shown.press(f"{seconds + 3}")
        time.sleep(0.3)
        shown.press("\r")
        shown.wait_for("word")
        mark = shown.mark
        for key in keys:
            shown.press(f"\x1b{key}" if key == "i" else key)
            if key == "i":
                shown.wait_for("Inspector", mark)
            time.sleep(0.5)
        shown.wait_for(ready, mark)
        time.sleep(1)
        shown.longest_ms()
        cpu, begin = shown.cpu_s, time.monotonic()
        echoes = shown.type_for(seconds)
        used = (shown.cpu_s - cpu) / (time.monotonic() - begin)
        row(name, [used, used / loop, *spread(echoes), *shown.longest_ms(), shown.rss_mb], goal)


def spread(echoes: list[float]) -> tuple[float, float, float]:
    """Their median, their 99th percentile, the longest."""
    return statistics.median(echoes), statistics.quantiles(echoes, n=100, method="inclusive")[98], max(echoes)


def measure_recording(frames: int) -> None:
    """A recording that is read, searched, and browsed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "long.jsonl"
        write_recording(file, frames)
        with screen("inspect", str(file)) as shown:
            begin = time.monotonic()
            shown.wait_for("frames, reading")
            shown.longest_ms()  # that was the start
            shown.wait_for(f"{frames + 5:,} frames")
            print(f"\na recording of {frames:,} frames{'seconds':>19}{'handle':>9}{'its cpu':>9}{'RSS MB':>9}")
            tell_step(shown, "read and listed", begin)
            steps = (
                ("to its end", ["\x1b[F"], f"#{frames + 4}"),
                ("to its beginning", ["\x1b[H"], "#0 ·"),
                ("filtered by a word", ["f", "tool_call", "\r"], "shown: tool_call"),
                ("everything again", ["x"], f"{frames + 5:,} frames"),
                ("filtered by some words", ["f", f'"word {frames - 9} of"', "\r"], "1 shown"),
            )
            for name, keys, sign in steps:
                mark, begin = shown.mark, time.monotonic()
                for key in keys:
                    shown.press(key)
                    time.sleep(0.3 if len(keys) > 1 else 0)
                shown.wait_for(sign, mark)
                tell_step(shown, name, begin)


def tell_step(shown: Screen, name: str, begin: float) -> None:
    """Print how long it took, and the longest handler."""
    took = time.monotonic() - begin
    longest = "".join(f"{figure:>9.1f}" for figure in shown.longest_ms())
    print(f"  {name:<44}{took:>7.2f}{longest}{shown.rss_mb:>9.0f}", flush=True)


def write_recording(file: Path, frames: int) -> None:
    """A session of this many updates."""
    header = {"format": "acp-tui-recording", "version": 1, "agent": {"name": TITLE, "command": ["flood"]}}
    said: list[tuple[str, dict[str, Any]]] = [
        ("out", {"id": 1, "method": "initialize", "params": {"protocolVersion": 1}}),
        ("in", {"id": 1, "result": {"protocolVersion": 1}}),
        ("out", {"id": 2, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}),
        ("in", {"id": 2, "result": {"sessionId": "s"}}),
        ("out", {"id": 3, "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}}),
    ]
    with file.open("w") as written:
        written.write(json.dumps(header) + "\n")
        for way, fields in said:
            written.write(recorded(0.0, way, fields))
        for number in range(frames):
            params = {"sessionId": "s", "update": update(number)}
            written.write(recorded(number / HZ, "in", {"method": "session/update", "params": params}))


def recorded(at_s: float, way: str, fields: dict[str, Any]) -> str:
    """A line as acp-tui records it."""
    event = {"t": at_s, "type": way, "frame": {"jsonrpc": "2.0", **fields}}
    return json.dumps(event, separators=(",", ":")) + "\n"


def main() -> int:
    """Measure and print."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    frames = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    if seconds:
        print(f"{f'{HZ:,} frames a second':<26}" + "".join(f"{name:>9}" for name in COLUMNS) + "  goal")
        measure_flood("inspector closed", "", "word", seconds, "")
        measure_flood("open, a letter's echo", "ig", "Go to", seconds, FAST)
        measure_flood("open, a text looked for", "i/", "Find", seconds, FAST)
    if frames:
        measure_recording(frames)
    return 0


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["agent"]:
            play_agent()
        case ["app", log, *words]:
            run_app(Path(log), words)
        case _:
            sys.exit(main())
