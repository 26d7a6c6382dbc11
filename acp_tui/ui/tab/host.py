"""What a controller can use of its tab and of the app, as protocols; and the stages of a tab."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeVar

from acp_tui.ui.tab.tabs import Tab
from acp_tui.values import dataclass

if TYPE_CHECKING:
    from textual.containers import Vertical
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
    from acp_tui.ui.prompt.queue_lines import QueueLines
    from acp_tui.ui.session.panel import SessionPanel
    from acp_tui.ui.tab.agent_link import AgentLink
    from acp_tui.ui.tab.tabs import Tabs


T = TypeVar("T")

NO_SESSION: Final = "There is no session yet."


class OpensSessions(Protocol):
    """The ways to get a session of one agent. They raise ClientError."""

    async def begin(self) -> Session:
        """Start a session."""

    async def open(self, session_id: SessionId, cwd: Path) -> Session:
        """Open a session that the agent knows."""

    async def fork(self, source: Session, title: str) -> Session:
        """Fork `source`, whose title is `title`."""

    def not_opened(self, session_id: SessionId, error: ClientError) -> ClientError:
        """Turn the error into one about this session, with a hint."""


Opening: TypeAlias = Callable[[OpensSessions], Awaitable["Session"]]
"""How a tab gets its session. Raises ClientError."""


class Shell(Protocol):
    """The app, as its tabs know it."""

    tabs: Tabs
    settings: Settings
    can_leave: bool
    """Whether sessions can go on without the screen."""

    async def outlasting(self, work: Coroutine[Any, Any, object]) -> None:
        """Await work that goes on if the screen is left."""

    @property
    def prompt_memory(self) -> PromptMemory:
        """The prompts and drafts of all tabs."""

    async def open_tab(self, link: AgentLink, cwd: Path, opening: Opening | None = None) -> Tab:
        """Open a new tab for a session of this agent, in front."""

    def take_away_later(self, tab: Tab) -> None:
        """Remove this tab once it has finished what it is doing."""

    def link_to(self, command: AgentCommand, cwd: Path) -> AgentLink:
        """A link to an agent that isn't running yet."""

    async def hosted_again(self, session: Session) -> AgentCommand:
        """Start a host that continues a session, and return it as an agent. Raises ClientError."""

    def changes_in(self, cwd: Path) -> ChangesDesk:
        """What has changed in a folder since the first of its tabs was opened."""

    def begin_to_follow(self) -> None:
        """Start what could wait until the first tab is shown."""

    # Commands

    def choose_agent(self) -> object:
        """Start an agent in a new tab."""

    def show_board(self) -> object:
        """Show all tabs."""

    def close_front(self) -> object:
        """Close the tab in front."""

    def detach(self) -> object:
        """Leave the session of the tab in front running in its host."""

    def move_into_host(self) -> None:
        """Have the sessions go on in a host."""

    def inspect(self) -> object:
        """Show the frames between acp-tui and the agent of the tab in front."""

    def show_settings(self) -> object:
        """Let the user change the settings."""


class TabHost(Tab, Protocol):
    """A tab, as its controllers know it."""

    settings: Settings
    clock: Callable[[], float]
    """Returns seconds."""

    agent_title: str
    """The agent's name, once it is known, safe to show on one line."""

    @property
    def shell(self) -> Shell:
        """The app."""

    queue_lines: QueueLines
    """What waits to be sent."""
    place: Vertical
    """What is above it: the panel, the questions, and the sidebar."""

    @property
    def panel(self) -> SessionPanel | None:
        """The panel that shows the session, or why there is none. It is mounted."""

    async def show(self, session: Session) -> None:
        """Show this session from now on."""

    async def stock_taken(self) -> None:
        """Return once a prompt may let the agent change files."""

    def say(self, text: str, *, severity: SeverityLevel = "information", title: str = "") -> None:
        """Tell the user."""

    def say_error(self, error: ClientError) -> None:
        """Tell the user what failed, and what to do about it."""

    async def ask(self, dialog: Screen[T]) -> T:
        """Open a dialog over this tab, whichever tab is in front, and return its result."""

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run this while the tab exists."""

    def hint(self, text: str) -> str:
        """The text with the current keys filled in (keymap.Keymap.hint)."""


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

    panel: SessionPanel
    session: Session


@dataclass(frozen=True, slots=True)
class Reread:
    """A session read from a recording, read-only until it continues in an agent."""

    panel: SessionPanel
    session: RereadSession


@dataclass(frozen=True, slots=True)
class Failed:
    """There is no session, and the panel says why."""

    panel: SessionPanel
    error: ClientError
    phase: str
    """What the user can do; during a new attempt, how far the agent's start is."""


Stage: TypeAlias = Starting | Live | Reread | Failed
