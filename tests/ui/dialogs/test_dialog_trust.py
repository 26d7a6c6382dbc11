"""A project's servers are shown completely, and used only after the user agrees."""

from pathlib import Path

import pytest

from acp_tui.client.settings.mcp import Server
from acp_tui.conversation.facts import HttpServer, StdioServer
from acp_tui.ui.dialogs.trust import TrustDialog
from support.dialogs import open_dialog

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
        (("ctrl+c",), False),
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
