"""Lists and searches the sessions in recordings without reading them. Several processes may use it at the same time.

It's built only from the recordings, and rebuilt if missing, broken, or stale. Its methods block, so use a thread.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

from acp_tui.client.errors import ClientError
from acp_tui.client.private_files import close_to_others, make_private, open_private
from acp_tui.client.transcript import index_tables, lines
from acp_tui.client.transcript.digest import Digest, SessionPart, digest_of
from acp_tui.client.transcript.events import Closed, Event, Frame, Header, OwnAction
from acp_tui.client.transcript.index_tables import Folder
from acp_tui.client.transcript.replay import Replay, replayed
from acp_tui.client.transcript.store import RecordingStore, create, held, is_being_written
from acp_tui.conversation.content import title_in_line
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import SelectOption, SessionId, mode_of
from acp_tui.conversation.wording import age
from acp_tui.rpc import Direction, Pairing
from acp_tui.values import dataclass

log = logging.getLogger(__name__)

BUSY_S: Final = 5.0
BYTES_A_COMMIT: Final = 4 << 20
"""Of recordings that are read, about a quarter second. A commit costs as much as reading one of the usual size."""
T = TypeVar("T")


class IndexFailed(ClientError):
    """The index can neither be read nor rebuilt."""


@dataclass(frozen=True, slots=True)
class RecordedSession:
    session_id: SessionId
    agent: str
    """The name of its command."""
    command: tuple[str, ...]
    """Without secrets."""
    cwd: Path
    title: str
    """The agent's title, or the first line of the first prompt. Untrusted, like everything read here."""
    first_at: float
    last_at: float
    """Seconds since the epoch."""
    prompts: int
    files: tuple[str, ...]
    """The paths of its recordings, the oldest first."""
    agent_title: str = ""
    """What its agent says it is."""
    agents: tuple[str, ...] = ()
    """All names of its command, the last one first."""
    forked_from: str = ""
    """The ID of the session that it is a fork of."""
    origin: str = ""
    """Tells it from all others that were ever recorded. An ID doesn't, because agents may reuse it."""

    @property
    def recordings(self) -> tuple[Path, ...]:
        return tuple(map(Path, self.files))


class SessionIndex:
    """The sessions in the recordings of a store, latest first."""

    def __init__(self, store: RecordingStore) -> None:
        self._store = store

    def recent(self, cwd: Folder = None) -> list[RecordedSession]:
        """The sessions of all folders or of some. Raises IndexFailed, like all methods."""
        return self._read(lambda db: self._sessions(db, index_tables.newest(db, cwd)))

    def search(self, words: str, cwd: Folder = None) -> list[RecordedSession]:
        """Sessions that contain all the words in the title, a prompt, or a reply. Matches in the title come first.

        If there are none, those whose title contains the letters of `words` in this order.
        """
        wanted = words.casefold().split()
        if not wanted:
            return self.recent(cwd)

        def find(db: sqlite3.Connection) -> list[RecordedSession]:
            found = self._sessions(db, index_tables.with_words(db, wanted, cwd))
            if found:
                return sorted(found, key=lambda one: not all(word in one.title.casefold() for word in wanted))
            letters = "".join(wanted)
            near = self._sessions(db, index_tables.newest(db, cwd))
            return [one for one in near if _has_letters(letters, one.title.casefold())]

        return self._read(find)

    def find(self, id_or_prefix: str, is_likely: Callable[..., bool] = bool) -> RecordedSession | None:
        """The latest session with this ID, likely ones first, otherwise one with this prefix. Raises ClientError."""

        def look(db: sqlite3.Connection) -> list[RecordedSession]:
            return self._sessions(db, index_tables.beginning_with(db, id_or_prefix))

        found = sorted(self._read(look), key=is_likely, reverse=True)
        exact = next((one for one in found if one.session_id == id_or_prefix), None)
        if exact is not None or len({one.session_id for one in found}) <= 1:
            return exact or next(iter(found), None)
        now = time.time()
        some = [f"{one.session_id}  {one.title} ({one.agent}, {age(now - one.last_at)} ago)" for one in found[:5]]
        raise ClientError(
            f"{len(found)} sessions start with {id_or_prefix!r}", hint="\n  ".join(("name more of it:", *some))
        )

    def is_being_recorded(self, session: RecordedSession) -> bool:
        return any(path.exists() and is_being_written(path) for path in session.recordings)

    def forget(self, session: RecordedSession) -> None:
        """Permanently remove a session from its recordings.

        Raises ClientError while one is being written, and OSError.
        """
        if self.is_being_recorded(session):
            raise ClientError(f"{session.title!r} is being recorded", hint="close it first")
        for path in session.recordings:
            with suppress(FileNotFoundError), held(path):
                without_session(path, session.session_id)
        self.catch_up()

    def reread(self, session: RecordedSession) -> Conversation:
        """The conversation in its recordings, without the agent. Raises ClientError."""
        return replayed(*self.origins(session), is_before_opening=True).get(session.session_id, Conversation())

    def origins(self, session: RecordedSession) -> tuple[Path, ...]:
        """Its recordings, after those of the session that it was forked from."""
        source = self.earlier(session)
        if source is None:
            return session.recordings
        first = session.recordings[0].name
        return (*(path for path in self.origins(source) if path.name < first), *session.recordings)

    def earlier(self, session: RecordedSession) -> RecordedSession | None:
        """What it was forked from, if that began in an earlier recording."""
        source = self.find(session.forked_from) if session.forked_from else None
        return source if source is not None and source.files[0] < session.files[0] else None

    def last_mode(self, session: RecordedSession) -> SelectOption | None:
        """The last mode in its recordings, of which little is read. Raises RecordingUnreadable."""
        for path in reversed(session.recordings):
            mode = None
            with lines.open_recording(path) as recording:
                events = (event for event, _ in recording.with_messages(lambda line: _OPTIONS.search(line) is None))
                for step in Replay(events).events:
                    for session_id, conversation, _ in step.touched:
                        if session_id == session.session_id:
                            mode = mode_of(conversation.options) or mode
            if mode is not None:
                return mode
        return None

    def open_elsewhere(self) -> list[tuple[Header, frozenset[str]]]:
        """What other processes are recording: the header, and the IDs of the sessions that are open there."""
        known = self._read(lambda db: dict(db.execute("SELECT name, size FROM recordings").fetchall()))
        found = []
        for name, size in self._store.sizes().items():
            path = self._store.path_of(name)
            with suppress(OSError, lines.RecordingUnreadable):
                if known.get(name) != size and is_being_written(path):
                    with lines.open_recording(path) as recording:
                        if recording.header.pid != os.getpid():
                            found.append((recording.header, _open_in(recording)))
        return found

    # Updating

    def put(self, recording: str, header: Header, parts: Sequence[SessionPart], size: int | None = None) -> None:
        """Store sessions of a recording. With `size`, these are all of them, and so many bytes have been read."""

        def write(db: sqlite3.Connection) -> None:
            index_tables.put(db, recording, header, parts)
            if size is not None:
                db.execute("INSERT OR REPLACE INTO recordings VALUES (?, ?)", (recording, size))

        self._with(write)

    def catch_up(self) -> None:
        """Read recordings that have changed, and forget those that are gone."""
        self._with(self._caught_up)

    def _read(self, read: Callable[[sqlite3.Connection], T]) -> T:
        def caught_up(db: sqlite3.Connection) -> T:
            self._caught_up(db)
            return read(db)

        return self._with(caught_up)

    def _caught_up(self, db: sqlite3.Connection) -> None:
        known = dict(db.execute("SELECT name, size FROM recordings").fetchall())
        sizes = self._store.sizes()
        listed = {row[0] for row in db.execute("SELECT DISTINCT recording FROM parts")}
        for name in (known.keys() | listed) - sizes.keys():
            index_tables.drop(db, name)
        uncommitted = 0
        for name, size in sizes.items():
            if known.get(name) == size:
                continue
            path = self._store.path_of(name)
            with suppress(OSError):
                if not is_being_written(path):
                    if name in known or name in listed:
                        index_tables.drop(db, name)
                    self._take_in(db, path, size)
                    uncommitted += size
            if uncommitted > BYTES_A_COMMIT:
                uncommitted = 0
                db.commit()  # other processes then need not read these again, nor wait for the rest

    def _take_in(self, db: sqlite3.Connection, path: Path, size: int) -> None:
        with suppress(lines.RecordingUnreadable):
            header, digest = _digest(path)
            index_tables.put(db, path.name, header, list(digest.parts.values()))
        db.execute("INSERT OR REPLACE INTO recordings VALUES (?, ?)", (path.name, size))

    # The database

    def _with(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of `work`. If the database is broken, run it again on a new one."""
        try:
            with self._opened() as db:
                return work(db)
        except sqlite3.OperationalError as error:  # locked, read-only, or a full disk, but not broken
            raise self._failure(error) from error
        except sqlite3.DatabaseError as error:
            log.info("the index of recordings is rebuilt: %s", error)
            for each in self._files:
                each.unlink(missing_ok=True)
        try:
            with self._opened() as db:
                return work(db)
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def _failure(self, error: sqlite3.Error) -> IndexFailed:
        return IndexFailed(
            f"the index of the recordings, {self._store.index_file}, can't be used: {error}",
            hint="is there space on the disk, and is the folder yours? You can delete it: it is rebuilt",
        )

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        file = self._store.index_file
        with suppress(OSError):
            make_private(file.parent, is_ours=True)
            os.close(open_private(file))
            for each in self._files[1:]:  # SQLite gives new files the permissions of the index
                close_to_others(each)
        db = sqlite3.connect(file, timeout=BUSY_S)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            index_tables.require_tables(db)
            with db:
                yield db
        finally:
            db.close()

    @property
    def _files(self) -> tuple[Path, ...]:
        """The index, and SQLite's files beside it."""
        file = self._store.index_file
        return (file, *(file.with_name(file.name + end) for end in ("-wal", "-shm")))

    def _sessions(self, db: sqlite3.Connection, origins: Sequence[str]) -> list[RecordedSession]:
        found: dict[str, RecordedSession] = {}
        for at in range(0, len(origins), 500):  # SQLite accepts about 1,000 parameters
            some = origins[at : at + 500]
            for origin, parts in groupby(index_tables.parts_of(db, some), key=lambda part: part.origin):
                found[origin] = self._session(list(parts))
        return [found[origin] for origin in origins]

    def _session(self, parts: Sequence[index_tables.Part]) -> RecordedSession:
        last = parts[-1]
        titles = [part.title for part in reversed(parts)] + [part.first_words for part in parts]
        return RecordedSession(
            SessionId(last.session),
            last.agent,
            _command(last.command),
            _path(last.cwd),
            title_in_line(next(filter(None, titles), "")),
            min([part.first_at for part in parts]),
            max([part.last_at for part in parts]),
            sum([part.prompts for part in parts]),
            tuple([self._store.file_of(part.recording) for part in parts]),
            last.agent_title,
            tuple(dict.fromkeys(part.agent for part in reversed(parts))),
            next((part.forked_from for part in parts if part.forked_from), ""),
            last.origin,
        )


# Most sessions share a few of these.
_path: Final = lru_cache(maxsize=256)(Path)


@lru_cache(maxsize=256)
def _command(argv: str) -> tuple[str, ...]:
    return tuple(json.loads(argv))


class IndexedRecording:
    """A recording in the store, and the index that follows it. The recorder calls it in the writer's thread."""

    def __init__(self, store: RecordingStore, header: Header) -> None:
        self._store = store
        self._index = SessionIndex(store)
        self._path: Path
        self._header = header
        self._digest = Digest(header)

    def open(self) -> BinaryIO:
        """Create the file. Raises OSError."""
        file = self._store.new_file(self._header.agent)
        self._path = Path(file.name)
        return file

    def see(self, event: Event, message: Any) -> None:
        """An event was written. `message` is the content of a frame, without secrets."""
        self._digest.see(event, message)

    def flush(self) -> None:
        """Store what a list of sessions would show."""
        changed, self._digest.changed = self._digest.changed, set()
        if changed:
            self._put([self._digest.parts[session_id] for session_id in changed])

    def close(self) -> None:
        with suppress(OSError):
            self._put(list(self._digest.parts.values()), self._path.stat().st_size)

    def _put(self, parts: Sequence[SessionPart], size: int | None = None) -> None:
        try:
            self._index.put(self._path.name, self._header, parts, size)
        except IndexFailed:
            log.debug("the index wasn't written; it catches up later", exc_info=True)


def _digest(path: Path) -> tuple[Header, Digest]:
    with lines.open_recording(path) as recording:
        return recording.header, digest_of(recording)


def _has_letters(letters: str, text: str) -> bool:
    rest = iter(text)
    return all(letter in rest for letter in letters)


def _open_in(recording: lines.Recording) -> frozenset[str]:
    """The IDs of the sessions with which the last thing that was done there was to open them."""
    found, opening = set[str](), dict[str, str]()
    for event, message in recording.with_messages(skip=lambda line: _OPENS_OR_CLOSES.search(line) is None):
        if isinstance(event, Closed):
            found.discard(event.session_id)
        elif isinstance(event, Frame) and isinstance(message, dict):
            wanted, made = (lines.mapping(message.get(key)).get("sessionId") for key in ("params", "result"))
            if event.direction is Direction.OUT and isinstance(wanted, str):
                found.add(wanted)
                opening[str(message.get("id"))] = wanted
            elif isinstance(made, str):
                found.add(made)
            elif event.direction is Direction.IN and "error" in message:
                found.discard(opening.get(str(message.get("id")), ""))
    return frozenset(found)


_OPTIONS: Final = re.compile(
    rb'"(?:initialize|session/(?:new|fork|load|resume|set_\w+)|current_mode_update|config_option_update|result)"'
    rb'|"type":\s*"(?:reconnected|session_closed)"'
)
_OPENS_OR_CLOSES: Final = re.compile(
    rb'"type":\s*"session_closed"|"method":\s*"session/(?:load|resume)"|"(?:result|error)":'
)


def without_session(path: Path, session_id: str) -> None:
    """Remove everything about the session, and delete the file if it contains no other. Raises OSError."""
    belonging = _SessionLines(session_id)
    with path.open("rb") as recording:
        recording.readline()
        for number, line in enumerate(recording):
            belonging.see(number, line)
    if not belonging.has_others:
        path.unlink()
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with path.open("rb") as old, create(beside) as new:
            new.write(old.readline())
            new.writelines(line for number, line in enumerate(old) if number not in belonging.lines)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


class _SessionLines:
    """Finds the lines of one session by reading all lines in order."""

    def __init__(self, session_id: str) -> None:
        self.lines: set[int] = set()
        self.has_others = False
        self._session_id = session_id
        self._asked: Pairing[tuple[str | None, int | None]] = Pairing()
        """For each open request, its session, or its line if it's for a new one, which has no ID yet."""

    def see(self, number: int, line: bytes) -> None:
        try:
            event = lines.read_event(line.rstrip(b"\r\n"))
        except lines.BadLine:
            return
        session_id = self._session_of(number, event)
        if session_id == self._session_id:
            self.lines.add(number)
        elif session_id is not None:
            self.has_others = True

    def _session_of(self, number: int, event: Event) -> str | None:
        if isinstance(event, OwnAction | Closed):
            return event.session_id
        message = lines.parsed(event.data) if isinstance(event, Frame) else None
        if not isinstance(event, Frame) or not isinstance(message, dict):
            return None
        if "method" not in message:
            return self._answered(self._asked.answer(event.direction, message.get("id")), message)
        params = message.get("params")
        session_id = params.get("sessionId") if isinstance(params, dict) else None
        found = session_id if isinstance(session_id, str) else None
        if message.get("id") is None:
            return found
        is_new = message["method"] in ("session/new", "session/fork")
        asked = (None, number) if is_new else (found, None)
        self._asked.ask(event.direction, message["id"], asked)
        return asked[0]

    def _answered(self, asked: tuple[str | None, int | None] | None, message: dict[str, Any]) -> str | None:
        session_id, asked_at = asked or (None, None)
        if asked_at is None:
            return session_id
        result = message.get("result")
        opened = result.get("sessionId") if isinstance(result, dict) else None
        if opened == self._session_id:
            self.lines.add(asked_at)
        return opened if isinstance(opened, str) else None
