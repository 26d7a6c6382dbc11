"""Only the beginning of a message of many megabytes is drawn, and an export has all of it."""

from __future__ import annotations

import pytest

from acp_tui.conversation.conversation import snapshot
from acp_tui.conversation.entries import Message
from acp_tui.ui.conversation import messages
from support.folding import agent
from support.screens import open_page

SHOWN = 10_000


async def test_what_is_drawn_of_a_message_is_bounded_and_what_is_kept_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(messages, "MAX_SHOWN_CHARACTERS", SHOWN)
    async with open_page(agent("word " * SHOWN, "m")) as page:
        column = page.view.column
        drawn = len(column.lines(0))
        assert SHOWN // 120 <= drawn < SHOWN // 60
        assert "An export has all of them" in page.text
        await page.apply(agent("more " * SHOWN, "m"))
        assert len(column.lines(0)) == drawn
        [entry] = snapshot(page.session.conversation).entries
        assert isinstance(entry, Message)
        assert len(entry.text) == 10 * SHOWN


async def test_a_short_message_is_shown_whole() -> None:
    async with open_page(agent("word", "m")) as page:
        assert "an export" not in page.text
