"""What the rules remember about a connection: what both sides offer, its sessions, and their turns.

A scene judges nothing. Each subject has a `Check` that does.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Final

from acp_tui.rpc.messages import Recent
from acp_tui.values import dataclass
from acp_tui.workbench.conformance.exchange import Event, SeenNotification, SeenRequest, SeenResponse
from acp_tui.workbench.conformance.rule import Judge

CROSSING_S: Final = 1.0
"""Messages this soon after a cancel may have been sent before it, in a flood of updates."""
KEPT_WORDS: Final = 200
"""How many characters of a message to keep, to recognize it in a replay."""
KEPT_TURNS: Final = 50
OPENING: Final = ("session/new", "session/load", "session/resume")


@dataclass(slots=True)
class OpenTurn:
    """A prompt without an answer yet."""

    prompt: SeenRequest
    said: str = ""
    """The beginning of the agent's message."""
    cancelled_at: float | None = None
    cancelled_in: int = -1
    """The frame in which it was canceled."""
    is_given_up: bool = False
    """Whether its request itself was canceled (`$/cancel_request`)."""


@dataclass(slots=True)
class SessionScene:
    opened_in: int
    """The frame where its ID first appeared."""
    cwd: Any = None
    """As sent by the client."""
    turn: OpenTurn | None = None
    reopening: SeenRequest | None = None
    """A load or resume without an answer yet."""
    loaded_in: int | None = None
    """The frame of the last answer to a load; a prompt clears it."""
    talks: list[tuple[str, str]] = field(default_factory=list)
    """The beginnings of the prompt and answer of each ended turn."""
    closed_in: int | None = None
    is_deleted: bool = False


class Scene:
    """Tracks the connection. Call `follow` after all checks have seen an event."""

    def __init__(self) -> None:
        self.offer: dict[str, Any] = {}
        self.capabilities: dict[str, Any] = {}
        self.is_whole = False
        """Whether it has seen `initialize`. Otherwise, sessions may have been opened before."""
        self.is_agreed = False
        """Whether `initialize` was answered with a result."""
        self.sessions: Recent[str, SessionScene] = Recent()
        self.subagents: Recent[str, bool] = Recent()
        """Sessions the agent started on its own."""
        self.opening = 0
        """How many `session/new` requests wait for an answer."""

    def session(self, params: dict[str, Any]) -> SessionScene | None:
        session_id = params.get("sessionId")
        return self.sessions.get(session_id) if isinstance(session_id, str) else None

    def follow(self, event: Event) -> None:
        match event:
            case SeenRequest(is_agents=False):
                self._follow_request(event)
            case SeenNotification(is_agents=False, method="session/cancel"):
                session = self.session(event.params)
                if session is not None and session.turn is not None and session.turn.cancelled_at is None:
                    session.turn.cancelled_at, session.turn.cancelled_in = event.at_s, event.index
            case SeenNotification(is_agents=False, method="$/cancel_request"):
                self._give_up(event.params.get("requestId"))
            case SeenNotification(is_agents=True, method="session/update"):
                self._hear(event)
            case SeenResponse(is_agents=True):
                self._follow_answer(event)

    def _follow_request(self, request: SeenRequest) -> None:
        if request.method == "initialize":
            self.is_whole = True
            self.offer = as_object(request.params.get("clientCapabilities"))
        elif request.method == "session/new":
            self.opening += 1
        elif request.method in OPENING:
            session = self._added(request)
            if session is not None:
                session.reopening, session.loaded_in, session.closed_in = request, None, None
        elif request.method == "session/prompt":
            session = self.session(request.params) if self.is_whole else self._added(request)
            if session is not None:
                session.turn, session.loaded_in = OpenTurn(request), None

    def _added(self, request: SeenRequest) -> SessionScene | None:
        """Return the session. If it's new here, the client knows it from elsewhere."""
        session_id = request.params.get("sessionId")
        if not isinstance(session_id, str):
            return None
        if session_id not in self.sessions:
            self.sessions[session_id] = SessionScene(request.index, request.params.get("cwd"))
        return self.sessions[session_id]

    def _give_up(self, request_id: Any) -> None:
        for session in self.sessions.values():
            if session.turn is not None and session.turn.prompt.request_id == request_id:
                session.turn.is_given_up = True

    def _hear(self, told: SeenNotification) -> None:
        session, update = self.session(told.params), as_object(told.params.get("update"))
        if update.get("sessionUpdate") == "subagent_update" and isinstance(update.get("sessionId"), str):
            self.subagents[update["sessionId"]] = True
        if session is None or session.turn is None or update.get("sessionUpdate") != "agent_message_chunk":
            return
        session.turn.said = (session.turn.said + text_of(update.get("content"))[:KEPT_WORDS])[:KEPT_WORDS]

    def _follow_answer(self, answer: SeenResponse) -> None:
        request = answer.request
        session = self.session(request.params)
        if request.method == "initialize" and answer.error is None:
            self.is_agreed = True
            self.capabilities = as_object(as_object(answer.result).get("agentCapabilities"))
        elif request.method == "session/new":
            self.opening -= 1
        elif session is not None and answer.error is None:
            match answer.request.method:
                case "session/load":
                    session.loaded_in = answer.index
                case "session/close":
                    session.closed_in = answer.index
                case "session/delete":
                    session.is_deleted = True
        if session is not None and request.method == "session/prompt":
            _end_turn(session, answer)
        if session is not None and request is session.reopening:
            session.reopening = None
        # Not only session/new opens sessions: drafts and extensions do, too.
        opened = as_object(answer.result).get("sessionId")
        if isinstance(opened, str) and opened not in self.sessions:
            self.sessions[opened] = SessionScene(answer.index, request.params.get("cwd"))


def _end_turn(session: SessionScene, answer: SeenResponse) -> None:
    turn = session.turn
    if turn is None or turn.prompt is not answer.request:
        return
    session.turn = None
    # Agents decide what to keep of failed and canceled turns.
    if answer.error is None and turn.cancelled_at is None and len(session.talks) < KEPT_TURNS:
        blocks = turn.prompt.params.get("prompt")
        asked = "".join(map(text_of, blocks)) if isinstance(blocks, list) else ""
        session.talks.append((asked[:KEPT_WORDS], turn.said[:KEPT_WORDS]))


def as_object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in as_list(value) if isinstance(item, dict)]


def text_of(block: Any) -> str:
    text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else None
    return text if isinstance(text, str) else ""


def offers(capabilities: dict[str, Any], path: tuple[str, ...]) -> bool:
    """Whether a capability is present: true or an object (R-INIT-5)."""
    value: Any = capabilities
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value is True or isinstance(value, dict)


class Check:
    """Checks the rules on one subject as messages pass."""

    def __init__(self, judge: Judge, scene: Scene) -> None:
        self._judge = judge
        self._scene = scene

    def see(self, event: Event) -> None:
        """Check a message before the scene remembers it."""

    def finish(self) -> None:
        """End the connection."""
