"""What a program in a terminal gets for a key, a paste or the mouse, as xterm sends it.

Not libghostty's encoder: Textual says what a key means, not which key it was, and any emulator must do.
"""

from __future__ import annotations

from typing import Final

from acp_tui.client.terminals.emulator import MouseReports, TerminalModes

_PLAIN: Final = {
    "enter": b"\r",
    "tab": b"\t",
    "shift+tab": b"\x1b[Z",
    "escape": b"\x1b",
    "backspace": b"\x7f",
    "ctrl+backspace": b"\x08",
    "ctrl+@": b"\0",
    "ctrl+space": b"\0",
    "ctrl+left_square_bracket": b"\x1b",
    "ctrl+backslash": b"\x1c",
    "ctrl+right_square_bracket": b"\x1d",
    "ctrl+circumflex_accent": b"\x1e",
    "ctrl+underscore": b"\x1f",
}
_LETTERED: Final = {"up": "A", "down": "B", "right": "C", "left": "D", "end": "F", "home": "H"}
"""The cursor keys: CSI and the letter, or SS3 where the program has asked for that."""
_NUMBERED: Final = {"insert": 2, "delete": 3, "pageup": 5, "pagedown": 6} | dict(
    zip((f"f{number}" for number in range(5, 13)), (15, 17, 18, 19, 20, 21, 23, 24), strict=True)
)
_FIRST_FUNCTION_KEYS: Final = {"f1": "P", "f2": "Q", "f3": "R", "f4": "S"}
_MODIFIERS: Final = {"shift": 1, "alt": 2, "meta": 2, "ctrl": 4}

LEFT, MIDDLE, RIGHT, NO_BUTTON, WHEEL_UP, WHEEL_DOWN = 0, 1, 2, 3, 64, 65
"""The buttons of `encode_mouse`."""


def encode_key(key: str, character: str | None, modes: TerminalModes) -> bytes:
    """What to type for a key that Textual calls `key`, such as `ctrl+left`; nothing for one that means nothing here."""
    if key in _PLAIN:
        return _PLAIN[key]
    *named, base = key.split("+")
    modifiers = sum(_MODIFIERS.get(name, 0) for name in {*named})
    if base in _LETTERED or base in _NUMBERED or base in _FIRST_FUNCTION_KEYS:
        return _encode_named(base, modifiers, modes)
    if modifiers & 4 and len(base) == 1 and base.isascii() and base.isalpha():
        typed = bytes([ord(base.lower()) & 0x1F])
    elif base in _PLAIN:
        typed = _PLAIN[base]
    else:
        shown = character or (base if len(base) == 1 else "")
        typed = shown.encode() if shown.isprintable() else b""
    return b"\x1b" + typed if typed and modifiers & 2 else typed


def _encode_named(base: str, modifiers: int, modes: TerminalModes) -> bytes:
    suffix = f";{modifiers + 1}" if modifiers else ""
    if base in _NUMBERED:
        return f"\x1b[{_NUMBERED[base]}{suffix}~".encode()
    letter = _LETTERED.get(base) or _FIRST_FUNCTION_KEYS[base]
    if suffix:
        return f"\x1b[1{suffix}{letter}".encode()
    is_ss3 = base in _FIRST_FUNCTION_KEYS or modes.application_cursor_keys
    return f"\x1b{'O' if is_ss3 else '['}{letter}".encode()


def encode_paste(text: str, modes: TerminalModes) -> bytes:
    """What to type for pasted text; nothing in it can end a bracketed paste, or press keys in a plain one but Enter."""
    lines = text.replace("\r\n", "\r").replace("\n", "\r")
    harmless = "".join(char for char in lines if char in "\t\r" or char.isprintable() or char > "\x9f")
    typed = harmless.encode("utf-8", "replace")
    return b"\x1b[200~" + typed + b"\x1b[201~" if modes.bracketed_paste else typed


def encode_mouse(
    button: int,
    column: int,
    row: int,
    modes: TerminalModes,
    *,
    is_pressed: bool = True,
    is_motion: bool = False,
    modifiers: int = 0,
) -> bytes:
    """What to type for the mouse at a cell of the screen, counted from 0; nothing that the program has not asked for.

    `modifiers` is the sum of 4 for shift, 8 for alt and 16 for ctrl.
    """
    wanted = modes.mouse
    is_drag = is_motion and button != NO_BUTTON
    if wanted is MouseReports.NONE or (is_motion and wanted is MouseReports.CLICKS):
        return b""
    if is_motion and not is_drag and wanted is not MouseReports.EVERY_MOVE:
        return b""
    code = button + modifiers + (32 if is_motion else 0)
    if modes.sgr_mouse:
        return f"\x1b[<{code};{column + 1};{row + 1}{'M' if is_pressed else 'm'}".encode()
    if not is_pressed:
        code = NO_BUTTON + modifiers
    if column > 222 or row > 222:  # beyond what one byte can tell
        return b""
    return b"\x1b[M" + bytes([32 + code, 33 + column, 33 + row])


def encode_focus(has_focus: bool, modes: TerminalModes) -> bytes:
    """What to type when the terminal gains or loses the focus."""
    return (b"\x1b[I" if has_focus else b"\x1b[O") if modes.focus_reports else b""
