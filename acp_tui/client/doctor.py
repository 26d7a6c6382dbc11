"""Checks whether this machine and an agent are ready to work together. `cli.doctor` prints the result.

It changes nothing on the machine but the marks on its own sessions. It starts the agent as for work and makes sure
that it ends. Nothing the agent asks for is allowed.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import anyio
from anyio import to_thread

from acp_tui import __version__
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.starting import CLOSE_GRACE_S
from acp_tui.client.desktop import native_tool
from acp_tui.client.errors import AgentLost, AuthenticationRequired, ClientError, SettingsError
from acp_tui.client.sandbox.proof import prove
from acp_tui.client.sandbox.sandbox import Sandbox
from acp_tui.client.secrets.masking import Masker
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.consent import HEADLESS, Grant, Policy
from acp_tui.client.sessions.driver import Refusing
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.sessions.marks import SessionMarks
from acp_tui.client.sessions.session import Session
from acp_tui.client.sessions.session_history import PastSession
from acp_tui.client.settings.location import cache_folder, settings_file, state_folder
from acp_tui.client.settings.reader import read_settings
from acp_tui.client.settings.settings import Settings
from acp_tui.client.terminals import emulator
from acp_tui.conversation.content import Text
from acp_tui.conversation.entries import Message
from acp_tui.conversation.facts import AuthMethod
from acp_tui.protocol.roles import AgentCapabilities, McpServer
from acp_tui.rpc import Direction
from acp_tui.values import dataclass


class Verdict(Enum):
    """The value is what the report and its JSON form say."""

    OK = "ok"
    NOTE = "note"
    """Something will be missing or unusual, but working is possible."""
    WRONG = "wrong"
    """This has to be fixed first."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    topic: str
    """One or two words."""
    verdict: Verdict
    text: str
    hint: str = ""
    lines: tuple[str, ...] = ()
    """The original output, line by line."""


def ok(topic: str, text: str) -> CheckResult:
    return CheckResult(topic, Verdict.OK, text)


def note(topic: str, text: str, hint: str = "", lines: tuple[str, ...] = ()) -> CheckResult:
    return CheckResult(topic, Verdict.NOTE, text, hint, lines)


def wrong(topic: str, text: str, hint: str = "", lines: tuple[str, ...] = ()) -> CheckResult:
    return CheckResult(topic, Verdict.WRONG, text, hint, lines)


PROGRAM_LIMIT_S: Final = 5.0
PROGRAMS: Final = (
    # The main program, what it's for, and another program that comes with it.
    ("git", "a repository's changes, and the files @ suggests", ""),
    ("node", "agents that come as npm packages", "npx"),
    ("uv", "agents that come as Python packages", "uvx"),
)


def check_machine(
    environ: Mapping[str, str], unusable: Callable[[Settings], Iterable[str]] = lambda _: ()
) -> Iterator[CheckResult]:
    """All findings, in the order of a report. Blocks, because it asks programs for their versions.

    `unusable` returns problems of other files, and of valid settings, such as a theme that doesn't exist.
    """
    yield ok("acp-tui", __version__)
    yield ok("Python", f"{platform.python_version()} ({sys.executable})")
    yield ok("System", f"{platform.system()} {platform.release()}, {platform.machine()}")
    yield _config_folder(settings_file().parent)
    yield _kept_folder("State", state_folder())
    yield _kept_folder("Cache", cache_folder())
    yield _settings(unusable)
    yield from _programs(environ)
    yield _clipboard(environ)
    yield (ok("Emulator", "pyghostty") if emulator.is_installed() else note("Emulator", emulator.PLAIN_TEXT_HINT))


# Folders


def _config_folder(folder: Path) -> CheckResult:
    try:
        any(folder.iterdir())
    except FileNotFoundError:
        return ok("Config", f"{folder} (doesn't exist: defaults are used)")
    except OSError as error:
        return wrong("Config", f"{folder} can't be read: {error.strerror}", "fix its owner and mode")
    return ok("Config", str(folder))


def _kept_folder(name: str, folder: Path) -> CheckResult:
    """Without the folder, acp-tui works but keeps nothing."""
    existing = next(each for each in (folder, *folder.parents) if each.exists() or each == Path(each.anchor))
    if not existing.is_dir():
        return note(name, f"{folder} can't be made: {existing} is a file", "move it away")
    if not os.access(existing, os.W_OK | os.X_OK):
        what = "can't be written" if existing == folder else f"can't be made: {existing} can't be written"
        return note(name, f"{folder} {what}: nothing is saved there", "fix its owner and mode")
    return ok(name, str(folder) if existing == folder else f"{folder} (created when needed)")


# Settings


def _settings(unusable: Callable[[Settings], Iterable[str]]) -> CheckResult:
    file = settings_file()
    try:
        read = read_settings(file)
    except SettingsError as error:
        return wrong("Settings", str(error), "fix it or move it away")
    said = (*map(str, read.problems), *read.warnings, *unusable(read.settings))
    if read.rule_problems:
        return wrong("Settings", "acp-tui doesn't start with an invalid rule", "fix or remove it", lines=said)
    if said:
        return note("Settings", f"{len(said)} problem{'s' * (len(said) > 1)}", lines=said)
    return ok("Settings", str(file) if file.exists() else "the defaults")


# Programs


def _programs(environ: Mapping[str, str]) -> Iterator[CheckResult]:
    for program, purpose, companion in PROGRAMS:
        found = shutil.which(program, path=environ.get("PATH"))
        if found is None:
            yield note(program, f"not found: needed for {purpose}")
        elif companion and shutil.which(companion, path=environ.get("PATH")) is None:
            yield note(program, f"{_version(found)} ({found}), but {companion} isn't found: needed for {purpose}")
        else:
            yield ok(program, f"{_version(found)} ({found})")


def _version(program: str) -> str:
    return printed(program, "--version").partition("\n")[0][:80] or "doesn't report its version"


def printed(*command: str) -> str:
    """What a command prints; "" if it fails, or takes too long."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=PROGRAM_LIMIT_S,
            check=True,
            start_new_session=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace").strip()


def _clipboard(environ: Mapping[str, str]) -> CheckResult:
    if found := native_tool(environ):
        return ok("Clipboard", found[0])
    if environ.get("TMUX"):
        return ok("Clipboard", "tmux, which hands copies to its own terminal (since tmux 3.2)")
    return note("Clipboard", "no tool for this desktop: copies go through the terminal (OSC 52), if it accepts them")


START_LIMIT_S: Final = 60.0
TURN_LIMIT_S: Final = 120.0
CANCEL_LIMIT_S: Final = 5.0
SLOW_S: Final = 5.0
"""A start that takes longer seems slow to users."""
SHOWN_LINES: Final = 12

Servers: TypeAlias = Callable[[Agent], Awaitable[Sequence[McpServer]]]


class AgentCheck:
    def __init__(self, command: AgentCommand, cwd: Path, policy: Policy, servers: Servers) -> None:
        """`policy` is the user's. What it lets agents do without asking is asked about here, and then refused."""
        self.findings: list[CheckResult] = []
        """In the order of the steps."""
        self._add = self.findings.append
        self.failure: ClientError | None = None
        """The error that ended the check early; None if there wasn't one."""
        self._command = command
        self._cwd = cwd
        self.policy = replace(policy, write=_asking(policy.write), terminals=_asking(policy.terminals))
        self._servers = servers
        self._spawned_at = 0.0
        self._first_frame_at: float | None = None
        self._rejected = 0

    async def run(self, prompt: str | None) -> None:
        """Run all steps; with `prompt`, also a turn. Respects the time limits and raises none of the agent's errors."""
        self._look_at_command()
        try:
            async with open_hub() as hub:
                self._spawned_at = time.monotonic()
                agent = await hub.start_agent(
                    self._command, cwd=self._cwd, offer=HEADLESS, policy=self.policy, tap=self._on_frame
                )
                try:
                    await self._talk(agent, prompt)
                except ClientError as error:
                    self._fail(error)
                finally:
                    await self._end(agent)
        except ClientError as error:
            self._fail(error)

    # Before the start

    def _look_at_command(self) -> None:
        for proxy in self._command.proxy_commands:
            self._add(ok("Proxy", " ".join(Masker().argv(proxy.argv))))
        line = " ".join(Masker().argv(self._command.argv))
        if self._command.address is not None:
            self._add(ok("Address", line))
            return
        self._add(ok("Command", line))
        found = shutil.which(self._command.argv[0], path=self._command.env.get("PATH"))
        if found is not None:
            self._add(ok("Found", found))
        if self._command.env:
            self._add(ok("Sets", ", ".join(self._command.env)))  # only the names, because the values are private

    # The steps

    def _on_frame(self, direction: Direction, _: bytes) -> None:
        if direction is Direction.IN and self._first_frame_at is None:
            self._first_frame_at = time.monotonic()

    async def _talk(self, agent: Agent, prompt: str | None) -> None:
        await agent.initialize(START_LIMIT_S)
        if self._first_frame_at is not None:
            self._add(ok("First line", _seconds(self._first_frame_at - self._spawned_at)))
        self._add(_timed("Initialize", time.monotonic() - self._spawned_at))
        self._look_at_handshake(agent)
        if agent.sandbox is not None:
            await self._prove(agent.sandbox)
        session = await self._open_session(agent)
        try:
            await self._look_at_login(agent)
            if prompt is not None:
                await self._take_turn(session, prompt)
        finally:
            await self._delete(agent, session)

    async def _delete(self, agent: Agent, session: Session) -> None:
        """Leave no session in the agent's list or, where it stays there, none in ours."""
        with suppress(ClientError), anyio.move_on_after(CANCEL_LIMIT_S, shield=True):
            if agent.capabilities.delete_session and agent.lost is None:
                await agent.delete_session(session.session_id)
            elif agent.capabilities.list_sessions:
                past = PastSession(agent.command.name, session.session_id, self._cwd)
                await to_thread.run_sync(partial(SessionMarks().change, past, is_archived=True))

    def _look_at_handshake(self, agent: Agent) -> None:
        self._add(ok("Protocol", f"ACP {agent.protocol_version}"))
        if agent.capabilities.acts_itself and agent.sandbox is None:
            self._add(note("Confinement", "none: it reads, writes, and runs commands itself"))
        if agent.identity is None:
            self._add(note("Agent", "it doesn't say who it is (agentInfo)"))
        else:
            self._add(ok("Agent", f"{agent.title} {agent.identity.version}".strip()))
        of_version = ("acts_itself", "more_prompts")  # these come with the version; agents don't choose them
        names = [each.name for each in fields(AgentCapabilities) if each.name not in of_version]
        flags = {name: getattr(agent.capabilities, name) for name in names}
        offered = [name.replace("_", " ") for name, value in flags.items() if value is True]
        lacking = [name.replace("_", " ") for name, value in flags.items() if value is False]
        self._add(ok("Offers", ", ".join(offered) or "only new sessions and prompts"))
        if lacking:
            self._add(note("Lacks", ", ".join(lacking)))
        if agent.auth_methods:
            self._add(ok("Logins", "; ".join(map(_method, agent.auth_methods))))

    async def _look_at_login(self, agent: Agent) -> None:
        """Say who is logged in; by now, an agent that tells it by itself has."""
        with suppress(ClientError), anyio.move_on_after(CANCEL_LIMIT_S):
            await agent.ask_auth_status()
        if agent.auth_status is not None:
            self._add(ok("Logged in", agent.auth_status.nameless.in_words))  # reports are shared

    async def _prove(self, sandbox: Sandbox) -> None:
        """Try to break out of the agent's own sandbox."""
        version = await to_thread.run_sync(lambda: sandbox.engine.version)
        self._add(ok("Sandbox", f"{sandbox.named} {version}".strip()))
        for gap in sandbox.engine.gaps:
            self._add(note("Gap", gap))
        for attempt in await prove(sandbox, self._cwd):
            self._add((ok if attempt.holds else wrong)(attempt.topic, attempt.text))

    async def _open_session(self, agent: Agent) -> Session:
        begin = time.monotonic()
        servers = await self._servers(agent)
        with anyio.move_on_after(START_LIMIT_S):
            session = await agent.new_session(self._cwd, mcp_servers=servers)
            self._add(_timed("New session", time.monotonic() - begin))
            return session
        raise AgentLost(f"{agent.title} didn't open a session within {START_LIMIT_S:g} s")

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
            self._add(note("Permissions", f"{self._rejected} requested and rejected: nothing was allowed"))
        entries = session.conversation.entries
        said = "".join(entry.text for entry in entries if isinstance(entry, Message) and entry.role == "agent")
        self._add(ok("Reply", said.strip()[:200]) if said.strip() else note("Reply", "it said nothing"))

    async def _prompt(self, session: Session, prompt: str) -> ClientError | None:
        """Send it, and refuse what the agent asks for. Returns the error, if any."""
        async with anyio.create_task_group() as tasks:
            refusing = Refusing(tasks)
            unsubscribe = refusing.attend(session)
            with anyio.move_on_after(TURN_LIMIT_S + CANCEL_LIMIT_S):
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
        return AgentLost(f"the turn was canceled after {TURN_LIMIT_S:g} s, and didn't end")

    async def _cancel_late(self, session: Session) -> None:
        await anyio.sleep(TURN_LIMIT_S)
        self._add(note("Turn", f"canceled, since it took longer than {TURN_LIMIT_S:g} s"))
        session.cancel()

    # The end

    async def _end(self, agent: Agent) -> None:
        was_lost = agent.lost is not None
        begin = time.monotonic()
        await agent.stop()
        took_s = time.monotonic() - begin
        if not was_lost and took_s >= CLOSE_GRACE_S:
            self._add(note("End", "it didn't exit when its input was closed, so it was terminated"))
        elif not was_lost:
            self._add(ok("End", _seconds(took_s)))
        self._look_at_output(agent)

    def _look_at_output(self, agent: Agent) -> None:
        unusable = [line for line in agent.log if line.startswith("[stdout] ")]
        said = [line for line in agent.log if not line.startswith("[stdout] ")]
        if unusable:
            text = f"{len(unusable)} {'lines are' if len(unusable) > 1 else 'line is'} not valid ACP"
            hint = "text for people belongs on stderr"
            self._add(note("Stdout", text, hint, tuple(unusable[:SHOWN_LINES])))
        elif self._first_frame_at is not None:
            self._add(ok("Stdout", "only messages"))
        if said:
            count = f"{len(said)} line{'s' * (len(said) > 1)}"
            text = f"the agent printed {count}" + f"; the last {SHOWN_LINES}:" * (len(said) > SHOWN_LINES)
            verdict = Verdict.OK if self.failure is None else Verdict.NOTE
            self._add(CheckResult("Stderr", verdict, text, lines=tuple(said[-SHOWN_LINES:])))

    def _fail(self, error: ClientError) -> None:
        self.failure = error
        if isinstance(error, AuthenticationRequired):
            ways = "; ".join(map(_method, error.methods)) or "it doesn't list any"
            hint = f"start acp-tui with it and log in, or use its own tools; it offers: {ways}"
            self._add(wrong("Login", f"required first (-32000): {error.detail}", hint))
            return
        # The tail of stderr is already shown there.
        detail = "" if isinstance(error, AgentLost) else error.detail
        self._add(wrong("Failed", str(error), error.hint, tuple(detail.splitlines()[:SHOWN_LINES])))


def _asking(grant: Grant) -> Grant:
    return grant if grant is Grant.OFF else Grant.ASK


def _timed(topic: str, seconds: float) -> CheckResult:
    text = _seconds(seconds)
    return note(topic, f"{text}: that is slow") if seconds > SLOW_S else ok(topic, text)


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s"


def _method(method: AuthMethod) -> str:
    return f"{method.name} ({method.method_id}{', in a terminal' if method.kind == 'terminal' else ''})"
