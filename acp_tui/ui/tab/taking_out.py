"""What you take from a conversation: a reply, code, a file, an export, or a place to open in the editor."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from anyio import to_thread

from acp_tui.client.save_content import Saveable, save_block
from acp_tui.client.sessions.session import Session
from acp_tui.conversation import QUIET_KINDS, content, tool_calls, tool_text, wording
from acp_tui.conversation.conversation import Conversation, snapshot
from acp_tui.conversation.entries import Compaction, Entry, EntryId, Message, OwnCommand, TerminalState, ToolCallEntry
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.visible.confusables import make_visible_path
from acp_tui.ui.conversation.blocks import block_label
from acp_tui.ui.conversation.subagents import name_of
from acp_tui.ui.dialogs.naming import ExportDialog
from acp_tui.ui.dialogs.take_over import TakeOver
from acp_tui.ui.kit.desktop import copy, edit, open_page
from acp_tui.ui.kit.pickers import Picker
from acp_tui.ui.kit.row_list import PickerRow
from acp_tui.ui.rendering.links import file_of
from acp_tui.ui.rendering.markdown import markdown_parser
from acp_tui.ui.rendering.wrapping import cut
from acp_tui.ui.session.panel import SessionPanel
from acp_tui.ui.tab.stage import NO_SESSION

if TYPE_CHECKING:
    from acp_tui.ui.tab.tab import Tab


T = TypeVar("T")


def in_view(tab: Tab) -> tuple[Conversation, Entry | None]:
    """The conversation in view, which may be a subagent's, and the entry under its cursor."""
    if tab.panel is None:
        return tab.conversation or Conversation(), None
    return tab.panel.view.conversation, tab.panel.view.entry_under_cursor


class TakeOut:
    """The conversation of one tab. The async methods wait for the user, so run them in a worker.

    Methods about one entry use the one at the cursor; without a cursor, the last suitable entry.
    """

    def __init__(self, tab: Tab) -> None:
        self._tab = tab

    # The whole conversation

    async def copy_reply(self) -> None:
        """Copy the message at the cursor as it was written, or a code block of it.

        Without a cursor, that is the agent's last message.
        """
        said, entry = in_view(self._tab)
        replies = [one for one in said.entries if isinstance(one, Message) and one.role == "agent"]
        messages = [entry] if isinstance(entry, Message) else replies
        text = next((message.text for message in reversed(messages) if message.text.strip()), "")
        if not text:
            self._tab.say("No reply to copy yet.")
            return
        chosen: str | None = text
        if fences := code_in(text):
            rows = [PickerRow(code, first_line(code), info) for info, code in fences]
            whole = PickerRow(text, "The whole message", first_line(text))
            chosen = await self._tab.ask(Picker("What do you want to copy?", [whole, *rows]))
        if chosen is not None:
            await copy(self._tab.screen, chosen)

    async def export(self, file: str = "") -> None:
        """Write the conversation to this file, relative to the session's folder. Ask for a file if necessary."""
        session, agent = self._tab.session, self._tab.link.agent
        if session is None:
            return
        # The formats need a Markdown parser, which most tabs never load for this.
        from acp_tui.client.export import facts, writing

        about = facts.ExportFacts.now(
            agent.title if agent is not None else "",
            session.cwd,
            session.session_id,
            session.conversation.title,
            agent_version=agent.identity.version if agent is not None and agent.identity is not None else None,
            sandbox=self._tab.link.sandbox,
        )

        async def write(path: Path, is_replaced: bool) -> None:
            # Large diffs take seconds while the agent goes on. Write the conversation as it was at Enter.
            taken = snapshot(session.conversation)
            await to_thread.run_sync(partial(writing.export, taken, about, path, overwrite=is_replaced))

        dialog = ExportDialog(session.cwd, file or f"~/{facts.default_name(about, '.md')}", write, is_chosen=bool(file))
        written = await self._tab.ask(dialog)
        if written is not None:
            where = make_visible_line(wording.from_home(written))
            bare = "Known secrets, names, and folders aren't masked in it: look at it before you share it."
            self._tab.say(f"Written to {where}\n{bare}")

    # One entry

    async def edit_location(self) -> None:
        """Open a file that a tool call works on in the user's editor, which gets the terminal."""
        location = await self._choose(locations_of, self._shown, "Which file do you want to open?", "names no file")
        if location is not None:
            await self._edit(self._cwd / location.path, location.line, self._shown(location))

    async def open_link(self, target: str) -> None:
        """Open the file that a link leads to in the user's editor, or the page in the browser."""
        if (file := file_of(target)) is not None:
            await self._edit(Path(file.path), file.line, file.path)
            return
        problem = await open_page(target)
        self._say(problem or f"Opened in your browser: {make_visible_line(target)}", is_problem=bool(problem))

    async def _edit(self, file: Path, line: int | None, shown: str) -> None:
        if not await to_thread.run_sync(os.path.exists, file):  # a Path raises for a name that is too long
            self._say(f"There is no file {make_visible_path(shown)}")
            return
        problem = await edit(self._tab.app, file, line)
        # An editor in its own window leaves no other trace here.
        self._say(problem or f"Opened in your editor: {make_visible_path(shown)}", is_problem=bool(problem))

    async def save_attached(self) -> None:
        """Save a picture, sound, or file that the agent attached in the session's directory."""
        block = await self._choose(attached_to, block_label, "Which one do you want to save?", "has nothing attached")
        if block is not None:
            file = await to_thread.run_sync(save_block, block, self._cwd)
            self._say(f"Saved as {make_visible_path(wording.from_home(file))}", is_problem=False)

    async def stop_one(self) -> None:
        """Ask the agent to stop what the entry shows, if it supports that. The turn goes on."""
        session, (said, _) = self._tab.session, in_view(self._tab)
        found = stoppable_in(said)

        def stoppable_of(entry: Entry) -> list[Stoppable]:
            return [one for one, entry_of in found.items() if entry_of is entry]

        lack = "has nothing that can be stopped on its own"
        one = await self._choose(stoppable_of, lambda one: one.title, "Stop which?", lack)
        if one is None or session is None:
            return
        if one.call_id is not None:
            await session.cancel_tool_call(one.call_id)
        elif one.terminal_id is not None:
            await session.cancel_terminal(one.terminal_id)
        elif one.subagent_id is not None:
            session.cancel_subagent(said.subagents[one.subagent_id])
        self._say(f"Asked the agent to stop: {one.title}", is_problem=False)

    async def _choose(
        self, found_in: Callable[[Entry], Sequence[T]], label: Callable[[T], str], question: str, lack: str
    ) -> T | None:
        """The item found in the entry; if there are several, the one that the user chooses.

        Tells the user and returns None if there are none.
        """
        if self._tab.session is None:
            self._say(f"{NO_SESSION}.")
            return None
        said, entry = in_view(self._tab)
        entries = said.entries if entry is None else [entry]
        found = next(filter(None, map(found_in, reversed(entries))), ())
        if not found:
            self._say(f"This entry {lack}." if entry is not None else f"The conversation {lack}.")
        if len(found) <= 1:
            return next(iter(found), None)
        return await self._tab.ask(Picker(question, [PickerRow(each, label(each)) for each in found]))

    @property
    def _cwd(self) -> Path:
        assert self._tab.session is not None
        return self._tab.session.cwd

    def _shown(self, location: tool_calls.Location) -> str:
        return tool_text.shown_location(location, str(self._cwd))

    def _say(self, text: str, *, is_problem: bool = True) -> None:
        self._tab.say(text, severity="warning" if is_problem else "information")


def prompts_in(conversation: Conversation) -> list[EntryId]:
    """The user's prompts, the newest first."""
    entries = enumerate(conversation.entries)
    prompts = [EntryId(at) for at, one in entries if isinstance(one, Message) and one.role == "user"]
    return prompts[::-1]


def code_in(text: str) -> list[tuple[str, str]]:
    """The code blocks, each with its language."""
    tokens = markdown_parser().parse(text) if "```" in text or "~~~" in text else ()
    return [(token.info.strip(), token.content) for token in tokens if token.type == "fence"]


def first_line(text: str) -> str:
    """The first line of a text, safe to show."""
    return make_visible_line(text.strip().partition("\n")[0]) or "(empty)"


class Stoppable(NamedTuple):
    """A tool call, agent's terminal, or subagent that the agent can be asked to stop."""

    title: str
    call_id: tool_calls.ToolCallId | None = None
    terminal_id: tool_calls.TerminalId | None = None
    subagent_id: SessionId | None = None


def stoppable_in(conversation: Conversation) -> dict[Stoppable, Entry]:
    """What can be stopped on its own, with the entry that shows it."""
    found: dict[Stoppable, Entry] = {}
    for call_id in sorted(conversation.unsettled_calls):
        entry = conversation.tool_call(call_id)
        if entry.call.is_cancellable:
            found[Stoppable(make_visible_line(entry.call.shown_title), call_id)] = entry
    for terminal_id, state in conversation.terminals.items():
        shown_by = conversation.terminal_entries.get(terminal_id)
        if state.is_cancellable and not state.has_exited and shown_by is not None:
            title = make_visible_line(state.command or terminal_id)
            found[Stoppable(title, terminal_id=terminal_id)] = conversation.entries[shown_by[-1]]
    for subagent in conversation.subagents.values():
        if subagent.is_cancellable and not subagent.conversation.is_idle:
            found[Stoppable(name_of(subagent), subagent_id=subagent.session_id)] = conversation.entries[subagent.entry]
    return found


def locations_of(entry: Entry) -> Sequence[tool_calls.Location]:
    """Where a tool call works, each place once, followed by other files that it changes."""
    if not isinstance(entry, ToolCallEntry):
        return ()
    call = entry.call
    named = {(one.path, one.line): one for one in call.locations}
    known = {one.path for one in call.locations}
    paths = tool_calls.changed_paths(entry.shown_content)
    changed = {path: tool_calls.Location(path) for path in paths if path not in known}
    return [*named.values(), *changed.values()]


def named_since(conversation: Conversation, entry: EntryId, cwd: Path) -> set[str]:
    """The files below `cwd` that tool calls name from this entry on, except those that only read, or did nothing."""
    paths: set[str] = set()
    for one in conversation.entries[entry:]:
        if isinstance(one, ToolCallEntry) and not (
            one.is_rejected
            or one.call.kind in QUIET_KINDS
            or one.call.status in (tool_calls.FAILED, tool_calls.CANCELLED)
        ):
            paths.update(location.path for location in locations_of(one))
            raw = one.call.raw_input if isinstance(one.call.raw_input, Mapping) else {}
            paths.update(raw[name] for name in tool_text.FILE_NAMES if isinstance(raw.get(name), str))
    full = {os.path.normpath(cwd / path) for path in paths}
    roots = {f"{cwd}/", f"{os.path.realpath(cwd)}/"}
    named = {path.removeprefix(root) for path in full for root in roots if path.startswith(root)}
    subagents = [one.conversation for one in conversation.subagents.values() if one.entry >= entry]
    return named.union(*(named_since(one, EntryId(0), cwd) for one in subagents))


def attached_to(entry: Entry) -> Sequence[Saveable]:
    """The blocks that can be saved as files, if they are from the agent and for the user."""
    saveable = content.Image | content.Audio | content.BlobResource | content.TextResource
    blocks: Iterable[object] = ()
    match entry:
        case Message(role="agent" | "thought", parts=blocks) | Compaction(summary=blocks):
            pass
        case ToolCallEntry(call=call):
            blocks = [item.block for item in call.content if isinstance(item, tool_calls.BlockContent)]
    return [block for block in blocks if isinstance(block, saveable) and content.is_for_user(block)]


MAX_COMMAND_CELLS: Final = 60
"""Of a command in a notice."""


class TerminalsController:
    """The terminals that one tab shows. Run its async methods in a worker."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self._interrupted: tool_calls.TerminalId | None = None
        """The command that Ctrl+C was pressed in last."""

    def stop_own(self) -> bool:
        """Press Ctrl+C in the user's newest command, or end it. False if none runs."""
        session = self._tab.session
        state = session.conversation.own_command if session is not None else None
        if session is not None and state is not None:
            self._stop(session, state)
        return state is not None

    async def take_over(self) -> None:
        """Give the keyboard to a terminal until the user takes it back."""
        if chosen := self._choose():
            panel, (session, state) = self._tab.panel, chosen
            assert panel is not None
            await self._tab.ask(TakeOver(session, state, panel.view.terminal_screens, clock=self._tab.clock))
            panel.post_message(SessionPanel.FactsChanged())  # show what the agent has asked in the meantime

    def stop(self) -> None:
        """Press Ctrl+C in a command, and say so; end it if that was pressed before."""
        if chosen := self._choose():
            session, state = chosen
            if self._stop(session, state):
                said = self._tab.hint("Ctrl+C was pressed; {end_terminal} again ends")
                self._tell(state, said, is_over=lambda: state.has_exited)

    def _stop(self, session: Session, state: TerminalState) -> bool:
        """Whether Ctrl+C was pressed: it's ended if that was so before. What it printed goes with no prompt."""
        self._tab.writing.drop_output(session, state.terminal_id)
        if self._interrupted == state.terminal_id or not session.client_tools.interrupt(state.terminal_id):
            self._tab.run(self._end(session, state))
            return False
        self._interrupted = state.terminal_id
        return True

    async def _end(self, session: Session, state: TerminalState) -> None:
        is_done = await session.client_tools.end_terminal(state.terminal_id)
        self._tell(state, "You have ended" if is_done else "The agent has closed")

    def _choose(self) -> tuple[Session, TerminalState] | None:
        """The running terminal at the cursor; otherwise the newest one, preferring those that wait for input."""
        session = self._tab.session
        if session is None:
            self._tab.say(f"{NO_SESSION}.", severity="warning")
            return None
        known, ids = session.conversation.terminals, list[tool_calls.TerminalId]()
        match in_view(self._tab)[1]:
            case OwnCommand(terminal_id=terminal_id):
                ids = [terminal_id]
            case ToolCallEntry(call=call):
                ids = [item.terminal_id for item in call.content if isinstance(item, tool_calls.TerminalContent)]
        shown = [known[one] for one in ids if one in known]
        running = [state for state in shown or known.values() if state.is_ours and not state.has_exited]
        if not running:
            why = "The command is no longer running." if shown else "No command is running."
            self._tab.say(why, severity="warning")
            return None
        waiting = [state for state in running if state.is_waiting]
        return session, (waiting or running)[-1]

    def _tell(self, state: TerminalState, what: str, is_over: Callable[[], bool] | None = None) -> None:
        command = cut(make_visible_line(state.command or "a terminal"), MAX_COMMAND_CELLS)
        self._tab.say(f"{what}: {command}", is_over=is_over)


def message_text(conversation: Conversation, entry_id: EntryId) -> str:
    """The text of a message; "" for another entry."""
    entry = conversation.entries[entry_id]
    return entry.text if isinstance(entry, Message) else ""
