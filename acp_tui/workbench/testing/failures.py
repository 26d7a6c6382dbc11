"""What a test of an agent fails with; each says what failed, on what, and what to do.

AgentFailure (an AssertionError)
├── AgentNotStarted     no such command, or it cannot be executed
├── AgentGone           it ended, or broke the protocol so that nothing more can be understood
├── RequestRefused      it answered with an error; `code` is its code
│   └── LoginNeeded     it wants a login first (-32000)
├── NotOffered          it did not offer in the handshake what the test wants of it
├── TimedOut            it has not answered in time
├── Unanswered          it asked for something that the test says nothing of
└── NotAsked            it did not ask for what the test expects it to ask
"""

from __future__ import annotations

from acp_tui.client.errors import (
    AgentLost,
    AgentRefused,
    AgentStartFailed,
    AuthenticationRequired,
    ClientError,
    Unsupported,
)
from acp_tui.protocol import AUTH_REQUIRED


class AgentFailure(AssertionError):
    """`what` is the sentence; `str()` of it adds what to do, and what was seen."""

    def __init__(self, what: str, *, advice: str = "", seen: str = "") -> None:
        super().__init__("\n\n".join(part for part in (what, advice, seen) if part))
        self.what = what


class AgentNotStarted(AgentFailure):
    """There is no process."""


class AgentGone(AgentFailure):
    """There is no process any more, or nothing that could be talked to."""


class RequestRefused(AgentFailure):
    """A request was answered with an error."""

    code: int = 0
    """Of JSON-RPC, or of the protocol."""


class LoginNeeded(RequestRefused):
    """A request was refused until somebody logs in."""


class NotOffered(AgentFailure):
    """Nothing was sent: the agent's capabilities do not name it."""


class TimedOut(AgentFailure):
    """The limit of the call has passed."""


class Unanswered(AgentFailure):
    """A permission or an elicitation was asked for and no answer was given to the kit; nothing was allowed."""


class NotAsked(AgentFailure):
    """An expected question did not come."""


for _failure in (AgentFailure, *AgentFailure.__subclasses__(), LoginNeeded):
    _failure.__module__ = "acp_tui.testing"  # where tests have it from; pytest prints it before each message


def failure_of(error: ClientError, *, during: str, seen: str = "") -> AgentFailure:
    """What the client's error is to a test, which wanted something of the agent when it came."""
    what, advice = f"{error}; this was {during}", error.hint[:1].upper() + error.hint[1:]
    match error:
        case AuthenticationRequired():
            return _refused(LoginNeeded(what, advice=_ways_to_log_in(error), seen=seen), AUTH_REQUIRED)
        case AgentRefused():
            told = "\n".join(part for part in (f"Code {error.code}.", error.detail, advice) if part)
            return _refused(RequestRefused(what, advice=told, seen=seen), error.code)
        case AgentStartFailed():
            return AgentNotStarted(what, advice=advice)  # there is nothing to be seen
        case AgentLost():
            return AgentGone(what, advice=advice, seen=seen)
        case Unsupported():
            advice = "The agent has to offer it before: in its answer to initialize, or with the session."
            return NotOffered(what, advice=advice, seen=seen)
        case _:
            return AgentFailure(what, advice=advice, seen=seen)


def _refused(refused: RequestRefused, code: int) -> RequestRefused:
    refused.code = code
    return refused


def _ways_to_log_in(error: AuthenticationRequired) -> str:
    ways = [f"agent.authenticate({method.method_id!r})" for method in error.methods if method.kind == "agent"]
    if ways:
        return f"Log in before that: {' or '.join(ways)}"
    return "It names no way to log in over the protocol (authMethods): give it what it needs by acp_agent(..., env=...)"
