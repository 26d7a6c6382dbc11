"""Settings that change while the app runs: what shows right away, and which keys then do what."""

from __future__ import annotations

from dataclasses import replace

from textual.events import Key

from acp_tui.client.settings.settings import Appearance, ConversationSettings, KeyChoice, Settings
from acp_tui.conversation.content import Text
from acp_tui.conversation.tool_calls import BlockContent
from acp_tui.ui.conversation.view import ConversationView
from acp_tui.ui.kit.themes import DARK, LIGHT
from acp_tui.ui.session.find_bar import FindBar
from support.folding import agent, call
from support.screens import Page, open_page

SETTINGS = Settings(appearance=Appearance(DARK.name))
LINES = "\n\n".join(f"line {number}" for number in range(20))
EDIT = call("c", title="Edit", kind="edit", status="completed", content=(BlockContent(Text(LINES)),))


def use(page: Page, settings: Settings) -> tuple[str, ...]:
    return page.pilot.app.use_settings(settings)  # type: ignore[attr-defined, no-any-return]


async def use_keys(page: Page, **keys: str) -> None:
    choices = tuple(KeyChoice(id_, (key,) if key else ()) for id_, key in keys.items())
    use(page, replace(SETTINGS, keys=choices))
    await page.settled()


async def press_question_mark(page: Page) -> None:
    page.pilot.app.post_message(Key("question_mark", "?"))
    await page.settled()


# Keys


async def test_a_chosen_key_does_it_and_the_usual_one_does_not() -> None:
    async with open_page(agent("hello")) as page:
        await use_keys(page, find="ctrl+x")
        await page.press("f9")
        assert not page.pilot.app.screen.query(FindBar)
        await page.press("ctrl+x")
        assert page.pilot.app.screen.query(FindBar)


async def test_enter_makes_a_new_line_where_the_user_wants_it_so() -> None:
    async with open_page() as page:
        await use_keys(page, send="ctrl+x", new_line="enter")
        await page.write("one")
        await page.press("enter", "2")
        assert page.draft == "one\n2"
        await page.press("ctrl+x")
        assert page.connection.prompts == ["one\n2"]


async def test_the_cards_keys_can_be_others_and_typing_stays_typing() -> None:
    async with open_page() as page:
        await page.send("go")
        await use_keys(page, leave_question="z")
        await page.ask("call")
        await page.write("x")
        await page.press("z")
        assert page.draft == "xz"
        await page.enter_card()
        await page.press("escape")
        assert page.card.has_focus
        await page.press("z")
        assert page.prompt.has_focus


async def test_the_keys_of_every_dialog_and_its_list_can_be_others() -> None:
    async with open_page() as page:
        await use_keys(page, dialog_close="ctrl+x", move_down="ctrl+n")
        await page.send("/theme")
        keys = "↑ Ctrl+N move · Enter choose · Ctrl+X close"
        await page.until(lambda: keys in page.text)
        await page.press("escape", "down", "ctrl+n", "ctrl+n")
        assert page.pilot.app.theme == LIGHT.name
        await page.press("ctrl+x")
        assert keys not in page.text


async def test_the_keys_of_a_dialog_can_be_others_and_its_help_names_them() -> None:
    async with open_page() as page:
        await use_keys(page, sessions_rename="f8", sessions_folders="f9", help="f2", choose_option="")
        await page.press("f3")
        assert "F9 all projects" in page.words
        await page.press("f2")
        assert "Rename it F8" in page.words
        await page.press("f2")
        assert "Rename it F8" not in page.words


async def test_with_the_vim_preset_letters_move_through_the_conversation() -> None:
    async with open_page(*(call(f"c{number}", title=f"Read {number}") for number in range(3))) as page:
        await use_keys(page, preset="vim")
        await page.press("j")
        assert page.draft == "j"
        await page.press("backspace", "tab", "k", "k", "j")
        view = page.pilot.app.screen.query_one(ConversationView)
        assert view.entry_under_cursor is view.conversation.entries[1]
        await page.press("slash")
        assert page.pilot.app.screen.query(FindBar)
        assert page.draft == ""


async def test_hints_name_the_keys_in_force() -> None:
    async with open_page() as page:
        await use_keys(page, new_line="ctrl+x", help="f2", choose_option="")
        assert "Enter sends it, Ctrl+X starts a new line" in page.text
        assert page.status.endswith("F2 help")


async def test_a_question_mark_helps_on_the_card_and_in_an_empty_prompt() -> None:
    async with open_page() as page:
        await press_question_mark(page)
        assert "Help" in page.text
        await page.press("escape")
        await page.write("Why")
        await press_question_mark(page)
        assert page.draft == "Why?"
        await page.press("ctrl+u")
        await page.send("go")
        await page.ask("call")
        await page.enter_card()
        await press_question_mark(page)
        assert "Help" in page.text
        assert "On the permission card" in page.text


# Appearance


async def test_the_theme_changes_at_once_and_without_one_the_terminals_holds() -> None:
    async with open_page() as page:
        use(page, replace(SETTINGS, appearance=Appearance(LIGHT.name)))
        assert page.pilot.app.theme == LIGHT.name
        use(page, Settings())
        assert page.pilot.app.theme == DARK.name


async def test_an_unknown_theme_is_named() -> None:
    async with open_page() as page:
        (note,) = use(page, replace(SETTINGS, appearance=Appearance("nrod")))
        assert "there is no theme 'nrod'; known: " in note


async def test_reduced_motion_comes_and_goes() -> None:
    async with open_page() as page:
        use(page, SETTINGS)
        before = page.pilot.app.animation_level
        assert before != "none"
        use(page, replace(SETTINGS, appearance=Appearance(DARK.name, reduced_motion=True)))
        assert page.pilot.app.animation_level == "none"
        use(page, SETTINGS)
        assert page.pilot.app.animation_level == before


async def test_ascii_changes_what_is_drawn_already() -> None:
    async with open_page(agent("hello")) as page:
        assert not page.text.isascii()
        use(page, replace(SETTINGS, appearance=Appearance(DARK.name, ascii=True)))
        await page.settled()
        assert page.text.isascii()
        use(page, SETTINGS)
        await page.settled()
        assert not page.text.isascii()


async def test_what_is_folded_follows_the_settings() -> None:
    async with open_page(EDIT) as page:
        assert "line 5" not in page.text
        use(page, replace(SETTINGS, conversation=ConversationSettings(text_lines=12)))
        await page.settled()
        assert "line 5" in page.text
