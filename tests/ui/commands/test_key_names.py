"""Names of keys, as users write them and as Textual names them."""

from __future__ import annotations

import pytest
from textual._xterm_parser import XTermParser
from textual.events import Key
from textual.keys import _character_to_key

from acp_tui.ui.commands.keymap import is_typed, parse_key, shown_key, written_key
from acp_tui.ui.commands.table import COMMANDS

OURS = sorted({key for command in COMMANDS if command.keys for key in command.keys.split(",")})


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("ctrl+f", "ctrl+f"),
        ("Ctrl+F", "ctrl+f"),
        ("control-f", "ctrl+f"),
        ("F9", "f9"),
        ("Esc", "escape"),
        ("?", "question_mark"),
        ("ctrl+?", "ctrl+question_mark"),
        ("ctrl++", "ctrl+plus"),
        ("ctrl+-", "ctrl+minus"),
        ("ctrl+]", "ctrl+right_square_bracket"),
        ("G", "G"),
        ("shift+g", "G"),
        ("shift+alt+ctrl+x", "alt+ctrl+shift+x"),
        ("PgUp", "pageup"),
    ],
)
def test_a_key_may_be_written_in_many_ways(written: str, key: str) -> None:
    assert parse_key(written) == key


@pytest.mark.parametrize("written", ["", "ctrl+", "foo", "ctl+x", "ctrl+f,ctrl+g", "f99", "xx", "\0", "ctrl+\n"])
def test_what_is_no_key_is_none(written: str) -> None:
    assert parse_key(written) is None


@pytest.mark.parametrize("key", OURS)
def test_every_key_of_the_table_is_read_back_as_it_is_written(key: str) -> None:
    assert parse_key(written_key(key)) == key


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("ctrl+f", "Ctrl+F"),
        ("alt+up", "Alt+↑"),
        ("shift+tab", "Shift+Tab"),
        ("alt+ctrl+shift+x", "Ctrl+Alt+Shift+X"),
    ],
)
def test_a_key_is_shown_as_it_stands_on_a_keyboard(key: str, shown: str) -> None:
    assert shown_key(key) == shown


@pytest.mark.parametrize(
    ("sequence", "written"),
    [
        ("\x06", "ctrl+f"),
        ("\x1b[1;3A", "alt+up"),
        ("\x1bOP", "f1"),
        ("\x1b[44;5u", "ctrl+,"),
        ("\x1f", "ctrl+_"),
    ],
)
def test_a_key_has_the_name_that_comes_from_a_terminal(sequence: str, written: str) -> None:
    (event,) = XTermParser().feed(sequence)

    assert isinstance(event, Key)
    assert event.key == parse_key(written)


@pytest.mark.parametrize("sign", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
def test_every_sign_has_the_name_that_textual_gives_it(sign: str) -> None:
    assert parse_key(sign) == _character_to_key(sign)


def test_what_writes_a_character_is_told_from_what_does_not() -> None:
    assert [key for key in ("f", "F", "question_mark", "space", "f1", "ctrl+f", "enter") if is_typed(key)] == [
        "f",
        "F",
        "question_mark",
        "space",
    ]
