"""When an agent reports faster than the screen can show, the screen shows the current state, not each step."""

from __future__ import annotations

import pytest

from acp_tui.conversation.facts import Usage
from acp_tui.conversation.updates import InfoChanged, NoticeShown, SessionUpdate, UsageReported
from acp_tui.ui.session.panel import MAX_NOTICES_SHOWN, MAX_TOAST_CHARACTERS, SessionPanel
from support.screens import open_page

TIMES = 1_000


@pytest.mark.parametrize("kind", ["usage", "title"])
async def test_facts_that_come_in_a_flood_are_looked_at_once_a_frame(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    look = SessionPanel.show_facts
    monkeypatch.setattr(SessionPanel, "show_facts", lambda panel: (looks.append(1), look(panel)))
    async with open_page() as page:
        looks.clear()
        updates: list[SessionUpdate] = [
            UsageReported(Usage(number, TIMES)) if kind == "usage" else InfoChanged(title=f"Title {number}")
            for number in range(TIMES)
        ]
        for update in updates:
            page.session.apply(update)
        assert len(looks) <= 1
        await page.settled()
        assert len(looks) <= 2
        if kind == "usage":
            assert "999/1k" in page.status


async def test_the_latest_notices_are_shown_and_the_rest_counted() -> None:
    async with open_page() as page:
        for number in range(5_000):
            page.session.apply(NoticeShown("info", f"Notice {number}"))
        await page.until(lambda: any(toast.title == "Notice 4999" for toast in page.toasts))
        shown = [toast.title for toast in page.toasts]
        assert len(shown) <= MAX_NOTICES_SHOWN + 1
        assert shown[-MAX_NOTICES_SHOWN:] == ["Notice 4997", "Notice 4998", "Notice 4999"]
        assert any("more before these" in toast.message for toast in page.toasts)


async def test_single_notices_are_shown_at_once() -> None:
    async with open_page() as page:
        await page.apply(NoticeShown("info", "First"), NoticeShown("warning", "Second"))
        assert [toast.title for toast in page.toasts] == ["First", "Second"]


async def test_a_long_notice_is_cut_at_its_end() -> None:
    async with open_page() as page:
        await page.apply(NoticeShown("error", "T" * 50_000, "many words " * 50_000))
        [toast] = page.toasts
        assert (len(toast.title), len(toast.message)) == (MAX_TOAST_CHARACTERS + 2, MAX_TOAST_CHARACTERS + 2)
        assert "TTT" in page.text


async def test_however_long_notices_are_what_you_write_and_the_status_line_stay_in_view() -> None:
    async with open_page() as page:
        for number in range(MAX_NOTICES_SHOWN):
            await page.apply(NoticeShown("error", f"{number}" + "T" * 50_000, "many words " * 50_000))
        await page.until(lambda: "TTT" in page.text)
        rows = page.text.split("\n")
        assert not any("TTT" in row or "many words" in row for row in rows[len(rows) // 2 + 1 :])
