"""The keys in force: those of the command table, but for what the user has chosen in `[keys]`.

A key that the user chose is turned into what it stands for before any widget sees it: a command of the screen is run,
and for a widget's own it becomes the key that the widget knows. So it works for every binding, whatever its priority.
What a command does is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from textual.dom import DOMNode

from acp_tui.client.settings.tree import KeyChoice
from acp_tui.ui.commands.command import PLACES, Command, Place
from acp_tui.ui.commands.key_names import is_typed, parse_key, shown_key
from acp_tui.ui.commands.table import COMMANDS

_Chosen: TypeAlias = dict[str, tuple[str, ...]]

BY_ID: Final = {command.id: command for command in COMMANDS}
NEEDED: Final = frozenset(
    {"quit", "send", "leave_prompt", "leave_card", "leave_question", "leave_review", "leave_terminal"}
)
"""Without a key for them there would be no way out, to an answer, or to the agent."""
_KEPT: Final = frozenset(
    {"enter", "tab", "escape", "up", "down", "left", "right", "space", "backspace", "delete"}
)
"""Every widget needs them for itself: no command of the whole screen can have them."""
_ALL_OVER: Final[tuple[Place, ...]] = ("session", "app")
_APART: Final[tuple[Place, ...]] = ("inspector", "frames", "frame", "replay")
"""Other screens than a session's: only what counts everywhere counts there too."""
_REFERENCE: Final = re.compile(r"\{(\w+)\}")
_TEXTUAL: Final[dict[str, Place]] = {
    "PromptInput": "prompt",
    "QueueLines": "queue",
    "HistorySearch": "history",
    "ConversationView": "conversation",
    "PlanView": "plan",
    "Welcome": "welcome",
    "PermissionCard": "card",
    "QuestionCard": "question",
    "FullRequest": "review",
    "FindBar": "find",
    "SessionScreen": "session",
    "TakeOver": "terminal",
    "Sidebar": "sidebar",
    "InspectorScreen": "inspector",
    "FrameList": "frames",
    "FrameView": "frame",
    "ReplayScreen": "replay",
}
"""Where a widget's keys belong, by its name as in a stylesheet: most of them are loaded later than this."""


@dataclass(frozen=True, slots=True)
class Keymap:
    """Which keys mean which commands."""

    keys: Mapping[str, tuple[str, ...]]
    """Of every command by its id, as Textual spells them; the first is the one that is shown."""
    notes: tuple[str, ...] = ()
    """What of the user's choice cannot be, or has a price."""
    _at: dict[tuple[Place, str], Command] = field(init=False, default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for id_, keys in self.keys.items():
            self._at.update({(BY_ID[id_].where, key): BY_ID[id_] for key in keys})

    def shown(self, id_: str) -> str:
        """The first key of a command, as in `Ctrl+F`; "" where it has none."""
        return shown_key(self.keys[id_][0]) if self.keys[id_] else ""

    def hint(self, text: str) -> str:
        """The text with keys for `{find}` and the like; of its parts between semicolons those that have a key."""
        parts = (_REFERENCE.sub(lambda name: self.shown(name[1]) or "\0", part) for part in text.split("; "))
        return "; ".join(part for part in parts if "\0" not in part)

    def all_shown(self, id_: str) -> str:
        """All its keys, or what is typed for it."""
        return BY_ID[id_].typed or " ".join(map(shown_key, self.keys[id_]))

    def command_at(self, places: Sequence[Place], key: str) -> Command | None:
        """The command of the nearest place that has this key."""
        return next((found for place in places if (found := self._at.get((place, key)))), None)

    def meaning(self, places: Sequence[Place], key: str) -> Command | str:
        """The command to run, or the key to go on with: the same, another, or "" where it means nothing any more."""
        command, usual = self.command_at(places, key), AS_BUILT.command_at(places, key)
        if command is usual:
            return key if command is None or _is_bound(command, key) else command
        if command is None:
            return "" if usual is not None and _is_bound(usual, key) else key
        if command.action:
            return command
        known = AS_BUILT.keys[command.id]
        return next((each for each in known if AS_BUILT.command_at(places, each) is command), "")


def _is_bound(command: Command, key: str) -> bool:
    """Whether a widget or a screen knows the key by itself."""
    return not (command.where in _ALL_OVER and is_typed(key))


def places_of(focused: DOMNode) -> tuple[Place, ...]:
    """Where the user is, from the focus outwards."""
    found = [
        _TEXTUAL[name] for node in focused.ancestors_with_self if (name := type(node).__name__) in _TEXTUAL
    ]
    return ("terminal",) if "terminal" in found else (*found, "app")


def is_writing(focused: DOMNode | None) -> bool:
    """True where characters become text."""
    return any(kind.__name__ in ("Input", "TextArea") for kind in type(focused).__mro__)


def keymap_of(chosen: Iterable[KeyChoice]) -> Keymap:
    """The table's keys with the user's in their place; what is wrong with a choice costs that choice alone."""
    notes: list[str] = []
    accepted: _Chosen = {}
    for choice in chosen:
        keys, wrong = _judged(choice, accepted)
        notes += wrong
        if keys is not None:
            accepted[choice.command] = keys
    notes += _prices(accepted)
    taken = {(BY_ID[id_].where, key) for id_, keys in accepted.items() for key in keys}
    kept = {
        id_: accepted.get(id_, tuple(key for key in keys if not _is_taken(BY_ID[id_].where, key, taken)))
        for id_, keys in AS_BUILT.keys.items()
    }
    for command in COMMANDS:
        if command.like in accepted and command.id not in accepted:
            kept[command.id] = _like(command, kept)
    return Keymap(kept, tuple(notes))


def _like(command: Command, keys: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The keys of a command that follows another's, of which the user chose the keys: those, beside its own."""
    others = {key for id_, each in keys.items() if BY_ID[id_].where == command.where for key in each}
    own = [key for key in keys[command.id] if key not in AS_BUILT.keys[command.like]]
    return (*own, *(key for key in keys[command.like] if key not in others))


def _is_taken(place: Place, key: str, taken: Iterable[tuple[Place, str]]) -> bool:
    return any(_is_same(place, other) and key == other_key for other, other_key in taken)


def _is_same(place: Place, other: Place) -> bool:
    """Whether a key can mean one thing only in both."""
    return place == other or (place in _ALL_OVER and other in _ALL_OVER)


def _judged(choice: KeyChoice, accepted: _Chosen) -> tuple[tuple[str, ...] | None, list[str]]:
    """The keys that can be, None where the usual ones stay; and what is wrong."""
    command = BY_ID.get(choice.command)
    if command is None or command.typed:
        return None, [_unknown(choice.command)]
    keys, notes = [], []
    for text in choice.keys:
        key = parse_key(text)
        reason = "there is no such key" if key is None else _objection(command, key, accepted)
        if reason:
            notes.append(f"keys.{choice.command}: {text!r} is left out: {reason}")
        elif key is not None:
            keys.append(key)
    if not keys and (choice.keys or command.id in NEEDED):
        usual = " ".join(map(shown_key, AS_BUILT.keys[command.id])) or "none"
        if not choice.keys:
            notes.append(f"keys.{choice.command} cannot be without a key: there would be no other way")
        return None, [*notes, f"keys.{choice.command}: the usual key holds: {usual}"]
    return tuple(dict.fromkeys(keys)), notes


def _unknown(name: str) -> str:
    from difflib import get_close_matches  # loaded only when something is misspelt

    (meant,) = get_close_matches(name, BY_ID, n=1) or ("",)
    advice = f"did you mean {meant}?" if meant else "`acp-tui keys` lists the commands"
    return f"keys.{name}: there is no command of that name with keys to choose; {advice}"


def _objection(command: Command, key: str, accepted: _Chosen) -> str:
    """Why a command cannot have this key; "" where it can."""
    where = PLACES[command.where].lower()
    if is_typed(key) and command.where in ("prompt", "find", "app"):
        return f"{where} it writes a character"
    if command.where in ("card", "question", "review", *_ALL_OVER) and (
        key.isdigit() or key in BY_ID["answer_by_kind"].typed.split()
    ):
        return "the digits and y, a, n answer permission requests, always"
    if command.where in _ALL_OVER and key in _KEPT:
        return "every list and every text needs it for itself"
    for id_, keys in accepted.items():
        if key in keys and _is_same(command.where, BY_ID[id_].where):
            return f"you gave it to {id_} already"
    for id_ in NEEDED - {command.id, *accepted}:
        if AS_BUILT.keys[id_] == (key,) and _is_same(command.where, BY_ID[id_].where):
            return f"{id_} would be left without a key"
    return ""


def _prices(accepted: _Chosen) -> Iterator[str]:
    """What a choice takes from others."""
    for id_, keys in accepted.items():
        command = BY_ID[id_]
        for key in keys:
            if key in AS_BUILT.keys[id_]:
                continue
            for other in COMMANDS:
                if other is not command and other.id not in accepted and key in AS_BUILT.keys[other.id]:
                    yield from _price(command, other, key)


def _price(command: Command, other: Command, key: str) -> Iterator[str]:
    where = PLACES[other.where].lower()
    if {command.where, other.where} & {*_APART} and "app" not in (command.where, other.where):
        return
    if _is_same(command.where, other.where):
        yield f"keys.{command.id}: {shown_key(key)} is taken from {other.id} ({where})"
    elif command.where in _ALL_OVER and other.where not in ("review", "terminal"):
        yield f"keys.{command.id}: {shown_key(key)} stays {other.id} {where}"
    elif other.where in _ALL_OVER and command.where not in ("review", "terminal"):
        here = PLACES[command.where].lower()
        yield f"keys.{command.id}: {shown_key(key)} is not {other.id} any more {here}"


AS_BUILT: Final = Keymap(
    {command.id: tuple(command.keys.split(",")) if command.keys else () for command in COMMANDS}
)
"""As it is when the user has chosen nothing."""
