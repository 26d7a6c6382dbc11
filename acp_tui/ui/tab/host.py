"""What a controller may ask of its tab and of the app, as protocols; and the stages of a tab."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from acp_tui.values import dataclass

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel
    from textual.screen import Screen

    from acp_tui.client.agents.command import AgentCommand
    from acp_tui.client.errors import ClientError
    from acp_tui.client.prompts import PromptMemory
    from acp_tui.client.sessions.session import Session
    from acp_tui.client.sessions.session_history import RereadSession
    from acp_tui.client.settings.tree import Settings
    from acp_tui.conversation.facts import SessionId
    from acp_tui.ui.changes.follower import ChangesDesk
    from acp_tui.ui.session.panel import SessionPanel
    from acp_tui.ui.tab.agent_link import AgentLink
    from acp_tui.ui.tab.tabs import Tab, Tabs


T = TypeVar("T")


class OpensSessions(Protocol):
    """The ways to a session of one agent. They raise ClientError."""

    async def begin(self) -> Session:
        """A new session."""

    async def open(self, session_id: SessionId, cwd: Path) -> Session:
        """A session that the agent knows."""

    async def fork(self, source: Session, title: str) -> Session:
        """Another session that goes on from what was said in `source`, which is called so."""

    def not_opened(self, session_id: SessionId, error: ClientError) -> ClientError:
        """The error as one about this session, with what can be done instead."""


Opening: TypeAlias = Callable[[OpensSessions], Awaitable["Session"]]
"""How a tab comes to its session. Raises ClientError."""


class Shell(Protocol):
    """The app, as its tabs know it."""

    tabs: Tabs
    settings: Settings

    @property
    def prompt_memory(self) -> PromptMemory:
        """What was written in the prompts of all tabs."""

    async def open_tab(self, link: AgentLink, cwd: Path, opening: Opening | None = None) -> Tab:
        """A new tab for a session of this agent, in front."""

    def take_away_later(self, tab: Tab) -> None:
        """Take this tab away once it has done what it is doing."""

    def link_to(self, command: AgentCommand, cwd: Path) -> AgentLink:
        """A way to an agent that does not run yet."""

    def changes_in(self, cwd: Path) -> ChangesDesk:
        """What has changed in a folder since the first of its tabs was opened."""

    def begin_to_follow(self) -> None:
        """A first tab is there: what can wait for that begins now."""


class TabHost(Protocol):
    """A tab, as its controllers know it."""

    cwd: Path
    """Where its sessions work."""
    settings: Settings
    link: AgentLink
    """The way to its agent."""
    changes: ChangesDesk | None
    """What has changed in its folder; None where nobody looks."""
    clock: Callable[[], float]
    """Gives seconds."""

    agent_title: str
    """What the agent is called, once it is known; a line that can be shown."""

    @property
    def shell(self) -> Shell:
        """The app."""

    @property
    def screen(self) -> Screen[Any]:
        """Where it is shown."""

    @property
    def session(self) -> Session | None:
        """The session that it shows."""

    @property
    def panel(self) -> SessionPanel | None:
        """Where it shows that, or why there is none."""

    async def show(self, session: Session) -> None:
        """Show this session from now on."""

    async def stock_taken(self) -> None:
        """Return once a prompt may let the agent change files."""

    async def begin_anew(self) -> None:
        """Begin a session in place of the one that is shown."""

    def say(self, text: str, *, severity: SeverityLevel = "information", title: str = "") -> None:
        """Tell the user."""

    def say_error(self, error: ClientError) -> None:
        """Tell the user what went wrong, and what to do about it."""

    async def ask(self, dialog: Screen[T]) -> T:
        """Open a dialog over this tab, whichever is in front; gives what the user makes of it."""

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Do this as long as the tab is there."""

    def hint(self, text: str) -> str:
        """The text with the keys in force in it (keymap.Keymap.hint)."""


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
