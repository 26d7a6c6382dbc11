"""What an empty session says: how to begin; it goes with the first entry."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from acp_tui.conversation.facts import Command
from acp_tui.conversation.updates import CommandsReplaced, Remarked
from acp_tui.ui.app import AcpTuiApp
from acp_tui.ui.keymap import Keymap
from acp_tui.ui.widgets.session_panel import SessionPanel
from support.folding import prompt
from support.screens import Page, new_session, open_page

WAYS = ("@    a file", "/    commands", "!    run a command yourself", "F1   help")


@asynccontextmanager
async def open_greeted(greeting: str) -> AsyncIterator[Page]:
    async with open_page(is_shown=False) as page:
        screen = page.pilot.app.screen
        session = new_session()
        await screen._show_panel(SessionPanel(session.conversation, session, greeting=greeting))  # type: ignore[attr-defined]
        await page.settled()
        yield page


async def test_an_empty_session_says_what_can_be_typed() -> None:
    async with open_page() as page:
        assert all(way in page.text for way in WAYS)


async def test_it_is_gone_as_soon_as_something_is_said() -> None:
    async with open_page() as page:
        await page.apply(prompt("go"))
        assert not any(way in page.text for way in WAYS)


async def test_a_session_in_which_something_was_said_says_nothing_of_it() -> None:
    async with open_page(prompt("go")) as page:
        assert not any(way in page.text for way in WAYS)


async def test_a_word_of_the_clients_own_leaves_it_there() -> None:
    async with open_page(Remarked("MCP servers: web was left out")) as page:
        assert "web was left out" in page.text
        assert all(way in page.text for way in WAYS)


async def test_commands_are_named_when_the_agent_tells_them() -> None:
    async with open_page() as page:
        await page.apply(CommandsReplaced((Command("plan", "Make a plan"), Command("te\x1bst", "Test"))))
        assert "/    commands: plan, te␛st" in page.text


async def test_what_its_command_has_to_say_of_an_agent_stands_above() -> None:
    async with open_greeted("Any prompt starts it.") as page:
        assert page.text.index("Any prompt starts it.") < page.text.index(WAYS[0])


async def test_on_a_low_screen_there_is_no_room_for_it() -> None:
    async with open_page(size=(80, 19)) as page:
        assert not any(way in page.text for way in WAYS)


async def test_the_key_for_help_is_the_one_in_force() -> None:
    async with open_page() as page:
        app = page.pilot.app
        assert isinstance(app, AcpTuiApp)
        app.keymap = Keymap({**app.keymap.keys, "help": ("f11",)})
        await page.settled()
        assert "F11  help" in page.text
