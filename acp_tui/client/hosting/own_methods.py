"""The `_acp_tui/` methods between a host and its clients, as both sides write and read them.

README.md describes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from acp_tui.client.transcript import own_updates
from acp_tui.conversation.content import OWN_META
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.updates import SessionUpdate

UPDATE: Final = "_acp_tui/update"
"""A notification to the client about what happened in a session and ACP can't express."""
STATUS: Final = "_acp_tui/status"
STOP: Final = "_acp_tui/stop"

FOLLOWS: Final[Mapping[str, Any]] = {OWN_META: {"updates": True, "questions": True}}
"""In a client's capabilities: it understands `UPDATE`, and what a host adds to permission requests."""
HOST: Final[Mapping[str, Any]] = {OWN_META: {"host": 1}}
"""In an agent's capabilities: it is a host."""
TOLD: Final[Mapping[str, Any]] = {OWN_META: {"told": True}}
"""For a prompt that joined a turn: `UPDATE` has already sent it at the right place."""


def follows(meta: object) -> bool:
    """Whether a client with this `_meta` in its capabilities understands `UPDATE`."""
    ours = _ours(meta)
    return ours.get("updates") is True


def reads_questions(meta: object) -> bool:
    """Whether a client with this `_meta` in its capabilities understands what a host adds to permission requests."""
    return _ours(meta).get("questions") is True


def key_in(meta: object) -> int | None:
    """The key of a question. Updates refer to the question by it."""
    key = _ours(meta).get("key")
    return key if isinstance(key, int) else None


def _ours(meta: object) -> Mapping[str, Any]:
    ours = meta.get(OWN_META) if isinstance(meta, Mapping) else None
    return ours if isinstance(ours, Mapping) else {}


def write_update(session_id: SessionId, update: SessionUpdate) -> dict[str, Any] | None:
    """The parameters of `UPDATE`; None for an update that ACP can express."""
    kind = own_updates.TOLD_KINDS.get(type(update))
    if kind is None:
        return None
    return {"sessionId": session_id, "update": {"type": kind, **own_updates.as_fields(update)}}


def read_update(params: Any) -> tuple[SessionId, SessionUpdate]:
    """The session and the update. Raises NotReadable, also for an unknown kind."""
    session_id = params.get("sessionId") if isinstance(params, dict) else None
    fields = params.get("update") if isinstance(params, dict) else None
    if not isinstance(session_id, str) or not isinstance(fields, dict):
        raise own_updates.NotReadable("it lacks a session or an update")
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in own_updates.TOLD:
        raise own_updates.NotReadable(f"an update of the kind {kind!r}")
    return SessionId(session_id), own_updates.from_fields(kind, fields)
