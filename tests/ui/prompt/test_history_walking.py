"""Earlier prompts at the edges of the draft: Up and Down, and what happens to unsent text."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from shutil import rmtree

import pytest

from acp_tui.client.sessions.prompt_queue import PastedImage
from acp_tui.client.settings.location import state_folder
from support.folding import agent
from support.pages import ELSEWHERE, kept, kept_texts, open_recalling_page
from support.screens import Page


async def walk(page: Page, *keys: str) -> list[str]:
    """The draft after each key."""
    drafts = []
    for key in keys:
        await page.press(key)
        drafts.append(page.draft)
    return drafts


async def all_drafts(page: Page, key: str) -> set[str]:
    """All that the key leads to. In a draft, it goes through the lines first."""
    drafts = [page.draft]
    while len({*drafts[-MOST_LINES:]}) > 1 or len(drafts) < MOST_LINES:
        drafts += await walk(page, key)
    return {*drafts}


MOST_LINES = 6
"""More than any draft of these tests has."""


async def test_up_leads_to_ever_older_prompts_of_this_project_and_down_back_to_the_draft() -> None:
    kept("one", "two")
    kept("another project's", folder=ELSEWHERE)
    async with open_recalling_page() as page:
        await page.send("three")
        await page.write("being written")
        assert await walk(page, *["up"] * 4) == ["three", "two", "one", "one"]
        assert await walk(page, *["down"] * 4) == ["two", "three", "being written", "being written"]


async def test_a_command_of_the_users_own_is_recalled_too() -> None:
    async with open_recalling_page() as page:
        await page.send("!true")
        assert await walk(page, "up") == ["!true"]


async def test_what_was_sent_is_recalled_after_a_restart() -> None:
    async with open_recalling_page() as page:
        await page.send("line one\nline two")
    assert kept_texts() == ["line one\nline two"]
    async with open_recalling_page() as page:
        assert await walk(page, "up") == ["line one\nline two"]


async def test_drafts_that_ctrl_c_dropped_are_recalled_the_latest_first() -> None:
    kept("sent")
    async with open_recalling_page() as page:
        for draft in ("the one", "the two"):
            await page.write(draft)
            await page.press("ctrl+c")
            assert page.draft == ""
            assert "↑ brings the draft back" in page.text
        assert await walk(page, "up", "up", "up") == ["the two", "the one", "sent"]
        await page.press("ctrl+c", "ctrl+r")
        await page.until(lambda: "3 found" in page.text)
    async with open_recalling_page() as page:
        assert await walk(page, "up", "up", "up") == ["the two", "the one", "sent"]


async def test_ctrl_c_in_the_conversation_says_how_to_get_the_dropped_draft_back() -> None:
    async with open_recalling_page() as page:
        await page.apply(agent("an answer"))
        await page.write("my own")
        await page.press("tab", "ctrl+c")
        assert page.draft == ""
        assert "Esc, then ↑ brings the draft back" in page.text
        assert await walk(page, "escape", "up") == ["", "my own"]


async def test_ctrl_c_on_an_earlier_prompt_keeps_the_draft_that_was_left_for_it() -> None:
    kept("one", "two")
    async with open_recalling_page() as page:
        await page.write("my own")
        await page.press("up", "!", "ctrl+c")
        assert page.draft == ""
        assert await walk(page, *["up"] * 4) == ["my own", "two!", "two", "one"]
        assert await walk(page, *["down"] * 4) == ["two", "two!", "my own", ""]


async def test_a_dropped_draft_is_recalled_with_its_pictures_as_files() -> None:
    async with open_recalling_page() as page:
        await page.write("like this")
        page.prompt.attach(PastedImage("image-1.png", b"picture"))
        await page.press("ctrl+c", "up")
        [text, mention] = page.draft.splitlines()
        assert text == "like this"
        assert Path(mention[2:-1]).read_bytes() == b"picture"


async def test_a_prompt_that_begins_with_a_space_is_sent_and_not_kept() -> None:
    async with open_recalling_page() as page:
        await page.send(" my password is x")
        assert page.connection.prompts == [" my password is x"]
        assert await walk(page, "up") == [""]
    assert kept_texts() == []


async def test_what_is_changed_in_a_recalled_prompt_is_there_when_one_comes_by_again() -> None:
    kept("one", "two")
    async with open_recalling_page() as page:
        await page.press("up", "!")
        assert await walk(page, "up", "down") == ["one", "two!"]
        await page.press("enter")
        assert page.connection.prompts == ["two!"]
        assert await walk(page, "up", "up", "up") == ["two!", "two", "one"]


@pytest.mark.parametrize("then", ["send", "clear", "quit", "up again"])
async def test_what_was_changed_in_a_recalled_prompt_and_not_sent_is_found_again(then: str) -> None:
    kept("one", "two")
    async with open_recalling_page() as page:
        await page.press("up")
        await page.write(" and more")
        await page.press("up", "down", "down")
        assert page.draft == ""
        if then == "send":
            await page.send("three")
        elif then == "clear":
            await page.write("something else")
            await page.press("ctrl+c")
        elif then == "up again":
            assert await walk(page, "up") == ["two and more"]
    async with open_recalling_page() as page:
        assert "two and more" in [page.draft, *await walk(page, "up", "up")]


async def test_after_a_recalled_prompt_was_cleared_up_begins_with_the_latest_again() -> None:
    kept("one", "two", "three")
    async with open_recalling_page() as page:
        await page.press("up", "up", "ctrl+u")
        assert await walk(page, "up", "up") == ["three", "two"]


async def test_within_a_draft_of_several_lines_up_and_down_move_the_cursor() -> None:
    kept("earlier")
    async with open_recalling_page() as page:
        await page.write("first\nsecond")
        assert await walk(page, "up", "up") == ["first\nsecond", "earlier"]
        assert await walk(page, "down") == ["first\nsecond"]


async def test_in_a_line_that_wraps_up_moves_the_cursor_before_it_recalls() -> None:
    kept("earlier")
    long = "word " * 30
    async with open_recalling_page(size=(80, 24)) as page:
        await page.write(long)
        assert await walk(page, "up", "up", "up") == [long, long, "earlier"]


async def test_a_recalled_prompt_of_several_lines_stops_the_walk_only_once_you_move_in_it() -> None:
    kept("one", "first\nsecond")
    async with open_recalling_page() as page:
        assert await walk(page, "up", "up", "down") == ["first\nsecond", "one", "first\nsecond"]
        await page.press("left")
        assert await walk(page, "up", "up") == ["first\nsecond", "one"]


async def test_without_earlier_prompts_up_and_down_move_the_cursor() -> None:
    async with open_recalling_page() as page:
        await page.write("draft")
        await page.press("up")
        assert (page.draft, page.prompt.cursor_location) == ("draft", (0, 0))


async def test_where_prompts_cannot_be_kept_it_says_so_once_and_sends_them() -> None:
    state_folder().parent.mkdir(parents=True)
    state_folder().touch()
    async with open_recalling_page() as page:
        await page.send("one")
        await page.end_turn()
        await page.until(lambda: "can't be" in page.text)
        await page.send("two")
        assert page.connection.prompts == ["one", "two"]
        assert page.text.count("can't be") == 1
        assert await walk(page, "up", "up") == ["two", "one"]


async def test_a_draft_left_for_an_earlier_prompt_is_one_when_that_was_sent() -> None:
    kept("one")
    async with open_recalling_page() as page:
        await page.write("my own")
        await page.press("up")
        await page.press_slowly("enter")
        assert page.connection.prompts == ["one"]
        assert "↑ brings the draft back" in page.text
        assert await walk(page, "up", "up", "down", "down") == ["my own", "one", "my own", ""]


async def test_a_draft_left_for_an_earlier_prompt_is_one_when_that_was_cleared() -> None:
    kept("one")
    async with open_recalling_page() as page:
        await page.write("my own")
        await page.press("up", "ctrl+u")
        assert await walk(page, "up", "up") == ["my own", "one"]


async def test_a_draft_left_for_an_earlier_prompt_is_back_after_a_restart() -> None:
    kept("one")
    async with open_recalling_page() as page:
        await page.write("my own")
        await page.press("up")
    async with open_recalling_page() as page:
        assert page.draft == "my own"


ORDERS = max(int(os.environ.get("ACP_TUI_EXAMPLES", "0")) // 20, 8)
KEYS = ("up", "up", "down", "ctrl+u", "ctrl+c", "enter", "ctrl+r", "escape", "x", "home", "end", "backspace")


@pytest.mark.parametrize("draft", ["my own", " my own", "my\nown"])
async def test_a_draft_left_for_an_earlier_prompt_is_found_again_after_any_keys(draft: str) -> None:
    """It comes back by Down, or it's an earlier prompt. `ACP_TUI_EXAMPLES=2000` tries more orders of keys."""
    for seed in range(ORDERS):
        random = Random(seed)
        rmtree(state_folder(), ignore_errors=True)
        kept("one", "two\nthree", "!true")
        async with open_recalling_page() as page:
            await page.write(draft)
            await page.press(*["up"] * 2)
            for key in random.choices(KEYS, k=12):
                changes_it = draft in page.draft and key in ("ctrl+u", "x", "backspace", "enter", "ctrl+c")
                quits = key == "ctrl+c" and not page.draft
                if not changes_it and not quits:
                    await page.press_slowly(key)
            await page.press("escape", *["end"] * 2)
            found = await all_drafts(page, "down")
            await page.press("ctrl+a", *["ctrl+u", "backspace"] * 6)
            found |= await all_drafts(page, "up")
            assert draft in found, seed


@pytest.mark.parametrize(("draft", "is_kept"), [("/", False), ("abc", False), ("fix it", True), ("a" * 13, True)])
async def test_a_cleared_draft_is_recalled_unless_it_is_one_short_word(draft: str, is_kept: bool) -> None:
    kept("one")
    async with open_recalling_page() as page:
        await page.press(*(key if key.isalpha() else {" ": "space", "/": "slash"}[key] for key in draft), "ctrl+c")
        assert ("↑ brings the draft back" in page.text) is is_kept
        await page.press("up")
        assert page.draft == (draft if is_kept else "one")
