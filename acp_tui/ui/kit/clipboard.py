"""Copies text from the screen, and reports which ways it used."""

from __future__ import annotations

import os
from typing import Any

from anyio import to_thread
from textual.screen import Screen

from acp_tui.client.clipboard import copy_by_tool, fits_terminal, said, through_tmux
from acp_tui.ui.textual_gaps.internals import write_to_terminal


async def copy(screen: Screen[Any], text: str) -> None:
    """Copy the text, and tell the user which ways were tried. Await it in a worker."""
    app, by_terminal = screen.app, fits_terminal(text)
    if by_terminal:
        app.copy_to_clipboard(text)
        if os.environ.get("TMUX"):
            write_to_terminal(app, through_tmux(text))
    tool = await to_thread.run_sync(copy_by_tool, text)
    screen.notify(said(len(text), tool, by_terminal=by_terminal), markup=False)
