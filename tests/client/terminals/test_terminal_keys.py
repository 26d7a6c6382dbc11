"""What a program in a terminal receives for keys and pastes, in the modes it has set."""

from __future__ import annotations

import pytest

from acp_tui.client.terminals.emulator import TerminalModes
from acp_tui.client.terminals.screen import (
    encode_focus,
    encode_key,
    encode_paste,
)

PLAIN = TerminalModes()
APPLICATION = TerminalModes(application_cursor_keys=True)


@pytest.mark.parametrize(
    ("key", "character", "typed"),
    [
        ("a", "a", b"a"),
        ("upper_a", "A", b"A"),
        ("é", "é", "é".encode()),
        ("space", " ", b" "),
        ("enter", "\r", b"\r"),
        ("tab", "\t", b"\t"),
        ("shift+tab", None, b"\x1b[Z"),
        ("escape", "\x1b", b"\x1b"),
        ("backspace", "\x7f", b"\x7f"),
        ("ctrl+c", "\x03", b"\x03"),
        ("ctrl+z", "\x1a", b"\x1a"),
        ("ctrl+@", "\0", b"\0"),
        ("alt+b", None, b"\x1bb"),
        ("alt+enter", None, b"\x1b\r"),
        ("up", None, b"\x1b[A"),
        ("home", None, b"\x1b[H"),
        ("ctrl+left", None, b"\x1b[1;5D"),
        ("shift+alt+up", None, b"\x1b[1;4A"),
        ("delete", None, b"\x1b[3~"),
        ("ctrl+delete", None, b"\x1b[3;5~"),
        ("pageup", None, b"\x1b[5~"),
        ("f1", None, b"\x1bOP"),
        ("f5", None, b"\x1b[15~"),
        ("shift+f1", None, b"\x1b[1;2P"),
        ("f12", None, b"\x1b[24~"),
        ("f20", None, b""),
    ],
)
def test_a_key_is_typed_as_xterm_does(key: str, character: str | None, typed: bytes) -> None:
    assert encode_key(key, character, PLAIN) == typed


def test_cursor_keys_follow_the_mode_unless_a_modifier_is_held() -> None:
    assert encode_key("up", None, APPLICATION) == b"\x1bOA"
    assert encode_key("end", None, APPLICATION) == b"\x1bOF"
    assert encode_key("ctrl+up", None, APPLICATION) == b"\x1b[1;5A"


def test_a_paste_is_bracketed_where_that_is_wanted() -> None:
    assert encode_paste("one\ntwo\r\n", PLAIN) == b"one\rtwo\r"
    assert encode_paste("one\n", TerminalModes(bracketed_paste=True)) == b"\x1b[200~one\r\x1b[201~"


def test_no_paste_presses_keys_or_ends_its_own_bracket() -> None:
    hostile = "rm\x1b[201~\x03\x04\x7f\x9b31m é\t"
    assert encode_paste(hostile, PLAIN) == "rm[201~31m é\t".encode()


def test_focus_is_told_only_where_it_was_asked_for() -> None:
    assert encode_focus(True, PLAIN) == b""
    assert encode_focus(True, TerminalModes(focus_reports=True)) == b"\x1b[I"
    assert encode_focus(False, TerminalModes(focus_reports=True)) == b"\x1b[O"
