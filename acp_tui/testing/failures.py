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
from acp_tui.protocol.errors import AUTH_REQUIRED


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


def failure_of(error: ClientError, seen: str) -> AgentFailure:
    """What the client's error is to a test."""
    what, advice = str(error), error.hint
    match error:
        case AuthenticationRequired():
            return _login_needed(error, seen)
        case AgentRefused():
            refused = RequestRefused(_with_detail(what, error.code, error.detail), advice=advice, seen=seen)
            refused.code = error.code
            return refused
        case AgentStartFailed():
            return AgentNotStarted(what, advice=advice)  # nothing has been seen
        case AgentLost():
            return AgentGone(what, advice=advice, seen=seen)
        case Unsupported():
            advice = "The agent has to name it in its answer to initialize, or the test must not want it."
            return NotOffered(what, advice=advice, seen=seen)
        case _:
            return AgentFailure(what, advice=advice, seen=seen)


def _with_detail(what: str, code: int, detail: str) -> str:
    return f"{what} (error {code}){f': {detail}' if detail else ''}"


def _login_needed(error: AuthenticationRequired, seen: str) -> LoginNeeded:
    ways = [f'agent.authenticate("{method.method_id}")' for method in error.methods if method.kind == "agent"]
    advice = (
        f"Log in before that: {' or '.join(ways)}"
        if ways
        else "It names no way to log in over the protocol (authMethods): give it what it needs by env=..."
    )
    needed = LoginNeeded(str(error), advice=advice, seen=seen)
    needed.code = AUTH_REQUIRED
    return needed
