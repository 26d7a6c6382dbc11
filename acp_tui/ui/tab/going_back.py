"""Going back to one of the user's prompts: what can be done from there, and doing it."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Final

from anyio import move_on_after

from acp_tui.client.attachments import without_mentions
from acp_tui.client.changes import ChangesError, FileChange
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.catch_up import digest
from acp_tui.ui.changes.follower import summary_of
from acp_tui.ui.changes.list import ChangesScreen
from acp_tui.ui.dialogs.agents import choose_agent
from acp_tui.ui.dialogs.going_back import GoBackDialog, SentPrompt, Way
from acp_tui.ui.kit.clipboard import copy
from acp_tui.ui.kit.row_list import PickerRow, aligned, short_time
from acp_tui.ui.tab.taking_out import first_line, message_text, prompts_in

if TYPE_CHECKING:
    from acp_tui.conversation.entries import EntryId
    from acp_tui.ui.changes.follower import TurnMoments
    from acp_tui.ui.tab.tab import Tab

SHORTCUTS: Final[dict[str, tuple[Way, bool]]] = {
    "undo": ("files", False),
    "prompts": ("show", False),
    "fork": ("fork", True),
    "handover": ("agent", True),
}
"""What slash commands choose in advance: how to go on, and whether from the session as it is now."""
FIND_LIMIT_S: Final = 0.5
LABELS: Final[dict[Way, str]] = {
    "here": "Go on here",
    "fork": "Go on in a fork",
    "anew": "Go on in a new session",
    "agent": "Go on with another agent",
    "files": "Put the files back",
    "show": "Show it",
    "copy": "Copy it",
}
FROM_A_PROMPT: Final[dict[Way, str]] = {
    "here": "edit it; the agent remembers what came after",
    "fork": "a new tab; it remembers what came after, too",
    "anew": "a new tab, told only what came before",
    "agent": "a new tab, told only what came before",
    "show": "in the conversation",
}
FROM_NOW: Final[dict[Way, str]] = {
    "fork": "a new tab; this session stays as it is",
    "anew": "a new tab, told a summary of it",
    "agent": "a new tab, told a summary of it",
    "show": "the end of the conversation",
}
ONLY_OF_A_PROMPT: Final = "choose a prompt for that"


class GoingBack:
    """The ways back in one session (`WaysBack`). Await them in a worker."""

    def __init__(self, tab: Tab, session: Session) -> None:
        self._tab = tab
        self._session = session
        moments = tab.moments
        self._moments = moments if moments is not None and moments.is_of(session) else None
        entries = prompts_in(session.conversation)
        self.prompts: Sequence[SentPrompt] = [
            SentPrompt(entry, len(entries) - at, first_line(self._text(entry)), self._age(entry))
            for at, entry in enumerate(entries)
        ]

    def _age(self, entry: EntryId) -> str:
        sent_at = self._moments.sent_at.get(entry) if self._moments is not None else None
        return "" if sent_at is None else short_time(sent_at, datetime.now())

    def _text(self, entry: EntryId) -> str:
        return message_text(self._session.conversation, entry)

    async def choose(self, way: Way, *, is_now: bool) -> None:
        """Let the user choose a prompt and how to go on from there, beginning with these, and do it."""
        prompt = None if is_now else next(iter(self.prompts), None)
        if way == "files":
            prompt = await self._last_with_changes() or prompt
        match await self._tab.ask(GoBackDialog(self, way, prompt)):
            case ("here", SentPrompt(entry)):
                self._tab.prompt.set_draft(self._text(entry))
                self._tab.screen.set_focus(self._tab.prompt)
            case ("fork", prompt):
                await self._fork(prompt)
            case ("anew", prompt):
                tab = await self._tab.app.open_tab(self._tab.link, self._session.cwd)
                tab.prompt.set_draft(self._told(prompt))
            case ("agent", prompt):
                await self._hand_over(prompt)
            case ("show", prompt):
                self._show(prompt)
            case ("copy", SentPrompt(entry)):
                await copy(self._tab.screen, self._text(entry))

    async def _last_with_changes(self) -> SentPrompt | None:
        """The last prompt since which files have changed; None if there is none, or it isn't found at once."""
        with move_on_after(FIND_LIMIT_S):
            for prompt in self.prompts:
                if await self.changed_since(prompt):
                    return prompt
        return None

    # What can be done

    def ways(self, prompt: SentPrompt | None, changed: str | None) -> Sequence[PickerRow[Way]]:
        about = FROM_NOW if prompt is None else FROM_A_PROMPT
        labels = aligned([*LABELS.values()])
        return [
            PickerRow(
                way,
                label,
                (f"{changed}; " if changed else "") + "you see them first" if way == "files" else about.get(way, ""),
                is_disabled_reason=self._why_not(way, prompt, changed),
            )
            for way, label in zip(LABELS, labels, strict=True)
        ]

    def _why_not(self, way: Way, prompt: SentPrompt | None, changed: str | None) -> str:
        """Why that can't be done; "" if it can."""
        agent = self._tab.link.agent
        if prompt is None and way in ("here", "files", "copy"):
            return ONLY_OF_A_PROMPT
        match way:
            case "here" if self._session.is_read_only:
                return "you can only watch this session"
            case "here" if self._tab.prompt.draft:
                return "your draft isn't empty: send or clear it first"
            case "fork" if agent is None or agent.lost is not None:
                return "its agent isn't running"
            case "fork" if agent is not None and not agent.capabilities.fork_session:
                return f"{agent.title} can't fork sessions"
            case "anew" if not self._tab.link.can_start:
                return "its agent can't be started here"
            case "files" if prompt is not None and self._moments_of(prompt) is None:
                return "acp-tui has no copy of the files as they were"
            case "files" if changed == "":
                return "no file has changed since"
        return ""

    def _moments_of(self, prompt: SentPrompt) -> TurnMoments | None:
        """What knows the files at this prompt; None if nothing does."""
        return self._moments if self._moments is not None and self._moments.knows(prompt.entry) else None

    async def catch_up(self) -> None:
        if self._moments is not None:
            with suppress(ChangesError):
                await self._moments.catch_up()

    async def changed_by(self, prompt: SentPrompt) -> str:
        moments = self._moments_of(prompt)
        return "" if moments is None else await _summary(moments.changed_by(prompt.entry)) or ""

    async def changed_since(self, prompt: SentPrompt) -> str | None:
        moments = self._moments_of(prompt)
        return None if moments is None else await _summary(moments.changed_since(prompt.entry))

    async def put_back(self, prompt: SentPrompt) -> bool:
        moments = self._moments_of(prompt)
        if moments is None:
            return False
        since = moments.since(prompt.entry, f"prompt {prompt.number}")
        try:
            await since.rescan()
        except ChangesError as error:
            self._tab.say(str(error), severity="error")
            return False
        await self._tab.ask(ChangesScreen(since))
        return not since.changes

    # Doing it

    async def _fork(self, prompt: SentPrompt | None) -> None:
        source = self._session
        title = source.conversation.shown_title or "the session above"
        tab = await self._tab.app.open_tab(self._tab.link, source.cwd, lambda sessions: sessions.fork(source, title))
        if prompt is not None:
            tab.prompt.set_draft(self._text(prompt.entry))

    async def _hand_over(self, prompt: SentPrompt | None) -> None:
        choice = await choose_agent(self._tab.app, "Go on with another agent")
        if choice is not None:
            cwd = choice.command.cwd or self._tab.cwd
            tab = await self._tab.app.open_tab(self._tab.app.link_to(choice.command, cwd), cwd)
            tab.prompt.set_draft(self._told(prompt))

    def _told(self, prompt: SentPrompt | None) -> str:
        """What a session is told that doesn't know this one."""
        conversation, changes = self._session.conversation, self._tab.changes
        if prompt is not None:
            told = digest(conversation, (), prompt.entry)
        else:
            told = digest(conversation, sorted(changes.changes) if changes is not None else ())
        return without_mentions(told)  # otherwise an agent could have files of its choice attached

    def _show(self, prompt: SentPrompt | None) -> None:
        panel = self._tab.panel
        if panel is None:
            return
        panel.leave_subagents()
        if prompt is None:
            panel.view.action_follow()
        else:
            panel.view.go_to(prompt.entry)
            panel.view.scroll_to_row(prompt.entry, 0)


async def _summary(reading: Awaitable[Mapping[str, FileChange]]) -> str | None:
    """A summary of these changes; None if they can't be read."""
    try:
        return summary_of(await reading)
    except ChangesError:
        return None
