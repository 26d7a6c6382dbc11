"""Whatever the order in which widgets mount, get focus, are resized, and go: nothing breaks, and the screen shows the
session's state.

Each order has a seed, which its failure names: `ACP_TUI_ORDER=life:number` runs that life of the app alone.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import random
import selectors
import sys
import time
import traceback
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import count
from pathlib import Path
from pkgutil import walk_packages
from tempfile import TemporaryDirectory
from types import FunctionType, SimpleNamespace
from typing import Any, Final, cast
from zlib import crc32

import pytest
from anyio import to_thread
from textual.dom import DOMNode
from textual.events import Compose, Key, Mount, Resize, Unmount
from textual.events import Resize as Resized
from textual.geometry import Size
from textual.message_pump import MessagePump
from textual.messages import Prune
from textual.pilot import Pilot
from textual.widget import Widget

import acp_tui
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.sessions.hub import SessionHub
from acp_tui.client.sessions.session import Session
from acp_tui.client.settings.settings import Appearance, Settings
from acp_tui.client.transcript.frame_log import FrameLog
from acp_tui.conversation.elicitation import BooleanField, Form, TextField, UrlVisit
from acp_tui.conversation.facts import OfferedCommand, PlanStep, RequestKey, SessionId
from acp_tui.conversation.tool_calls import ToolCallId, ToolCallPatch
from acp_tui.conversation.updates import (
    CommandsReplaced,
    Disconnected,
    InfoChanged,
    NoticeShown,
    PlanReplaced,
    SubagentReported,
    SubagentSaid,
    TerminalExited,
    TerminalOpened,
    TerminalOutput,
    ToolCallReported,
    TurnEnded,
)
from acp_tui.protocol.roles import AgentCapabilities
from acp_tui.ui.app.app import AcpTuiApp
from acp_tui.ui.kit.dialog import Dialog
from acp_tui.ui.kit.themes import DARK
from acp_tui.ui.permission.form_card import FormCard
from acp_tui.ui.session.panel import SessionPanel
from acp_tui.ui.tab.agent_link import AgentLink
from acp_tui.ui.tab.screen import SessionScreen
from acp_tui.ui.tab.tab import Tab
from support.folding import ALLOW, REJECT, agent, prompt, question_about, thought
from support.screens import RecordedConnection, new_session, rows
from support.settling import is_waiting, wants_painting

MAX_ROUNDS: Final = 60_000
"""Of the loop, for one order. The longest take a tenth of it."""
LATE: Final = (Compose, Mount, Resize, Unmount, Prune)
"""What begins, ends, or places a widget is delayed longest."""
CLOCKS: Final = (time.monotonic, time.perf_counter, time.time)


class Frozen(AssertionError):
    """Nothing will ever happen, or something happens forever."""


class _Selector(selectors.DefaultSelector):  # type: ignore[misc, valid-type]  # which class it is depends on the system
    """Lets the loop's time pass instead of waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 1000.0
        self.rounds = 0
        self.give_up: Callable[[str], object] = _raise_frozen
        """Called with the reason when it is frozen."""

    def select(self, timeout: float | None = None) -> Any:
        """Never wait for longer than it takes to look."""
        self.rounds += 1
        found = super().select(0)
        if self.rounds > MAX_ROUNDS:
            self._end(f"it doesn't come to rest in {MAX_ROUNDS:,} rounds")
        elif not found and timeout is None:
            self._end("every task waits for another")
        elif not found and timeout is not None:
            self.now_s += max(timeout, 0)
        return found

    def _end(self, reason: str) -> None:
        self.rounds, give_up, self.give_up = 0, self.give_up, _raise_frozen
        give_up(reason)


def _raise_frozen(reason: str) -> None:
    raise Frozen(reason)


class OwnTimeLoop(asyncio.SelectorEventLoop):
    """A loop without threads: their work is done in the loop, a little later.

    Its time passes only when nothing can be done, so waits take none, and an order depends on nothing but its seed.
    What waits for nothing is reported as a freeze, and so is what never comes to rest.
    """

    def __init__(self) -> None:
        self._own = _Selector()
        super().__init__(self._own)
        self.late_s: Callable[[], float] = float
        """How long the next work of a thread takes."""

    def time(self) -> float:
        """Seconds since some moment."""
        return self._own.now_s

    def begin(self, task: asyncio.Task[Any]) -> None:
        """An order begins in this task, which is canceled if nothing happens anymore, or too much."""
        self._own.rounds, self._own.give_up = 0, lambda reason: self.call_soon(task.cancel, reason)

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:
        """Do it here."""
        done = self.create_future()

        def do() -> None:
            if done.cancelled():
                return
            try:
                done.set_result(func(*args))
            except Exception as error:  # noqa: BLE001 - raised to who awaits it
                done.set_exception(error)

        self.call_later(self.late_s(), do)
        return done


class Scheduler:
    """Delays every message of every widget by a seeded number of rounds, and some by a while."""

    def __init__(self, loop: OwnTimeLoop) -> None:
        self._loop = loop
        self._chance = random.Random(0)
        self._slow: dict[type, bool] = {}
        self.mark = 0
        """Tells whether two lives were the same to the last message: who got it, and when."""
        loop.late_s = lambda: self._chance.choice((0.0, 0.001, 0.02))

    def begin(self, seed: str) -> random.Random:
        """Begin the order with this seed; the result decides what else is random in it."""
        self._chance, self._slow = random.Random(seed), {}
        task = asyncio.current_task()
        assert task is not None
        self._loop.begin(task)
        return self._chance

    async def delay(self, of: object, *, is_late: bool) -> None:
        """Let others go first."""
        chance, kind = self._chance, type(of)
        self.mark = crc32(f"{kind.__name__} {self._loop.time()}".encode(), self.mark)
        if kind not in self._slow:
            self._slow[kind] = chance.random() < 0.2
        most = 24 if is_late else 4
        rounds = chance.randrange(most * 3) if self._slow[kind] else chance.choice((0, 0, 0, 1, most))
        for _ in range(rounds):
            await asyncio.sleep(0)
        if chance.random() < 0.01:
            await asyncio.sleep(chance.choice((0.005, 0.05, 0.3)))

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Schedule every pump in this context."""
        dispatch, leave, loop = MessagePump._dispatch_message, Widget._message_loop_exit, self._loop

        async def dispatch_late(pump: MessagePump, message: Any) -> None:
            await self.delay(pump, is_late=isinstance(message, LATE))
            await dispatch(pump, message)

        async def leave_late(widget: Widget) -> None:
            await self.delay(widget, is_late=True)
            await leave(widget)

        async def run_sync(work: Any, *args: Any, **_: Any) -> Any:
            await asyncio.sleep(loop.late_s())
            return work(*args)

        def number_of(node: DOMNode) -> int:
            return int(node.__dict__.setdefault("_number", next(numbers)))

        def own(value: Any) -> Any:
            return loop.time if value in CLOCKS else value

        numbers = count()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(DOMNode, "__hash__", number_of)  # by which sets of widgets are in order
            patch.setattr(MessagePump, "_dispatch_message", dispatch_late)
            patch.setattr(Widget, "_message_loop_exit", leave_late)
            patch.setattr(to_thread, "run_sync", run_sync)
            for owner, name in _clocks():
                patch.setattr(owner, name, loop.time)
            for method in _methods():
                if any(value in CLOCKS for value in method.__defaults__ or ()):
                    patch.setattr(method, "__defaults__", tuple(map(own, method.__defaults__ or ())))
                for name, value in (method.__kwdefaults__ or {}).items():
                    patch.setitem(method.__kwdefaults__, name, own(value))
            yield


def _clocks() -> Iterator[tuple[object, str]]:
    """Wherever a widget may read the time, also under a name that it imported: what shows for five seconds would go
    in another round each time."""
    for found in walk_packages(acp_tui.__path__, "acp_tui."):  # what is loaded only in an order would keep its clock
        if not found.name.endswith("__main__"):
            import_module(found.name)
    yield from ((time, clock.__name__) for clock in CLOCKS)
    for module in [*sys.modules.values()]:
        if module.__name__.startswith(("textual.", "acp_tui.")):
            yield from ((module, name) for name, value in vars(module).items() if value in CLOCKS)
    yield Dialog, "clock"


def _methods() -> Iterator[FunctionType]:
    """Those of our classes, which may take a clock and have a real one if they get none."""
    for module in [*sys.modules.values()]:
        for kind in vars(module).values() if module.__name__.startswith("acp_tui.") else ():
            if isinstance(kind, type):
                yield from (each for each in vars(kind).values() if isinstance(each, FunctionType))


ORDERS: Final = int(os.environ.get("ACP_TUI_ORDERS", "20"))
"""How many orders to try."""
ONLY: Final = os.environ.get("ACP_TUI_ORDER", "")
"""The life of the app to repeat, and the order to stop after: "3:17"."""
LIFE: Final = 20
"""Orders in one life of the app, whose last is that the user quits in the middle of everything."""
SIZES: Final = ((80, 24), (160, 40), (40, 10), (100, 30), (24, 6), (120, 50))
KEYS: Final = (
    *"ynaw1fr0xsj?/@! ",
    *("tab", "shift+tab", "escape", "enter", "up", "down", "pageup", "pagedown", "end", "backspace"),
    *("ctrl+t", "ctrl+o", "alt+s", "alt+n", "ctrl+pagedown", "alt+1", "alt+2", "ctrl+c", "ctrl+end", "ctrl+up"),
    *("f1", "f2", "f3", "f4", "f5", "f6", "f9", "f12", "ctrl+p", "ctrl+r", "alt+i", "alt+w"),
)


class World:
    """One life of the app, and what a seed lets happen in it."""

    def __init__(self, app: AnyOrderApp, pilot: Pilot[None], outside: contextvars.Context) -> None:
        self.app = app
        self.pilot = pilot
        self.chance = random.Random(0)
        self.sessions: list[Session] = []
        self.failures: list[BaseException] = []
        self._outside = outside
        self._asked: list[asyncio.Future[Any]] = []
        self._calls = 0

    # What sessions say

    def new_session(self) -> Session:
        """A session in which something may have been said already."""
        session = new_session(connection=RecordedConnection())
        session.session_id = SessionId(f"s{len(self.sessions)}")
        self.sessions.append(session)
        for _ in range(self.chance.choice((0, 0, 1, 3, 8))):
            self.say(session)
        return session

    def say(self, session: Session) -> None:
        """Something happens in the session, told from outside of the app, as by the agent's connection."""
        try:
            self._outside.copy().run(self.chance.choice(SAYINGS), self, session)
        except Exception as error:  # noqa: BLE001 - it would end the connection
            self.failures.append(error)

    def ask(self, session: Session) -> None:
        call = self.call()
        texts = ("rm", "Run a long command: " + "x " * 200)
        patch = ToolCallPatch(call, title=self.chance.choice(texts), kind="execute", raw_input={"n": 1})
        self._await(session.request_permission(question_about(patch)))

    def elicit(self, session: Session) -> None:
        key = RequestKey(0)
        fields = (TextField("name"), BooleanField("sure"))[: self.chance.choice((1, 2))]
        visit = UrlVisit(key, "Log in", f"e{self.call()}", "https://example.com/login")
        self._await(session.elicit(self.chance.choice((Form(key, "Which one?", fields), visit))))

    def _await(self, answer: Any) -> None:
        async def wait() -> None:
            with suppress(asyncio.CancelledError):
                await answer

        self._asked.append(asyncio.get_running_loop().create_task(wait(), context=self._outside.copy()))

    def withdraw(self, session: Session) -> None:
        """The agent withdraws one of its questions, or the user answers it in another terminal."""
        keys = [*session.conversation.permissions]
        if keys and self.chance.random() < 0.7:
            session.answer_permission(self.chance.choice(keys), self.chance.choice((ALLOW, REJECT)).option_id)
        elif forms := [*session.conversation.elicitations]:
            session.questions.answer(self.chance.choice(forms), "cancel")

    def call(self) -> ToolCallId:
        self._calls += 1
        return ToolCallId(f"c{self._calls}")

    # Who acts

    def act(self) -> list[Coroutine[Any, Any, None]]:
        """What happens at the same time in an order."""
        actors: list[Callable[[], Coroutine[Any, Any, None]]] = [self.agents, self.agents, self.user, self.shell]
        return [actor() for actor in actors]

    async def pause(self) -> None:
        for _ in range(self.chance.choice((0, 1, 3, 10))):
            await asyncio.sleep(0)
        if self.chance.random() < 0.15:
            await asyncio.sleep(self.chance.choice((0.01, 0.04, 0.5, 1.1)))

    async def agents(self) -> None:
        """Agents speak."""
        for _ in range(self.chance.randrange(12)):
            await self.pause()
            if self.sessions:
                self.say(self.chance.choice(self.sessions[-3:]))

    async def user(self) -> None:
        """The user presses keys and resizes the window."""
        for _ in range(self.chance.randrange(8)):
            await self.pause()
            if self.chance.random() < 0.15:
                self.resize(*self.chance.choice(SIZES))
            else:
                self.press(self.chance.choice(KEYS))

    async def shell(self) -> None:
        """Sessions are attached, shown again, and left; tabs come and go."""
        for _ in range(self.chance.randrange(4)):
            await self.pause()
            tabs = list(self.app.tabs)
            tab = self.chance.choice(tabs) if tabs else None
            match self.chance.choice(("show", "show", "again", "open", "step", "close", "phase")):
                case "show" if tab is not None:
                    tab.run(tab.show(self.new_session(), "Agent"))
                case "again" if tab is not None and tab.session is not None:
                    tab.run(tab.show(tab.session, "Agent"))
                case "open" if len(tabs) < 4:
                    self.app.run_worker(self.app.open_tab(new_link(), Path("/project"), self.opening))
                case "step":
                    self.app.run_worker(self.app.tabs.step(1))
                case "close" if tab is not None and len(tabs) > 1:
                    self.app.run_worker(self.app.take_away(tab))
                case "phase" if tab is not None:
                    tab.show_phase("starting")
                case _:
                    pass

    async def opening(self, _: object) -> Session:
        """Attach to a session, of which something is told meanwhile."""
        session = self.new_session()
        await self.pause()
        self.say(session)
        return session

    def press(self, key: str) -> None:
        self.app.post_message(Key(key, " " if key == "space" else key if len(key) == 1 else None))

    def resize(self, width: int, height: int) -> None:
        assert self.app._driver is not None
        self.app._driver._size = (width, height)
        self.app.post_message(Resized(Size(width, height), Size(width, height)))

    # What must hold

    async def come_to_rest(self) -> None:
        quiet = 0
        for _ in range(60):
            await asyncio.sleep(0.47)  # not in step with what ticks every second
            if self.app._exit:
                return
            pumps = [self.app, *self.app.screen.walk_children(with_self=True)]
            busy = [pump for pump in pumps if not is_waiting(pump)]
            quiet = 0 if busy or wants_painting(self.app.screen) else quiet + 1
            if quiet == 3:
                return
        raise Frozen(f"{busy} of {self.app.screen} don't come to rest")

    async def is_right(self) -> bool:
        """Check all that must hold once it has come to rest. False if the user has quit."""
        await self.come_to_rest()
        if self.app._exception is not None:
            raise self.app._exception  # the app has ended, and nothing else that it shows counts
        await self.close_dialogs()
        if not self.app._exit:
            self.check()
            await self.check_keyboard()
        await self.end()
        return not self.app._exit

    async def close_dialogs(self) -> None:
        """Press Esc until the tab is in front."""
        for _ in range(8):
            front = self.app.tabs.front
            if self.app._exit or (front is not None and self.app.screen is front.screen):
                return
            self.press("escape")
            await asyncio.sleep(0.6)
            await self.come_to_rest()
        raise AssertionError(f"{self.app.screen} doesn't close")

    def check(self) -> None:
        """The tab in front shows its session's state."""
        tab = self.app.tabs.front
        assert tab is not None
        panel = tab.panel
        panels = list(tab.screen.query(SessionPanel))
        assert panels == ([panel] if panel is not None else [])
        if panel is None or tab.session is None:
            return
        conversation = tab.session.conversation
        assert panel.conversation is conversation
        view = panel.views[0]
        assert view.conversation is conversation
        if view.display and view.outer_size:
            assert len(view.column.drawings) == len(conversation.entries)
        forms, requests = [*conversation.elicitations], [*conversation.permissions]
        is_form_first = bool(forms) and (not requests or forms[0] < requests[0])
        cards = [card for card in tab.screen.query(FormCard) if card.display]
        assert [card.asked.key for card in cards] == (forms[:1] if is_form_first else [])
        wanted = requests[:1] if not is_form_first else []
        shown = panel.body.asked
        assert ([shown.request.key] if shown is not None else []) == wanted
        assert panel.card.display is bool(wanted)
        plans = () if conversation.is_past_plans else conversation.plans.values()
        is_planned = any(plan.current is not None for plan in plans)
        assert panel.plan.display or not is_planned or panel.plan.has_class("-crowded-out")
        focused = tab.screen.focused
        places = focused.ancestors_with_self if focused is not None else []
        assert all(place.is_attached and place.display for place in places), f"{focused} has the focus"
        assert tab.questions.card is (cards[0] if cards else None)
        rows(self.pilot)

    async def check_keyboard(self) -> None:
        """What is typed arrives in the draft."""
        tab = self.app.tabs.front
        assert tab is not None
        before = tab.prompt.text
        for _ in range(4):
            if tab.screen.focused is tab.prompt:
                break
            await asyncio.sleep(1.5)
            self.press("escape")
            await self.come_to_rest()
        assert tab.screen.focused is tab.prompt, f"{tab.screen.focused} keeps the keyboard"
        if tab.prompt.editing_mode is None or not tab.prompt.editing_mode.words:
            self.press("z")
            await self.come_to_rest()
            assert len(tab.prompt.text) == len(before) + 1 or tab.prompt.text.count("z")
        tab.prompt.discard_draft()

    async def end(self) -> None:
        """Forget the order's questions."""
        for asked in self._asked:
            asked.cancel()
        self._asked.clear()
        del self.sessions[:-3]


def _plan(world: World, session: Session) -> None:
    statuses = world.chance.choice((("completed", "in_progress", "pending"), ("completed",), ()))
    session.apply(PlanReplaced(tuple(PlanStep(f"Step {n}", status=status) for n, status in enumerate(statuses))))


def _terminal(world: World, session: Session) -> None:
    running = [one for one in session.conversation.terminals.values() if not one.has_exited]
    if not running:
        session.apply(TerminalOpened(cast(Any, f"t{world.call()}"), "make", is_ours=False))
    elif world.chance.random() < 0.5:
        session.apply(TerminalOutput(running[0].terminal_id, b"line\r\n" * world.chance.randrange(40)))
    else:
        session.apply(TerminalExited(running[0].terminal_id, 0, None))


def _turn(world: World, session: Session) -> None:
    connection = cast(RecordedConnection, session.connection)
    if session.conversation.is_idle:
        session.apply(prompt("Go"))
    elif connection.prompts:
        connection.end_turn()  # whatever waits in the queue is sent next
    else:
        session.apply(TurnEnded("end_turn"))


def _subagent(world: World, session: Session) -> None:
    name = SessionId(f"sub{world.chance.randrange(2)}")
    session.apply(SubagentReported(name, title="Looks"))
    session.apply(SubagentSaid(name, agent("found it")))


SAYINGS: Final[tuple[Callable[[World, Session], object], ...]] = (
    lambda world, session: session.apply(agent("some words " * world.chance.choice((1, 60)))),
    lambda world, session: session.apply(thought("hm")),
    lambda world, session: session.apply(
        ToolCallReported(ToolCallPatch(world.call(), title="Look", status="completed"))
    ),
    World.ask,
    World.ask,
    World.ask,
    World.elicit,
    World.withdraw,
    World.withdraw,
    _plan,
    _plan,
    _terminal,
    _turn,
    _turn,
    _subagent,
    lambda world, session: session.apply(NoticeShown("warning", "Careful", "very")),
    lambda world, session: session.apply(InfoChanged(title=f"Title {world.chance.randrange(9)}")),
    lambda world, session: session.apply(CommandsReplaced((OfferedCommand("go", "Goes"),))),
    lambda world, session: session.apply(Disconnected("gone")),
)


class QuietAgent(SimpleNamespace):
    """Equal to itself only, as agents are."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__


def new_link() -> AgentLink:
    """A link to an agent that runs already and says nothing itself."""
    link = AgentLink(None, "agent")
    link.agent = link.starting = cast(
        Any,
        QuietAgent(
            title="Agent",
            identity=None,
            capabilities=AgentCapabilities(),
            command=AgentCommand("agent", ("agent",)),
            lost=None,
            said=(),
            sandbox=None,
            sandbox_name="",
            system_prompt=None,
            untaken_prompt="",
            runs_servers_here=False,
            elicitations={},
            may_come_back=False,
            frames=FrameLog("agent", ("agent",)),
            hop_frames=(),
            chain=None,
            auth_status=None,
            auth_listeners=[],
            ask_auth_status=_nothing,
            auth_methods=(),
            log=(),
            protocol_version=1,
            sessions={},
            stop=_nothing,
            close_session=_nothing,
            archive_session=_nothing,
        ),
    )
    return link


async def _nothing(*_: object) -> None:
    """An agent that does it at once."""


class AnyOrderApp(AcpTuiApp):
    """The app whose first tab attaches to a session."""

    def __init__(self, loop: OwnTimeLoop) -> None:
        hub = SessionHub()  # which starts no agent here
        settings = Settings(appearance=Appearance(DARK.name, reduced_motion=True))
        super().__init__(hub, AgentCommand("agent", ("agent",)), Path("/project"), settings=settings)
        self.clock = loop.time  # type: ignore[method-assign]
        self.world: World | None = None

    def get_default_screen(self) -> SessionScreen:
        """One that attaches."""
        tab = Tab(new_link(), self._cwd, opening=self._attach, settings=self.settings, clock=self.clock)
        return tab.screen

    async def _attach(self, sessions: object) -> Session:
        while self.world is None:
            await asyncio.sleep(0.01)
        return await self.world.opening(sessions)


async def live(life: int, orders: int, scheduler: Scheduler) -> None:
    """One life of the app."""
    outside = contextvars.copy_context()
    loop = cast(OwnTimeLoop, asyncio.get_running_loop())
    scheduler.begin(f"{life}:start")
    app, failed = AnyOrderApp(loop), list[str]()
    loop.set_exception_handler(lambda _, told: failed.append(_described(told)))
    number = -1
    try:
        async with app.run_test(size=SIZES[0], notifications=True) as pilot:
            world = app.world = World(app, pilot, outside)
            for number in range(orders):
                world.chance = scheduler.begin(f"{life}:{number}")
                is_last = number == orders - 1
                if is_last:
                    quit_s = world.chance.choice((0.0, 0.001, 0.05, 0.5))
                    loop.call_later(quit_s, *world.chance.choice(((app.exit,), (world.press, "ctrl+q"))))
                await asyncio.gather(*world.act())
                if is_last:
                    await asyncio.sleep(1.0)
                    app.exit()
                elif not await world.is_right():
                    break
                if world.failures or failed:
                    break
            await world.end()
        for error in world.failures:
            raise error
        assert not failed, "\n".join(failed)
    except asyncio.CancelledError as error:
        raise Frozen(f"{error} in order {life}:{number}: {[*asyncio.all_tasks()]}") from error
    except BaseException as error:
        error.add_note(f"in order {life}:{number}")
        raise


def _described(told: dict[str, Any]) -> str:
    error = told.get("exception")
    return "".join(traceback.format_exception(error)) if error is not None else str(told.get("message"))


def run(life: int, orders: int = LIFE) -> int:
    """One life in a loop and a home of its own: another's drafts would come back. Returns the scheduler's mark."""
    with (
        TemporaryDirectory() as home,
        pytest.MonkeyPatch.context() as patch,
        asyncio.Runner(loop_factory=OwnTimeLoop) as runner,
    ):
        for name in ("CONFIG", "STATE", "DATA", "CACHE"):
            patch.setenv(f"XDG_{name}_HOME", f"{home}/{name}")
        scheduler = Scheduler(cast(OwnTimeLoop, runner.get_loop()))
        with scheduler.installed():
            runner.run(live(life, orders, scheduler))
            return scheduler.mark


def test_the_screen_shows_the_sessions_state_whatever_the_order() -> None:
    """See ACP_TUI_ORDERS and ACP_TUI_ORDER above."""
    life, _, until = ONLY.partition(":")
    for each in [int(life)] if ONLY else range(max(1, ORDERS // LIFE)):
        run(each, int(until) + 1 if until else LIFE)


def test_an_order_depends_on_nothing_but_its_seed() -> None:
    assert [run(life, 4) for life in (4, 14)] == [run(life, 4) for life in (4, 14)]
