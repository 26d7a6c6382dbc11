"""Creates the stages of a tab, and the panel of each. Loaded with the agent, after the start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.client.errors import AgentLost, ClientError
from acp_tui.client.sessions.session import Session
from acp_tui.client.sessions.session_history import SessionFromRecording, past_session
from acp_tui.conversation import reducer
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.updates import Disconnected
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.session.panel import SessionPanel
from acp_tui.ui.tab.sidebar import SidebarController
from acp_tui.ui.tab.stage import Failed, Live, Recorded

if TYPE_CHECKING:
    from acp_tui.ui.tab.tab import Tab


class Panels:
    """Creates the stages and panels of one tab, and holds the sidebar next to them."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self.sidebar = SidebarController(tab)

    def stage_of(self, session: Session, agent_title: str) -> Live | Recorded | None:
        """The stage for this session; also sets the tab's agent title. None if the agent is gone.

        An empty `agent_title` stands for the name of the running agent or in the recording.
        """
        tab, agent = self._tab, self._tab.link.agent
        if isinstance(session, SessionFromRecording):
            agent_title = agent_title or past_session(session.recorded).shown_agent
        elif not agent_title:
            if agent is None:
                return None
            agent_title = agent.title
        tab.agent_title = make_visible_line(agent_title)
        return Recorded(session) if isinstance(session, SessionFromRecording) else Live(session)

    def panel_of(self, stage: Live | Recorded | Failed) -> SessionPanel:
        """A new panel that shows this stage."""
        if isinstance(stage, Failed):
            return SessionPanel(stage.conversation)
        tab, agent, session = self._tab, self._tab.link.agent, stage.session
        version = agent.identity.version if agent is not None and agent.identity is not None else ""
        return SessionPanel(
            session.conversation,
            session,
            clock=tab.clock,
            folds=tab.settings.conversation,
            images=tab.settings.appearance.images,
            agent=f"{agent.title} {version}".strip() if agent is not None else tab.agent_title,
            greeting=agent.command.greeting if agent is not None else "",
            prompt=tab.prompt,
            follow=tab.settings.follow.command,
            can_log_in=agent is not None and bool(agent.auth_methods),
        )

    @staticmethod
    def failed(error: ClientError, what_now: str) -> Failed:
        """The stage that shows the error in place of the conversation."""
        conversation = Conversation()
        reducer.apply(conversation, Panels.loss_of(error))
        return Failed(conversation, error, what_now)

    @staticmethod
    def loss_of(error: ClientError) -> Disconnected:
        """What a conversation says of an agent that couldn't be started, also if it was gone before."""
        stderr_tail = error.detail if isinstance(error, AgentLost) else ""
        parts = (str(error), "" if stderr_tail else error.detail, error.hint)
        return Disconnected("\n".join(filter(None, parts)), stderr_tail, is_again=True)
