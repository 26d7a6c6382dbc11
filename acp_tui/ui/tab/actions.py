"""What the commands of a tab do, and what they need. The rows of `ui/commands/table` call it.

The palette hides commands that can't do anything now; their keys work, or say why not. This module imports everything
its methods need, so it is loaded after the start, or with the first key.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Final

from anyio import move_on_after, to_thread
from textual.actions import parse

from acp_tui.client.clipboard import ClipboardPicture, NothingToPaste, read_clipboard
from acp_tui.client.sessions.marks import rename
from acp_tui.client.sessions.prompt_queue import PastedImage, Prompt
from acp_tui.client.sessions.schedule import NotATime, Schedule, later
from acp_tui.client.worktrees import origin_of
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Failure
from acp_tui.conversation.facts import SelectOption
from acp_tui.ui.changes.follower import FolderChanges
from acp_tui.ui.changes.list import ChangesScreen
from acp_tui.ui.changes.review import ReviewScreen
from acp_tui.ui.commands.command import Command
from acp_tui.ui.commands.help import HelpScreen
from acp_tui.ui.commands.keymap import BY_ID, places_of
from acp_tui.ui.conversation.searching import SearchState
from acp_tui.ui.conversation.view import ConversationView
from acp_tui.ui.dialogs.naming import NameDialog
from acp_tui.ui.dialogs.providers import ProviderDialog, provider_picker
from acp_tui.ui.kit.desktop import copy
from acp_tui.ui.session.find_bar import FindBar
from acp_tui.ui.tab import taking_out
from acp_tui.ui.tab.going_back import SHORTCUTS, GoingBack
from acp_tui.ui.tab.prompt_routing import NOTHING_QUEUED
from acp_tui.ui.tab.sessions import HistoryController, Welcoming
from acp_tui.ui.tab.sessions_dialog import Act, SessionsDialog
from acp_tui.ui.tab.several import SeveralController
from acp_tui.ui.tab.stage import NO_SESSION, Failed, Live, Recorded, Starting
from acp_tui.ui.tab.worktrees import WorktreesController

if TYPE_CHECKING:
    from acp_tui.client.sessions.agent import Agent
    from acp_tui.ui.tab.tab import Tab


QUIT_AGAIN_S: Final = 2.0
LISTING_LIMIT_S: Final = 2.0


class Actions:
    """The commands of one tab. Coroutines wait for the user, so run them in a worker. They raise ClientError."""

    def __init__(self, tab: Tab) -> None:
        # With their types, because mypy reads the rows of the table first.
        self.tab: Tab = tab
        self.worktrees = WorktreesController(tab)
        self.several: SeveralController = SeveralController(tab)
        self.entries: taking_out.TakeOut = taking_out.TakeOut(tab)
        self.terminals: taking_out.TerminalsController = taking_out.TerminalsController(tab)
        self.history: HistoryController = HistoryController(tab)
        self.welcoming = Welcoming(tab, self.history)

    async def do_in_turn(self, action: str) -> None:
        """Do what a slash command says, and return when it's done: what was entered behind it needs that."""
        _, _, (id_, *words) = parse(action)
        await self.do(BY_ID[str(id_)], "".join(map(str, words)), in_turn=True)

    async def do(self, command: Command, words: str, *, in_turn: bool = False) -> None:
        """Run a command; `words` is what follows its slash command. What waits for the user goes on in a worker."""
        if command.id != "interrupt":
            self.tab.prompt.end_saying()
        doing = command.run(self, words) if command.run is not None else None
        if isinstance(doing, Coroutine):
            if command.keys_wait or in_turn:
                await doing
            else:
                self.tab.run(doing)

    # What there is

    @property
    def said(self) -> Conversation:
        """What the session says; nothing without a session."""
        return self.tab.session.conversation if self.tab.session is not None else Conversation()

    @property
    def was_said(self) -> bool:
        return not self.said.is_blank

    @property
    def has_locations(self) -> bool:
        return any(map(taking_out.locations_of, self.said.entries))

    @property
    def has_attached(self) -> bool:
        return any(map(taking_out.attached_to, self.said.entries))

    @property
    def has_queued(self) -> bool:
        queue = self.tab.writing.queue
        return bool(queue.prompts or queue.scheduled)

    @property
    def has_failed(self) -> bool:
        return self.said.last_failure is not None or self.tab.writing.failed is not None

    @property
    def runs_command(self) -> bool:
        """Whether a command of the agent runs here."""
        return any(terminal.is_ours and not terminal.has_exited for terminal in self.said.terminals.values())

    @property
    def can_stop(self) -> bool:
        return bool(taking_out.stoppable_in(self.said))

    def has_agent(self, offers: Callable[[Agent], object]) -> bool:
        """Whether there is an agent that offers this."""
        agent = self.tab.link.agent
        return agent is not None and agent.lost is None and bool(offers(agent))

    def offers(self, category: str) -> bool:
        """Whether the agent has an option of this category with more than one choice."""
        return any(
            isinstance(option, SelectOption) and option.category == category and len(option.choices) > 1
            for option in self.said.options
        )

    @property
    def has_tabs(self) -> bool:
        """Whether there is another tab."""
        return len(self.tab.app.tabs) > 1

    # Conversation

    async def find(self, query: str = "") -> None:
        """Search the conversation for a text."""
        if self.tab.panel is None:
            self.tab.say("Nothing to search yet.")
            return
        opened = next((bar for bar in self.tab.screen.query(FindBar) if bar.display), None)
        if opened is None:
            await self.tab.screen.mount(FindBar(self.tab.panel.view, query), before="#prompt-frame")
        else:
            opened.begin(query)

    def in_view(self, do: Callable[[ConversationView], object]) -> None:
        """Do this to the conversation in view, if there is one."""
        if self.tab.panel is not None:
            do(self.tab.panel.view)

    def show_state(self, state: SearchState) -> None:
        for bar in self.tab.screen.query(FindBar):
            bar.show_state(state)

    def toggle_plan(self) -> None:
        """Unfold or fold the plan, in the sidebar if that is shown."""
        if self.tab.panel is not None and not self.tab.sidebar.toggle_plan():
            self.tab.panel.toggle_plan()

    async def help(self) -> None:
        """Show the commands with their keys, and run the chosen one."""
        screen = self.tab.screen
        action = await screen.app.push_screen_wait(HelpScreen(places_of(screen.focused or screen)))
        if action is not None:
            await screen.run_action(action)

    def interrupt(self) -> None:
        """Handle Ctrl+C: copy the selection, or close the search or the queue that has the keyboard, or clear the
        draft, or cancel the turn, or stop the user's own command.

        If the agent asks something, cancel the turn and its questions, and keep the draft. With nothing to do, the
        second one quits.
        """
        screen, panel, session, prompt = self.tab.screen, self.tab.panel, self.tab.session, self.tab.prompt
        prompt.end_saying()
        around = (screen.focused or screen).ancestors_with_self
        field = getattr(screen.focused, "selected_text", "")
        selected = field or prompt.selected_text or (panel.view.selected_text if panel is not None else "")
        if screen.app.screen is not screen:
            self.stop_asking()
        elif selected:
            self.tab.run(copy(screen, selected))
            if panel is not None:
                panel.view.clear_selection()
        elif close := next(filter(None, (getattr(node, "action_close", None) for node in around)), None):
            close()
        elif self.tab.questions.card is not None:
            self.stop_asking()
        elif prompt.text or prompt.images:
            self.tab.writing.drop_draft()
        elif session is not None and (session.conversation.is_asking or not session.conversation.is_idle):
            self.tab.writing.cancel(session)
        elif not self.terminals.stop_own():
            keys = self.tab.app.keys
            if keys.asked_again:
                self.tab.run(self.tab.app.action_quit("interrupt"))
            else:
                again = self.tab.hint("{interrupt} again quits")
                prompt.say(again)
                keys.ask_again(again, QUIT_AGAIN_S, prompt.end_saying)

    def stop_asking(self) -> None:
        """Cancel the turn, and cancel every question of the agent, also without a turn. The draft stays."""
        session = self.tab.session
        if session is not None:
            self.tab.writing.cancel(session)
        self.tab.questions.cancel_all()

    # Prompt

    async def search_history(self) -> None:
        if self.tab.prompt.redoes():  # Ctrl+R has another meaning in Vim's normal mode
            return
        if self.tab.writing.recall is None:
            self.tab.say("Your earlier prompts are still being loaded.")
        else:
            await self.tab.writing.recall.search()

    async def paste(self) -> None:
        await paste_from_clipboard(self.tab, self.tab.link.agent)

    def edit_queue(self) -> None:
        """Focus the queued prompts."""
        if not self.tab.screen.queue_lines.enter():
            self.tab.say(NOTHING_QUEUED)

    # Agent and sessions

    async def choose_session(self) -> None:
        """Show the sessions, and do what the user chooses there. The next keys wait for the rows."""
        here = await to_thread.run_sync(origin_of, self.tab.cwd) if self.tab.worktree else self.tab.cwd
        dialog = SessionsDialog(self.history, here=here)
        await self.tab.app.push_screen(dialog, self._do_in_sessions, mode=self.tab.mode)
        with move_on_after(LISTING_LIMIT_S):
            await dialog.has_local.wait()

    def _do_in_sessions(self, act: Act | None) -> None:
        self.tab.screen.refresh_welcome()
        if act is not None:
            self.tab.run(act())

    async def rename_session(self, name: str = "") -> None:
        """Rename the session; without a name, ask for it."""
        session, agent = self.tab.session, self.tab.link.agent
        if session is None:
            self.tab.say(f"{NO_SESSION}.")
            return
        wanted = name if name else await self.tab.ask(NameDialog(session.conversation.shown_title))
        if wanted and agent is not None:
            await rename(session, agent.command, wanted)
        elif wanted:
            await session.rename(wanted)

    async def choose_provider(self) -> None:
        """Let the user set the providers of the agent's models, one after the other."""
        agent = self.tab.agent.agent_or_say()
        while agent is not None:
            provider = await self.tab.ask(provider_picker(await agent.list_providers()))
            if provider is None:
                return
            await self.tab.ask(ProviderDialog(provider, partial(agent.set_provider, provider)))

    async def begin_session(self) -> None:
        """Start a session in a new tab, once its agent is there; in this tab if its session couldn't be opened."""
        if not isinstance(self.tab.stage, Recorded | Starting) and self.tab.agent.agent_or_say() is None:
            return  # beside a recording, the agent is started
        if isinstance(self.tab.stage, Failed):
            self.tab.run(self.tab.begin_anew())
        else:
            await self.tab.app.open_tab(self.tab.link, self.tab.cwd)  # the next keys are for it

    async def go_back(self, shortcut: str = "") -> None:
        """Go back to one of the user's prompts, or on from here in another session."""
        session = self.tab.session
        if session is None or session.conversation.is_blank:
            self.tab.say("There is no prompt to go back to yet.")
        else:
            way, is_now = SHORTCUTS.get(shortcut.partition(" ")[0], ("here", False))
            await GoingBack(self.tab, session).choose(way, is_now=is_now)

    async def next_needing(self) -> None:
        """Go to the next tab that waits for the user."""
        if not await self.tab.app.tabs.go_to_next_needing():
            self.tab.say("No other tab needs you.")

    async def begin_in_worktree(self, name: str = "") -> None:
        """Start a session in a new git worktree of this folder, in a new tab."""
        if self.tab.agent.agent_or_say() is not None:
            await self.worktrees.begin(name)

    def send_again(self) -> None:
        """Send the prompt whose turn failed again, once the agent's time for that has come."""
        writing, failure = self.tab.writing, self.said.last_failure
        prompt = next((one for one in taking_out.prompts_in(self.said) if failure is not None and one < failure), None)
        sent_elsewhere = Prompt(taking_out.message_text(self.said, prompt)) if prompt is not None else None
        failed = writing.failed or sent_elsewhere
        if writing.why_not:
            self.tab.say(f"{writing.why_not}.")
        elif failed is None:
            self.tab.say("The last turn didn't fail, so there is no prompt to send again.")
        else:
            writing.send_again(Schedule(failed.text, failed.text, self._retry_at or 0.0), failed.images)

    @property
    def _retry_at(self) -> float | None:
        """When the agent says to try again after the last failure, in seconds since the epoch; None if it doesn't."""
        failure = self.said.last_failure
        entry = self.said.entries[failure] if failure is not None else None
        return entry.said.retry_at if isinstance(entry, Failure) and entry.said is not None else None

    def send_later(self, words: str) -> None:
        """Have a prompt wait for its time, or say why not and put back what was written."""
        session = self.tab.session
        try:
            if session is None or self.tab.writing.why_not:
                raise NotATime(f"{self.tab.writing.why_not or NO_SESSION}.")
            self.tab.writing.schedule(session, later(words, session.now() or 0.0, self._retry_at))
        except NotATime as error:
            self.tab.say(str(error), severity="warning")
            self.tab.prompt.put_before(self.tab.writing.slash_command if words else "/later ")

    def restart(self) -> None:
        """Restart the agent, and continue the sessions of its tabs as far as the agent remembers them."""
        self.tab.run(self._restart(), group="restart")

    async def _restart(self) -> None:
        link, others = self.tab.link, [tab for tab in self.tab.app.tabs if tab is not self.tab]
        ends = [
            (tab, tab.stage.session)
            for tab in others
            if tab.link is link and not link.has_lost_host and isinstance(tab.stage, Live)
            if link.is_lost or tab.stage.session.conversation.is_connected
        ]
        await self.tab.starter.restart()
        for tab, session in ends:
            if not link.is_lost and session is tab.session and not session.conversation.is_connected:
                tab.run(tab.starter.restart(), group="restart")

    def dismiss_visits(self) -> None:
        """Dismiss the pages that the agent asked for; it may never report them as done (R-ELIC-12)."""
        if self.tab.session is not None:
            for visit in tuple(self.tab.session.conversation.visits):
                self.tab.session.questions.dismiss(visit)

    # Terminals and changes

    def show_changes(self, whose: str = "") -> None:
        changes = self.tab.changes
        if changes is None:
            self.tab.say(f"{self.tab.writing.why_not or NO_SESSION}.")
        elif changes.is_listed_or_say():
            self.tab.app.push_screen(ChangesScreen(changes, self.tab.prompt.comments, whose))

    def review(self, changes: FolderChanges, path: str) -> None:
        """Show how the file has changed."""
        self.tab.app.push_screen(ReviewScreen(changes, path, self.tab.prompt.comments))


async def paste_from_clipboard(tab: Tab, agent: Agent | None) -> None:
    """Paste the clipboard, or the app's own if there is no desktop.

    Without an agent, it isn't known whether pictures are accepted, so none are read.
    """
    prompt = tab.prompt
    why = "there is no agent yet to send the clipboard's picture to"
    if agent is not None:
        why = "" if agent.capabilities.image else f"{agent.title} doesn't accept pictures"
    try:
        content = await to_thread.run_sync(partial(read_clipboard, os.environ, no_pictures=why))
    except (NothingToPaste, OSError) as problem:
        if prompt.app.clipboard:
            prompt.paste(prompt.app.clipboard)
            return
        hint, draft = getattr(problem, "hint", ""), prompt.text
        said = f"Nothing pasted: {problem}." + (f" You can {hint}." if hint else "")
        tab.say(said, severity="warning", is_over=lambda: prompt.text != draft)
        return
    match content:
        case str():
            prompt.paste(content)
        case ClipboardPicture(data, mime_type):
            suffix = mime_type.removeprefix("image/")
            prompt.attach(PastedImage(f"image-{len(prompt.images) + 1}.{suffix}", data))
