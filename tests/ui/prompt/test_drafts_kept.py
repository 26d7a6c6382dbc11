"""Unsent drafts survive a restart, and each session has its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest
from textual.events import Paste

from acp_tui.client.attachments.attach import mentions
from acp_tui.client.prompts.memory import Draft, DraftKey
from acp_tui.client.sessions.prompt_queue import PastedImage
from acp_tui.client.settings.location import state_folder
from acp_tui.client.settings.settings import HistorySettings, Settings
from acp_tui.conversation.facts import SessionId
from acp_tui.ui.prompt import recall
from support.desks import SESSION, OpenDesk
from support.folding import agent
from support.pages import COMMENT, drafts_kept, leave, open_recalling_page, remembers, use_vim
from support.screens import AGENT, CWD, Page, ScreenApp, new_session, open_page, show

HERE = DraftKey(str(CWD), "s")


async def show_other(page: Page, session_id: str, *, is_new: bool) -> None:
    session = new_session(*([] if is_new else [agent("said before")]))
    session.session_id = SessionId(session_id)
    await show(page.pilot, session)


async def test_a_draft_is_there_again_after_a_restart_with_the_cursor_at_its_end() -> None:
    async with open_recalling_page() as page:
        await page.write("two\nlines")
    assert drafts_kept() == {HERE: "two\nlines"}
    async with open_recalling_page() as page:
        assert page.draft == "two\nlines"
        assert page.prompt.cursor_location == (1, 5)
        [notice] = page.notices
        assert notice.message == "Your unsent draft is back; Ctrl+C clears it"


async def test_a_new_session_takes_over_what_was_left_for_its_agent_and_no_other() -> None:
    theirs = leave("earlier", "Codex, please", agent="Codex")
    async with open_recalling_page() as page:
        assert page.draft == ""
        assert not page.notices
    assert drafts_kept() == {theirs: "Codex, please"}
    leave("another", "Agent, please", agent=AGENT)
    async with open_recalling_page() as page:
        assert page.draft == "Agent, please"
    assert drafts_kept() == {theirs: "Codex, please", HERE: "Agent, please"}


async def test_a_session_that_is_resumed_brings_back_only_its_own_draft() -> None:
    leave("another", "elsewhere", agent=AGENT)
    async with open_page(agent("said before")) as page:
        await remembers(page)
        assert page.draft == ""
    leave("s", "here", agent=AGENT)
    async with open_page(agent("said before")) as page:
        await remembers(page)
        assert page.draft == "here"


async def test_a_draft_that_was_sent_or_cleared_is_not_there_again() -> None:
    async with open_recalling_page() as page:
        await page.write("not wanted")
        await page.press("ctrl+c")
    async with open_recalling_page() as page:
        assert page.draft == ""
        await page.send("sent")
    assert drafts_kept() == {}


async def test_a_draft_is_kept_at_a_pause_in_typing_and_then_no_timer_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recall, "PAUSE_S", 0.01)
    async with open_recalling_page() as page:
        await page.write("being written")
        await page.until(lambda: drafts_kept() == {HERE: "being written"})
        assert (await remembers(page)).pause is None


async def test_the_pause_before_a_draft_is_kept_is_counted_from_the_last_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall, "PAUSE_S", 0.01)
    waits: list[tuple[float, Callable[[], None]]] = []

    def set_timer(delay: float, callback: Callable[[], None]) -> object:
        waits.append((delay, callback))
        return waits

    async with open_recalling_page() as page:
        remembered = await remembers(page)
        await page.until(lambda: remembered.pause is None)
        monkeypatch.setattr(recall, "PAUSE_S", 60.0)
        monkeypatch.setattr(page.prompt, "set_timer", set_timer)
        await page.press("a", "b")
        [(delay, end)] = waits
        assert delay == recall.PAUSE_S
        end()
        assert 0 < waits[-1][0] < recall.PAUSE_S


async def test_what_is_queued_is_kept_at_a_pause_and_as_it_is_after_a_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So that it survives even a sudden end."""
    monkeypatch.setattr(recall, "PAUSE_S", 0.01)
    async with open_recalling_page() as page:
        await page.send("go")
        await page.send("next")
        await page.send("after that")
        await page.write("being written")
        await page.until(lambda: drafts_kept() == {HERE: "next\n\nafter that\n\nbeing written"})
        await page.press("alt+up")
        await page.until(lambda: drafts_kept() == {HERE: "next\n\nafter that\nbeing written"})
        assert page.draft == "after that\nbeing written"


async def test_what_was_queued_is_in_no_draft_once_it_is_sent_however_soon_the_end_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recall, "PAUSE_S", 1000.0)
    async with open_recalling_page() as page:
        await page.send("go")
        await page.send("next")
        await page.until(lambda: drafts_kept() == {HERE: "next"})
        await page.end_turn()
        await page.until(lambda: page.connection.prompts == ["go", "next"])
        assert drafts_kept() == {}


async def test_comments_on_lines_are_text_before_the_draft_after_a_restart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not after it: the draft may be a command, which takes all of it."""
    told = "Comments on lines:\n\na.py:5\n```diff\n+new\n```\nWhy?"
    monkeypatch.setattr(recall, "PAUSE_S", 0.01)
    async with open_recalling_page() as page:
        page.prompt.comments.append(COMMENT)
        await page.press("f1", "escape")  # as after the dialog in which it was written
        await page.until(lambda: drafts_kept() == {HERE: told})
        await page.write("!ls")
    async with open_recalling_page() as page:
        assert page.draft == f"{told}\n\n!ls"
        assert page.prompt.comments == []


async def test_output_that_waits_for_a_prompt_is_text_before_the_draft_after_a_restart(
    open_desk: OpenDesk,
) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.send("!echo see @a.py")
        await desk.shows("see @a.py", "exit 0", "output of `echo see @a.py`")
        await desk.write("What is that?")
    (draft,) = drafts_kept().values()
    assert mentions(draft) == []
    assert draft.replace("\\", "") == "$ echo see @a.py\nsee @a.py\n(exit 0)\n\nWhat is that?"


async def test_comments_that_were_sent_are_not_there_again() -> None:
    async with open_recalling_page() as page:
        page.prompt.comments.append(COMMENT)
        await page.send("Fix it")
    assert drafts_kept() == {}


async def test_an_old_draft_never_replaces_what_is_being_typed() -> None:
    earlier = leave("earlier", "left")
    async with open_page(is_shown=False) as page:
        page.prompt.insert("new")
        await show(page.pilot, new_session())
        await remembers(page)
        assert page.draft == "new"
    assert drafts_kept() == {earlier: "left", HERE: "new"}


class _LateTerminal:
    """A fence that says when the test has the draft shown."""

    def __init__(self) -> None:
        self.show_at: Callable[[float], None] | None = None

    def when_shown(self, _key: object, _widget: object, tell: Callable[[float], None]) -> None:
        self.show_at = tell

    def is_awaited(self, _key: object) -> bool:
        return self.show_at is not None

    def show(self) -> None:
        """From now on, the draft is on the screen."""
        assert self.show_at is not None
        self.show_at(monotonic())
        self.show_at = None


@pytest.mark.parametrize("is_shown", [False, True])
async def test_what_is_typed_goes_on_with_an_old_draft_only_if_that_was_on_the_screen(
    monkeypatch: pytest.MonkeyPatch, *, is_shown: bool
) -> None:
    leave("s", "left ")
    terminal = _LateTerminal()
    monkeypatch.setattr(recall, "fence_of", lambda _: terminal)
    async with open_recalling_page() as page:
        if is_shown:
            terminal.show()
        await page.press(*"new")
        assert page.draft == ("left new" if is_shown else "new")
        await page.press("enter")
        assert page.connection.prompts == ["left new" if is_shown else "new"]
        await page.press("up", "up")
        assert page.draft == ("left new" if is_shown else "left ")


async def test_what_is_pasted_over_an_old_draft_that_was_not_shown_is_parted_from_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leave("s", "left ")
    terminal = _LateTerminal()
    monkeypatch.setattr(recall, "fence_of", lambda _: terminal)
    async with open_recalling_page() as page:
        page.pilot.app.post_message(Paste("pasted"))
        await page.until(lambda: page.draft == "pasted")
        await page.press("up")
        assert page.draft == "left "


async def test_an_edit_with_a_vim_key_leaves_an_old_draft_alone_that_was_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leave("s", "left over")
    terminal = _LateTerminal()
    monkeypatch.setattr(recall, "fence_of", lambda _: terminal)
    async with open_recalling_page(is_shown=False) as page:
        await use_vim(page)
        await page.press("escape")
        assert page.prompt.border_subtitle == "NORMAL"
        await show(page.pilot, new_session())
        assert page.draft == "left over"
        await page.press("b", "D")
        assert page.draft == ""
        await page.press("up")
        assert page.draft == "left over"


async def test_what_is_typed_before_a_session_is_there_is_not_joined_with_its_draft() -> None:
    leave("s", "left", agent=AGENT)
    async with open_page(is_shown=False) as page:
        page.prompt.insert("new")
        await show(page.pilot, new_session(agent("said before")))
        await remembers(page)
        await page.until(lambda: [notice.message for notice in page.notices] == ["↑ brings your earlier draft back"])
        assert page.draft == "new"
        await page.press("up")
        assert page.draft == "left"


async def test_pictures_of_the_draft_and_of_the_queue_are_attached_files_after_a_restart() -> None:
    async with open_recalling_page() as page:
        await page.send("go")
        page.prompt.attach(PastedImage("image-1.png", b"queued"))
        await page.send("next")
        page.prompt.attach(PastedImage("image 2.png", b"drafted"))
        await page.write("being written")
    async with open_recalling_page() as page:
        text, queued, drafted = page.draft.rsplit("\n", 2)
        assert text == "next\n\nbeing written"
        assert "Your unsent draft is back, with 1 queued prompt; Ctrl+C clears it" in [
            notice.message for notice in page.notices
        ]
        kept = [Path(mention.path_text) for line in (queued, drafted) for mention in mentions(line)]
        assert [file.read_bytes() for file in kept] == [b"queued", b"drafted"]
        assert {file.stat().st_mode & 0o777 for file in kept} == {0o600}
        await page.press("ctrl+c")
    async with open_recalling_page() as page:
        assert page.draft == ""


async def test_each_session_has_its_own_draft() -> None:
    async with open_recalling_page() as page:
        await show_other(page, "first", is_new=False)
        await page.write("for the first")
        await show_other(page, "other", is_new=False)
        assert page.draft == ""
        await page.write("for the other")
        await show_other(page, "first", is_new=False)
        assert page.draft == "for the first"
    first, other = (DraftKey(str(CWD), name) for name in ("first", "other"))
    assert drafts_kept() == {other: "for the other", first: "for the first"}


async def test_a_draft_in_a_blank_session_does_not_go_along_into_another_one() -> None:
    earlier = leave("earlier", "its own", is_blank=False)
    leave("blank", "And lions?")
    async with open_recalling_page() as page:
        assert page.draft == "And lions?"
        await show_other(page, "earlier", is_new=False)
        assert page.draft == "its own"
        page.prompt.attach(PastedImage("image-1.png", b"here"))
        page.prompt.comments.append(COMMENT)
        await show_other(page, "next", is_new=True)
        assert page.draft == "And lions?"
        assert not (page.prompt.images or page.prompt.comments)
    kept = drafts_kept()
    assert kept.pop(DraftKey(str(CWD), "next")) == "And lions?"
    assert "Comments on lines" in kept[earlier]
    assert "its own\n@" in kept[earlier]


async def test_a_new_session_gets_what_is_being_written() -> None:
    async with open_recalling_page() as page:
        await page.write("for whom?")
        await show_other(page, "new", is_new=True)
        assert page.draft == "for whom?"
    assert drafts_kept() == {DraftKey(str(CWD), "new"): "for whom?"}


async def test_where_the_settings_say_so_nothing_is_kept() -> None:
    app = ScreenApp()
    app.settings = Settings(history=HistorySettings(keep=False))
    app.prompt_memory.history.add("sent", str(CWD), "Agent")
    app.prompt_memory.drafts.put(HERE, Draft("not sent"))
    assert await app.prompt_memory.write() == ""
    assert not state_folder().exists()
