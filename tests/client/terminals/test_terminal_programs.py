"""Full-screen programs on a real PTY: what the emulator shows of them, and what they leave."""

from __future__ import annotations

import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from acp_tui.client.terminals.emulator import GhosttyEmulator, make_emulator
from acp_tui.client.terminals.screen import encode_key, encode_paste
from acp_tui.client.terminals.terminals import Terminals
from support.waiting import LIMIT_S, Bell

COLUMNS, ROWS = 80, 24


class Program:
    """A command on a PTY, with an emulator fed with its output."""

    def __init__(self, cwd: Path) -> None:
        pytest.importorskip("pyghostty")
        self._bell = Bell()
        self.terminals = Terminals(cwd, on_output=self._take, on_exit=self._bell.ring)
        self.terminals.size = COLUMNS, ROWS
        self.emulator = make_emulator(COLUMNS, ROWS, 1000)
        assert isinstance(self.emulator, GhosttyEmulator)
        self._id = ""

    async def start(self, command: str, *args: str) -> None:
        self._id = await self.terminals.create(command, args, [("LC_ALL", "C.UTF-8")])

    def _take(self, terminal_id: str, data: bytes) -> None:
        self.emulator.feed(data)
        self._bell.ring()

    @property
    def rows(self) -> list[str]:
        return ["".join(segment.text for segment in line).rstrip() for line in self.emulator.lines()]

    async def until(self, is_there: Callable[[list[str]], bool]) -> None:
        """Wait until the screen shows it."""
        await self._bell.until(lambda: is_there(self.rows), lambda: "\n".join(self.rows))

    def press(self, *keys: str) -> None:
        for key in keys:
            character = key if len(key) == 1 else None
            self.terminals.get(self._id).write(encode_key(key, character, self.emulator.modes))

    def paste(self, text: str) -> None:
        self.terminals.get(self._id).write(encode_paste(text, self.emulator.modes))

    async def end(self) -> int | None:
        with anyio.fail_after(LIMIT_S):
            return (await self.terminals.get(self._id).wait_for_exit()).exit_code


@asynccontextmanager
async def running(cwd: Path, command: str, *args: str) -> AsyncIterator[Program]:
    """The program, until the test is done with it. Skips the test if it isn't installed."""
    if shutil.which(command) is None:
        pytest.skip(f"{command} isn't installed")
    program = Program(cwd)
    try:
        await program.start(command, *args)
        yield program
    finally:
        await program.terminals.close()
        program.emulator.close()


async def test_vim_edits_a_file_and_gives_the_screen_back(tmp_path: Path) -> None:
    (tmp_path / "poem.txt").write_text("one\n漢字 two\nthree\n")
    async with running(tmp_path, "vim", "-u", "NONE", "-N", "-i", "NONE", "poem.txt") as vim:
        await vim.until(lambda rows: rows[:4] == ["one", "漢字 two", "three", "~"])
        assert vim.emulator.modes.alternate_screen
        vim.press("down", "A")
        vim.paste("!")
        vim.press("escape", "g", "g", "d", "d", "G")
        await vim.until(lambda rows: rows[:3] == ["漢字 two!", "three", "~"] and vim.emulator.cursor[1] == 1)
        vim.press(":", "x", "enter")
        assert await vim.end() == 0
        assert not vim.emulator.modes.alternate_screen
        assert "~" not in vim.rows
    assert (tmp_path / "poem.txt").read_text() == "漢字 two!\nthree\n"


async def test_less_pages_and_searches(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("".join(f"line {number}\n" for number in range(1, 201)))
    async with running(tmp_path, "less", "long.txt") as less:
        await less.until(lambda rows: rows[:1] == ["line 1"] and "long.txt" in rows[-1])
        less.press("pagedown")
        await less.until(lambda rows: rows[0] == "line 24")
        less.press("/", "1", "5", "0", "enter")
        await less.until(lambda rows: rows[0] == "line 150")
        found = less.emulator.lines()[0]
        assert [segment.text for segment in found if segment.style and "reverse" in segment.style.attributes] == ["150"]
        less.press("q")
        assert await less.end() == 0


@pytest.mark.parametrize("command", ["top", "htop"])
async def test_process_viewers_draw_their_table_in_place(tmp_path: Path, command: str) -> None:
    async with running(tmp_path, command) as viewer:
        await viewer.until(lambda rows: any("PID" in row and "USER" in row for row in rows))
        viewer.press("space")
        await viewer.until(lambda rows: sum("PID" in row and "USER" in row for row in rows) == 1)
        assert viewer.emulator.line_count <= ROWS
        viewer.press("q")
        assert await viewer.end() == 0


BAR = """
import sys, time
for done in range(0, 101):
    filled = "█" * (done // 5)
    sys.stdout.write(f"\\r\\x1b[K\\x1b[32m{filled:<20}\\x1b[0m {done:3d}%")
    sys.stdout.flush()
print("\\ninstalled")
"""


async def test_a_progress_bar_is_one_line_and_green(tmp_path: Path) -> None:
    async with running(tmp_path, sys.executable, "-c", BAR) as installer:
        assert await installer.end() == 0
        assert installer.rows == ["█" * 20 + " 100%", "installed"]
        bar = installer.emulator.lines()[0][0]
        assert bar.style is not None
        assert bar.style.foreground == 2


MANY_BARS = """
import sys
for number in range(3): print(f"layer {number}: waiting")
for step in range(30):
    number = step % 3
    up = 3 - number
    sys.stdout.write(f"\\x1b[{up}A\\r\\x1b[2Klayer {number}: {step}\\x1b[{up}B\\r")
print("done")
"""


async def test_several_bars_that_move_the_cursor_stay_on_their_lines(tmp_path: Path) -> None:
    async with running(tmp_path, sys.executable, "-c", MANY_BARS) as puller:
        assert await puller.end() == 0
        assert puller.rows == ["layer 0: 27", "layer 1: 28", "layer 2: 29", "done"]


async def test_wide_characters_take_two_cells_and_wrap_whole(tmp_path: Path) -> None:
    script = f"print('漢' * 41); print('한글 かな ｶﾅ', end='')  # {COLUMNS} cells hold 40"
    async with running(tmp_path, sys.executable, "-c", script) as printer:
        assert await printer.end() == 0
        assert printer.rows == ["漢" * 40, "漢", "한글 かな ｶﾅ"]
        assert printer.emulator.cursor == (4 + 1 + 4 + 1 + 2, 2)
