"""A session screen without an agent: a prepared conversation, a connection that records, a clock that stands still.

It doesn't know how anything should look; tests read that from the rows of `Page.text`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import anyio
from rich.cells import cell_len
from textual._context import visible_screen_stack
from textual.events import Key, MouseDown, MouseUp
from textual.geometry import Region
from textual.notifications import Notification
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentRefused, ClientError
from acp_tui.client.sessions.diff_checks import Comparison
from acp_tui.client.sessions.hub import SessionHub, open_hub
from acp_tui.client.sessions.session import Session
from acp_tui.client.settings.settings import Appearance, Settings
from acp_tui.conversation.content import ContentBlock, Text
from acp_tui.conversation.elicitation import Elicitation, FormValues
from acp_tui.conversation.facts import ConfigOption, PermissionOption, SessionId
from acp_tui.conversation.tool_calls import ToolCallId, ToolCallPatch
from acp_tui.conversation.updates import OptionChanged, SessionUpdate, TurnEnded, TurnFailed
from acp_tui.protocol.failures import read_failure
from acp_tui.protocol.roles import ClientOffer, ElicitationAnswer, Quirks
from acp_tui.rpc import RequestFailed
from acp_tui.ui.app.app import AcpTuiApp
from acp_tui.ui.base.app import BaseApp
from acp_tui.ui.conversation.view import ConversationView
from acp_tui.ui.kit.answer_guard import GUARD_S, REPEAT_S
from acp_tui.ui.kit.dialog import Frame
from acp_tui.ui.kit.notice_lines import ASKING
from acp_tui.ui.kit.themes import DARK
from acp_tui.ui.permission.permission_card import PermissionCard
from acp_tui.ui.prompt.input import PromptInput
from acp_tui.ui.session.panel import SessionPanel
from acp_tui.ui.session.plan_view import PlanView
from acp_tui.ui.tab.screen import SessionScreen
from acp_tui.ui.tab.tab import Opening, Tab
from support.folding import ALLOW, REJECT, question_about
from support.settling import settle, until_so
from support.waiting import TEST_LIMIT_S

CWD: Final = Path("/project")
AGENT: Final = "Agent"
SIZE: Final = (100, 30)
LOADING: Final = re.compile("    │ …[ ▐]*")
"""Shown in place of a terminal until then."""
FRAMES: Final = frozenset("│╭╮╰╯▌▐─")

W = TypeVar("W", bound=Widget)


class Clock:
    """Time that advances only when a test says so."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s

    def pass_guard(self) -> None:
        """From now on, the user's actions count, whichever key it is and however long it may have been held."""
        self.now_s += max(GUARD_S, REPEAT_S) + 0.1


CHARACTERS: Final = {"space": " ", "left_square_bracket": "[", "right_square_bracket": "]", "question_mark": "?"}
"""What the keys with these names write."""


class RecordedConnection:
    """Replaces the connection to an agent: stores what a session sends. The test ends its turns."""

    accepts_prompts = withdraws_questions = is_lost = False
    offer = ClientOffer()

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self.cancels = 0
        self.options: list[tuple[str, str | bool]] = []
        self.refusal: ClientError | None = None
        """The error that answers a request to set an option; None: it is set."""
        self._on_end: Callable[[TurnEnded | TurnFailed], None] | None = None
        self._ended: anyio.Event | None = None
        self._error: RequestFailed | None = None

    async def prompt(
        self,
        session_id: SessionId,
        blocks: Sequence[ContentBlock],
        on_end: Callable[[TurnEnded | TurnFailed], None],
    ) -> None:
        """Run until `end_turn`."""
        self.prompts.append("".join(block.text for block in blocks if isinstance(block, Text)))
        self._on_end, self._ended = on_end, anyio.Event()
        await self._ended.wait()
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def end_turn(self, stop_reason: str = "end_turn") -> None:
        """The agent answers the prompt."""
        assert self._on_end is not None, "no prompt was sent"
        assert self._ended is not None
        self._on_end(TurnEnded(stop_reason))
        self._ended.set()

    def fail_turn(self, message: str, **data: Any) -> None:
        """The agent answers the prompt with an error."""
        assert self._on_end is not None, "no prompt was sent"
        assert self._ended is not None
        self._error = RequestFailed(-32603, message, data)
        self._on_end(read_failure(self._error))
        self._ended.set()

    def cancel(self, session_id: SessionId) -> None:
        """Count it; the turn continues until `end_turn`."""
        self.cancels += 1

    async def set_option(
        self,
        session_id: SessionId,
        option: ConfigOption,
        value: str | bool,
        on_update: Callable[[SessionUpdate], None],
    ) -> None:
        """Set the option, or refuse."""
        if self.refusal is not None:
            raise self.refusal
        self.options.append((option.option_id, value))
        on_update(OptionChanged(option.option_id, value))


class ScreenApp(AcpTuiApp):
    """The app with a screen that waits for a session."""

    def __init__(self, *, theme: str = DARK.name, clock: Clock | None = None) -> None:
        super().__init__(
            SessionHub(),
            AgentCommand(AGENT, ("agent",)),
            CWD,
            settings=Settings(appearance=Appearance(theme, reduced_motion=True)),  # pictures must not move
        )
        self.clock = clock or Clock()

    def get_default_screen(self) -> SessionScreen:
        """One that starts no agent."""
        return Tab(None, clock=self.clock).screen


def new_session(*updates: SessionUpdate, connection: RecordedConnection | None = None) -> Session:
    """An open session in /project that has received these updates."""
    session = Session(SessionId("s"), CWD, cast(Any, connection or RecordedConnection()), Quirks(), _explain)
    session.now = lambda: None  # a picture must not depend on the time of day
    session.client_tools.compare = _no_doubts  # type: ignore[method-assign]
    for update in updates:
        session.apply(update)
    return session


async def _no_doubts(_call: object) -> Comparison:
    """The files that these sessions show don't exist."""
    return Comparison()


async def _explain(error: Any) -> ClientError:
    return AgentRefused(f"{AGENT}: {error}", code=-1)


async def show(pilot: Pilot[Any], session: Session) -> None:
    """Show the session on a ScreenApp's screen, and wait until it is drawn."""
    screen = pilot.app.screen
    assert isinstance(screen, SessionScreen)
    await screen.tab.show(session, AGENT)
    await settled(pilot)


async def settled(pilot: Pilot[Any]) -> None:
    """Wait until the conversation has no frame due, and all messages are handled, laid out, and painted."""
    await settle(pilot, lambda: _is_frame_due(pilot))


def _is_frame_due(pilot: Pilot[Any]) -> bool:
    # What is covered isn't drawn before it is visible again.
    session = pilot.app.screen_stack[0]
    panels = session.query(SessionPanel)
    # A panel that is being created has no conversation yet, and one that is being removed no longer has one.
    return session.is_current and not all(panel.query(ConversationView) and panel.is_settled for panel in panels)


def rows(pilot: Pilot[Any]) -> list[Strip]:
    """The screen as painted, from top to bottom."""
    # As Textual sets it to paint: without what lies below, a dialog is drawn on nothing, and remembers that.
    token = visible_screen_stack.set(pilot.app._background_screens)
    try:
        return pilot.app.screen._compositor.render_strips()
    finally:
        visible_screen_stack.reset(token)


class Shown:
    """How a test acts on any screen and reads it. Its async methods return when the screen has settled."""

    def __init__(self, pilot: Pilot[Any]) -> None:
        self.pilot = pilot

    async def settled(self) -> None:
        """Wait until nothing moves any more."""
        await settled(self.pilot)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a thread's or a process's result."""
        await until_so(self.pilot, condition, lambda: self.text)

    async def press(self, *keys: str) -> None:
        """Press these keys in order: Textual's names, or letters and digits."""
        for key in keys:
            await self.press_at_once(key)

    async def press_at_once(self, *keys: str) -> None:
        """Press these keys faster than they are handled, as over a slow line."""
        for key in keys:
            self.pilot.app.post_message(Key(key, key if len(key) == 1 else CHARACTERS.get(key)))
        await self.settled()

    async def click(self, text: str) -> None:
        """Click the first place that shows this text."""
        column, row = self._place_of(text)
        widget, region = self.pilot.app.screen.get_widget_at(column, row)
        await self.pilot.click(widget, offset=(column - region.x, row - region.y))
        await self.settled()

    def _place_of(self, text: str) -> tuple[int, int]:
        row = next((index for index, line in enumerate(self.lines) if text in line), None)
        assert row is not None, f"{text!r} isn't on the screen:\n{self.text}"
        return cell_len(self.lines[row].partition(text)[0]), row

    @property
    def lines(self) -> list[str]:
        """The rows of the screen."""
        return [strip.text.rstrip() for strip in rows(self.pilot)]

    @property
    def text(self) -> str:
        """The screen."""
        return "\n".join(self.lines)


class Page(Shown):
    """The screen of a session."""

    def __init__(self, pilot: Pilot[Any], session: Session, connection: RecordedConnection, clock: Clock) -> None:
        super().__init__(pilot)
        self.session = session
        self.connection = connection
        self.clock = clock
        self._asked: dict[str, asyncio.Task[str | None]] = {}
        self._elicited: list[asyncio.Future[ElicitationAnswer]] = []

    # What happens

    @property
    def notices(self) -> Sequence[Notification]:
        """The notices shown to the user."""
        return cast("BaseApp", self.pilot.app).notices.shown

    async def emulator_loaded(self) -> None:
        """Wait for the terminal emulator, which a thread loads when the first terminal is shown."""
        await self.until(lambda: not any(LOADING.fullmatch(line) for line in self.lines))
        await self.settled()

    async def apply(self, *updates: SessionUpdate) -> None:
        """The agent sends these updates."""
        for update in updates:
            self.session.apply(update)
        await self.settled()

    async def ask(self, call_id: str, *options: PermissionOption, **reported: Any) -> None:
        """The agent asks for permission for a tool call, by default with options to allow or reject it."""
        patch = ToolCallPatch(ToolCallId(call_id), **reported)
        decision = self.session.request_permission(question_about(patch, options or (ALLOW, REJECT)))
        # No task group: it would wrap a failed assertion in exception groups, which are hard to read.
        self._asked[call_id] = asyncio.ensure_future(decision)
        await self.settled()

    async def elicit(self, elicitation: Elicitation) -> None:
        """The agent asks the user to fill in a form or visit a page."""
        answer = asyncio.ensure_future(self.session.elicit(elicitation))
        self._elicited.append(cast("asyncio.Future[ElicitationAnswer]", answer))
        await self.settled()

    @property
    def answers(self) -> list[tuple[str, FormValues | None]]:
        """The answers to forms and pages so far."""
        done = [asked.result() for asked in self._elicited if asked.done() and not asked.cancelled()]
        return [(answer.action, answer.values) for answer in done]

    async def gets_answer(self) -> tuple[str, FormValues | None]:
        """Wait until the agent has an answer to a form or a page; return the last."""
        await self.until(lambda: bool(self.answers))
        await self.settled()
        return self.answers[-1]

    async def start_over(self) -> None:
        """Withdraw and forget all requests, and empty the draft, for the next case on the same page."""
        self.withdraw()
        await self.settled()
        self._asked.clear()
        self._elicited.clear()
        self.connection.prompts.clear()
        self.prompt.clear()
        self.prompt.focus()
        await self.press("home")

    def withdraw(self) -> None:
        """The agent withdraws all its requests."""
        for answer in self._elicited:
            answer.cancel()
        for decision in self._asked.values():
            decision.cancel()

    @property
    def decisions(self) -> dict[str, str | None]:
        """The answers to permission requests so far, by tool call: an option's ID, or None for canceled."""
        done = {call_id: asked for call_id, asked in self._asked.items() if asked.done() and not asked.cancelled()}
        return {call_id: asked.result() for call_id, asked in done.items()}

    async def end_turn(self, stop_reason: str = "end_turn") -> None:
        """The agent ends the turn."""
        self.connection.end_turn(stop_reason)
        await self.settled()

    # What the user does

    async def press_slowly(self, *keys: str) -> None:
        """Press these keys, each after enough time to count as an answer."""
        for key in keys:
            self.clock.pass_guard()
            await self.press(key)

    async def write(self, text: str) -> None:
        """Type into the prompt."""
        self.prompt.insert(text)
        await self.settled()

    async def send(self, text: str) -> None:
        """Send a prompt."""
        await self.write(text)
        await self.press_slowly("enter")

    async def click_slowly(self, text: str) -> None:
        """Go to the card that asks, and click this as an answer."""
        await self.press_slowly("tab")
        self.clock.pass_guard()
        await self.click(text)

    async def use_mouse(self, kind: type[MouseDown | MouseUp], text: str) -> None:
        """Press or release the mouse at the first place that shows this text."""
        column, row = self._place_of(text)
        self.pilot.app.post_message(
            kind(None, column, row, 0, 0, 1, False, False, False, screen_x=column, screen_y=row)
        )
        await self.settled()

    async def press_until_decided(self, key: str) -> None:
        """Press a key that allows a request, which pages through what wasn't in view yet, until that counts."""
        for _ in range(400):
            self.clock.pass_guard()
            await self.press(key)
            if self.decisions:
                break

    async def enter_card(self) -> None:
        """Go to the permission card, and let the time pass in which keys don't count."""
        await self.press("tab")
        self.clock.pass_guard()

    # What shows

    @property
    def front_lines(self) -> list[str]:
        """The rows of the front dialog, without the dimmed rest; without a dialog, those of the screen."""
        screen = self.pilot.app.screen
        if not screen.is_modal or not screen.query(Frame):
            return self.lines
        region = Region.from_union([each.region for each in (*screen.query(Frame), *screen.query(f".{ASKING}"))])
        strips = rows(self.pilot)[region.y : region.bottom]
        return [strip.crop(region.x, region.right).text.rstrip() for strip in strips]

    @property
    def words(self) -> str:
        """The text of the screen, or of the front dialog, however its lines break."""
        text = "\n".join([*self.front_lines, *self._said_above])
        return " ".join(word for word in text.split() if not set(word) <= FRAMES)

    @property
    def _said_above(self) -> list[str]:
        return [notice.message for notice in self.notices] if self.pilot.app.screen.is_modal else []

    @property
    def status(self) -> str:
        """The status line."""
        return self.lines[-1].strip()

    @property
    def draft(self) -> str:
        """The prompt's text."""
        return self.prompt.text

    @property
    def tab(self) -> Tab:
        """The tab in front."""
        screen = self.pilot.app.screen_stack[0]
        assert isinstance(screen, SessionScreen)
        return screen.tab

    @property
    def prompt(self) -> PromptInput:
        """The prompt."""
        return self._one(PromptInput)

    @property
    def view(self) -> ConversationView:
        """The conversation."""
        return self._one(ConversationView)

    @property
    def card(self) -> PermissionCard:
        """The permission card, which may be hidden."""
        return self._one(PermissionCard)

    @property
    def plan(self) -> PlanView:
        """The plan, which may be hidden."""
        return self._one(PlanView)

    def _one(self, kind: type[W]) -> W:
        return self.pilot.app.screen_stack[0].query_one(kind)


@asynccontextmanager
async def open_page(
    *updates: SessionUpdate,
    size: tuple[int, int] = SIZE,
    theme: str = DARK.name,
    is_shown: bool = True,
    clock: Clock | None = None,
) -> AsyncIterator[Page]:
    """A page with a session that has received these updates, shown or not yet, for at most `TEST_LIMIT_S`."""
    app = ScreenApp(theme=theme, clock=clock)
    connection = RecordedConnection()
    session = new_session(*updates, connection=connection)
    with anyio.fail_after(TEST_LIMIT_S):
        async with app.run_test(size=size, notifications=True) as pilot:
            if is_shown:
                await show(pilot, session)
            page = Page(pilot, session, connection, app.clock)
            yield page
            page.withdraw()


class AgentApp(AcpTuiApp):
    """The real app, except for the clock."""

    clock: Clock

    def get_default_screen(self) -> SessionScreen:
        """One that starts the agent."""
        self.clock = Clock()
        assert self._command is not None
        link = self.link_to(self._command, self._cwd)
        return Tab(link, self._cwd, opening=self.opening, settings=self.settings, clock=self.clock).screen


@asynccontextmanager
async def open_agent_page(
    command: AgentCommand,
    cwd: Path,
    *,
    size: tuple[int, int] = SIZE,
    settings: Settings | None = None,
    opening: Opening | None = None,
) -> AsyncIterator[Page]:
    """A page of the whole app with an agent process; it opens its own session. Runs for at most `TEST_LIMIT_S`."""
    with anyio.fail_after(TEST_LIMIT_S):
        async with open_hub() as hub:
            app = AgentApp(hub, command, cwd, settings=settings)
            app.opening = opening
            async with app.run_test(size=size, notifications=True) as pilot:
                nothing: Any = None
                yield Page(pilot, nothing, nothing, app.clock)
