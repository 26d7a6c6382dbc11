"""Pictures in a prompt: shown above it, removed by key or click, sent, queued, and given back."""

from __future__ import annotations

from base64 import b64encode
from types import SimpleNamespace
from typing import Any

import pytest

from acp_tui.client.clipboard import ClipboardPicture, NothingToPaste
from acp_tui.client.sessions.prompt_queue import PastedImage
from acp_tui.conversation.content import Image
from acp_tui.conversation.facts import RequestKey
from acp_tui.conversation.permission_requests import Rejection
from acp_tui.ui.tab import actions
from acp_tui.ui.tab.actions import paste_from_clipboard
from support.screens import Page, open_page

PNG = b"\x89PNG\r\n\x1a\n" + bytes(12_000)
ONE = PastedImage("one.png", PNG)
TWO = PastedImage("two.png", PNG)


def agent(*, image: bool) -> Any:
    return SimpleNamespace(capabilities=SimpleNamespace(image=image), title="Agent")


@pytest.fixture
def clipboard(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The clipboard's content, under "content", and the requests for it."""
    state: dict[str, Any] = {}

    def read(environ: object, *, no_pictures: str) -> ClipboardPicture | str:
        state["no_pictures"] = no_pictures
        if no_pictures and isinstance(state["content"], ClipboardPicture):
            raise NothingToPaste(no_pictures)
        content: ClipboardPicture | str = state["content"]
        return content

    monkeypatch.setattr(actions, "read_clipboard", read)
    return state


async def test_pictures_stand_above_the_prompt_and_go_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_page() as page:
        prompts = _recorded(page, monkeypatch)
        page.prompt.attach(ONE, TWO)
        await page.settled()
        assert "one.png 12 KB ×" in page.text
        assert "two.png 12 KB ×" in page.text
        await page.send("look")
        await page.until(lambda: bool(prompts))
        assert [type(block).__name__ for block in prompts[0]] == ["Text", "Image", "Image"]
        assert prompts[0][1] == Image(b64encode(PNG).decode(), "image/png", None)
        assert page.prompt.images == ()


async def test_a_picture_can_go_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_page() as page:
        prompts = _recorded(page, monkeypatch)
        page.prompt.attach(ONE)
        await page.press("enter")
        await page.until(lambda: bool(prompts))
        assert [type(block).__name__ for block in prompts[0]] == ["Image"]


async def test_a_click_removes_one_and_backspace_at_the_prompts_start_the_last() -> None:
    async with open_page() as page:
        page.prompt.attach(ONE, TWO)
        await page.write("text")
        await page.click("one.png")
        assert page.prompt.images == (TWO,)
        assert page.prompt.has_focus
        await page.press("home", "backspace")
        assert page.prompt.images == ()
        assert page.draft == "text"
        assert "two.png" not in page.text


async def test_pictures_of_a_queued_prompt_wait_with_it_and_come_back_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_page() as page:
        prompts = _recorded(page, monkeypatch)
        await page.send("go")
        page.prompt.attach(ONE)
        await page.send("two")
        assert page.prompt.images == ()
        await page.press("alt+up")
        assert (page.draft, page.prompt.images) == ("two", (ONE,))
        await page.press("enter")
        await page.end_turn()
        await page.until(lambda: len(prompts) == 2)
        assert [type(block).__name__ for block in prompts[1]] == ["Text", "Image"]


async def test_pictures_stay_where_a_command_of_the_users_own_is_run() -> None:
    async with open_page() as page:
        page.prompt.attach(ONE)
        await page.send("/copy")
        assert page.prompt.images == (ONE,)


async def test_pictures_are_put_aside_while_a_reason_is_given() -> None:
    async with open_page() as page:
        page.prompt.attach(ONE)
        page.prompt.ask_why(Rejection(RequestKey(1), "no", "a call"))
        assert page.prompt.images == ()
        page.prompt.leave_reason()
        assert page.prompt.images == (ONE,)


async def test_a_picture_on_the_clipboard_goes_along(clipboard: dict[str, Any]) -> None:
    clipboard["content"] = ClipboardPicture(PNG, "image/png")
    async with open_page() as page:
        await paste_from_clipboard(page.tab, agent(image=True))
        assert page.prompt.images == (PastedImage("image-1.png", PNG),)


@pytest.mark.parametrize(
    ("to", "why"),
    [(agent(image=False), "Agent doesn't accept pictures"), (None, "there is no agent yet")],
)
async def test_a_picture_that_nobody_takes_is_not_read_and_that_is_said(
    to: Any, why: str, clipboard: dict[str, Any]
) -> None:
    clipboard["content"] = ClipboardPicture(PNG, "image/png")
    async with open_page() as page:
        await paste_from_clipboard(page.tab, to)
        await page.settled()
        assert clipboard["no_pictures"].startswith(why)
        assert f"Nothing pasted: {why}" in " ".join(page.text.split()).replace("▌ ", "")
        assert page.prompt.images == ()
        await page.press("a")
        assert "Nothing pasted" not in page.text, "it was about the draft as it was then"


async def test_text_on_the_clipboard_is_a_paste(clipboard: dict[str, Any]) -> None:
    clipboard["content"] = "a\r\nb"
    async with open_page() as page:
        await paste_from_clipboard(page.tab, None)
        assert page.draft == "a\nb"


def _recorded(page: Page, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The blocks of every prompt the session was asked to send."""
    prompts: list[Any] = []
    send = page.session.send_prompt

    async def send_prompt(blocks: Any, notes: Any = ()) -> None:
        prompts.append(tuple(blocks))
        await send(blocks, notes)

    monkeypatch.setattr(page.session, "send_prompt", send_prompt)
    return prompts
