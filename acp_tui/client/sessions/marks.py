"""What lists of sessions add: those of a project, and the user's marks: a name, pinned, archived."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from anyio import to_thread

from acp_tui.client.errors import ClientError
from acp_tui.client.private_files import read_json_object, write_json_state
from acp_tui.client.safe_git import branch_of, in_same_project
from acp_tui.client.sessions.session_history import PastSession, open_session, recorded_sessions
from acp_tui.client.settings.location import state_folder
from acp_tui.values import dataclass

if TYPE_CHECKING:
    from acp_tui.client.agents.command import AgentCommand
    from acp_tui.client.sessions.session import Session
    from acp_tui.client.transcript.index import SessionIndex

MAX_KEPT: Final = 5_000
"""Sessions. The ones marked first are dropped first."""
MAX_NAME: Final = 200
"""Characters."""


def sessions_of(index: SessionIndex, cwd: Path | None, words: str = "") -> list[PastSession]:
    """All, or those of a folder and, with branch, of its repository's other worktrees. Blocks. Raises ClientError."""
    if cwd is None:
        return recorded_sessions(index, None, words)
    branch = cache(branch_of)
    past = recorded_sessions(index, in_same_project(cwd) or cwd, words)
    return [replace(one, branch=branch(one.cwd)) if one.has_folder and one.cwd != cwd else one for one in past]


@dataclass(frozen=True, slots=True)
class Mark:
    name: str = ""
    """The user's name for it; "" if there isn't one."""
    is_pinned: bool = False
    is_archived: bool = False


UNMARKED: Final = Mark()


class SessionMarks:
    """The marks of all sessions. Its methods read and write a small file; if two write at once, the last one wins."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file or state_folder() / "session-marks.json"

    def all(self) -> dict[str, Mark]:
        """By the keys of the sessions. What can't be read counts as unmarked."""
        kept = read_json_object(self._file)
        return {key: _mark(fields) for key, fields in kept.items() if isinstance(fields, dict)}

    def of(self, past: PastSession) -> Mark:
        return _mark_in(self.all(), past)

    def change(self, past: PastSession, **fields: Any) -> None:
        """Change fields of a session's mark. Raises ClientError."""
        marks = self.all()
        mark = replace(_mark_in(marks, past), **fields)
        for key in _keys_of(past):
            marks.pop(key, None)
        if mark != UNMARKED:
            marks[past.key] = mark
        kept = list(marks.items())[-MAX_KEPT:]
        try:
            write_json_state(self._file, {key: asdict(mark) for key, mark in kept})
        except OSError as error:
            raise ClientError(f"{self._file} can't be written: {error.strerror or error}") from error

    def marked(self, past: Iterable[PastSession]) -> list[PastSession]:
        """The sessions with their marks: pinned ones first, archived ones last."""
        marks = self.all()
        known = [_with_mark(one, _mark_in(marks, one)) for one in past]
        return sorted(known, key=lambda one: (one.is_archived, not one.is_pinned))


async def rename(session: Session, agent: AgentCommand, name: str) -> str:
    """Rename an open session, in the agent too, if it accepts titles. Returns its name. Raises ClientError."""
    name = await session.rename(name[:MAX_NAME])
    past = await to_thread.run_sync(open_session, session, agent)
    SessionMarks().change(past, name=name)
    return name


def _keys_of(past: PastSession) -> list[str]:
    """The keys of the session now, and for the last one with its ID, of before it was recorded."""
    before = [f"{agent}/{past.session_id}" for agent in past.agents] if past.is_latest else []
    return [past.key, *before]


def _mark_in(marks: Mapping[str, Mark], past: PastSession) -> Mark:
    return next((marks[key] for key in _keys_of(past) if key in marks), UNMARKED)


def _with_mark(one: PastSession, mark: Mark) -> PastSession:
    if mark is UNMARKED and not (one.is_named or one.is_pinned or one.is_archived):
        return one  # nearly all of thousands
    return replace(
        one,
        title=mark.name or one.title,
        is_named=bool(mark.name),
        is_pinned=mark.is_pinned,
        is_archived=mark.is_archived,
    )


def _mark(fields: dict[str, object]) -> Mark:
    name = fields.get("name")
    return Mark(
        name[:MAX_NAME] if isinstance(name, str) else "",
        fields.get("is_pinned") is True,
        fields.get("is_archived") is True,
    )
