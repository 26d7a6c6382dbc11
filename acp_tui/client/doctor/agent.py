"""Starts an agent as for work, looks at each step, and ends it for certain. Nothing that it asks for is allowed."""

from __future__ import annotations

import shutil
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Final, TypeAlias

import anyio

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.process import CLOSE_GRACE_S
from acp_tui.client.doctor.machine import Finding, Verdict, note, ok, wrong
from acp_tui.client.errors import AgentLost, AuthenticationRequired, ClientError
from acp_tui.client.secrets.masking import Masker
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.driver import Refusing
from acp_tui.client.sessions.hub import SessionHub, open_hub
from acp_tui.client.sessions.offers import HEADLESS
from acp_tui.client.sessions.policy import Grant, Policy
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.content import Text
from acp_tui.conversation.entries import Message
from acp_tui.protocol.roles import AgentCapabilities, AuthMethod, McpServer
from acp_tui.rpc import Direction

START_LIMIT_S: Final = 60.0
TURN_LIMIT_S: Final = 120.0
CANCEL_LIMIT_S: Final = 5.0
SLOW_S: Final = 5.0
"""Whoever waits longer for a start wonders."""
SHOWN_LINES: Final = 12

Servers: TypeAlias = Callable[[Agent], Awaitable[Sequence[McpServer]]]
"""Gives the MCP servers for an agent."""


class AgentCheck:
    """One examination of one agent."""

    def __init__(
        self,
        command: AgentCommand,
        cwd: Path,
        policy: Policy,
        servers: Servers,
        *,
        start_limit_s: float = START_LIMIT_S,
        turn_limit_s: float = TURN_LIMIT_S,
    ) -> None:
        """`policy` is the user's; what it lets agents do without being asked is asked about here, and then refused."""
        self.findings: list[Finding] = []
        """In the order of the steps."""
        self.failure: ClientError | None = None
        """What it came to an end by; None: it went to its end."""
        self._command = command
        self._cwd = cwd
        self._policy = replace(policy, write=_asking(policy.write), terminals=_asking(policy.terminals))
        self._servers = servers
        self._start_limit_s = start_limit_s
        self._turn_limit_s = turn_limit_s
        self._spawned_at = 0.0
        self._first_frame_at: float | None = None
        self._rejected = 0

    async def run(self, prompt: str | None) -> None:
        """All steps; with `prompt` a turn too. Takes no longer than the limits, and raises nothing of the agent's."""
        self._look_at_command()
        try:
            async with open_hub() as hub:
                agent = await self._start(hub)
                try:
                    await self._talk(agent, prompt)
                finally:
                    await self._end(agent)
        except ClientError as error:
            self._fail(error)

    # Before it is started

    def _look_at_command(self) -> None:
        line = " ".join(Masker().argv(self._command.argv))
        self._add(ok("Command", line))
        found = shutil.which(self._command.argv[0], path=self._command.env.get("PATH"))
        if found is not None:
            self._add(ok("Found", found))
        if self._command.env:
            self._add(ok("Sets", ", ".join(self._command.env)))  # their values are nobody else's business

    # Step by step

    async def _start(self, hub: SessionHub) -> Agent:
        self._spawned_at = time.monotonic()
        return await hub.start_agent(
            self._command, cwd=self._cwd, offer=HEADLESS, policy=self._policy, tap=self._on_frame
        )

    def _on_frame(self, direction: Direction, _: bytes) -> None:
        if direction is Direction.IN and self._first_frame_at is None:
            self._first_frame_at = time.monotonic()

    async def _talk(self, agent: Agent, prompt: str | None) -> None:
        await agent.initialize(self._start_limit_s)
        if self._first_frame_at is not None:
            self._add(ok("First line", _seconds(self._first_frame_at - self._spawned_at)))
        self._add(_timed("Initialize", time.monotonic() - self._spawned_at))
        self._look_at_handshake(agent)
        session = await self._open_session(agent)
        if prompt is not None:
            await self._take_turn(session, prompt)

    def _look_at_handshake(self, agent: Agent) -> None:
        self._add(ok("Protocol", "ACP 1"))
        if agent.identity is None:
            self._add(note("Agent", "it does not say who it is (agentInfo)"))
        else:
            self._add(ok("Agent", f"{agent.title} {agent.identity.version}".strip()))
        flags = {each.name: getattr(agent.capabilities, each.name) for each in fields(AgentCapabilities)}
        offered = [_words(name) for name, value in flags.items() if value is True]
        lacking = [_words(name) for name, value in flags.items() if value is False]
        self._add(ok("Offers", ", ".join(offered) or "nothing beside new sessions and prompts"))
        if lacking:
            self._add(ok("Lacks", ", ".join(lacking)))
        if agent.auth_methods:
            self._add(ok("Logins", "; ".join(map(_method, agent.auth_methods))))

    async def _open_session(self, agent: Agent) -> Session:
        begin = time.monotonic()
        servers = await self._servers(agent)
        with anyio.move_on_after(self._start_limit_s):
            session = await agent.new_session(self._cwd, mcp_servers=servers)
            self._add(_timed("New session", time.monotonic() - begin))
            return session
        raise AgentLost(f"{agent.title} has not opened a session within {self._start_limit_s:g} s")

    # A turn

    async def _take_turn(self, session: Session, prompt: str) -> None:
        begin = time.monotonic()
        failure = await self._prompt(session, prompt)
        if failure is not None:
            raise failure
        reason = session.conversation.last_stop_reason or "without a reason"
        text = f"{_seconds(time.monotonic() - begin)}, {reason}"
        self._add(ok("Turn", text) if reason == "end_turn" else note("Turn", text))
        if self._rejected:
            self._add(note("Permissions", f"{self._rejected} asked for and rejected: nothing was allowed"))
        entries = session.conversation.entries
        said = "".join(
            entry.text for entry in entries if isinstance(entry, Message) and entry.role == "agent"
        )
        self._add(ok("Reply", said.strip()[:200]) if said.strip() else note("Reply", "it said nothing"))

    async def _prompt(self, session: Session, prompt: str) -> ClientError | None:
        """Send it, refusing on the way what is asked for; gives what went wrong."""
        async with anyio.create_task_group() as tasks:
            refusing = Refusing(tasks)
            unsubscribe = refusing.attend(session)
            with anyio.move_on_after(self._turn_limit_s + CANCEL_LIMIT_S):
                tasks.start_soon(self._cancel_late, session)
                try:
                    await session.send_prompt([Text(prompt)])
                except ClientError as error:
                    return error
                finally:
                    unsubscribe()
                    self._rejected = refusing.rejected
                    tasks.cancel_scope.cancel()
                return None
        return AgentLost(f"the turn was cancelled after {self._turn_limit_s:g} s, and did not end")

    async def _cancel_late(self, session: Session) -> None:
        await anyio.sleep(self._turn_limit_s)
        self._add(note("Turn", f"cancelled, since it took longer than {self._turn_limit_s:g} s"))
        session.cancel()

    # Its end

    async def _end(self, agent: Agent) -> None:
        was_lost = agent.lost is not None
        begin = time.monotonic()
        await agent.stop()
        took_s = time.monotonic() - begin
        if not was_lost and took_s >= CLOSE_GRACE_S:
            self._add(note("End", "it did not end when its input was closed, so it was terminated"))
        elif not was_lost:
            self._add(ok("End", _seconds(took_s)))
        self._look_at_output(agent)

    def _look_at_output(self, agent: Agent) -> None:
        unusable = [line for line in agent.log if line.startswith("[stdout] ")]
        said = [line for line in agent.log if not line.startswith("[stdout] ")]
        if unusable:
            text = (
                f"{len(unusable)} {'lines are' if len(unusable) > 1 else 'line is'} not what ACP wants there"
            )
            hint = "what is for people belongs on stderr"
            self._add(note("Stdout", text, hint, tuple(unusable[:SHOWN_LINES])))
        elif self._first_frame_at is not None:
            self._add(ok("Stdout", "nothing but messages"))
        if said:
            text = f"{len(said)} {'lines' if len(said) > 1 else 'line'}, the last of them:"
            self._add(Finding("Stderr", Verdict.OK, text, lines=tuple(said[-SHOWN_LINES:])))

    def _fail(self, error: ClientError) -> None:
        self.failure = error
        if isinstance(error, AuthenticationRequired):
            ways = "; ".join(map(_method, error.methods)) or "none that it names"
            hint = f"start acp-tui with it and log in, or use its own tools; its ways: {ways}"
            self._add(wrong("Login", f"wanted first (-32000): {error.detail}", hint))
            return
        # The tail of stderr stands there already.
        detail = "" if isinstance(error, AgentLost) else error.detail
        self._add(wrong("Failed", str(error), error.hint, tuple(detail.splitlines()[:SHOWN_LINES])))

    def _add(self, finding: Finding) -> None:
        self.findings.append(finding)


def _asking(grant: Grant) -> Grant:
    return Grant.ASK if grant is Grant.ON else grant


def _timed(topic: str, seconds: float) -> Finding:
    text = _seconds(seconds)
    return note(topic, f"{text}: that is slow") if seconds > SLOW_S else ok(topic, text)


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _method(method: AuthMethod) -> str:
    return f"{method.name} ({method.method_id}{', in a terminal' if method.kind == 'terminal' else ''})"
