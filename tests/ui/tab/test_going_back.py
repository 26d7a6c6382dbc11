"""Going back to a prompt: the dialog with the prompts, what each changed, and how to go on from there."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.events import Key
from textual.message import Message
from textual.widget import Widget

from acp_tui.client.changes import tracker
from acp_tui.client.changes.tracker import Moment
from acp_tui.ui.changes.follower import FolderChanges
from acp_tui.ui.kit import answer_guard
from acp_tui.ui.prompt.input import PromptInput
from acp_tui.ui.tab.going_back import GoBackDialog, GoingBack
from support.desks import SESSION, Desk, OpenDesk
from support.screens import Page, open_page

TITLE = "Go back to a prompt"
UNDO = "◉ Put the agent's files back"
UNDO_ALL = "◉ Put all files back"
TURN = 'answer(expect("session/prompt"), stopReason="end_turn")\n'


async def _ask(desk: Desk, *prompts: str) -> None:
    """Send these prompts; each of them changes a file of its own, `first.txt` for `first`."""
    changes = await desk.has_read_files()
    for number, text in enumerate(prompts, 1):
        await desk.send(text)
        await desk.gets("session/prompt", times=number)
        await desk.has_session()
        (desk.tabs[0].cwd / f"{text}.txt").write_text(f"{text}\n")
        await changes.rescan()


def _marked(page: Page) -> str:
    return next(line.partition("◉ ")[2].partition("   ")[0] for line in page.front_lines if "◉ " in line)


# Files


async def test_what_a_turn_wrote_is_its_own_although_the_next_prompt_was_queued(
    open_desk: OpenDesk, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The agent writes the file itself, ends the turn, and so gets the next prompt at once."""
    end = tmp_path_factory.mktemp("end") / "end"
    os.mkfifo(end)
    writes = f"""
request = expect("session/prompt")
open({str(end)!r}).read()
open("written.txt", "w").write("written\\n")
answer(request, stopReason="end_turn")
"""
    async with open_desk(SESSION, writes + TURN + "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.has_read_files()
        await desk.send("write")
        await desk.gets("session/prompt")
        await desk.send("queued")
        await desk.shows("1 queued")
        end.write_text("")
        await desk.gets("session/prompt", times=2)
        await desk.shows("done in")
        await desk.press("escape", "escape")
        await desk.shows(TITLE)
        await desk.until(lambda: _aside(desk, "1  write").startswith("1 file +1"))
        assert _aside(desk, "2  queued") == "just now"


async def test_files_that_cannot_be_read_in_time_are_told_as_unknown(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A prompt waits no longer than the limit for what the turn before it changed."""
    async with open_desk(SESSION, TURN * 2 + "serve_until_closed()") as desk:
        await desk.has_session()
        await _ask(desk, "first")
        monkeypatch.setattr(tracker, "REMEMBER_LIMIT_S", 0)
        monkeypatch.setattr(tracker, "NOTICE_LIMIT_S", 0)
        await desk.send("second")
        await desk.gets("session/prompt", times=2)
        await desk.has_session()
        await desk.press("escape", "escape")
        await desk.shows(TITLE)
        await desk.until(lambda: _aside(desk, "1  first").startswith("changes unknown"))
        await desk.shows("Put the agent's files back", "acp-tui has no copy from then")


async def test_files_are_put_back_at_once_and_the_list_of_changes_undoes_it(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, TURN * 2 + "serve_until_closed()") as desk:
        await desk.has_session()
        await _ask(desk, "first", "second")
        folder = desk.tabs[0].cwd
        (folder / "first.txt").write_text("changed\n")
        await desk.send("/undo")
        await desk.shows(UNDO_ALL, "2 second", "1 first", "2 files +2 -1, may be yours")
        await desk.shows("M first.txt may be yours")
        assert _marked(desk) == "Put all files back"
        await desk.press_slowly("enter", "enter")
        await desk.hides(UNDO_ALL)
        await desk.shows("Put back 2 files as before prompt 2: F5 u undoes that")
        assert (folder / "first.txt").read_text() == "first\n"
        assert not (folder / "second.txt").exists()
        await desk.press("f5")
        await desk.shows("Changes")
        await desk.press("u")
        await desk.shows("2 files have their changes back")
        assert (folder / "first.txt").read_text() == "changed\n"
        assert (folder / "second.txt").read_text() == "second\n"


NAMING = """
import os
turn = expect("session/prompt")
open("first.txt", "w").write("first\\n")
update("tool_call", toolCallId="c", title="Edit", locations=[{"path": os.getcwd() + "/first.txt"}])
end(turn)
"""


async def test_undo_puts_back_the_agents_files_and_leaves_the_users(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, NAMING, "serve_until_closed()") as desk:
        await desk.has_session()
        await _ask(desk, "first")
        (desk.tabs[0].cwd / "mine.txt").write_text("mine\n")
        await desk.send("/undo")
        await desk.shows(UNDO, "Put all files back 2 files +2, 1 may be yours", "A first.txt")
        assert _marked(desk) == "Put the agent's files back"
        assert "mine.txt" not in desk.words
        await desk.press_slowly("enter")
        await desk.shows("Put back 1 of 2 files as before prompt 1: F5 u undoes that")
        assert not (desk.tabs[0].cwd / "first.txt").exists()
        assert (desk.tabs[0].cwd / "mine.txt").exists()


async def test_what_the_user_adds_to_the_agents_file_after_its_turn_may_be_theirs(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember = FolderChanges.remember
    remembered: list[Moment | None] = []

    async def remember_and_tell(changes: FolderChanges) -> Moment | None:
        remembered.append(await remember(changes))
        return remembered[-1]

    monkeypatch.setattr(FolderChanges, "remember", remember_and_tell)
    async with open_desk(SESSION, NAMING, TURN, "serve_until_closed()") as desk:
        await desk.has_session()
        await _ask(desk, "first")
        await desk.until(lambda: len(remembered) == 2)  # before the prompt, and at its turn's end
        with (desk.tabs[0].cwd / "first.txt").open("a") as file:
            file.write("mine\n")
        await desk.send("second")
        await desk.gets("session/prompt", times=2)
        await desk.has_session()
        await desk.send("/undo")
        await desk.shows(UNDO_ALL, "1 file +2, may be yours", "A first.txt may be yours")


async def test_all_files_are_put_back_only_after_a_question(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, NAMING, "serve_until_closed()") as desk:
        await desk.has_session()
        await _ask(desk, "first")
        (desk.tabs[0].cwd / "mine.txt").write_text("mine\n")
        await desk.send("/undo")
        await desk.shows(UNDO, "Put all files back 2 files +2, 1 may be yours")
        await desk.press("tab")
        await desk.shows(UNDO_ALL, "A mine.txt may be yours", "A first.txt")
        assert "first.txt may" not in " ".join(desk.words.split())
        await desk.press_slowly("enter")
        await desk.shows("1 of these may be yours: Enter again puts all back")
        await desk.press_slowly("up", "down")  # another key takes it back
        await desk.shows(UNDO_ALL, "A mine.txt may be yours")
        await desk.press_slowly("enter")
        await desk.shows("1 of these may be yours: Enter again puts all back")
        assert (desk.tabs[0].cwd / "mine.txt").exists()
        await desk.press_slowly("enter")
        await desk.shows("Put back 2 files as before prompt 1: F5 u undoes that")
        assert not (desk.tabs[0].cwd / "mine.txt").exists()


async def test_nothing_is_put_back_before_the_files_are_read(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def read_for_ever(source: GoingBack) -> None:
        await asyncio.Event().wait()

    async with open_desk(SESSION, NAMING, "serve_until_closed()") as desk:
        await desk.has_session()
        await _ask(desk, "first")
        monkeypatch.setattr(GoingBack, "catch_up", read_for_ever)
        await desk.send("/undo")
        await desk.shows(UNDO, "reading the files")
        await desk.press_slowly("enter")
        assert desk.notices[-1].message == "Put the agent's files back: reading the files"
        assert (desk.tabs[0].cwd / "first.txt").exists()


async def test_from_a_prompt_since_which_nobody_else_changed_files_there_is_one_way(open_desk: OpenDesk) -> None:
    """The way that was chosen where both are comes back there."""
    async with open_desk(SESSION, TURN, NAMING, "serve_until_closed()") as desk:
        await desk.has_session()
        await _ask(desk, "mine", "first")
        await desk.send("/undo")
        await desk.shows(UNDO, "1 file +1")
        assert "Put all files back" not in desk.words
        await desk.press("down")
        await desk.shows(UNDO, "Put all files back 2 files +2, 1 may be yours")
        await desk.press("tab")
        await desk.shows(UNDO_ALL, "A mine.txt may be yours")
        await desk.press("up")
        await desk.shows(UNDO, "1 file +1")
        assert "Put all files back" not in desk.words
        await desk.press("down")
        await desk.shows(UNDO_ALL, "A mine.txt may be yours")
        await desk.press_slowly("ctrl+home", "enter")
        await desk.shows("choose a prompt for that")
        assert desk.notices[-1].message == "Put the agent's files back: choose a prompt for that"


async def test_a_file_that_changed_since_the_dialog_showed_it_is_not_put_back(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_desk(SESSION, TURN + "serve_until_closed()") as desk:
        await desk.has_session()
        await _ask(desk, "first")
        await desk.send("/undo")
        await desk.shows(UNDO_ALL, "1 file +1")
        post = GoBackDialog.post_message

        def post_late(dialog: GoBackDialog, message: Message) -> bool:
            return not isinstance(message, FolderChanges.Changed) and post(dialog, message)

        monkeypatch.setattr(GoBackDialog, "post_message", post_late)
        (desk.tabs[0].cwd / "first.txt").write_text("by\nsomeone\nelse\n")
        await desk.press_slowly("enter", "enter")
        await desk.shows("Put back 0 of 1 file as before prompt 1. 'first.txt' has changed since you saw it")
        assert (desk.tabs[0].cwd / "first.txt").read_text() == "by\nsomeone\nelse\n"


async def test_undo_begins_at_the_last_prompt_since_which_files_have_changed(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, TURN * 2 + "serve_until_closed()") as desk:
        await desk.has_session()
        await _ask(desk, "first", "second")
        (desk.tabs[0].cwd / "second.txt").unlink()
        await (await desk.has_read_files()).rescan()
        await desk.send("/undo")
        await desk.shows(UNDO_ALL, "1 file +1")
        await desk.press_slowly("enter", "enter")
        await desk.shows("Put back 1 file as before prompt 1: F5 u undoes that")


async def test_the_list_of_files_does_not_push_the_chosen_prompt_out_of_view(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, TURN * 3 + "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.pilot.resize_terminal(80, 24)
        await _ask(desk, "first", "second", "third")
        await desk.send("/undo")
        await desk.shows(UNDO_ALL)
        await desk.press("down", "down")
        await desk.shows(UNDO_ALL, "A first.txt", "A second.txt", "A third.txt", "1 first")


async def test_each_prompt_says_what_it_changed(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, TURN * 3 + "serve_until_closed()") as desk:
        await desk.has_session()
        await _ask(desk, "first", "second", "third")
        (desk.tabs[0].cwd / "third.txt").unlink()
        (desk.tabs[0].cwd / "first.txt").write_text("first\nand more\n")
        await desk.press("escape", "escape")
        await desk.shows(TITLE)
        await desk.until(lambda: _aside(desk, "3  third").startswith("1 file +1"))
        await desk.until(lambda: _aside(desk, "2  second").startswith("1 file +1"))
        await desk.until(lambda: _aside(desk, "1  first").startswith("1 file +1"))
        assert _aside(desk, "1  first").endswith("just now")
        await desk.press("shift+tab", "down", "down")
        await desk.shows(UNDO_ALL, "2 files +3")  # since the first one
        await desk.shows("A first.txt", "A second.txt")
        await desk.press("tab")
        await desk.shows("◉ Go on here")
        assert "A first.txt" not in desk.words


def _aside(desk: Desk, prompt: str) -> str:
    (line,) = (line for line in desk.front_lines if prompt in line)
    return line.partition(prompt)[2].strip(" │")


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
        await desk.shows("acp-tui is still reading the files.")
        await desk.send("/undo")
        await desk.shows(UNDO, "acp-tui has no copy from then")
        await desk.press_slowly("enter")
        assert desk.notices[-1].message == "Put the agent's files back: acp-tui has no copy from then"
        await desk.press("shift+tab")
        await desk.shows("◉ Go on with another agent")
        await desk.press("escape")
        await desk.hides(TITLE)


# Another session

FORKING = """
handshake(agentCapabilities={"sessionCapabilities": {"fork": {}}})
answer(expect("session/new"), sessionId="s1")
"""


async def test_a_session_goes_on_from_a_prompt_in_a_fork_or_anew(open_desk: OpenDesk) -> None:
    again = 'answer(expect("session/fork"), sessionId="s2")\nanswer(expect("session/new"), sessionId="s3")\n'
    async with open_desk(FORKING, TURN + TURN + again + "serve_until_closed()") as desk:
        await desk.has_session()
        for number, text in enumerate(("first prompt", "second @prompt"), 1):
            await desk.send(text)
            await desk.gets("session/prompt", times=number)
            await desk.has_session()
        await desk.press("escape", "escape")
        await desk.shows(TITLE, "first prompt", "second @prompt")
        await desk.press("tab", "tab")
        await desk.shows("◉ Go on in a fork")
        await desk.press("enter")
        await desk.gets("session/fork")
        await desk.until(lambda: _draft(desk, 1) == "second @prompt")
        await desk.press("f3")
        await desk.until(lambda: sum(" ● " in row and "2 prompts" in row for row in desk.lines) == 2)  # the fork's, too
        await desk.press("escape")
        await desk.press("alt+1")
        await desk.until(lambda: desk.tabs[0].screen.is_current)
        await desk.press("escape", "escape")
        await desk.shows(TITLE)
        await desk.press("tab")
        await desk.shows("◉ Go on in a new session")
        await desk.press("enter")
        await desk.gets("session/new", times=2)
        await desk.until(lambda: _draft(desk, 2).endswith("## Now\n\nsecond @prompt"))
        assert "first prompt" in _draft(desk, 2)


async def test_a_paste_stays_folded_wherever_its_prompt_goes_on(open_desk: OpenDesk) -> None:
    async with open_desk(
        SESSION, TURN, 'answer(expect("session/new"), sessionId="s3")', "serve_until_closed()"
    ) as desk:
        await desk.has_session()
        desk.tabs[0].prompt.paste("line\n" * 40)
        await desk.press("enter")
        await desk.gets("session/prompt")
        await desk.has_session()
        await desk.press("escape", "escape")
        await desk.shows(TITLE, "line")
        await desk.press("tab")
        await desk.shows("◉ Go on in a new session")
        await desk.press("enter")
        await desk.until(lambda: _draft(desk, 1) == "line\n" * 40)
        assert desk.tabs[1].prompt.text.startswith("[pasted 40 lines")


async def test_a_new_session_from_the_first_prompt_begins_with_that_as_it_was(open_desk: OpenDesk) -> None:
    async with open_desk(
        SESSION, TURN, 'answer(expect("session/new"), sessionId="s3")', "serve_until_closed()"
    ) as desk:
        await desk.has_session()
        await desk.give("see @notes.md")
        await desk.gets("session/prompt")
        await desk.has_session()
        await desk.press("escape", "escape")
        await desk.shows(TITLE, "see @notes.md")
        await desk.press("tab")  # past the fork, which this agent can't do
        await desk.shows("◉ Go on in a new session")
        await desk.press("enter")
        await desk.until(lambda: _draft(desk, 1) == "see @notes.md")


@pytest.mark.parametrize(
    ("typed", "way"), [("/fork", "◉ Go on in a fork"), ("/handover", "◉ Go on with another agent")]
)
async def test_a_slash_command_opens_it_with_its_way_from_the_newest_state(
    open_desk: OpenDesk, typed: str, way: str
) -> None:
    async with open_desk(FORKING, TURN, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.give("first prompt")
        await desk.has_session()
        await desk.send(typed)
        await desk.shows(TITLE, way, "now Everything said so far")
        assert "choose a prompt for that" not in desk.text
        assert "files back" not in desk.text
        if typed == "/fork":
            await desk.press_slowly("enter")
            await desk.gets("session/fork")
        else:
            await desk.press_slowly("enter")
            await desk.shows("Go on with another agent", "1-9 start")


async def test_a_slash_command_begins_with_a_way_that_can_be_gone(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, TURN, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.give("first prompt")
        await desk.has_session()
        await desk.send("/fork")
        await desk.shows(TITLE, "◉ Go on in a new session", "can't fork sessions")


async def test_a_second_enter_at_once_is_not_for_what_the_first_one_opened() -> None:
    async with open_page() as page:
        await page.send("prompt")
        await page.end_turn()
        await page.write("/handover")
        await page.press("enter")
        await page.until(lambda: "◉ Go on with another agent" in page.text)
        assert "Enter do it" in page.text
        await page.press("enter", "enter")
        assert "◉ Go on with another agent" in page.text
        assert "Too soon: pause 1 s, then press Enter again" in page.text
        await page.press_slowly("enter")
        await page.until(lambda: "◉ Go on with another agent" not in page.text)


@pytest.mark.parametrize("keys", [("enter", "enter"), ("down", "enter"), ("w", "enter")])
async def test_enter_again_is_not_for_what_the_terminal_does_not_show_yet(
    monkeypatch: pytest.MonkeyPatch, keys: Sequence[str]
) -> None:
    shown: dict[object, Callable[[float], None]] = {}

    def when_shown(key: object, _: Widget, tell: Callable[[float], None], **how: bool) -> None:
        shown[key] = tell

    fence = SimpleNamespace(when_shown=when_shown, is_awaited=shown.__contains__, has_input_since=lambda _: False)
    async with open_page() as page:
        await page.send("prompt")
        await page.end_turn()
        await page.write("/handover")
        monkeypatch.setattr(answer_guard, "fence_of", lambda _: fence)
        await page.press("enter")
        await page.until(lambda: "◉ Go on with another agent" in page.text)
        await page.press_slowly(*keys)
        assert "◉ Go on with another agent" in page.text
        assert "Too soon: pause 1 s, then press Enter again" in page.text
        for tell in shown.values():
            tell(time.monotonic())
        await page.press_slowly("enter")
        await page.until(lambda: "◉ Go on with another agent" not in page.text)


@pytest.mark.usefixtures("keys_wait")
async def test_what_is_typed_before_the_dialog_is_there_is_the_forks_draft(open_desk: OpenDesk) -> None:
    forks = 'answer(expect("session/fork"), sessionId="s2")\n'
    async with open_desk(FORKING, TURN + forks + "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.give("first prompt")
        await desk.has_session()
        await desk.send("/fork")
        await desk.shows(TITLE, "Type to search")
        for key in (Key("ctrl+j", "\n"), *(Key(character, character) for character in "Try")):
            key.time -= 10  # it took this long to get here
            desk.pilot.app.post_message(key)
        await desk.until(lambda: _draft(desk, 0) == "\nTry")
        await desk.shows(TITLE, "Type to search")
        await desk.press_slowly("enter")
        await desk.until(lambda: _draft(desk, 1) == "\nTry")
        assert _draft(desk, 0) == ""


async def test_a_draft_in_a_fork_where_nothing_was_said_is_in_the_next_empty_session(open_desk: OpenDesk) -> None:
    forks = 'answer(expect("session/fork"), sessionId="s2")\nanswer(expect("session/new"), sessionId="s3")\n'
    async with open_desk(FORKING, TURN + forks + "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.give("first prompt")
        await desk.has_session()
        await desk.send("/fork")
        await desk.shows(TITLE)
        await desk.press_slowly("enter")
        await desk.shows("forked from “first prompt”")
        await desk.has_session()
        await desk.press(*"Mine")
        await desk.until(lambda: [one.session_id for one in desk.pilot.app.left_sessions()] == ["s1", "s2"])
        said, draft = desk.pilot.app.left_sessions()
        assert (said.title, said.has_draft) == ("first prompt", False)
        assert (draft.title, draft.has_draft) == ("", True)
        await desk.press("alt+w")
        await desk.shows("Your draft comes back in the next empty session with scripted in its folder")
        await desk.until(lambda: len(desk.tabs) == 1)
        await desk.press("ctrl+n")
        await desk.until(lambda: _draft(desk, 1) == "Mine")


def _draft(desk: Desk, tab: int) -> str:
    return desk.tabs[tab].screen.query_one(PromptInput).draft if len(desk.tabs) > tab else ""


# Here

COUNT = 8


async def _talk(page: Page) -> None:
    for number in range(COUNT):
        await page.send(f"prompt {number:02}")
        await page.end_turn()
    await page.until(lambda: f"prompt {COUNT - 1:02}" in page.text)


async def _go_back(page: Page) -> None:
    await page.press("escape", "escape")
    await page.until(lambda: TITLE in page.text)


async def test_esc_esc_enter_edits_the_last_prompt() -> None:
    async with open_page() as page:
        await _talk(page)
        await _go_back(page)
        await page.press("enter")
        await page.until(lambda: page.draft == "prompt 07")
        await page.press("X")
        assert page.draft == "prompt 07X"


async def test_a_search_finds_the_prompt() -> None:
    async with open_page() as page:
        await _talk(page)
        await _go_back(page)
        await page.press("0", "1", "enter")
        await page.until(lambda: page.draft == "prompt 01")


async def test_a_click_on_a_prompt_chooses_it_and_does_nothing_yet() -> None:
    async with open_page() as page:
        await _talk(page)
        await _go_back(page)
        await page.click("prompt 06")
        assert TITLE in page.text
        await page.click("Go on here")
        await page.until(lambda: page.draft == "prompt 06")


async def test_a_click_on_another_way_shows_what_it_would_do() -> None:
    async with open_page() as page:
        await _talk(page)
        await _go_back(page)
        await page.click("Go on with another agent")
        await page.until(lambda: "◉ Go on with another agent" in page.text)


async def test_a_low_screen_shows_the_way_that_is_chosen() -> None:
    async with open_page(size=(40, 12)) as page:
        await _talk(page)
        await _go_back(page)
        assert "7  prompt 06" in page.text
        assert "files back" not in page.text
        await page.press("down", "shift+tab")
        await page.until(lambda: "◉ Go on with another agent" in page.text)
        assert "7  prompt 06" in page.text
        assert "◉ Go on here" not in page.text


# What isn't possible


async def test_what_was_written_is_not_lost() -> None:
    async with open_page() as page:
        await page.send("once more")
        await page.end_turn()
        await page.write("precious")
        page.pilot.app.screen.run_worker(page.pilot.app.screen.run_action("do('go_back')"))
        await page.until(lambda: "send or clear your draft first" in page.text)
        await page.press("enter", "escape")
        await page.until(lambda: TITLE not in page.text)
        assert page.draft == "precious"


async def test_from_now_on_only_other_sessions_are_possible() -> None:
    async with open_page() as page:
        await _talk(page)
        await _go_back(page)
        await page.press("ctrl+home")
        await page.until(lambda: page.text.count("choose a prompt for that") == 1)
        await page.press_slowly("enter")
        await page.until(lambda: "Go on here: choose a prompt for that" in page.text)
