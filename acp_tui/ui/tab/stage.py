"""The stages of a tab: what it shows, and the session if there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from acp_tui.values import dataclass

if TYPE_CHECKING:
    from acp_tui.client.errors import ClientError
    from acp_tui.client.sessions.session import Session
    from acp_tui.client.sessions.session_history import SessionFromRecording
    from acp_tui.conversation.conversation import Conversation

NO_SESSION: Final = "There is no session yet"
STILL_OPENING: Final = "The session is still being opened"
NO_AGENT_HERE: Final = "There is no agent here to start another session with."
NOT_CONNECTED: Final = {
    "lost": "The agent is gone; {restart} restarts it",
    "closed": "The session is closed; {restart} opens it again",
    "unhosted": "The session's host is gone; {restart} starts one again",
    "reconnecting": "Reconnecting; {restart} tries now",
}


@dataclass(frozen=True, slots=True)
class Starting:
    """There is no session yet."""

    phase: str = "starting"
    """How far the agent's start is."""
    is_open: bool = False
    """Whether the agent has opened the session, and only its panel is missing."""


@dataclass(frozen=True, slots=True)
class Live:
    """A session that accepts prompts as long as its agent runs."""

    session: Session


@dataclass(frozen=True, slots=True)
class Recorded:
    """A session read from a recording, read-only until it continues in an agent."""

    session: SessionFromRecording


@dataclass(frozen=True, slots=True)
class Failed:
    """There is no session, and the conversation says why."""

    conversation: Conversation
    error: ClientError
    phase: str
    """What the user can do; during a new attempt, how far the agent's start is."""


Stage: TypeAlias = Starting | Live | Recorded | Failed
