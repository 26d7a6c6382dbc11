"""Which sessions belong to subagents, and where their updates go. The same live and in a replay."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Container
from dataclasses import fields, replace
from typing import Final, Generic, Protocol, TypeVar

from acp_tui.conversation import UNSET, updates
from acp_tui.conversation.catch_up import patch_of
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Conversation, SubagentState
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.tool_calls import ToolCallId, ToolCallPatch
from acp_tui.conversation.updates import MessageUpdate, SessionUpdate, WorkUpdate
from acp_tui.protocol import RESOURCE_NOT_FOUND
from acp_tui.protocol.roles import Quirks
from acp_tui.rpc import RequestFailed

MAX_EARLY_UPDATES: Final = 1_000
MAX_EARLY_BYTES: Final = 4 << 20
"""For all of them, including the IDs of their sessions."""


class EarlyUpdates:
    """Kept while the agent chooses the ID of a new session. Live sessions and replays keep the same ones."""

    def __init__(self) -> None:
        self._updates: dict[SessionId, list[SessionUpdate]] = {}
        self._count = self._bytes = 0
        self._awaited = 0

    def await_new(self) -> None:
        """Expect the ID of a new session. The agent may send updates for it before we know the ID."""
        self._awaited += 1

    def end_awaiting(self) -> None:
        """The agent has sent the ID or refused. Drops all updates if no new session is expected anymore."""
        self._awaited -= 1
        if self._awaited <= 0:
            self._updates.clear()
            self._count = self._bytes = 0

    def add(self, session_id: SessionId, update: SessionUpdate) -> None:
        """Keep it if a new session is expected and there is room."""
        if self._awaited <= 0 or self._count >= MAX_EARLY_UPDATES:
            return
        size = len(pickle.dumps((session_id, update)))
        if self._bytes + size <= MAX_EARLY_BYTES:
            self._count += 1
            self._bytes += size
            self._updates.setdefault(session_id, []).append(update)

    def take(self, session_id: SessionId, *, is_fork: bool = False) -> list[SessionUpdate]:
        """Remove and return the updates of a session that is now known.

        Nothing can have been said in a fork yet. Agents such as opencode repeat what was said in its source, which the
        fork shows already.
        """
        taken = self._updates.pop(session_id, [])
        return [one for one in taken if not isinstance(one, MessageUpdate | WorkUpdate)] if is_fork else taken


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

    def lead(
        self, session_id: SessionId, update: updates.SessionUpdate
    ) -> tuple[SessionId, updates.SessionUpdate] | None:
        """The user's session and the update for its conversation; None if it belongs to no session."""
        if isinstance(update, updates.SubagentReported):
            owner = self._owner(update.session_id, session_id)
            if owner is None:
                return None
            session_id = owner
        for each in self._up_from(session_id)[:-1]:
            update = updates.SubagentSaid(each, update)
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

    def question(
        self, root: Conversation, session_id: SessionId, asked: updates.PermissionAsked
    ) -> updates.PermissionAsked:
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
        return updates.PermissionAsked(request, replace(patch, tool_call_id=call_id))

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
    said = {
        field.name: value
        for field in fields(ToolCallPatch)
        if (value := getattr(patch, field.name)) is not UNSET and value is not None
    }
    return replace(known, **said)


OfTerminal: Final = updates.TerminalOpened | updates.TerminalOutput | updates.TerminalExited | updates.TerminalReported
"""What an agent can say about a terminal."""


class HasConversation(Protocol):
    conversation: Conversation


T = TypeVar("T", bound=HasConversation)


class Routes(Generic[T]):
    """The sessions of an agent, live or in a replay, and which of them its updates and questions are for."""

    def __init__(self, apply: Callable[[T, updates.SessionUpdate], None]) -> None:
        self.open: dict[SessionId, T] = {}
        """Sessions that receive updates and requests, including those still being opened."""
        self.early = EarlyUpdates()
        self.quirks = Quirks()
        """Those of the agent, once it has answered to initialize."""
        self._apply = apply
        self._subagents = Subagents(self.open)

    def on_update(self, session_id: SessionId, update: updates.SessionUpdate) -> None:
        """Apply an update, or keep it if it may belong to a session that is about to get its ID."""
        led = self._subagents.lead(session_id, update)
        if led is None:
            return
        session_id, update = led
        session = self.open.get(session_id)
        if session is not None:
            self.hear(session, update)
        else:
            self.early.add(session_id, update)

    def hear(self, session: T, update: updates.SessionUpdate) -> None:
        """Apply an update from the agent, except to terminals that run here, and words that aren't the user's."""
        match update:
            case updates.MessageChunk("user", Text(text)) if self.quirks.leaves_out(text):
                update = updates.BREAK
        if isinstance(update, OfTerminal):
            state = session.conversation.terminals.get(update.terminal_id)
            if state is not None and state.is_ours:
                return
        self._apply(session, update)

    def serving(self, session_id: SessionId) -> T:
        """The session with this ID; for a subagent, the session it works for. Raises RequestFailed."""
        session = self.open.get(self._subagents.root(session_id))
        if session is None:
            raise RequestFailed(RESOURCE_NOT_FOUND, f"Unknown session: {session_id}")
        return session

    def asking(self, session_id: SessionId, asked: updates.PermissionAsked) -> tuple[T, updates.PermissionAsked]:
        """The session that shows a question, and the question for the user. Raises RequestFailed."""
        session = self.serving(session_id)
        if session_id not in self.open and not asked.request.is_alone:
            self.on_update(session_id, updates.ToolCallReported(asked.patch, begins=True))
        return session, self._subagents.question(session.conversation, session_id, asked)
