"""Past sessions as one list, from the agent and from recordings. Reading recordings blocks, so use a thread."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cache
from itertools import pairwise, product
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NoReturn, TypeAlias, TypeVar

from acp_tui.client.agents.command import DEMO, AgentCommand
from acp_tui.client.errors import ClientError
from acp_tui.client.private_files import locked, read_json_object, write_json_state
from acp_tui.client.secrets.masking import MASK, Masker, masked_text
from acp_tui.client.sessions.session import Session
from acp_tui.client.settings.location import state_folder
from acp_tui.client.settings.settings import NO_SANDBOX, RecordingSettings
from acp_tui.client.transcript.digest import digest_of
from acp_tui.client.transcript.index import RecordedSession, SessionIndex
from acp_tui.client.transcript.index_tables import Folder
from acp_tui.client.transcript.lines import RecordingUnreadable, open_recording
from acp_tui.client.transcript.recording_plan import recording_store
from acp_tui.client.transcript.replayed_sessions import ReplayedSessions
from acp_tui.conversation import content, entries, facts, updates
from acp_tui.conversation.conversation import Conversation
from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.roles import ClientOffer, Quirks
from acp_tui.protocol.v1.connection import ConnectionV1
from acp_tui.rpc import RpcError
from acp_tui.values import dataclass

if TYPE_CHECKING:
    from acp_tui.client.sessions.agent import Agent


class SessionFromRecording(Session):
    """What was said in a session. It accepts no prompts until another session continues it."""

    def __init__(
        self, recorded: RecordedSession, conversation: Conversation, why: str = "", *, has_failed: bool = True
    ) -> None:
        """`why` tells the user why its agent didn't open it, or with `has_failed` false, why no agent can."""
        # A connection to no agent. Callers check whether the agent is connected before using it.
        unconnected = ConnectionV1(ReplayedSessions({}), ClientOffer())
        super().__init__(recorded.session_id, recorded.cwd, unconnected, Quirks(), _explain)
        self.recorded = recorded
        self.conversation = conversation
        self.last_mode = facts.mode_of(conversation.options)
        last = datetime.fromtimestamp(recorded.last_at)
        told = f"Read back from its recording, last used {last:%Y-%m-%d %H:%M}"
        self.why_read_only = "" if has_failed else why
        first = f"Read-only: {why}. " if self.why_read_only else f"{why}\n" if why else ""
        self.apply(updates.Disconnected("", is_fault=False))  # how it goes on, the recording doesn't tell
        note = f"{first}{told}"
        conversation.entries.append(entries.Failure(note) if why and has_failed else updates.ClientRemark(note))


def reread(
    index: SessionIndex, recorded: RecordedSession, why: str = "", *, has_failed: bool = True
) -> SessionFromRecording:
    """Read a session again. Blocks. Raises RecordingUnreadable."""
    if not recorded.cwd.is_absolute() or "\0" in str(recorded.cwd):
        raise RecordingUnreadable(f"the recording names no folder that the session worked in: {recorded.cwd}")
    return SessionFromRecording(recorded, index.reread(recorded), why, has_failed=has_failed)


async def _explain(error: RpcError | MalformedMessage) -> NoReturn:
    raise error


T = TypeVar("T")
MAX_READ_BYTES: Final = 16 << 20
"""Of recordings that are read while a session is opened: about a second."""
SHORTEST: Final = 8
"""Characters of a shortened ID."""
MAX_LINE: Final = 300
"""Characters of a line that is shown because it contains a search word."""
_BEFORE_WORD: Final = 24


FOLDER_GONE: Final = "its folder is gone"


class HistoryUnreadable(ClientError):
    """The folder of the recordings can't be read."""


@dataclass(frozen=True, slots=True)
class PastSession:
    """A session from an agent's list, from a recording, or both. Its text is untrusted."""

    agent: str
    """The name of the agent's command."""
    session_id: facts.SessionId
    cwd: Path
    title: str = ""
    last_at: float | None = None
    """When it was last used, in seconds since the epoch."""
    told_time: str = ""
    """The agent's text for that time, if it isn't a valid time."""
    is_listed: bool = False
    """The agent we asked still has it."""
    recorded: RecordedSession | None = None
    is_latest: bool = True
    """No later session of this agent has the same ID."""
    has_folder: bool = True
    """The folder it worked in still exists."""
    is_named: bool = False
    """The title is the user's own."""
    is_pinned: bool = False
    is_archived: bool = False
    has_draft: bool = False
    doing: str = ""
    """What its agent says of it, in a word or two."""
    agent_title: str = ""
    """What its agent is called, if it isn't `agent`."""
    branch: str = ""
    """Of the worktree of the user's repository that it worked in, if that is another one."""

    @property
    def agents(self) -> tuple[str, ...]:
        return (self.agent, *(self.recorded.agents if self.recorded is not None else ()))

    @property
    def shown_agent(self) -> str:
        return self.agent_title or self.agent

    @property
    def is_fork(self) -> bool:
        return self.recorded is not None and bool(self.recorded.forked_from)

    @property
    def key(self) -> str:
        """Tells it from all other sessions, whose agents may reuse its ID, as long as it isn't recorded later."""
        return self.recorded.origin if self.recorded is not None else f"{self.agent}/{self.session_id}"

    @property
    def command(self) -> tuple[str, ...]:
        """The command line of its agent, without secrets; empty if unknown."""
        return self.recorded.command if self.recorded is not None else ()

    def is_of(self, command: AgentCommand) -> bool:
        """Whether it belongs to the agent that this command starts, under any name.

        An unlisted name stands for many commands.
        """
        if self.command and self.command == command.argv:
            return True
        if self.agent != command.name:
            return False
        if command.is_listed or not self.command:
            return True
        return self.command == Masker({**os.environ, **command.env}).argv(command.argv)

    @property
    def why_not_again(self) -> str:
        """Why it can't be opened by starting its agent again; "" if that may be tried."""
        if not self.has_folder:
            return FOLDER_GONE
        if self.agent == DEMO:
            return "the demo forgets its sessions when it exits"
        if not self.is_latest:
            return "a later session has the same id"
        if any(MASK in word for word in self.command):
            return "a secret in its agent's command wasn't recorded"
        return ""


def recorded_sessions(index: SessionIndex, cwd: Folder, words: str = "") -> list[PastSession]:
    """Sessions of some folders or of all, last used first; with `words`, those containing them. Raises ClientError."""
    try:
        found = index.search(words, cwd) if words else index.recent(cwd)
    except OSError as error:
        raise HistoryUnreadable(f"the recordings can't be read: {error}") from error
    seen: set[tuple[object, facts.SessionId]] = set()
    is_folder = cache(os.path.isdir)  # thousands of sessions are in few folders
    past = []
    for one in found:
        names: set[tuple[object, facts.SessionId]] = {(name, one.session_id) for name in one.agents}
        names |= {(one.command, one.session_id)} if one.command else set()
        session = past_session(one, is_folder)
        past.append(session if seen.isdisjoint(names) else replace(session, is_latest=False))
        seen |= names
    return past


def past_session(recorded: RecordedSession, is_folder: Callable[[Path], bool] = os.path.isdir) -> PastSession:
    """The latest session with its ID. Checks whether its folder exists."""
    return PastSession(
        recorded.agent,
        recorded.session_id,
        recorded.cwd,
        recorded.title,
        recorded.last_at,
        recorded=recorded,
        has_folder=is_folder(recorded.cwd),  # not Path.is_dir, which raises for a name that is too long
        agent_title=shown_agent(recorded.agent, recorded.command, recorded.agent_title),
    )


def shown_agent(name: str, command: Sequence[str], said: str) -> str:
    """What a recorded agent is called: its name, or what it said it is, if that's only the program's name.

    A bare command can't take the name of an agent that acp-tui knows.
    """
    from acp_tui.client.agents.catalogue import KNOWN_AGENTS  # not needed to start an agent

    is_bare = bool(command) and name == command[0].rpartition("/")[2] and name not in KNOWN_AGENTS
    return said if is_bare and said and said not in KNOWN_AGENTS else name


Places: TypeAlias = Mapping[tuple[object, str], str]
"""Where sessions are open, by the name or the command of the agent, and the session's ID."""


def place_in(places: Places, session_id: facts.SessionId, *started: object) -> str:
    """Where an agent's session is open; "" for nowhere. `started` are names and commands of the agent."""
    return next((where for one in started if (where := places.get((one, session_id)))), "")


def open_elsewhere() -> Places:
    """The sessions that other processes of acp-tui have open and record. Blocks."""
    places: dict[tuple[object, str], str] = {}
    with suppress(ClientError, OSError):
        for header, session_ids in SessionIndex(recording_store(RecordingSettings())).open_elsewhere():
            which = f" (process {header.pid})" if header.pid is not None else ""
            for started, session_id in product((header.agent, header.argv), session_ids):
                places[started, session_id] = f"open in another acp-tui{which}"
    return places


def warning_if_open(session_id: facts.SessionId, *started: object) -> str:
    """What opening an agent's session a second time would mean; "" if it's open nowhere else. Blocks."""
    where = place_in(open_elsewhere(), session_id, *started)
    return where and (
        f"This session is {where}. Neither shows what is said in the other, and the agent may lose some of it. If"
        " it's in a host, `acp-tui attach` shows it."
    )


def recorded_mode(session_id: facts.SessionId, command: AgentCommand) -> facts.SelectOption | None:
    """The mode in which an agent's session was last recorded; None if unknown. Blocks."""
    return recorded_of(session_id, command, SessionIndex.last_mode, inf)


def open_session(session: Session, command: AgentCommand) -> PastSession:
    """An agent's open session, with what is recorded of it. Blocks."""
    is_blank = session.conversation.is_blank  # an earlier one may have had its ID
    recorded = None if is_blank else recorded_of(session.session_id, command, lambda _, found: found, inf)
    return PastSession(command.name, session.session_id, session.cwd, recorded=recorded)


def recorded_of(
    session_id: facts.SessionId,
    command: AgentCommand,
    read: Callable[[SessionIndex, RecordedSession], T | None],
    most_bytes: float = MAX_READ_BYTES,
) -> T | None:
    """What this reads of an agent's recorded session; None for nothing, or if that has more bytes. Blocks."""
    with suppress(ClientError, OSError):
        index = SessionIndex(recording_store(RecordingSettings()))
        found = index.find(session_id)
        if found is not None and found.session_id == session_id and past_session(found).is_of(command):
            is_short = sum(path.stat().st_size for path in index.origins(found)) <= most_bytes
            return read(index, found) if is_short else None
    return None


def sandbox_of(past: PastSession) -> str:
    """The name of the sandbox it was last recorded in; "" for none. Blocks. Raises RecordingUnreadable."""
    if past.recorded is None:
        return ""
    with open_recording(past.recorded.recordings[-1]) as recording:
        name = recording.header.sandbox
    return "" if name == NO_SANDBOX else name


def sandboxed_as_before(command: AgentCommand, past: PastSession, wanted: str = "") -> AgentCommand:
    """What continues a session: in the sandbox that the user wants, otherwise in the one it was recorded in.

    Blocks. Raises RecordingUnreadable.
    """
    return replace(command, sandbox=wanted or sandbox_of(past) or command.sandbox)


def short_ids(session_ids: Iterable[str]) -> dict[str, str]:
    """For each ID, a prefix that no other ID shares."""
    ids = sorted(set(session_ids))
    common = [len(os.path.commonprefix(pair)) for pair in pairwise(ids)]  # noqa: RUF071 - no paths
    needed = (max(before, after) + 1 for before, after in zip([0, *common], [*common, 0], strict=True))
    return {one: one[: max(length, SHORTEST)] for one, length in zip(ids, needed, strict=False)}


def merged(
    listed: Iterable[facts.SessionSummary], agent: AgentCommand, recorded: Iterable[PastSession], agent_title: str = ""
) -> list[PastSession]:
    """One entry per session, last used first. Those with unknown times come last, in the agent's order.

    One that wasn't recorded is left out if it was never used: OpenCode 1.18.33 lists each that was begun, under a title
    that ends with the time of that.
    """
    told = {info.session_id: info for info in listed}
    past = []
    for one in recorded:
        is_told = one.session_id in told and one.is_latest and one.is_of(agent)
        past.append(_with_told(one, told.pop(one.session_id)) if is_told else one)
    used = [one for one in told.values() if not (one.updated_at and (one.title or "").endswith(one.updated_at))]
    rest = (PastSession(agent.name, info.session_id, info.cwd, agent_title=agent_title) for info in used)
    past += [_with_told(one, told[one.session_id]) for one in rest]
    return sorted(past, key=lambda one: -(one.last_at or 0.0))


def _with_told(past: PastSession, info: facts.SessionSummary) -> PastSession:
    """Add the agent's data. The recorded title wins, which is known before the agent runs, and the later time."""
    told_at = _seconds(info.updated_at)
    times = [at for at in (past.last_at, told_at) if at is not None]
    return replace(
        past,
        cwd=info.cwd,
        title=past.title or content.title_in_line(info.title or ""),
        last_at=max(times, default=None),
        told_time="" if times else info.updated_at or "",
        is_listed=True,
        doing=info.status.in_words if info.status is not None else "",
    )


def _seconds(told: str | None) -> float | None:
    try:
        return datetime.fromisoformat(told or "").timestamp()
    except (ValueError, OverflowError, OSError):  # the last two: years that the system clock can't represent
        return None


def line_with(index: SessionIndex, session: RecordedSession, words: str) -> str:
    """The line of the session with most of the words, cut so that it begins near them, and who said it; "" for none.

    Reads the recordings, the last one first, then those of what it was forked from. Raises ClientError.
    """
    wanted = words.casefold().split()
    for path in reversed(session.recordings):
        with open_recording(path) as recording:
            part = digest_of(recording).parts.get(session.session_id)
        said = (
            (("Title", [part.title]), ("You", part.asked), (part.agent_title or "Agent", part.replied)) if part else ()
        )
        lines = [(who, line) for who, texts in said for line in masked_text("".join(texts)).splitlines()]
        who, line = max(lines, key=lambda one: sum(word in one[1].casefold() for word in wanted), default=("", ""))
        folded = line.casefold()
        if (at := min((at for word in wanted if (at := folded.find(word)) >= 0), default=-1)) >= 0:
            near = at - _BEFORE_WORD
            start = max(line.find(" ", near, at) + 1, near) if near > 0 else 0
            return f"{who}: {'…' * bool(start)}{line[start : start + MAX_LINE].strip()}"
    source = index.earlier(session)
    return line_with(index, source, words) if source is not None else ""


MAX_FOLDERS: Final = 200
"""Of which it's remembered what was left there."""
MAX_LEFT: Final = 9
"""So many tabs, unless more are open."""

HostState: TypeAlias = Literal["", "runs", "watched", "gone"]


@dataclass(frozen=True, slots=True)
class LeftSession:
    """A session that was open when the user quit, and in which something was said, or is a draft."""

    session_id: str
    title: str
    """"" if nothing was said in it."""
    agent: str
    """The name of its agent's command."""
    agent_is_listed: bool
    """Whether that name works on the command line."""
    why_not: str = ""
    """Why the agent can't reopen it; "" if it can."""
    has_draft: bool = False
    host: HostState = ""
    """Whether it goes on in a host, perhaps only watched, or would in another one; `agent` is its name or address."""

    @property
    def draft_words(self) -> str:
        """What becomes of the draft; "" if that stays in the session."""
        return "" if self.title else f"comes back in the next empty session with {self.agent} in its folder"


def _left_file() -> Path:
    return state_folder() / "left-sessions.json"


def remember_left(
    folder: Path, tabs: Callable[[], tuple[Sequence[str], Container[str]]], in_front: Callable[[], str] = str
) -> None:
    """Remember what is open in the tabs of an acp-tui that was started in this folder, and which one is `in_front`.

    `tabs` returns the IDs of their sessions, and of those that the user is done with. It's called last: of two calls,
    the later one wins. What else was left there stays, until the user opens it again or is done with it. Only a single
    tab gives way to another one, unless it's open elsewhere. Blocks.
    """
    elsewhere = {session_id for _, session_id in open_elsewhere()} if len(left_in(folder)) == 1 else set()
    with suppress(OSError), locked(_left_file()):
        others = {key: value for key, value in read_json_object(_left_file()).items() if key != str(folder)}
        (now_open, done), before = tabs(), left_in(folder)
        is_one = len(before) == len(now_open) == 1 and elsewhere.isdisjoint(before)
        left = [*(one for one in before if not (is_one or one in now_open or one in done)), *now_open]
        if left or before:
            kept = dict([*others.items()][-MAX_FOLDERS:])
            told = {"tabs": left[-max(MAX_LEFT, len(now_open)) :], "in_front": in_front(), "at": time.time()}
            write_json_state(_left_file(), {**kept, str(folder): told})


def _left_in(folder: Path) -> Mapping[str, object]:
    told = read_json_object(_left_file()).get(str(folder))
    return told if isinstance(told, dict) else {"tabs": told}  # a list by earlier versions


def left_in(folder: Path) -> Sequence[str]:
    """The IDs of the sessions that were left in this folder, in the order of their tabs. Blocks."""
    found = _left_in(folder).get("tabs")
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def last_here(folder: Path, sessions: Iterable[PastSession]) -> PastSession | None:
    """Which of these, last used first, the user would go on with: that in front when tabs were left in this folder.

    If another one was used since then, that one. Blocks.
    """
    rest = iter(sessions)
    last, told = next(rest, None), _left_in(folder)
    at = told.get("at")
    was_used_since = last is not None and isinstance(at, float) and (last.last_at or at) > at
    if last is None or (was_used_since and last.session_id not in left_in(folder)):
        return last
    return next((one for one in (last, *rest) if one.session_id == told.get("in_front")), last)


def left_sessions(index: SessionIndex, folder: Path) -> list[PastSession]:
    """The same as far as they're recorded, also forks in which nothing was said yet. Blocks. Raises ClientError."""
    found = [(one, index.find(one)) for one in left_in(folder)]
    return [past_session(known) for one, known in found if known is not None and known.session_id == one]


def left_session(
    session: Session, agent: Agent | None, command: AgentCommand | None, *, has_lost_host: bool = False
) -> LeftSession | None:
    """The session as what the user leaves; None if nothing was said in it, or if it's only read from a recording."""
    if isinstance(session, SessionFromRecording):
        return None
    title = session.conversation.shown_title or session.session_id
    if command is not None and command.is_host and (has_lost_host or not session.is_closed):
        host: HostState = "gone" if has_lost_host else "watched" if session.is_read_only else "runs"
        return LeftSession(session.session_id, title, command.name, False, host=host)
    is_prompted = any(isinstance(one, entries.Message) and one.role == "user" for one in session.conversation.entries)
    if agent is None or not (is_prompted and session.conversation.is_begun):
        return None
    can_reopen = agent.capabilities.load_session or agent.capabilities.resume_session
    why_not = "" if can_reopen else "the agent can't reopen it"
    name, is_listed = agent.command.name, agent.command.is_listed
    return LeftSession(session.session_id, title, name, is_listed, why_not if session.cwd.is_dir() else FOLDER_GONE)
