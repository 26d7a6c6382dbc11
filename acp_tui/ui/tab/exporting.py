"""Writes a conversation to a file of the user's choice."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from anyio import to_thread

from acp_tui.client.terminals import plain_text
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.dialogs.naming import ExportDialog
from acp_tui.ui.tab.host import TabHost


async def export_conversation(
    host: TabHost,
    take: Callable[[], Conversation],
    *,
    folder: Path,
    agent: str,
    cwd: Path,
    session_id: SessionId,
    title: str | None,
    agent_version: str | None = None,
    file: str = "",
) -> None:
    """Write what `take` returns to `file`, relative to `folder`; without one, ask for it. The others are facts."""
    # The formats need a Markdown parser, which most tabs never load for this.
    from acp_tui.client.export import NOT_REDACTED, ExportFacts, default_name, export

    facts = ExportFacts.now(agent, cwd, session_id, title, agent_version=agent_version)

    async def write(path: Path, is_replaced: bool) -> None:
        await to_thread.run_sync(partial(export, take(), facts, path, plain_text, overwrite=is_replaced))

    dialog = ExportDialog(folder, file or default_name(facts, ".md"), write, is_chosen=bool(file))
    written = await host.ask(dialog)
    if written is not None:
        host.say(f"Written to {make_visible_line(str(written))}\n{NOT_REDACTED}")
