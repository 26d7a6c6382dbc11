"""Taking things out of a conversation: copies, which are confirmed, and files."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from acp_tui.client import desktop
from acp_tui.conversation.conversation import Conversation
from support.desks import SESSION, OpenDesk

REPLY = """
prompt = expect("session/prompt")
say("Look:\\n```py\\none = 1\\n```\\nand\\n```sh\\nls\\n```\\n")
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
    open_desk: OpenDesk, copied: list[str]
) -> None:
    async with open_desk(SESSION, REPLY) as desk:
        await desk.has_session()
        await desk.send("go")
        await desk.shows("one = 1")
        await desk.choose("Copy the agent's last reply")
        await desk.shows("What do you want to copy?", "The whole message", "one = 1", "ls")
        await desk.press_slowly("enter")
        await desk.shows("Copied 41 characters")
        assert copied == ["Look:\n```py\none = 1\n```\nand\n```sh\nls\n```\n"]
        await desk.send("/copy")
        await desk.shows("What do you want to copy?")
        await desk.press("down", "down", "enter")
        await desk.until(lambda: copied[1:] == ["ls\n"])


async def test_the_message_at_the_cursor_is_copied_also_if_it_is_not_the_last(
    open_desk: OpenDesk, copied: list[str]
) -> None:
    async with open_desk(SESSION, REPLY) as desk:
        await desk.has_session()
        await desk.send("go")
        await desk.shows("one = 1")
        await desk.press("tab", "up")
        await desk.choose("Copy the agent's last reply")
        await desk.until(lambda: copied == ["go"])


async def test_without_a_reply_there_is_nothing_to_copy(open_desk: OpenDesk, copied: list[str]) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        assert "Copy the agent's last reply" not in await desk.offers()
        await desk.send("/copy")
        await desk.shows("No reply to copy yet.")
        assert copied == []


async def test_an_export_overwrites_a_file_only_at_a_second_enter(open_desk: OpenDesk, tmp_path: Path) -> None:
    (tmp_path / "talk.jsonl").write_text("mine")
    async with open_desk(SESSION, REPLY) as desk:
        await desk.has_session()
        await desk.send("go")
        await desk.shows("one = 1")
        await desk.choose("Write the conversation to a file")
        await desk.shows("Write the conversation to a file in /", ".md or .jsonl")
        field = desk.pilot.app.screen.query_one("#file")
        field.value = "talk.doc"
        await desk.press_slowly("enter")
        await desk.shows(".jsonl")
        field.value = "/export talk.md"
        await desk.press("enter")
        await desk.shows("Write only the file, without /export.")
        field.value = "talk.jsonl"
        await desk.press("enter")
        await desk.shows("Enter again replaces it")
        assert (tmp_path / "talk.jsonl").read_text() == "mine"
        await desk.press("enter")
        await desk.shows("It has all that was said, secrets too")
    lines = [json.loads(line) for line in (tmp_path / "talk.jsonl").read_text().splitlines()]
    assert len(lines) > 2


async def test_a_file_that_is_named_is_written_without_a_question(open_desk: OpenDesk, tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("mine")
    async with open_desk(SESSION, REPLY) as desk:
        await desk.has_session()
        await desk.send("go")
        await desk.shows("one = 1")
        await desk.send("/export out.md")
        await desk.shows("It has all that was said, secrets too")
        assert "one = 1" in (tmp_path / "out.md").read_text()
        await desk.send("/export there.md")
        await desk.shows("Enter again replaces it")
        assert (tmp_path / "there.md").read_text() == "mine"


async def test_a_file_is_written_beside_the_loop_from_a_conversation_that_stands_still(
    open_desk: OpenDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted: list[tuple[Conversation, bool]] = []

    def note(conversation: Conversation, *_: object, **__: object) -> None:
        wanted.append((conversation, threading.current_thread() is threading.main_thread()))

    monkeypatch.setattr("acp_tui.client.export.writing.export", note)
    async with open_desk(SESSION, REPLY) as desk:
        await desk.has_session()
        await desk.send("go")
        await desk.shows("one = 1")
        await desk.choose("Write the conversation to a file")
        await desk.shows("Write the conversation to a file", ".md or .jsonl")
        await desk.press_slowly("enter")
        await desk.shows("It has all that was said, secrets too")
        ((taken, is_on_the_loop),) = wanted
        assert not is_on_the_loop
        assert taken is not desk.shown_session.conversation
        assert taken.entries == desk.shown_session.conversation.entries
