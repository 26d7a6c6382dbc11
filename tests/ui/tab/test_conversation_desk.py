"""Taking things out of a conversation: copies, which are confirmed, and files."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from acp_tui.client import desktop
from acp_tui.conversation.conversation import Conversation
from acp_tui.ui.dialogs.naming import ExportDialog
from support.desks import SESSION
from support.tabs import OpenTabs

REPLY = """
prompt = expect("session/prompt")
say("Look:\\n```py\\none = 1\\n```\\nand\\n```sh\\nls\\n```\\n")
answer(prompt, stopReason="end_turn")
prompt = expect("session/prompt")
say("Nothing to add.")
answer(prompt, stopReason="end_turn")
serve_until_closed()
"""


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the system's tool received."""
    texts: list[str] = []

    def take(text: str) -> str:
        texts.append(text)
        return "wl-copy"

    monkeypatch.setattr(desktop, "copy_by_tool", take)
    return texts


async def test_the_last_reply_is_copied_as_the_agent_wrote_it_or_one_piece_of_code(
    open_tabs: OpenTabs, copied: list[str]
) -> None:
    async with open_tabs(SESSION, REPLY) as desk:
        await desk.has_session()
        await desk.send("go")
        await desk.shows("one = 1")
        await desk.do("copy_reply")
        await desk.shows("What do you want to copy?", "The whole message", "one = 1", "ls")
        await desk.choose("The whole message")
        await desk.shows("Copied 41 characters")
        assert copied == ["Look:\n```py\none = 1\n```\nand\n```sh\nls\n```\n"]
        await desk.send("/copy")
        await desk.shows("What do you want to copy?")
        await desk.choose("ls")
        await desk.until(lambda: copied[1:] == ["ls\n"])
        await desk.send("again")
        await desk.shows("Nothing to add.")
        await desk.send("/copy")
        await desk.until(lambda: copied[2:] == ["Nothing to add."])  # the code is in an earlier one


async def test_without_a_reply_there_is_nothing_to_copy(open_tabs: OpenTabs, copied: list[str]) -> None:
    async with open_tabs(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        assert not desk.offers("copy_reply")
        await desk.send("/copy")
        await desk.shows("No reply to copy yet.")
        assert copied == []


async def test_a_file_is_written_beside_the_loop_from_a_conversation_that_stands_still(
    open_tabs: OpenTabs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted: list[tuple[Conversation, bool]] = []

    def note(conversation: Conversation, *_: object, **__: object) -> None:
        wanted.append((conversation, threading.current_thread() is threading.main_thread()))

    monkeypatch.setattr("acp_tui.client.export.writing.export", note)
    async with open_tabs(SESSION, REPLY) as desk:
        await desk.has_session()
        await desk.send("go")
        await desk.shows("one = 1")
        await desk.do("export")
        dialog = await desk.asks(ExportDialog)
        await dialog.write(tmp_path / "talk.md", False)
        ((taken, is_on_the_loop),) = wanted
        assert not is_on_the_loop
        assert taken is not desk.shown_session.conversation
        assert taken.entries == desk.shown_session.conversation.entries
