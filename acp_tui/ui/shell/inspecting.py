"""Opens the inspector over a tab: over its agent as it runs, or over the recording that the tab is re-read from."""

from __future__ import annotations

from anyio import to_thread

from acp_tui.client.errors import ClientError
from acp_tui.client.sessions.session_history import RereadSession
from acp_tui.ui.inspector.screen import InspectorScreen
from acp_tui.ui.tab.tabs import Tab
from acp_tui.workbench.inspect import Inspection, inspect_agent, inspect_file


async def inspect_tab(tab: Tab) -> None:
    """Show what has passed so far, and what passes."""
    session, link = tab.session, tab.link
    agent = link.agent or link.starting
    if agent is not None and agent.frames is not None:
        screen = InspectorScreen(inspect_agent(agent.frames), agent.title, folder=tab.cwd)
    elif isinstance(session, RereadSession):
        file = session.recorded.recordings[-1]
        try:
            inspection: Inspection = await to_thread.run_sync(inspect_file, file)
        except ClientError as error:
            tab.screen.notify(str(error), severity="error", markup=False)
            return
        screen = InspectorScreen(inspection, file.name, folder=tab.cwd, grows=file)
    else:
        tab.screen.notify("There is no agent to inspect yet.")
        return
    await tab.screen.app.push_screen(screen)
