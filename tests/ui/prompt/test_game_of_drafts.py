"""Nothing typed is lost, doubled, or in the wrong place, however tabs, sessions, and processes come and go."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, cast

import pytest
from textual._context import active_app

from acp_tui.client.prompts.memory import DraftFile, PromptMemory
from acp_tui.client.sessions.hub import SessionHub
from acp_tui.client.settings.location import state_folder
from acp_tui.conversation.facts import SessionId
from acp_tui.ui.tab import tab as tab_module
from acp_tui.ui.tab.tab import Tab
from support.agents import settle
from support.folding import agent
from support.pages import drafts_kept
from support.screens import CWD, new_session
from support.tabs import Unseen, UnseenApp

AGENTS = ("Claude", "Codex")
EARLIER = ("sent before", "sent long before", "sent first")
MOST_PROCESSES = 3


class Process:
    """One acp-tui. Its number is its own, as is that of each of the others."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.app = UnseenApp(SessionHub(), None, CWD, None)
        self.tabs: list[Tab] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "getpid", lambda: pid)
            self.memory = self.app.prompt_memory


class Game:
    """What the user does, at random. After each move, each word that was typed and not sent has one right place."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numbers = count(1)
        self.living: list[Process] = []
        self.said: dict[str, str] = {}
        """The agent of each session in which something was said."""
        self.unsent: dict[str, str] = {}
        """The session of each word, or the tab of one without a session; "" among the earlier prompts."""
        self.moves: list[str] = []

    def is_running(self, pid: int) -> bool:
        return any(process.pid == pid for process in self.living)

    async def play(self, moves: int) -> None:
        often = (self.type, self.type, self.type, self.send, self.new_tab, self.open, self.close_tab, self.resume)
        rare = (self.start, self.quit, self.kill, self.begin_anew, self.fork, self.clear, self.go_back, self.recall)
        for _ in range(moves):
            move = self.random.choice((*often, *often, *rare)) if self.living else self.start
            self.moves.append(move.__name__)
            await move()
            await self.check()
        while self.living:
            await self.quit()
        await self.nothing_is_left_behind()

    # Moves

    async def start(self) -> None:
        """Another acp-tui, with a tab that has no session yet."""
        if len(self.living) < MOST_PROCESSES:
            self.living.append(Process(next(self.numbers)))
            await self.tab_in(self.living[-1])

    async def new_tab(self) -> None:
        await self.tab_in(self.random.choice(self.living))

    async def tab_in(self, process: Process) -> Tab:
        active_app.set(process.app)
        tab = Tab(None, CWD)
        process.tabs.append(tab)
        if self.random.random() < 0.5:
            await tab.writing.help()
        return tab

    async def open(self) -> None:
        """The first session of a tab is there, a blank or an earlier one."""
        if tab := self.any_tab(lambda tab: tab.session is None):
            await self.show(tab, self.an_earlier() if self.random.random() < 0.3 else "")

    async def resume(self) -> None:
        """An earlier session comes in place of one that is unused."""
        earlier = self.an_earlier()
        if earlier and (tab := self.any_tab(lambda tab: tab.is_unused)):
            await self.show(tab, earlier)

    async def begin_anew(self) -> None:
        """As closing the only tab does."""
        if tab := self.any_tab(lambda tab: tab.session is not None):
            await self.show(tab, "")

    async def fork(self) -> None:
        """With what was typed behind the command."""
        if source := self.any_tab(lambda tab: session_of(tab) in self.said):
            tab = await self.tab_in(self.process_of(source))
            self.write(tab)
            forked = f"session-{next(self.numbers)}"
            self.said[forked] = source.agent_title
            await self.show(tab, forked)

    async def type(self) -> None:
        if tab := self.any_tab():
            self.write(tab)
            await pause(tab)

    async def send(self) -> None:
        if tab := self.any_tab(lambda tab: tab.session is not None and bool(tab.prompt.text)):
            for word in words_in(tab.prompt.draft):
                self.unsent.pop(word, None)
            tab.prompt.action_send()
            await settle()
            self.said[session_of(tab)] = tab.agent_title
            await pause(tab)

    async def clear(self) -> None:
        """By Ctrl+C. One short word wouldn't be kept then."""
        if tab := self.any_tab(lambda tab: tab.writing.recall and len(tab.prompt.draft.split()) > 1):
            tab.writing.drop_draft()
            await pause(tab)

    async def recall(self) -> None:
        """Have an earlier prompt in place of the draft or of another one, and perhaps change it."""
        if tab := self.any_tab(lambda tab: tab.writing.recall):
            assert tab.writing.recall is not None
            tab.writing.recall.choose(self.random.choice(EARLIER))
            if self.random.random() < 0.5:
                self.write(tab)
            await pause(tab)

    async def go_back(self) -> None:
        """Have an earlier prompt as the draft, which has to be empty."""
        if tab := self.any_tab(lambda tab: session_of(tab) in self.said and not tab.prompt.draft):
            tab.prompt.set_draft(f"{EARLIER[0]} ")
            await pause(tab)

    async def close_tab(self) -> None:
        if (tab := self.any_tab()) and len(self.process_of(tab).tabs) > 1:
            await tab.writing.end()
            self.process_of(tab).tabs.remove(tab)

    async def quit(self) -> None:
        process = self.random.choice(self.living)
        active_app.set(process.app)
        for tab in process.tabs:
            await tab.writing.end()
        await self.end(process)

    async def kill(self) -> None:
        """After the pause that keeps drafts, which a tab that has just begun doesn't do."""
        process = self.random.choice(self.living)
        for tab in process.tabs:
            for word in words_in(tab.prompt.draft) if tab.writing.recall is None else ():
                self.unsent.pop(word, None)
        await self.end(process)

    async def end(self, process: Process) -> None:
        self.living.remove(process)
        await process.app.end()

    # What they are made of

    def write(self, tab: Tab) -> None:
        word = f"word-{next(self.numbers)}"
        self.unsent[word] = session_of(tab)
        tab.prompt.insert(f"{word} ")

    async def show(self, tab: Tab, session_id: str) -> None:
        active_app.set(tab.app)
        session = new_session(*([agent("said before")] if session_id else ()))
        session.session_id = SessionId(session_id or f"session-{next(self.numbers)}")
        for word, place in self.unsent.items():
            if place == session_of(tab) and tab.session is None:
                self.unsent[word] = session.session_id  # it was begun for this one
        await tab.show(session, self.said.get(session_id) or self.random.choice(AGENTS))
        if tab.writing.recall is None:
            await tab.writing.help()
        await pause(tab)

    def any_tab(self, fits: Callable[[Tab], object] = bool) -> Tab | None:
        tabs = [tab for process in self.living for tab in process.tabs if fits(tab)]
        tab = self.random.choice(tabs) if tabs else None
        if tab is not None:
            active_app.set(tab.app)
        return tab

    def process_of(self, tab: Tab) -> Process:
        return next(process for process in self.living if tab in process.tabs)

    def an_earlier(self) -> str:
        """A session that isn't open; "" if there is none."""
        is_open = {session_of(tab) for process in self.living for tab in process.tabs}
        return self.random.choice(sorted(self.said.keys() - is_open) or [""])

    # What has to hold

    async def check(self) -> None:
        found: dict[str, list[str]] = {word: [] for word in self.unsent}
        for place, text in [*self.drafts(), *[("", text) for text in await self.earlier_prompts()]]:
            for word in words_in(text):
                found.get(word, []).append(place)
        for word, before in self.unsent.items():
            told = f"{word} of {before or 'the earlier prompts'}, after {self.moves}"
            assert len(found[word]) == 1, f"{found[word]} have {told}"
            [place] = found[word]
            may_move = before not in self.said and place not in self.said
            assert place in (before, "") or may_move, f"{place} has {told}"
            self.unsent[word] = place

    def drafts(self) -> Iterator[tuple[str, str]]:
        """In prompts, and in the file where no prompt has them."""
        shown = {place for process in self.living for place in process.memory.shown}
        yield from ((place.session, text) for place, text in drafts_kept().items() if place not in shown)
        for tab in (tab for process in self.living for tab in process.tabs):
            left = tab.writing.recall.left if tab.writing.recall is not None else ()
            yield session_of(tab), " ".join((tab.prompt.draft, *left))

    async def earlier_prompts(self) -> Sequence[str]:
        kept = PromptMemory(state_folder())
        await kept.load()
        memories = (kept, *(process.memory for process in self.living))
        return list({text for memory in memories for text in memory.history.texts_of(str(CWD))})

    async def nothing_is_left_behind(self) -> None:
        """A new session with each agent has what blank ones had, and each other session what it had."""
        process = Process(next(self.numbers))
        self.living.append(process)
        for name in AGENTS:
            active_app.set(process.app)
            tab = Tab(None, CWD)
            process.tabs.append(tab)
            session = new_session()
            session.session_id = SessionId(f"last-{name}")
            await tab.show(session, name)
            await tab.writing.help()
            await pause(tab)
        await self.check()
        is_there = {*self.said, *map(session_of, process.tabs), ""}
        assert {word for word, place in self.unsent.items() if place not in is_there} == set()


def words_in(text: str) -> Sequence[str]:
    return re.findall(r"word-\d+", text)


def session_of(tab: Tab) -> str:
    """Its ID, or a name for the tab that has none yet."""
    return tab.session.session_id if tab.session is not None else f"tab-{id(tab)}"


async def pause(tab: Tab) -> None:
    """For so long that the draft is kept."""
    await settle()
    if tab.writing.recall is not None:
        await tab.writing.recall.keep()


@pytest.mark.parametrize("seed", range(12))
async def test_each_word_that_was_not_sent_is_in_one_place(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    game = Game(seed)
    monkeypatch.setattr(tab_module, "SessionScreen", Unseen)
    monkeypatch.setattr(DraftFile, "is_running", lambda _, pid: game.is_running(pid))
    await game.play(60)
    await cast(Any, game.living[0].app).end()
