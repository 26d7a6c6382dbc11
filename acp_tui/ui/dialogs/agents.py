"""The dialogs to choose an agent, with what each one runs or is missing, and to install it. They start none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, ClassVar, Final, Generic, NamedTuple, TypeAlias, TypeVar

from anyio import to_thread
from textual import on, work
from textual.app import App
from textual.binding import BindingType
from textual.content import Content
from textual.events import Key, Resize
from textual.message import Message
from textual.widgets import Input, Static
from textual.worker import Worker, WorkerState

from acp_tui.client.agents.catalogue import Catalogue, ListedAgent, read_catalogue
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.installed import Installable, terms_of
from acp_tui.client.agents.installing import InstallFailed, Tell, install, look_up
from acp_tui.client.agents.registry import RegistryUnavailable, registry_file, update_registry
from acp_tui.client.desktop import UNANSWERED_S
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.commands.command import Place
from acp_tui.ui.commands.keys import ask_again, keys_in_force
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.dialogs.trust import agreed_command
from acp_tui.ui.kit.desktop import copy
from acp_tui.ui.kit.dialog import Dialog, shown, shown_line
from acp_tui.ui.kit.filtered_list import FilteredList
from acp_tui.ui.kit.question_screen import QuestionScreen
from acp_tui.ui.kit.row_list import GAP, NumberedRows, PickerRow, aligned
from acp_tui.ui.rendering.wrapping import SEPARATOR, cut

MAX_NAME_CELLS: Final = 20
MAX_TITLE_CELLS: Final = 20
MAX_WAY_CELLS: Final = 34
TITLES_FROM_COLUMNS: Final = 80
MAX_ABOUT_LINES: Final = 5
WORKTREE_FROM_ROWS: Final = 20
AIRY_FROM_ROWS: Final = [(0, "-low"), (30, "-high")]
"""The rows of a screen from which a dialog with agents has blank lines."""


class SearchLine(Input):
    """Tells a digit from 1 to 9 instead of writing it, until something is typed."""

    class Number(Message):
        """The user typed a digit in the empty line."""

        def __init__(self, key: Key) -> None:
            super().__init__()
            self.key = key

    def on_key(self, event: Key) -> None:
        """Decide here, in the order of the keys: a binding is checked before the line has the letters before it."""
        if not self.value and event.key in {*"123456789"}:
            event.stop()
            event.prevent_default()
            self.post_message(self.Number(event))


class AgentList(FilteredList):
    """The list of agents. Those that can't run are last, and can be chosen only if acp-tui can install them."""

    make_search = SearchLine
    groups_keep_order = True  # what is ready comes before what would have to be installed

    def __init__(self, rows: NumberedRows | None = None, *, has_search: bool = True) -> None:
        super().__init__(has_search=has_search, empty="Looking for agents …")
        self._about_lines = MAX_ABOUT_LINES
        self._list: NumberedRows = rows or NumberedRows(rows_around=13, rows_around_low=8)

    @property
    def agent(self) -> ListedAgent | None:
        return None if self.row is None else self.row.value

    @property
    def is_narrowed(self) -> bool:
        return self.is_mounted and bool(self._search.value)

    def show_agents(self, agents: Sequence[ListedAgent]) -> None:
        names = _column([_name(agent) for agent in agents], MAX_NAME_CELLS)
        # On a narrow screen, a title is only told of the agent at the cursor.
        has_titles = self.app.size.width >= TITLES_FROM_COLUMNS
        titles = _column([agent.shown_title if has_titles else "" for agent in agents], MAX_TITLE_CELLS)
        ways = _column([_how(agent) for agent in agents], MAX_WAY_CELLS)
        rows = (_row(agent, *cells) for agent, *cells in zip(agents, names, titles, ways, strict=True))
        self.show_rows(rows)

    def _show(self, rows: Sequence[PickerRow[ListedAgent]], cursor: int) -> None:
        self._list.are_numbered = not self.is_narrowed  # in a search, digits are part of it
        super()._show(rows, cursor)

    def why_not(self, row: PickerRow[ListedAgent]) -> str:
        agent = row.value
        remedy = f". To install it: {agent.remedy}" if agent.remedy else ""
        return f"{_name(agent)} can't run here: {agent.obstacle}{remedy}" if row.is_disabled_reason else ""

    def choose(self, index: int) -> None:
        """Choose this row, as if the user had moved to it and pressed Enter."""
        if index < len(self._list.rows):
            self._list.move_to(index)
            self._show_about()
            self.action_choose()

    def _fit_about(self) -> None:
        """Have the rows first: what is told of one gets the lines that are left."""
        left = self._list.room + 1 - self._list.lines
        self._about_lines = max(1, min(left, MAX_ABOUT_LINES))
        self._about.styles.height = self._about_lines
        self._about.styles.margin = (int(left > MAX_ABOUT_LINES), 0, 0, 0)

    def _show_about(self) -> None:
        super()._show_about()
        if self.agent is not None:
            head, *more = _about(self.agent)
            self._about.update(Content("\n").join([head, *more] if self._about_lines > 1 else more))


def _column(texts: Sequence[str], most_cells: int) -> list[str]:
    return aligned([cut(make_visible_line(text), most_cells) for text in texts])


def _row(agent: ListedAgent, name: str, title: str, way: str) -> PickerRow[ListedAgent]:
    """`name`, `title`, and `way` are already aligned in columns."""
    return PickerRow(
        agent,
        f"{name}{GAP}{title}" if title else name,
        agent.description,
        _group(agent),
        is_disabled_reason="" if agent.offer else agent.obstacle,
        aside=way,
    )


def _name(agent: ListedAgent) -> str:
    """The user's name for it, or what a bare command says it is."""
    return agent.name if agent.command.is_listed else agent.title


GROUPS: Final = ("Used last", "Ready", "Ready once you agree", "Can be installed", "Can't run here")
RECENT, READY, ONCE_AGREED, TO_INSTALL, NOT_HERE = GROUPS


def _group(agent: ListedAgent) -> str:
    if agent.obstacle:
        return TO_INSTALL if agent.offer else NOT_HERE
    if agent.is_recent:
        return RECENT
    return READY if agent.command.package is None else ONCE_AGREED


def _how(agent: ListedAgent) -> str:
    """What its group doesn't say of how the agent is started or installed, or why it can't be."""
    command, package = agent.command, agent.command.package
    if agent.obstacle:
        return f"with {agent.offer.tool or 'acp-tui'}" if agent.offer else agent.obstacle
    if agent.installed is not None:
        return agent.version
    if command.address is not None:
        return "at an address"
    if package is None:
        return "runs elsewhere" if command.is_elsewhere else ""
    return f"{package.runner} {package.version}" if package.runner else "program"


def _about(agent: ListedAgent) -> Sequence[Content]:
    """All about the agent, the most important first: there may be no room for the rest."""
    head = f"{agent.title} {agent.version}".strip()
    where = f" ({agent.source.shown})" if agent.command.is_listed else ""
    lines = [Content.assemble(shown_line(head, "bold"), where)]
    if agent.obstacle:
        what, style = ("Not installed", "") if agent.offer else ("Can't run here", "$text-warning")
        lines.append(shown_line(f"{what}: {agent.obstacle}", style))
        if agent.advice:
            lines.append(shown_line(f"To install it: {agent.advice}"))
    if agent.description:
        lines.append(shown_line(agent.description))
    if agent.command.place_note:
        lines.append(shown_line(f"It {agent.command.place_note}", "$text-warning"))
    if agent.command.argv:
        env = (
            agent.command.env.items() if agent.command.package is not None else ()
        )  # the registry's, which isn't secret
        typed = " ".join([*(f"{name}={value}" for name, value in env), agent.command.line])
        lines.append(shown_line(typed if agent.command.address else f"$ {typed}", "$foreground-muted"))
    return lines


Read: TypeAlias = Callable[[], Catalogue]
"""Returns the agents. It blocks."""
Update: TypeAlias = Callable[[], object]
"""Fetches the registry. It blocks. Raises RegistryUnavailable."""


WHERE: Final = {True: "in a new worktree", False: "in this folder"}


class AgentChoice(NamedTuple):
    """What the user wants to start."""

    command: AgentCommand
    is_in_worktree: bool = False


START: Final = "Start an agent"
RESUME: Final = "Earlier sessions: acp-tui --resume, or F3 once an agent runs"
NOT_SHOWN: Final = "Ignored: the list was shown only after you pressed the key. Press it again."


async def choose_agent(
    app: App[Any], title: str = START, *, last: str = "", here: Sequence[ListedAgent] = (), is_first: bool = False
) -> AgentChoice | None:
    """Let the user choose an agent, and agree to what it runs or installs if necessary; None if they don't.

    Await it in a worker. The command is ready to start. The agent named `last` is the last of those like it; those that
    run `here` by a command line are the first. If there is no tab yet (`is_first`), who has used one is told how to
    continue a session.
    """
    is_in_worktree, chosen = False, None
    while True:
        screen = AgentsScreen(
            title=title, is_in_worktree=is_in_worktree, last=last, here=here, is_first=is_first, at=chosen
        )
        chosen = await app.push_screen_wait(screen)
        if chosen is None:
            return None
        is_in_worktree = screen.is_in_worktree
        if chosen.obstacle and chosen.offer is not None:
            agreed = await installed_command(app, chosen.offer)
        else:
            agreed = await agreed_command(app, await to_thread.run_sync(chosen.ready))
        if agreed is not None:
            return AgentChoice(agreed, is_in_worktree)


class AgentsScreen(Dialog[ListedAgent | None]):
    """Returns the chosen agent, which can run or be installed; None if none was chosen."""

    VERTICAL_BREAKPOINTS = AIRY_FROM_ROWS
    PLACE: ClassVar[Place] = "agents"
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(place=PLACE)

    class Shown(Message):
        """The terminal has shown the agents."""

    def __init__(
        self,
        read: Read = read_catalogue,
        update: Update = lambda: update_registry(registry_file()),
        *,
        title: str = START,
        is_in_worktree: bool = False,
        last: str = "",
        here: Sequence[ListedAgent] = (),
        is_first: bool = False,
        at: ListedAgent | None = None,
    ) -> None:
        """The cursor begins `at` this one, if it's there."""
        self._here = here
        self._at = at
        self._last = last
        self._is_first = is_first
        self.is_in_worktree = is_in_worktree
        self._read = read
        self._update = update
        self._list = AgentList()
        self._worktree_line = Static(classes="dialog-said dialog-worktree", markup=False)
        self._said = Static(classes="dialog-said", markup=False)
        super().__init__(title, self._keys, self._list, self._worktree_line, self._said)

    def on_mount(self) -> None:
        self._show_catalogue()

    def action_switch_worktree(self) -> None:
        self.is_in_worktree = not self.is_in_worktree
        self._show_worktree()

    @on(Resize)
    def _show_worktree(self) -> None:
        where = "in a new git worktree of this folder" if self.is_in_worktree else "in this folder"
        told = f"It works {where} · {{agents_worktree}}: {WHERE[not self.is_in_worktree]}"
        self._worktree_line.update(keys_in_force(self).hint(told))
        self._worktree_line.display = self.is_in_worktree or self.app.size.height >= WORKTREE_FROM_ROWS

    @work(exclusive=True)
    async def _show_catalogue(self) -> None:
        catalogue = await to_thread.run_sync(self._read)
        listed = [*self._here, *catalogue.agents]
        left = [replace(agent, is_recent=False) for agent in listed if agent.command.name == self._last]
        others = [agent for agent in listed if agent.command.name != self._last]
        self._list.show_agents(sorted((*others, *left), key=lambda agent: GROUPS.index(_group(agent))))
        self._list.go_to(self._at)
        self._at = None
        self.opened.arm()
        self.opened.when_shown(self.Shown, self._tell_shown, is_known=True)
        self.set_timer(UNANSWERED_S, self._tell_shown)  # a terminal may answer nothing
        has_room = self.app.size.height >= WORKTREE_FROM_ROWS
        has_used_one = self._is_first and any(agent.is_recent for agent in catalogue.agents)
        told = [Content(RESUME)] if has_used_one and has_room else []
        self._say(Content("\n").join((*told, *filter(None, [_said_of(catalogue)]))))

    def _tell_shown(self, at_s: float = 0) -> None:
        self.post_message(self.Shown())

    @work(exclusive=True)
    async def action_update(self) -> None:
        self._say("Fetching the agent registry …")
        try:
            # A thread can't be canceled, but closing the screen shouldn't wait for it.
            await to_thread.run_sync(self._update, abandon_on_cancel=True)
        except RegistryUnavailable as error:
            self._say(shown("; ".join(filter(None, (str(error), error.hint))), "$text-error"))
        else:
            self._show_catalogue()

    def _say(self, text: Content | str) -> None:
        self._said.update(text)
        self._said.display = bool(text)

    @work
    async def action_copy(self) -> None:
        """Copy the command to install the agent; the command to start it, if it can run."""
        agent = self._list.agent
        text = "" if agent is None else agent.advice if agent.obstacle else agent.command.line
        if text:
            await copy(self, text)

    def action_number(self, number: int) -> None:
        self._list.choose(number - 1)

    @on(SearchLine.Number)
    def _choose_by_number(self, event: SearchLine.Number) -> None:
        if self.opened.was_shown_before(event.key):
            self.action_number(int(event.key.key))
        else:
            ask_again(self, NOT_SHOWN)

    @property
    def _keys(self) -> str:
        agent = self._list.agent
        start = "{list_choose} starts" if self._list.is_narrowed else "{list_choose} or 1-9 start"
        if agent is not None and agent.obstacle:
            start = "{list_choose} asks to install it" if agent.offer else ""
        copied = "{agents_copy} copy" if agent is not None else ""
        return SEPARATOR.join(filter(None, (start, "{reload} fetch the registry", copied, "{dialog_close} close")))

    @on(FilteredList.Moved)
    def _show_keys_of_row(self) -> None:
        """Update the keys shown: they depend on the agent, and in a search, digits are part of it."""
        self.frame.foot.keys = self._keys

    @on(FilteredList.Chosen)
    def _take_agent(self, message: FilteredList.Chosen) -> None:
        self.dismiss(message.row.value)


def _said_of(catalogue: Catalogue) -> Content:
    """Problems in the user's file, which matter more than the age of the registry."""
    if len(catalogue.notes) > 1:
        count = len(catalogue.notes)
        return Content.styled(f"{count} problems in agents.toml; to list them: acp-tui agents", "$text-warning")
    if catalogue.notes:
        return shown(catalogue.notes[0], "$text-warning")
    if catalogue.fetched_at is None:
        return Content()
    return Content(f"Includes the agent registry of {datetime.fromtimestamp(catalogue.fetched_at):%Y-%m-%d %H:%M}")


R = TypeVar("R")


async def installed_command(app: App[Any], offer: Installable) -> AgentCommand | None:
    """The command of the agent, once it's installed; None if the user doesn't agree, or it failed, as they have read.

    Await it in a worker.
    """
    name = offer.name
    found = await app.push_screen_wait(StepDialog(f"Looking up {name} …", lambda _: look_up(offer)))
    if found is None or not await app.push_screen_wait(InstallQuestion(found)):
        return None
    made = await app.push_screen_wait(StepDialog(f"Installing {name} {found.version} …", partial(install, found)))
    return None if made is None else made.command


class InstallQuestion(QuestionScreen):
    """Returns True if the user agrees to install the agent."""

    def __init__(self, offer: Installable) -> None:
        """Shows all that is downloaded and run."""
        about, line, checked, *rest = terms_of(offer)
        checked_style = "$text-warning" if checked.startswith("⚠") else ""
        told = [shown_line(about), Content(), shown_line(line, "bold"), Content()]
        told += [shown_line(checked, checked_style), *map(shown_line, rest)]
        super().__init__(Content.assemble("Install ", shown_line(offer.name), "?"), told, yes="Yes, install it")


class StepDialog(Dialog[R | None], Generic[R]):
    """Shows how a step of an installation goes. Returns its result; None if it failed, or the user has canceled it."""

    def __init__(self, title: str, step: Callable[[Tell], Awaitable[R]]) -> None:
        self._step = step
        self._said = Static(classes="dialog-said", markup=False)
        super().__init__(title, "{dialog_close} cancel", self._said)

    def on_mount(self) -> None:
        self._working = self._work()

    @work(exit_on_error=False)
    async def _work(self) -> None:
        try:
            result = await self._step(lambda text: self._said.update(shown_line(text)))
        except InstallFailed as error:
            self._said.update(shown("\n".join(filter(None, (str(error), error.hint))), "$text-error"))
            self.frame.foot.keys = "{dialog_close} back"
        else:
            self.dismiss(result)

    def action_close(self) -> None:
        """Close it once nothing is left of a step that goes on."""
        if self._working.is_finished:
            self.dismiss(None)
        else:
            self._said.update("Canceling …")
            self._working.cancel()

    @on(Worker.StateChanged)
    def _leave_if_cancelled(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.CANCELLED:
            self.dismiss(None)
