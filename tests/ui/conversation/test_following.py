"""Reading a conversation: following its end, scrolling away, resizing, and moving between entries."""

import re

import pytest

from acp_tui.conversation.content import Text
from acp_tui.conversation.tool_calls import BlockContent
from acp_tui.conversation.updates import SessionUpdate
from acp_tui.ui.conversation.column import Column
from support.folding import agent, call, user
from support.screens import Page, open_page
from support.settling import settle

LONG_TEXT = "\n".join(f"output {number}  " for number in range(60))


def _entries(count: int, first: int = 0) -> list[SessionUpdate]:
    """Messages that contain their own names."""
    return [agent(f"entry {number}", f"m{number}") for number in range(first, first + count)]


def _shown(page: Page) -> list[str]:
    """The names of the entries in view."""
    return re.findall(r"^[ ▎] (entry \d+)", page.text, re.MULTILINE)


async def test_the_end_stays_in_view_while_entries_come() -> None:
    async with open_page(*_entries(50)) as page:
        assert _shown(page)[-1] == "entry 49"
        await page.apply(*_entries(5, first=50))
        assert _shown(page)[-1] == "entry 54"
        assert "below" not in page.status


async def test_the_end_stays_in_view_while_a_message_grows() -> None:
    async with open_page(*_entries(20)) as page:
        await page.apply(*(agent(f"line {number}\n\n", "long") for number in range(40)))
        assert "line 39" in page.text


async def test_scrolled_up_the_view_stays_and_counts_what_comes_below() -> None:
    async with open_page(*_entries(50)) as page:
        await page.press("pageup")
        before = _shown(page)
        assert "more below" in page.status
        await page.apply(*_entries(3, first=50))
        assert _shown(page) == before
        assert "3 new below" in page.status


async def test_chunks_of_a_message_that_is_known_are_not_counted_as_new() -> None:
    async with open_page(*_entries(50)) as page:
        await page.press("pageup")
        await page.apply(agent(" goes on", "m49"))
        assert "more below" in page.status


async def test_the_key_that_the_status_line_names_leads_to_the_end_from_the_prompt_too() -> None:
    for keys in ((), ("tab",)):
        async with open_page(*_entries(50)) as page:
            await page.press("pageup", *keys)
            key = page.status.partition("below: ")[2].split(" ")[0]
            await page.press(key.lower())
            assert "below" not in page.status
            assert _shown(page)[-1] == "entry 49"


async def test_paging_down_to_the_end_follows_again() -> None:
    async with open_page(*_entries(50)) as page:
        await page.press("pageup", "pagedown")
        await page.apply(*_entries(1, first=50))
        assert _shown(page)[-1] == "entry 50"


async def test_sending_a_prompt_follows_again() -> None:
    async with open_page(*_entries(50)) as page:
        await page.press("pageup")
        await page.send("and now?")
        assert "▌ and now?" in page.text


async def test_content_that_shrinks_does_not_make_the_view_follow_again() -> None:
    output = call("long", title="Print", content=(BlockContent(Text(LONG_TEXT)),))
    async with open_page(*_entries(20), output) as page:
        await page.press("tab", "space", "pagedown")
        assert "output 20" in page.text
        await page.apply(call("long", content=()))
        await page.apply(*_entries(20, first=20))
        assert "entry 39" not in _shown(page)
        assert "new below" in page.status


async def test_a_resize_keeps_the_entry_at_the_top_in_its_place() -> None:
    long = [agent(f"entry {number} " + "word " * 30, f"m{number}") for number in range(60)]
    async with open_page(*long) as page:
        for _ in range(3):
            await page.press("pageup")
        top = _shown(page)[0]
        for size in ((60, 30), (140, 20), (100, 30)):
            await page.pilot.resize_terminal(*size)
            await page.settled()
            assert _shown(page)[0] == top


async def test_a_resize_of_a_view_that_follows_keeps_the_end_in_view() -> None:
    async with open_page(*_entries(50)) as page:
        await page.pilot.resize_terminal(50, 15)
        await page.settled()
        assert _shown(page)[-1] == "entry 49"


async def test_a_resize_that_brings_the_end_into_view_follows_again() -> None:
    async with open_page(*_entries(12)) as page:
        await page.pilot.resize_terminal(80, 24)
        await page.press("ctrl+home")
        assert "more below" in page.status
        await page.pilot.resize_terminal(120, 40)
        await page.until(lambda: "below" not in page.status)
        assert (_shown(page)[0], _shown(page)[-1]) == ("entry 0", "entry 11")
        await page.apply(*_entries(30, first=12))
        assert _shown(page)[-1] == "entry 41"


async def test_paging_up_right_after_a_resize_passes_every_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    long = [agent(f"entry {number} " + "word " * (number % 60), f"m{number}") for number in range(60)]
    async with open_page(*long) as page:
        # What is out of view hasn't been laid out yet.
        monkeypatch.setattr(Column, "read_dirty", lambda _column, _is_time_up: False)
        await page.pilot.resize_terminal(50, 30)
        await settle(page.pilot)
        seen: set[str] = set()
        while page.view.top_line > 0:
            seen.update(_shown(page))
            page.view.action_page(-1)
            await settle(page.pilot)
        assert seen | {*_shown(page)} == {f"entry {number}" for number in range(60)}


# Folding


def _call_with_output() -> list[SessionUpdate]:
    return [user("go"), call("long", title="Print", content=(BlockContent(Text(LONG_TEXT)),))]


async def test_space_folds_and_unfolds_the_entry_at_the_cursor() -> None:
    async with open_page(*_call_with_output(), size=(100, 90)) as page:
        assert "output 59" not in page.text
        assert "more lines" in page.text
        await page.press("tab", "space")
        assert "output 59" in page.text
        await page.press("space")
        assert "output 59" not in page.text


async def test_a_click_on_the_first_line_folds_and_unfolds() -> None:
    async with open_page(*_call_with_output(), size=(100, 90)) as page:
        await page.click("Print")
        assert "output 59" in page.text
        await page.click("Print")
        assert "output 59" not in page.text


async def test_a_click_on_another_line_only_moves_the_cursor() -> None:
    async with open_page(*_call_with_output(), size=(100, 90)) as page:
        await page.click("output 1")
        assert "output 59" not in page.text


async def test_ctrl_o_unfolds_everything_and_folds_it_again_wherever_the_focus_is() -> None:
    for keys in ((), ("tab",)):
        async with open_page(*_call_with_output(), size=(100, 90)) as page:
            await page.press(*keys, "ctrl+o")
            assert "output 59" in page.text
            await page.press("ctrl+o")
            assert "output 59" not in page.text


async def test_ctrl_o_leaves_the_entry_at_the_cursor_where_it_is() -> None:
    calls = [
        call(f"call{number}", content=(BlockContent(Text(LONG_TEXT)),), title=f"Print {number}") for number in range(6)
    ]
    between = [agent(f"entry {number}", f"m{number}") for number in range(6)]
    async with open_page(*(each for pair in zip(between, calls, strict=True) for each in pair), size=(80, 24)) as page:
        await page.press("tab", "up", "up", "up")
        (row,) = (row for row, line in enumerate(page.text.splitlines()) if "▎" in line)
        marked = page.text.splitlines()[row]
        for _ in range(2):
            await page.press("ctrl+o")
            assert page.text.splitlines()[row].rstrip("▁▂▃▄▅▆▇█ ▐") == marked.rstrip("▁▂▃▄▅▆▇█ ▐")


async def test_what_comes_while_everything_is_unfolded_is_unfolded_too() -> None:
    async with open_page(agent("before"), size=(100, 90)) as page:
        await page.press("ctrl+o")
        await page.apply(*_call_with_output())
        assert "output 59" in page.text


async def test_up_and_down_move_the_cursor_over_the_entries() -> None:
    async with open_page(*_entries(3)) as page:
        await page.press("tab")
        assert "▎ entry 2" in page.text
        await page.press("up")
        assert "▎ entry 1" in page.text
        await page.press("up", "up", "up", "down")
        assert "▎ entry 1" in page.text


async def test_the_cursor_pulls_its_entry_into_view() -> None:
    async with open_page(*_entries(50)) as page:
        await page.press("tab", *["up"] * 20)
        assert "▎ entry 29" in page.text


async def test_what_is_taller_than_the_view_is_read_by_lines_and_left_at_its_edge() -> None:
    text = "\n\n".join(f"line {number}x" for number in range(60))
    async with open_page(agent("before", "a"), agent(text, "long"), agent("after", "b")) as page:

        def numbers() -> list[int]:
            return [int(number) for number in re.findall(r"line (\d+)x", page.text)]

        await page.press("tab", "up")
        assert "▎ after" not in page.text
        for key, edge, entry in (("up", 0, "before"), ("down", 59, "after")):
            while f"▎ {entry}" not in page.text:
                seen = numbers()
                await page.press(key)
                assert {*seen} & {*numbers()}
            assert edge in seen
            await page.press("down" if key == "up" else "up")


async def test_without_a_cursor_in_it_a_tall_entry_is_left_at_once() -> None:
    async with open_page(agent("first", "a"), agent(LONG_TEXT.replace("\n", "\n\n"), "long"), *_entries(30)) as page:
        await page.press("tab", "pageup", "pageup", "up")
        assert "▎ entry 28" in page.text


async def test_home_leads_to_the_beginning() -> None:
    async with open_page(*_entries(50)) as page:
        await page.press("tab", "home")
        assert _shown(page)[0] == "entry 0"
        assert "more below" in page.status
