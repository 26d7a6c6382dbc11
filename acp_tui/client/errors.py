"""What can go wrong between a user and an agent. Each message tells the user what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.conversation.facts import AuthMethod, ErrorFacts


class ClientError(Exception):
    """`str()` is a sentence for the user; `hint` says what to do; `detail` contains the full cause."""

    said: ErrorFacts | None = None
    """What an agent's error says besides."""

    def __init__(self, message: str, *, hint: str = "", detail: str = "") -> None:
        super().__init__(message)
        self.hint = hint
        self.detail = detail


class AgentStartFailed(ClientError):
    """The agent's command couldn't be started."""


class NotAgreed(AgentStartFailed):
    """The user didn't agree to run the command."""


class AgentNotFound(AgentStartFailed):
    """There is no such command."""


class AgentNotRunnable(AgentStartFailed):
    """The command exists but can't be executed."""


class AgentLost(ClientError):
    """The agent ended, or sent something after which it can't be trusted. `detail` is the tail of its stderr."""


class AgentUnreachable(AgentLost):
    """There is no connection to the agent's address. With `is_temporary`, trying again later may work."""

    def __init__(self, message: str, *, hint: str = "", detail: str = "", is_temporary: bool = False) -> None:
        super().__init__(message, hint=hint, detail=detail)
        self.is_temporary = is_temporary


class UnsupportedProtocol(AgentLost):
    """The agent uses a protocol version that we don't support."""


class SessionNotOpened(ClientError):
    """The agent doesn't open a session that the user named. The message says which one and why."""


class AgentRefused(ClientError):
    """The agent answered a request with an error."""

    def __init__(
        self, message: str, *, code: int, hint: str = "", detail: str = "", said: ErrorFacts | None = None
    ) -> None:
        super().__init__(message, hint=hint, detail=detail)
        self.code = code
        self.said = said


class UnknownSession(AgentRefused):
    """The agent neither opens this session nor lists it."""


class AuthenticationRequired(ClientError):
    """The agent requires the user to log in first."""

    def __init__(
        self, message: str, methods: Sequence[AuthMethod], *, detail: str = "", said: ErrorFacts | None = None
    ) -> None:
        """The methods that the agent names in `said` come first."""
        super().__init__(message, detail=detail)
        named = said.auth_methods if said is not None else ()
        self.methods = tuple(sorted(methods, key=lambda method: method.method_id not in named))
        self.said = said
        self.tried: AuthMethod | None = None
        """What the user chose just before, in vain."""


class Unsupported(ClientError):
    """The agent doesn't offer what the message names. Nothing was sent."""


class PromptInProgress(ClientError):
    """A session accepts one prompt at a time."""


class OpeningInProgress(ClientError):
    """A session can only be loaded or resumed once at a time."""


class SessionClosed(ClientError):
    """The session accepts no more prompts. What was said in it can still be read."""


class SettingsError(ClientError):
    """A settings file can't be used as it is."""
