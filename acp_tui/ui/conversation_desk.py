"""What a user takes out of a conversation: a copy of a reply or of a piece of code, a file of all of it."""

from __future__ import annotations

import os
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anyio import to_thread
from textual.screen import Screen

from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Message
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.clipboard import copy_by_tool, fits_terminal, said, through_tmux
from acp_tui.ui.textual_internals import write_to_terminal

if TYPE_CHECKING:
    from acp_tui.client.sessions.agent import Agent
    from acp_tui.client.sessions.session import Session


class ConversationDesk:
    """Its methods are to run in a worker of the screen, since they wait for the user or for a tool."""

    def __init__(self, screen: Screen[Any]) -> None:
        self._screen = screen

    async def copy(self, text: str) -> None:
        """Put this on the clipboard, and say by which ways that was tried."""
        app, by_terminal = self._screen.app, fits_terminal(text)
        if by_terminal:
            app.copy_to_clipboard(text)
            if os.environ.get("TMUX"):
                write_to_terminal(app, through_tmux(text))
        tool = await to_thread.run_sync(copy_by_tool, text)
        self._screen.notify(said(len(text), tool, by_terminal=by_terminal), markup=False)

    async def copy_reply(self, conversation: Conversation) -> None:
        """Copy the agent's last message, as it wrote it."""
        text = last_reply(conversation)
        if text:
            await self.copy(text)
        else:
            self._screen.notify("There is no reply to copy yet.")

    async def copy_code(self, conversation: Conversation) -> None:
        """Copy one of the pieces of code of the agent's last message that has any."""
        from acp_tui.ui.screens.picker import Picker, PickerRow

        fences = last_code(conversation)
        if not fences:
            self._screen.notify("There is no code to copy in the agent's replies.")
            return
        chosen: str | None = fences[0][1]
        if len(fences) > 1:
            rows = [PickerRow(text, _first_line(text), info) for info, text in fences]
            chosen = await self._screen.app.push_screen_wait(Picker("Copy which code?", rows))
        if chosen is not None:
            await self.copy(chosen)

    async def export(self, session: Session, agent: Agent | None, file: str = "") -> None:
        """Write the conversation to this file, in the session's folder; ask where that cannot be, or none is named."""
        from acp_tui.client.export import NOT_REDACTED, ExportFacts, default_name, export, snapshot
        from acp_tui.client.terminals import plain_text
        from acp_tui.ui.screens.export import ExportDialog

        identity = agent.identity if agent is not None else None
        conversation = session.conversation
        facts = ExportFacts(
            agent_title=agent.title if agent is not None else "",
            cwd=str(session.cwd),
            session_id=str(session.session_id),
            agent_version=identity.version if identity is not None else None,
            exported_at=datetime.now().astimezone().isoformat(timespec="seconds"),
            title=conversation.title,
        )

        async def write(path: Path, is_replaced: bool) -> None:
            # Large diffs take seconds, and the agent goes on meanwhile: written is what stood there at Enter.
            taken = snapshot(conversation)
            await to_thread.run_sync(partial(export, taken, facts, path, plain_text, overwrite=is_replaced))

        dialog = ExportDialog(session.cwd, file or default_name(facts, ".md"), write, is_chosen=bool(file))
        written = await self._screen.app.push_screen_wait(dialog)
        if written is not None:
            self._screen.notify(f"Written to {make_visible_line(str(written))}\n{NOT_REDACTED}", markup=False)


def last_reply(conversation: Conversation) -> str:
    """The text of the agent's last message that has any."""
    for entry in reversed(conversation.entries):
        if isinstance(entry, Message) and entry.role == "agent" and entry.text.strip():
            return entry.text
    return ""


def last_code(conversation: Conversation) -> list[tuple[str, str]]:
    """The fenced pieces of code, each with its language, of the agent's last message that has any."""
    for entry in reversed(conversation.entries):
        if (
            isinstance(entry, Message)
            and entry.role == "agent"
            and ("```" in entry.text or "~~~" in entry.text)
        ):
            fences = _fences(entry.text)
            if fences:
                return fences
    return []


def _fences(text: str) -> list[tuple[str, str]]:
    from markdown_it import MarkdownIt  # the drawing has loaded it

    tokens: list[Any] = MarkdownIt("commonmark").parse(text)
    return [(token.info.strip(), token.content) for token in tokens if token.type == "fence"]


def _first_line(text: str) -> str:
    return make_visible_line(text.strip().partition("\n")[0]) or "(empty)"
