"""Names of keys: as a user writes and reads them, and as Textual calls them; what a key does is not its matter."""

from __future__ import annotations

import re
from typing import Final

MODIFIERS: Final = ("alt", "ctrl", "hyper", "meta", "shift", "super")
"""In the order in which Textual names them."""
_READ_FIRST: Final = ("ctrl", "alt", "shift")
_NAMED: Final[dict[str, str]] = {
    "enter": "Enter",
    "escape": "Esc",
    "tab": "Tab",
    "space": "Space",
    "backspace": "Backspace",
    "delete": "Delete",
    "insert": "Insert",
    "home": "Home",
    "end": "End",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    **{f"f{number}": f"F{number}" for number in range(1, 25)},
}
_SIGNS: Final[dict[str, str]] = {
    "exclamation_mark": "!",
    "quotation_mark": '"',
    "number_sign": "#",
    "dollar_sign": "$",
    "percent_sign": "%",
    "ampersand": "&",
    "apostrophe": "'",
    "left_parenthesis": "(",
    "right_parenthesis": ")",
    "asterisk": "*",
    "plus": "+",
    "comma": ",",
    "minus": "-",
    "full_stop": ".",
    "slash": "/",
    "colon": ":",
    "semicolon": ";",
    "less_than_sign": "<",
    "equals_sign": "=",
    "greater_than_sign": ">",
    "question_mark": "?",
    "at": "@",
    "left_square_bracket": "[",
    "backslash": "\\",
    "right_square_bracket": "]",
    "circumflex_accent": "^",
    "underscore": "_",
    "grave_accent": "`",
    "left_curly_bracket": "{",
    "vertical_line": "|",
    "right_curly_bracket": "}",
    "tilde": "~",
}
_BY_SIGN: Final = {sign: name for name, sign in _SIGNS.items()}
_ALIASES: Final = {"return": "enter", "esc": "escape", "pgup": "pageup", "pgdn": "pagedown", "del": "delete"}
_MODIFIER_ALIASES: Final = {"control": "ctrl", "option": "alt", "cmd": "super"}

# What a terminal sends as another key's bytes: it is told apart by Kitty's protocol only.
_SAME_BYTES: Final = {
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+h": "backspace",
    "ctrl+left_square_bracket": "escape",
}
_CTRL_BYTES: Final = frozenset("abcdefghijklmnopqrstuvwxyz") | {
    "at",
    "backslash",
    "right_square_bracket",
    "circumflex_accent",
    "underscore",
    "space",
}
_MOVING: Final = frozenset(
    {"up", "down", "left", "right", "home", "end", "pageup", "pagedown", "delete", "insert"}
)

TERMINALS_OWN: Final[dict[str, str]] = {
    "f10": "GNOME Terminal opens its menu with it, unless told otherwise",
    "f11": "most terminals make their window full screen with it",
    "ctrl+s": "some terminals hold their output with it (`stty -ixon` ends that)",
    "ctrl+b": "tmux waits for a command behind it, unless told otherwise",
    "ctrl+z": "a shell's own key to stop a program",
    "ctrl+backslash": "a shell's own key to end a program",
    "ctrl+shift+c": "most terminals copy with it",
    "ctrl+shift+v": "most terminals paste with it",
    "ctrl+shift+f": "some terminals search with it",
    "ctrl+shift+t": "most terminals open a tab with it",
    "ctrl+shift+n": "most terminals open a window with it",
    "ctrl+shift+w": "most terminals close a tab with it",
    "ctrl+pageup": "most terminals change their tab with it",
    "ctrl+pagedown": "most terminals change their tab with it",
    "shift+pageup": "most terminals scroll with it",
    "shift+pagedown": "most terminals scroll with it",
    "alt+enter": "some terminals make their window full screen with it",
}
"""Keys that may never come, and why."""


def parse_key(text: str) -> str | None:
    """What Textual calls the key, as in `ctrl+question_mark` for `Ctrl+?`; None where there is no such key."""
    rest, modifiers = text.strip(), []
    while match := re.match(r"([A-Za-z]+)[+-](?=.)", rest):
        modifiers.append(_MODIFIER_ALIASES.get(match[1].lower(), match[1].lower()))
        rest = rest[match.end() :]
    if any(modifier not in MODIFIERS for modifier in modifiers):
        return None
    key = _base(rest)
    if key is None:
        return None
    if modifiers == ["shift"] and len(key) == 1:
        return key.upper()
    if modifiers and len(key) == 1:
        key = key.lower()
    return "+".join([*(modifier for modifier in MODIFIERS if modifier in modifiers), key])


def _base(text: str) -> str | None:
    if len(text) == 1:
        return _BY_SIGN.get(text, text if text.isalnum() else None)
    name = text.lower()
    name = _ALIASES.get(name, name)
    return name if name in _NAMED or name in _SIGNS else None


def shown_key(key: str) -> str:
    """The key as a user reads it, as in `Ctrl+?`."""
    *modifiers, base = key.split("+")
    modifiers.sort(key=lambda modifier: _READ_FIRST.index(modifier) if modifier in _READ_FIRST else 9)
    name = _NAMED.get(base) or _SIGNS.get(base) or (base.upper() if modifiers else base)
    return "+".join([*map(str.capitalize, modifiers), name])


def written_key(key: str) -> str:
    """The key as it stands in the settings, as in `ctrl+?`."""
    *modifiers, base = key.split("+")
    return "+".join([*modifiers, _SIGNS.get(base, base)])


def is_typed(key: str) -> bool:
    """True where the key writes a character."""
    base = key.removeprefix("shift+")
    return len(base) == 1 or base in _SIGNS or base == "space"


def needs_kitty(key: str) -> bool:
    """True where a terminal without Kitty's keyboard protocol cannot tell the key from another, or sends nothing."""
    *modifiers, base = key.split("+")
    held = frozenset(modifiers)
    if key in _SAME_BYTES or held & {"super", "hyper", "meta"}:
        return True
    if base in _MOVING or base in {f"f{number}" for number in range(1, 13)}:
        return False
    if base.startswith("f") and base in _NAMED:
        return True
    if "ctrl" in held:
        return "shift" in held or base not in _CTRL_BYTES
    if held == {"alt"} and base in _SIGNS:
        return True
    return bool(held) and base in ("enter", "escape", "backspace", "tab") and key != "shift+tab"
