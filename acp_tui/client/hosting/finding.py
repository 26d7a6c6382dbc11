"""The hosts of this user: where each listens, how to find one by name, what runs there, and a host as an agent.

Only the user can access the folder and its sockets. A host that was killed leaves its socket, on which nothing listens;
the next lookup deletes it. What ACP can't say about a session is sent separately (`extension_methods`).
"""

from __future__ import annotations

import logging
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from errno import EPERM
from pathlib import Path
from stat import S_ISDIR
from typing import Any, Final, Protocol
from urllib.parse import quote

import anyio
from anyio import to_thread

from acp_tui.client.agents.address import Address
from acp_tui.client.agents.command import AgentCommand, Phase
from acp_tui.client.errors import ClientError
from acp_tui.client.hosting import extension_methods
from acp_tui.client.private_files import PRIVATE, locked, make_private
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.hub import SessionHub, open_hub
from acp_tui.client.sessions.session import Session
from acp_tui.client.sessions.session_history import PastSession, short_ids
from acp_tui.client.settings.location import SHARED_FOLDER, hosts_folder
from acp_tui.client.transcript.extension_updates import NotReadable
from acp_tui.conversation import conversation, elicitation, updates
from acp_tui.conversation.facts import PermissionRequest, RequestKey, SessionId
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.wording import age
from acp_tui.protocol.roles import ClientOffer
from acp_tui.values import dataclass

ANSWER_LIMIT_S: Final = 10.0
MAX_NAME: Final = 24
_ODD: Final = re.compile(r"[^A-Za-z0-9_.]+")


@dataclass(frozen=True, slots=True)
class HostPaths:
    name: str
    folder: Path

    @property
    def socket(self) -> Path:
        return self.folder / f"{self.name}.sock"

    @property
    def token(self) -> Path:
        """The token that TCP clients must send."""
        return self.folder / f"{self.name}.token"

    @property
    def watch_token(self) -> Path:
        return self.folder / f"{self.name}.watch-token"

    @property
    def log(self) -> Path:
        """Its internal errors."""
        return self.folder / f"{self.name}.log"

    @property
    def command(self) -> AgentCommand:
        url = f"unix://{quote(str(self.socket))}"
        return AgentCommand(self.name, (url,), address=Address(url), is_host=True)

    def clear(self) -> None:
        """Delete the files of a host that has ended, except its log. Blocks."""
        for file in (self.socket, self.token, self.watch_token):
            file.unlink(missing_ok=True)


def bound(agent: str, folder: Path | None = None) -> tuple[HostPaths, socket.socket]:
    """A free place for a host of this agent, and the bound socket that reserves it. Blocks. Raises ClientError."""
    folder = folder or hosts_folder()
    stem = _ODD.sub("-", agent).strip("-.")[:MAX_NAME] or "agent"
    try:
        make_private(folder)
        _require_own(folder)
        make_private(folder, is_ours=True)
        with locked(folder / "hosts"):
            taken = {place.name for place in _places(folder)}
            number = next(n for n in range(1, len(taken) + 2) if _numbered(stem, n) not in taken)
            place = HostPaths(_numbered(stem, number), folder)
            return place, _listener(place.socket)
    except OSError as error:
        raise ClientError(f"{folder} can't be used: {error.strerror or error}") from error


def _require_own(folder: Path) -> None:
    """Raise OSError if the folder is in one that everyone can write to, and isn't the user's own."""
    if folder.parent.parent != SHARED_FOLDER:
        return
    for each in (folder.parent, folder):
        status = each.lstat()
        if not S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
            raise PermissionError(EPERM, f"{each} isn't a folder of yours")


def _numbered(stem: str, number: int) -> str:
    return stem if number == 1 else f"{stem}-{number}"


def _listener(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        path.chmod(PRIVATE)  # the folder is private, too
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


def _listening(folder: Path) -> list[HostPaths]:
    """As `_places`, while no host is about to listen: it would lose its socket. Blocks."""
    try:
        with locked(folder / "hosts"):
            return _places(folder)
    except OSError:
        return _places(folder)


def _places(folder: Path) -> list[HostPaths]:
    """Places where a host listens. Deletes the others. None in a folder that isn't the user's own."""
    found: list[HostPaths] = []
    try:
        _require_own(folder)
    except OSError:
        return found
    for file in sorted(folder.glob("*.sock")):
        place = HostPaths(file.stem, folder)
        if _is_heard(file):
            found.append(place)
        else:
            place.clear()
    return found


def _is_heard(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        try:
            caller.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True  # busy, or not ours to decide
        return True


# What runs there


class AgentSessions(Protocol):
    async def open(self, session_id: SessionId, cwd: Path) -> Session:
        """A session that the agent knows."""


@dataclass(frozen=True, slots=True)
class HostedSession:
    """A session as its host describes it. Its text is untrusted."""

    host: str
    """Its name, or its address."""
    command: AgentCommand
    """The host as an agent."""
    agent: str
    """The agent's own name."""
    session_id: SessionId
    cwd: Path
    title: str
    turn: str
    """idle, running, or cancelling."""
    waiting: tuple[str, ...]
    """The questions that wait for an answer, one line each."""
    attached: int
    """How many terminals show it."""
    opened_at: float
    """When it was opened in its host, in seconds since the epoch; 0 if the host doesn't say."""
    misfit: str = ""
    """Why this release of acp-tui can't attach to its host; "" if it can."""

    @property
    def state(self) -> str:
        return "needs you" if self.waiting else "working" if self.turn != "idle" else "idle"

    @property
    def age(self) -> str:
        """How long it has been there; "" if unknown."""
        return f"open for {age(time.time() - self.opened_at)}" if self.opened_at else ""

    def is_shown_by(self, agent: Agent | None, session: Session | None) -> bool:
        if agent is None or session is None or agent.lost is not None:
            return False
        return agent.command == self.command and session.session_id == self.session_id

    def to_watch(self) -> HostedSession:
        return replace(self, command=watching(self.command))

    def require_fit(self) -> None:
        """Raise ClientError if this release of acp-tui can't attach to its host."""
        if self.misfit:
            raise ClientError(self.misfit)

    async def open_in(self, sessions: AgentSessions) -> Session:
        """Open the session as an additional client. Raises ClientError."""
        self.require_fit()
        return await sessions.open(self.session_id, self.cwd)


def watching(command: AgentCommand) -> AgentCommand:
    assert command.address is not None
    headers = {**command.address.headers, **extension_methods.READ_ONLY}
    return replace(command, address=replace(command.address, headers=headers))


async def hosted_sessions() -> list[HostedSession]:
    """The sessions of all hosts on this machine, without those of hosts that don't answer."""
    places = await to_thread.run_sync(_listening, hosts_folder())
    told: dict[str, list[HostedSession]] = {}

    async def ask(place: HostPaths) -> None:
        with suppress(ClientError):
            told[place.name] = await sessions_at(place.command)

    async with anyio.create_task_group() as tasks:
        for place in places:
            tasks.start_soon(ask, place)
    return [session for place in places for session in told.get(place.name, ())]


async def sessions_at(command: AgentCommand) -> list[HostedSession]:
    """The sessions of a host. Raises ClientError."""
    async with _connected(command) as agent:
        misfit = extension_methods.misfit(agent.capabilities.meta)
        return _read_status(command, await agent.send_extension(extension_methods.STATUS, {}), misfit)


@asynccontextmanager
async def _connected(command: AgentCommand) -> AsyncIterator[Agent]:
    """Connect to a host as an agent for the block. Raises ClientError."""
    async with open_hub() as hub:
        agent = await attached(hub, command)
        await agent.initialize(ANSWER_LIMIT_S)
        yield agent


def described(sessions: Sequence[HostedSession]) -> Iterator[str]:
    """Lines that tell the sessions apart, safe to show: host, ID, state, and title; then agent, folder, and age."""
    short = short_ids(one.session_id for one in sessions)
    width = max((len(one.host) for one in sessions), default=0)
    ids = max(map(len, short.values()), default=0)
    for one in sessions:
        title = one.title or "(untitled)"
        facts = (one.agent, str(one.cwd), one.age, f"{one.attached} attached" if one.attached else "")
        yield make_visible_line(f"{one.host:<{width}}  {short[one.session_id]:<{ids}}  {one.state:<9}  {title}")
        yield make_visible_line(f"{'':<{width}}  {' · '.join(filter(None, facts))}")
        for asked in one.waiting:
            yield make_visible_line(f"{'':<{width}}  asks: {asked}")


def _read_status(command: AgentCommand, status: Any, misfit: str) -> list[HostedSession]:
    """The sessions in a status, which may come from another version."""
    sessions = status.get("sessions") if isinstance(status, dict) else None
    return [
        HostedSession(
            command.name,
            command,
            str(status.get("agent") or command.name),
            SessionId(str(one.get("sessionId"))),
            Path(str(one.get("cwd"))),
            str(one.get("title") or ""),
            str(one.get("turn")),
            tuple(map(str, one.get("waiting") or ())),
            one["attached"] if isinstance(one.get("attached"), int) else 0,
            next((at for at in (one.get("openedAt"), status.get("startedAt")) if isinstance(at, int | float)), 0),
            misfit,
        )
        for one in sessions or ()
        if isinstance(one, dict)
    ]


def named(sessions: Sequence[HostedSession], name: str) -> HostedSession:
    """The session with this host name or ID prefix; with "", the only one. Raises ClientError."""
    if not sessions:
        raise ClientError("no session is hosted", hint="to start one: acp-tui host AGENT")
    exact = [one for one in sessions if name in (one.host, one.session_id)]
    found = exact or [one for one in sessions if one.session_id.startswith(name)]
    if len(found) == 1:
        return found[0]
    known = "\n".join(described(found or sessions))
    what = (
        "several sessions are hosted"
        if not name
        else f"no hosted session is named {name!r}"
        if not found
        else f"{name!r} matches several sessions"
    )
    raise ClientError(what, hint=f"choose one by its host or its ID:\n{known}")


async def hosted_again(past: PastSession, command: AgentCommand) -> HostedSession:
    """Start a host that continues a recorded session with this agent. Raises ClientError."""
    agent = [command.name] if command.is_listed else ["--", *command.argv]
    argv = [sys.executable, "-m", "acp_tui", "host", f"--resume={past.session_id}", "--cwd", str(past.cwd), *agent]
    done = await anyio.run_process(argv, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).decode(errors="replace").strip().removeprefix("acp-tui: ")
        what, _, hint = said.partition("\n")
        raise ClientError(what or "the host didn't start", hint=hint.strip())
    return named(await hosted_sessions(), past.session_id)


async def _named_places(name: str | None) -> list[HostPaths]:
    """The host with this name, or all if None. Raises ClientError."""
    places = await to_thread.run_sync(_listening, hosts_folder())
    wanted = [place for place in places if name in (None, place.name)]
    if name is not None and not wanted:
        known = ", ".join(place.name for place in places)
        raise ClientError(f"no host is named {name!r}", hint=f"running: {known}" if known else "none is running")
    return wanted


async def _asked_of(name: str | None, method: str) -> AsyncIterator[tuple[HostPaths, Agent, Mapping[str, Any]]]:
    """Ask this host, or all if None. Yields what each answers, while it's connected. Raises ClientError."""
    for place in await _named_places(name):
        async with _connected(place.command) as agent:
            answer = await agent.send_extension(method, {})
            yield place, agent, answer if isinstance(answer, dict) else {}


async def stopped(name: str | None) -> list[str]:
    """End this host, or all if None. Returns the names of those ended. Raises ClientError."""
    done = []
    async for place, agent, _ in _asked_of(name, extension_methods.STOP):
        await agent.ended.wait()
        done.append(place.name)
    return done


async def revoked(name: str | None) -> list[str]:
    """Make the tokens of this host invalid, or those of all if None. Returns the names of the hosts that had any.

    Raises ClientError.
    """
    answers = _asked_of(name, extension_methods.REVOKE)
    return [place.name async for place, _, answer in answers if answer.get("revoked") is True]


@dataclass(frozen=True, slots=True)
class Share:
    """How someone who may only watch attaches to a host."""

    host: str
    address: str
    token: str


async def shared(name: str | None) -> list[Share]:
    """Where to watch this host, or all if None; without those that don't listen on TCP. Raises ClientError."""
    found = []
    async for place, _, status in _asked_of(name, extension_methods.STATUS):
        address = next((str(one) for one in status.get("listens") or () if "://" in str(one)), "")
        if address:
            with suppress(OSError):
                found.append(Share(place.name, address, await to_thread.run_sync(place.watch_token.read_text)))
    return found


log = logging.getLogger(__name__)

OFFER: Final = ClientOffer(
    read_text_file=False,
    write_text_file=False,
    terminal=False,
    elicitation_form=True,
    elicitation_url=True,
    is_for_host=True,
    meta=extension_methods.FOLLOWS,
)
"""The host serves files and terminals itself. From its clients, it only needs their users' answers."""


async def attached(hub: SessionHub, command: AgentCommand, on_phase: Callable[[Phase], None] = lambda _: None) -> Agent:
    """The agent that represents a host, to be initialized by the caller.

    Nothing is recorded, because the host does that.

    Raises AgentStartFailed.
    """

    def on_update(params: object) -> None:
        try:
            session_id, update = extension_methods.read_update(params)
        except NotReadable as error:  # a newer host may send more
            log.debug("an update from the host was skipped: %s", error)
            return
        session = agent.sessions.get(session_id)
        if session is not None:
            _apply(session, update)

    def on_attended(params: object) -> None:
        with suppress(NotReadable):
            session_id, attendance = extension_methods.read_attended(params)
            if session_id in agent.sessions:
                agent.sessions[session_id].note_attendance(attendance)

    taken = {extension_methods.UPDATE: on_update, extension_methods.ATTACHED: on_attended}
    agent = await hub.start_agent(command, offer=OFFER, on_phase=on_phase, extensions=taken, keeps_frames=True)
    return agent


def _apply(session: Session, update: updates.SessionUpdate) -> None:
    match update:
        case updates.PermissionAnswered(key) | updates.PermissionNoted(key) | updates.ElicitationAnswered(key) if (
            key > 0
        ):
            local = _local_key(key, session.conversation)
            if local is not None:
                session.apply(replace(update, key=local))
        case updates.PermissionAsked(PermissionRequest(key=key)) | updates.ElicitationAsked(
            elicitation.Form(key) | elicitation.UrlVisit(key)
        ) if key > 0:
            log.debug("the host sent a question as an update, which can't be answered")
        case updates.TerminalOpened():
            session.apply(replace(update, is_ours=False))  # it runs there, so we can't type into it
        case _:
            session.apply(update)


def _local_key(key: RequestKey, asked_in: conversation.Conversation) -> RequestKey | None:
    """The key of our question that has this key at the host, where all questions have different ones."""
    waiting = (*asked_in.permissions.values(), *asked_in.elicitations.values())
    return next((asked.key for asked in waiting if extension_methods.key_in(asked.meta) == key), None)
