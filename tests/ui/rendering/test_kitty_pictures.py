"""Pictures that the terminal draws: what it is sent, when, and what takes their place."""

from __future__ import annotations

import re
from base64 import b64decode
from io import BytesIO

import pytest
from PIL import Image
from rich.cells import cell_len

from acp_tui.ui.rendering.kitty import (
    CHUNK,
    MAX_HELD,
    NUMBERS,
    PLACEHOLDER,
    KittyTerminal,
    draws_placeholders,
    kitty_picture,
    through_tmux,
    transmission,
)
from acp_tui.ui.rendering.pictures import MAX_COLUMNS, MAX_ROWS
from support.scenes import RED, encoded

COMMAND = re.compile("\x1b_G([^;\x1b]*);?([^\x1b]*)\x1b\\\\")


class Terminal:
    """Records the commands it gets."""

    def __init__(self) -> None:
        self.commands: list[tuple[dict[str, str], str]] = []

    def write(self, sequence: str) -> None:
        assert COMMAND.sub("", sequence) == "", "something else than commands"
        for keys, data in COMMAND.findall(sequence):
            self.commands.append((dict(key.split("=") for key in keys.split(",")), data))

    @property
    def actions(self) -> list[str]:
        """The commands, without the pieces after the first."""
        return [keys["a"] for keys, _ in self.commands if "a" in keys]


@pytest.fixture
def terminal() -> Terminal:
    return Terminal()


@pytest.fixture
def kitty(terminal: Terminal) -> KittyTerminal:
    return KittyTerminal(terminal.write)


def _picture(width: int, height: int) -> str:
    return encoded(Image.new("RGB", (width, height), RED))


def test_nothing_is_sent_before_a_line_is_looked_at(terminal: Terminal, kitty: KittyTerminal) -> None:
    lines = kitty_picture(kitty, _picture(100, 40)).lines(80)
    assert (len(lines), terminal.commands) == (2, [])
    assert lines[0]
    assert terminal.actions == ["t", "p"]


def test_a_picture_is_sent_once_however_often_it_is_looked_at(terminal: Terminal, kitty: KittyTerminal) -> None:
    picture = kitty_picture(kitty, _picture(100, 40))
    for _ in range(3):
        assert [line.cell_length for line in picture.lines(80)] == [10, 10]
    assert terminal.actions == ["t", "p"]


def test_the_terminal_gets_a_png_with_its_cells_and_is_told_not_to_answer(
    terminal: Terminal, kitty: KittyTerminal
) -> None:
    noise = Image.effect_noise((400, 200), 90)
    assert kitty_picture(kitty, encoded(noise, "JPEG")).lines(80)[0]
    *pieces, (placed, _) = terminal.commands
    data = "".join(data for _, data in pieces)
    assert Image.open(BytesIO(b64decode(data))).size == (400, 200)
    assert (placed["U"], placed["c"], placed["r"]) == ("1", "40", "10")
    assert {keys["q"] for keys, _ in terminal.commands} == {"2"}
    assert [keys["m"] for keys, _ in pieces] == ["1"] * (len(pieces) - 1) + ["0"]
    assert all(len(data) <= CHUNK for _, data in pieces)


def test_each_cell_names_the_picture_by_its_color_and_its_own_place_in_it(
    terminal: Terminal, kitty: KittyTerminal
) -> None:
    lines = kitty_picture(kitty, _picture(30, 40)).lines(80)
    ((segment,), (below,)) = lines[0], lines[1]
    assert segment.text == "".join(PLACEHOLDER + NUMBERS[0] + NUMBERS[column] for column in range(3))
    assert below.text[1] == NUMBERS[1]
    assert segment.style is not None
    assert segment.style.color is not None
    red, green, blue = segment.style.color.get_truecolor()
    assert terminal.commands[-1][0]["i"] == str((red << 16) + (green << 8) + blue)


def test_part_of_a_row_is_as_wide_as_it_is_told(kitty: KittyTerminal) -> None:
    assert len(NUMBERS) >= max(MAX_COLUMNS, MAX_ROWS)
    line = kitty_picture(kitty, _picture(MAX_COLUMNS * 10, 20)).lines(MAX_COLUMNS)[0]
    assert cell_len(line.text) == line.cell_length == MAX_COLUMNS
    assert line.crop(3, 5).text == "".join(PLACEHOLDER + NUMBERS[0] + NUMBERS[column] for column in (3, 4))


@pytest.mark.parametrize(
    ("size", "width", "cells"),
    [((1, 1), 80, (1, 1)), ((640, 480), 80, (54, 20)), ((640, 480), 10, (10, 4)), ((20, 4_000), 80, (1, 20))],
)
def test_it_is_as_large_as_it_is_where_there_is_room(
    size: tuple[int, int], width: int, cells: tuple[int, int], kitty: KittyTerminal
) -> None:
    lines = kitty_picture(kitty, _picture(*size)).lines(width)
    assert (lines[0].cell_length, len(lines)) == cells


def test_another_width_is_another_picture_to_the_terminal(terminal: Terminal, kitty: KittyTerminal) -> None:
    picture = kitty_picture(kitty, _picture(640, 480))
    assert picture.lines(40)[0]
    assert picture.lines(10)[0]
    first, second = (keys for keys, _ in terminal.commands if keys.get("a") == "p")
    assert first["i"] != second["i"]
    assert (first["c"], second["c"]) == ("40", "10")


def test_the_terminal_is_to_hold_only_the_pictures_looked_at_last(terminal: Terminal, kitty: KittyTerminal) -> None:
    ids = [kitty.new_id() for _ in range(MAX_HELD + 1)]
    for image_id in ids[:-1]:
        kitty.hold(image_id, b"png", (1, 1))
    kitty.hold(ids[0], b"png", (1, 1))
    assert "d" not in terminal.actions
    kitty.hold(ids[-1], b"png", (1, 1))
    assert [keys["i"] for keys, _ in terminal.commands if keys.get("a") == "d"] == [str(ids[1])]


def test_what_the_terminal_has_lost_is_sent_again(terminal: Terminal, kitty: KittyTerminal) -> None:
    lines = kitty_picture(kitty, _picture(10, 20)).lines(80)
    assert lines[0]
    kitty.forget()
    assert lines[0]
    assert terminal.actions == ["t", "p", "t", "p"]


def test_the_terminal_frees_all_of_them_in_the_end(terminal: Terminal, kitty: KittyTerminal) -> None:
    for _ in range(2):
        kitty.hold(kitty.new_id(), b"png", (1, 1))
    kitty.release_all()
    assert terminal.actions == ["t", "p", "t", "p", "d", "d"]


def test_no_picture_is_left_without_its_last_piece() -> None:
    for length in (1, CHUNK // 4 * 3 - 1, CHUNK // 4 * 3, CHUNK // 4 * 3 + 1):
        commands = list(transmission(7, bytes(length)))
        assert ["m=1" in command for command in commands] == [True] * (len(commands) - 1) + [False]


def test_tmux_is_told_to_pass_each_command_on() -> None:
    written: list[str] = []
    KittyTerminal(written.append, is_in_tmux=True).hold(7, b"png", (1, 1))
    assert through_tmux("\x1b_Ga=d\x1b\\") == "\x1bPtmux;\x1b\x1b_Ga=d\x1b\x1b\\\x1b\\"
    assert written[0].count("\x1bPtmux;\x1b\x1b_G") == 2


@pytest.mark.parametrize(
    ("environ", "is_known"),
    [
        ({"TERM": "xterm-kitty", "KITTY_WINDOW_ID": "1"}, True),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "xterm-ghostty", "TERM_PROGRAM": "ghostty"}, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "ghostty"}, True),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, True),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1", "TERM_PROGRAM": "vscode"}, False),
        ({"TERM": "tmux-256color", "KITTY_WINDOW_ID": "1", "TMUX": "/tmp/tmux-0/default,1,0"}, False),
        ({"TERM": "screen", "KITTY_WINDOW_ID": "1", "STY": "1.pts"}, False),
        ({"TERM": "xterm-kitty", "ZELLIJ": "0"}, False),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, False),
        ({}, False),
    ],
)
def test_the_terminals_that_draw_pictures_in_place_of_text_are_known(environ: dict[str, str], is_known: bool) -> None:
    assert draws_placeholders(environ) is is_known
