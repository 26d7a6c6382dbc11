"""Pages that an agent wants to be visited, and servers that a project brings: seen whole, and asked about first."""

from pathlib import Path

import pytest

from acp_tui.client.settings.mcp import HttpServer, Server, StdioServer
from acp_tui.conversation.elicitation import UrlVisit
from acp_tui.conversation.facts import RequestKey
from acp_tui.ui.screens.trust import TrustDialog
from acp_tui.ui.screens.visit import VisitDialog, marked_url
from support.dialogs import NOTHING, open_dialog

URL = "https://login.example.org:8443/start?state=1"


def dialog(url: str = URL) -> VisitDialog:
    return VisitDialog(UrlVisit(RequestKey(1), "Connect your account", "e", url), "Agent")


async def test_it_shows_the_whole_address_and_its_host() -> None:
    url = URL + "&x=" + "y" * 100 + "-the-end"
    async with open_dialog(dialog(url), size=(60, 24)) as page:
        assert "Agent asks you to visit a page" in page.words
        assert "Host login.example.org" in page.words
        assert url in page.text.replace("\n", "").replace("│", "").replace(" ", "")


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (("tab", "enter"), "decline"),
        (("tab", "right", "enter"), "accept"),
        (("tab", "tab", "enter"), "accept"),
        (("left", "enter"), "decline"),
        (("right", "enter"), "accept"),
        (("right", "right", "enter"), "accept"),
        (("right", "left", "enter"), "decline"),
        (("left", "left", "enter"), "decline"),
        (("escape",), "cancel"),
    ],
)
async def test_consent_is_a_choice_made_by_the_keyboard(keys: tuple[str, ...], answer: str) -> None:
    async with open_dialog(dialog()) as page:
        await page.press(*keys)
        assert page.result == answer


async def test_an_arrow_leads_to_an_answer_and_gives_none() -> None:
    async with open_dialog(dialog()) as page:
        await page.press("right")
        assert page.app.focused is page.app.screen.query_one("#accept")
        await page.press("left")
        assert page.app.focused is page.app.screen.query_one("#decline")
        assert page.result is NOTHING


async def test_consent_is_given_by_the_mouse_too() -> None:
    async with open_dialog(dialog()) as page:
        await page.click("Open in")
        assert page.result == "accept"


async def test_keys_that_were_meant_for_something_else_answer_nothing() -> None:
    async with open_dialog(dialog()) as page:
        await page.press("enter", "y", "space", "o", "a", "n", "ctrl+enter")
        assert page.result is NOTHING


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "--new-window", "https://a b.org"]
)
async def test_what_is_no_page_cannot_be_opened(url: str) -> None:
    async with open_dialog(dialog(url)) as page:
        assert "not opened" in page.words
        await page.click("Open in")
        assert page.result is NOTHING
        await page.press("right", "enter")
        assert page.result is NOTHING
        await page.press("tab", "tab", "tab", "enter")
        assert page.result in (NOTHING, "decline")


async def test_the_address_can_be_copied() -> None:
    async with open_dialog(dialog()) as page:
        await page.press("c")
        assert page.app.clipboard == URL


@pytest.mark.parametrize("url", [URL, "https://a@b:1/", "no host", "//", "https://[::1", "\x1b[2J"])
def test_marking_the_host_changes_nothing_of_the_address(url: str) -> None:
    assert marked_url(url).plain.replace("␛", "\x1b") == url


# Servers of a project

SERVERS: list[Server] = [
    StdioServer(
        "files",
        "npx",
        ("-y", "@x/files", "/a b"),
        (
            ("API_KEY", "hunter2"),
            ("LD_PRELOAD", "/tmp/x.so"),
            ("A_TOKEN", "${MINE}"),
            ("ID", "ghp0123456789abcdef"),
        ),
    ),
    HttpServer("http", "web", "https://example.org/mcp?x=1", (("Authorization", "Bearer hunter2"),)),
]


def trust() -> TrustDialog:
    return TrustDialog(Path("/project/.mcp.json"), SERVERS)


async def test_commands_and_addresses_are_shown_whole_and_secrets_masked() -> None:
    async with open_dialog(trust()) as page:
        for words in ("/project/.mcp.json", "npx -y @x/files '/a b'", "https://example.org/mcp?x=1"):
            assert words in page.words
        assert "LD_PRELOAD=/tmp/x.so" in page.words
        assert "A_TOKEN=${MINE}" in page.words
        assert "hunter2" not in page.words
        assert "ghp0" not in page.words


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (("enter",), False),
        (("escape",), False),
        (("n",), False),
        (("y",), True),
        (("right", "enter"), True),
        (("tab", "enter"), True),
    ],
)
async def test_only_a_plain_yes_is_yes(keys: tuple[str, ...], answer: bool) -> None:
    async with open_dialog(trust()) as page:
        await page.press(*keys)
        assert page.result is answer


async def test_a_long_list_of_servers_scrolls_and_the_answers_stay_in_view() -> None:
    servers = [StdioServer(f"server-{number}", "run") for number in range(40)]
    async with open_dialog(TrustDialog(Path("/p"), servers), size=(40, 24)) as page:
        assert "Yes, use them" in page.words
        await page.press(*["pagedown"] * 10)
        assert "server-39" in page.words
