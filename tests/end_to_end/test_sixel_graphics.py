"""Pictures on a terminal that says that it draws sixel graphics, and how large its cells are."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from support.terminals import TerminalProcess, process_on_terminal, set_size

SIZE = (80, 40)


def _with_cells(*cell: int) -> Callable[[subprocess.Popen[bytes], int], TerminalProcess]:
    def make(process: subprocess.Popen[bytes], master: int) -> TerminalProcess:
        set_size(master, SIZE, (cell[0], cell[1]))
        made = TerminalProcess(process, master)
        made.answers = True
        return made

    return make


def _environ(home: Path) -> dict[str, str]:
    return {"TERM": "xterm-256color", "COLORTERM": "truecolor", "HOME": str(home)}


def test_a_picture_is_drawn_and_drawn_again_in_cells_of_another_size(tmp_path: Path) -> None:
    masters: list[int] = []

    def make(process: subprocess.Popen[bytes], master: int) -> TerminalProcess:
        masters.append(master)
        return _with_cells(10, 20)(process, master)

    argv = ["demo", "content", "Hello", "--speed", "0"]
    with process_on_terminal(argv, _environ(tmp_path), tmp_path, SIZE, terminal=make) as terminal:
        terminal.until(lambda: b'\x1bP0;1q"1;1;16;8#' in terminal.said)
        set_size(masters[0], SIZE, (20, 40))
        terminal.until(lambda: b'\x1bP0;1q"1;1;32;16#' in terminal.said)


@pytest.mark.parametrize(
    ("cell", "environ", "words"),
    [
        ((10, 20), {}, "sharp (sixel)"),
        ((0, 0), {}, "as colored blocks"),
        ((10, 20), {"TMUX": "/tmp/tmux,1,0"}, "as colored blocks"),
        ((10, 20), {"TERM": "xterm-kitty"}, "sharp (kitty's protocol)"),
        ((10, 20), {"TERM": "xterm", "COLORTERM": ""}, "only named"),
    ],
)
def test_the_doctor_says_how_pictures_are_shown(
    cell: tuple[int, int], environ: dict[str, str], words: str, tmp_path: Path
) -> None:
    variables = {**_environ(tmp_path), **environ}
    with process_on_terminal(["doctor"], variables, tmp_path, SIZE, terminal=_with_cells(*cell)) as terminal:
        terminal.shows("Pictures")
        terminal.shows(words)
