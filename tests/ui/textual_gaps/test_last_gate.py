"""Whatever a widget draws, the terminal gets no character that it would obey."""

from __future__ import annotations

import re

import pytest
from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.ui.base.app import BaseApp
from acp_tui.ui.textual_gaps.internals import painted_rows
from acp_tui.ui.textual_gaps.painting import CONTROL_CHARACTERS
from support.screens import SIZE
from support.settling import settle

PAYLOADS = (
    "\x1b]52;c;cm0gLXJm\x07",
    "\x1b[2J",
    "\x9b2J",
    "a\rb",
    "a\x08b",
    "\x0e",
    "\x7f",
    "\u202eevil",
    "\u2066x\u2069",
    "a\u2028b",
)


class Careless(Widget):
    """Draws what it is given, unchanged."""

    text = ""

    def render_line(self, y: int) -> Strip:
        return Strip([Segment("before "), Segment(self.text), Segment(" after")])


def _obeyed(sent: str) -> list[str]:
    """Its contents besides colors, cursor positions, and row ends."""
    return CONTROL_CHARACTERS.findall(re.sub(r"\x1b\[[\d;]*[mH]|\n", "", sent))


@pytest.mark.parametrize("payload", PAYLOADS)
async def test_what_a_widget_forgets_to_make_visible_does_not_get_to_the_terminal(payload: str) -> None:
    async with BaseApp().run_test(size=SIZE) as pilot:
        careless = Careless()
        careless.text = payload
        await pilot.app.screen.mount(careless)
        await settle(pilot)
        compositor = pilot.app.screen._compositor
        update = compositor.render_full_update()
        assert not _obeyed(update.render_segments(pilot.app.console))
        compositor._dirty_regions.add(careless.region)
        assert (partly := compositor.render_partial_update()) is not None
        assert not _obeyed(partly.render_segments(pilot.app.console))
        assert painted_rows(pilot.app.screen)[0].text.startswith("before ")
