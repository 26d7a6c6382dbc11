"""Undoing a turn: the files are listed with what changed since a prompt, and go back to what they were then."""

from __future__ import annotations

from support.desks import SESSION, OpenDesk

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
        await desk.press("R")
        await desk.shows("press R again to revert 2 files")
        await desk.press("R")
        await desk.shows("2 files as at that prompt")
        assert file.read_text() == "first\n"
        assert not (file.parent / "b.txt").exists()
        await desk.press("escape")
        await desk.until(lambda: desk.draft == "second prompt")


async def test_before_any_prompt_there_is_nothing_to_undo(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.send("/undo")
        await desk.shows("No prompt of this session can be undone yet")
