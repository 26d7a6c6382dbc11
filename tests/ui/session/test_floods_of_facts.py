"""When an agent reports faster than the screen can show, the screen shows the current state, not each step."""

from __future__ import annotations

import pytest

from acp_tui.conversation.facts import Usage
from acp_tui.conversation.updates import InfoChanged, NoticeShown, SessionUpdate, UsageReported
from acp_tui.ui.kit.notice_lines import MAX_NOTICES, MAX_ROWS, ROWS_SHARE
from acp_tui.ui.session.panel import MAX_NOTICE_CHARACTERS, SessionPanel
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
            assert "1.0k/1k" in page.status


async def test_the_latest_notice_of_a_flood_is_shown_and_the_rest_counted() -> None:
    async with open_page() as page:
        for number in range(5_000):
            page.session.apply(NoticeShown("info", f"Notice {number}"))
        await page.until(lambda: bool(page.notices) and page.notices[-1].title == "Notice 4999")
        assert "more before this one" in page.notices[0].message
        assert len(page.notices) == MAX_NOTICES


async def test_single_notices_are_shown_at_once() -> None:
    async with open_page() as page:
        await page.apply(NoticeShown("info", "First"), NoticeShown("warning", "Second"))
        assert [notice.title for notice in page.notices] == ["First", "Second"]


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_however_long_notices_are_they_take_a_few_lines_above_the_prompt(size: tuple[int, int]) -> None:
    async with open_page(size=size) as page:
        prompt = page.prompt.region
        await page.apply(NoticeShown("error", "F" * 50_000, "many words " * 50_000), NoticeShown("info", "Second"))
        assert len(page.notices[0].message) == MAX_NOTICE_CHARACTERS + 2
        assert page.prompt.region == prompt
        rows, most = [row.strip() for row in page.lines[: prompt.y]], min(MAX_ROWS, size[1] // ROWS_SHARE)
        assert rows[-1] == "▪ Second"
        assert rows[-most].startswith("▪ FFF")
        assert rows[-2].endswith("…")
        assert "FFF" not in "".join(rows[:-most])
