"""A terminal that shows everything late: an answer reaches only the question that this terminal had shown.

`ACP_TUI_LATE_SEQUENCES=20000` plays so many questions. The terminal is real for the program: a PTY. What it shows, when
it answers, and what its user presses, is up to the test, which knows nothing of the implementation.
"""

from __future__ import annotations

import json
import os
import re
import select
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import monotonic
from typing import Final

import pyte
import pytest

from support.terminals import environment, process_on_terminal, set_size
from support.waiting import LIMIT_S

LATE_PAGE: Final = Path(__file__).with_name("late_page.py")
SEQUENCES: Final = int(os.environ.get("ACP_TUI_LATE_SEQUENCES", "20"))
SCALE: Final = 0.25
"""Of all times, so that many questions fit into a test."""
GUARD_S: Final = 0.4 * SCALE
SIZE: Final = (70, 24)
NAME: Final = re.compile(r"q\d+v\d+")
ANSWERS: Final = ("y", "1", "1", "y", "2", "\r")
KEYS: Final = (*ANSWERS, "n", "a", "\t", "0", "yes ", "100 files ", "\x1b[B")
"""What the user presses, at any time."""
QUESTION: Final = re.compile(rb"(?=\x1b\[(?:5n|c))")
CLEAR: Final = "\x15"
"""Empties the prompt, so that a card can take the keyboard by itself."""
DECIDING: Final = frozenset("y1a2\r")
LAST_KEYS: Final = 12
"""An answer is reported soon after its key; so many may have been read since."""
LATEST_S: Final = 5.0
WAITS: Final = (0.02, 0.1, 0.3, 0.45, 0.6, 0.9, 1.3)
"""In seconds, before they are scaled."""


class Screen(pyte.Screen):
    """Answers as a terminal does."""

    def __init__(self, terminal: Terminal, columns: int, lines: int) -> None:
        self._terminal = terminal
        super().__init__(columns, lines)

    def write_process_input(self, data: str) -> None:
        """Send an answer, as this terminal does."""
        self._terminal.answer(data)


@dataclass
class Terminal:
    """Reads, shows, and answers late, or not at all; keeps which questions it showed since when."""

    master: int
    answers: str
    """How: "late", "never", or "twice"."""
    delay_s: float = 0.0
    is_reading: bool = True
    shown: dict[str, float] = field(default_factory=dict)
    """The questions on the screen, since when."""
    raw: bytes = b""
    waiting: deque[tuple[float, bytes]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self._screen = Screen(self, *SIZE)
        self._stream = pyte.ByteStream(self._screen)

    def answer(self, data: str) -> None:
        """Answer a question of the program."""
        times = {"late": 1, "never": 0, "twice": 2}[self.answers]
        with suppress(OSError):
            os.write(self.master, data.encode() * times)

    def read(self) -> None:
        """Take what was written, to show it after the delay."""
        if self.is_reading and select.select([self.master], [], [], 0)[0]:
            at_s = max(monotonic() + self.delay_s, self.waiting[-1][0] if self.waiting else 0.0)
            with suppress(OSError):  # it has ended
                self.raw += (data := os.read(self.master, 1 << 16))
                self.waiting.append((at_s, data))

    def show(self) -> None:
        """Show what is due."""
        while self.waiting and self.waiting[0][0] <= monotonic():
            for part in QUESTION.split(self.waiting.popleft()[1]):  # what comes before a question, then its answer
                self._note_shown()
                self._stream.feed(part)
            self._note_shown()

    def _note_shown(self) -> None:
        now_s = monotonic()
        # In a frame: the conversation shows the calls too.
        on_card = {name for line in self._screen.display if "│" in line for name in NAME.findall(line)}
        self.shown = {name: self.shown.get(name, now_s) for name in on_card}

    @property
    def text(self) -> str:
        """What it shows."""
        return "\n".join(self._screen.display)


@dataclass
class Typed:
    """A key, and what was on the screen when it was pressed, since when."""

    key: str
    shown: dict[str, float]
    read_s: float = 0.0


class Played:
    """One program on one terminal, and the agent and the user in front of it."""

    def __init__(self, terminal: Terminal, commands: int, reports: int, random: Random) -> None:
        self.terminal = terminal
        self.random = random
        self.allowed = 0
        self.log: list[str] = []
        self._commands = commands
        self._reports = reports
        self._unread = b""
        self.asked: dict[str, int] = {}
        """The version of each waiting question."""
        self.count = 0
        self._typed: list[Typed] = []
        """All keys, in order. The program reads them in the same order."""
        self._read_count = 0
        self.is_ready = False

    def pass_time(self, for_s: float) -> None:
        """Let the terminal, the program, and time do their work."""
        until_s = monotonic() + for_s
        while (left_s := until_s - monotonic()) > 0:
            wanted = [self._reports, *([self.terminal.master] if self.terminal.is_reading else [])]
            select.select(wanted, [], [], min(left_s, 0.004))
            self.terminal.read()
            self.terminal.show()
            self._hear()

    def _hear(self) -> None:
        if not select.select([self._reports], [], [], 0)[0]:
            return
        self._unread += os.read(self._reports, 1 << 16)
        while b"\n" in self._unread:
            line, _, self._unread = self._unread.partition(b"\n")
            kind, name, what = json.loads(line)
            if kind == "ready":
                self.is_ready = True
            elif kind == "key":
                self._typed[self._read_count].read_s = what
                self._read_count += 1
            elif kind == "decided":
                self._judge(name, what)

    def _judge(self, name: str, what: str) -> None:
        """Whether one of the last keys was meant for this: the terminal had shown it for long enough."""
        self.asked.pop(name.partition("v")[0], None)
        self.log.append(f"{monotonic():.3f} decided {name} {what}")
        if what in ("no", "decline", "cancel", "None"):
            return
        told = "\n".join([*self.log[-16:], f"decided {name} {what}", self.terminal.text])
        # The program reads a key when it can; the pause counts until then.
        assert any(
            (since_s := typed.shown.get(name)) is not None and typed.read_s - since_s >= GUARD_S * 0.99
            for typed in self._typed[max(self._read_count - LAST_KEYS, 0) : self._read_count]
            if typed.key in DECIDING
        ), told
        self.allowed += 1

    def do(self, *command: str) -> None:
        """Let the agent do something."""
        self.log.append(f"{monotonic():.3f} agent {command}")
        try:
            os.write(self._commands, (json.dumps(command) + "\n").encode())
        except BrokenPipeError:
            self.terminal.is_reading, self.terminal.delay_s = True, 0.0
            self.pass_time(1.0)
            pytest.fail("\n".join(["it ended:", *self.log[-20:], self.terminal.raw[-6000:].decode(errors="replace")]))

    def await_program(self) -> None:
        """Wait until it has done all that it was told to, and has read all keys."""
        begin_s = monotonic()
        while not self.is_ready or self._read_count < len(self._typed):
            self.pass_time(0.05)
            assert monotonic() - begin_s < LIMIT_S, "\n".join([*self.log[-20:], self.terminal.text])

    def ask(self) -> None:
        """Ask something new, perhaps instead of the last question."""
        for name in [*self.asked]:
            if self.random.random() < 0.8:
                self.asked.pop(name)
                self.do("withdraw", name, "")
        name = f"q{self.count}"
        self.count += 1
        self.asked[name] = 0
        self.do(self.random.choice(("ask", "ask", "ask", "choose", "visit")), name, f"{name}v0")

    def change(self) -> None:
        """Change the oldest call in place. Only a permission request has one; elsewhere nothing changes."""
        for name in [*self.asked][:1]:
            asked = next(line for line in reversed(self.log) if f"'{name}'" in line)
            if "'ask'" in asked or "'swap'" in asked:
                self.asked[name] += 1
                self.do("swap", name, f"{name}v{self.asked[name]}")

    def press(self, keys: str) -> None:
        """Press keys, one after the other without a pause."""
        self.terminal.show()
        self.log.append(f"{monotonic():.3f} press {keys!r}, shown {sorted(self.terminal.shown)}")
        for key in [keys] if keys.startswith("\x1b") else keys:
            self._typed.append(Typed(key, dict(self.terminal.shown)))
        os.write(self.terminal.master, keys.encode())

    def play(self) -> None:
        """Ask something, perhaps change it at the last moment, and press a key or two, on a terminal that may lag."""
        choose, happens = self.random.choice, lambda share: self.random.random() < share
        if happens(0.7):
            self.press(CLEAR)
        self.ask()
        self.pass_time(choose(WAITS) * SCALE)
        if happens(0.5):
            self.press("\t")
            self.pass_time(choose(WAITS) * SCALE)
        if happens(0.5):
            self.terminal.is_reading = happens(0.5)
            late_s = LATEST_S if self.terminal.answers == "late" else 1.0
            self.terminal.delay_s = choose((0.0, 0.1, 0.5, 1.0, late_s)) * SCALE
        if happens(0.5):
            choose((self.ask, self.change))()
            self.pass_time(choose(WAITS) * SCALE)
        for _ in range(choose((1, 1, 1, 2, 3))):
            self.press(choose(ANSWERS) if happens(0.8) else choose(KEYS))
            self.pass_time(choose(WAITS) * SCALE)
        if happens(0.7):
            self.terminal.is_reading, self.terminal.delay_s = True, 0.0
            self.pass_time(choose(WAITS) * SCALE)


@contextmanager
def played(home: Path, answers: str, seed: int) -> Iterator[Played]:
    """The program on a terminal that answers in this way."""
    master, slave = os.openpty()
    set_size(master, SIZE)
    commands, ours = os.pipe()
    reports, theirs = os.pipe()
    pid = os.posix_spawn(
        sys.executable,
        [sys.executable, str(LATE_PAGE), str(SCALE), "3", "4"],
        {**environment(home), "PYTHONPATH": os.pathsep.join([str(LATE_PAGE.parents[1]), *sys.path])},
        file_actions=[
            *((os.POSIX_SPAWN_DUP2, slave, fd) for fd in (0, 1, 2)),
            (os.POSIX_SPAWN_DUP2, commands, 3),
            (os.POSIX_SPAWN_DUP2, theirs, 4),
        ],
        setsid=True,
    )
    for each in (slave, commands, theirs):
        os.close(each)
    game = Played(Terminal(master, answers), ours, reports, Random(seed))
    try:
        game.await_program()
        yield game
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, 9)
        os.waitpid(pid, 0)
        for each in (master, ours, reports):
            os.close(each)


@pytest.mark.parametrize("answers", ["late", "never", "twice"])
def test_an_answer_reaches_only_what_this_terminal_had_shown(tmp_path: Path, answers: str) -> None:
    with played(tmp_path, answers, seed=SEQUENCES) as game:
        while game.count < SEQUENCES:
            game.play()
        game.terminal.is_reading, game.terminal.delay_s = True, 0.0
        # At last, what is meant is done.
        game.is_ready = False
        game.do("report", "", "")
        game.await_program()
        before = game.allowed
        begin_s = monotonic()
        while game.allowed == before:
            game.press("\t")
            game.pass_time(3 * SCALE)
            game.press("1")
            game.pass_time(2 * SCALE)
            assert monotonic() - begin_s < LIMIT_S, "\n".join([*game.log[-20:], game.terminal.text])
            if not game.asked:
                game.ask()
                game.pass_time(2 * SCALE)


@pytest.mark.parametrize("size", [100, 3])
def test_answers_at_the_start_are_no_text_and_keys_typed_before_them_are_kept(size: int, tmp_path: Path) -> None:
    answer = "\x1b]11;rgb:1111/1111/1111\x1b\\\x1b[?1;2c"
    environ = {**environment(tmp_path), "SSH_CONNECTION": "far away", "PYTHONPATH": os.pathsep.join(sys.path)}
    with process_on_terminal(["demo"], environ, tmp_path) as terminal:
        screen = pyte.Screen(80, 24)
        terminal.until(lambda: b"\x1b]11;?" in terminal.said)
        terminal.type("hel")
        terminal.until(lambda: b"Write a prompt" in terminal.said or b"hel" in terminal.said)
        for at in range(0, len(answer), size):
            terminal.type(answer[at : at + size])
        terminal.type("lo")
        stream = pyte.ByteStream(screen)

        def draft() -> str:
            screen.reset()
            stream.feed(terminal.said)
            return next((row.strip(" │") for row in screen.display[18:] if "│" in row), "")

        terminal.until(lambda: draft().endswith("lo"))
        assert draft() == "hello"
        assert b"hel" not in terminal.said.partition(b"\x1b[?1049h")[0]


@pytest.mark.parametrize("waits_for", [b"", b"\x1b]11;?"])
def test_a_prompt_typed_before_there_is_a_screen_is_sent_by_its_enter(waits_for: bytes, tmp_path: Path) -> None:
    environ = {**environment(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    with process_on_terminal(["demo"], environ, tmp_path) as terminal:
        if waits_for:
            terminal.until(lambda: waits_for in terminal.said)
        terminal.type("hello\r")
        terminal.until(lambda: b"Esc cancels" in terminal.said)


SCREEN_BEGINS: Final = b"\x1b[?1049h"


@pytest.mark.parametrize("waits_for", [b"", b"\x1b]11;?", SCREEN_BEGINS])
@pytest.mark.parametrize("at", [0, 4, 7])
def test_lines_typed_before_there_is_a_screen_are_never_sent_as_one(at: int, waits_for: bytes, tmp_path: Path) -> None:
    environ = {**environment(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    with process_on_terminal(["demo"], environ, tmp_path) as terminal:
        stream = pyte.ByteStream(screen := pyte.Screen(80, 24))

        def shown() -> str:
            screen.reset()
            stream.feed(terminal.said)
            return "\n".join(row.strip() for row in screen.display)

        terminal.type("one\rtwo\r"[:at])
        terminal.until(lambda: waits_for in terminal.said)
        terminal.type("one\rtwo\r"[at:])
        terminal.until(lambda: "● demo" in shown() or "Esc cancels" in shown())
        terminal.until(lambda: "Typed before acp-tui was ready: Enter sends it" in shown() or "› two" in shown())
        assert ("│ one" in shown()) == ("│ two" in shown()) == ("Typed before" in shown())


@pytest.mark.parametrize("waits_for", [b"", b"\x1b]11;?", SCREEN_BEGINS, b"Start an agent"])
def test_text_typed_before_the_list_of_agents_is_the_draft_and_no_search(waits_for: bytes, tmp_path: Path) -> None:
    environ = {**environment(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path), "PATH": ""}
    with process_on_terminal([], environ, tmp_path) as terminal:
        stream = pyte.ByteStream(screen := pyte.Screen(80, 24))

        def shown() -> str:
            screen.reset()
            stream.feed(terminal.said)
            return "\n".join(row.strip() for row in screen.display)

        terminal.until(lambda: waits_for in terminal.said)
        terminal.type("hello\r")
        terminal.until(lambda: "What you typed is kept as your draft" in shown())
        assert "│  Type to search" in shown()
        terminal.type("demo\r")
        terminal.until(lambda: "Typed before acp-tui was ready: Enter sends it" in shown() and "│ hello" in shown())
