"""Tabs with agents and without a screen: the app isn't run, nothing is drawn, and the test is the user.

What a controller needs from a screen is `Unseen`, and from Textual's app what `UnseenApp` overrides.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import anyio
import pytest
from textual._context import active_app
from textual.actions import parse
from textual.errors import NoWidget
from textual.message import Message
from textual.notifications import Notification
from textual.screen import Screen
from textual.widget import Widget

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.sessions.session_history import merged
from acp_tui.client.settings.settings import Settings
from acp_tui.conversation.conversation import Change
from acp_tui.conversation.entries import ToolCallEntry
from acp_tui.ui.app.app import AcpTuiApp
from acp_tui.ui.commands.keymap import BY_ID
from acp_tui.ui.dialogs.session_rows import SessionRow, row_of
from acp_tui.ui.kit.pickers import Picker
from acp_tui.ui.kit.question_screen import QuestionScreen
from acp_tui.ui.prompt.input import PromptInput
from acp_tui.ui.tab import tab as tab_module
from acp_tui.ui.tab.queue_lines import QueueSummary
from acp_tui.ui.tab.stage import Stage
from acp_tui.ui.tab.tab import Opening, Tab
from support.agents import settle
from support.desks import AgentSide
from support.frame_log import FrameLog
from support.settling import POLL_S
from support.waiting import TEST_LIMIT_S, until

D = TypeVar("D", bound="Screen[Any]")


class Draft(PromptInput):
    """A prompt that is on no screen, and gives what it says to its tab."""

    def __init__(self, place: Unseen) -> None:
        self._place = place
        super().__init__()

    app = property(lambda self: self._place.app)
    screen = property(lambda self: self._place)

    def post_message(self, message: Message) -> bool:
        if isinstance(message, self.Submitted):
            self._place.tab.writing.submit(message)
        return True


class Unseen:
    """What the controllers of a tab need from its screen."""

    is_current = offers_to_stop = False
    is_attached = True
    ancestors_with_self = ()
    focused = panel = None
    queue = QueueSummary()
    """What waits above the prompt."""

    def __init__(self, tab: Tab) -> None:
        self.tab = tab
        self.app: Any = active_app.get()
        self.prompt = Draft(self)
        self.queue_lines = self
        self._unsubscribe: Callable[[], None] = lambda: None

    async def show_stage(self, stage: Stage) -> None:
        """Come to it, and follow its session."""
        self._unsubscribe()
        self.tab.stage = stage
        if self.tab.session is not None:
            self._unsubscribe = self.tab.session.subscribe(self._note)
        self.tab.note_facts()

    def _note(self, change: Change) -> None:
        if change.facts:
            self.call_later(self.tab.note_facts)

    def check_idle(self) -> None:
        """Do nothing: there is nothing to draw."""

    def show(self, queue: QueueSummary) -> bool:
        """What waits above the prompt from now on."""
        is_new, self.queue = queue != self.queue, queue
        return is_new

    def find_widget(self, widget: Widget) -> Any:
        """None is in any place."""
        raise NoWidget

    def do_nothing(self, *_: object) -> None:
        """Nothing is to be seen."""

    show_status = show_tabs = show_sidebar = refresh_welcome = set_focus = post_message = clear_selection = do_nothing

    def notify(self, message: str, **options: Any) -> None:
        """As the app does."""
        self.app.notify(message, **options)

    def call_later(self, call: Callable[[], None]) -> None:
        """Call it soon."""
        asyncio.get_running_loop().call_soon(call)

    def set_timer(self, wait_s: float, call: Callable[[], None]) -> Any:
        """Call it then, unless that is stopped."""
        timer: Any = lambda: None  # noqa: E731 - it needs an attribute
        timer.stop = asyncio.get_running_loop().call_later(wait_s, call).cancel
        return timer

    def run_worker(self, work: Any, *, group: str = "default", exclusive: bool = False) -> None:
        """Run it for as long as there is the tab."""
        self.app.run_worker(work, group=(self, group), exclusive=exclusive)

    async def run_action(self, action: str) -> None:
        """Run a command, as a slash command names it."""
        _, name, words = parse(action)
        if name == "do":
            await self.tab.actions.do(BY_ID[words[0]], *(words[1:] or ("",)))
        elif (doing := getattr(self.app, f"action_{name}", None)) is not None:
            await doing(*words)
        else:
            getattr(self.app, name)(*words)


class UnseenApp(AcpTuiApp):
    """The app before it is run. What it would ask or tell the user is kept for the test."""

    is_headless = True
    current_mode = ""

    def __init__(self, hub: Any, command: AgentCommand | None, cwd: Path, settings: Settings | None) -> None:
        super().__init__(hub, command, cwd, settings=settings)
        self.told: list[Notification] = []
        """All notices, oldest first."""
        self.asked: list[tuple[Screen[Any], asyncio.Future[Any]]] = []
        """The open dialogs, the one in front at the end."""
        self._tasks: dict[asyncio.Task[Any], Any] = {}
        self._begun: list[Tab] = []

    @property
    def screen_stack(self) -> list[Any]:
        return [tab.screen for tab in self.tabs if tab is self.tabs.front] or [Screen()]

    @property
    def screen(self) -> Any:
        return self.screen_stack[-1]

    def add_mode(self, mode: str, base_screen: Any) -> None:
        """There are no screens to keep."""

    async def switch_mode(self, mode: str) -> None:  # type: ignore[override]
        """Bring a tab to the front. One that wasn't there yet begins."""
        self.current_mode = mode
        front = self.tabs.front
        if front is not None and front not in self._begun:
            self._begun.append(front)
            front.begin()

    async def remove_mode(self, mode: str) -> None:  # type: ignore[override]
        """End what runs for its tab, and keep what is written there, as its screen does."""
        (gone,) = (tab for tab in self._begun if tab.mode == mode)
        self._begun.remove(gone)
        await gone.writing.end()
        self._cancel(lambda group: isinstance(group, tuple) and group[0] is gone.screen)

    def notify(self, message: str, *, title: str = "", severity: Any = "information", **_: Any) -> None:
        self.told.append(Notification(message, title, severity))

    def run_worker(self, work: Any, *, group: Any = "default", exclusive: bool = False, **_: Any) -> Any:
        if exclusive:
            self._cancel(lambda other: other == group)
        task = asyncio.ensure_future(work() if callable(work) else work)
        self._tasks[task] = group
        return task

    def _cancel(self, is_meant: Callable[[Any], bool]) -> None:
        for task, group in self._tasks.items():
            if is_meant(group) and task is not asyncio.current_task():
                task.cancel()

    def check(self) -> None:
        """Raise what work has failed with."""
        for task in [task for task in self._tasks if task.done()]:
            del self._tasks[task]
            if not task.cancelled():
                task.result()

    is_over = False
    """Whether the user has quit."""

    def exit(self, *_: Any) -> None:
        self.is_over = True

    async def end(self) -> None:
        """Stop all work."""
        self._cancel(lambda _: True)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.check()

    async def push_screen_wait(self, dialog: Screen[Any], **_: Any) -> Any:  # type: ignore[override]
        """The answer that the test gives."""
        answer = asyncio.get_running_loop().create_future()
        opened = (dialog, answer)
        self.asked.append(opened)
        try:
            return await answer
        finally:
            self.asked.remove(opened)

    def suspend(self) -> Any:
        return nullcontext()


class TabDesk(AgentSide):
    """The tabs of an app without a screen."""

    def __init__(self, app: UnseenApp, log: FrameLog) -> None:
        self.app = app
        self.log = log

    @property
    def tab(self) -> Tab:
        """The tab in front."""
        front = self.app.tabs.front
        assert front is not None
        return front

    @property
    def tabs(self) -> list[Tab]:
        """The tabs from left to right."""
        return list(self.app.tabs)

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for a thread's or a process's result."""

        async def step() -> None:
            self.app.check()
            await asyncio.sleep(POLL_S)

        await until(condition, step, lambda: self.words)

    async def settled(self) -> None:
        """Let all go on until it waits for something."""
        await settle()
        self.app.check()

    # What the user would see

    @property
    def notices(self) -> Sequence[Notification]:
        """All that were shown."""
        return self.app.told

    @property
    def dialog(self) -> Any:
        """The dialog in front; None without one."""
        return self.app.asked[-1][0] if self.app.asked else None

    @property
    def words(self) -> str:
        """What the session in front says, why no prompt can be sent, and the notices; of a dialog, title and rows."""
        said = self.tab.conversation
        told = [f"{one.title} {one.message}" for one in self.notices]
        shown = [self.tab.writing.why_not, self.tab.phase, *told, *(_texts(said.entries) if said is not None else ())]
        if self.dialog is not None:
            shown += (self.dialog.title, str(getattr(self.dialog, "text", "")))
        if isinstance(self.dialog, QuestionScreen):
            shown += [line.plain for line in self.dialog.lines]
        if isinstance(self.dialog, Picker):
            shown += [f"{row.label} {row.description} {row.is_disabled_reason}" for row in self.dialog.rows.all]
        return " ".join("\n".join(shown).split())

    async def shows(self, *texts: str) -> None:
        """Wait until the user could see all of it."""
        await self.until(lambda: all(text in self.words for text in texts))
        await self.settled()

    async def hides(self, text: str) -> None:
        """Wait until the user could no longer see it."""
        await self.until(lambda: text not in self.words)

    async def has_session(self) -> None:
        """Wait until a prompt can be sent, and the start is over."""
        await self.until(lambda: self.tab.session is not None and not self.tab.writing.why_not and self._has_started)
        await self.settled()

    @property
    def _has_started(self) -> bool:
        return self.tab.changes is not None or not self.tab.link.can_start

    async def restart(self) -> None:
        """Restart the agent, once the start is over."""
        await self.until(lambda: self._has_started)
        await self.do("restart")

    @property
    def queue(self) -> QueueSummary:
        """What waits above the prompt."""
        return self.tab.screen.queue

    @property
    def draft(self) -> str:
        """The prompt's text."""
        return self.tab.prompt.text

    # What the user does

    async def write(self, text: str) -> None:
        """Type into the prompt."""
        self.tab.prompt.insert(text)

    async def send(self, text: str) -> None:
        """Send a prompt."""
        await self.write(text)
        await self.enter()

    async def enter(self, *, is_other_way: bool = False) -> None:
        """Send the draft, even an empty one."""
        self.tab.prompt.action_send(is_other_way=is_other_way)
        await self.settled()

    async def do(self, command: str, words: str = "") -> None:
        """Run a command by its ID."""
        if words:
            await self.tab.actions.do(BY_ID[command], words)
        else:
            await self.tab.screen.run_action(BY_ID[command].action)
        await self.settled()

    def offers(self, command: str) -> bool:
        """Whether the palette offers it now."""
        return BY_ID[command].when(self.tab.actions)

    async def cancel(self) -> None:
        """Cancel what runs, as Esc does in the prompt."""
        self.tab.writing.escape(may_be_for_reason=False)
        await self.settled()

    async def go_to(self, number: int) -> None:
        """Go to a tab, from 1."""
        await self.app.tabs.go_to_number(number)

    async def decide(self, option: str) -> None:
        """Answer the first permission request by the label of an option."""
        await self.until(lambda: self.shown_session.conversation.permissions)
        key, request = next(iter(self.shown_session.conversation.permissions.items()))
        (wanted,) = (one.option_id for one in request.options if one.name == option)
        self.shown_session.answer_permission(key, wanted)
        await self.settled()

    async def asks(self, kind: type[D]) -> D:
        """Wait for a dialog of this kind."""
        await self.until(lambda: isinstance(self.dialog, kind))
        return self.dialog

    async def answer(self, result: Any) -> None:
        """Close the dialog in front with this result."""
        _, answer = self.app.asked[-1]
        answer.set_result(result)
        await self.settled()

    async def choose(self, label: str) -> None:
        """Choose a row of the picker in front by its label, or its beginning."""
        (row,) = (row for row in self.dialog.rows.all if row.label.startswith(label))
        assert not row.is_disabled_reason
        await self.answer(row.value)

    # Sessions, as the sessions dialog has them

    async def rows(self, *, is_everywhere: bool = False) -> list[SessionRow]:
        """Those in tabs, in hosts, and earlier ones."""
        history = self.tab.actions.history
        await history.look_at_tabs()
        hosted = await history.in_hosts()
        page = await history.page(None, is_everywhere)
        recorded = await history.recorded("", is_everywhere)
        past = history.marked(merged(page.sessions, history.command, recorded, history.agent_title))
        earlier = [row_of(one, *history.judge(one)) for one in past if not history.key_in_tabs(one)]
        return [*history.in_tabs(), *hosted, *earlier]

    async def row(self, title: str) -> SessionRow:
        """The one row of this title."""
        (row,) = (row for row in await self.rows() if row.title == title)
        return row

    async def open_row(self, title: str) -> None:
        """Choose it."""
        self.tab.run(self.tab.actions.history.open(await self.row(title)))
        await self.settled()


def _texts(told: Any) -> Iterator[str]:
    """All texts in entries."""
    match told:
        case str():
            yield told
        case ToolCallEntry(call=call):
            yield from (call.shown_title, call.status, *_texts(call.content))
        case tuple() | list():
            for each in told:
                yield from _texts(each)
        case _ if hasattr(told, "text"):
            yield from (told.text, *getattr(told, "notes", ()))
        case _ if is_dataclass(told):
            for each in fields(told):
                yield from _texts(getattr(told, each.name))
        case _ if hasattr(told, "__iter__"):
            yield from _texts(list(told))


OpenTabs: TypeAlias = Callable[..., AbstractAsyncContextManager[TabDesk]]
"""Opens a tab with an agent that runs these pieces of script in order."""


@asynccontextmanager
async def tabs_of(
    command: AgentCommand | None,
    cwd: Path,
    log: FrameLog,
    settings: Settings | None = None,
    opening: Opening | None = None,
) -> AsyncIterator[TabDesk]:
    """A tab of an agent that works in `cwd`, with a time limit. Without a command, the user is asked for an agent."""
    with anyio.fail_after(TEST_LIMIT_S), pytest.MonkeyPatch.context() as patch:
        patch.setattr(tab_module, "SessionScreen", Unseen)
        async with open_hub() as hub:
            app = UnseenApp(hub, command, cwd, settings)
            token = active_app.set(app)
            try:
                if command is None:
                    app.choose_agent()
                else:
                    await app.open_tab(app.link_to(command, cwd), cwd, opening)
                yield TabDesk(app, log)
            finally:
                await app.end()
                active_app.reset(token)
