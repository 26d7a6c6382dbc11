"""Runs of agents with a user who answers everything, and their recordings; and recordings made of events."""

from __future__ import annotations

import json
import re
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import ExitStack, chdir, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import anyio
import anyio.lowlevel
import psutil  # type: ignore[import-untyped]
from anyio.abc import TaskGroup

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.demo_agent import copy_project
from acp_tui.client.errors import AgentLost, AgentRefused, AuthenticationRequired
from acp_tui.client.secrets.masking import MASK
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.consent import Policy
from acp_tui.client.sessions.driver import logged_in
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.sessions.session import Session
from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.transcript.events import Dropped, Event, Header, UnknownEvent
from acp_tui.client.transcript.index import SessionIndex
from acp_tui.client.transcript.lines import open_recording
from acp_tui.client.transcript.recorder import Outlet, Recorder
from acp_tui.client.transcript.recording_plan import RecordingPlan, recording_store
from acp_tui.client.transcript.replay import Replay
from acp_tui.client.transcript.store import held
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Conversation, snapshot
from acp_tui.conversation.elicitation import Form, FormValues, MultiChoiceField
from acp_tui.conversation.entries import Question
from acp_tui.conversation.facts import (
    AuthMethod,
    BooleanOption,
    ConfigOption,
    PermissionOption,
    PermissionRequest,
    SessionId,
)
from acp_tui.conversation.recall import recall
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.demo.scenario import load
from acp_tui.demo.script import Scenario
from acp_tui.protocol.roles import ClientOffer
from acp_tui.workbench.redact import RedactOptions, redact
from support.agents import SERVING, our_children
from support.waiting import LIMIT_S, TEST_LIMIT_S

EVERYTHING = ClientOffer(elicitation_form=True, elicitation_url=True)


@dataclass
class Run:
    """The result of a run."""

    conversations: dict[SessionId, Conversation] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)


@dataclass
class User:
    """Answers a session's questions with the option at one position, or cancels once this many requests wait."""

    agent: Agent
    session: Session
    option: int = 0
    cancels_at: int | None = None
    changed: anyio.Event = field(default_factory=anyio.Event)
    typed: set[TerminalId] = field(default_factory=set)
    """Terminals that already got an answer."""

    def __post_init__(self) -> None:
        self.session.subscribe(self.note)
        self.agent.on_elicitations = self.note

    def note(self, *_: object) -> None:
        """Notice a change."""
        self.changed.set()

    async def attend(self) -> None:
        """Work until the turn is over and this is canceled."""
        while True:
            await self.changed.wait()
            self.changed = anyio.Event()
            requests = list(self.session.conversation.permissions.items())
            if self.cancels_at is not None:
                if len(requests) == self.cancels_at:
                    self.session.cancel()
                continue
            for key, request in requests:
                self.session.answer_permission(key, self._choice(request).option_id)
            for owner, questions in (
                (self.session, self.session.conversation.elicitations),
                (self.agent, self.agent.elicitations),
            ):
                for key, question in list(questions.items()):
                    values = filled_in(question) if isinstance(question, Form) else None
                    owner.questions.answer(key, "accept", values)
            self._type()

    def _choice(self, request: PermissionRequest) -> PermissionOption:
        """The option at our position. Never an "always" option listed first."""
        once = (option for option in request.options if option.kind == "allow_once")
        chosen = request.options[self.option]
        return next(once, chosen) if self.option == 0 else chosen

    def _type(self) -> None:
        """Answer yes to each command that waits for input, once."""
        for terminal in self.session.conversation.terminals.values():
            if terminal.is_waiting and terminal.terminal_id not in self.typed:
                self.typed.add(terminal.terminal_id)
                self.session.client_tools.type_into(terminal.terminal_id, b"y\r")

    async def sees(self, is_so: Callable[[Conversation], bool]) -> None:
        """Wait until the condition holds."""
        while not is_so(self.session.conversation):
            await self.changed.wait()

    async def hears_nothing(self, for_s: float) -> None:
        """Wait until nothing changes for this long."""
        while True:
            with anyio.move_on_after(for_s) as silence:
                await self.changed.wait()
                await anyio.lowlevel.checkpoint()
            if silence.cancelled_caught:
                return


def filled_in(form: Form) -> FormValues:
    """The defaults, and the first choice for required fields."""
    values: FormValues = {}
    for each in form.fields:
        default: Any = getattr(each, "default", None)
        if isinstance(each, MultiChoiceField):
            values[each.name] = list(each.default)
        elif default is not None:
            values[each.name] = default
        elif each.is_required:
            values[each.name] = each.choices[0].value  # type: ignore[union-attr]
    return values


def demo(name: str, protocol: Literal[1, 2] = 1) -> AgentCommand:
    """The demo agent with a scenario, without delays."""
    return AgentCommand("demo", (sys.executable, "-m", "acp_tui.demo", name, "--speed", "0"), protocol=protocol)


async def play(
    command: AgentCommand | str,
    plan: RecordingPlan,
    *,
    prompts: Iterable[str] = ("show me",),
    option: int = 0,
    cancels_at: int | None = None,
) -> Run:
    """Turns in one session with a recorded agent, from its start to its end."""
    agent_command = demo(command) if isinstance(command, str) else command
    run = Run()
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            agent = await hub.start_agent(agent_command, offer=EVERYTHING, policy=SERVING, recordings=plan)
            await agent.initialize()
            session = await agent.new_session(plan.cwd)
            user = User(agent, session, option, cancels_at)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(user.attend)
                with suppress(AgentLost):  # the conversation reports it
                    for prompt in prompts:
                        await session.send_prompt([Text(prompt)])
                tasks.cancel_scope.cancel()
    run.conversations[session.session_id] = session.conversation
    return run


def replayed_whole(file: Path) -> Replay:
    """The replay of a recording, at its end, with every line readable."""
    with open_recording(file) as recording:
        replay = Replay(recording)
        assert not any(isinstance(step.event, UnknownEvent | Dropped) for step in replay.events)
    assert recording.problems == []
    assert recording.half_line == b""
    return replay


def as_recorded(conversation: Conversation) -> Conversation:
    """The conversation as recorded, in which what was typed into forms is masked."""
    entries = [
        replace(entry, values=tuple(one if one.is_choice else replace(one, value=MASK) for one in entry.values))
        if isinstance(entry, Question)
        else entry
        for entry in conversation.entries
    ]
    return replace(conversation, entries=entries)


def redacted(recording: Path) -> Path:
    """The recording as it can be shared, for the user whose home is above its folder.

    It is written beside the original.
    """
    out, home = recording.with_suffix(".redacted.jsonl"), recording.parents[1]
    if not out.exists():
        redact(recording, out, RedactOptions(), {"HOME": str(home), "USER": home.name}, "hagar")
    return out


@contextmanager
def open_in_process(pid: int) -> Iterator[None]:
    """As if this process were recording what was recorded before."""
    store = recording_store(RecordingSettings())
    with ExitStack() as locks:
        for file in store.files():
            header, rest = file.read_text("utf-8").split("\n", 1)
            file.write_text(json.dumps({**json.loads(header), "pid": pid}) + "\n" + rest, "utf-8")
            SessionIndex(store).catch_up()  # it doesn't read what is being written
            locks.enter_context(held(file))
            with file.open("a", encoding="utf-8") as written:
                written.write("\n")
        yield


def write(path: Path, events: Iterable[Event], header: Header | None = None, *, is_raw: bool = False) -> None:
    """A recording of these events, written as in a real run."""
    troubles: list[str] = []
    recorder = Recorder(
        header or Header("agent", ("agent",), started_at="2026-11-21T12:00:00+00:00"),
        [Outlet(lambda: path.open("wb"), is_raw=is_raw)],
        on_trouble=troubles.append,
    )
    for event in events:
        recorder.put(event)
    while not recorder.close():
        pass
    assert troubles == []


# Agents that are taken through everything they can do. The user logs in if required, and cancels what would never end

PATIENCE_S: Final = 2.0
"""After this time, whatever still runs in a scenario has sent everything."""

_starting: Final = anyio.Lock()
"""Because all share one working directory."""


@dataclass
class Led:
    """One run of an agent, as seen live."""

    recording: Path
    conversations: dict[SessionId, Conversation] = field(default_factory=dict)
    """By session ID, including closed sessions."""
    outside: Conversation = field(default_factory=Conversation)
    """Updates that belong to no session."""

    @property
    def as_recorded(self) -> dict[SessionId, Conversation]:
        """The conversations, as a replay shows them."""
        return {name: as_recorded(conversation) for name, conversation in self.conversations.items()}


@dataclass
class Lead:
    """Leads one running agent."""

    agent: Agent
    cwd: Path
    seen: Led
    tasks: TaskGroup
    patience_s: float
    users: dict[SessionId, User] = field(default_factory=dict)

    async def begin(self) -> Session:
        """Open a session, after a login if required."""

        async def log_in(wanted: AuthenticationRequired) -> AuthMethod:
            await self.agent.authenticate(wanted.methods[0].method_id)
            return wanted.methods[0]

        return self.attend(await logged_in(lambda: self.agent.new_session(self.cwd), log_in))

    def attend(self, session: Session) -> Session:
        """Answer its questions from now on. If it was loaded again, show it as it was, as all front ends do."""
        before = self.seen.conversations.get(session.session_id)
        if before is not None and not session.conversation.is_blank:
            recall(session.conversation, snapshot(before), session.session_id)
        user = self.users[session.session_id] = User(self.agent, session)
        self.tasks.start_soon(user.attend)
        self.seen.conversations[session.session_id] = session.conversation
        return session

    async def prompt(self, session: Session, text: str, *, cancels: bool = False) -> None:
        """Take a turn.

        `cancels` cancels it as soon as the agent has sent something; a silent one is canceled anyway. Raises AgentLost,
        also if an agent doesn't react to the cancellation.
        """
        user, entries = self.users[session.session_id], len(session.conversation.entries)
        lost: AgentLost | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._end_silence, user)
            if cancels:
                tasks.start_soon(self._cancel_behind, user, entries + 1)
            try:
                await session.send_prompt([Text(text), *session.commands.take()])
            except (AgentRefused, AuthenticationRequired):
                pass  # the conversation reports it
            except AgentLost as error:
                lost = error
            tasks.cancel_scope.cancel()
        if lost is not None:
            raise lost

    async def _end_silence(self, user: User) -> None:
        await self._is_silent(user)
        user.session.cancel()
        await self._is_silent(user)
        await self.agent.stop()

    async def _is_silent(self, user: User) -> None:
        """Wait until nothing arrives for this long, not counting time in which the machine was too busy."""
        await user.hears_nothing(self.patience_s)
        while any(child.status() == psutil.STATUS_RUNNING for child in our_children()):
            await user.hears_nothing(self.patience_s)

    async def _cancel_behind(self, user: User, entries: int) -> None:
        await user.sees(lambda conversation: len(conversation.entries) > entries)
        user.session.cancel()

    async def run_own(self, session: Session, line: str) -> None:
        """Run a command of the user's own to its end."""
        await session.commands.run(line)
        terminals = session.conversation.terminals
        await self.users[session.session_id].sees(lambda _: all(each.has_exited for each in terminals.values()))

    async def set_options(self, session: Session) -> None:
        """Set every option to each of its values, then back."""
        for option in session.conversation.options:
            for value in (*_values_of(option), option.value):
                with suppress(AgentRefused):
                    await session.set_option(option.option_id, value)

    async def visit_kept_sessions(self) -> None:
        """Open, resume, and close all sessions the agent lists, and delete one."""
        capabilities = self.agent.capabilities
        for session_id in await self._listed():
            if capabilities.load_session:
                self.attend(await self.agent.load_session(session_id, self.cwd))
            if capabilities.resume_session:
                self.attend(await self.agent.resume_session(session_id, self.cwd))
        for session in list(self.agent.sessions.values())[1:]:
            await self.agent.close_session(session)
        if capabilities.delete_session:
            await self.agent.delete_session(next(iter(self.agent.sessions)))

    async def _listed(self) -> list[SessionId]:
        listed, cursor = [], None
        while self.agent.capabilities.list_sessions:
            page = await self.agent.list_sessions(self.cwd, cursor)
            listed += [session.session_id for session in page.sessions]
            cursor = page.next_cursor
            if cursor is None:
                break
        return listed


def _values_of(option: ConfigOption) -> list[str] | list[bool]:
    if isinstance(option, BooleanOption):
        return [not option.value]
    return [choice.value for choice in option.choices]


async def lead(
    command: AgentCommand,
    cwd: Path,
    recording: Path,
    tour: Callable[[Lead], Awaitable[None]],
    patience_s: float = PATIENCE_S,
    within_s: float = TEST_LIMIT_S,
    start_limit_s: float = LIMIT_S,
    policy: Policy = SERVING,
) -> Led:
    """Record an agent from its start, through the tour after its handshake, to its end, whoever ends it.

    Waits as long as something happens, or nothing for less than `patience_s`; for the handshake, `start_limit_s`.
    """
    seen = Led(recording)
    with anyio.fail_after(within_s):
        async with open_hub() as hub, anyio.create_task_group() as tasks:
            plan = RecordingPlan(cwd, file=recording)
            async with _starting:
                with chdir(cwd):  # where some agents work, whatever their session's folder is
                    agent = await hub.start_agent(command, offer=EVERYTHING, policy=policy, recordings=plan)
            seen.outside = agent.outside
            with suppress(AgentLost):  # the conversations report it
                await agent.initialize(start_limit_s)
                await tour(Lead(agent, cwd, seen, tasks, patience_s))
            tasks.cancel_scope.cancel()
    return seen


# Scenarios


async def lead_scenario(name: str, folder: Path) -> list[Led]:
    """Play all turns of a scenario. If the agent doesn't survive one, another agent continues with the next."""
    scenario, runs = load(name), list[Led]()
    prompts = deque(_prompts(scenario))
    command = replace(demo(name), env={"HOME": str(folder.parent)})
    copy_project(folder / "project")
    while not runs or (prompts and not scenario.initialize.hang):
        recording = folder / f"{name}-{len(runs) + 1}.jsonl"
        tour = partial(_tour, prompts=prompts)
        limit_s = start_limit_s(name)
        runs.append(await lead(command, folder / "project", recording, tour, start_limit_s=limit_s))
    return runs


def start_limit_s(name: str) -> float:
    """How long to wait for this scenario's handshake: briefly for one that never comes."""
    return PATIENCE_S if load(name).initialize.hang else LIMIT_S


def _prompts(scenario: Scenario) -> Iterator[str]:
    """A prompt for each turn of the scenario's own."""
    for turn in scenario.turns:
        if turn.match is None:
            yield "Go on."
        elif turn.play is None:
            yield re.sub(r"\\.|[^\w ]", "", turn.match.pattern)


async def _tour(lead: Lead, prompts: deque[str]) -> None:
    session = await lead.begin()
    while prompts:
        await lead.prompt(session, prompts.popleft())
    await lead.set_options(session)
    await lead.run_own(session, "echo of mine")
    await lead.visit_kept_sessions()
    if lead.agent.capabilities.logout:
        await lead.agent.logout()
        await lead.begin()


async def record(cwd: Path, agent: str = "demo") -> None:
    """A past session of an agent with this name."""
    plan = RecordingPlan(cwd, store=recording_store(RecordingSettings()))
    await play(replace(demo("markdown"), name=agent), plan, prompts=("How are zebras made?",))
