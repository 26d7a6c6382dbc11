"""The list of the conversation's prompts: Enter goes to one, Ctrl+Y copies it, Ctrl+E puts it into the draft."""

from __future__ import annotations

import pytest
from textual.app import App

from support.screens import Page, open_page

COUNT = 8


async def _open_list(page: Page) -> None:
    await page.send("/prompts")
    await page.until(lambda: "Go to a prompt" in page.text)


async def _talk(page: Page) -> None:
    for number in range(COUNT):
        await page.send(f"prompt {number:02}")
        await page.end_turn()
    await page.until(lambda: f"prompt {COUNT - 1:02}" in page.text)


async def test_enter_goes_to_the_prompt() -> None:
    async with open_page(size=(80, 16)) as page:
        await _talk(page)
        assert "prompt 01" not in page.text
        await _open_list(page)
        await page.press("0", "1", "enter")
        await page.until(lambda: "prompt 01" in page.text and "Go to a prompt" not in page.text)
        assert "prompt 07" not in page.text
        assert page.draft == ""


async def test_a_prompt_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[str] = []
    monkeypatch.setattr(App, "copy_to_clipboard", lambda _, text: copied.append(text))
    async with open_page() as page:
        await page.send("first\nwhole")
        await page.end_turn()
        await page.send("second")
        await page.end_turn()
        await _open_list(page)
        await page.press("down", "ctrl+y")
        await page.until(lambda: bool(copied))
        assert copied == ["first\nwhole"]


async def test_a_prompt_goes_into_the_draft_to_be_sent_again() -> None:
    async with open_page() as page:
        await page.send("once more")
        await page.end_turn()
        await _open_list(page)
        await page.press("ctrl+e")
        await page.until(lambda: page.draft == "once more")
        await page.press("X")
        assert page.draft == "once moreX"


async def test_the_list_that_esc_opens_copies_too(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[str] = []
    monkeypatch.setattr(App, "copy_to_clipboard", lambda _, text: copied.append(text))
    async with open_page() as page:
        await page.send("once more")
        await page.end_turn()
        await page.press("escape", "escape")
        await page.until(lambda: "Edit an earlier prompt" in page.text)
        await page.press("ctrl+y")
        await page.until(lambda: copied == ["once more"])
        assert page.draft == ""


async def test_without_prompts_the_list_says_so() -> None:
    async with open_page() as page:
        await _open_list(page)
        assert "No prompts yet" in page.text
        await page.press("ctrl+y", "ctrl+e", "enter", "escape")
        await page.until(lambda: "Go to a prompt" not in page.text)


async def test_what_was_written_is_not_lost() -> None:
    async with open_page() as page:
        await page.send("once more")
        await page.end_turn()
        await page.write("precious")
        page.pilot.app.screen.run_worker(page.pilot.app.screen.run_action("do('show_prompts')"))
        await page.until(lambda: "Go to a prompt" in page.text)
        await page.press("ctrl+e")
        await page.until(lambda: any("isn't empty" in toast.message for toast in page.toasts))
        assert page.draft == "precious"
