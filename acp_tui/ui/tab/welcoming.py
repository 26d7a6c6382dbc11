"""Gathers in threads what an empty session shows: folder, branch, recent sessions, a tip."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final

from anyio import to_thread

from acp_tui.client.errors import ClientError
from acp_tui.client.safe_git import branch_of
from acp_tui.client.sessions.session_history import PastSession
from acp_tui.conversation.wording import from_home
from acp_tui.ui.dialogs.session_rows import Way, session_rows
from acp_tui.ui.session.welcome import Welcome
from acp_tui.ui.tab.history import HistoryController
from acp_tui.ui.tab.host import TabHost

MOST_KEPT: Final = 9
TIPS: Final = (
    "{command_palette} finds every command by its name",
    "{search_history} searches your earlier prompts",
    "Enter queues a prompt while the agent works; {edit_queue} edits what is queued",
    "{show_changes} reviews what has changed in the folder, and reverts it",
    "{next_mode} goes to the agent's next mode",
    "{edit_draft} opens the draft in your editor",
    "{begin_session} begins another session in a new tab",
    "@file:10-20 attaches those lines only",
    "{find} finds text in the conversation",
    "{toggle_all} unfolds every diff and output",
    "/export writes the conversation to a file",
    "{inspect} shows every message between acp-tui and the agent",
)


class Welcoming:
    """Tells one tab's welcome what there is, and opens what is chosen there."""

    def __init__(self, host: TabHost, history: HistoryController) -> None:
        self._host = host
        self._history = history
        self._recent: dict[str, PastSession] = {}

    async def tell(self, welcome: Welcome) -> None:
        """Read what there is, and have it shown. To be awaited in a worker."""
        session = self._host.session
        cwd = session.cwd if session is not None else self._host.cwd
        branch = await to_thread.run_sync(branch_of, cwd, abandon_on_cancel=True)
        try:
            past = await self._history.recorded("", is_everywhere=False)
        except ClientError:
            past = ()  # the sessions' dialog says what is wrong
        useful = [one for one in past if self._is_useful(one)][:MOST_KEPT]
        self._recent = {one.key: one for one in useful}
        make_rows = partial(
            session_rows, useful, judge=self._history.judge, here=cwd, now=datetime.now().astimezone()
        )
        folder = from_home(cwd) + (f" · git {branch}" if branch else "")
        welcome.tell(folder=folder, make_rows=lambda cells: make_rows(cells=cells), tip=self._tip(past))

    def _is_useful(self, past: PastSession) -> bool:
        """Whether something was said there, and it can be shown again."""
        said = past.recorded is not None and past.recorded.prompts > 0
        return said and self._history.judge(past)[0] not in (Way.HERE, Way.NONE)

    def _tip(self, past: Sequence[PastSession]) -> str:
        """Another one after each prompt: who works much sees all of them."""
        tips = [shown for tip in TIPS if (shown := self._host.hint(tip))]
        prompts = sum(one.recorded.prompts for one in past if one.recorded is not None)
        return tips[prompts % len(tips)]

    async def open(self, key: str) -> None:
        """Open this recent session, as the sessions' dialog does."""
        if key in self._recent:
            await self._history.open(self._recent[key])
