"""Which sessions belong to subagents, and where their updates go. The same live and in a replay."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import fields, replace
from typing import Final

from acp_tui.conversation import UNSET
from acp_tui.conversation.conversation import Conversation, SubagentState
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.retelling import patch_of
from acp_tui.conversation.tool_calls import ToolCallId, ToolCallPatch
from acp_tui.conversation.updates import PermissionAsked, SessionUpdate, SubagentReported, SubagentSaid

MAX_DEPTH: Final = 5
"""Limit for subagents of subagents. A deeper one belongs to the last one within the limit."""
MAX_SUBAGENTS: Final = 2_000
"""Per agent. Later ones aren't shown."""


class Subagents:
    """The sessions that an agent has begun itself, and the session that each belongs to."""

    def __init__(self, opened: Container[SessionId]) -> None:
        """`opened` are the sessions that the user has opened, which are never subagents."""
        self._opened = opened
        self._owners: dict[SessionId, SessionId] = {}

    def lead(self, session_id: SessionId, update: SessionUpdate) -> tuple[SessionId, SessionUpdate] | None:
        """The user's session and the update for its conversation; None if it belongs to no session."""
        if isinstance(update, SubagentReported):
            owner = self._owner(update.session_id, session_id)
            if owner is None:
                return None
            session_id = owner
        for each in self._up_from(session_id)[:-1]:
            update = SubagentSaid(each, update)
        return self.root(session_id), update

    def root(self, session_id: SessionId) -> SessionId:
        """The user's session that this one belongs to."""
        return self._up_from(session_id)[-1]

    def state(self, root: Conversation, session_id: SessionId) -> SubagentState | None:
        found = None
        for each in self._up_from(session_id)[-2::-1]:
            found = root.subagents.get(each)
            if found is None:
                return None
            root = found.conversation
        return found

    def question(self, root: Conversation, session_id: SessionId, asked: PermissionAsked) -> PermissionAsked:
        """The question for the user. A subagent's question says so, and refers to the subagent's tool call."""
        asking = self.state(root, session_id)
        if asking is None:
            return asked
        request, patch = asked.request, asked.patch
        if patch.tool_call_id in asking.conversation.tool_call_entries:
            patch = _over(patch_of(asking.conversation.tool_call(patch.tool_call_id).call), patch)
        call_id = ToolCallId(f"{session_id} {patch.tool_call_id}")
        name = asking.conversation.title or "without a name"
        description = "\n".join(filter(None, (request.description, f"A subagent asks: {name}")))
        request = replace(request, tool_call_id=call_id, description=description, is_alone=True)
        return PermissionAsked(request, replace(patch, tool_call_id=call_id))

    def _owner(self, session_id: SessionId, reported_in: SessionId) -> SessionId | None:
        owner = self._owners.get(session_id)
        if owner is None and session_id not in self._opened and len(self._owners) < MAX_SUBAGENTS:
            above = self._up_from(reported_in)
            owner = above[max(len(above) - MAX_DEPTH, 0)]
            if session_id in above:
                return None
            self._owners[session_id] = owner
        return None if session_id in self._opened else owner

    def _up_from(self, session_id: SessionId) -> list[SessionId]:
        """The session and those that it belongs to, ending with the user's."""
        above = [session_id]
        while above[-1] not in self._opened and above[-1] in self._owners:
            above.append(self._owners[above[-1]])
        return above


def _over(known: ToolCallPatch, patch: ToolCallPatch) -> ToolCallPatch:
    """What is known about a call, updated with the patch."""
    said = {
        field.name: value
        for field in fields(ToolCallPatch)
        if (value := getattr(patch, field.name)) is not UNSET and value is not None
    }
    return replace(known, **said)
