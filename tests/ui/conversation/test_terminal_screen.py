"""A terminal's screen: what it feeds itself, what the thread feeds, gaps, pauses, and lost lines."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, cast

import anyio
import pytest

from acp_tui.client.terminals.emulator import GhosttyEmulator, PlainEmulator, make_emulator
from acp_tui.client.terminals.feeder import Feeder
from acp_tui.client.terminals.screen import AT_ONCE_BYTES, PIECE_BYTES, TerminalScreen
from acp_tui.conversation.buffers import ByteRing
from acp_tui.conversation.entries import TERMINAL_SCROLLBACK_BYTES, TerminalState
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.ui.conversation.terminals import MAX_AWAKE, TerminalLines, TerminalScreens
from support.waiting import LIMIT_S


class HeldFeeder:
    """Does its job when a test says so."""

    def __init__(self) -> None:
        self.job: tuple[Callable[[], None], Callable[[], None]] | None = None

    def run(self, work: Callable[[], None], on_done: Callable[[], None]) -> None:
        assert self.job is None, "a second job before the first was done"
        self.job = work, on_done

    def step(self) -> None:
        assert self.job is not None
        (work, on_done), self.job = self.job, None
        work()
        on_done()


class Opened:
    """A screen of 80 by 24, and its surroundings."""

    def __init__(self, limit_bytes: int = TERMINAL_SCROLLBACK_BYTES) -> None:
        self.state = TerminalState(TerminalId("t"), columns=80, rows=24, output=ByteRing(limit_bytes))
        self.feeder = HeldFeeder()
        self.fed: list[bytes] = []
        self.changes = 0
        self.made = 0
        self.screen = TerminalScreen(self.state, self._make, cast(Any, self.feeder), self._note)

    def _make(self, columns: int, rows: int, scrollback: int) -> PlainEmulator:
        self.made += 1
        emulator = PlainEmulator(columns, rows, scrollback)
        feed = emulator.feed

        def recorded(data: bytes) -> None:
            self.fed.append(data)
            feed(data)

        cast(Any, emulator).feed = recorded
        return emulator

    def _note(self) -> None:
        self.changes += 1

    def prints(self, data: bytes) -> None:
        self.state.output.append(data)
        self.screen.update()

    @property
    def text(self) -> list[str]:
        lines = self.screen.lines(0, self.screen.line_count)
        return ["".join(segment.text for segment in line) for line in lines]


def test_short_output_is_there_at_once() -> None:
    opened = Opened()
    opened.prints(b"x" * AT_ONCE_BYTES)
    assert opened.feeder.job is None
    assert sum(map(len, opened.fed)) == AT_ONCE_BYTES


def test_a_flood_goes_to_the_thread_piece_by_piece_and_whole() -> None:
    opened = Opened()
    data = bytes(range(32, 127)) * 5000
    opened.prints(data)
    assert opened.fed == []
    while opened.feeder.job is not None:
        opened.feeder.step()
    assert b"".join(opened.fed) == data
    assert max(map(len, opened.fed)) <= PIECE_BYTES
    assert opened.changes == -(-len(data) // PIECE_BYTES)


def test_what_comes_while_the_thread_works_is_fed_after_it_and_once() -> None:
    opened = Opened()
    opened.prints(b"a" * PIECE_BYTES)
    opened.prints(b"b")
    opened.prints(b"c")
    assert opened.fed == []
    opened.feeder.step()
    assert b"".join(opened.fed) == b"a" * PIECE_BYTES + b"bc"
    assert not opened.screen.is_feeding


def test_between_frames_only_much_output_is_taken() -> None:
    opened = Opened()
    opened.state.output.append(b"x")
    opened.screen.keep_up()
    assert opened.made == 0
    opened.state.output.append(b"x" * AT_ONCE_BYTES)
    opened.screen.keep_up()
    assert opened.feeder.job is not None


def test_a_flood_that_is_faster_than_the_emulator_goes_on_with_a_whole_line() -> None:
    opened = Opened(limit_bytes=1000)
    opened.prints(b"first\r\n\x1b[31")
    opened.prints(b"lost" * 1000 + b"cut off\r\nwhole\r\n")
    assert opened.text == ["first", "whole"]


def test_a_gap_ends_the_style_and_the_sequence_that_it_has_cut() -> None:
    pytest.importorskip("pyghostty")
    state = TerminalState(TerminalId("t"), columns=80, rows=24, output=ByteRing(1000))
    screen = TerminalScreen(state, make_emulator, cast(Any, HeldFeeder()), lambda: None)
    state.output.append(b"\x1b[1;31mred\r\n\x1b]0;a title that never en")
    screen.update()
    state.output.append(b"x" * 2000 + b"\r\nplain")
    screen.update()
    assert [segment.text for segment in screen.lines(1, 2)[0]] == ["plain"]
    assert screen.lines(1, 2)[0][0].style is None


def test_lines_that_are_gone_are_blank() -> None:
    opened = Opened()
    columns = opened.state.columns
    opened.prints(b"a" * columns + b"b")
    lines = TerminalLines(opened.screen, columns)
    assert [strip.text for strip in lines] == ["a" * columns, "b"]
    opened.state.columns += 1
    opened.screen.update()
    assert [strip.text for strip in TerminalLines(opened.screen, columns + 1)] == ["a" * columns + "b"]
    assert lines[1].text == ""


def test_an_emulator_at_rest_is_made_anew_when_it_is_looked_at() -> None:
    opened = Opened()
    opened.prints(b"one\r\ntwo")
    assert not opened.screen.can_rest
    opened.state.has_exited = True
    opened.screen.rest()
    opened.screen.rest()
    assert opened.screen.line_count == 2
    assert opened.made == 1
    assert opened.text == ["one", "two"]
    assert opened.made == 2


def test_a_long_output_keeps_its_height_while_its_emulator_is_made_anew() -> None:
    opened = Opened()
    opened.prints(b"line\r\n" * 5000)
    opened.feeder.step()
    opened.state.has_exited = True
    count = opened.screen.line_count
    opened.screen.rest()
    assert opened.screen.lines(0, 2) == [[], []]
    assert opened.screen.line_count == count
    opened.feeder.step()
    assert opened.text == ["line"] * count


@pytest.fixture
async def screens() -> Any:
    told = anyio.Event()
    opened = TerminalScreens(told.set, lambda _id: None)
    state = TerminalState(TerminalId("first"))
    assert opened.screen(state) is None
    with anyio.fail_after(LIMIT_S):
        await told.wait()
    yield opened
    opened.close()


async def test_only_the_last_emulators_of_commands_that_have_ended_are_kept(screens: TerminalScreens) -> None:
    states = [TerminalState(TerminalId(str(number)), has_exited=True) for number in range(MAX_AWAKE * 2)]
    opened = []
    for state in states:
        state.output.append(state.terminal_id.encode())
        screen = screens.screen(state)
        assert screen is not None
        screen.update()
        opened.append(screen)
    assert [screen.can_rest for screen in opened] == [False] * MAX_AWAKE + [True] * MAX_AWAKE
    assert opened[0].lines(0, 1)[0][0].text == "0"
    assert sum(screen.can_rest for screen in opened) == MAX_AWAKE


async def test_a_terminal_of_another_conversation_gets_a_screen_of_its_own(screens: TerminalScreens) -> None:
    first, second = (TerminalState(TerminalId("same")) for _ in range(2))
    assert screens.screen(first) is screens.screen(first)
    assert screens.screen(first) is not screens.screen(second)


def feeder_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "terminal-feeder"}


async def test_the_thread_starts_with_the_first_job_and_ends_when_it_is_closed() -> None:
    before, done, feeder = feeder_threads(), anyio.Event(), Feeder()
    assert feeder_threads() == before
    feeder.run(lambda: None, done.set)
    (thread,) = feeder_threads() - before
    with anyio.fail_after(LIMIT_S):
        await done.wait()
    feeder.close()
    feeder.close()
    thread.join(LIMIT_S)
    assert not thread.is_alive()
    feeder.run(lambda: None, lambda: None)
    assert feeder_threads() <= before


async def test_a_new_size_is_kept_by_an_emulator_that_is_made_anew() -> None:
    opened = Opened()
    opened.prints(b"x" * 30)
    opened.state.columns, opened.state.rows = 10, 5
    opened.screen.update()
    assert opened.text == ["x" * 10] * 3
    opened.state.has_exited = True
    opened.screen.rest()
    assert opened.text == ["x" * 10] * 3


async def test_an_emulator_that_fails_does_not_stop_the_others() -> None:
    feeder, done = Feeder(), anyio.Event()

    def fail() -> None:
        raise RuntimeError("broken")

    feeder.run(fail, lambda: None)
    feeder.run(lambda: None, done.set)
    with anyio.fail_after(LIMIT_S):
        await done.wait()
    feeder.close()


def test_a_flood_of_20_mb_leaves_no_more_than_the_limits() -> None:
    pytest.importorskip("pyghostty")
    state = TerminalState(TerminalId("t"))
    feeder = HeldFeeder()
    screen = TerminalScreen(state, make_emulator, cast(Any, feeder), lambda: None)
    line = b"\x1b[32m%08d\x1b[0m the quick brown fox jumps over the lazy dog\r\n"
    for start in range(0, 320_000, 1000):
        state.output.append(b"".join(line % number for number in range(start, start + 1000)))
        screen.keep_up()
        while feeder.job is not None:
            feeder.step()
    assert len(state.output) <= TERMINAL_SCROLLBACK_BYTES
    assert screen.line_count <= 2 * 5_000  # whole pages are dropped
    last = screen.lines(screen.line_count - 1, screen.line_count)[0]
    assert "".join(segment.text for segment in last).startswith("00319999")
    assert isinstance(screen.awake, GhosttyEmulator)
