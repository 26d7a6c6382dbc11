"""One prompt to several agents, each in a worktree of its own, and the comparison of what they did there.

The worktrees themselves, and what happens to them when their tabs close, are `worktrees`' affair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from anyio import move_on_after, to_thread
from textual import on, work
from textual.content import Content
from textual.widgets import Static

from acp_tui.client.agents.catalogue import EntrySource, ListedAgent, read_catalogue
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.worktrees import Worktree, WorktreeFailed, add_worktree, known_worktree, last_commit, origin_of
from acp_tui.conversation.wording import from_home
from acp_tui.ui.changes.follower import FolderChanges
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.dialogs.agents import AIRY_FROM_ROWS, AgentList, Read
from acp_tui.ui.dialogs.trust import agreed_command
from acp_tui.ui.kit.filtered_list import FilteredList
from acp_tui.ui.kit.pickers import ListDialog
from acp_tui.ui.kit.row_list import NumberedRows, PickerRow
from acp_tui.ui.prompt.input import PromptInput
from acp_tui.ui.session.status_line import MARKS, TabState
from acp_tui.ui.tab.sessions import last_line
from acp_tui.ui.tab.stage import Live

if TYPE_CHECKING:
    from acp_tui.ui.base.app import BaseApp
    from acp_tui.ui.tab.tab import Tab

LEAST: Final = 2
MOST: Final = 5
HOW_MANY: Final = f"Choose {LEAST} to {MOST}"
EACH: Final = "Each works in its own git worktree, without your uncommitted changes."
READING_LIMIT_S: Final = 5.0
MAX_SAID: Final = 40
"""Characters of what a bare command says it is, in the name of a worktree."""
RUNNING: Final = "running"
NO_CHANGES: Final = "no changes"
KEYS: Final = (
    "{list_choose} go there · {show_changes} its changes · {comparison_choose} choose this one · {dialog_close} close"
)


class CountedRows(NumberedRows):
    """A list whose rows show how often each one is chosen."""

    mark_cells = 3

    def __init__(self) -> None:
        super().__init__(rows_around=10, rows_around_low=8)
        self.counts: Counter[str] = Counter()
        """By the agents' names."""

    def mark_of(self, index: int) -> str:
        count = self.counts[self.rows[index].value.name]
        return f"{count}× " if count else "   "


class SeveralDialog(ListDialog["list[ListedAgent] | None"]):
    """Returns the chosen agents, each as often as it was chosen."""

    VERTICAL_BREAKPOINTS = AIRY_FROM_ROWS
    PLACE: Final = "several"
    BINDINGS = bindings_of(place=PLACE)

    def __init__(self, current: ListedAgent, read: Read = read_catalogue) -> None:
        """`current` is chosen to begin with."""
        self._agents: Sequence[ListedAgent] = (current,)
        self._read = read
        self._rows = CountedRows()
        self._counts = self._rows.counts
        self._counts[current.name] = 1
        self._list = AgentList(self._rows, has_search=False)
        self._said = Static(EACH, classes="dialog-said", markup=False)
        keys = "{list_choose} start · {choice_choose} one more · {choice_clear} one fewer · {dialog_close} close"
        super().__init__("Send the prompt to several agents", keys, self._list, self._said)

    def on_mount(self) -> None:
        self._show_agents()

    @work(exclusive=True)
    async def _show_agents(self) -> None:
        (current,) = self._agents
        listed = (await to_thread.run_sync(self._read)).agents
        if current.command.is_listed:
            found = (replace(agent, is_recent=True) for agent in listed if agent.name == current.name)
            current = next(found, current)
        others = (agent for agent in listed if not agent.obstacle and agent.name != current.name)
        self._agents = (current, *others)
        self._list.show_agents(self._agents)
        self._say()

    def _say(self) -> None:
        self._rows.refresh()
        self._said.update(f"{EACH}\n{HOW_MANY}: {self._counts.total()} chosen.")

    def action_count(self, step: int) -> None:
        agent = self._list.agent
        if agent is not None and self._counts.total() + step <= MOST:
            self._counts[agent.name] = max(self._counts[agent.name] + step, 0)
        self._say()

    @on(FilteredList.Chosen)
    def _take_agents(self) -> None:
        chosen = [agent for agent in self._agents for _ in range(self._counts[agent.name])]
        if len(chosen) >= LEAST:
            self.dismiss(chosen)
        else:
            told = f"{HOW_MANY}, or one several times. Space chooses the one at the cursor."
            self._said.update(Content.styled(told, "$text-warning"))


class Compared(NamedTuple):
    """A worktree, with the tabs that work there."""

    worktree: Worktree
    tabs: tuple[Tab, ...]

    @property
    def tab(self) -> Tab:
        """The tab to go to: one that needs the user or works, otherwise one that has worked."""
        return max(
            self.tabs,
            key=lambda tab: (tab.state is TabState.NEEDS_YOU, tab.state is TabState.WORKING, tab.actions.was_said),
        )

    @property
    def has_finished(self) -> bool:
        """Whether its agent has worked here, and has stopped."""
        if not isinstance(self.tab.stage, Live):
            return False
        said = self.tab.stage.session.conversation
        return said.is_connected and said.is_idle and not said.is_blank

    def row(self, numbers: str, check: str) -> PickerRow[Compared]:
        """`numbers` are those of its tabs, and `check` is how the user's command ended."""
        tab, panel = self.tab, self.tab.panel
        name, agent = self.worktree.name, ", ".join(dict.fromkeys(tab.marked_agent for tab in self.tabs))
        shown = name if name.lower().startswith(agent.lower()) else f"{agent}: {name}"
        spent = (panel.work.ended, panel.work.cost) if panel is not None and self.has_finished else ()
        asked = panel.body.asked if panel is not None else None
        last = last_line(tab.conversation, asked) if tab.conversation is not None else tab.phase
        return PickerRow(
            self,
            f"{numbers:>2} {MARKS[tab.state][0]} {shown}",
            f"{self.worktree.root}, on branch {self.worktree.branch}",
            aside=tab.changes.summary() or NO_CHANGES if tab.changes is not None else "",
            below=" · ".join(dict.fromkeys(filter(None, (check, *(spent or (tab.state.value,)), last)))),
        )


class CompareDialog(ListDialog["Compared | Tab | None"]):
    """Shows what changed in each worktree, and how a command ends there.

    Returns the one that the user chose, or the tab to go to.
    """

    PLACE: Final = "comparison"
    gives_way_to = ("go_to_tab", "next_needing", "next_tab", "previous_tab")  # it covers only its own tab
    BINDINGS = bindings_of(place=PLACE)

    def __init__(
        self, compared: Sequence[Compared], listeners: list[Callable[[], None]], line: str, ends: dict[Compared, str]
    ) -> None:
        """`line` is the user's command, "" for none, and `ends` how it ended. `listeners` hear of tabs' states."""
        self.compared = compared
        self._listeners = listeners
        self._line = line
        self._unchecked = [one for one in compared if one not in ends] if line else []
        self._ends = ends
        self._list = FilteredList(has_search=False)
        where = from_home(Path(compared[0].worktree.origin))
        super().__init__(f"Worktrees of {where}" + f" · {line}" * bool(line), KEYS, self._list)

    def on_mount(self) -> None:
        self._listeners.append(self._note_state)
        self._note_state()
        # It may come back because a worktree wasn't closed, and that was just said.
        self.call_after_refresh(cast("BaseApp", self.app).notices.follow, self)

    def on_unmount(self) -> None:
        self._listeners.remove(self._note_state)

    def _note_state(self) -> None:
        self._show_rows()
        if RUNNING not in self._ends.values():
            self._check()

    @on(FolderChanges.Changed)
    def _show_rows(self) -> None:
        tabs = list(self.compared[0].tab.app.tabs)
        rows = []
        for one in self.compared:
            if numbers := [str(tabs.index(tab) + 1) for tab in one.tabs if tab in tabs]:
                rows.append(one.row(",".join(numbers), self._ends.get(one, "")))
        self._list.show_rows(rows)

    @work(exclusive=True)
    async def _check(self) -> None:
        """Run the command where the agent has finished, one after the other: two could disturb each other."""
        while (one := next((one for one in self._unchecked if one.has_finished), None)) is not None:
            session = one.tab.session
            assert session is not None
            self._unchecked.remove(one)
            self._ends[one] = RUNNING
            self._show_rows()
            self._ends[one] = await one.tab.writing.run_to_end(session, self._line)
            self._show_rows()

    @on(FilteredList.Chosen)
    def _take_tab(self, message: FilteredList.Chosen) -> None:
        self.dismiss(message.row.value.tab)

    def action_review(self) -> None:
        """Show what has changed in the worktree."""
        if self._list.row is not None:
            tab = self._list.row.value.tab
            tab.actions.show_changes(tab.lead)

    def action_choose(self) -> None:
        if self._list.row is not None:
            self.dismiss(self._list.row.value)


class SeveralController:
    """Starts several agents with one prompt, and compares their worktrees. Use it in a worker."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab

    async def begin(self, prompt: str = "") -> None:
        """Send the prompt, or the draft, to several agents, each in a new worktree and a new tab."""
        tab, box, written = self._tab, self._tab.prompt, self._tab.writing.slash_command
        told = prompt or box.draft.strip()
        if not told:
            tab.say("Write what the agents should do: /several PROMPT.")
            return
        try:
            started = await self._start(PromptInput.Submitted(told, images=box.images))
        except WorktreeFailed as error:
            tab.say_error(error)
            started = ()
        if started:
            if not prompt and box.draft.strip() == told:
                tab.writing.drop_draft()
            else:
                tab.writing.remember(told)
            if box.is_blank and box.screen.is_current:
                await self.compare(among=started)
            else:  # keys that are pressed now are meant for something else
                tab.say(f"{len(started)} agents work on it, each in its worktree. /compare shows them.")
        elif prompt:
            box.put_before(written)

    async def _start(self, prompt: PromptInput.Submitted) -> Sequence[Tab]:
        """Start the agents that the user chooses, and return their tabs, which stay behind. Raises: WorktreeFailed."""
        if self._tab.agent.agent_or_say() is None:
            return ()
        base = await last_commit(self._tab.cwd)
        commands = await self._chosen()
        made = [await add_worktree(self._tab.cwd, name, base) for name, _ in commands]
        started = []
        for worktree, (_, command) in zip(made, commands, strict=True):
            with move_on_after(READING_LIMIT_S):  # what the agent changes is known exactly only if its files were read
                await self._tab.app.changes_in(Path(worktree.folder)).ready()
            front = self._tab.app.tabs.front
            other = await self._tab.actions.worktrees.open(worktree, command)
            if front is not None:
                await self._tab.app.tabs.go_to(front)
            started.append(other)
            other.writing.submit(prompt)
        return started

    async def _chosen(self) -> Sequence[tuple[str, AgentCommand | None]]:
        """The names and the commands that the user chooses and agrees to; None for the tab's own agent."""
        tab = self._tab
        assert tab.link.command is not None
        current = ListedAgent(tab.link.command, EntrySource.USER, tab.agent_name, is_recent=True)
        commands: dict[str, AgentCommand | None] = {current.name: None}
        chosen = await tab.ask(SeveralDialog(current)) or ()
        for agent in chosen:
            if agent.name not in commands:
                ready = await agreed_command(tab.app, await to_thread.run_sync(agent.ready))
                if ready is None:
                    return ()
                commands[agent.name] = ready
        return [(self._worktree_name(agent), commands[agent.name]) for agent in chosen]

    @staticmethod
    def _worktree_name(agent: ListedAgent) -> str:
        """The name of the agent, or for a bare command, what it says it is, if a folder can have that name."""
        said = "" if agent.command.is_listed else agent.title[:MAX_SAID]
        return said if any(char.isascii() and char.isalnum() for char in said) else agent.name

    async def compare(self, line: str = "", among: Sequence[Tab] = (), ends: dict[Compared, str] | None = None) -> None:
        """Compare the worktrees of the tab's repository that have tabs, and run a command of the user's in each.

        With `among`, only the worktrees of these tabs are compared. `ends` is how the command ended before.
        """
        tab = self._tab
        compared = await to_thread.run_sync(_in_worktrees, list(among or tab.app.tabs))
        here = await to_thread.run_sync(origin_of, tab.cwd)
        compared = [one for one in compared if here.is_relative_to(one.worktree.origin)]
        if not compared:
            tab.say("No tab works in a worktree of this repository. /several PROMPT starts some.")
            return
        ends = {one: end for one, end in (ends or {}).items() if end != RUNNING}
        chosen = await tab.ask(CompareDialog(compared, tab.app.tabs.listeners, line, ends))
        if isinstance(chosen, Compared):
            tab.app.run_worker(self._close(chosen, compared, line, among, ends))  # whichever of the tabs is closed
        elif chosen is not None and chosen in tab.app.tabs:
            await tab.app.tabs.go_to(chosen)
            chosen.screen.focus_card()

    async def _close(self, chosen: Compared, compared: Sequence[Compared], *again: Any) -> None:
        """Close the tabs, then go back, or to the one that is kept. If another is to stay, compare `again`."""
        app, stays = self._tab.app, False
        for one in sorted(compared, key=lambda one: one is not chosen):
            tab, *more = (tab for tab in one.tabs if tab in app.tabs)
            await app.close_tab(tab, more, is_chosen=one is chosen)
            if stays := tab in app.tabs and not tab.actions.worktrees.is_kept:
                break
        if not stays and chosen.tab in app.tabs:
            await app.tabs.go_to(chosen.tab)
        elif self._tab in app.tabs:
            await app.tabs.go_to(self._tab)
            if stays:
                self._tab.run(self.compare(*again))


def _in_worktrees(tabs: Iterable[Tab]) -> list[Compared]:
    """The worktrees in the order of their first tabs. Blocks."""
    found: dict[Worktree, list[Tab]] = {}
    for tab in tabs:
        if (worktree := known_worktree(tab.cwd)) is not None:
            found.setdefault(worktree, []).append(tab)
    return [Compared(worktree, tuple(there)) for worktree, there in found.items()]
