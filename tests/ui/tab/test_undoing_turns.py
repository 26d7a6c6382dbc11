"""Undoing a turn: files that changed since a prompt are listed, and revert to their state at that time."""

from __future__ import annotations

import os
from pathlib import Path

from acp_tui.ui.prompt import PromptInput
from support.desks import SESSION, Desk, OpenDesk

TURN = 'answer(expect("session/prompt"), stopReason="end_turn")\n'


async def test_a_turn_is_undone_after_its_changes_were_shown(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, TURN + TURN + "serve_until_closed()") as desk:
        await desk.has_session()
        file = desk.tabs[0].cwd / "a.txt"
        changes = desk.tabs[0].changes
        assert changes is not None
        await changes.ready()
        await desk.send("first prompt")
        file.write_text("first\n")
        await changes.rescan()
        await desk.send("second prompt")
        await desk.gets("session/prompt", times=2)
        await desk.has_session()
        file.write_text("second\n")
        (file.parent / "b.txt").write_text("second\n")
        await desk.send("/undo")
        await desk.shows("Undo the file changes since which prompt?", "first prompt", "second prompt")
        await desk.press("enter")
        await desk.shows("a.txt", "b.txt", "The agent still remembers the turn")
        await desk.press("X")
        await desk.shows("press X again to revert 2 files")
        await desk.press("X")
        await desk.shows("2 files as at that prompt")
        assert file.read_text() == "first\n"
        assert not (file.parent / "b.txt").exists()
        await desk.press("escape")
        await desk.shows("Continue from that prompt", "Edit it and send it again here")
        assert "Fork the session" not in desk.words  # the agent offers no forks
        await desk.press("enter")
        await desk.until(lambda: desk.draft == "second prompt")


async def test_a_prompt_does_not_wait_for_files_that_never_answer(open_desk: OpenDesk, tmp_path: Path) -> None:
    """Git waits for the other end of a pipe for as long as it may."""
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git/HEAD")
    (tmp_path / ".git/objects").mkdir()
    (tmp_path / ".git/refs").mkdir()
    async with open_desk(SESSION, TURN + "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.send("prompt")
        await desk.gets("session/prompt")
        assert "will be sent after" not in desk.words
        await desk.press("f5")
        await desk.shows("Still reading the files.")


FORKING = """
handshake(agentCapabilities={"sessionCapabilities": {"fork": {}}})
answer(expect("session/new"), sessionId="s1")
"""


async def test_a_session_goes_on_from_a_prompt_in_a_fork_or_anew(open_desk: OpenDesk) -> None:
    again = 'answer(expect("session/fork"), sessionId="s2")\nanswer(expect("session/new"), sessionId="s3")\n'
    async with open_desk(FORKING, TURN + TURN + again + "serve_until_closed()") as desk:
        await desk.has_session()
        for number, text in enumerate(("first prompt", "second prompt"), 1):
            await desk.send(text)
            await desk.gets("session/prompt", times=number)
            await desk.has_session()
        await desk.send("/fork-from")
        await desk.shows("Continue from which prompt?", "first prompt", "second prompt")
        await desk.press("enter")
        await desk.shows("Fork the session, and send it there")
        await desk.press("down", "enter")
        await desk.gets("session/fork")
        await desk.until(lambda: _draft(desk, 1) == "second prompt")
        await desk.press("alt+1")
        await desk.until(lambda: desk.tabs[0].screen.is_current)
        await desk.send("/fork-from")
        await desk.shows("Continue from which prompt?")
        await desk.press("enter")
        await desk.shows("Start a new session from there")
        await desk.press("down", "down", "enter")
        await desk.gets("session/new", times=2)
        await desk.until(lambda: _draft(desk, 2).endswith("## Now\n\nsecond prompt"))
        assert "first prompt" in _draft(desk, 2)


def _draft(desk: Desk, tab: int) -> str:
    return desk.tabs[tab].screen.query_one(PromptInput).draft if len(desk.tabs) > tab else ""
