"""Rules of what messages consist of, as the schema has it, and of their names; not of when they may be sent."""

from __future__ import annotations

from typing import Any, Final

from acp_tui.protocol.conformance.exchange import Answered, Asked, Event, Told
from acp_tui.protocol.conformance.rule import Judge, Rule, Severity, shown
from acp_tui.protocol.conformance.shapes import UNSTABLE_KEYS, own_keys, shape_of, strange_values
from acp_tui.protocol.v1 import (
    agent_requests,
    elicitation,
    initialize,
    methods,
    session,
    updates,
)

SHAPE: Final = Rule(
    "A-SHAPE-1",
    Severity.ERROR,
    "Messages have what the schema requires, of the types that it names.",
    "Make messages with an official SDK, or validate them against schema.json in your tests.",
    "schema",
    "R-LEN-3",
)
NULL: Final = Rule(
    "A-SHAPE-2",
    Severity.NOTE,
    "A result without content is {}.",
    "Answer with {}: the schema has no null there, though examples do.",
    "schema",
    "R-RPC-8",
)
KNOWN_WORDS: Final = Rule(
    "A-SHAPE-3",
    Severity.NOTE,
    "Kinds, statuses and types are those of version 1.",
    "A client that is older than the word shows something neutral, or nothing.",
    "schema",
    "R-LEN-4",
)
# Forbidden, and yet no error: an agent may be newer than the schema that is known here.
OWN_KEYS: Final = Rule(
    "A-EXT-1",
    Severity.WARNING,
    "Keys of the agent's own stand in _meta.",
    "Move them into _meta, under a name with your domain.",
    "extensibility",
    "R-EXT-3",
)
DRAFTS: Final = Rule(
    "A-EXT-2",
    Severity.NOTE,
    "Nothing is used of what is only a draft, or was removed.",
    "Clients of version 1 ignore it; let it go where nobody reads it any more.",
    "schema",
    "R-OLD-1",
)
OWN_METHODS: Final = Rule(
    "A-EXT-3",
    Severity.WARNING,
    "Methods of the agent's own begin with an underscore.",
    "Rename them: a later version of the protocol may give the name another meaning.",
    "extensibility",
    "R-EXT-1",
)
UNKNOWN_METHOD: Final = Rule(
    "A-EXT-4",
    Severity.WARNING,
    "A request of an unknown method is answered with -32601.",
    "Answer so, and go on: clients find out by it what an agent can.",
    "extensibility",
    "R-RPC-5",
)
UNKNOWN_NOTIFICATION: Final = Rule(
    "A-EXT-5",
    Severity.ERROR,
    "A notification of an unknown method is ignored.",
    "Take no harm from it: newer clients send what you do not know.",
    "extensibility",
    "R-RPC-5",
)
RULES: Final = (
    SHAPE,
    NULL,
    KNOWN_WORDS,
    OWN_KEYS,
    DRAFTS,
    OWN_METHODS,
    UNKNOWN_METHOD,
    UNKNOWN_NOTIFICATION,
)

PROBE: Final = "_acp-tui.check/unknown"
"""A method that no agent has: what it makes of a request, and of a notification, shows how it takes the unknown."""

REQUESTS: Final[dict[str, Any]] = {
    methods.SESSION_REQUEST_PERMISSION: agent_requests.RequestPermissionRequest,
    methods.FS_READ_TEXT_FILE: agent_requests.ReadTextFileRequest,
    methods.FS_WRITE_TEXT_FILE: agent_requests.WriteTextFileRequest,
    methods.TERMINAL_CREATE: agent_requests.CreateTerminalRequest,
    methods.TERMINAL_OUTPUT: agent_requests.TerminalOutputRequest,
    methods.TERMINAL_WAIT_FOR_EXIT: agent_requests.WaitForTerminalExitRequest,
    methods.TERMINAL_KILL: agent_requests.KillTerminalRequest,
    methods.TERMINAL_RELEASE: agent_requests.ReleaseTerminalRequest,
    methods.ELICITATION_CREATE: elicitation.CreateElicitationRequest,
}
NOTIFICATIONS: Final[dict[str, Any]] = {
    methods.SESSION_UPDATE: updates.SessionNotification,
    methods.ELICITATION_COMPLETE: elicitation.CompleteElicitationNotification,
    methods.CANCEL_REQUEST: session.CancelRequestNotification,
}
RESULTS: Final[dict[str, Any]] = {
    methods.INITIALIZE: initialize.InitializeResponse,
    methods.AUTHENTICATE: initialize.AuthenticateResponse,
    methods.LOGOUT: initialize.LogoutResponse,
    methods.SESSION_NEW: session.NewSessionResponse,
    methods.SESSION_LOAD: session.LoadSessionResponse,
    methods.SESSION_RESUME: session.ResumeSessionResponse,
    methods.SESSION_LIST: session.ListSessionsResponse,
    methods.SESSION_DELETE: session.DeleteSessionResponse,
    methods.SESSION_CLOSE: session.CloseSessionResponse,
    methods.SESSION_PROMPT: session.PromptResponse,
    methods.SESSION_SET_MODE: session.SetSessionModeResponse,
    methods.SESSION_SET_CONFIG_OPTION: session.SetSessionConfigOptionResponse,
}
DRAFT_METHODS: Final = ("mcp/", "auth/", "proxy/", "nes/", "document/", "providers/", "session/")


class MessageCheck:
    """Looks at each message of the agent's on its own."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._probed_in: int | None = None

    def see(self, event: Event) -> None:
        """A message passes."""
        if not event.is_agents:
            if isinstance(event, Told) and event.method == PROBE:
                self._probed_in = event.index
            return
        match event:
            case Asked(method=method, params=params):
                self._look_at(method, REQUESTS, params)
            case Told(method=method, params=params):
                self._look_at(method, NOTIFICATIONS, params)
            case Answered():
                self._look_at_answer(event)

    def finish(self) -> None:
        """An agent that took harm from an unknown notification says nothing any more."""
        if self._probed_in is not None:
            text = "nothing was answered after an unknown notification"
            self._judge.check(UNKNOWN_NOTIFICATION, False, text, self._probed_in)

    def _look_at(self, method: str, known: dict[str, Any], params: dict[str, Any]) -> None:
        if method in known:
            self._judge.check(OWN_METHODS, True, "")
            self._look_into(method, known[method], params)
        elif not method.startswith("_"):
            is_draft = method.startswith(DRAFT_METHODS)
            self._judge.check(DRAFTS if is_draft else OWN_METHODS, False, f"it sent {shown(method)}")

    def _look_at_answer(self, answer: Answered) -> None:
        method = answer.request.method
        if method == PROBE:
            given = answer.result if answer.error is None else answer.error
            text = f"an unknown method was answered with {shown(given)}"
            self._judge.check(UNKNOWN_METHOD, answer.code == -32601, text, answer.request.index)
        if self._probed_in is not None and answer.request.index > self._probed_in:
            self._judge.check(UNKNOWN_NOTIFICATION, True, "")
            self._probed_in = None
        if answer.error is not None or method not in RESULTS:
            return
        if answer.result is None:
            self._look_at_null(answer)
            return
        self._look_into(f"the result of {method}", RESULTS[method], answer.result)

    def _look_at_null(self, answer: Answered) -> None:
        shape = shape_of(RESULTS[answer.request.method])
        what = f"the result of {answer.request.method} is null"
        _, flaw = shape.read({})
        self._judge.check(SHAPE if flaw else NULL, False, what, answer.request.index)

    def _look_into(self, what: str, model: Any, raw: Any) -> None:
        value, flaw = shape_of(model).read(raw)
        self._judge.check(SHAPE, not flaw, f"{what}: {flaw}")
        if flaw:
            return
        keys = list(own_keys(value, raw))
        drafts = [key for key in keys if key.rsplit(".", 1)[-1] in UNSTABLE_KEYS]
        own = [key for key in keys if key not in drafts]
        strange = list(strange_values(value, raw))
        self._judge.check(DRAFTS, not drafts, f"{what} has {', '.join(drafts[:5])}")
        self._judge.check(OWN_KEYS, not own, f"{what} has {', '.join(own[:5])}")
        self._judge.check(KNOWN_WORDS, not strange, f"{what} has {', '.join(strange[:3])}")
