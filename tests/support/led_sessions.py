"""Agents that are recorded while a scripted user takes them through everything they can do.

The user answers everything, logs in if required, and cancels what would never end.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import chdir, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import psutil  # type: ignore[import-untyped]
from anyio.abc import TaskGroup

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.demo_agent import copy_project
from acp_tui.client.errors import AgentLost, AgentRefused, AuthenticationRequired
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.consent import Policy
from acp_tui.client.sessions.driver import logged_in
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.sessions.session import Session
from acp_tui.client.transcript.recording_plan import RecordingPlan
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Conversation, snapshot
from acp_tui.conversation.facts import BooleanOption, ConfigOption, SessionId
from acp_tui.conversation.recall import recall
from acp_tui.demo.scenario import load
from acp_tui.demo.script import Scenario
from support.agents import SERVING, our_children
from support.recordings import EVERYTHING, User, as_recorded, demo
from support.waiting import LIMIT_S, TEST_LIMIT_S

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

        async def log_in(wanted: AuthenticationRequired) -> bool:
            await self.agent.authenticate(wanted.methods[0].method_id)
            return True

        return self.attend(await logged_in(lambda: self.agent.new_session(self.cwd), log_in))

    def attend(self, session: Session) -> Session:
        """Answer its questions from now on. If it was loaded again, show it as it was, as all front ends do."""
        before = self.seen.conversations.get(session.session_id)
        if before is not None and not session.conversation.is_blank:
            recall(session.conversation, snapshot(before))
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
