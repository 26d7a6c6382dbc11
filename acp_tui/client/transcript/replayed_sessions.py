"""The sessions of a recording as plain state.

The recorded agent talks to them like to a client, but gets no answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Generator, Mapping, Sequence
from dataclasses import field, replace
from itertools import count
from typing import Any, Final, NamedTuple, NoReturn

from acp_tui.client.spill import new_conversation
from acp_tui.client.subagents import Routes
from acp_tui.conversation import reducer, updates
from acp_tui.conversation.conversation import Change, Conversation, snapshot
from acp_tui.conversation.elicitation import Elicitation
from acp_tui.conversation.facts import AuthStatus, RequestKey, SessionId
from acp_tui.conversation.recall import recall
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.protocol.roles import ElicitationAnswer
from acp_tui.rpc import ErrorCode, RequestFailed
from acp_tui.values import dataclass

Declaration: Final = (
    updates.CommandsReplaced
    | updates.OptionsReplaced
    | updates.OptionChanged
    | updates.PlanReplaced
    | updates.UsageReported
)
"""What a session forgets when another agent continues it."""

OfTerminal: Final = (
    updates.TerminalOutput
    | updates.TerminalWaiting
    | updates.TerminalResized
    | updates.TerminalExited
    | updates.CommandRun
)
OfQuestion: Final = updates.PermissionAnswered | updates.PermissionNoted | updates.ElicitationAnswered


class Touch(NamedTuple):
    session_id: SessionId | None
    """None for the conversation outside any session."""
    conversation: Conversation
    change: Change


@dataclass(slots=True, eq=False)
class ReplayedSession:
    session_id: SessionId | None
    conversation: Conversation = field(default_factory=new_conversation)
    begun_with: tuple[updates.SessionUpdate, ...] = ()
    """What the agent declared about it when it was new."""


class _Unanswered(Awaitable[Any]):
    """Stands for an answer to the agent. The recording contains the real one."""

    def __await__(self) -> Generator[Any, Any, Any]:
        raise RuntimeError("a replay answers nothing")


class ReplayedSessions(Routes[ReplayedSession]):
    """The sessions of the recorded agent, like `client_role.SessionTable`."""

    def __init__(self, earlier: Mapping[SessionId, Conversation]) -> None:
        """`earlier` contains what was said in earlier processes."""
        super().__init__(self.apply)
        self._earlier = earlier
        self.closed: dict[SessionId, ReplayedSession] = {}
        """For each ID, the last session that was closed."""
        self.outside = ReplayedSession(None)
        """For what belongs to no session."""
        self.touched: list[Touch] = []
        self.auth_status: AuthStatus | None = None
        self.asked: tuple[ReplayedSession, RequestKey] | None = None
        """The last question, until a caller takes it."""
        self._opening: dict[SessionId, ReplayedSession | None] = {}
        self.told_late: dict[SessionId, ReplayedSession] = {}
        """Sessions that were loaded, although their agent hadn't told yet what was said."""
        self._given_up: dict[SessionId, ReplayedSession] = {}
        """Sessions that couldn't be opened. If the user was closing one, it stays readable when closed."""
        self._terminals: dict[tuple[SessionId | None, TerminalId], ReplayedSession] = {}
        """The sessions in which our terminals were opened. Another session may have the same ID now."""
        self._keys = count(1)
        """Numbers the questions of all sessions, as the client did."""

    @property
    def conversations(self) -> dict[SessionId, Conversation]:
        """Of all sessions. One that is being loaded is as it was before."""
        known = {**self.closed, **self.open}
        said = {session_id: session.conversation for session_id, session in known.items()}
        return {**self._earlier, **said, **{key: self._earlier[key] for key in self._opening if key in self._earlier}}

    def before_opening(self) -> dict[SessionId, Conversation]:
        """Of the sessions that are being opened again, what was said before."""
        before = {key: self._before(key, session) for key, session in self._opening.items()}
        return {key: one for key, one in before.items() if one is not None}

    def _before(self, session_id: SessionId, opened: ReplayedSession | None) -> Conversation | None:
        """What was said in a session before it was opened again."""
        known = opened or self.closed.get(session_id)
        return known.conversation if known is not None else self._earlier.get(session_id)

    def apply(self, session: ReplayedSession, update: updates.SessionUpdate) -> None:
        change = reducer.apply(session.conversation, update)
        self.touched.append(Touch(session.session_id, session.conversation, change))

    def apply_own(self, session_id: SessionId | None, update: updates.SessionUpdate) -> None:
        """Apply the client's own action. Does nothing if the session isn't known."""
        if session_id is not None:
            self.end_telling(session_id)
        if isinstance(update, updates.Disconnected):
            self._give_up_opening(session_id)
        session = self.outside if session_id is None else self._concerned(session_id, update)
        if session is None and isinstance(update, updates.Reconnected) and session_id is not None:
            session = self.open[session_id] = self._again(session_id)  # about to be resumed
        if session is None:
            return
        if isinstance(update, updates.PermissionAsked):
            self._keys = count(update.request.key + 1)
        if isinstance(update, updates.TerminalOpened):
            self._terminals[session_id, update.terminal_id] = session
        self.apply(session, update)
        if isinstance(update, updates.Reconnected) and (not update.remembers or update.forked_from):
            for declaration in session.begun_with:  # they came with the previous frame
                self.apply(session, declaration)

    def _give_up_opening(self, session_id: SessionId | None) -> None:
        """Give up opening the session, which may be closed by now, because the agent is gone."""
        opened = None if session_id is None else self.open.get(session_id) or self.closed.get(session_id)
        if session_id in self._opening and opened is not None:
            self.give_up(opened)

    def _concerned(self, session_id: SessionId, update: updates.SessionUpdate) -> ReplayedSession | None:
        known = self.open.get(session_id) or self.closed.get(session_id)
        if isinstance(update, updates.Disconnected):  # of one that was being opened, rather than of one closed before
            return self.open.get(session_id) or self._given_up.get(session_id, known)
        if isinstance(update, OfTerminal):
            return self._terminals.get((session_id, update.terminal_id), known)
        if isinstance(update, OfQuestion):
            same_id = (known, self._opening.get(session_id), self.closed.get(session_id))
            asked = (session for session in same_id if session is not None and _asks(session, update.key))
            return next(asked, known)
        return known

    # Opening and closing

    def add(
        self, session_id: SessionId, state: Sequence[updates.SessionUpdate], forked_from: ReplayedSession | None = None
    ) -> None:
        """Add a new session, or a fork of one."""
        session = self.open[session_id] = ReplayedSession(session_id)
        if forked_from is not None:
            session.conversation = snapshot(forked_from.conversation)
        self.touched.append(Touch(session_id, session.conversation, Change()))
        heard = (*self.early.take(session_id, is_fork=forked_from is not None), *state)
        session.begun_with = tuple(update for update in heard if isinstance(update, Declaration))
        for update in heard:
            self.hear(session, update)

    def begin(self, session_id: SessionId, *, is_resumed: bool) -> ReplayedSession:
        """Begin opening a session that the agent has kept; resuming it, without its history."""
        self._opening.setdefault(session_id, self.open.get(session_id))
        self._given_up.pop(session_id, None)
        session = self.open[session_id] = self._again(session_id) if is_resumed else ReplayedSession(session_id)
        return session

    def _again(self, session_id: SessionId) -> ReplayedSession:
        before = self._earlier.get(session_id)
        return ReplayedSession(session_id) if before is None else ReplayedSession(session_id, before)

    def finish(self, session: ReplayedSession, state: Sequence[updates.SessionUpdate]) -> None:
        assert session.session_id is not None
        for update in state:
            self.apply(session, update)
        self.told_late[session.session_id] = session
        before = self._before(session.session_id, self._opening.get(session.session_id))
        if before is None or not session.conversation.is_blank:
            self.end_telling(session.session_id)

    def end_telling(self, *session_ids: SessionId) -> None:
        """Show what was loaded as it was recorded. What the agent tells of these sessions from now on is new."""
        for session_id in session_ids:
            session = self.told_late.pop(session_id, None)
            if session is None:
                continue
            earlier = self._before(session_id, self._opening.pop(session_id, None))
            if earlier is not None and earlier is not session.conversation:  # it was loaded
                recall(session.conversation, snapshot(earlier), session_id)

    def give_up(self, session: ReplayedSession) -> None:
        """The agent didn't open it: restore the session that had its ID before."""
        assert session.session_id is not None
        self.told_late.pop(session.session_id, None)
        before = self._opening.pop(session.session_id, None)
        if before is not None:
            self.open[session.session_id] = before
        else:
            self.open.pop(session.session_id, None)
            self._given_up[session.session_id] = session

    def close(self, session_id: SessionId) -> None:
        """Ignore what the agent says about it from now on."""
        session = self.open.pop(session_id, None) or self._given_up.pop(session_id, None)
        if session is not None:
            self.closed[session_id] = session

    # Updates from the agent

    def on_dropped(self, what: str, why: str, raw: bytes | None = None) -> None:
        """Does nothing: it changed nothing."""

    def on_extension(self, method: str, params: Any) -> None:
        """Does nothing: it changed nothing."""

    def on_auth_status(self, status: AuthStatus) -> None:
        self.auth_status = status

    def request_permission(self, session_id: SessionId, asked: updates.PermissionAsked) -> Awaitable[str | None]:
        session, asked = self.asking(session_id, asked)
        key = RequestKey(next(self._keys))
        self.apply(session, replace(asked, request=replace(asked.request, key=key)))
        self.asked = (session, key)
        return _Unanswered()

    def elicit(self, session_id: SessionId | None, elicitation: Elicitation) -> Awaitable[ElicitationAnswer]:
        session = self.outside if session_id is None else self.serving(session_id)
        key = RequestKey(next(self._keys))
        self.apply(session, updates.ElicitationAsked(replace(elicitation, key=key)))
        self.asked = (session, key)
        return _Unanswered()

    def on_elicitation_complete(self, elicitation_id: str) -> None:
        for session in (self.outside, *self.open.values()):
            self.apply(session, updates.ElicitationCompleted(elicitation_id))

    # What was served live but isn't in a replay

    def ask_mcp_server(
        self, server_id: str, request_id: str, method: str, params: Mapping[str, Any] | None
    ) -> Awaitable[Any]:
        _refuse()

    def client_tools(self, session_id: SessionId) -> NoReturn:
        _refuse()


def _asks(session: ReplayedSession, key: RequestKey) -> bool:
    return key in session.conversation.permissions or key in session.conversation.elicitations


def _refuse() -> NoReturn:
    raise RequestFailed(ErrorCode.INTERNAL_ERROR, "nothing is served in a replay")
