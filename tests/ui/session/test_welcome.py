"""An empty session shows its agent, folder, recent sessions, and how to begin, until the first prompt."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from textual.events import Key

from acp_tui.client.safe_git import branch_of
from acp_tui.client.sessions.session_history import left_in, remember_left
from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.transcript.index import SessionIndex
from acp_tui.client.transcript.recording_plan import RecordingPlan, recording_store
from acp_tui.conversation.facts import OfferedCommand
from acp_tui.conversation.updates import ClientRemark, CommandsReplaced
from acp_tui.ui.app.app import AcpTuiApp
from acp_tui.ui.commands.keymap import DEFAULT_KEYMAP, Keymap
from acp_tui.ui.prompt.input import PromptInput
from acp_tui.ui.session.panel import SessionPanel
from acp_tui.ui.session.welcome import Welcome
from acp_tui.ui.tab.sessions import TIPS, Welcoming
from acp_tui.ui.tab.stage import Live
from support.desks import SESSION, OpenDesk
from support.folding import prompt
from support.recordings import demo, open_in_process, play
from support.screens import Page, new_session, open_page

WAYS = ("@    attach a file", "/    commands", "!    run a command in", "F1   help")


@asynccontextmanager
async def open_greeted(greeting: str) -> AsyncIterator[Page]:
    async with open_page(is_shown=False) as page:
        session = new_session()
        panel = SessionPanel(session.conversation, session, greeting=greeting)
        page.tab.panels.panel_of = lambda _: panel  # type: ignore[method-assign]
        await page.tab.screen.show_stage(Live(session))
        await page.settled()
        yield page


async def test_an_empty_session_says_what_can_be_typed() -> None:
    async with open_page() as page:
        assert all(way in page.text for way in WAYS)


async def test_it_is_gone_as_soon_as_something_is_said() -> None:
    async with open_page() as page:
        await page.apply(prompt("go"))
        assert not any(way in page.text for way in WAYS)


async def test_a_session_in_which_something_was_said_says_nothing_of_it() -> None:
    async with open_page(prompt("go")) as page:
        assert not any(way in page.text for way in WAYS)


async def test_a_word_of_the_clients_own_leaves_it_there() -> None:
    async with open_page(ClientRemark("MCP servers: web was left out")) as page:
        assert "web was left out" in page.text
        assert all(way in page.text for way in WAYS)


async def test_commands_are_named_when_the_agent_tells_them() -> None:
    async with open_page() as page:
        await page.apply(CommandsReplaced((OfferedCommand("plan", "Make a plan"), OfferedCommand("te\x1bst", "Test"))))
        assert "/    commands: plan, te␛st" in page.text


async def test_a_family_of_commands_is_named_once_and_no_name_is_cut() -> None:
    names = ("memory", "memory show", "memory refresh", "mcp:list", "mcp:auth", "compress", "directory", "extensions")
    async with open_page(size=(60, 24)) as page:
        await page.apply(CommandsReplaced(tuple(OfferedCommand(name, "") for name in names)))
        assert "/    commands: memory, mcp, compress, directory, …" in page.text


async def test_what_its_command_has_to_say_of_an_agent_stands_above() -> None:
    async with open_greeted("Type anything to start it.") as page:
        assert page.text.index("Type anything to start it.") < page.text.index(WAYS[0])


async def test_in_few_lines_it_says_the_same_shorter() -> None:
    async with open_page(size=(80, 12)) as page:
        assert not any(way in page.text for way in WAYS)
        assert "@ file   / command   ! shell   F1 help" in page.text


@pytest.mark.parametrize("size", [(40, 12), (60, 20), (80, 24), (200, 60)])
async def test_the_first_prompt_stands_where_the_welcome_stood(size: tuple[int, int]) -> None:
    async with open_page(size=size) as page:
        top = next(at for at, line in enumerate(page.lines) if "acp-tui" in line)
        await page.apply(prompt("How are zebras made?"))
        assert "How are zebras made?" in page.lines[top]
        assert "acp-tui" not in page.text


async def test_what_the_client_says_of_the_session_stays_where_it_is() -> None:
    async with open_page(ClientRemark("MCP servers: web was left out")) as page:
        before = page.lines.index(next(line for line in page.lines if "left out" in line))
        assert "acp-tui" in "".join(page.lines[before + 1 : before + 3])
        await page.apply(prompt("go"))
        assert "left out" in page.lines[before]


async def test_it_names_the_agent_with_its_version_the_model_and_the_folder(open_desk: OpenDesk) -> None:
    options = (
        '[{"id": "m", "name": "Model", "category": "model", "type": "select", "currentValue": "big",'
        ' "options": [{"value": "big", "name": "Big \x1b one"}]}]'
    )
    script = 'handshake(agentInfo={"name": "x", "title": "Xavier", "version": "1.2"})\nimport json\n'
    script += f"answer(expect('session/new'), sessionId='s1', configOptions=json.loads({options!r}, strict=False))"
    async with open_desk(script, "serve_until_closed()") as desk:
        await desk.shows("agent Xavier 1.2", "model Big ␛ one", "folder /", "Tip:")


# Recent sessions


@pytest.fixture
async def past(tmp_path: Path) -> None:
    """An earlier session in the folder, with some text."""
    plan = RecordingPlan(tmp_path, store=recording_store(RecordingSettings()))
    await play(replace(demo("markdown"), name="other"), plan, prompts=("How are zebras made?",))


async def test_a_recent_session_that_was_deleted_elsewhere_goes_when_the_tab_is_back(
    past: None, tmp_path: Path, open_desk: OpenDesk
) -> None:
    second = 'answer(expect("session/new"), sessionId="s2")\nserve_until_closed()'
    async with open_desk(SESSION, second) as desk:
        await desk.shows("1 How are zebras made?")
        await desk.press("ctrl+n")
        await desk.until(lambda: len(desk.tabs) == 2 and desk.tab is desk.tabs[1])
        await desk.shows("1 How are zebras made?")
        index = SessionIndex(recording_store(RecordingSettings()))
        index.forget(index.recent(tmp_path)[0])
        await desk.press("alt+1")
        await desk.hides("How are zebras made?")


@pytest.fixture
async def left(past: None, tmp_path: Path) -> list[str]:
    """Two of them, which were open in tabs, as was one that is recorded nowhere. Their IDs."""
    store = recording_store(RecordingSettings())
    another = replace(demo("markdown"), name="another")
    another = replace(another, argv=(*another.argv, "--own-ids"))
    await play(another, RecordingPlan(tmp_path, store=store), prompts=("And lions?",))
    left = [*(one.session_id for one in SessionIndex(store).recent(tmp_path)), "unrecorded"]
    remember_left(tmp_path, lambda: (left, ()))
    return left


async def test_recent_sessions_of_the_folder_are_numbered(past: None, open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.shows("Recent sessions here: Tab, then 1", "1 How are zebras made?", "1 prompt")


async def test_recent_sessions_say_at_once_which_are_open_elsewhere(past: None, open_desk: OpenDesk) -> None:
    with open_in_process(4711):
        async with open_desk(SESSION, "serve_until_closed()") as desk:
            await desk.shows("1 How are zebras made? open elsewhere")


async def test_tab_and_the_number_open_one_also_at_once(past: None, open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.shows("1 How are zebras made?")
        await desk.press_at_once("tab", "1")
        await desk.shows("demo-1 wasn't opened", "Read back from its recording")


async def test_tab_and_the_number_open_one(past: None, open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.shows("1 How are zebras made?")
        await desk.press("tab")
        await desk.shows("1 or Enter opens one")
        await desk.press("1")
        await desk.shows("demo-1 wasn't opened", "Read back from its recording")  # as with Enter in the list of all


def tell_later(monkeypatch: pytest.MonkeyPatch) -> anyio.Event:
    """Have the recent sessions wait for this event."""
    may_tell, tell = anyio.Event(), Welcoming.tell

    async def tell_then(self: Welcoming, welcome: Welcome) -> None:
        await may_tell.wait()
        await tell(self, welcome)

    monkeypatch.setattr(Welcoming, "tell", tell_then)
    return may_tell


async def test_recent_sessions_that_come_late_move_nothing(
    past: None, open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_tell = tell_later(monkeypatch)
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.until(lambda: "folder" in desk.text and all(way in desk.text for way in WAYS))
        before = "\n".join(desk.lines).partition(WAYS[-1])[0]
        may_tell.set()
        await desk.shows("1 How are zebras made?", "Tip:")
        assert "\n".join(desk.lines).startswith(before)


@pytest.mark.parametrize("is_started", [False, True])
async def test_tab_and_a_number_before_the_recent_sessions_are_there_wait_for_them(
    is_started: bool, past: None, open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_tell = tell_later(monkeypatch)
    late = 'handshake()\nnew = expect("session/new")\nexpect("_go_on")\nanswer(new, sessionId="s1")\n'
    async with open_desk(SESSION if is_started else late, "serve_until_closed()") as desk:
        if is_started:
            await desk.has_session()
        else:
            await desk.shows("opening a session")
        await desk.press("tab", "1")
        assert desk.draft == ""
        if not is_started:
            desk.let_go_on()
        may_tell.set()
        await desk.shows("demo-1 wasn't opened", "Read back from its recording")


async def test_what_is_typed_after_tab_goes_to_the_draft_if_there_are_no_recent_sessions(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.press("tab", "1")
        await desk.has_session()
        await desk.until(lambda: desk.draft == "1")
        await desk.press("a")
        assert desk.draft == "1a"


async def test_text_after_a_number_that_was_typed_ahead_is_a_prompt(past: None, open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.press("tab", "1", "a")
        assert desk.draft == "1a"
        await desk.shows("1 How are zebras made?")
        assert len(desk.tabs) == 1


async def test_the_tabs_that_were_open_are_one_row_that_opens_them_all(
    left: list[str], tmp_path: Path, open_desk: OpenDesk
) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.shows("1 The 2 tabs that you had open", "2 And lions?", "3 How are zebras made?")
        counts = list[int]()
        desk.pilot.app.tabs.listeners.append(lambda: counts.append(len(desk.tabs)))
        await desk.press("tab", "1")
        await desk.until(lambda: [tab.title for tab in desk.tabs] == ["And lions?", "How are zebras made?"])
        assert max(counts) == 2  # the first one takes the place of the empty session, so that no number changes later


async def test_what_is_left_at_the_end_is_what_was_open(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, 'expect("session/prompt")\nserve_until_closed()') as desk:
        await desk.has_session()
        await desk.give("Count the stars")
        assert [one.session_id for one in desk.pilot.app.left_sessions()] == ["s1"]
        assert left_in(desk.tabs[0].cwd) == ["s1"]


async def test_what_is_open_is_remembered_before_the_end_which_may_be_a_kill(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, 'expect("session/prompt")\nserve_until_closed()') as desk:
        await desk.has_session()
        assert left_in(desk.tabs[0].cwd) == []
        await desk.give("Count the stars")
        await desk.until(lambda: left_in(desk.tabs[0].cwd) == ["s1"])


async def test_a_tab_that_is_open_in_another_acp_tui_is_not_offered_but_stays_remembered(
    left: list[str], tmp_path: Path, open_desk: OpenDesk
) -> None:
    with open_in_process(4711):
        async with open_desk(SESSION, "serve_until_closed()") as desk:
            await desk.shows("1 And lions?", "2 How are zebras made?")
            assert "that you had open" not in desk.text
        remember_left(tmp_path, lambda: (["s1", "s2"], ()))
    assert left_in(tmp_path) == [*left, "s1", "s2"]


async def test_who_says_something_else_where_they_are_offered_is_done_with_them(
    left: list[str], tmp_path: Path, open_desk: OpenDesk
) -> None:
    async with open_desk(SESSION, 'expect("session/prompt")\nserve_until_closed()') as desk:
        await desk.shows("1 The 2 tabs that you had open")
        await desk.give("Count the stars")
        await desk.until(lambda: left_in(tmp_path) == ["unrecorded", "s1"])


async def test_one_tab_that_was_open_is_a_recent_session_and_named_beside_others(
    past: None, tmp_path: Path, open_desk: OpenDesk
) -> None:
    remember_left(tmp_path, lambda: (["demo-1"], ()))
    more = 'answer(expect("session/new"), sessionId="s2")\n'
    async with open_desk(SESSION, more, "serve_until_closed()") as desk:
        await desk.shows("1 How are zebras made?")
        assert "that you had open" not in desk.text
        await desk.press("ctrl+n")
        await desk.shows("1 The other tab that you had open", "2 How are zebras made?")


async def test_a_prompt_may_begin_with_a_digit(past: None, open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.shows("1 How are zebras made?")
        await desk.press("1")
        assert desk.draft == "1"
        await desk.press("tab", "x")
        assert desk.draft == "1x"
        assert len(desk.tabs) == 1


async def test_a_digit_that_arrives_together_with_a_letter_before_it_opens_no_session(
    past: None, open_desk: OpenDesk
) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.shows("1 How are zebras made?")
        await desk.press("tab")
        for key in "wt1":
            desk.pilot.app.post_message(Key(key, key))
        await desk.settled()
        assert desk.draft == "wt1"
        assert len(desk.tabs) == 1


async def test_escape_leads_back_to_the_prompt(past: None, open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.shows("1 How are zebras made?")
        await desk.press("tab", "escape", "1")
        assert desk.draft == "1"


async def test_without_recent_sessions_tab_has_nowhere_to_go() -> None:
    async with open_page() as page:
        await page.press("tab")
        assert isinstance(page.pilot.app.focused, PromptInput)  # not the conversation, which is hidden
        await page.press("a")
        assert page.draft == "a"
        assert "Recent" not in page.text


def test_every_tip_names_keys_that_there_are() -> None:
    assert [tip for tip in TIPS if not DEFAULT_KEYMAP.hint(tip) or "{" in DEFAULT_KEYMAP.hint(tip)] == []


# The branch


@pytest.mark.parametrize(
    ("head", "branch"),
    [
        ("ref: refs/heads/fix/parser\n", "fix/parser"),
        ("0123456789abcdef0123456789abcdef01234567\n", "01234567"),
        ("", ""),
    ],
)
def test_the_branch_is_read_from_the_repository_above(tmp_path: Path, head: str, branch: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(head)
    (tmp_path / "src").mkdir()
    assert branch_of(tmp_path / "src") == branch


def test_the_branch_of_a_worktree_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "HEAD").write_text("ref: refs/heads/side\n")
    (tmp_path / ".git").write_text("gitdir: real\n")
    assert branch_of(tmp_path) == "side"


def test_a_pipe_in_the_place_of_the_file_holds_nobody_up(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git" / "HEAD")
    assert branch_of(tmp_path) == ""


async def test_the_key_for_help_is_the_one_in_force() -> None:
    async with open_page() as page:
        app = page.pilot.app
        assert isinstance(app, AcpTuiApp)
        app.keymap = Keymap({**app.keymap.keys, "help": ("f11",)})
        await page.settled()
        assert "F11  help" in page.text
