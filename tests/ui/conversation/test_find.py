"""Finding in a conversation: every match is marked and counted, including folded and later text."""

from __future__ import annotations

import re

from textual.widgets import Input

from acp_tui.conversation.content import Text
from acp_tui.conversation.tool_calls import BlockContent, TerminalContent, TerminalId
from acp_tui.conversation.updates import TerminalOpened, TerminalOutput
from acp_tui.ui.session.find_bar import FindBar
from support.folding import agent, call, prompt, thought
from support.screens import Page, new_session, open_page, show

LONG = [agent(f"Paragraph {number}: a needle in the hay.\n\n") for number in range(60)]


async def look_for(page: Page, text: str) -> None:
    await page.press("f9")
    await page.settled()
    await look_for_instead(page, text)


async def look_for_instead(page: Page, text: str) -> None:
    page.pilot.app.screen.query_one(FindBar).query_one(Input).value = text
    await page.settled()


async def test_every_match_is_counted_and_one_walks_from_one_to_the_next() -> None:
    async with open_page(prompt("where is the Needle?"), *LONG) as page:
        await look_for(page, "needle")
        first = page.view.top_line
        assert re.search(r"\d+/61 ", page.text)
        for _ in range(30):
            await page.press("down")
        assert page.view.top_line != first
        await page.press("up")
        await page.press("escape")
        assert page.prompt.has_focus
        assert not page.pilot.app.screen.query(FindBar)


async def test_capitals_are_looked_for_as_they_are() -> None:
    async with open_page(prompt("where is the Needle?"), *LONG) as page:
        await look_for(page, "Needle")
        assert "1/1 " in page.text


async def test_what_a_fold_hides_is_found_and_unfolded_when_one_goes_there() -> None:
    lines = "\n".join(f"line {number}" for number in range(40)) + "\nthe needle"
    hidden = call("t", title="Search", kind="search", status="completed", content=(BlockContent(Text(lines)),))
    async with open_page(prompt("go"), hidden, thought("hm\n\nno needle here")) as page:
        assert "the needle" not in page.text
        await look_for(page, "the needle")
        assert "1/1 " in page.text
        await page.press("enter")
        assert "the needle" in page.text


async def test_what_stands_far_down_in_a_long_prompt_is_found_there() -> None:
    pasted = "\n".join(f"line {number}" for number in range(500))
    async with open_page(prompt(pasted), agent("I see.")) as page:
        await look_for(page, "line 480")
        assert "1/1 " in page.text
        assert "line 480" in page.text
        assert "more lines" not in page.text


async def test_every_hit_that_a_fold_hides_is_counted() -> None:
    terminal = TerminalId("t")
    output = "".join(f"line {number} of needles\r\n" for number in range(30)).encode()
    made = call("m", title="make", kind="execute", status="completed", content=(TerminalContent(terminal),))
    thought_of = thought("hm\n\nthe needle\n\nanother needle")
    async with open_page(TerminalOpened(terminal), made, TerminalOutput(terminal, output), thought_of) as page:
        await page.emulator_loaded()
        await look_for(page, "needle")
        assert "1/32 " in page.text


async def test_what_unfolds_for_a_hit_folds_at_the_next_and_stays_when_the_search_ends() -> None:
    async with open_page(thought("a\n\nneedle 1"), thought("b\n\nneedle 2", "b"), agent("needle 3")) as page:
        await look_for(page, "needle")
        for keys, hit in (((), 1), (("down",), 2), (("down",), 3), (("up",), 2)):
            await page.press(*keys)
            assert re.findall(r"needle (\d)", page.text) == sorted({str(hit), "3"})
        await page.press("escape")
        assert "needle 2" in page.text


async def test_a_hit_that_is_to_be_seen_unfolds_nothing() -> None:
    lines = "\n\n".join(f"needle {number}" for number in range(30))
    report = call("t", title="Print", kind="other", status="completed", content=(BlockContent(Text(lines)),))
    async with open_page(report) as page:
        await look_for(page, "needle")
        await page.press("down", "down")
        assert "more lines" in page.text
        await page.press("down")
        assert "more lines" not in page.text


async def test_what_the_user_unfolds_himself_stays_so_while_one_looks() -> None:
    async with open_page(thought("a\n\nneedle 1"), thought("b\n\nneedle 2", "b")) as page:
        await page.press("ctrl+o")
        await look_for(page, "needle")
        await page.press("enter", "down", "escape")
        assert "needle 1" in page.text
        assert "needle 2" in page.text


async def test_what_comes_while_one_looks_is_counted_too() -> None:
    async with open_page(prompt("go"), agent("one needle")) as page:
        await look_for(page, "needle")
        assert "1/1 " in page.text
        await page.apply(agent(" and another needle"))
        assert "1/2 " in page.text


async def test_the_nearest_match_comes_into_view_as_one_types() -> None:
    rest = [agent(f"Paragraph {number}: nothing.\n\n", f"m{number}") for number in range(60)]
    near = [agent("a needle far above", "far"), agent("a needle above", "near")]
    async with open_page(*near, *rest) as page:
        await page.press("f9", *"needl")
        assert "a needle above" in page.text
        assert "2/2 " in page.text
        await page.press("e", "enter")
        assert "1/2 " in page.text


async def test_in_a_long_entry_the_nearest_match_is_the_one_in_view_or_else_the_last_above_it() -> None:
    async with open_page(prompt("where is the Needle?"), *LONG, agent("nothing\n\n" * 30)) as page:
        await look_for(page, "nothing")
        assert "Paragraph" not in page.text
        assert "1/30 " not in page.text
        await look_for_instead(page, "needle")
        assert "Paragraph 59: a needle" in page.text
        assert "61/61 " in page.text


async def test_nothing_found_is_said() -> None:
    async with open_page(prompt("go"), agent("hay")) as page:
        await look_for(page, "hay")
        assert "next" in page.text
        await look_for(page, "needle")
        assert "nothing found" in page.text
        assert "next" not in page.text


async def test_a_slash_command_looks_for_what_is_behind_it() -> None:
    async with open_page(prompt("go"), agent("one needle")) as page:
        await page.send("/find needle")
        await page.until(lambda: "/1 " in page.text)
        assert page.connection.prompts == []


async def test_enter_goes_on_from_the_match_of_all_that_was_typed_before_it() -> None:
    standings = []
    for keys in ((), ("enter",)):
        async with open_page(prompt("where is the Needle?"), *LONG) as page:
            await page.press_at_once("f9", *"needle", *keys)
            standing = re.search(r"(\d+)/61 ", page.text)
            assert standing
            standings.append(int(standing[1]))
    nearest, next_one = standings
    assert next_one == nearest + 1


async def test_another_session_ends_the_search_and_what_is_typed_is_the_draft() -> None:
    async with open_page(*LONG) as page:
        await look_for(page, "needle")
        await show(page.pilot, new_session())
        assert page.pilot.app.focused is page.prompt
        assert not page.pilot.app.screen.query(FindBar)
