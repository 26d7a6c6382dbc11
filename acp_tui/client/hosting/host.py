"""A host: owns one agent with its sessions, and is itself an ACP agent for any number of clients, of either version.

The host serves the agent's requests to the machine, as usual. The agent's questions to the user go to every client that
has the session open. The first answer counts; the other clients are told, and their question is withdrawn. Without a
client, a question waits: the host itself answers nothing. `serving` handles the connections.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

import anyio
from anyio.abc import ByteStream, TaskGroup

from acp_tui.client.errors import AgentRefused, AuthenticationRequired, ClientError
from acp_tui.client.hosting import extension_methods
from acp_tui.client.notices import News, NewsWatch, question_in
from acp_tui.client.secrets.masking import Masker
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.marks import MAX_NAME
from acp_tui.client.sessions.session import Attendance, Session
from acp_tui.client.settings.mcp import Server
from acp_tui.client.transcript.recorder import masked_fields, masked_update
from acp_tui.conversation import catch_up, content, facts, permission_requests, reducer, tool_calls, updates
from acp_tui.conversation.conversation import Change, Conversation, snapshot
from acp_tui.conversation.elicitation import Elicitation, UrlVisit
from acp_tui.conversation.visible.cutting import cut_text
from acp_tui.protocol import AUTH_REQUIRED, RESOURCE_NOT_FOUND, MalformedMessage
from acp_tui.protocol.connection import STEERING
from acp_tui.protocol.failures import error_data
from acp_tui.protocol.roles import AgentCapabilities, AgentIdentity
from acp_tui.protocol.v1 import agent_requests, encode_updates, initialize, session
from acp_tui.protocol.v1.inbound_content import read_block
from acp_tui.protocol.v2 import encode_updates as encode_updates_v2
from acp_tui.protocol.v2.encode_updates import message_id_of
from acp_tui.protocol.wire import Wire, decode, reading
from acp_tui.rpc import ConnectionLost, ErrorCode, Peer, RequestFailed, RpcError
from acp_tui.values import dataclass

MAX_UNREAD_BYTES: Final = 64 << 20
"""A client with more unread data than this is disconnected. It can attach again."""
ACTIONS: Final[tuple[updates.ElicitationAction, ...]] = ("accept", "decline", "cancel")
WHY_AGAIN: Final = "This changed while your answer was on its way, so it decided nothing."
KEPT: Final = 50
"""How many of a session's last entries stay in memory. Nobody scrolls through them here."""
BETWEEN: Final = ("state_update", "plan_removed")
"""Updates of version 2 that a history doesn't need: states of turns that are over, and ends of messages."""
UPDATES_PER_SLICE: Final = 50
"""How many updates to replay before other tasks may run."""


class UpdateEncoder(Protocol):
    """A module that writes one version's messages to clients."""

    def told_in(self, conversation: Conversation, update: updates.SessionUpdate, change: Change) -> Iterator[Wire]: ...

    def updates_of(self, update: updates.SessionUpdate) -> Iterator[Wire]:
        """Yield what clients of ours are told: only what they read as the same update."""

    def options_of(self, options: Iterable[facts.ConfigOption]) -> list[Wire]: ...

    def agreement_of(
        self,
        identity: AgentIdentity | None,
        capabilities: AgentCapabilities,
        auth_methods: Iterable[facts.AuthMethod],
        meta: Mapping[str, Any],
    ) -> Wire:
        """Return the answer to `initialize`."""

    def permission_request(
        self,
        session_id: facts.SessionId,
        request: facts.PermissionRequest,
        call: tool_calls.ToolCallPatch,
        *,
        reads_question: bool,
    ) -> Wire: ...


class _Turn:
    """A client's prompt, from its arrival to the end of its turn. It continues even if its client has gone."""

    def __init__(self, client: Client, blocks: Sequence[content.ContentBlock]) -> None:
        self.client = client
        self.blocks = blocks
        self.is_given_up = False
        self.message_id: str | None = None
        """The ID of its message, once the agent has accepted it."""
        self.accepted = anyio.Event()
        """Set when it's accepted, or never will be."""
        self.stop_reason: str | None = None
        self.error: ClientError | None = None
        self.over = anyio.Event()


@dataclass(slots=True)
class _Question:
    about: tuple[object, ...]
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    """Cancelling it withdraws the question."""
    is_over: bool = False
    """The client answered or couldn't ask."""


def _about(told: Session | None, asked: facts.PermissionRequest | Elicitation) -> tuple[object, ...]:
    """Everything that is shown with the question and may change while it waits."""
    if told is None or not isinstance(asked, facts.PermissionRequest):
        return ()
    conversation = told.conversation
    return permission_requests.shown_state(
        asked, conversation.tool_call(asked.tool_call_id).call, conversation.terminals
    )


@dataclass(slots=True)
class _Turns:
    """The prompts of one session. One runs at a time; the others wait in order."""

    lock: anyio.Lock = field(default_factory=anyio.Lock)
    waiting: list[_Turn] = field(default_factory=list)
    running: _Turn | None = None
    sending: _Turn | None = None
    unaccepted: list[_Turn] = field(default_factory=list)
    """Those that the agent hasn't accepted yet, oldest first."""
    steering: anyio.Lock = field(default_factory=anyio.Lock)
    joining: Client | None = None
    """The client whose prompt is being sent into the turn."""


@dataclass(frozen=True, slots=True)
class ClientAccess:
    where: str = "this machine"
    is_read_only: bool = False


LOCAL: Final = ClientAccess()


class Host:
    """The sessions of one agent, and the clients attached to them."""

    def __init__(self, agent: Agent, tasks: TaskGroup, where: Sequence[str] = ()) -> None:
        """`tasks` outlive every client. `where` says where clients connect, for people to read."""
        self.agent = agent
        self.masker = agent.secrets.masker if agent.secrets is not None else Masker(os.environ)
        """Knows the secrets that watchers must not see."""
        self.revoke: Callable[[], bool] = lambda: False
        """Makes the tokens invalid and disconnects who used one. Returns False if there are none."""
        self.where = where
        self.ended = anyio.Event()
        """Set when there is nothing left to host."""
        self.on_news: Callable[[Session, News], None] = lambda *_: None
        """Called with what nobody is attached to see."""
        self._tasks = tasks
        self.clients: list[Client] = []
        self._turns: dict[facts.SessionId, _Turns] = defaultdict(_Turns)
        self._began_at = time.time()
        self._opened_at: dict[facts.SessionId, float] = {}
        self._watches: dict[facts.SessionId, NewsWatch] = defaultdict(NewsWatch)
        agent.on_elicitations = partial(self._each_client, Client.look_at_questions)
        agent.auth_listeners.append(partial(self._each_client, Client.tell_login))

    async def serve(self, stream: ByteStream, access: ClientAccess = LOCAL) -> None:
        async with anyio.create_task_group() as tasks:
            client = Client(self, stream, tasks, access)
            self.clients.append(client)
            try:
                await client.peer.serve()
            except ConnectionLost:
                pass  # it sent too much or read too little, and is treated as disconnected
            finally:
                self.clients.remove(client)
                tasks.cancel_scope.cancel()
                self._note_left(client)
                self.tell_attendance()

    async def say_goodbye(self) -> None:
        """Wait until all clients have received what was sent."""
        for client in tuple(self.clients):
            await client.peer.flush()

    # Sessions

    def attend(self, opened: Session) -> None:
        """Pass on what happens in a session. Call this before the agent says anything in it."""
        opened.relay = partial(self._relay, opened)
        self._opened_at[opened.session_id] = time.time()
        opened.conversation.entries.kept = KEPT

    def _relay(self, told: Session, update: updates.SessionUpdate, change: Change) -> None:
        asker = self._asker(self._turns[told.session_id], update, change)
        for client in tuple(self.clients):
            if client is not asker:
                client.tell(told, update, change)
            elif facts.Fact.PLAN in change.facts:
                client.tell_plans(told)  # it has those that were on their way as it sent its prompt
        is_about_questions = facts.Fact.PERMISSIONS in change.facts or facts.Fact.ELICITATIONS in change.facts
        if is_about_questions:
            self.tell_attendance()  # watchers see in it what waits
        if is_about_questions or told.conversation.permissions:
            self._each_client(Client.look_at_questions)
        news = self._watches[told.session_id].news_in(told.conversation, time.monotonic())
        if news is not None and not self._is_attended(told):
            self.on_news(told, news)
        if isinstance(update, updates.Disconnected):
            self.ended.set()

    def _is_attended(self, told: Session) -> bool:
        return any(client.has_open(told.session_id) and not client.access.is_read_only for client in self.clients)

    def tell_attendance(self) -> None:
        """Tell each client who else is attached to its sessions, if that has changed."""
        self._each_client(Client.tell_attendance)

    def _each_client(self, call: Callable[[Client], None]) -> None:
        for client in tuple(self.clients):
            call(client)

    def attendance_for(self, client: Client, told: Session) -> Attendance:
        """Who else is attached to a session, and what waits if this client can't be asked."""
        here = [other for other in self.clients if other is not client and other.has_open(told.session_id)]
        return Attendance(
            tuple(other.described for other in here if not other.access.is_read_only),
            tuple(other.described for other in here if other.access.is_read_only),
            client.access.is_read_only,
            tuple(_waiting_in(told)) if client.access.is_read_only else (),
        )

    def _note_left(self, left: Client) -> None:
        """Tell the user of questions that wait in sessions that nobody sees anymore."""
        for told in tuple(self.agent.sessions.values()):
            news = question_in(told.conversation)
            was_seen = left.has_open(told.session_id) and not left.access.is_read_only
            if news is not None and was_seen and not self._is_attended(told):
                self.on_news(told, news)

    def _asker(self, turns: _Turns, update: updates.SessionUpdate, change: Change) -> Client | None:
        """The client that already knows this, or gets it as the answer to its request."""
        turn = turns.running
        match update:
            case updates.PromptSent(awaits_id=awaits_id):
                turn, turns.sending = turns.sending, None
                if turn is not None and awaits_id:
                    turns.unaccepted.append(turn)
                elif turn is not None:
                    turn.message_id = message_id_of(change)
                    turn.accepted.set()
            case updates.PromptAccepted(message_id) if turns.unaccepted:
                turn = turns.unaccepted.pop(0)
                turn.message_id = message_id
                turn.accepted.set()
            case updates.PromptRefused() if turns.unaccepted:
                turn = turns.unaccepted.pop()
                turn.accepted.set()
            case updates.TurnEnded() | updates.TurnFailed():
                pass
            case updates.PromptJoined():
                joining = turns.joining
                return joining if joining is not None and not joining.follows else None
            case _:
                return None
        # Version 2 sends clients their own prompts back, with their ID.
        return turn.client if turn is not None and (turn.client.version != 2 or turn.client.follows) else None

    def begin_turn(self, told: Session, client: Client, blocks: Sequence[content.ContentBlock]) -> _Turn:
        """Send a prompt when the ones before it are done."""
        turn = _Turn(client, blocks)
        if (
            client.version == 2
            and told.connection.accepts_prompts
            and told.conversation.turn is facts.TurnPhase.RUNNING
        ):
            self._tasks.start_soon(self._send_another, told, turn)
        else:
            self._turns[told.session_id].waiting.append(turn)
            self._tasks.start_soon(self._take_turn, told, turn)
        return turn

    async def _take_turn(self, told: Session, turn: _Turn) -> None:
        turns = self._turns[told.session_id]
        async with turns.lock:
            turns.waiting.remove(turn)
            if not turn.is_given_up:
                turns.running = turns.sending = turn
                try:
                    await told.send_prompt(turn.blocks)
                except ClientError as error:
                    turn.error = error
                turns.running = turns.sending = None
                turn.stop_reason = told.conversation.last_stop_reason
        turn.accepted.set()
        turn.over.set()

    async def _send_another(self, told: Session, turn: _Turn) -> None:
        """Send a prompt to an agent that takes it during the turn, and decides itself when to begin it."""
        self._turns[told.session_id].sending = turn
        try:
            await told.send_another(turn.blocks)
        except ClientError as error:
            turn.error = error
        turn.accepted.set()

    async def steer(self, told: Session, client: Client, blocks: Sequence[content.ContentBlock]) -> bool:
        """Send a prompt into the running turn. False if no turn accepted it."""
        turns = self._turns[told.session_id]
        async with turns.steering:
            turns.joining = client
            try:
                return await told.steer(blocks)
            finally:
                turns.joining = None

    def cancel(self, told: Session, client: Client) -> None:
        """Cancel the turn. If the client has unsent prompts, cancel those instead."""
        own = [turn for turn in self._turns[told.session_id].waiting if turn.client is client]
        for turn in own:
            turn.is_given_up = True
            turn.stop_reason = "cancelled"
            turn.accepted.set()
        if not own:
            told.cancel()

    async def close(self, told: Session, by: Client) -> None:
        """Close a session for all clients. Closing the last one ends the host."""
        gone = updates.Disconnected("The session was closed in another terminal.")
        for client in self.clients:
            if client is not by:
                client.tell(told, gone, Change())
        await self.agent.close_session(told)
        self._turns.pop(told.session_id, None)
        self._watches.pop(told.session_id, None)
        if not self.agent.sessions:
            self.ended.set()

    def status(self) -> dict[str, Any]:
        """What runs here, and which questions wait for an answer."""
        return {
            "agent": self.agent.title,
            "name": self.agent.command.name,
            "pid": os.getpid(),
            "startedAt": self._began_at,
            "listens": list(self.where),
            "sessions": [self._status_of(one) for one in self.agent.sessions.values()],
        }

    def _status_of(self, one: Session) -> dict[str, Any]:
        conversation = one.conversation
        return {
            "sessionId": one.session_id,
            "cwd": str(one.cwd),
            "title": conversation.shown_title,
            "openedAt": self._opened_at.get(one.session_id, self._began_at),
            "turn": conversation.turn.name.lower(),
            "waiting": _waiting_in(one),
            "attached": sum(client.has_open(one.session_id) for client in self.clients),
        }


def _waiting_in(told: Session) -> list[str]:
    conversation = told.conversation
    asked = [
        conversation.tool_call(request.tool_call_id).call.shown_title for request in conversation.permissions.values()
    ]
    return asked + [elicitation.message for elicitation in conversation.elicitations.values()]


_Serving: TypeAlias = Callable[[Any], Awaitable[Any]]
"""Serves a request with these params. Returns what to answer; None for an empty object."""


class Client:
    """One client of a host. Acts as the agent for it, and is the peer's handler.

    One that can only watch has the requests of `FOR_WATCHERS`, is asked nothing, and is sent nothing unmasked.
    """

    def __init__(self, host: Host, stream: ByteStream, tasks: TaskGroup, access: ClientAccess) -> None:
        self.peer = Peer(stream, self)
        self.access = access
        self._name = ""
        self._told_attendance: dict[facts.SessionId, Attendance] = {}
        self._host = host
        self._tasks = tasks
        self.version = 1
        """The version of ACP that it speaks, whatever the agent speaks."""
        self._encoder: UpdateEncoder = encode_updates
        self.follows = False
        """Whether it understands `UPDATE`, for what ACP can't express."""
        self._open: set[facts.SessionId] = set()
        self._has_plans = False
        """Whether it can be told of more than one plan."""
        self._plans: set[str] = set()
        """The IDs of plans that it was told of."""
        self._held_back: dict[facts.SessionId, list[tuple[updates.SessionUpdate, Change]]] = {}
        """What happens in a session while its history is being sent."""
        self._hears_login = False
        """Whether it was offered to be told who is logged in."""
        self._elicits: initialize.ElicitationCapabilities | None = None
        """The questions, besides for permission, that it can ask."""
        self._reads_questions = False
        """Whether it understands what we add to permission requests."""
        self._asked: dict[facts.RequestKey, _Question] = {}
        self._late: set[facts.RequestKey] = set()
        """The questions that changed while this client's answer was on its way."""
        self.requests: dict[str, _Serving] = {
            "initialize": self._initialize,
            "authenticate": reading(initialize.AuthenticateRequest, lambda way: host.agent.authenticate(way.method_id)),
            "logout": lambda _: host.agent.logout(),
            "providers/list": self._list_providers,
            "providers/set": reading(initialize.SetProviderRequest, self._set_provider),
            "providers/disable": reading(initialize.DisableProviderRequest, self._disable_provider),
            "session/new": self._new_session,
            "session/load": self._load_session,
            "auth/status": self._auth_status,
            "session/list": reading(session.ListSessionsRequest, self._list_sessions),
            "session/status": reading(session.SessionStatusRequest, self._session_status),
            "session/close": reading(session.CloseSessionRequest, self._close_session),
            "session/prompt": reading(session.PromptRequest, self._prompt),
            STEERING: reading(session.PromptRequest, self._steer),
            "session/set_config_option": reading(session.SetSessionConfigOptionRequest, self._set_option),
            "session/set_title": reading(session.SetSessionTitleRequest, self._set_title),
            extension_methods.STATUS: partial(self._own_request, host.status),
            extension_methods.STOP: partial(self._own_request, host.ended.set),
            extension_methods.REVOKE: partial(self._own_request, lambda: {"revoked": host.revoke()}),
        }
        self._requests_of_v2: dict[str, _Serving] = {
            "auth/login": self.requests["authenticate"],
            "auth/logout": self.requests["logout"],
            "session/resume": self._load_session,
            "session/prompt": reading(session.PromptRequest, self._send_prompt),
            "tool_call/cancel": reading(agent_requests.ToolCallReference, self._cancel_tool_call),
            "terminal/cancel": reading(agent_requests.TerminalRequest, self._cancel_terminal),
        }

    # Requests from the client

    def on_request(self, method: str, params: Any) -> Awaitable[Any]:
        """Handle a request. Raises RequestFailed."""
        if self.access.is_read_only and method not in extension_methods.FOR_WATCHERS:
            raise RequestFailed(ErrorCode.INVALID_REQUEST, "You can only watch here", {"method": method})
        serve = self.requests.get(method)
        if serve is None:
            raise RequestFailed(ErrorCode.METHOD_NOT_FOUND, f"Method not found: {method}", {"method": method})
        return self._served(serve, params)

    async def _served(self, serve: _Serving, params: Any) -> Any:
        with _as_failures():
            said = await serve(params) or {}
        return self._host.masker.message(said) if self.access.is_read_only else said

    def on_notification(self, method: str, params: Any) -> None:
        """Cancel a turn. Ignore unknown notifications."""
        if method == "session/cancel" and not self.access.is_read_only:
            with _as_failures():
                request = decode(session.CancelNotification, params)
                self._host.cancel(self._session(request.session_id), self)

    def on_malformed(self, line: bytes, reason: str) -> None:
        """Ignore it: nothing is lost."""

    async def _initialize(self, params: Any) -> Any:
        request = decode(initialize.InitializeRequest, params)
        agent = self._host.agent
        info = params.get("info", params.get("clientInfo"))  # of version 2, of version 1
        self._name = cut_text(str(info.get("name", ""))) if isinstance(info, dict) else ""
        self._reads_questions = extension_methods.reads_questions(request.client_capabilities.meta)
        self.follows = extension_methods.follows(request.client_capabilities.meta)
        offered = decode(
            initialize.ClientCapabilities, params.get("capabilities") or params.get("clientCapabilities") or {}
        )
        self._elicits = offered.elicitation
        self._has_plans = request.client_capabilities.plan is not None
        if request.protocol_version >= 2 and isinstance(params.get("info"), dict):
            # A client of ours knows both. In the agent's version, it is told the same updates that we are.
            self.version = agent.connection.version if self.follows else 2
        elif agent.connection.version == 2:
            self.follows = False  # an earlier release, for which version 1 has to do
        if self.version == 2:
            self._encoder = encode_updates_v2
            self._has_plans = True
            for method in ("authenticate", "logout", "session/load"):
                self.requests.pop(method, None)
            self.requests |= self._requests_of_v2
        # The host can always load sessions, whatever the agent supports. Without the history, a client would miss what
        # happened before.
        capabilities = replace(
            agent.capabilities,
            load_session=True,
            list_sessions=True,
            close_session=not self.access.is_read_only,
            resume_session=False,
            delete_session=False,
            set_title=not self.access.is_read_only,
            session_status=True,
            auth_status=agent.tells_login and not self.access.is_read_only,
        )
        self._hears_login = capabilities.auth_status
        # A login in a terminal would require a new agent process.
        ways = [way for way in agent.auth_methods if way.kind == "agent"]
        meta = extension_methods.host_meta(agent.sandbox_name)
        identity = replace(agent.identity, title=agent.title) if agent.identity is not None else None
        return self._encoder.agreement_of(identity, capabilities, ways, meta)

    async def _auth_status(self, _: Any) -> Any:
        await self._host.agent.ask_auth_status()
        return encode_updates.auth_status_of(self._host.agent.auth_status or facts.AuthStatus("unknown"))

    async def _list_providers(self, _: Any) -> Any:
        return {"providers": list(map(encode_updates.provider_of, await self._host.agent.list_providers()))}

    async def _set_provider(self, request: initialize.SetProviderRequest) -> None:
        route = facts.ProviderRoute(request.api_type, request.base_url)
        await self._host.agent.set_provider(await self._provider(request.provider_id), route, request.headers)

    async def _disable_provider(self, request: initialize.DisableProviderRequest) -> None:
        await self._host.agent.set_provider(await self._provider(request.provider_id), None, {})

    async def _provider(self, provider_id: str) -> facts.Provider:
        for provider in await self._host.agent.list_providers():
            if provider.provider_id == provider_id:
                return provider
        raise RequestFailed(ErrorCode.INVALID_PARAMS, f"Unknown model provider: {provider_id}")

    async def _new_session(self, params: Any) -> Any:
        request = decode(session.NewSessionRequest, _with_servers(params))

        def attend(opened: Session) -> None:
            self._open.add(opened.session_id)
            self._host.attend(opened)
            self._host.tell_attendance()

        opened = await self._host.agent.new_session(
            _absolute(request.cwd),
            attend,
            additional_directories=[*map(_absolute, request.additional_directories)],
            mcp_servers=[*map(_mcp_server, request.mcp_servers)],
        )
        return {"sessionId": opened.session_id, **self._setup(opened)}

    async def _load_session(self, params: Any) -> Any:
        """Send the history, then live updates, with no gap and no duplicates."""
        request = decode(session.LoadSessionRequest, _with_servers(params))
        opened = self._session(request.session_id)
        wants_history = self.version == 1 or params.get("replayFrom") is not None
        taken, held_back = snapshot(opened.conversation), list[tuple[updates.SessionUpdate, Change]]()
        self._open.add(opened.session_id)
        self._held_back[opened.session_id] = held_back
        self._host.tell_attendance()
        try:
            heard = Conversation()
            for number, update in enumerate(catch_up.retold(taken) if wants_history else (), 1):
                # As told, it's the same conversation, so messages have the IDs that later updates refer to.
                update = self._masked(update)
                change = reducer.apply(heard, update)
                for session_id, said in self._sayings(opened.session_id, heard, update, change):
                    if self.follows or said["sessionUpdate"] not in BETWEEN:
                        self._update(session_id, said)
                if number % UPDATES_PER_SLICE == 0:
                    await self.peer.until_room()
                    await anyio.sleep(0)
            if self.version == 2 and not self.follows:
                self._update(opened.session_id, encode_updates_v2.state_of(taken))
        finally:
            del self._held_back[opened.session_id]
        for update, change in held_back:
            if isinstance(update, updates.PermissionAsked):
                # The question is asked below, if it still waits, but its call began here.
                update = updates.ToolCallReported(update.patch, begins=True)
            self.tell(opened, update, change)
        self.look_at_questions()
        return self._setup(opened)

    def _setup(self, opened: Session) -> dict[str, Any]:
        options = opened.conversation.options
        return {"configOptions": self._encoder.options_of(options)} if options else {}

    async def _list_sessions(self, request: session.ListSessionsRequest) -> Any:
        found = [
            {"sessionId": one.session_id, "cwd": str(one.cwd)}
            | ({} if one.conversation.title is None else {"title": one.conversation.title})
            for one in self._host.agent.sessions.values()
            if request.cwd in (None, str(one.cwd))
        ]
        return {"sessions": found}

    async def _session_status(self, request: session.SessionStatusRequest) -> Any:
        asked = self._session(request.session_id)
        if self.version == 1:
            return {"status": "open"}
        state = encode_updates_v2.state_of(asked.conversation)
        return {"status": "open", "state": {key: value for key, value in state.items() if key != "sessionUpdate"}}

    async def _close_session(self, request: session.CloseSessionRequest) -> None:
        closed = self._session(request.session_id)
        self._open.discard(closed.session_id)
        await self._host.close(closed, self)

    def _begin_turn(self, request: session.PromptRequest) -> _Turn:
        return self._host.begin_turn(self._session(request.session_id), self, tuple(map(read_block, request.prompt)))

    async def _prompt(self, request: session.PromptRequest) -> Any:
        turn = self._begin_turn(request)
        await turn.over.wait()
        if turn.error is not None:
            raise turn.error
        if turn.stop_reason is None:
            raise RequestFailed(ErrorCode.INTERNAL_ERROR, "The agent ended the turn without a reason")
        return {"stopReason": turn.stop_reason}

    async def _send_prompt(self, request: session.PromptRequest) -> Any:
        """Take a prompt of version 2: states tell the end of its turn."""
        turn = self._begin_turn(request)
        await turn.accepted.wait()
        if turn.message_id is not None:
            return {"messageId": turn.message_id}
        if turn.error is not None and not turn.is_given_up:
            raise turn.error
        raise RequestFailed(ErrorCode.REQUEST_CANCELLED, "The agent didn't take up the prompt")

    async def _cancel_tool_call(self, request: agent_requests.ToolCallReference) -> None:
        await self._session(request.session_id).cancel_tool_call(tool_calls.ToolCallId(request.tool_call_id))

    async def _cancel_terminal(self, request: agent_requests.TerminalRequest) -> None:
        await self._session(request.session_id).cancel_terminal(tool_calls.TerminalId(request.terminal_id))

    async def _steer(self, request: session.PromptRequest) -> Any:
        told = self._session(request.session_id)
        if not await self._host.steer(told, self, tuple(map(read_block, request.prompt))):
            return {"outcome": "promptRequired"}
        return {"outcome": "injected"} | ({"_meta": extension_methods.TOLD} if self.follows else {})

    async def _set_option(self, request: session.SetSessionConfigOptionRequest) -> Any:
        told = self._session(request.session_id)
        await told.set_option(request.config_id, request.value)
        return {"configOptions": self._encoder.options_of(told.conversation.options)}

    async def _set_title(self, request: session.SetSessionTitleRequest) -> Any:
        """Rename the session for everyone, also where the agent takes no titles."""
        told, title = self._session(request.session_id), request.title.strip()[:MAX_NAME]
        if not title:
            raise RequestFailed(ErrorCode.INVALID_PARAMS, "A title needs at least one character")
        return {"title": await told.rename(title)}

    async def _own_request(self, answer: Callable[[], Any], _: Any) -> Any:
        return answer()

    def _session(self, session_id: str) -> Session:
        found = self._host.agent.sessions.get(facts.SessionId(session_id))
        if found is None:
            raise RequestFailed(RESOURCE_NOT_FOUND, f"Unknown session: {session_id}", {"sessionId": session_id})
        return found

    # Updates to the client

    def has_open(self, session_id: facts.SessionId) -> bool:
        return session_id in self._open

    @property
    def described(self) -> str:
        return f"{self._name or 'an ACP client'} on {self.access.where}"

    def tell_attendance(self) -> None:
        """Tell who else is attached to its sessions, if it understands that."""
        if not self.follows:
            return
        for session_id in self._open:
            told = self._host.agent.sessions.get(session_id)
            if told is not None:
                attendance = self._host.attendance_for(self, told)
                if self._told_attendance.get(session_id) != attendance:
                    self._told_attendance[session_id] = attendance
                    self.notify(extension_methods.ATTACHED, extension_methods.write_attended(session_id, attendance))

    def tell_login(self) -> None:
        """Tell who is logged in, if it was offered that; a watcher never is."""
        status = self._host.agent.auth_status
        if self._hears_login and status is not None:
            self.notify("auth/status_update", encode_updates.auth_status_of(status))

    def tell(self, told: Session, update: updates.SessionUpdate, change: Change) -> None:
        if told.session_id not in self._open:
            return
        if isinstance(update, updates.PlanReplaced):
            self._plans.add(update.plan_id)
        held_back = self._held_back.get(told.session_id)
        if held_back is not None:
            held_back.append((update, change))
        elif isinstance(update, updates.PermissionAsked | updates.PermissionNoted | updates.ElicitationAsked):
            pass  # sent as a question
        elif facts.Fact.OPTIONS in change.facts and isinstance(update, updates.OptionChanged | updates.MessageChunk):
            self._say(told, updates.OptionsReplaced(told.conversation.options), change)
        else:
            self._say(told, update, change)

    def tell_plans(self, told: Session) -> None:
        """Say which plans there are: a prompt ends those whose steps are done."""
        plans = told.conversation.plans
        for plan_id in {*self._plans, *plans}:
            steps = plans[plan_id].steps if plan_id in plans else ()
            self.tell(told, updates.PlanReplaced(steps, plan_id), Change())

    def _masked(self, update: updates.SessionUpdate) -> updates.SessionUpdate:
        return masked_update(update, self._host.masker) if self.access.is_read_only else update

    def _say(self, told: Session, update: updates.SessionUpdate, change: Change) -> None:
        for session_id, said in self._sayings(told.session_id, told.conversation, self._masked(update), change):
            self._update(session_id, said)

    def _sayings(
        self, session_id: facts.SessionId, conversation: Conversation, update: updates.SessionUpdate, change: Change
    ) -> Iterator[tuple[facts.SessionId, Wire]]:
        """What the client is told in which session. Sends `UPDATE` itself."""
        said_in, conversation, update, change = encode_updates.led(session_id, conversation, update, change)
        if isinstance(update, updates.PlanReplaced) and not self._has_plans:
            update = replace(update, plan_id=updates.ONLY_PLAN)
        if not self.follows:
            yield from ((said_in, said) for said in self._encoder.told_in(conversation, update, change))
            return
        sayings = [*self._encoder.updates_of(update)]
        yield from ((said_in, said) for said in sayings)
        if not sayings and said_in == session_id:  # updates of subagents that can't be expressed are left out
            self.notify(extension_methods.UPDATE, extension_methods.write_update(session_id, update), update)

    def _update(self, session_id: facts.SessionId, said: Wire) -> None:
        self.notify("session/update", {"sessionId": session_id, "update": said})

    def notify(self, method: str, params: Any, update: updates.SessionUpdate | None = None) -> None:
        """Send a notification, for a watcher without secrets. `update` is the one in `UPDATE`."""
        if self.access.is_read_only:
            masker = self._host.masker
            params = masker.message(params) if update is None else masked_fields(update, params, masker)
        try:
            self.peer.notify(method, params)
        except ConnectionLost:
            return
        if self.peer.waiting_bytes > MAX_UNREAD_BYTES:
            self._tasks.cancel_scope.cancel()

    # Questions to the client

    def look_at_questions(self) -> None:
        """Send waiting questions that haven't been asked here. Withdraw those that no longer wait, or have changed.

        What has changed is asked again as another request. So an answer says what its client had shown.
        """
        waiting = dict(self._waiting())
        self._late &= waiting.keys()
        for key, question in tuple(self._asked.items()):
            if key not in waiting or question.about != _about(*waiting[key]):
                question.scope.cancel()
                if question.is_over:
                    del self._asked[key]
        for key, ask in waiting.items():
            if key not in self._asked:
                self._ask(key, *ask)

    def _waiting(
        self,
    ) -> Iterator[tuple[facts.RequestKey, tuple[Session | None, facts.PermissionRequest | Elicitation]]]:
        if self.access.is_read_only:
            return
        agent = self._host.agent
        for key, elicitation in agent.elicitations.items():
            if self._can_ask(elicitation):
                yield key, (None, elicitation)
        for session_id in self._open - self._held_back.keys():
            told = agent.sessions.get(session_id)
            if told is None:
                continue
            for key, request in told.conversation.permissions.items():
                yield key, (told, request)
            for key, elicitation in told.conversation.elicitations.items():
                if self._can_ask(elicitation):
                    yield key, (told, elicitation)

    def _can_ask(self, asked: Elicitation) -> bool:
        """Whether the client has offered to ask the user this. If not, it waits for another client."""
        can = self._elicits
        return can is not None and (can.url if isinstance(asked, UrlVisit) else can.form) is not None

    def _ask(self, key: facts.RequestKey, told: Session | None, asked: facts.PermissionRequest | Elicitation) -> None:
        if isinstance(asked, facts.PermissionRequest):
            assert told is not None
            patch = catch_up.patch_of(told.conversation.tool_call(asked.tool_call_id).call)
            noted = replace(asked, note=self._note_of(asked))
            method, reads = "session/request_permission", self._reads_questions
            params = self._encoder.permission_request(told.session_id, noted, patch, reads_question=reads)
        else:
            method = "elicitation/create"
            params = encode_updates.elicitation_request(told.session_id if told is not None else None, asked)
        question = _Question(_about(told, asked))
        answer: Awaitable[Any]
        try:
            answer = self.peer.request(method, params, read=partial(self._take_answer, key, told, question))
        except ConnectionLost:
            return
        self._asked[key] = question
        self._tasks.start_soon(self._await_answer, key, answer, question)
        if isinstance(asked, UrlVisit) and asked.is_complete:
            self.notify("elicitation/complete", {"elicitationId": asked.elicitation_id})

    async def _await_answer(self, key: facts.RequestKey, answer: Awaitable[Any], question: _Question) -> None:
        # After an error, it couldn't ask, or there was no answer: the question waits for another client.
        with question.scope, suppress(RpcError, MalformedMessage, ValueError):
            await answer
        question.is_over = True
        if question.scope.cancel_called:
            del self._asked[key]
            self.look_at_questions()

    def _take_answer(self, key: facts.RequestKey, told: Session | None, question: _Question, said: Any) -> None:
        """Pass on an answer as it arrives, even after the question was withdrawn. Then it decides nothing."""
        self.look_at_questions()
        if not question.scope.cancel_called:
            self.answer(key, told, said)
        elif told is not None and (asked := told.conversation.permissions.get(key)) is not None and _chosen(said):
            self._late.add(key)
            if self._asked.get(key) is not question:  # otherwise it's about to be asked again, with this note
                self._say(told, updates.PermissionNoted(key, self._note_of(asked) or ""), Change())

    def _note_of(self, asked: facts.PermissionRequest) -> str | None:
        late = WHY_AGAIN if asked.key in self._late else None
        return "\n".join(filter(None, [asked.note, late])) or None

    def answer(self, key: facts.RequestKey, told: Session | None, said: Any) -> None:
        """Pass on the user's choice. If the client only dismissed a permission request, it keeps waiting."""
        if told is not None and key in told.conversation.permissions:
            if (option_id := _chosen(said)) is not None:
                told.answer_permission(key, option_id)
            return
        response = decode(agent_requests.CreateElicitationResponse, said)
        action = next((one for one in ACTIONS if one == response.action), None)
        if action is not None:
            owner = told if told is not None else self._host.agent
            owner.questions.answer(key, action, response.content)


def _chosen(said: Any) -> str | None:
    """The ID of the option in an answer to a permission request; None if it chooses none."""
    with suppress(MalformedMessage):
        outcome = decode(agent_requests.RequestPermissionResponse, said).outcome
        return outcome.option_id if isinstance(outcome, agent_requests.SelectedPermissionOutcome) else None
    return None


@contextmanager
def _as_failures() -> Iterator[None]:
    """Raise errors from the block as error responses."""
    try:
        yield
    except MalformedMessage as error:
        raise RequestFailed(ErrorCode.INVALID_PARAMS, "Invalid params", {"details": str(error)}) from error
    except AuthenticationRequired as error:
        raise RequestFailed(AUTH_REQUIRED, str(error), error_data(error.detail, error.said)) from error
    except AgentRefused as error:
        raise RequestFailed(error.code, str(error), error_data(error.detail or None, error.said)) from error
    except ClientError as error:
        raise RequestFailed(ErrorCode.INTERNAL_ERROR, str(error), error.detail or error.hint or None) from error


def _absolute(path: str) -> Path:
    if not path.startswith("/"):
        raise RequestFailed(ErrorCode.INVALID_PARAMS, f"Not an absolute path: {path}")
    return Path(path)


def _with_servers(params: Any) -> Any:
    """Params of either version as those of version 1, which needs the servers, and has no type for a program."""
    if not isinstance(params, dict):
        return params
    servers = params.get("mcpServers") or []
    for each in servers if isinstance(servers, list) else ():
        if isinstance(each, dict) and each.get("type") == "stdio":
            del each["type"]
    return {**params, "mcpServers": servers}


def _mcp_server(server: session.McpServer) -> Server:
    if isinstance(server, session.McpServerStdio):
        env = tuple((variable.name, variable.value) for variable in server.env or ())
        return facts.StdioServer(server.name, server.command, tuple(server.args or ()), env)
    headers = tuple((header.name, header.value) for header in server.headers or ())
    return facts.HttpServer(server.type, server.name, server.url, headers)
