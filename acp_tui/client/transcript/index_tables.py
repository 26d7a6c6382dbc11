"""The tables of the index of recordings, and the statements on them. `index` fills them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias, TypeVar

from acp_tui.client.secrets.masking import MASK
from acp_tui.client.transcript.digest import SessionPart
from acp_tui.client.transcript.events import Header

T = TypeVar("T")

Folder: TypeAlias = Path | Callable[[Path], bool] | None
"""A folder, or what tells whether a folder counts; None for all."""
SCHEMA: Final = 7

# A search reads all words: 0.01 s for 5,000 sessions of 2 KB, 0.1 s if they have 35 KB. An index of trigrams finds rare
# words faster, but filling it took as long as reading the recordings, and it is three times as large.
TABLES: Final = """
CREATE TABLE recordings (name TEXT PRIMARY KEY, size INTEGER NOT NULL);
CREATE TABLE parts (
    id INTEGER PRIMARY KEY, recording TEXT NOT NULL, session TEXT NOT NULL, origin TEXT NOT NULL,
    agent TEXT NOT NULL, agent_title TEXT NOT NULL, command TEXT NOT NULL, cwd TEXT NOT NULL, title TEXT NOT NULL,
    first_words TEXT NOT NULL,
    first_at REAL NOT NULL, last_at REAL NOT NULL, prompts INTEGER NOT NULL, forked_from TEXT NOT NULL,
    is_listed INTEGER NOT NULL,
    UNIQUE (recording, session)
);
CREATE TABLE words (part INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE INDEX parts_by_origin ON parts (origin, recording);
CREATE INDEX parts_by_session ON parts (session, agent, recording);
CREATE INDEX parts_by_time ON parts (last_at);
"""


class Part(NamedTuple):
    id: int
    recording: str
    session: str
    origin: str
    agent: str
    agent_title: str
    command: str
    cwd: str
    title: str
    first_words: str
    first_at: float
    last_at: float
    prompts: int
    forked_from: str
    is_listed: int


def require_tables(db: sqlite3.Connection) -> None:
    """Create the tables if there are none. Raises sqlite3.DatabaseError for tables of another version."""
    if db.execute("PRAGMA user_version").fetchone()[0] == SCHEMA:
        return
    if db.execute("PRAGMA user_version").fetchone()[0]:
        raise sqlite3.DatabaseError("it is of another version")
    db.execute("BEGIN IMMEDIATE")
    try:
        if db.execute("PRAGMA user_version").fetchone()[0] == 0:  # no other process was faster
            for statement in filter(str.strip, TABLES.split(";")):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {SCHEMA}")
        db.commit()
    except BaseException:
        db.rollback()
        raise


def put(db: sqlite3.Connection, recording: str, header: Header, parts: Sequence[SessionPart]) -> None:
    """Store sessions of a recording, replacing what is known about them."""
    for part in parts:
        _delete(db, recording, part.session_id)
        is_listed = part.has_said or part.is_named
        if not (is_listed or part.forked_from):  # a fork may go on in another recording, which doesn't tell its source
            continue  # nothing was said, and it has no name of the user's, so no one will look for it
        earlier = _earlier(db, recording, header, part.continues) if part.continues else ""
        goes_on = part.continues == part.session_id
        before = [] if goes_on else _before(db, earlier, recording)
        values = (
            recording,
            part.session_id,
            (earlier if goes_on else "") or f"{recording}/{part.session_id}",
            header.agent,
            part.agent_title,
            json.dumps(header.argv),
            part.cwd,
            part.title or next((title for title, *_ in reversed(before) if title), ""),
            next((words for _, words, *_ in before if words), part.first_words),
            part.first_at,
            part.last_at,
            part.prompts + sum(prompts for _, _, prompts, _ in before),
            part.forked_from,
            is_listed,
        )
        put = db.execute(f"INSERT INTO parts VALUES (NULL, {','.join('?' * len(values))})", [*map(_storable, values)])
        text = "\n".join((*(text for *_, text in before), _storable(part.words.casefold())))
        db.execute("INSERT INTO words VALUES (?, ?)", (put.lastrowid, text))


def _storable(value: T) -> T | str:
    """The text without lone surrogates, which folder names may contain and SQLite doesn't accept."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _earlier(db: sqlite3.Connection, recording: str, header: Header, session: str) -> str:
    """The name of a session in earlier recordings; "" if it's in none.

    The name is unique across all recordings. An ID isn't, because agents may reuse it. An agent may have been started
    under several names, but always with the same command.
    """
    where = "session = ? AND (agent = ? OR command = ?) AND recording < ? ORDER BY recording DESC LIMIT 1"
    command = json.dumps(header.argv)
    names = (session, header.agent, "" if MASK in command else command, recording)
    row = db.execute(f"SELECT origin FROM parts WHERE {where}", [*map(_storable, names)]).fetchone()
    return str(row[0]) if row is not None else ""


def _before(db: sqlite3.Connection, origin: str, recording: str) -> list[tuple[str, str, int, str]]:
    """Title, first words, number of prompts, and text of each part of a session before a recording."""
    query = (
        "SELECT title, first_words, prompts, text FROM parts JOIN words ON parts.id = words.part"
        " WHERE origin = ? AND recording < ? ORDER BY recording"
    )
    return db.execute(query, (origin, recording)).fetchall()


def _delete(db: sqlite3.Connection, recording: str, session_id: str) -> None:
    for row in db.execute(
        "SELECT id FROM parts WHERE recording = ? AND session = ?", (recording, _storable(session_id))
    ).fetchall():
        db.execute("DELETE FROM words WHERE part = ?", row)
        db.execute("DELETE FROM parts WHERE id = ?", row)


def drop(db: sqlite3.Connection, recording: str) -> None:
    db.execute("DELETE FROM words WHERE part IN (SELECT id FROM parts WHERE recording = ?)", (recording,))
    db.execute("DELETE FROM parts WHERE recording = ?", (recording,))
    db.execute("DELETE FROM recordings WHERE name = ?", (recording,))


def newest(db: sqlite3.Connection, folder: Folder) -> list[str]:
    where, values = _in(db, folder)
    query = f"SELECT origin FROM parts WHERE is_listed AND {where} GROUP BY origin ORDER BY MAX(last_at) DESC"
    return [row[0] for row in db.execute(query, values)]


def with_words(db: sqlite3.Connection, wanted: Sequence[str], folder: Folder) -> list[str]:
    where, values = _in(db, folder)
    has = " AND ".join(["words.text LIKE ?"] * len(wanted))
    query = (
        f"SELECT origin FROM words JOIN parts ON parts.id = words.part WHERE is_listed AND {has} AND {where}"
        " GROUP BY origin ORDER BY MAX(last_at) DESC"
    )
    return [row[0] for row in db.execute(query, (*(f"%{word}%" for word in wanted), *values))]


def parts_of(db: sqlite3.Connection, origins: Sequence[str]) -> Iterator[Part]:
    """The parts of sessions, together and the oldest first. At most 500 sessions."""
    query = f"SELECT * FROM parts WHERE origin IN ({','.join('?' * len(origins))}) ORDER BY origin, recording"
    return map(Part._make, db.execute(query, origins))


def beginning_with(db: sqlite3.Connection, prefix: str) -> list[str]:
    """Those whose ID begins so; in one that is named in full, nothing need have been said."""
    where = "(is_listed AND substr(session, 1, ?) = ?) OR session = ?"
    query = f"SELECT origin FROM parts WHERE {where} GROUP BY origin ORDER BY MAX(last_at) DESC"
    return [row[0] for row in db.execute(query, (len(prefix), prefix, prefix))]


def _in(db: sqlite3.Connection, folder: Folder) -> tuple[str, Sequence[str]]:
    if folder is None:
        return "1", ()
    if isinstance(folder, Path):
        return "cwd = ?", [_storable(str(folder))]
    folders = [row[0] for row in db.execute("SELECT DISTINCT cwd FROM parts") if folder(Path(row[0]))]
    return f"cwd IN ({','.join('?' * len(folders))})", folders
