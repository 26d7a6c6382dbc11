"""Rules of sessions: which one a message is for, and the results of list, load, resume, close, and delete."""

from __future__ import annotations

from collections.abc import Iterable
from os.path import normpath
from typing import Any, Final

from acp_tui.rpc import ErrorCode
from acp_tui.workbench.conformance.connection_state import (
    CROSSING_S,
    OPENING,
    Check,
    OpenTurn,
    Scene,
    SessionScene,
    as_object,
    objects,
    offers,
    text_of,
)
from acp_tui.workbench.conformance.exchange import Event, SeenNotification, SeenRequest, SeenResponse
from acp_tui.workbench.conformance.rule import Judge, shown

OF_A_SESSION: Final = ("session/", "fs/", "terminal/", "elicitation/")
USER: Final = "user_message_chunk"
AGENT: Final = "agent_message_chunk"
HISTORY: Final = (USER, AGENT, "agent_thought_chunk", "tool_call")
KEPT_REPLAY: Final = 1 << 20
KEPT_LISTED: Final = 100_000


class SessionCheck(Check):
    """Compares what is said about sessions with what is known about them."""

    def __init__(self, judge: Judge, scene: Scene) -> None:
        super().__init__(judge, scene)
        self._replay: dict[str, dict[str, str]] = {}
        """The replayed text of each session being reopened, by the kind of update."""
        self._listed: set[str] = set()
        """The IDs on the pages so far."""

    def see(self, event: Event) -> None:
        match event:
            case SeenRequest(is_agents=False, method=method, params=params) if method in OPENING:
                if isinstance(session_id := params.get("sessionId"), str):
                    self._replay[session_id] = {}
            case SeenRequest(is_agents=True) | SeenNotification(is_agents=True):
                self._look_at_place(event)
            case SeenResponse(is_agents=True):
                self._look_at_answer(event)

    # Session of a message

    def _look_at_place(self, event: SeenRequest | SeenNotification) -> None:
        session_id = event.params.get("sessionId")
        if not isinstance(session_id, str) or not event.method.startswith(OF_A_SESSION):
            return
        session = self._scene.session(event.params)
        if session_id in self._scene.subagents:
            return
        if session is None:
            if self._scene.opening > 0:
                self._judge("A-SESS-2", False, f"{event.method} came for {shown(session_id)} before the answer")
            elif self._scene.is_whole and not self._scene.sessions.has_forgotten:
                self._judge("A-SESS-1", False, f"{event.method} came for {shown(session_id)}, which was never opened")
            return
        self._judge("A-SESS-1", True, "")
        self._judge("A-SESS-2", True, "")
        if session.closed_in is not None and session.reopening is None:
            self._judge("A-SESS-4", False, f"{event.method} came for a closed session", session.closed_in)
        if event.method == "session/update":
            self._look_at_history(session_id, session, as_object(event.params.get("update")))

    def _look_at_history(self, session_id: str, session: SessionScene, update: dict[str, Any]) -> None:
        kind = update.get("sessionUpdate")
        if kind not in HISTORY:
            return
        replay = self._replay.get(session_id)
        if session.reopening is not None and replay is not None:
            said = replay.get(kind, "")
            replay[kind] = said + text_of(update.get("content"))[: KEPT_REPLAY - len(said)]
        elif session.loaded_in is not None and session.turn is None:
            self._judge("A-LOAD-3", False, f"{kind} came after the answer", session.loaded_in)

    # Answers

    def _look_at_answer(self, answer: SeenResponse) -> None:
        method = answer.request.method
        if method == "session/list":
            self._look_at_list(answer)
        elif method == "session/new":
            session_id = as_object(answer.result).get("sessionId")
            if isinstance(session_id, str):
                earlier = self._scene.sessions.get(session_id)
                frames = () if earlier is None else (earlier.opened_in,)
                self._judge("A-SESS-3", earlier is None, f"{shown(session_id)} is another session's id", *frames)
        elif method in OPENING:
            self._look_at_reopening(answer)

    def _look_at_reopening(self, answer: SeenResponse) -> None:
        session_id = answer.request.params.get("sessionId")
        replay = self._replay.pop(session_id, {}) if isinstance(session_id, str) else {}
        session = self._scene.session(answer.request.params)
        if session is None:
            return
        begin = answer.request.index
        if session.talks and answer.code != ErrorCode.METHOD_NOT_FOUND:  # another rule covers that
            text = f"{answer.request.method} was answered with {shown(answer.error)}"
            self._judge("A-SESS-5", answer.error is None, text, begin)
        if answer.error is not None:
            return
        if answer.request.method == "session/resume":
            what = ", ".join(kind for kind in HISTORY if kind in replay)
            self._judge("A-RESUME-1", not what, f"it sent {what}", begin)
        elif session.talks:
            text = "no history came before the answer"
            is_replayed = USER in replay or AGENT in replay
            self._judge("A-LOAD-1", is_replayed, text, begin)
            if is_replayed:
                self._look_for_words(session, replay, begin)

    def _look_for_words(self, session: SessionScene, replay: dict[str, str], begin: int) -> None:
        asked, said = _condensed(replay.get(USER, "")), _condensed(replay.get(AGENT, ""))
        for prompt, answer in session.talks:
            is_there = _condensed(prompt) in asked
            self._judge("A-LOAD-2", is_there, f"the prompt {shown(prompt)} is missing", begin)
            is_there = _condensed(answer) in said
            self._judge("A-LOAD-2", is_there, f"the answer {shown(answer)} is missing", begin)

    def _look_at_list(self, answer: SeenResponse) -> None:
        if answer.error is not None:
            return
        cursor = answer.request.params.get("cursor")
        if cursor is None:
            self._listed = set()
        page = as_object(answer.result)
        self._look_at_folders(answer.request, objects(page.get("sessions")))
        listed = {item["sessionId"] for item in objects(page.get("sessions")) if isinstance(item.get("sessionId"), str)}
        if len(self._listed) < KEPT_LISTED:
            self._listed |= listed
        following = page.get("nextCursor")
        if following is not None:
            self._judge("A-LIST-2", following != cursor, "the page leads to itself", answer.request.index)
        else:
            self._look_at_listed(answer.request)

    def _look_at_folders(self, request: SeenRequest, items: Iterable[dict[str, Any]]) -> None:
        wanted = request.params.get("cwd")
        if not isinstance(wanted, str):
            return
        others = [item["cwd"] for item in items if not _is_same_folder(item.get("cwd"), wanted)]
        text = f"the list for {shown(wanted)} has a session of {shown(others[0])}" if others else ""
        self._judge("A-LIST-3", not others, text, request.index)

    def _look_at_listed(self, request: SeenRequest) -> None:
        """Check a complete list, of one folder or of all."""
        folder = request.params.get("cwd")
        where = "" if folder is None else " in its folder"
        for session_id, session in self._scene.sessions.items():
            is_listed = session_id in self._listed
            if session.is_deleted:
                self._judge("A-DEL-1", not is_listed, f"{shown(session_id)} is listed", request.index)
            elif session.talks and folder in (None, session.cwd):
                self._judge("A-LIST-1", is_listed, f"{shown(session_id)} isn't listed{where}", request.index)


def _is_same_folder(folder: Any, wanted: str) -> bool:
    """Whether folders are equal. True for relative or invalid paths, which other rules cover."""
    is_absolute = isinstance(folder, str) and folder.startswith("/")
    return not is_absolute or normpath(folder) == normpath(wanted)


def _condensed(text: str) -> str:
    """Return the text without white space, which agents may change."""
    return "".join(text.split())


# System prompts


class SystemPromptCheck(Check):
    """Compares what becomes of a client's system prompt with what the agent advertises, in both versions of ACP."""

    def __init__(self, judge: Judge, scene: Scene) -> None:
        super().__init__(judge, scene)
        self._offered: dict[str, Any] = {}

    def see(self, event: Event) -> None:
        if not isinstance(event, SeenResponse) or not event.is_agents:
            return
        result, prompt = as_object(event.result), event.request.params.get("systemPrompt")
        if event.request.method == "initialize":
            of_two = as_object(as_object(result.get("capabilities")).get("session"))
            self._offered = of_two or as_object(as_object(result.get("agentCapabilities")).get("sessionCapabilities"))
        elif isinstance(prompt, dict) and offers(self._offered, ("systemPrompt",)):
            mode, begin = prompt.get("mode"), event.request.index
            if mode == "append" or offers(self._offered, ("systemPrompt", "mode", str(mode))):
                is_taken = event.code != ErrorCode.INVALID_PARAMS
                self._judge("A-PROMPT-1", is_taken, f"{shown(mode)} was answered with {shown(event.error)}", begin)
            else:
                self._judge("A-PROMPT-2", event.error is not None, f"it took one to {shown(mode)}", begin)


# Turns


OF_A_TURN: Final = frozenset({"agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"})
SOON_S: Final = 5.0


class TurnCheck(Check):
    def __init__(self, judge: Judge, scene: Scene) -> None:
        super().__init__(judge, scene)
        self._active: set[int] = set()
        """The frames of open prompts that the agent has reacted to."""

    def see(self, event: Event) -> None:
        if isinstance(event, SeenNotification) and event.is_agents and event.method == "session/update":
            self._look_at_update(event)
        elif isinstance(event, SeenResponse) and event.is_agents and event.request.method == "session/prompt":
            self._look_at_end(event)

    def finish(self) -> None:
        for session in self._scene.sessions.values():
            if session.turn is not None:
                self._judge("A-TURN-1", False, "a prompt was never answered", session.turn.prompt.index)

    def _look_at_update(self, told: SeenNotification) -> None:
        kind = as_object(told.params.get("update")).get("sessionUpdate")
        session = self._scene.session(told.params)
        if session is None or not isinstance(kind, str) or kind not in OF_A_TURN:
            return
        if session.turn is not None:
            self._active.add(session.turn.prompt.index)
            self._judge("A-TURN-4", True, "")
        elif session.reopening is None and session.loaded_in is None:
            self._judge("A-TURN-4", False, f"{kind} came when no turn was running")

    def _look_at_end(self, answer: SeenResponse) -> None:
        session = self._scene.session(answer.request.params)
        turn = session.turn if session is not None else None
        if turn is None or turn.prompt is not answer.request:
            return
        self._judge("A-TURN-1", True, "")
        if turn.cancelled_at is not None:
            self._look_at_cancelled(turn, turn.cancelled_at, answer)
        elif answer.error is not None:
            self._judge("A-TURN-5", False, f"the prompt was answered with {shown(answer.error)}", answer.request.index)
        else:
            self._look_at_reason(turn, as_object(answer.result).get("stopReason"))
        self._active.discard(turn.prompt.index)

    def _look_at_cancelled(self, turn: OpenTurn, cancelled_at: float, answer: SeenResponse) -> None:
        reason, took_s = as_object(answer.result).get("stopReason"), answer.at_s - cancelled_at
        frames = (turn.prompt.index, turn.cancelled_in)
        self._judge("A-TURN-7", took_s <= SOON_S, f"it ended after {took_s:.1f} s", *frames)
        if turn.is_given_up and answer.code == ErrorCode.REQUEST_CANCELLED:
            return
        if answer.error is not None:
            text = f"it was answered with {shown(answer.error)}"
            self._judge("A-TURN-2", False, text, *frames)
        elif reason == "cancelled" or took_s > CROSSING_S:
            text = f"it ended with {shown(reason)} {took_s:.1f} s after the cancel"
            self._judge("A-TURN-2", reason == "cancelled", text, *frames)

    def _look_at_reason(self, turn: OpenTurn, reason: object) -> None:
        begin = turn.prompt.index
        self._judge("A-TURN-5", True, "")
        self._judge(
            "A-TURN-3", reason != "cancelled", "a turn ended as canceled, but the client didn't cancel it", begin
        )
        if reason == "end_turn":
            self._judge("A-TURN-6", begin in self._active, "a turn ended without any output", begin)
