"""What every front end does with an agent: handshake, login, additions from the settings, and sessions."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import field, replace
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from random import uniform
from typing import Final, Protocol, TypeAlias, TypeVar

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from acp_tui.client import errors
from acp_tui.client.agents.command import AgentCommand, Phase
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.allowances import UnaskedKind
from acp_tui.client.sessions.consent import policy_of
from acp_tui.client.sessions.hub import SessionHub
from acp_tui.client.sessions.session import Session
from acp_tui.client.sessions.session_history import recorded_mode, recorded_of, reread
from acp_tui.client.settings import mcp, trust
from acp_tui.client.settings.location import settings_file
from acp_tui.client.settings.settings import RecordingSettings, Settings
from acp_tui.client.transcript import RecordTo
from acp_tui.client.transcript.index import SessionIndex
from acp_tui.client.transcript.recorder import SecretsSent
from acp_tui.client.transcript.recording_plan import recording_plan
from acp_tui.conversation import conversation, facts, recall, updates, wording
from acp_tui.conversation.entries import Failure, Message
from acp_tui.protocol.roles import AgentCapabilities, ClientOffer
from acp_tui.rpc import Tap
from acp_tui.values import dataclass

T = TypeVar("T")
LogIn: TypeAlias = Callable[[errors.AuthenticationRequired], Awaitable[facts.AuthMethod | None]]
"""Lets the user log in, and returns how, to try again; None if they don't."""
STILL_NEEDED: Final = "The agent accepted “{}”, but still needs a login: it may need a variable set before it starts"
"""Without these words, a login by the agent that wasn't enough would look as if nobody had chosen it."""
Options: TypeAlias = Sequence[tuple[str, str]]
"""What to choose in a session: options by category or ID, and their values."""
RESTARTED: Final = "The agent was restarted; this is a new session."
NOT_TOLD: Final = "The agent continues this session, but doesn't tell what was said in it."
PAUSES_S: Final = (0.2, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Pauses between attempts to reconnect. The last one repeats."""
LIST_PATIENCE_S: Final = 3.0
"""How long to wait for the agent's list, to say whether it has a session that it didn't open."""
TOLD_LATE_S: Final = 0.5
"""How long to wait for the history of a session that was loaded without one."""
TOLD_PAUSE_S: Final = 0.1
"""A history that comes late has ended when nothing has followed for so long."""


@dataclass(frozen=True, slots=True)
class Additions:
    """What the settings add to each session of one agent, and sentences about what they can't add."""

    directories: Sequence[Path] = ()
    left_out: Sequence[str] = ()
    """Of the directories, and of the system prompt, which the agent adds itself."""
    servers: Sequence[mcp.Server] = ()
    servers_left_out: Sequence[str] = ()


class FrontEnd(Protocol):
    """Asks and tells the user things about MCP servers, or stands in for the user."""

    async def trusts(self, project: trust.ProjectServers) -> bool | None:
        """Whether the user trusts a project's MCP servers; None if undecided."""

    def say_error(self, error: errors.SettingsError) -> None: ...


class LinkedAgent(Protocol):
    """An agent, whose process may change after a restart, and what its sessions get."""

    @property
    def agent(self) -> Agent | None:
        """The process that runs now."""

    @property
    def additions(self) -> Additions | None:
        """What each session gets."""


@dataclass(slots=True)
class FrontEndLink:
    agent: Agent | None = None
    additions: Additions = field(default_factory=Additions)


async def start_agent(
    hub: SessionHub,
    command: AgentCommand,
    cwd: Path,
    settings: Settings,
    offer: ClientOffer,
    say: Callable[[str], None],
    *,
    recordings: RecordingSettings,
    record: RecordTo | None = None,
    on_phase: Callable[[Phase], None],
    tap: Tap | None = None,
    secrets: SecretsSent | None = None,
    on_questions: Callable[[Agent], None] | None = None,
    unasked: frozenset[UnaskedKind] = frozenset(),
) -> Agent:
    """Start an agent according to the settings and complete its handshake. Raises ClientError.

    `say` tells the user about problems with the recording. `on_questions` is called when the agent asks something
    outside any session, possibly before it has introduced itself. `unasked` is what it may do without asking.
    """
    agent = await hub.start_agent(
        command,
        cwd=cwd,
        offer=replace(offer, trace_context=settings.agent.trace_context.as_mapping()),
        on_phase=on_phase,
        tap=tap,
        secrets=secrets,
        policy=policy_of(settings, unasked),
        recordings=recording_plan(recordings, cwd, say, to=record),
    )
    if on_questions is not None:
        agent.on_elicitations = partial(on_questions, agent)
    await agent.initialize(settings.agent.start_limit_s or None)
    return agent


async def logged_in(call: Callable[[], Awaitable[T]], log_in: LogIn) -> T:
    """Make `call`. Each time the agent requires a login, let the user log in and repeat the call (R-AUTH-3).

    Raises AuthenticationRequired if that's not worth trying again or there's no login method.
    """
    tried: facts.AuthMethod | None = None
    while True:
        try:
            return await call()
        except errors.AuthenticationRequired as wanted:
            wanted.tried = tried
            if tried is not None and tried.kind == "agent":
                wanted.detail = "\n".join(filter(None, (wanted.detail, STILL_NEEDED.format(tried.name))))
            if not wanted.methods or (tried := await log_in(wanted)) is None:
                raise


async def additions_for(agent: Agent, cwd: Path, directories: Sequence[Path], front: FrontEnd) -> Additions:
    """The additional directories of the settings, the user's MCP servers and, if trusted, the project's."""
    usable, left_out = usable_directories(agent.capabilities, directories)
    user = await _readable(to_thread.run_sync(mcp.servers_at_start, settings_file()), front)
    project = await _readable(_project_servers(cwd, front), front)
    wanted = agent.command.mcp_servers
    servers, notes = usable_servers(agent.capabilities, (user, project), wanted, runs_here=agent.runs_servers_here)
    return Additions(usable, (*left_out, *filter(None, [agent.untaken_prompt])), servers, notes)


async def _readable(servers: Awaitable[mcp.ServerList], front: FrontEnd) -> mcp.ServerList:
    """The servers. A file that can't be used is reported, and the servers of the other file still count."""
    try:
        return await servers
    except errors.SettingsError as error:
        front.say_error(error)
        return mcp.ServerList()


async def _project_servers(cwd: Path, front: FrontEnd) -> mcp.ServerList:
    project = await to_thread.run_sync(trust.read_project_servers, cwd)
    if project is None:
        return mcp.ServerList()
    state = await to_thread.run_sync(trust.trust_state, project, trust.trust_file())
    if state is trust.Trust.UNDECIDED and project.declared.servers:
        is_trusted = await front.trusts(project)
        if is_trusted is not None:
            state = trust.Trust.TRUSTED if is_trusted else trust.Trust.REJECTED
            try:
                await to_thread.run_sync(trust.remember, project, state, trust.trust_file())
            except errors.SettingsError as error:
                front.say_error(error)  # the answer applies anyway
    return trust.trusted_servers(project, state)


def usable_directories(
    capabilities: AgentCapabilities, wanted: Sequence[Path]
) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """The additional directories if the agent accepts any (R-DIR-1), and a sentence for each one left out."""
    if wanted and not capabilities.additional_directories:
        left_out = ", ".join(map(str, wanted))
        return (), (f"The agent doesn't support additional directories: {left_out}",)
    missing = [path for path in wanted if not path.is_dir()]
    notes = [f"There is no directory {path}, so it is skipped." for path in missing]
    return tuple(path for path in wanted if path not in missing), tuple(notes)


def usable_servers(
    capabilities: AgentCapabilities,
    lists: Sequence[mcp.ServerList],
    wanted: Sequence[str] | None = None,
    *,
    runs_here: bool = False,
) -> tuple[tuple[mcp.Server, ...], tuple[str, ...]]:
    """The MCP servers the agent can reach (R-MCP-2), and a sentence for each one that is left out or unusual.

    `wanted` names the servers for this agent; None for all. With `runs_here`, those that are programs run here.
    """
    servers = tuple(server for found in lists for server in found.servers)
    known = {server.name for server in servers} | {entry.name for found in lists for entry in found.skipped}
    unknown = [name for name in wanted or () if name not in known]
    usable, skipped = mcp.prepare(
        tuple(server for server in servers if wanted is None or server.name in wanted),
        stdio=capabilities.mcp_stdio,
        http=capabilities.mcp_http,
        sse=capabilities.mcp_sse,
        runs_here=runs_here,
        environ=os.environ,
    )
    warnings = [warning for found in lists for warning in found.warnings]
    left_out = (*(entry for found in lists for entry in found.skipped), *skipped)
    notes = (f"{entry.name}: {entry.reason}" for entry in left_out if wanted is None or entry.name in wanted)
    missing = (f"{name}: there is no server with that name" for name in unknown)
    return tuple(usable), (*warnings, *notes, *missing)


class SessionDriver:
    """Opens the sessions of one agent. Calls raise ClientError, and log in first if the agent requires it."""

    def __init__(self, link: LinkedAgent, log_in: LogIn, cwd: Path) -> None:
        self._link = link
        self._log_in = log_in
        self._cwd = cwd

    @property
    def agent(self) -> Agent:
        assert self._link.agent is not None
        return self._link.agent

    async def begin(self, earlier: Session | None = None, why_anew: str = "") -> Session:
        """Open a new session, below the conversation of `earlier` if given.

        `why_anew` says why that one can't continue. Of one in which nothing was said, only what is queued remains.
        """
        is_unused = earlier is not None and _is_unused(earlier)
        above = None if is_unused else earlier
        session = await self._opened(
            lambda agent, **added: agent.new_session(self._cwd, earlier=above, why_anew=why_anew, **added),
            earlier.last_mode if earlier is not None else None,
            self.agent.command.options,
        )
        if earlier is not None and is_unused:
            session.queue = earlier.queue
            session.apply(updates.ClientRemark(RESTARTED))
        return session

    async def fork(self, source: Session, title: str) -> Session:
        """Open another session that starts with what the agent knows from `source`, whose name is `title`."""
        return await self._opened(
            lambda agent, **added: agent.fork_session(source, title=title, **added), source.last_mode
        )

    async def open(
        self,
        session_id: facts.SessionId,
        cwd: Path,
        show: Callable[[Session], None],
        chosen: Options = (),
        mode: facts.SelectOption | None = None,
    ) -> Session:
        """The session as it is if it's already open, otherwise as the agent opens it (R-SESS-10).

        `show` is called if the agent asks for permission while loading it. `chosen` is set in it, and without a mode
        there, its last `mode`, which is that of the recording if it isn't given.
        """
        known = self.agent.sessions.get(session_id)
        if known is not None:
            return known
        command, is_told = self.agent.command, self.agent.capabilities.load_session
        mode = mode or await to_thread.run_sync(recorded_mode, session_id, command)
        earlier = None if is_told else await to_thread.run_sync(recorded_of, session_id, command, reread)
        early: list[Session] = []

        with ExitStack() as opening:

            def attend(session: Session) -> None:
                def look(change: conversation.Change) -> None:
                    if facts.Fact.PERMISSIONS in change.facts:  # opening the session may wait for the answer
                        opening.close()
                        early.append(session)
                        show(session)

                opening.callback(session.subscribe(look))

            try:
                session = await self._opened(
                    lambda agent, **added: agent.open_session(session_id, cwd, attend, earlier=earlier, **added),
                    mode,
                    chosen,
                )
            except errors.AgentRefused as error:
                if await self._lacks(session_id):
                    what = f"{self.agent.title} has no session with the ID {session_id}"
                    raise errors.UnknownSession(what, code=error.code) from error
                raise
        if not early and is_told:
            await show_as_recorded(session, command)
        elif session.conversation.is_blank and not is_told:
            session.apply(updates.ClientRemark(NOT_TOLD))
        return session

    async def go_on(
        self,
        earlier: Session,
        refused: Callable[[errors.AgentRefused], str],
        show: Callable[[Session], None] | None = None,
    ) -> Session:
        """Continue a session of an earlier process as far as the agent remembers it, otherwise in a new one below it.

        If the agent refuses to continue, `refused` returns the explanation for the new session. A session is loaded,
        with its history, only if `show` is given.
        """
        capabilities = self.agent.capabilities
        if not (earlier.conversation.is_begun or earlier.is_cut_off or self.agent.command.is_host):
            if _is_unused(earlier):
                return await self.begin(earlier)
            if await self._lacks(earlier.session_id):
                return await self.begin(earlier, f"{self.agent.title} keeps no session in which nothing was said.")
        is_loadable = show is not None and capabilities.load_session and not earlier.conversation.is_blank
        try:
            # Only the history contains what was said while disconnected.
            if capabilities.resume_session and not (earlier.has_missed and is_loadable):
                return await self._opened(
                    lambda agent, **added: agent.resume_session(
                        earlier.session_id, earlier.cwd, earlier=earlier, **added
                    ),
                    earlier.last_mode,
                )
            if show is not None and is_loadable:
                session = await self.open(earlier.session_id, earlier.cwd, show, mode=earlier.last_mode)
                earlier.queue.take_over(session.queue)  # if it was shown early
                session.queue, session.has_missed = earlier.queue, earlier.has_missed
                keep_title(session, earlier.conversation.title or "", is_named=earlier.conversation.is_named)
                session.apply(
                    updates.Reconnected(
                        remembers=True,
                        is_loaded=True,
                        why=_put_back(earlier, session) if earlier.has_missed else "",
                        is_same=earlier.is_cut_off,
                    )
                )
                return session
        except errors.AgentRefused as error:
            return await self.begin(earlier, refused(error))
        return await self.begin(earlier)

    async def _lacks(self, session_id: facts.SessionId) -> bool:
        """Whether the agent lists its sessions in time, and this isn't one of them."""
        with suppress(errors.ClientError), anyio.move_on_after(LIST_PATIENCE_S):
            if self.agent.capabilities.list_sessions and session_id not in self.agent.sessions:
                return all(each.session_id != session_id for each in await self.agent.all_sessions())
        return False

    async def _opened(
        self, call: Callable[..., Awaitable[Session]], mode: facts.SelectOption | None = None, chosen: Options = ()
    ) -> Session:
        """The session, in the `mode` in which it was left. A host's is already in it, or other clients changed it."""

        async def call_agent() -> Session:
            added = self._link.additions or Additions()
            return await call(self.agent, additional_directories=added.directories, mcp_servers=added.servers)

        session = await logged_in(call_agent, self._log_in)
        if mode is not None and not self.agent.command.is_host:
            # Before what is chosen, which the agent may refuse.
            await keep_mode(session, mode, is_told=not {"mode", mode.option_id} & dict(chosen).keys())
        await choose(session, chosen)
        now = facts.mode_of(session.conversation.options)
        session.start_mode = now.value if now is not None else None
        return session


def _is_unused(session: Session) -> bool:
    """Whether nothing was said or done in it: it has only remarks and failures."""
    return all(isinstance(entry, updates.ClientRemark | Failure) for entry in session.conversation.entries)


async def show_as_recorded(session: Session, command: AgentCommand) -> None:
    """Show what was loaded as it was recorded, in a session that isn't shown yet. A host tells all of it itself."""
    if command.is_host:
        return
    is_told = not session.conversation.is_blank
    recorded = await to_thread.run_sync(recorded_of, session.session_id, command, SessionIndex.reread)
    if recorded is not None and not recorded.is_blank:
        if not is_told:
            await _told(session)
        recall.recall(session.conversation, recorded, session.session_id)


async def _told(session: Session) -> None:
    """Wait until the agent has told what was said, which Gemini CLI does only after it has answered."""
    more = not session.conversation.is_blank or await _changes_within(session, TOLD_LATE_S)
    while more:
        more = await _changes_within(session, TOLD_PAUSE_S)


async def _changes_within(session: Session, seconds: float) -> bool:
    changed = anyio.Event()
    unsubscribe = session.subscribe(lambda _: changed.set())
    with anyio.move_on_after(seconds):
        await changed.wait()
    unsubscribe()
    return changed.is_set()


def keep_title(session: Session, title: str, *, is_named: bool) -> None:
    """Give an opened session the title that it had, unless its agent tells another and this isn't the user's own."""
    if is_named and not session.conversation.is_named:
        session.apply(updates.Renamed(title))
    elif title and not session.conversation.title:
        session.hear(updates.InfoChanged(title=title))


async def keep_mode(session: Session, before: facts.SelectOption, *, is_told: bool = True) -> None:
    """Set the mode that the session had before its agent opened it again, or say in the session that it is another.

    A mode in which the agent asks less isn't set: only the user permits, each time.
    """

    def now() -> facts.SelectOption | None:
        return facts.mode_of(session.conversation.options)

    opened = now()
    if opened is not None and opened.value != before.value:
        wanted = next((choice for choice in opened.choices if choice.value == before.value), None)
        if wanted is not None and not opened.caution(wanted):
            with suppress(errors.ClientError):
                await session.set_option(opened.option_id, wanted.value)
    kept = now()
    if is_told and (kept is None or kept.value != before.value):
        is_now = "The agent has no mode now" if kept is None else f"The mode is {wording.value_name(kept)}"
        session.apply(updates.ClientRemark(f"{is_now}; it was {wording.value_name(before)}."))


_SWITCHED = {"on": True, "true": True, "off": False, "false": False}


async def choose(session: Session, chosen: Options) -> None:
    """Set these options, which are named by category (`mode`, `model`) or ID. Values may be named as they are shown.

    Raises Unsupported for what the agent doesn't offer; SessionClosed; AgentRefused; AgentLost.
    """
    for name, value in chosen:
        option = option_named(session.conversation.options, name)
        wanted = _value(option, value)
        if option.value != wanted:
            await session.set_option(option.option_id, wanted)


def option_named(options: Sequence[facts.ConfigOption], name: str) -> facts.ConfigOption:
    """The option of this category or with this ID. Raises Unsupported."""
    by_name = {option.category: option for option in reversed(options)}
    by_name |= {option.option_id: option for option in reversed(options)}
    if name not in by_name:
        offered = ", ".join(option.option_id for option in options) or "none"
        raise errors.Unsupported(f"the agent has no {name} to choose", hint=f"its options: {offered}")
    return by_name[name]


def _value(option: facts.ConfigOption, wanted: str) -> str | bool:
    if isinstance(option, facts.BooleanOption):
        if wanted.lower() in _SWITCHED:
            return _SWITCHED[wanted.lower()]
        raise errors.Unsupported(f"{option.option_id} can't be {wanted!r}", hint="it is on or off")
    names = {choice.value: choice.name for choice in option.choices}
    value = wanted if wanted in names else {name.lower(): value for value, name in names.items()}.get(wanted.lower())
    if value is None:
        hint = f"it is one of {', '.join(names.values())}"
        raise errors.Unsupported(f"{option.option_id} can't be {wanted!r}", hint=hint)
    return value


def _put_back(earlier: Session, loaded: Session) -> str:
    """Queue the last prompt again if it never arrived. Returns a sentence about it, or ""."""
    sent = _prompts(earlier)
    # Compare counts: an agent may have added something around the prompt, or before it on the same line.
    if not sent or _count(sent[-1], _prompts(loaded)) >= _count(sent[-1], sent):
        return ""
    loaded.queue.add(sent[-1], is_first=True)
    loaded.queue.hold("not received")
    return "Your last prompt didn't arrive. It waits above the prompt."


def _count(prompt: str, prompts: Sequence[str]) -> int:
    return "\n".join(prompts).count(prompt)


def _prompts(session: Session) -> list[str]:
    entries = session.conversation.entries
    return [entry.text for entry in entries if isinstance(entry, Message) and entry.role == "user"]


async def until_connected(
    go_on: Callable[[], Awaitable[T]], sleep: Callable[[float], Awaitable[object]] = anyio.sleep
) -> T:
    """Call `go_on` until the agent can be reached again, with growing pauses and no time limit.

    Raises ClientError if it's not worth trying again.
    """
    for pause_s in chain(PAUSES_S, repeat(PAUSES_S[-1])):
        await sleep(pause_s * uniform(0.8, 1.2))  # the jitter keeps clients from overloading a server that comes back
        try:
            return await go_on()
        except errors.AgentUnreachable as error:
            if not error.is_temporary:
                raise
    raise AssertionError("the pauses don't end")


class Refusing:
    """Stands in for a user who allows nothing: rejects permissions, forms, and pages to visit."""

    def __init__(self, tasks: TaskGroup) -> None:
        self.rejected = 0
        """The number of permission requests."""
        self._tasks = tasks

    def attend_agent(self, agent: Agent) -> None:
        """Decline what the agent asks outside sessions."""

        def decline() -> None:
            self._tasks.start_soon(_decline, agent)

        agent.on_elicitations = decline

    def attend(self, session: Session) -> Callable[[], None]:
        """Refuse what the agent asks in this session until the returned function is called."""

        def on_change(change: conversation.Change) -> None:
            if facts.Fact.PERMISSIONS in change.facts:
                self._tasks.start_soon(self._reject, session)
            if facts.Fact.ELICITATIONS in change.facts:
                self._tasks.start_soon(_decline, session)

        return session.subscribe(on_change)

    async def _reject(self, session: Session) -> None:
        """Reject each request once. If there's no option for that, cancel the turn, which is the only way to refuse."""
        for request in list(session.conversation.permissions.values()):
            self.rejected += 1
            rejection = request.rejection_once
            if rejection is None:
                session.cancel()
                return
            session.answer_permission(request.key, rejection.option_id)


async def _decline(side: Agent | Session) -> None:
    asked = side.elicitations if isinstance(side, Agent) else side.conversation.elicitations
    for key in list(asked):
        side.questions.answer(key, "decline")
