"""What is behind a dialog stays visible, dimmed, and doesn't move."""

from __future__ import annotations

from support.folding import agent
from support.screens import open_page, rows


async def test_behind_a_dialog_the_conversation_stays_in_view_still_and_without_keys() -> None:
    async with open_page(agent("What was said before.")) as page:
        session = page.pilot.app.screen
        bright = next(row for row in rows(page.pilot) if "What was said" in row.text)
        await page.press("f3")
        assert page.pilot.app.screen is not session
        dimmed = next(row for row in rows(page.pilot) if "What was said" in row.text)
        assert [part.style for part in dimmed] != [part.style for part in bright]
        assert not session.is_current
        page.session.apply(agent("\n\nSaid behind it."))
        await page.press("x", "y")
        assert "Said behind it." not in page.text
        await page.press("escape", "escape")  # the first clears what was typed into the search
        await page.until(lambda: "Said behind it." in page.text)
        assert page.draft == ""
