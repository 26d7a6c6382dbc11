"""Pictures of the screen. To update them, run this file with `--snapshot-update` and look at each."""

from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from acp_tui.ui.kit.themes import DARK, LIGHT
from acp_tui.ui.prompt.input import PromptInput
from support.scenes import SCENES, STATES, Updates
from support.screens import LOADING, ScreenApp, new_session, rows, settled, show
from support.settling import until_so

SIZE = (120, 40)
# The pictures were made with its terminals; without it, they look plainer.
pytest.importorskip("pyghostty")
SMALL, LARGE = (80, 24), (200, 60)
OTHER_THEMES = {"light": LIGHT.name, "ansi": "ansi-dark"}
OTHER_SIZES = {"80x24": SMALL, "200x60": LARGE}
"""They change no color."""
Compare = Callable[..., bool]


@pytest.fixture(autouse=True)
def _in_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)


def _matches(
    compare: Compare,
    updates: Updates,
    keys: tuple[str, ...],
    size: tuple[int, int] = SIZE,
    theme: str = DARK.name,
    draft: str = "",
) -> bool:
    async def show_scene(pilot: Pilot[Any]) -> None:
        await show(pilot, new_session(*updates))
        await until_so(pilot, lambda: not any(LOADING.fullmatch(row.text.rstrip()) for row in rows(pilot)))
        pilot.app.screen.query_one(PromptInput).insert(draft)
        await pilot.press(*keys)
        await settled(pilot)

    return compare(ScreenApp(theme=theme), terminal_size=size, run_before=show_scene)


@pytest.mark.parametrize("name", STATES)
def test_every_state_looks_as_it_did(name: str, snap_compare: Compare) -> None:
    state, keys = STATES[name]
    assert _matches(snap_compare, state(), keys)


@pytest.mark.parametrize("name", SCENES)
def test_every_scene_looks_as_it_did(name: str, snap_compare: Compare) -> None:
    scene, keys = SCENES[name]
    assert _matches(snap_compare, scene(), keys)


@pytest.mark.parametrize("theme", OTHER_THEMES)
@pytest.mark.parametrize("name", SCENES)
def test_it_looks_as_it_did_elsewhere(name: str, theme: str, snap_compare: Compare) -> None:
    scene, keys = SCENES[name]
    assert _matches(snap_compare, scene(), keys, theme=OTHER_THEMES[theme])


@pytest.mark.parametrize("size", OTHER_SIZES)
@pytest.mark.parametrize("name", SCENES)
def test_it_reads_as_it_did_elsewhere(name: str, size: str, text_compare: Compare) -> None:
    scene, keys = SCENES[name]
    assert _matches(text_compare, scene(), keys, OTHER_SIZES[size])


def test_the_smallest_screen_looks_as_it_did(snap_compare: Compare) -> None:
    scene, keys = SCENES["permission"]
    assert _matches(snap_compare, scene(), keys, (40, 20))


def test_a_long_draft_looks_as_it_did(snap_compare: Compare) -> None:
    draft = "First line\n\n" + "and a long one that wraps, " * 8 + "\n" + "\n".join(map(str, range(12)))
    assert _matches(snap_compare, SCENES["long_conversation"][0](), (), draft=draft)
