"""Measures what recorded sessions cost: the index of many, a search, and reading a long one again.

    python tests/benchmarks/history.py [--sessions N] [--megabytes N] [WORK ...]

The recordings are made by this file, always the same ones. Each work runs in a process of its own, and its figures are
CPU time, its peak of memory, and where it says so, counts. "loops" are the CPU time over that of 2,000,000 additions.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

WORDS: Final = (
    *("the", "index", "reads", "each", "recording", "once", "and", "keeps", "its", "words", "so", "that", "search"),
    *("parser", "widget", "renderer", "terminal", "permission", "agent", "session", "prompt", "update", "folder"),
)
CHUNKS: Final = 60


def frame(at: float, direction: str, message: dict[str, Any]) -> bytes:
    """A line of a recording."""
    data = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":"))
    return f'{{"t":{at:.6f},"type":"{direction}","frame":{data}}}\n'.encode()


def lines_of(number: int, folder: str, chunks: int, words_a_chunk: int, output_lines: int) -> Iterator[bytes]:
    """A recording of one session with one prompt, and of so many chunks. Each tenth is a tool call with its output."""
    rng = random.Random(number)
    header = {
        "format": "acp-tui-recording",
        "version": 1,
        "started_at": f"2026-{1 + number % 12:02}-{1 + number % 28:02}T{number % 24:02}:{number % 60:02}:00.000+00:00",
        "client": {"name": "acp-tui", "version": "0.1.0"},
        "agent": {"name": "gemini", "command": ["gemini", "--acp"], "env": []},
        "cwd": folder,
        "screen": {"columns": 120, "rows": 40},
        "raw": False,
    }
    session = f"{rng.getrandbits(128):032x}"
    yield json.dumps(header, separators=(",", ":")).encode() + b"\n"
    params: dict[str, Any] = {"protocolVersion": 1, "clientCapabilities": {}}
    yield frame(0.1, "out", {"id": 0, "method": "initialize", "params": params})
    yield frame(0.2, "in", {"id": 0, "result": {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}}})
    yield frame(0.3, "out", {"id": 1, "method": "session/new", "params": {"cwd": folder, "mcpServers": []}})
    yield frame(0.4, "in", {"id": 1, "result": {"sessionId": session}})
    asked = " ".join(rng.choices(WORDS, k=12)) + f" number{number}"
    prompt = {"sessionId": session, "prompt": [{"type": "text", "text": asked}]}
    yield frame(0.5, "out", {"id": 2, "method": "session/prompt", "params": prompt})
    for at in range(chunks):
        block = {
            "type": "text",
            "text": " ".join(rng.choices(WORDS, k=words_a_chunk)) + ("\n\n" if at % 20 == 19 else " "),
        }
        said = {"sessionUpdate": "agent_message_chunk", "content": block}
        if at % 10 == 9:
            call: dict[str, Any] = {"toolCallId": f"c{at}", "title": f"Read file {at}", "kind": "read"}
            text = "line of a file\n" * output_lines
            content = [{"type": "content", "content": {"type": "text", "text": text}}]
            said = {"sessionUpdate": "tool_call", **call, "status": "completed", "content": content}
        yield frame(1 + at / 100, "in", {"method": "session/update", "params": {"sessionId": session, "update": said}})
    yield frame(2 + chunks / 100, "in", {"id": 2, "result": {"stopReason": "end_turn"}})


def make_many(home: Path, count: int) -> None:
    """So many recordings of about 20 KB."""
    folder = home / "recordings" / "2026"
    folder.mkdir(parents=True)
    for number in range(count):
        name = f"2026{1 + number % 12:02}{1 + number % 28:02}T000000.{number:06}Z-gemini-{number:06x}.jsonl"
        (folder / name).write_bytes(b"".join(lines_of(number, f"/tmp/project-{number % 20}", CHUNKS, 5, 5)))


def make_long(file: Path, megabytes: int) -> None:
    """One recording of about this size."""
    with file.open("wb") as long:
        for line in lines_of(1, "/tmp", 1 << 40, 25, 1_500):
            long.write(line)
            if long.tell() > megabytes * 1_000_000:
                return


def loop_s() -> float:
    """Calibrate: the CPU time of a fixed amount of Python."""
    begin, total = time.process_time(), 0
    for number in range(2_000_000):
        total += number
    return time.process_time() - begin


# The works, each in a process of its own: what they do after the imports is measured.


def _recorded(words: str = "") -> Callable[[], object]:
    from acp_tui.cli.sessions import recordings_index
    from acp_tui.client.sessions.session_history import recorded_sessions

    return lambda: len(recorded_sessions(recordings_index(), None, words))


def first_index() -> Callable[[], object]:
    """The first list of all sessions."""
    return _recorded()


def list_again() -> Callable[[], object]:
    """The same once they are indexed."""
    return _recorded()


def search_common() -> Callable[[], object]:
    """A search for words that all sessions have."""
    return _recorded("parser widget")


def search_rare() -> Callable[[], object]:
    """A search for a word that one session has."""
    return _recorded("number4321")


def search_none() -> Callable[[], object]:
    """A search for a word that none has."""
    return _recorded("xylophone")


def search_short() -> Callable[[], object]:
    """A search for two letters, as while one types."""
    return _recorded("pa")


def command_json() -> Callable[[], object]:
    """`acp-tui sessions --all --json`: how many."""
    import contextlib
    import io

    from acp_tui.cli.sessions import list_sessions

    def run() -> object:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            list_sessions(None, "", as_json=True)
        return len(json.loads(printed.getvalue()))

    return run


def open_long() -> Callable[[], object]:
    """A long recording as `acp-tui replay` opens it: its timeline."""
    from acp_tui.ui.replay.timeline import Timeline, open_playable

    def run() -> object:
        timeline = Timeline(open_playable(Path(os.environ["LONG"])))
        timeline.read_on()
        return timeline.length

    return run


def read_long() -> Callable[[], object]:
    """The conversations at the end of a long recording."""
    from acp_tui.client.transcript.replay import replayed

    return lambda: {name: len(each.entries) for name, each in replayed(Path(os.environ["LONG"])).items()}


def end_long() -> Callable[[], object]:
    """The same as far as the end shows them: what a replay reads first when one goes there."""
    from acp_tui.client.transcript.ending import events_for_end
    from acp_tui.client.transcript.lines import open_recording
    from acp_tui.client.transcript.replay import Replay

    def run() -> object:
        with open_recording(Path(os.environ["LONG"])) as recording:
            replay = Replay(events_for_end(recording))
            applied = sum(1 for _ in replay.events)
        return {name: len(each.entries) for name, each in replay.conversations.items()}, applied

    return run


MANY: Final = (first_index, list_again, search_common, search_rare, search_none, search_short, command_json)
LONG: Final = (open_long, read_long, end_long)


def run_here(name: str) -> None:
    """Run one work and print its figures."""
    work = {each.__name__: each for each in (*MANY, *LONG)}[name]()
    loop = loop_s()
    begin, wall = time.process_time(), time.monotonic()
    result = work()
    cpu = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(
        f"{name:<16} cpu {cpu:7.3f} s  {cpu / loop:7.1f} loops  wall {time.monotonic() - wall:6.2f} s"
        f"  peak {peak:6.0f} MB  {result}",
        flush=True,
    )


def main() -> int:
    """Make the recordings, then measure each work."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=5_000)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--here", help=argparse.SUPPRESS)
    parser.add_argument("works", nargs="*")
    given = parser.parse_args()
    if given.here:
        run_here(given.here)
        return 0
    wanted = given.works or [work.__name__ for work in (*MANY, *LONG)]
    with tempfile.TemporaryDirectory(prefix="acp-tui-history-") as folder:
        home = Path(folder, "state", "acp-tui")
        if any(work.__name__ in wanted for work in MANY):
            make_many(home, given.sessions)
        long = Path(folder, "long.jsonl")
        if any(work.__name__ in wanted for work in LONG):
            make_long(long, given.megabytes)
        env = {**os.environ, "XDG_STATE_HOME": str(home.parent), "LONG": str(long)}
        for work in (*MANY, *LONG):
            if work.__name__ in wanted:
                subprocess.run([sys.executable, __file__, "--here", work.__name__], env=env, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
