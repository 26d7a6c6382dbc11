"""One prompt to several agents: each in a worktree of its own, compared, and one of them chosen."""

from __future__ import annotations

import shutil
from typing import Any

import anyio
import pytest

from acp_tui.client.agents.catalogue import Catalogue, EntrySource, ListedAgent
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.worktrees import Worktree, add_worktree
from acp_tui.ui.permission.permission_card import PermissionCard
from acp_tui.ui.tab import several
from acp_tui.ui.tab.several import SeveralDialog
from support.agents import scripted_argv
from support.changes import ONE_FILE, make_repository
from support.desks import SESSION, Desk, OpenDesk

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git isn't installed")

WORKS = """
import pathlib
def work(new, line, waits=False):
    prompt = expect("session/prompt")
    said = prompt["params"]["prompt"][0]["text"]
    folder = pathlib.Path(new["params"]["cwd"])
    folder.joinpath("a.txt").write_text(line)
    folder.joinpath("prompt.txt").write_text(said)
    if waits:
        expect("_go_on")
    answer(prompt, stopReason="end_turn", usage={"totalTokens": 1200, "inputTokens": 1000, "outputTokens": 200})
"""
OWN = (
    WORKS
    + """
new = expect("session/new")
answer(new, sessionId="s2")
work(new, "one\\ntwo\\n")
serve_until_closed()
"""
)
OTHER = (
    """
handshake()
new = expect("session/new")
answer(new, sessionId="s9")
"""
    + WORKS
    + """
work(new, "three\\n")
serve_until_closed()
"""
)


def list_other(monkeypatch: pytest.MonkeyPatch, script: str = OTHER) -> None:
    """Offer another agent, named other."""
    listed = ListedAgent(AgentCommand("other", scripted_argv(script)), EntrySource.USER, "other")
    monkeypatch.setattr(SeveralDialog.__init__, "__defaults__", (lambda: Catalogue((listed,)),))


async def begin_earlier(desk: Desk) -> None:
    """A repository in which a worktree of its own has a tab, in front."""
    make_repository(desk.tabs[0].cwd, ONE_FILE)
    await desk.has_session()
    await desk.send("/worktree earlier")
    await desk.until(lambda: len(desk.tabs) == 2)
    await desk.has_session()


async def start_both(desk: Desk) -> None:
    """Send a prompt to the tab's own agent and the other one, and wait until both have worked."""
    make_repository(desk.tabs[0].cwd, ONE_FILE)
    await desk.has_session()
    await desk.send("/several Fix a.txt")
    await desk.shows("without your uncommitted changes", "1 chosen")
    await desk.press("down", "space")
    await desk.shows("2 chosen")
    await desk.press("enter")
    await desk.until(lambda: len(desk.tabs) == 3)
    await desk.until(lambda: all(one.cwd.joinpath("prompt.txt").exists() for one in desk.tabs[1:]))
    await desk.shows("Worktrees of ")
    await desk.until(lambda: [row.aside for row in desk.rows] == ["2 files +2", "2 files +2 -1"])


async def test_each_agent_gets_the_prompt_in_a_worktree_of_its_own(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_other(monkeypatch)
    async with open_desk(SESSION, OWN) as desk:
        await start_both(desk)
        home = desk.tabs[0].cwd
        assert [one.cwd for one in desk.tabs[1:]] == [
            home.parent / f"{home.name}.worktrees" / name for name in ("scripted", "other")
        ]
        assert [one.cwd.joinpath("prompt.txt").read_text() for one in desk.tabs[1:]] == ["Fix a.txt"] * 2
        assert home.joinpath("a.txt").read_text() == "one\n"
        assert [one.lead for one in desk.tabs] == ["scripted", "scripted 1", "other"]
        assert desk.tab.app.prompt_memory.history.texts_of(str(home)) == ["Fix a.txt"]
        await desk.shows("done in <1 s · 1k tokens")
        await desk.press("escape")
        await desk.hides("Worktrees of ")
        assert desk.tab is desk.tabs[0]


async def test_the_comparison_does_not_open_for_a_user_who_writes_the_next_prompt(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_written = anyio.Event()

    async def add_slowly(*args: Any) -> Worktree:
        await has_written.wait()
        return await add_worktree(*args)

    list_other(monkeypatch)
    monkeypatch.setattr(several, "add_worktree", add_slowly)
    async with open_desk(SESSION, OWN) as desk:
        make_repository(desk.tabs[0].cwd, ONE_FILE)
        await desk.has_session()
        await desk.send("/several Fix a.txt")
        await desk.shows("1 chosen")
        await desk.press("down", "space", "enter")
        await desk.hides("2 chosen")
        await desk.press(*"next")
        has_written.set()
        await desk.shows("2 agents work on it", "/compare shows them")
        assert (desk.tab, desk.draft) == (desk.tabs[0], "next")
        await desk.until(lambda: all(one.cwd.joinpath("prompt.txt").exists() for one in desk.tabs[1:]))


async def test_text_that_is_typed_into_the_comparison_goes_to_the_draft_and_nowhere_else(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_other(monkeypatch)
    async with open_desk(SESSION, OWN) as desk:
        await start_both(desk)
        await desk.press_at_once(*"no", "ctrl+j", *"choice", "enter")
        await desk.shows("Worktrees of ", "What you typed is in your draft")
        await desk.press("f3")
        await desk.shows("Sessions", "Esc close")
        await desk.press("escape")
        await desk.hides("Worktrees of ")
        assert (desk.tab, desk.draft) == (desk.tabs[0], "no\nchoice")


async def test_a_command_of_the_users_runs_in_each_worktree(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_other(monkeypatch)
    async with open_desk(SESSION, OWN) as desk:
        await start_both(desk)
        await desk.press("escape")
        await desk.send("/compare grep two a.txt")
        await desk.shows("· grep two a.txt", "exit 0", "exit 1")
        first, second = desk.rows
        assert first.below.startswith("exit 0")
        assert second.below.startswith("exit 1")


async def test_a_narrow_screen_shows_what_changed_and_how_the_command_ended(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_other(monkeypatch)
    async with open_desk(SESSION, OWN) as desk:
        await start_both(desk)
        await desk.press("escape")
        await desk.send("/compare true")
        await desk.shows("exit 0")
        await desk.pilot.resize_terminal(40, 12)
        await desk.shows("scripted 2 files +2", "other 2 files +2 -1", "Esc close")
        assert desk.words.count("exit 0") == 2


async def test_the_command_waits_for_an_agent_that_still_works(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_other(monkeypatch)
    async with open_desk(SESSION, OWN.replace('two\\n")', 'two\\n", waits=True)')) as desk:
        await start_both(desk)
        await desk.press("escape")
        await desk.send("/compare true")
        await desk.shows("exit 0", "working")
        assert [row.below.startswith("exit 0") for row in desk.rows] == [False, True]
        desk.let_go_on()
        await desk.until(lambda: all(row.below.startswith("exit 0") for row in desk.rows))


async def test_the_comparison_leads_to_a_question_in_a_tab_that_was_never_in_front(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    asks = 'ask("allow_once", "reject_once", session="s9")\n    outcome()'
    list_other(monkeypatch, OTHER.replace("folder = ", f"{asks}\n    folder = "))
    async with open_desk(SESSION, OWN) as desk:
        make_repository(desk.tabs[0].cwd, ONE_FILE)
        await desk.has_session()
        await desk.send("/several Fix a.txt")
        await desk.shows("1 chosen")
        await desk.press("down", "space", "enter")
        await desk.shows("Worktrees of ", "needs you · Delete everything", "Enter go there")
        await desk.press("down", "enter")
        await desk.hides("Worktrees of ")
        assert desk.tab is desk.tabs[2]
        await desk.shows("Delete everything")
        assert not desk.notices, "its card has room"
        await desk.until(lambda: isinstance(desk.pilot.app.focused, PermissionCard))


async def test_the_comparison_gives_way_to_the_keys_that_go_to_another_tab(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    asks = 'ask("allow_once", "reject_once", session="s9")\n    outcome()'
    list_other(monkeypatch, OTHER.replace("folder = ", f"{asks}\n    folder = "))
    async with open_desk(SESSION, OWN) as desk:
        make_repository(desk.tabs[0].cwd, ONE_FILE)
        await desk.has_session()
        await desk.send("/several Fix a.txt")
        await desk.shows("1 chosen")
        await desk.press("down", "space", "enter")
        await desk.shows("Worktrees of ", "needs you · Delete everything")
        await desk.press("alt+n")
        await desk.shows("Delete everything")
        assert desk.tab is desk.tabs[2]
        await desk.until(lambda: isinstance(desk.pilot.app.focused, PermissionCard))
        await desk.press("alt+1")
        await desk.until(lambda: desk.tab is desk.tabs[0])
        await desk.hides("Worktrees of ")
        await desk.send("/compare")
        await desk.shows("Worktrees of ")
        await desk.press("alt+2")
        await desk.until(lambda: desk.tab is desk.tabs[1])


async def test_the_comparison_leads_to_the_answer_of_an_agent_that_changed_nothing(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = 'update("agent_message_chunk", session="s9", content={"type": "text", "text": "Nothing to do"})'
    answers = OTHER.replace('folder.joinpath("a.txt").write_text(line)', said)
    list_other(monkeypatch, answers.replace('folder.joinpath("prompt.txt").write_text(said)', ""))
    async with open_desk(SESSION, OWN) as desk:
        make_repository(desk.tabs[0].cwd, ONE_FILE)
        await desk.has_session()
        await desk.send("/several Fix a.txt")
        await desk.shows("1 chosen")
        await desk.press("down", "space", "enter")
        await desk.shows("no changes", "Nothing to do", "Enter go there · F5 its changes")
        await desk.press("down", "enter")
        await desk.hides("Worktrees of ")
        assert desk.tab is desk.tabs[2]
        await desk.shows("Nothing to do")


async def test_a_review_copies_single_files_of_several(open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    list_other(monkeypatch)
    async with open_desk(SESSION, OWN) as desk:
        await start_both(desk)
        await desk.press("f5")
        await desk.shows("Changes of scripted", "a.txt", "prompt.txt")
        await desk.press("b")
        await desk.shows("a.txt is copied to ")
        home = desk.tabs[0].cwd
        assert home.joinpath("a.txt").read_text() == "one\ntwo\n"
        assert not home.joinpath("prompt.txt").exists()
        await desk.press("escape")
        await desk.shows("Worktrees of ")
        await desk.press("down", "f5")
        await desk.shows("Changes of other", "a.txt", "prompt.txt")
        await desk.press("b")
        await desk.shows("a.txt isn't copied: ")
        assert home.joinpath("a.txt").read_text() == "one\ntwo\n"


async def test_one_is_chosen_and_the_others_go_only_after_a_yes(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_other(monkeypatch)
    async with open_desk(SESSION, OWN) as desk:
        await start_both(desk)
        home, own, other = (one.cwd for one in desk.tabs)
        await desk.press("down", "ctrl+o")
        await desk.shows("Worktree other, the one you chose", "Copy its changes to ")
        await desk.press("down", "enter")
        await desk.shows("Worktree scripted, not chosen", "You lose ")
        assert home.joinpath("a.txt").read_text() == "three\n"
        await desk.press("escape")
        await desk.hides("Worktree scripted")
        await desk.shows("Worktrees of ")
        assert own.exists()
        assert not other.exists()
        assert len(desk.tabs) == 2


async def test_why_a_worktree_stays_is_said_in_the_comparison_and_in_no_other_dialog(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_other(monkeypatch)
    async with open_desk(SESSION, OWN) as desk:
        await start_both(desk)
        desk.tabs[0].cwd.joinpath("a.txt").write_text("mine\n")
        await desk.press("down", "ctrl+o")
        await desk.shows("Worktree other, the one you chose", "Copy its changes to ")
        await desk.press("down", "enter")
        await desk.shows("Worktrees of ", "Nothing was copied: ")
        await desk.press("escape")
        await desk.hides("Worktrees of ")
        await desk.shows("Nothing was copied: ")
        await desk.press("alt+2")
        await desk.until(lambda: desk.tabs[1].screen.is_current)
        await desk.press("alt+w")
        await desk.shows("Worktree scripted")
        assert "Nothing was copied" not in desk.text


async def test_tabs_in_one_worktree_are_one_row_that_is_asked_about_before_any_closes(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_other(monkeypatch)
    async with open_desk(SESSION, OWN + 'answer(expect("session/new"), sessionId="s3")') as desk:
        await start_both(desk)
        await desk.press("escape")
        home, own, _ = desk.tabs
        await desk.pilot.app.open_tab(desk.tabs[2].link, own.cwd)
        await desk.until(lambda: len(desk.tabs) == 4)
        await desk.send("/compare")
        await desk.shows("Worktrees of ")
        assert [row.label.split()[0] for row in desk.rows] == ["2,4", "3"]
        await desk.press("ctrl+o")
        await desk.shows("Worktree scripted, the one you chose", "Keep it", "Copy its changes to ")
        assert "You lose " not in desk.words
        assert len(desk.tabs) == 4
        await desk.press("enter")
        await desk.shows("Worktree other, not chosen")
        assert [tab.cwd.name for tab in desk.tabs] == [home.cwd.name, own.cwd.name, "other", own.cwd.name]


async def test_one_that_is_chosen_and_kept_stays_in_its_tab_in_front(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_other(monkeypatch)
    async with open_desk(SESSION, OWN) as desk:
        await start_both(desk)
        home, own, other = desk.tabs
        await desk.press("down", "ctrl+o")
        await desk.shows("Worktree other, the one you chose", "Keep it")
        await desk.press_slowly("enter")
        await desk.shows("Worktree scripted, not chosen")
        await desk.press("down", "down")
        await desk.press_slowly("enter")
        await desk.until(lambda: not own.cwd.exists())
        assert (desk.tab, desk.tabs) == (other, [home, other])
        assert other.cwd.exists()


async def test_only_what_was_started_together_is_compared_at_once(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_other(monkeypatch)
    begun = 'answer(expect("session/new"), sessionId="s5")'
    async with open_desk(SESSION, begun + OWN) as desk:
        await begin_earlier(desk)
        await desk.press("alt+1")
        await desk.send("/several Fix a.txt")
        await desk.shows("1 chosen")
        await desk.press("down", "space", "enter")
        await desk.shows("Worktrees of ")
        assert [row.label.split()[0] for row in desk.rows] == ["3", "4"]
        await desk.until(lambda: all(one.cwd.joinpath("prompt.txt").exists() for one in desk.tabs[2:]))


async def test_a_tab_in_a_worktree_starts_and_compares_those_beside_it(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_other(monkeypatch)
    begun = 'answer(expect("session/new"), sessionId="s5")'
    async with open_desk(SESSION, begun + OWN) as desk:
        await begin_earlier(desk)
        await desk.send("/several Fix a.txt")
        await desk.shows("1 chosen")
        await desk.press("down", "space", "enter")
        await desk.shows("Worktrees of ")
        assert [row.label.split()[0] for row in desk.rows] == ["3", "4"]
        await desk.until(lambda: all(one.cwd.joinpath("prompt.txt").exists() for one in desk.tabs[2:]))
        assert desk.tab is desk.tabs[1]
        await desk.press("escape")
        await desk.hides("Worktrees of ")
        await desk.send("/compare")
        await desk.shows("Worktrees of ")
        assert [row.label.split()[0] for row in desk.rows] == ["2", "3", "4"]


async def test_nothing_starts_outside_a_repository_or_with_one_agent(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_other(monkeypatch)
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.send("/several Fix it")
        await desk.shows("not a git repository", "/several Fix it")
        make_repository(desk.tabs[0].cwd, ONE_FILE)
        await desk.press("enter")
        await desk.shows("1 chosen")
        await desk.press_slowly("enter")
        await desk.shows("Space chooses the one at the cursor")
        await desk.press("escape")
        await desk.shows("/several Fix it")
        assert len(desk.tabs) == 1


async def test_no_more_than_five_are_chosen_and_backspace_takes_back_one_space(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_other(monkeypatch)
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        make_repository(desk.tabs[0].cwd, ONE_FILE)
        await desk.has_session()
        await desk.send("/several Fix it")
        await desk.shows("1 chosen")
        await desk.press(*["space"] * 6)
        await desk.shows("5× ", "5 chosen")
        await desk.shows("Space one more · Backspace one fewer")
        await desk.press("backspace")
        await desk.shows("4× ", "4 chosen")
        await desk.press(*["backspace"] * 5)
        await desk.shows("0 chosen")


async def test_without_worktrees_there_is_nothing_to_compare(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.send("/compare")
        await desk.shows("No tab works in a worktree of this repository")
