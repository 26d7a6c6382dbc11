"""Subagents on the screen: an entry for each, its own conversation on Enter, and a line in the sidebar."""

from __future__ import annotations

from acp_tui.conversation.facts import SessionId, TurnUsage
from acp_tui.conversation.updates import PromptSent, StateReported, SubagentReported, SubagentSaid
from acp_tui.ui.conversation.entry_views import EntryView, SubagentView
from acp_tui.ui.conversation.view import ConversationView
from support.folding import agent, call, prompt
from support.screens import Page, open_page

MANY = 50
FRAMES_AT_MOST = 60
"""For a thousand chunks: each is marked, and a frame draws what was marked."""
RUNNING = StateReported("running")


def _id(number: int) -> SessionId:
    return SessionId(f"child-{number}")


def _begun(number: int, title: str = "") -> SubagentReported:
    return SubagentReported(_id(number), title or f"Subagent {number}", state=RUNNING, is_cancellable=True)


def _said(number: int, text: str) -> SubagentSaid:
    return SubagentSaid(_id(number), agent(text))


async def test_enter_shows_what_a_subagent_says_and_escape_leads_back() -> None:
    inner = SubagentReported(SessionId("inner"), "Look closer", state=RUNNING)
    begun = (
        prompt("go"),
        _begun(1, "Look"),
        SubagentSaid(_id(1), call("t", title="Read it", status="completed")),
        SubagentSaid(_id(1), inner),
        SubagentSaid(_id(1), SubagentSaid(SessionId("inner"), agent("deep down"))),
        agent("meanwhile"),
    )
    async with open_page(*begun) as page:
        assert "Look  running · 1 tool call" in page.text
        assert "Look closer" in page.text  # as its last line
        await page.press("tab", "up", "enter")
        await page.settled()
        assert "Look · running · Esc back" in page.text
        assert "Read it" in page.text
        assert "meanwhile" not in page.text
        await page.apply(_said(1, "and it goes on"))
        assert "and it goes on" in page.text
        await page.press("enter")
        await page.settled()
        assert "Look › Look closer · running" in page.text
        assert "deep down" in page.text
        await page.press("escape")
        await page.settled()
        assert "Read it" in page.text
        await page.press("escape")
        await page.settled()
        assert "meanwhile" in page.text
        view = page.pilot.app.focused
        assert isinstance(view, SubagentView)
        await page.press("escape")
        assert page.prompt.has_focus


async def test_the_last_line_of_a_subagent_is_read_as_markdown() -> None:
    said = "| function | tests |\n|---|---|\n| `unescape` | **none** |\n"
    async with open_page(prompt("go"), _begun(1, "Look"), _said(1, said)) as page:
        assert "╰ unescape · none\n" in page.text


async def test_fifty_subagents_are_drawn_by_the_frame_and_not_by_the_chunk() -> None:
    async with open_page(prompt("go"), *map(_begun, range(MANY)), size=(100, 40)) as page:
        view = page.pilot.app.query_one(ConversationView)
        drawn = 0

        def count() -> None:
            nonlocal drawn
            drawn += 1
            draw()

        draw, view.frames.draw = view.frames.draw, count
        widgets = len(page.pilot.app.query("*"))
        for _ in range(20):
            for number in range(MANY):
                page.session.apply(_said(number, "word "))
        await page.settled()
        assert 0 < drawn <= FRAMES_AT_MOST
        assert len(page.pilot.app.query("*")) <= widgets + 2
        assert len(page.pilot.app.query(EntryView)) <= 40
        assert f"Subagent {MANY - 1}  running" in page.text
        assert "╰ word word" in page.text
        for number in range(MANY):
            ended = StateReported("idle", "end_turn", usage=TurnUsage(1000 * number, 0, 0))
            page.session.apply(SubagentReported(_id(number), state=ended))
        await page.settled()
        assert f"Subagent {MANY - 1}  done · 49k tokens" in page.text


async def test_the_sidebar_lists_them_and_leads_to_them() -> None:
    async with open_page(prompt("go"), _begun(1, "Look"), _begun(2, "Write"), size=(160, 40)) as page:
        await page.apply(_said(2, "so it is"))
        assert "2 of 2 running" in page.text
        await page.apply(SubagentReported(_id(1), state=StateReported("idle", "end_turn")))
        assert "1 of 2 running" in page.text
        await page.press("alt+s", "down", "down", "down", "enter")
        await page.settled()
        assert "↳ Write · running · Esc back" in page.text


async def test_a_prompt_is_for_the_agent_itself() -> None:
    async with open_page(prompt("go"), _begun(1, "Look"), _said(1, "looking")) as page:
        await page.press("tab", "enter")
        await page.settled()
        assert "Esc back" in page.text
        await page.press("h", "i", "enter")
        await page.settled()
        assert "Esc back" not in page.text


async def test_one_can_be_stopped_alone() -> None:
    async with open_page(PromptSent(()), _begun(1, "Look"), _said(1, "looking")) as page:
        await _stop(page)
        assert page.connection.cancels == 1
        assert "Asked the agent to stop: Look" in page.words


async def _stop(page: Page) -> None:
    await page.press("tab", "delete")
    await page.settled()
