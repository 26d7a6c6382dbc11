"""Pages an agent asks to open: shown completely, and opened only with consent."""

import pytest

from acp_tui.conversation.elicitation import UrlVisit
from acp_tui.conversation.facts import RequestKey
from acp_tui.ui.permission.form_card import marked_url
from support.screens import open_page

URL = "https://login.example.org:8443/start?state=1"


@pytest.fixture(autouse=True)
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Opens nothing."""
    monkeypatch.setattr("webbrowser.open", lambda _: True)


def visit(url: str = URL) -> UrlVisit:
    return UrlVisit(RequestKey(1), "Connect your account", "e", url)


async def test_it_shows_the_whole_address_and_its_host() -> None:
    url = URL + "&x=" + "y" * 100 + "-the-end"
    async with open_page(size=(60, 24)) as page:
        await page.elicit(visit(url))
        assert "asks you to visit a page" in page.words
        assert "Host login.example.org" in page.words
        assert url in page.text.replace("\n", "").replace("│", "").replace(" ", "")


async def test_consent_is_a_choice_made_by_the_keyboard() -> None:
    async with open_page() as page:
        for keys, answer in (
            ("1", "accept"),
            ("0", "decline"),
            ("tab enter", "accept"),
            ("tab tab enter", "decline"),
            ("tab tab tab enter", "cancel"),
        ):
            await page.elicit(visit())
            await page.press_slowly("tab", *keys.split())
            assert await page.gets_answer() == (answer, None), keys
            await page.start_over()


async def test_consent_is_given_by_the_mouse_too() -> None:
    async with open_page() as page:
        await page.elicit(visit())
        await page.click_slowly("Open in")
        assert await page.gets_answer() == ("accept", None)


async def test_keys_that_were_meant_for_something_else_answer_nothing() -> None:
    async with open_page() as page:
        await page.elicit(visit())
        await page.press("tab", "enter", "1", "space", "ctrl+s", *"1 o 1")
        assert page.answers == []
        assert page.draft == "1 1 o 1"


async def test_what_is_no_page_cannot_be_opened() -> None:
    async with open_page() as page:
        for url in ("javascript:alert(1)", "file:///etc/passwd", "--new-window", "https://a b.org"):
            await page.elicit(visit(url))
            assert "isn't opened" in page.words, url
            await page.click_slowly("Open in")
            await page.press_slowly("escape", "tab", "1")
            assert page.answers == [], url
            await page.start_over()


async def test_the_address_can_be_copied() -> None:
    async with open_page() as page:
        await page.elicit(visit())
        await page.press_slowly("tab", "c")
        await page.until(lambda: page.pilot.app.clipboard == URL)


@pytest.mark.parametrize("url", [URL, "https://a@b:1/", "no host", "//", "https://[::1", "\x1b[2J"])
def test_marking_the_host_changes_nothing_of_the_address(url: str) -> None:
    assert marked_url(url).plain.replace("␛", "\x1b") == url
