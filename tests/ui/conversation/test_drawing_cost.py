"""What a flood and a long conversation cost, counted in frames, widgets, and lines, never in seconds."""

from collections.abc import Callable
from types import SimpleNamespace

import anyio.lowlevel
import pytest
from textual.drivers.headless_driver import HeadlessDriver

from acp_tui.ui.conversation.column import Column
from acp_tui.ui.conversation.messages import SLICE_CHARACTERS
from acp_tui.ui.conversation.terminals import FLOOD_S
from acp_tui.ui.conversation.view import FLOOD_SCREENS, ConversationView
from acp_tui.ui.conversation.window import LineFinisher
from acp_tui.ui.kit.frame_loop import FLOOD_FRAME_S, FRAME_S, Frames
from acp_tui.ui.rendering.markdown import MarkdownStream
from acp_tui.ui.textual_gaps.driver import FramePacer
from acp_tui.ui.textual_gaps.flow_control import FlowControl
from support.folding import agent, user
from support.screens import SIZE, Page, open_page

pytestmark = pytest.mark.usefixtures("paints")

CHUNKS = 5_000
BATCHES = 50
LINES_IN_A_WINDOW = SIZE[1]
ROW_BYTES = 300
"""For a row with few colors: its letters, its position, and its style."""


@pytest.fixture
def frames(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one with each frame that a conversation draws."""
    drawn: list[int] = []
    show_length = ConversationView.show_length

    def counted(view: ConversationView) -> None:
        drawn.append(len(drawn))
        show_length(view)

    monkeypatch.setattr(ConversationView, "show_length", counted)
    return drawn


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Everything a terminal would get."""
    out: list[str] = []
    monkeypatch.setattr(HeadlessDriver, "is_headless", False)
    monkeypatch.setattr(HeadlessDriver, "write", lambda _driver, data: out.append(data))
    return out


def _calls(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> list[object]:
    """Grows by one with each call of a method."""
    calls: list[object] = []
    method: Callable[..., object] = getattr(owner, name)

    def counted(self: object, *arguments: object, **named: object) -> object:
        calls.append(arguments)
        return method(self, *arguments, **named)

    monkeypatch.setattr(owner, name, counted)
    return calls


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


async def test_frames_are_rarer_while_more_comes_than_anyone_can_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Frames, "now", now_s := 1_024.0)  # all frames are drawn at this time
    async with open_page(agent("begins\n\n", "m")) as page:
        for number in range(5):
            await page.apply(agent(f"line {number}\n\n", "m"))
            assert page.view.frame_s(now_s) == FRAME_S
        await page.apply(agent("line\n\n" * FLOOD_SCREENS * SIZE[1], "m"))
        assert page.view.frame_s(now_s) == FLOOD_FRAME_S
        assert page.view.frame_s(now_s + 2 * FLOOD_S) == FRAME_S


async def test_only_the_visible_part_of_a_long_text_is_drawn_at_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened = _calls(monkeypatch, MarkdownStream, "draw_open")
    monkeypatch.setattr(Frames, "time_slice", lambda _frames, _length_s: lambda: False)
    monkeypatch.setattr(Column, "measure_rest", lambda _column, _is_time_up: True)
    monkeypatch.setattr(Column, "is_measured", True)
    async with open_page() as page:
        await page.apply(agent("word " * 20 * SLICE_CHARACTERS, "m"))
        assert "word" in page.text
        assert len(opened) <= 4


async def test_a_thousand_entries_mount_no_further_widget() -> None:
    async with open_page(*(agent(f"entry {number}", f"m{number}") for number in range(20))) as page:
        before = _widgets(page)
        await page.apply(*(agent(f"entry {number}", f"m{number}") for number in range(20, 1_000)))
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


async def test_a_thousand_entries_have_fewer_than_sixty_widgets() -> None:
    async with open_page(*(user(f"entry {number}", f"m{number}") for number in range(1_000))) as page:
        assert _widgets(page) < 60
        assert "entry 999" in page.text


@pytest.mark.parametrize("change", ["width", "folds", "conversation"])
async def test_a_change_of_all_entries_lays_out_those_near_the_view_first(
    change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = [agent(f"entry {number}", f"m{number}") for number in range(300)]
    async with open_page(*entries) as page:
        await page.press("pageup")
        measured = _calls(monkeypatch, Column, "measure")
        read_dirty = Column.read_dirty
        monkeypatch.setattr(Column, "read_dirty", lambda column, _is_time_up: read_dirty(column, lambda: True))
        flushes = _calls(monkeypatch, Frames, "run")
        match change:
            case "width":
                await page.pilot.resize_terminal(SIZE[0] - 20, SIZE[1])
            case "folds":
                page.view.toggle_all()
            case _:
                page.view.show(page.session.conversation)
        while not measured:
            await anyio.lowlevel.checkpoint()
        # And one for each slice of time that has passed in the meantime.
        assert len(measured) - len(flushes) <= 3 * LINES_IN_A_WINDOW
        await page.settled()
        assert len(measured) >= len(entries)


async def test_another_theme_lays_out_only_what_is_near_the_view(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_page(*(agent(f"entry {number}", f"m{number}") for number in range(400))) as page:
        measured = _calls(monkeypatch, Column, "measure")
        page.pilot.app.theme = "acp-light"
        await page.settled()
        assert 0 < len(measured) <= 3 * LINES_IN_A_WINDOW
        page.view.action_go_to_end(-1)
        await page.settled()
        assert "entry 0" in page.text
        assert (0,) in measured
        assert len(measured) <= 6 * LINES_IN_A_WINDOW


async def test_a_line_that_is_appended_is_the_only_one_that_is_baked(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_page(*(agent(f"entry {number}", f"m{number}") for number in range(200))) as page:
        baked = _calls(monkeypatch, LineFinisher, "_finish")
        await page.apply(agent("one more", "m200"))
        assert "one more" in page.text
        # All others have moved: those at the ends of the scroll bar's handle have lost or gained it.
        assert 1 <= len(baked) <= 6


async def test_a_line_that_is_appended_is_all_that_is_written(written: list[str]) -> None:
    async with open_page(user("begins"), agent("goes on", "m")) as page:
        whole = len("".join(written))
        written.clear()
        await page.apply(agent("and on", "n"))
        appended = "".join(written)
        assert "and on" in appended
        assert "begins" not in appended
        assert len(appended) < 3 * ROW_BYTES < whole


async def test_a_line_that_scrolls_the_view_is_all_that_is_written_but_for_the_scroll_bar(
    written: list[str],
) -> None:
    async with open_page(*(agent(f"entry {number}", f"m{number}") for number in range(200))) as page:
        for number in range(200, 206):
            written.clear()
            await page.apply(agent("one more", f"m{number}"))
            assert page.text.count("entry") + page.text.count("one more") > 5
            assert len("".join(written)) < 3_000
            assert "".join(written).count("entry") <= 4


async def test_what_is_marked_and_looks_as_before_writes_nothing(written: list[str]) -> None:
    async with open_page(*(agent(f"entry {number}", f"m{number}") for number in range(50))) as page:
        written.clear()
        await page.apply(agent("", "m3"))
        assert "entry" not in "".join(written)


async def test_frames_for_which_a_terminal_has_no_room_become_one_that_is_written_later(
    written: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_page(agent("begins", "m")) as page:
        behind = FlowControl()
        behind.note_sent(1)  # the writer has work left
        with monkeypatch.context() as patch:
            patch.setattr(FramePacer, "terminal", SimpleNamespace(flow=behind))
            written.clear()
            for number in range(5):
                page.session.apply(agent(f"\n\nline {number}", "m"))
                page.view.show_length()
                page.pilot.app.screen.refresh()
                await page.pilot.pause()
            assert written == []
        await page.until(lambda: "4" in "".join(written))
        assert len([frame for frame in written if "line" in frame]) <= 2
