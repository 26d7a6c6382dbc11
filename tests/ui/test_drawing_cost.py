"""What a flood and a long conversation cost, in counts: frames, widgets and lines, never seconds."""

import anyio.lowlevel
import pytest

from acp_tui.ui.widgets.conversation.view import ConversationView
from support.folding import agent
from support.screens import Page, open_page

CHUNKS = 5_000
BATCHES = 50


@pytest.fixture
def frames(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one with each frame that a conversation draws."""
    drawn: list[int] = []
    show_length = ConversationView._show_length

    def counted(view: ConversationView) -> None:
        drawn.append(len(drawn))
        show_length(view)

    monkeypatch.setattr(ConversationView, "_show_length", counted)
    return drawn


def _widgets(page: Page) -> int:
    return len(page.pilot.app.screen.walk_children())


async def test_chunks_that_come_at_once_are_drawn_in_one_frame(frames: list[int]) -> None:
    async with open_page() as page:
        before = len(frames)
        for number in range(CHUNKS):
            page.session.apply(agent(f"{number} "))
        assert len(frames) == before
        await page.settled()
        assert f"{CHUNKS - 1}" in page.text


async def test_a_flood_costs_frames_by_the_loops_turns_and_not_by_the_chunk(frames: list[int]) -> None:
    async with open_page() as page:
        before = len(frames)
        for batch in range(BATCHES):
            for number in range(CHUNKS // BATCHES):
                page.session.apply(agent(f"{batch}.{number} "))
            await anyio.lowlevel.checkpoint()
        assert len(frames) - before <= BATCHES
        await page.settled()
        assert f"{BATCHES - 1}.{CHUNKS // BATCHES - 1}" in page.text


async def test_a_thousand_entries_mount_no_further_widget() -> None:
    async with open_page(agent("entry 0", "m0")) as page:
        before = _widgets(page)
        await page.apply(*(agent(f"entry {number}", f"m{number}") for number in range(1, 1_000)))
        assert _widgets(page) == before
        await page.press("pageup", "pageup", "ctrl+end")
        assert _widgets(page) == before
        assert "entry 999" in page.text


async def test_nothing_is_drawn_while_nothing_happens(frames: list[int]) -> None:
    async with open_page(agent("hello")) as page:
        before = len(frames)
        for _ in range(10):
            await page.pilot.pause()
        assert len(frames) == before
        assert page.view.is_settled


async def test_typing_lays_nothing_out_while_the_draft_has_as_many_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_page(agent("hello")) as page:
        await page.press("a")
        layouts: list[object] = []
        refresh_layout = type(page.pilot.app.screen)._refresh_layout

        def counted(screen: object, *arguments: object, **named: object) -> None:
            layouts.append(arguments)
            refresh_layout(screen, *arguments, **named)  # type: ignore[arg-type]

        monkeypatch.setattr(type(page.pilot.app.screen), "_refresh_layout", counted)
        await page.press(*"bcdefgh")
        assert layouts == []
        assert page.draft == "abcdefgh"
