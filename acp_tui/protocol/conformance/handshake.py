"""Rules of the handshake and of what both sides offer in it: versions, capabilities, ways to log in."""

from __future__ import annotations

from typing import Final

from acp_tui.protocol import AUTH_REQUIRED, v1
from acp_tui.protocol.conformance.exchange import Answered, Asked, Event, Told
from acp_tui.protocol.conformance.rule import Judge, Rule, Severity
from acp_tui.protocol.conformance.scene import Scene, as_object, objects, offers
from acp_tui.rpc import ErrorCode

FIRST: Final = Rule(
    "A-INIT-1",
    Severity.WARNING,
    "Nothing is sent before initialize is answered.",
    "Wait with requests and updates: the client doesn't know yet what you are.",
    "initialization",
    "R-INIT-1",
)
AGREED_VERSION: Final = Rule(
    "A-INIT-2",
    Severity.WARNING,
    "The agent speaks the version that was asked for, or an older one.",
    "Answer with the client's version if you support it: clients can't go on with a newer one.",
    "initialization#version-negotiation",
    "R-INIT-4",
)
NAMED: Final = Rule(
    "A-INIT-3",
    Severity.NOTE,
    "The agent says who it is (agentInfo).",
    "Give a name and a version: users and bug reports need them.",
    "initialization",
    "R-INIT-8",
)
OFFERED_BY_CLIENT: Final = Rule(
    "A-CAP-1",
    Severity.ERROR,
    "Only such requests are sent as the client offers to serve.",
    "Look at clientCapabilities first, and do the work yourself where it is missing.",
    "initialization#client-capabilities",
    "R-INIT-6",
)
KEPT_PROMISE: Final = Rule(
    "A-CAP-2",
    Severity.ERROR,
    "What an agent offers it serves.",
    "Take the capability out of the answer to initialize, or serve its method.",
    "initialization#agent-capabilities",
    "R-INIT-7",
)
SAID: Final = Rule(
    "A-CAP-3",
    Severity.NOTE,
    "What an agent serves it offers.",
    "Name the capability in the answer to initialize: else no client will use it.",
    "initialization#agent-capabilities",
    "R-INIT-7",
)
UNDERSTOOD: Final = Rule(
    "A-CAP-4",
    Severity.ERROR,
    "Updates that a client must ask for go only to clients that did.",
    "Look at clientCapabilities.session first.",
    "schema#clientsessioncapabilities",
    "R-POST-2",
)
LOGIN_WAYS: Final = Rule(
    "A-AUTH-1",
    Severity.ERROR,
    "Ways to log in have ids of their own.",
    "Give each authMethods entry another id.",
    "authentication",
    "R-AUTH-1",
)
LOGIN_NAMED: Final = Rule(
    "A-AUTH-2",
    Severity.WARNING,
    "An agent that wants a login says how.",
    "List the ways in authMethods; where there is none, say in the error's message what to do.",
    "authentication",
    "R-AUTH-3",
)
LOGIN_POSSIBLE: Final = Rule(
    "A-AUTH-3",
    Severity.WARNING,
    "Ways to log in that want a terminal are only named to clients that have one.",
    "Look at clientCapabilities.auth.terminal first.",
    "authentication",
    "R-AUTH-5",
)
RULES: Final = (
    FIRST,
    AGREED_VERSION,
    NAMED,
    OFFERED_BY_CLIENT,
    KEPT_PROMISE,
    SAID,
    UNDERSTOOD,
    LOGIN_WAYS,
    LOGIN_NAMED,
    LOGIN_POSSIBLE,
)

MAY_COME_FIRST: Final = frozenset({v1.CANCEL_REQUEST, v1.ELICITATION_CREATE, v1.ELICITATION_COMPLETE})
"""They may be about the very request (R-ELIC-1)."""

AGENT_GATES: Final[dict[str, tuple[str, ...]]] = {
    v1.SESSION_LOAD: ("loadSession",),
    v1.SESSION_RESUME: ("sessionCapabilities", "resume"),
    v1.SESSION_LIST: ("sessionCapabilities", "list"),
    v1.SESSION_DELETE: ("sessionCapabilities", "delete"),
    v1.SESSION_CLOSE: ("sessionCapabilities", "close"),
    v1.LOGOUT: ("auth", "logout"),
}
ALWAYS_SERVED: Final = (v1.SESSION_NEW, v1.SESSION_PROMPT)
_TERMINAL: Final = ("terminal",)
CLIENT_GATES: Final[dict[str, tuple[str, ...]]] = {
    v1.FS_READ_TEXT_FILE: ("fs", "readTextFile"),
    v1.FS_WRITE_TEXT_FILE: ("fs", "writeTextFile"),
    v1.TERMINAL_CREATE: _TERMINAL,
    v1.TERMINAL_OUTPUT: _TERMINAL,
    v1.TERMINAL_WAIT_FOR_EXIT: _TERMINAL,
    v1.TERMINAL_KILL: _TERMINAL,
    v1.TERMINAL_RELEASE: _TERMINAL,
}
UPDATE_GATES: Final[dict[str, tuple[str, ...]]] = {
    "notice": ("session", "notices"),
    "compaction_update": ("session", "compaction"),
    "compaction_summary_chunk": ("session", "compaction"),
}


class HandshakeCheck:
    """Compares what is sent with what was offered."""

    def __init__(self, judge: Judge, scene: Scene) -> None:
        self._judge = judge
        self._scene = scene
        self._names_logins = False

    def see(self, event: Event) -> None:
        """A message passes."""
        if not event.is_agents:
            return
        match event:
            case Asked(method=method, params=params):
                self._look_at_time(method)
                self._look_at_request(method, params)
            case Told(method=method, params=params):
                self._look_at_time(method)
                self._look_at_update(as_object(params.get("update")).get("sessionUpdate"))
            case Answered():
                self._look_at_answer(event)

    def finish(self) -> None:
        """Nothing is left to say."""

    def _look_at_time(self, method: str) -> None:
        # A recording may begin in the middle: then nobody knows.
        if self._scene.is_whole:
            is_right = self._scene.is_agreed or method in MAY_COME_FIRST
            self._judge.check(FIRST, is_right, f"{method} came before the answer to initialize")

    def _look_at_request(self, method: str, params: object) -> None:
        path = CLIENT_GATES.get(method)
        if method == v1.ELICITATION_CREATE:
            path = ("elicitation", str(as_object(params).get("mode")))
        if path is not None and self._scene.is_whole:
            is_offered = offers(self._scene.offer, path)
            self._judge.check(OFFERED_BY_CLIENT, is_offered, f"it sent {method} without {'.'.join(path)}")

    def _look_at_update(self, kind: object) -> None:
        path = UPDATE_GATES.get(kind) if isinstance(kind, str) else None
        if path is not None and self._scene.is_whole:
            self._judge.check(UNDERSTOOD, offers(self._scene.offer, path), f"it sent {kind} unasked")

    def _look_at_answer(self, answer: Answered) -> None:
        if answer.request.method == v1.INITIALIZE:
            if answer.error is None:
                self._look_at_agreement(answer)
            return
        if answer.code == AUTH_REQUIRED:
            text = f"{answer.request.method} wants a login, and no way was named"
            self._judge.check(LOGIN_NAMED, self._names_logins, text, answer.request.index)
        if not self._scene.is_agreed:
            return
        method, path = answer.request.method, AGENT_GATES.get(answer.request.method)
        if method in ALWAYS_SERVED or (path is not None and offers(self._scene.capabilities, path)):
            is_served = answer.code != ErrorCode.METHOD_NOT_FOUND
            self._judge.check(
                KEPT_PROMISE, is_served, f"{method} is offered, and unknown", answer.request.index
            )
        elif path is not None and answer.error is None:
            text = f"{method} works, and {'.'.join(path)} isn't offered"
            self._judge.check(SAID, False, text, answer.request.index)

    def _look_at_agreement(self, answer: Answered) -> None:
        result = as_object(answer.result)
        asked, agreed = answer.request.params.get("protocolVersion"), result.get("protocolVersion")
        if type(asked) is int and type(agreed) is int:
            text = f"version {asked} was asked for, and {agreed} is the answer"
            self._judge.check(AGREED_VERSION, agreed <= asked, text, answer.request.index)
        self._judge.check(NAMED, bool(as_object(result.get("agentInfo")).get("name")), "it gave no agentInfo")
        ways = objects(result.get("authMethods"))
        self._names_logins = bool(ways)
        if not ways:
            return
        ids = [str(way.get("id")) for way in ways]
        self._judge.check(LOGIN_WAYS, len(set(ids)) == len(ids), f"the ids are {', '.join(ids)[:200]}")
        wants_terminal = any(way.get("type") == "terminal" for way in ways)
        has_one = offers(self._scene.offer, ("auth", "terminal"))
        self._judge.check(
            LOGIN_POSSIBLE, has_one or not wants_terminal, "a way was named that wants a terminal"
        )
