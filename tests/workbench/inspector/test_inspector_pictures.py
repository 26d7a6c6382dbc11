"""Pictures of the inspector. To update them, run `pytest THIS_FILE --snapshot-update` and look at each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from textual.pilot import Pilot

from acp_tui.client.settings.settings import Appearance, Settings
from acp_tui.client.transcript.events import Event, Frame, Stderr
from acp_tui.rpc import Direction
from acp_tui.ui.kit.themes import DARK, LIGHT
from acp_tui.workbench.inspect.inspection import inspect_file
from acp_tui.workbench.inspector.screen import InspectApp
from support.recorded_sessions import HEADER, form, two_turns
from support.recordings import write
from support.screens import rows, settled
from support.settling import until_so

Compare = Callable[..., bool]
SMALL, LARGE = (80, 24), (120, 40)
LOOKS: Final = {
    "80x24": (DARK.name, SMALL),
    "120x40": (DARK.name, LARGE),
    "80x24-light": (LIGHT.name, SMALL),
    "120x40-light": (LIGHT.name, LARGE),
}
STATES: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "request-and-answer": (("slash", *"session/prompt", "enter", "tab"), "2 shown: session/prompt"),
    "broken-rules": (("l",), "shown: is:lint"),
    "unanswered": (("o",), "shown: is:open"),
    "nothing-fits": (("slash", *"nowhere", "enter"), "x shows everything"),
    "filter": (("slash", *"is:error"), "shown: is:error"),
}
"""The keys that lead there, and what shows then."""


@pytest.fixture(autouse=True)
def _everywhere_the_same(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("NO_COLOR", raising=False)
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


def recorded() -> list[Event]:
    """Two turns with a permission, junk and stderr, and an unanswered form."""
    noise = [Stderr(70.0, b"warming up the cache"), Frame(70.5, Direction.IN, b"Welcome!")]
    asked = form({})[3]
    assert isinstance(asked, Frame)
    return [*two_turns()[:-1], *noise, replace(asked, at=71.0)]


def looks_as_it_did(
    compare: Compare, folder: Path, look: str, keys: tuple[str, ...] = (), sign: str = "14 frames"
) -> bool:
    """Whether the inspector matches its picture once everything is read and checked."""
    theme, size = LOOKS[look]
    file = folder / "session.jsonl"
    write(file, recorded(), HEADER)
    inspection = inspect_file(file)

    async def shows(pilot: Pilot[Any], sign: str) -> None:
        def is_shown() -> bool:
            lines = inspection.index.end
            is_done = lines and inspection.checked == lines == inspection.searched
            return bool(is_done) and any(sign in row.text for row in rows(pilot))

        await until_so(pilot, is_shown, lambda: sign)
        await settled(pilot)

    async def look_on(pilot: Pilot[Any]) -> None:
        await shows(pilot, "#0 ·")
        await pilot.press(*keys)
        await shows(pilot, sign)

    app = InspectApp(inspection, file, settings=Settings(appearance=Appearance(theme=theme)))
    return compare(app, terminal_size=size, run_before=look_on)


@pytest.mark.parametrize("look", LOOKS)
def test_a_recording_looks_as_it_did(look: str, tmp_path: Path, snap_compare: Compare) -> None:
    assert looks_as_it_did(snap_compare, tmp_path, look)


@pytest.mark.parametrize("state", STATES)
def test_it_looks_as_it_did(state: str, tmp_path: Path, snap_compare: Compare) -> None:
    assert looks_as_it_did(snap_compare, tmp_path, "80x24", *STATES[state])


@pytest.mark.parametrize("state", STATES)
def test_it_reads_as_it_did(state: str, tmp_path: Path, text_compare: Compare) -> None:
    assert looks_as_it_did(text_compare, tmp_path, "120x40", *STATES[state])
