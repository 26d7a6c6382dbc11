"""The keys in force: the command table's keys with the user's `[keys]`, and the names of keys.

A key that the user chose is translated before any widget sees it: either a command runs, or the widget gets the key
that it knows. So it works for every binding. This module doesn't know what commands do.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from difflib import get_close_matches
from itertools import product
from typing import Final, TypeAlias

from textual.dom import DOMNode
from textual.keys import KEY_NAME_REPLACEMENTS
from textual.screen import ModalScreen

from acp_tui.client.settings.setting import DeclaredSetting, Setting
from acp_tui.client.settings.settings import KeyChoice
from acp_tui.ui.commands.command import PLACES, Command, Place
from acp_tui.ui.commands.table import COMMANDS
from acp_tui.values import dataclass


def _name_of(sign: str) -> str:
    """Textual's name of a character that is no letter, digit, or space, such as `exclamation_mark`."""
    name = unicodedata.name(sign).lower().replace("-", "_").replace(" ", "_")
    return KEY_NAME_REPLACEMENTS.get(name, name)


MODIFIERS: Final = ("alt", "ctrl", "hyper", "meta", "shift", "super")
"""In the order of Textual's names."""
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
_SIGNS: Final = {_name_of(sign): sign for sign in string.punctuation}
_BY_SIGN: Final = {sign: name for name, sign in _SIGNS.items()}
_ALIASES: Final = {"return": "enter", "esc": "escape", "pgup": "pageup", "pgdn": "pagedown", "del": "delete"}
_MODIFIER_ALIASES: Final = {"control": "ctrl", "option": "alt", "cmd": "super"}

PRESET: Final = "preset"
"""The name in `[keys]` for a whole set of keys."""
VIM_PROMPT: Final = "vim-prompt"
PRESETS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "vim": {
        "move_up": ("up", "k"),
        "move_down": ("down", "j"),
        "to_start": ("home", "ctrl+home", "g"),
        "to_end": ("end", "ctrl+end", "G"),
        "find": ("f9", "/"),
        "next_match_here": ("n",),
        "previous_match_here": ("N",),
        "prompt_above": ("ctrl+up", "["),
        "prompt_below": ("ctrl+down", "]"),
    },
    VIM_PROMPT: {},  # its keys are modes of the prompt: `ui/prompt/vim.py`
}
"""Keys by command, spelled as in `[keys]`. They don't apply to commands whose keys the user has set."""
_ABOUT_PRESETS: Final = "Whole sets of keys: vim moves in lists and texts as Vim does, vim-prompt edits the prompt so."
KEYS_PRESET: Final = DeclaredSetting(
    PRESET, str, is_list=True, allowed=tuple(PRESETS), default=(), setting=Setting(_ABOUT_PRESETS)
)


def parse_key(text: str) -> str | None:
    """Textual's name of a key, such as `ctrl+question_mark` for `Ctrl+?`; None if there is no such key."""
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
    """The key as it is shown to the user, such as `Ctrl+?`."""
    *modifiers, base = key.split("+")
    modifiers.sort(key=lambda modifier: _READ_FIRST.index(modifier) if modifier in _READ_FIRST else 9)
    name = _NAMED.get(base) or _SIGNS.get(base) or (base.upper() if modifiers else base)
    return "+".join([*map(str.capitalize, modifiers), name])


def written_key(key: str) -> str:
    """The key as it is written in the settings, such as `ctrl+?`."""
    *modifiers, base = key.split("+")
    return "+".join([*modifiers, _SIGNS.get(base, base)])


def is_typed(key: str) -> bool:
    base = key.removeprefix("shift+")
    return len(base) == 1 or base in _SIGNS or base == "space"


_Chosen: TypeAlias = dict[str, tuple[str, ...]]

BY_ID: Final = {command.id: command for command in COMMANDS}
"""The last row of each command, that of its most general place."""
PLACES_OF: Final = {id_: tuple(row.where for row in COMMANDS if row.id == id_) for id_ in BY_ID}
SEVERAL: Final = "In several places"
NEEDED: Final = frozenset(
    {
        *("quit", "send", "leave_prompt", "leave_terminal", "dialog_close", "list_choose"),
        *("leave_question", "leave_review", "confirm"),
    }
)
"""Without a key for these, there would be no way to leave, to answer, or to reach the agent."""
_KEPT: Final = frozenset({"enter", "tab", "escape", "up", "down", "left", "right", "space", "backspace", "delete"})
"""Every widget needs these keys, so commands of the whole screen can't have them."""
_ALL_OVER: Final[tuple[Place, ...]] = ("session", "app")
_OVERLAPPING: Final[tuple[Place, ...]] = (*_ALL_OVER, "moving")
_TEXT_FIELDS: Final[tuple[Place, ...]] = (
    *("prompt", "find", "sessions", "prompts", "agents", "settings", "setting", "app"),
    *("dialog", "list", "query"),
)
"""There, a key that types a character does that."""
_LISTS: Final[tuple[Place, ...]] = (
    *("several", "comparison", "agent", "changes", "diff", "page", "choices", "ask"),
    *("reading", "moving"),
)
"""Places in which letters are keys."""
_NINE: Final = re.compile(r"(\S*)1" + "".join(rf" (?:\1){number}" for number in range(2, 10)))
_REFERENCE: Final = re.compile(r"\{(\w+)\}")
_BETWEEN_PARTS: Final = re.compile(r"(; | · |(?<=\.) )")


@dataclass(frozen=True, slots=True)
class Keymap:
    keys: Mapping[str, tuple[str, ...]]
    """The keys of every command, by its ID, in Textual's names. The first key is the one that is shown."""
    notes: tuple[str, ...] = ()
    """Problems in the user's choice, and the keys that it takes from other commands."""
    presets: frozenset[str] = frozenset()
    """The names of the presets in force."""
    _at: dict[tuple[Place, str], Command] = field(init=False, default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        self._at.update({(row.where, key): row for row in COMMANDS for key in self.keys.get(row.id, ())})

    def shown(self, id_: str) -> str:
        """The first key of a command, such as `Ctrl+F`; "" if it has none."""
        return shown_key(self.keys[id_][0]) if self.keys[id_] else ""

    def hint(self, text: str) -> str:
        """The text with keys in place of `{find}` and the like.

        Parts without a key are left out. Between them are semicolons, dots, or the ends of sentences.
        """

        def key_of(name: re.Match[str]) -> str:
            return (self.shown(name[1]) if name[1] in self.keys else "") or "\0"  # the inspector may not be there

        first, *rest = _BETWEEN_PARTS.split(text)
        parts = (("", first), *zip(rest[::2], rest[1::2], strict=True))
        told = [(before, _REFERENCE.sub(key_of, part)) for before, part in parts]
        told = [(before, part) for before, part in told if "\0" not in part]
        return "".join(before * (at > 0) + part for at, (before, part) in enumerate(told))

    def all_shown(self, id_: str) -> str:
        """All keys of a command, or what is typed for it."""
        keys = _NINE.sub(r"\g<1>1-9", " ".join(map(shown_key, self.keys[id_])))
        return BY_ID[id_].fixed_characters or keys

    def command_at(self, places: Sequence[Place], key: str) -> Command | None:
        return next((found for place in places if (found := self._at.get((place, key)))), None)

    def meaning(self, places: Sequence[Place], key: str) -> Command | str:
        """The command to run, or the key to pass on: the same key, another, or "" if it no longer does anything."""
        command, usual = self.command_at(places, key), DEFAULT_KEYMAP.command_at(places, key)
        if command is usual:
            return key if command is None or _is_bound(command, key) else command
        if command is None:
            return "" if usual is not None and _is_bound(usual, key) else key
        if command.action:
            return command
        known = DEFAULT_KEYMAP.keys[command.id]
        return next((each for each in known if DEFAULT_KEYMAP.command_at(places, each) is command), "")


def _is_bound(command: Command, key: str) -> bool:
    """Whether a widget or a screen binds the key itself."""
    return not (command.where in _ALL_OVER and is_typed(key))


def heading_of(command: Command) -> str:
    """Where the command's keys work, in words."""
    return SEVERAL if len(PLACES_OF[command.id]) > 1 else PLACES[command.where]


def places_of(focused: DOMNode) -> tuple[Place, ...]:
    """The current places, from the focus outwards: `PLACE` and `ALSO` of each widget that has keys of its own."""
    nodes = focused.ancestors_with_self
    found: list[Place] = [
        place for node in nodes if hasattr(node, "PLACE") for place in (node.PLACE, *getattr(node, "ALSO", ()))
    ]
    if any(isinstance(node, ModalScreen) for node in nodes):
        found.append("dialog")
    return ("terminal",) if "terminal" in found else (*found, "app", "moving")


def is_writing(focused: DOMNode | None) -> bool:
    """Whether typed characters become text."""
    return any(kind.__name__ in ("Input", "TextArea") for kind in type(focused).__mro__)


def keymap_of(chosen: Iterable[KeyChoice]) -> Keymap:
    """The table's keys with the user's changes. A problem affects only the choice that has it."""
    chosen = list(chosen)
    notes: list[str] = []
    accepted: _Chosen = {}
    for choice in (*(choice for choice in chosen if choice.command != PRESET), *_presets(chosen, notes)):
        keys, wrong = _validate(choice, accepted)
        notes += wrong
        if keys is not None:
            accepted[choice.command] = keys
    notes += _taken(accepted)
    kept = {
        id_: accepted.get(id_, tuple(key for key in keys if not any(_takers(id_, key, accepted))))
        for id_, keys in DEFAULT_KEYMAP.keys.items()
    }
    presets = {name for choice in chosen if choice.command == PRESET for name in choice.keys}
    return Keymap(kept, tuple(notes), frozenset(presets & PRESETS.keys()))


def _presets(chosen: Sequence[KeyChoice], notes: list[str]) -> Iterator[KeyChoice]:
    """The keys of the chosen presets, except for commands that the user has set."""
    own = {choice.command for choice in chosen}
    for name in (name for choice in chosen if choice.command == PRESET for name in choice.keys):
        if name not in PRESETS:
            notes.append(f"keys.{PRESET}: there is no preset {name!r}; known: {', '.join(PRESETS)}")
        for command, keys in PRESETS.get(name, {}).items():
            if command not in own:
                yield KeyChoice(command, keys)


def _takers(id_: str, key: str, accepted: _Chosen) -> Iterator[str]:
    """The other commands that have the key where this one would."""
    return (other for other, keys in accepted.items() if other != id_ and key in keys and _meet(id_, other))


def _meet(id_: str, other: str) -> bool:
    """Whether a key can mean only one of these commands somewhere."""
    return any(
        place == its or (place in _OVERLAPPING and its in _OVERLAPPING)
        for place, its in product(PLACES_OF[id_], PLACES_OF[other])
    )


def _validate(choice: KeyChoice, accepted: _Chosen) -> tuple[tuple[str, ...] | None, list[str]]:
    """The valid keys, None to keep the default ones, and the problems."""
    command = BY_ID.get(choice.command)
    if command is None or command.fixed_characters:
        return None, [_unknown(choice.command)]
    keys, notes = [], []
    for text in choice.keys:
        key = parse_key(text)
        reason = "there is no such key" if key is None else _why_not(command, key, accepted)
        if reason:
            notes.append(f"keys.{choice.command}: {text!r} is ignored: {reason}")
        elif key is not None:
            keys.append(key)
    if not keys and (choice.keys or command.id in NEEDED):
        usual = " ".join(map(shown_key, DEFAULT_KEYMAP.keys[command.id])) or "none"
        if not choice.keys:
            notes.append(f"keys.{choice.command} must have a key: there is no other way to do it")
        return None, [*notes, f"keys.{choice.command}: the default key stays in effect: {usual}"]
    return tuple(dict.fromkeys(keys)), notes


def _unknown(name: str) -> str:
    (meant,) = get_close_matches(name, (PRESET, *BY_ID), n=1) or ("",)
    advice = f"did you mean {meant}?" if meant else "`acp-tui keys` lists the commands"
    return f"keys.{name}: there is no command with that name and a key you can set; {advice}"


def _why_not(command: Command, key: str, accepted: _Chosen) -> str:
    """Why a command can't have this key; "" if it can."""
    places = {*PLACES_OF[command.id]}
    if is_typed(key) and places <= {*_TEXT_FIELDS} and key not in DEFAULT_KEYMAP.keys[command.id]:
        return f"{heading_of(command).lower()} it types a character"
    if places & {"card", "question", "review", *_LISTS, *_ALL_OVER} and (
        key.isdigit() or key in BY_ID["answer_by_kind"].fixed_characters.split()
    ):
        return "digits and y, a, n always answer permission requests"
    if places & {*_ALL_OVER} and key in _KEPT:
        return "every list and text field needs it"
    if taker := next(_takers(command.id, key, accepted), None):
        return f"you already gave it to {taker}"
    for id_ in NEEDED - {command.id, *accepted}:
        if DEFAULT_KEYMAP.keys[id_] == (key,) and _meet(command.id, id_):
            return f"{id_} would be left no key"
    return ""


def _taken(accepted: _Chosen) -> Iterator[str]:
    """Notes about keys that a choice takes from other commands."""
    for id_, keys in accepted.items():
        for other in BY_ID.values():
            if other.id != id_ and other.id not in accepted and _meet(id_, other.id):
                for key in sorted({*keys} & {*DEFAULT_KEYMAP.keys[other.id]} - {*DEFAULT_KEYMAP.keys[id_]}):
                    yield f"keys.{id_}: {shown_key(key)} is taken from {other.id} ({heading_of(other).lower()})"


DEFAULT_KEYMAP: Final = Keymap(
    {id_: tuple(command.keys.split(",")) if command.keys else () for id_, command in BY_ID.items()}
)
"""The keymap if the user has changed nothing."""
