"""What can go wrong between a user and an agent, each said so that the user knows what to do.

ClientError
├── AgentStartFailed
│   ├── AgentNotFound           no such command
│   └── AgentNotRunnable        a file that cannot be executed
├── AgentLost                   it exited, or broke the protocol
│   ├── AgentUnreachable        it runs elsewhere, and there is no way to it, or none any more
│   └── UnsupportedProtocol     it speaks a version that we do not
├── AuthenticationRequired      it wants a login first (-32000)
├── AgentRefused                it answered with another error
│   └── StaleCursor             a page of its sessions can no longer be had
├── Unsupported                 it does not offer that
├── PromptInProgress            one prompt a session at a time
├── OpeningInProgress           one opening a session at a time
├── CommandFailed               a command of the user's own cannot be run
├── SessionNotOpened            an old one that the user named is not to be had from the agent
├── SessionClosed               the session was closed, or loaded anew in another's place
└── SettingsError               a settings file that cannot be used
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.protocol.roles import AuthMethod


class ClientError(Exception):
    """`str()` of it is a sentence for the user; `hint` says what to do, `detail` holds the cause in full."""

    def __init__(self, message: str, *, hint: str = "", detail: str = "") -> None:
        super().__init__(message)
        self.hint = hint
        self.detail = detail


class AgentStartFailed(ClientError):
    """The agent's command could not be started."""


class AgentNotFound(AgentStartFailed):
    """There is no such command."""


class AgentNotRunnable(AgentStartFailed):
    """The command exists and cannot be executed."""


class AgentLost(ClientError):
    """The agent ended, or said something after which it cannot be trusted; `detail` is the tail of its stderr."""


class AgentUnreachable(AgentLost):
    """There is no connection to the agent's address; `is_temporary`: there may be one a little later."""

    def __init__(self, message: str, *, hint: str = "", detail: str = "", is_temporary: bool = False) -> None:
        super().__init__(message, hint=hint, detail=detail)
        self.is_temporary = is_temporary


class UnsupportedProtocol(AgentLost):
    """The agent speaks a version of the protocol that we do not."""


class SessionNotOpened(ClientError):
    """The agent does not open a session that the user named; the message says which and why."""


class AgentRefused(ClientError):
    """The agent answered a request with an error."""

    def __init__(self, message: str, *, code: int, hint: str = "", detail: str = "") -> None:
        super().__init__(message, hint=hint, detail=detail)
        self.code = code


class AuthenticationRequired(ClientError):
    """The agent wants the user to log in first."""

    def __init__(
        self, message: str, methods: Sequence[AuthMethod], *, hint: str = "", detail: str = ""
    ) -> None:
        super().__init__(message, hint=hint, detail=detail)
        self.methods = tuple(methods)


class StaleCursor(AgentRefused):
    """The agent does not know the cursor (any more): list its sessions from the first page on (R-SESS-9)."""


class Unsupported(ClientError):
    """The agent does not offer what was asked of it; the message names it. Nothing was sent."""


class PromptInProgress(ClientError):
    """A session takes one prompt at a time."""


class OpeningInProgress(ClientError):
    """A session is loaded or resumed once at a time."""


class CommandFailed(ClientError):
    """A command of the user's own could not be started; the message says why."""


class SessionClosed(ClientError):
    """The session takes no prompts any more; what was said in it can still be read."""


class SettingsError(ClientError):
    """A settings file cannot be used as it is."""
