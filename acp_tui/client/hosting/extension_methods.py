"""The `_acp_tui/` methods between a host and its clients, as both sides write and read them.

README.md describes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from acp_tui import __version__
from acp_tui.client.sessions.session import Attendance
from acp_tui.client.transcript import extension_updates
from acp_tui.conversation.content import OWN_META
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.updates import SessionUpdate
from acp_tui.conversation.visible import make_visible_line

UPDATE: Final = "_acp_tui/update"
"""A notification to the client about what happened in a session and ACP can't express."""
MAX_RELEASE: Final = 40
STATUS: Final = "_acp_tui/status"
STOP: Final = "_acp_tui/stop"
REVOKE: Final = "_acp_tui/revoke"
ATTACHED: Final = "_acp_tui/attached"
"""A notification to the client about who is attached to a session."""

READ_ONLY: Final[Mapping[str, str]] = {"Acp-Tui-Access": "read-only"}
"""The header of a client that only wants to watch."""
FOR_WATCHERS: Final = frozenset(
    ("initialize", "session/list", "session/status", "session/load", "session/resume", STATUS)
)
"""All that a client may do that can only watch. None of it changes anything."""

FOLLOWS: Final[Mapping[str, Any]] = {OWN_META: {"updates": True, "questions": True}}
"""In a client's capabilities: it understands `UPDATE`, and what a host adds to permission requests."""
DIALECT: Final = 2
"""The number of what is agreed here, raised with each change that an earlier release can't read or write."""
OLDEST: Final = 1
"""The earliest dialect that this release still speaks."""
TOLD: Final[Mapping[str, Any]] = {OWN_META: {"told": True}}
"""For a prompt that joined a turn: `UPDATE` has already sent it at the right place."""


def host_meta(sandbox: str) -> dict[str, Any]:
    """In an agent's capabilities: it is a host, and its agent runs in this sandbox. In 0.9, it says `{"host": 1}`."""
    told = {"sandbox": sandbox} if sandbox else {}
    return {OWN_META: {"host": DIALECT, "oldest": OLDEST, "release": __version__, **told}}


def follows(meta: object) -> bool:
    """Whether a client with this `_meta` in its capabilities understands `UPDATE`."""
    return _ours(meta).get("updates") is True


def reads_questions(meta: object) -> bool:
    """Whether a client with this `_meta` in its capabilities understands what a host adds to permission requests."""
    return _ours(meta).get("questions") is True


def misfit(meta: object) -> str:
    """Which of the two to upgrade if the host with this `_meta` in its capabilities doesn't fit; "" if it does."""
    ours = _ours(meta)
    spoken, oldest = (number if type(number) is int else 1 for number in (ours.get("host"), ours.get("oldest")))
    release = ours.get("release")
    runs = "an earlier acp-tui" if release is None else f"acp-tui {make_visible_line(str(release)[:MAX_RELEASE])}"
    if oldest > DIALECT:
        return f"the host runs {runs}, which acp-tui {__version__} can't attach to: upgrade acp-tui here"
    if spoken < OLDEST:
        return f"the host runs {runs}, too early for acp-tui {__version__}: upgrade it there, and restart it"
    return ""


def key_in(meta: object) -> int | None:
    """The key of a question. Updates refer to the question by it."""
    key = _ours(meta).get("key")
    return key if isinstance(key, int) else None


def _ours(meta: object) -> Mapping[str, Any]:
    ours = meta.get(OWN_META) if isinstance(meta, Mapping) else None
    return ours if isinstance(ours, Mapping) else {}


def write_update(session_id: SessionId, update: SessionUpdate) -> dict[str, Any] | None:
    """The parameters of `UPDATE`; None for an update that ACP can express."""
    kind = extension_updates.TOLD_KINDS.get(type(update))
    if kind is None:
        return None
    return {"sessionId": session_id, "update": {"type": kind, **extension_updates.as_fields(update)}}


def read_update(params: Any) -> tuple[SessionId, SessionUpdate]:
    """The session and the update. Raises NotReadable, also for an unknown kind."""
    session_id = params.get("sessionId") if isinstance(params, dict) else None
    fields = params.get("update") if isinstance(params, dict) else None
    if not isinstance(session_id, str) or not isinstance(fields, dict):
        raise extension_updates.NotReadable("it lacks a session or an update")
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in extension_updates.TOLD:
        raise extension_updates.NotReadable(f"an update of the kind {kind!r}")
    return SessionId(session_id), extension_updates.from_fields(kind, fields)


MAX_NAMED: Final = 20
MAX_WORDS: Final = 200


def write_attended(session_id: SessionId, attendance: Attendance) -> dict[str, Any]:
    return {
        "sessionId": session_id,
        "others": list(attendance.others),
        "watchers": list(attendance.watchers),
        "readOnly": attendance.is_read_only,
        "waiting": list(attendance.waiting),
    }


def read_attended(params: Any) -> tuple[SessionId, Attendance]:
    """The session, and who is attached to it. Raises NotReadable."""
    if not isinstance(params, dict) or not isinstance(params.get("sessionId"), str):
        raise extension_updates.NotReadable("it lacks a session")

    def words(name: str) -> tuple[str, ...]:
        value = params.get(name)
        each = value[:MAX_NAMED] if isinstance(value, list) else ()
        return tuple(make_visible_line(str(one)[:MAX_WORDS]) for one in each)

    attended = Attendance(words("others"), words("watchers"), params.get("readOnly") is True, words("waiting"))
    return SessionId(params["sessionId"]), attended
