"""What is typed while acp-tui starts is for the prompt of the first tab."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from textual import events
from textual.screen import Screen
from textual.widgets import Input

from acp_tui.client.sessions.hub import open_hub
from acp_tui.conversation.entries import Message
from acp_tui.ui.app.app import KEPT, AcpTuiApp
from acp_tui.ui.prompt.input import EARLY, PromptInput
from acp_tui.ui.tab.screen import SessionScreen
from support.agents import scripted
from support.desks import SESSION, OpenDesk
from support.pages import drafts_kept
from support.settling import until_so
from support.waiting import LIMIT_S


class TypedInto(AcpTuiApp):
    """Gets keys and a paste before its first screen exists."""

    def get_default_screen(self) -> SessionScreen:
        for event in (events.Key("h", "h"), events.Key("i", "i"), events.Paste(" there"), events.Key("!", "!")):
            self.post_message(event)
        screen = super().get_default_screen()
        assert isinstance(screen, SessionScreen)
        return screen


async def test_what_is_typed_before_the_first_screen_stands_in_its_prompt(tmp_path: Path) -> None:
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            app = TypedInto(hub, scripted("open_session(); serve_until_closed()"), tmp_path)
            async with app.run_test() as pilot:
                prompt = app.screen.query_one(PromptInput)
                await until_so(pilot, lambda: prompt.text == "hi there!")
                await pilot.press("?")
                assert prompt.text == "hi there!?"


def pressed(key: str, later_s: float) -> events.Key:
    event = events.Key(key, key if len(key) == 1 else None)
    event.time += later_s
    return event


class TypedOverNothing(AcpTuiApp):
    """Gets text before there are agents to choose from, at a time that makes what follows a part of it."""

    def get_default_screen(self) -> Screen[None]:
        for key in ("x", "backspace", "1", "enter", "down", "?"):
            self.post_message(pressed(key, later_s=1000))
        return super().get_default_screen()


async def test_what_is_typed_before_agents_are_listed_is_for_the_prompt_of_the_chosen_one(tmp_path: Path) -> None:
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            app = TypedOverNothing(hub, None, tmp_path)
            async with app.run_test() as pilot:
                await until_so(pilot, lambda: any(notice.message == KEPT for notice in app.notices.shown))
                search = app.screen.query_one(Input)
                await pilot.press("2")
                for key in "demo":
                    app.post_message(pressed(key, later_s=2000))
                await until_so(pilot, lambda: search.value == "demo")
                app.post_message(pressed("enter", later_s=2000))
                await until_so(pilot, lambda: app.tabs.front is not None)
                assert app.tabs.front is not None
                prompt = app.tabs.front.screen.prompt
                await until_so(pilot, lambda: prompt.text)
                assert (prompt.text, prompt.border_title) == ("1\n?2", EARLY)


ANSWERS = "prompt = open_session(); end(prompt); serve_until_closed()"


@pytest.mark.parametrize("prompt", ["fix the tests", "two\nlines"])
async def test_a_prompt_of_the_command_line_is_sent_once_the_session_is_ready(tmp_path: Path, prompt: str) -> None:
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            app = AcpTuiApp(hub, scripted(ANSWERS), tmp_path)
            app.first_prompt = prompt
            async with app.run_test() as pilot:
                tab = app.tabs.front
                assert tab is not None
                await until_so(
                    pilot, lambda: tab.session is not None and tab.session.conversation.last_stop_reason == "end_turn"
                )
                assert tab.session is not None
                first = tab.session.conversation.entries[0]
                assert isinstance(first, Message)
                assert (first.role, first.text) == ("user", prompt)
                assert tab.prompt.text == ""


async def test_what_is_typed_behind_a_prompt_of_the_command_line_stays_a_draft(tmp_path: Path) -> None:
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            app = TypedInto(hub, scripted(ANSWERS), tmp_path)
            app.first_prompt = "fix the tests"
            async with app.run_test() as pilot:
                tab = app.tabs.front
                assert tab is not None
                await until_so(
                    pilot, lambda: tab.session is not None and tab.session.conversation.last_stop_reason == "end_turn"
                )
                assert tab.prompt.text == "hi there!"


async def test_what_is_written_while_an_agent_starts_is_there_the_next_time(open_desk: OpenDesk) -> None:
    async with open_desk('expect("initialize")', "serve_until_closed()") as desk:
        await desk.press(*"early")
        await desk.shows("early")
        folder = str(desk.tab.cwd)
    assert [(place.folder, draft) for place, draft in drafts_kept().items()] == [(folder, "early")]


async def test_prompts_that_come_at_once_are_all_sent_in_their_order(open_desk: OpenDesk) -> None:
    turns = 'for _ in range(3): answer(expect("session/prompt"), stopReason="end_turn")\n'
    async with open_desk(SESSION, turns + "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.press_at_once("a", "enter", "b", "enter", "c", "enter", *"rest")
        prompts = await desk.gets("session/prompt", times=3)
        assert [prompt["prompt"][0]["text"] for prompt in prompts] == ["a", "b", "c"]
        assert desk.draft == "rest"


async def test_what_is_entered_while_an_agent_starts_is_done_in_its_order(open_desk: OpenDesk) -> None:
    late = 'handshake()\nnew = expect("session/new")\nexpect("_go_on")\nanswer(new, sessionId="s1")\n'
    turns = 'for _ in range(2): answer(expect("session/prompt"), stopReason="end_turn")\n'
    async with open_desk(late, turns, "serve_until_closed()") as desk:
        await desk.press_at_once(*"one", "enter", *"!true", "enter", *"two", "enter", *"rest")
        await desk.shows("3 queued, sent once the session is ready", "› one › !true › two")
        await desk.gets("session/new")
        desk.let_go_on()
        prompts = await desk.gets("session/prompt", times=2)
        assert [prompt["prompt"][0]["text"] for prompt in prompts] == ["one", "two"]
        await desk.shows("$ true")
        assert desk.draft == "rest"


async def test_where_the_agent_does_not_start_it_waits_for_one_that_does(open_desk: OpenDesk, tmp_path: Path) -> None:
    starts = f"if not os.path.exists({str(tmp_path / 'is_mended')!r}): sys.exit(1)"
    async with open_desk("import os, sys", starts, SESSION, 'expect("session/prompt")\nserve_until_closed()') as desk:
        await desk.press_at_once(*"one", "enter", *"rest")
        await desk.shows("no session; Alt+R tries again", "1 queued, sent once the session is ready")
        (tmp_path / "is_mended").touch()
        await desk.press("alt+r")
        (prompt,) = await desk.gets("session/prompt")
        assert prompt["prompt"][0]["text"] == "one"
        assert desk.draft == "rest"


async def test_what_is_typed_behind_the_key_for_a_new_tab_is_for_that_tab(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.press_at_once("ctrl+n", *"one", "enter", "ctrl+n", *"two", "enter", *"rest")
        await desk.until(lambda: desk.draft == "rest")
        queued = [[prompt.text for prompt in tab.writing.queue.prompts] for tab in desk.tabs]
        assert queued == [[], ["one"], ["two"]]
