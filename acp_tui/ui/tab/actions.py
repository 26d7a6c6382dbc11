"""One method for each command that acts on a tab, as in `do('find')`, and the conditions for offering it.

The palette hides commands that can't do anything now; their keys work, or say why not. This module imports everything
its methods need, so it is loaded after the start, or with the first key.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from anyio import to_thread

from acp_tui.client.attachments import without_mentions
from acp_tui.client.changes import ChangesError
from acp_tui.client.clipboard import ClipboardText, NothingToPaste, Picture, read_clipboard
from acp_tui.client.errors import ClientError
from acp_tui.client.sessions.marks import MAX_NAME, Mark, SessionMarks
from acp_tui.client.sessions.prompt_queue import PastedImage
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Entry, EntryId, TerminalState
from acp_tui.conversation.facts import SelectOption
from acp_tui.conversation.retelling import digest
from acp_tui.ui.changes.follower import ChangesDesk, TurnMoments
from acp_tui.ui.changes.list import ChangesScreen
from acp_tui.ui.changes.review import ReviewScreen
from acp_tui.ui.commands.command import Command
from acp_tui.ui.commands.help import HelpScreen
from acp_tui.ui.commands.keymap import places_of
from acp_tui.ui.conversation.searching import SearchState
from acp_tui.ui.dialogs.agents import choose_agent
from acp_tui.ui.dialogs.naming import NameDialog
from acp_tui.ui.kit.clipboard import copy
from acp_tui.ui.prompt import PromptInput
from acp_tui.ui.session.find_bar import FindBar
from acp_tui.ui.session.panel import SessionPanel
from acp_tui.ui.tab.entries import (
    EntriesController,
    TerminalsController,
    attached_to,
    last_code,
    last_reply,
    locations_of,
    message_text,
    prompts_in,
    stoppable_in,
)
from acp_tui.ui.tab.history import HistoryController, Welcoming
from acp_tui.ui.tab.host import NO_SESSION, TabHost
from acp_tui.ui.tab.opening import Opener, StartingHost
from acp_tui.ui.tab.questions import QuestionsController
from acp_tui.ui.tab.sidebar import SidebarController
from acp_tui.ui.tab.worktrees import WorktreesController
from acp_tui.ui.tab.writing import NOTHING_QUEUED

if TYPE_CHECKING:
    from acp_tui.client.sessions.agent import Agent
    from acp_tui.ui.tab.tabs import Tab


class ActingHost(StartingHost, Protocol):
    """A tab with all its controllers."""

    opener: Opener
    questions: QuestionsController

    @property
    def sidebar(self) -> SidebarController:
        """Controls the sidebar."""

    moments: TurnMoments | None
    """The files as they were at each prompt; None if nothing follows them."""


class Actions:
    """The commands of one tab. Coroutines wait for the user, so run them in a worker."""

    AT_ONCE: Final = ("find", "search_history")
    """These are awaited, so that the next keys go to the field they open."""

    def __init__(self, host: ActingHost) -> None:
        self._host = host
        self.worktrees = WorktreesController(host)
        self.entries = EntriesController(host)
        self.terminals = TerminalsController(host)

    @property
    def history(self) -> HistoryController:
        """The dialog of earlier sessions."""
        return HistoryController(self._host, self._host.sessions, self._host.opener.is_under_way.wait)

    @property
    def _panel(self) -> SessionPanel | None:
        return self._host.panel

    @property
    def _prompt(self) -> PromptInput:
        return self._host.prompt

    # Conversation

    def follow(self) -> None:
        """Go to the end of the conversation."""
        if self._panel is not None:
            self._panel.view.action_follow()

    def to_prompt(self, direction: int) -> None:
        """Go to the prompt above or below."""
        if self._panel is not None:
            self._panel.view.action_to_prompt(direction)

    async def find(self, query: str = "") -> None:
        """Search the conversation for a text."""
        if self._panel is None:
            self._host.say("Nothing to search yet.")
            return
        opened = next((bar for bar in self._host.screen.query(FindBar) if bar.display), None)
        if opened is None:
            await self._host.screen.mount(FindBar(self._panel.view, query), before="#prompt-frame")
        else:
            opened.begin(query)

    def find_next(self, direction: int) -> None:
        """Go to the next match of the search, or with -1 to the previous one."""
        if self._panel is not None:
            self._panel.view.action_find(direction)

    def show_standing(self, standing: SearchState) -> None:
        """Show the state of the search in the search bar."""
        for bar in self._host.screen.query(FindBar):
            bar.show_standing(standing)

    def toggle_all(self) -> None:
        """Unfold or fold everything."""
        if self._panel is not None:
            self._panel.view.toggle_all()

    def toggle_plan(self) -> None:
        """Unfold or fold the plan, in the sidebar if that is shown."""
        if self._panel is not None and not self._host.sidebar.toggle_plan():
            self._panel.toggle_plan()

    async def help(self) -> None:
        """Show the commands with their keys, and run the chosen one."""
        screen = self._host.screen
        action = await screen.app.push_screen_wait(HelpScreen(places_of(screen.focused or screen)))
        if action is not None:
            await screen.run_action(action)

    def interrupt(self) -> None:
        """Handle Ctrl+C: copy the selection, or clear the draft, or cancel the turn.

        If the agent asks something, cancel the turn and its questions, and keep the draft.
        """
        screen, panel, session, prompt = self._host.screen, self._panel, self._host.session, self._prompt
        field = getattr(screen.focused, "selected_text", "")
        selected = field or prompt.selected_text or (panel.view.selected_text if panel is not None else "")
        if screen.app.screen is not screen:
            self._stop_asking()
        elif selected:
            self._host.run(copy(screen, selected))
            if panel is not None:
                panel.view.clear_selection()
        elif self._host.questions.card is not None:
            self._stop_asking()
        elif prompt.text or prompt.images:
            prompt.discard_draft()
        elif session is not None and not session.conversation.is_idle:
            self._host.writing.cancel(session)
        else:
            prompt.say(self._host.hint("{quit} quits"))

    def _stop_asking(self) -> None:
        """Cancel the turn, and cancel every question of the agent. The draft stays."""
        session = self._host.session
        if session is not None and not session.conversation.is_idle:
            self._host.writing.cancel(session)
        self._host.questions.cancel_all()

    # Prompt

    async def search_history(self) -> None:
        """Search earlier prompts."""
        if self._prompt.redoes():  # Ctrl+R has another meaning in Vim's normal mode
            return
        if self._host.writing.recall is None:
            self._host.say("Your earlier prompts are still being loaded.")
        else:
            await self._host.writing.recall.search()

    async def show_prompts(self) -> None:
        """List the prompts of the conversation in view, and go to the chosen one."""
        if self._panel is None:
            self._host.say(NO_SESSION)
            return
        view = self._panel.view
        prompt = await self._choose_prompt(view.conversation, prompts_in(view.conversation), "Go to a prompt")
        if prompt is not None:
            view.go_to(prompt)
            view.scroll_to_row(prompt, 0)

    async def edit_earlier_prompt(self) -> None:
        """Put an earlier prompt of the session into the draft, to edit and send again."""
        if self._host.session is not None:
            conversation = self._host.session.conversation
            title = "Edit an earlier prompt · the agent still remembers what came after it"
            prompt = await self._choose_prompt(conversation, prompts_in(conversation), title)
            if prompt is not None:
                self._edit(message_text(conversation, prompt))

    async def _choose_prompt(
        self, conversation: Conversation, prompts: Sequence[EntryId], question: str
    ) -> EntryId | None:
        """Let the user choose a prompt. None if they didn't, or copied it or put it into the draft instead."""
        match await self.entries.choose_prompt(conversation, prompts, question):
            case ("copy", prompt):
                await copy(self._host.screen, message_text(conversation, prompt))
            case ("edit", prompt):
                self._edit(message_text(conversation, prompt))
            case ("choose", prompt):
                return prompt
        return None

    def _edit(self, text: str) -> bool:
        """Put a text into the draft. If something is written there, say so and return False."""
        if self._prompt.draft:
            self._host.say("Your draft isn't empty: send or clear it first.", severity="warning")
            return False
        self._prompt.set_draft(text)
        self._host.screen.set_focus(self._prompt)
        return True

    async def paste(self) -> None:
        """Paste the desktop's clipboard into the prompt."""
        await paste_from_clipboard(self._prompt, self._host.link.agent)

    def edit_queue(self) -> None:
        """Focus the queued prompts."""
        if not self._host.queue_lines.enter():
            self._host.say(NOTHING_QUEUED)

    # Agent and sessions

    async def rename_session(self, name: str = "") -> None:
        """Rename the session; without a name, ask for it."""
        session, agent = self._host.session, self._host.link.agent
        if session is None:
            self._host.say(NO_SESSION)
            return
        if not name:
            asked = await self._host.ask(NameDialog(session.conversation.shown_title))
            name = asked or ""
        if not name:
            return
        try:
            name = await session.rename(name[:MAX_NAME])
            if agent is not None:
                SessionMarks().change(agent.command.name, session.session_id, lambda mark: replace(mark, name=name))
        except ClientError as error:
            self._host.say_error(error)

    async def pin_session(self) -> None:
        """Pin the session above the others, or unpin it."""
        mark = await self._marked(Mark.pinned_or_not)
        if mark is not None:
            self._host.say("Pinned." if mark.is_pinned else "No longer pinned.")

    async def archive_session(self) -> None:
        """Archive the session, or restore it. Its tab stays open."""
        mark = await self._marked(Mark.archived_or_not)
        if mark is not None:
            self._host.say("Archived; /archive restores it." if mark.is_archived else "No longer archived.")

    async def _marked(self, change: Callable[[Mark], Mark]) -> Mark | None:
        """Change the session's marks, and return the new ones; None after a notice if that isn't possible."""
        session, agent = self._host.session, self._host.link.agent
        if session is None or agent is None:
            self._host.say(NO_SESSION)
            return None
        marks, name = SessionMarks(), agent.command.name
        before = marks.of(name, session.session_id)
        try:
            if change(before).is_archived != before.is_archived:
                await agent.archive_session(session.session_id, not before.is_archived)
            return marks.change(name, session.session_id, change)
        except ClientError as error:
            self._host.say_error(error)
            return None

    async def begin_session(self) -> None:
        """Start a session in a new tab; in this tab if its session couldn't be opened."""
        if self._host.agent.agent_or_say() is None:
            return
        if self._panel is not None and self._host.session is None:
            await self._host.begin_anew()
        else:
            await self._host.shell.open_tab(self._host.link, self._host.cwd)

    async def fork_session(self) -> None:
        """Open a new tab with a fork of this session."""
        source, agent = self._host.session, self._host.agent.agent_or_say()
        if source is None or agent is None:
            return
        if not agent.capabilities.fork_session:
            self._host.say(f"{agent.title} can't fork sessions.")
            return
        await self._fork(source)

    async def _fork(self, source: Session) -> Tab:
        title = source.conversation.shown_title or "the session above"
        return await self._host.shell.open_tab(
            self._host.link, source.cwd, lambda sessions: sessions.fork(source, title)
        )

    async def fork_from_prompt(self) -> None:
        """Continue from an earlier prompt: here, in a fork, or in a new session that is told what came before."""
        session = self._host.session
        if session is None:
            self._host.say(NO_SESSION)
            return
        conversation = session.conversation
        prompts = prompts_in(conversation)
        if not prompts:
            self._host.say("There is no prompt to continue from yet.")
            return
        prompt = await self._choose_prompt(conversation, prompts, "Continue from which prompt?")
        if prompt is not None:
            await self._go_on_from(session, prompt)

    async def _go_on_from(self, session: Session, prompt: EntryId) -> None:
        agent = self._host.link.agent
        can_fork = agent is not None and agent.lost is None and agent.capabilities.fork_session
        way = await self.entries.choose_way_on(can_fork=can_fork)
        text = message_text(session.conversation, prompt)
        if way == "again":
            if self._edit(text):
                self._host.say("Your prompt is in the draft. The agent still remembers what came after it.")
        elif way == "fork":
            tab = await self._fork(session)
            tab.prompt.set_draft(text)
        elif way == "anew":
            told = without_mentions(digest(session.conversation, (), prompt))
            tab = await self._host.shell.open_tab(self._host.link, session.cwd)
            tab.prompt.set_draft(told)

    async def hand_over(self) -> None:
        """Continue with another agent in a new tab. What was said here becomes the draft there."""
        session, changes = self._host.session, self._host.changes
        if session is None or session.conversation.is_blank:
            self._host.say("Nothing to hand over yet.")
            return
        choice = await choose_agent(self._host.screen.app)
        if choice is None:
            return
        command = choice.command
        told = digest(session.conversation, sorted(changes.changes) if changes is not None else ())
        text = without_mentions(told)  # otherwise an agent could have files of its choice attached
        cwd = command.cwd or self._host.cwd
        tab = await self._host.shell.open_tab(self._host.shell.link_to(command, cwd), cwd)
        tab.prompt.set_draft(text)

    async def begin_in_worktree(self, name: str = "") -> None:
        """Start a session in a new git worktree of this folder, in a new tab."""
        if self._host.agent.agent_or_say() is not None:
            await self.worktrees.begin(name)

    def restart(self) -> None:
        """Restart the agent, and continue the session as far as the agent remembers it."""
        self._host.screen.run_worker(self._host.opener.restart(), exclusive=True, group="restart")

    def dismiss_visits(self) -> None:
        """Dismiss the pages that the agent asked for; it may never report them as done (R-ELIC-12)."""
        if self._host.session is not None:
            for visit in tuple(self._host.session.conversation.visits):
                self._host.session.dismiss_visit(visit)

    # Terminals and changes

    def show_changes(self) -> None:
        """List the files that have changed."""
        changes = self._host.changes
        if changes is None:
            self._host.say(NO_SESSION)
        elif changes.is_listed_or_say():
            self._host.screen.app.push_screen(ChangesScreen(changes))

    async def undo_turn(self) -> None:
        """Revert files to their state before a prompt, and put the prompt into the draft."""
        session, moments = self._host.session, self._host.moments
        if session is None or moments is None or not moments.prompts:
            self._host.say("There is no turn to undo yet.")
            return
        question = "Undo the file changes since which prompt?"
        prompt = await self._choose_prompt(session.conversation, moments.prompts, question)
        if prompt is None:
            return
        since = moments.since(prompt, "that prompt")
        try:
            await since.rescan()
        except ChangesError as error:
            self._host.say(str(error), severity="error")
            return
        had_changes = bool(since.changes)
        await self._host.ask(ChangesScreen(since))
        if had_changes and not since.changes:
            await self._go_on_from(session, prompt)

    def review(self, changes: ChangesDesk, path: str) -> None:
        """Show how the file has changed."""
        self._host.screen.app.push_screen(ReviewScreen(changes, path))

    # An empty session

    def welcoming(self) -> Welcoming:
        """What the welcome of an empty session shows."""
        return Welcoming(self._host, self.history)


async def paste_from_clipboard(prompt: PromptInput, agent: Agent | None) -> None:
    """Paste the clipboard. Without an agent, it isn't known whether pictures are accepted, so none are read."""
    read = partial(read_clipboard, os.environ, no_pictures=_why_no_pictures(agent))
    try:
        content = await to_thread.run_sync(read)
    except (NothingToPaste, OSError) as problem:
        _say(prompt, problem)
        return
    match content:
        case ClipboardText(text):
            prompt.paste(text)
        case Picture(data, mime_type):
            suffix = mime_type.removeprefix("image/")
            prompt.attach(PastedImage(f"image-{len(prompt.images) + 1}.{suffix}", data))


def _why_no_pictures(agent: Agent | None) -> str:
    if agent is None:
        return "there is no agent yet to send the clipboard's picture to"
    return "" if agent.capabilities.image else f"{agent.title} doesn't accept pictures"


def _say(prompt: PromptInput, problem: NothingToPaste | OSError) -> None:
    """Paste the app's own clipboard if there is no desktop; otherwise report the problem."""
    if prompt.app.clipboard:
        prompt.paste(prompt.app.clipboard)
        return
    hint = getattr(problem, "hint", "")
    said = f"Nothing pasted: {problem}." + (f" You can {hint}." if hint else "")
    prompt.notify(said, severity="warning", markup=False)


Condition: TypeAlias = Callable[[TabHost], bool]
_GO_TO: Final = re.compile(r"tab_(\d)")


def is_possible(command: Command, tab: TabHost) -> bool:
    """Whether the command would do anything now."""
    if number := _GO_TO.fullmatch(command.id):
        return 1 < len(tab.shell.tabs) >= int(number[1])
    condition = CONDITIONS.get(command.id)
    return condition is None or condition(tab)


def _of_session(condition: Callable[[Session], bool]) -> Condition:
    return lambda tab: tab.session is not None and condition(tab.session)


def _of_conversation(condition: Callable[[Conversation], bool]) -> Condition:
    return _of_session(lambda session: condition(session.conversation))


def _of_entries(found_in: Callable[[Entry], Sequence[object]]) -> Condition:
    return _of_conversation(lambda conversation: any(map(found_in, conversation.entries)))


def _has_agent(tab: TabHost) -> bool:
    return not tab.link.is_lost


def _can_start(tab: TabHost) -> bool:
    return tab.link.can_start


def _can_log_out(tab: TabHost) -> bool:
    agent = tab.link.agent
    return agent is not None and agent.lost is None and agent.capabilities.logout


def _can_fork(tab: TabHost) -> bool:
    agent = tab.link.agent
    return tab.session is not None and agent is not None and agent.capabilities.fork_session


def _offers(category: str) -> Condition:
    """Whether the agent has an option of this category with more than one choice."""
    return _of_conversation(
        lambda conversation: any(
            isinstance(option, SelectOption) and option.category == category and len(option.choices) > 1
            for option in conversation.options
        )
    )


def _is_running(terminal: TerminalState) -> bool:
    return terminal.is_ours and not terminal.has_exited


def _has_tabs(tab: TabHost) -> bool:
    return len(tab.shell.tabs) > 1


_was_said: Final = _of_conversation(lambda conversation: not conversation.is_blank)
_runs_command: Final = _of_conversation(lambda conversation: any(map(_is_running, conversation.terminals.values())))

CONDITIONS: Final[Mapping[str, Condition]] = {
    **dict.fromkeys(("find", "show_prompts", "prompt_above", "prompt_below", "follow"), _was_said),
    **dict.fromkeys(("toggle_all", "export", "interrupt"), _was_said),
    **dict.fromkeys(("take_over", "interrupt_terminal", "end_terminal"), _runs_command),
    **dict.fromkeys(("next_tab", "previous_tab", "next_needing"), _has_tabs),
    **dict.fromkeys(("show_agent", "show_mcp", "inspect"), _has_agent),
    **dict.fromkeys(("restart", "begin_session", "begin_in_worktree"), _can_start),
    "detach": lambda tab: tab.link.is_hosted or tab.shell.can_leave,
    "move_into_host": lambda tab: tab.shell.can_leave and not tab.link.is_hosted,
    "log_out": _can_log_out,
    "next_mode": _offers("mode"),
    "choose_mode": _offers("mode"),
    "choose_model": _offers("model"),
    "choose_option": _of_conversation(lambda conversation: bool(conversation.options)),
    "toggle_plan": _of_conversation(lambda conversation: bool(conversation.plans)),
    "dismiss_visits": _of_conversation(lambda conversation: bool(conversation.visits)),
    "edit_location": _of_entries(locations_of),
    "save_attached": _of_entries(attached_to),
    "stop_one": _of_conversation(lambda conversation: bool(stoppable_in(conversation))),
    "copy_reply": _of_conversation(lambda conversation: bool(last_reply(conversation))),
    "copy_code": _of_conversation(lambda conversation: bool(last_code(conversation))),
    **dict.fromkeys(("edit_queue", "send_queued_now"), _of_session(lambda session: bool(session.queue.prompts))),
    "fork_session": _can_fork,
    "rename_session": lambda tab: tab.session is not None,
    "pin_session": lambda tab: tab.session is not None and tab.link.agent is not None,
    "archive_session": lambda tab: tab.session is not None and tab.link.agent is not None,
    "fork_from_prompt": _was_said,
    "hand_over": _was_said,
    "undo_turn": lambda tab: tab.changes is not None,
    "show_changes": lambda tab: tab.changes is not None,
    "sidebar": lambda tab: tab.session is not None,
}
