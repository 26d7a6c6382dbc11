"""The whole app with a scripted agent: what tests do there, what they see, and what the agent was sent.

It doesn't know how a dialog looks; tests read that from the rows of the screen.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from textwrap import dedent
from typing import Any, Final, TypeAlias

from textual.widgets import Input

from acp_tui.client.sessions.session import Session
from acp_tui.client.settings.settings import Settings
from acp_tui.rpc import Direction
from acp_tui.ui.app.app import AcpTuiApp
from acp_tui.ui.changes.follower import FolderChanges
from acp_tui.ui.kit.filtered_list import FilteredList
from acp_tui.ui.kit.row_list import PickerRow, RowList
from acp_tui.ui.tab.tab import Opening, Tab
from support.agents import scripted
from support.frame_log import FrameLog
from support.screens import Page, open_agent_page

SESSION: Final = """
handshake()
answer(expect("session/new"), sessionId="s1")
"""
"""An agent that offers only sessions."""


class AgentSide:
    """The frames that a tab's agent process was sent, and what its script waits for."""

    log: FrameLog
    tab: Tab
    """The tab in front."""
    until: Callable[[Callable[[], object]], Awaitable[None]]
    settled: Callable[[], Awaitable[None]]
    send: Callable[[str], Awaitable[None]]

    @property
    def shown_session(self) -> Session:
        """The session on the screen."""
        session = self.tab.session
        assert session is not None
        return session

    def let_go_on(self) -> None:
        """Send the agent a `_go_on`, which its script waits for."""
        agent = self.tab.link.agent
        assert agent is not None
        agent.notify_extension("_go_on", None)

    async def give(self, prompt: str) -> None:
        """Send a prompt, and wait until it's on its way to the agent."""
        before = len(self.sent("session/prompt"))
        await self.send(prompt)
        await self.until(lambda: len(self.sent("session/prompt")) > before)

    def sent(self, method: str) -> list[Any]:
        """The params of each request and notification of this method, oldest first."""
        return [frame.get("params") for frame in self._sent() if frame.get("method") == method]

    def answers(self) -> list[Any]:
        """The result or error of each of the agent's requests, in the order of the answers."""
        return [frame.get("result", frame.get("error")) for frame in self._sent() if "method" not in frame]

    def _sent(self) -> Iterator[dict[str, Any]]:
        return map(json.loads, self._frames(Direction.OUT))

    def _frames(self, direction: Direction) -> Iterator[bytes]:
        events = (event for wire in self.log.wires for event in wire.events)
        return (event[1] for event in events if isinstance(event, tuple) and event[0] is direction)

    async def hears(self, text: str) -> None:
        """Wait until the agent has sent a frame that contains this."""
        await self.until(lambda: any(text.encode() in frame for frame in self._frames(Direction.IN)))
        await self.settled()

    async def gets(self, method: str, times: int = 1) -> list[Any]:
        """Wait until the agent has received this so many times; return the params of each."""
        await self.until(lambda: len(self.sent(method)) >= times)
        await self.settled()
        return self.sent(method)

    async def gets_answers(self, times: int = 1) -> list[Any]:
        """Wait until so many of the agent's requests are answered."""
        await self.until(lambda: len(self.answers()) >= times)
        await self.settled()
        return self.answers()


class Desk(AgentSide, Page):
    """A page with an agent process, and the frames sent to that agent."""

    @property
    def tabs(self) -> list[Tab]:
        """The tabs from left to right."""
        app = self.pilot.app
        assert isinstance(app, AcpTuiApp)
        return list(app.tabs)

    # What shows

    async def shows(self, *texts: str) -> None:
        """Wait until all of it shows."""
        await self.until(lambda: all(text in self.words for text in texts))
        await self.settled()

    async def hides(self, text: str) -> None:
        """Wait until it no longer shows."""
        await self.until(lambda: text not in self.words)
        await self.settled()

    async def has_session(self) -> None:
        """Wait until a prompt can be sent."""
        await self.until(lambda: self.status.startswith("● ") and self._takes_prompts)
        await self.settled()

    async def has_read_files(self) -> FolderChanges:
        """Wait until all files in the tab's folder are read: what is written before isn't always a change."""
        await self.until(lambda: self.tab.changes is not None)
        changes = self.tab.changes
        assert changes is not None
        await changes.ready()
        return changes

    @property
    def _takes_prompts(self) -> bool:
        return self.tab.session is not None and not self.tab.writing.why_not

    # What the user does

    async def choose(self, command: str) -> None:
        """Choose a command in the palette, by its title."""
        await self.press("ctrl+p")
        self.pilot.app.screen.query_one(Input).value = command
        rows = self.pilot.app.screen.query_one(FilteredList)
        await self.until(lambda: rows.row is not None and rows.row.label == command)
        await self.press_slowly("enter")

    @property
    def rows(self) -> Sequence[PickerRow[Any]]:
        """The rows of the open dialog."""
        return self.pilot.app.screen.query_one(RowList).rows

    async def offers(self) -> list[str]:
        """The titles of all the palette's commands. Opens and closes the palette."""
        await self.press("ctrl+p", "space")
        titles = [row.label for row in self.rows]
        await self.press("escape", "escape")
        return titles

    async def do(self, command: str) -> None:
        """Run a command by its ID, whether or not the palette offers it."""
        await self.tab.screen.run_action(f"do('{command}')")


OpenDesk: TypeAlias = Callable[..., AbstractAsyncContextManager[Desk]]
"""Opens a desk with an agent that runs these pieces of script in order."""


@asynccontextmanager
async def desk_of(
    script: Sequence[str],
    cwd: Path,
    log: FrameLog,
    settings: Settings | None = None,
    opening: Opening | None = None,
) -> AsyncIterator[Desk]:
    """A desk of an agent that works in `cwd`, with a time limit."""
    command = scripted("\n".join(dedent(piece) for piece in script))
    async with open_agent_page(command, cwd, settings=settings, opening=opening) as page:
        desk = Desk(page.pilot, page.session, page.connection, page.clock)
        desk.log = log
        yield desk
