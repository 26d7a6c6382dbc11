"""What tests of screens share: fixtures, text to compare, and the keys that widgets bind."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterable
from importlib import import_module
from itertools import count
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any, Final

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from textual._compositor import Compositor
from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.pilot import Pilot

from acp_tui.ui.base.app import BaseApp
from acp_tui.ui.commands.keymap import BY_ID, DEFAULT_KEYMAP
from acp_tui.ui.commands.table import COMMANDS, bindings_of
from acp_tui.ui.kit import answer_guard
from acp_tui.ui.kit.question_screen import QuestionScreen
from acp_tui.ui.replay.demo_recording import without_durations
from acp_tui.ui.replay.render import View, render
from acp_tui.ui.replay.timeline import Timeline, open_playable
from support.screens import rows
from support.settling import paint

# Fixtures: no waits for a busy machine, frames to count, and text to compare

MIN_WAIT_S: Final = answer_guard.MIN_WAIT_S
"""As it is outside the tests."""


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each answer to our questions come long after the question."""
    monkeypatch.setattr(QuestionScreen, "clock", staticmethod(count().__next__))


@pytest.fixture(autouse=True)
def keys_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a key count as pressed when it is read: its wait on a busy machine has nothing to do with a test's clock."""
    monkeypatch.setattr(answer_guard, "MIN_WAIT_S", math.inf)


HOLD_S: Final = answer_guard.HOLD_S
"""As it is outside the tests."""


@pytest.fixture(autouse=True)
def no_key_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a key that could begin a sentence count at once."""
    monkeypatch.setattr(answer_guard, "HOLD_S", 0.0)


@pytest.fixture(autouse=True)
def notices_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a notice, and a warning of a question, stay until a busy machine comes to look for it."""
    monkeypatch.setattr(BaseApp, "NOTIFICATION_TIMEOUT", 600)
    monkeypatch.setattr(answer_guard, "WARNING_S", 600)


@pytest.fixture
def paints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paint every frame, for a test that counts what is drawn."""
    monkeypatch.setattr(Compositor, "render_update", paint)


@pytest.fixture
def text_compare(snapshot: SnapshotAssertion) -> Callable[..., bool]:
    """`snap_compare` for the text of a screen alone, which needs no eye to see what has changed."""

    async def text_of(app: App[Any], size: tuple[int, int], prepare: Callable[[Pilot[Any]], Awaitable[None]]) -> str:
        async with app.run_test(size=size) as pilot:
            await prepare(pilot)
            return "".join(f"{row.text.rstrip()}\n" for row in rows(pilot))

    def compare(
        app: App[Any], *, terminal_size: tuple[int, int], run_before: Callable[[Pilot[Any]], Awaitable[None]]
    ) -> bool:
        return asyncio.run(text_of(app, terminal_size, run_before)) == snapshot(extension_class=TextPicture)

    return compare


# Recordings as text and pictures, made the way acp-tui render does, without what differs between machines

LARGE: Final = (120, 40)
SMALL: Final = (80, 24)


async def pictured(recording: Path, size: tuple[int, int] = LARGE) -> str:
    """The end of a recording."""
    with open_playable(recording) as opened:
        timeline = Timeline(opened, edit=without_durations)
        timeline.read_on()
        return (await render(timeline, View(size=size), ".txt")).decode()


class TextPicture(SingleFileSnapshotExtension):
    """Text stored in its own file."""

    file_extension = "txt"
    _file_extension = "txt"
    _write_mode = WriteMode.TEXT


# The command table, compared with what widgets bind


def keys_without_rows(package: ModuleType) -> list[tuple[str, str]]:
    """The classes of the package that bind a key without a row in the table; and the key."""
    modules = [import_module(found.name) for found in walk_packages(package.__path__, f"{package.__name__}.")]
    kinds = {kind for module in modules for kind in vars(module).values() if isinstance(kind, type)}
    places = {command.where for command in COMMANDS}
    typed = {(each.key, each.action) for place in places for each in bindings_of(place=place) if not each.id}
    return [
        (kind.__name__, binding.key)
        for kind in kinds
        if kind.__module__.startswith(package.__name__)
        for binding in _bindings(kind)
        if binding.id not in BY_ID and (binding.key, binding.action) not in typed
        if not binding.action.startswith(("refuse(", "stay"))  # which do nothing
    ]


def _bindings(kind: type) -> Iterable[Binding]:
    return Binding.make_bindings(vars(kind).get("BINDINGS", ()))


def keys_not_bound(place: str, *kinds: type[DOMNode]) -> set[str]:
    """The keys of the place that none of these classes binds."""
    bound = {binding.key for kind in kinds for base in kind.__mro__ for binding in _bindings(base)}
    return {key for id_, keys in DEFAULT_KEYMAP.keys.items() if BY_ID[id_].where == place for key in keys} - bound


def actions_without_methods(place: str, *kinds: type[DOMNode]) -> list[str]:
    """The actions of the place that are no methods of these classes."""
    named = [command.widget_action or command.action for command in COMMANDS if command.where == place]
    ours = [action.partition("(")[0] for action in named if action and not action.startswith(("screen.", "app."))]
    assert ours
    return [name for name in ours if not any(hasattr(kind, f"action_{name}") for kind in kinds)]
