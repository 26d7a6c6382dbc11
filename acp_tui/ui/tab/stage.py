"""How far a tab has come to its session: one value that says which of its parts there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from acp_tui.client.errors import ClientError
    from acp_tui.client.sessions.session import Session
    from acp_tui.client.sessions.session_history import RereadSession
    from acp_tui.ui.session.panel import SessionPanel


@dataclass(frozen=True, slots=True)
class Starting:
    """There is no session yet."""

    phase: str = "starting"
    """How far the agent has come."""


@dataclass(frozen=True, slots=True)
class Live:
    """A session that prompts can be sent to, as long as its agent runs."""

    panel: SessionPanel
    session: Session


@dataclass(frozen=True, slots=True)
class Reread:
    """A session out of a recording, to be read until it goes on in an agent."""

    panel: SessionPanel
    session: RereadSession


@dataclass(frozen=True, slots=True)
class Failed:
    """There is no session, and the panel says why."""

    panel: SessionPanel
    error: ClientError
    phase: str
    """What can be done; how far the agent has come where that is being done."""


Stage: TypeAlias = Starting | Live | Reread | Failed
