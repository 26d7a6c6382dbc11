"""Taking things out of a conversation by keys: files in the editor, what the agent attached, replies, exports."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from rich.style import Style
from textual.app import App

from acp_tui.client.settings.settings import Appearance
from acp_tui.conversation.content import (
    Annotations,
    Audio,
    BlobResource,
    ContentBlock,
    Image,
    Text,
    TextResource,
)
from acp_tui.conversation.entries import EntryId, Message
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.tool_calls import BlockContent, Location, TextDiff
from acp_tui.conversation.updates import MessageChunk, PromptSent, SessionUpdate, SubagentSaid
from acp_tui.ui.base.app import BaseApp
from acp_tui.ui.conversation.view import ConversationView
from acp_tui.ui.tab.taking_out import attached_to, locations_of, named_since
from support.desks import Desk
from support.folding import agent, call, fold, prompt
from support.screens import RecordedConnection, ScreenApp, new_session, show

HELLO = b64encode(b"hello").decode()
IMAGE = Image(HELLO, "image/png", "file:///project/chart.png")
AUDIO = Audio(HELLO, "audio/wav")
BLOB = BlobResource("file:///project/data.z", HELLO, "application/zlib")
TEXT = TextResource("file:///project/notes.md", "# Notes\n")

OpenPage: TypeAlias = Callable[..., AbstractAsyncContextManager[Desk]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The folder where the session works."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("a.py", "b.py"):
        (folder / name).write_text("1\n")
    return folder


@pytest.fixture
def open_project(project: Path) -> OpenPage:
    """Opens a screen with a session in the project that has received these updates."""

    @asynccontextmanager
    async def opened(*updates: SessionUpdate) -> AsyncIterator[Desk]:
        app, connection = ScreenApp(), RecordedConnection()
        session = new_session(*updates, connection=connection)
        session.cwd = project
        async with app.run_test(size=(100, 30), notifications=True) as pilot:
            await show(pilot, session)
            yield Desk(pilot, session, connection, app.clock)

    return opened


@pytest.fixture
def edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Returns the arguments of each run of an editor named vi."""
    editor, record = tmp_path / "vi", tmp_path / "runs"
    editor.write_text(f'#!/bin/sh\necho "$@" >> {record}\n')
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    monkeypatch.setattr(App, "suspend", lambda _: nullcontext())
    return lambda: record.read_text().splitlines() if record.exists() else []


def _works_on(call_id: str, *places: Location) -> SessionUpdate:
    return call(call_id, title=f"Call {call_id}", kind="edit", status="completed", locations=places)


def _shows(*blocks: ContentBlock, call_id: str = "c") -> SessionUpdate:
    content: Any = tuple(map(BlockContent, blocks))
    return call(call_id, title="Draw", kind="other", status="completed", content=content)


# Files in the editor


async def test_the_file_of_the_call_under_the_cursor_is_opened_at_its_line(
    project: Path, open_project: OpenPage, edited: Callable[[], list[str]]
) -> None:
    calls = (
        _works_on("1", Location(str(project / "a.py"), 7)),
        _works_on("2", Location(str(project / "b.py"))),
    )
    async with open_project(*calls) as page:
        await page.press("tab", "ctrl+e")
        await page.shows("Opened in your editor: b.py")
        await page.press("up", "ctrl+e")
        await page.shows("Opened in your editor: a.py:7")
    assert edited() == [str(project / "b.py"), f"+7 {project / 'a.py'}"]


async def test_the_user_chooses_one_of_several_places(
    project: Path, open_project: OpenPage, edited: Callable[[], list[str]]
) -> None:
    places = (Location(str(project / "a.py"), 1), Location(str(project / "b.py"), 3))
    async with open_project(_works_on("1", *places)) as page:
        await page.press("tab", "ctrl+e")
        await page.shows("Which file do you want to open?", "a.py:1", "b.py:3")
        await page.press("escape", "ctrl+e")
        await page.shows("Which file do you want to open?")
        await page.press("down", "enter")
        await page.shows("Opened in your editor: b.py:3")
    assert edited() == [f"+3 {project / 'b.py'}"]


async def test_the_palette_opens_the_file_of_the_entry_that_the_cursor_is_on(
    project: Path, open_project: OpenPage, edited: Callable[[], list[str]]
) -> None:
    calls = (
        _works_on("1", Location(str(project / "a.py"))),
        _works_on("2", Location(str(project / "b.py"))),
    )
    async with open_project(*calls) as page:
        await page.press("tab", "up")
        await page.choose("Open a tool call's file in your editor")
        await page.shows("Opened in your editor: a.py")
    assert edited() == [str(project / "a.py")]


async def test_without_a_cursor_it_is_the_last_call_that_names_a_file(
    project: Path, open_project: OpenPage, edited: Callable[[], list[str]]
) -> None:
    async with open_project(_works_on("1", Location(str(project / "a.py"))), agent("Done.")) as page:
        await page.choose("Open a tool call's file in your editor")
        await page.shows("Opened in your editor: a.py")
    assert edited() == [str(project / "a.py")]


async def test_a_path_elsewhere_is_opened_and_shown_whole_and_visible(
    tmp_path: Path, open_project: OpenPage, edited: Callable[[], list[str]]
) -> None:
    outside = tmp_path / "out\u202eside"
    outside.write_text("")
    async with open_project(_works_on("1", Location(f"../{outside.name}"))) as page:
        await page.press("tab", "ctrl+e")
        await page.shows("Opened in your editor: ../out⟨U+202E⟩side")
    assert len(edited()) == 1


async def test_a_file_that_does_not_exist_is_said_and_no_editor_started(
    open_project: OpenPage, edited: Callable[[], list[str]]
) -> None:
    paths = ("/no/such/file", "x" * 5_000, "nul\0", "\ud800")
    async with open_project(*(_works_on(str(number), Location(path)) for number, path in enumerate(paths))) as page:
        await page.press("tab")
        for path in reversed(paths):
            before = page.notices
            await page.press("ctrl+e")
            await page.until(lambda before=before: page.notices is not before)
            assert page.notices[-1].message.startswith("There is no file"), path
            await page.press("up")
    assert edited() == []


async def test_an_entry_without_a_file_is_said(open_project: OpenPage, edited: Callable[[], list[str]]) -> None:
    async with open_project(agent("Done.")) as page:
        assert "Open a tool call's file in your editor" not in await page.offers()
        await page.do("edit_location")
        await page.shows("The conversation names no file.")
        await page.press("tab", "ctrl+e")
        await page.shows("This entry names no file.")
    assert edited() == []


def test_a_place_is_named_once_and_a_changed_file_where_no_place_is_in_it() -> None:
    places = (Location("/a", 1), Location("/a", 1, {"x": 1}), Location("/a", 2))
    diffs = (TextDiff("/a", "1"), TextDiff("/b", "1"), TextDiff("/b", "2"))
    [entry] = fold(call("c", locations=places, content=diffs)).entries
    assert [(one.path, one.line) for one in locations_of(entry)] == [("/a", 1), ("/a", 2), ("/b", None)]


def test_the_agents_files_are_those_that_a_call_names_however_it_does(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "project").symlink_to("real")
    said = fold(
        prompt("before"),
        call("0", locations=(Location("before.py"),)),
        prompt("now"),
        call("1", kind="edit", locations=(Location(f"{tmp_path}/project/place.py"),)),
        call("2", kind="edit", content=(TextDiff(f"{tmp_path}/real/src/../diff.py", "1"),)),
        call("3", raw_input={"file_path": "src/input.py", "path": 1}),
        SubagentSaid(SessionId("helper"), call("4", locations=(Location("helper.py"),))),
        call("5", kind="read", locations=(Location("read.py"),)),
        call("6", kind="edit", status="failed", locations=(Location("failed.py"),)),
        call("7", kind="edit", status="cancelled", locations=(Location("cancelled.py"),)),
    )
    _, now = (EntryId(at) for at, entry in enumerate(said.entries) if isinstance(entry, Message))
    assert named_since(said, now, tmp_path / "project") == {"place.py", "diff.py", "src/input.py", "helper.py"}


# Attachments


ATTACHED = (
    (IMAGE, "chart.png", b"hello"),
    (AUDIO, "audio.wav", b"hello"),
    (BLOB, "data.z", b"hello"),
    (TEXT, "notes.md", b"# Notes\n"),
)


async def test_what_the_entry_under_the_cursor_attached_is_saved_in_the_sessions_folder(
    project: Path, open_project: OpenPage
) -> None:
    entries = (_shows(block, call_id=name) for block, name, _ in ATTACHED)
    async with open_project(*entries) as page:
        await page.press("tab")
        for _, name, content in reversed(ATTACHED):
            await page.press("ctrl+s")
            await page.until(lambda name=name: (project / name).exists())  # type: ignore[misc]
            await page.shows("Saved as", name)
            assert (project / name).read_bytes() == content, name
            await page.press("up")


async def test_the_user_chooses_one_of_several_blocks(project: Path, open_project: OpenPage) -> None:
    blocks = (MessageChunk("agent", block, "m") for block in (Text("Look:"), IMAGE, AUDIO))
    async with open_project(*blocks) as page:
        await page.choose("Save what the agent attached")
        await page.shows("Which one do you want to save?", "chart.png", "audio: WAV")
        await page.press("down", "enter")
        await page.shows("Saved as", "audio.wav")
    assert {each.name for each in project.iterdir()} == {"a.py", "b.py", "audio.wav"}


async def test_what_cannot_be_saved_is_said(project: Path, open_project: OpenPage) -> None:
    async with open_project(_shows(Audio("no base64", "audio/wav"))) as page:
        await page.press("tab", "ctrl+s")
        await page.shows("It can't be saved: the agent's data")
    assert len(list(project.iterdir())) == 2


async def test_an_entry_with_nothing_attached_is_said(open_project: OpenPage) -> None:
    async with open_project(_shows(IMAGE), agent("Done.")) as page:
        await page.press("tab", "ctrl+s")
        await page.shows("This entry has nothing attached.")


def test_what_is_the_users_own_or_the_models_is_not_what_the_agent_attached() -> None:
    for_the_model = Image(HELLO, "image/png", annotations=Annotations(("assistant",)))
    entries = fold(PromptSent((Text("See:"), IMAGE)), prompt("And?"), _shows(for_the_model, Text("see"), AUDIO)).entries
    assert [block for entry in entries for block in attached_to(entry)] == [AUDIO]


# Replies, and all that was said


async def test_the_message_at_the_cursor_is_copied_also_if_it_is_not_the_last(open_project: OpenPage) -> None:
    async with open_project(prompt("go"), agent("Done.")) as page:
        await page.press("tab", "up")
        await page.choose("Copy the agent's last reply")
        await page.shows("Copied 2 characters through the terminal")
        assert page.pilot.app.clipboard == "go"


async def test_an_export_overwrites_a_file_only_at_a_second_enter(project: Path, open_project: OpenPage) -> None:
    (project / "talk.jsonl").write_text("mine")
    async with open_project(prompt("go"), agent("Done.")) as page:
        await page.choose("Write the conversation to a file")
        await page.shows("Write the conversation to a file", ".md or .jsonl")
        field = page.pilot.app.screen.query_one("#file")
        assert field.value.startswith("~/")  # not the project, where it would be one of its changes
        field.value = "talk.doc"
        await page.press_slowly("enter")
        await page.shows(".jsonl")
        field.value = "/export talk.md"
        await page.press("enter")
        await page.shows("Write only the file, without /export.")
        field.value = "talk.jsonl"
        await page.press("enter")
        await page.shows("Enter again replaces it")
        assert (project / "talk.jsonl").read_text() == "mine"
        await page.press("enter")
        await page.shows("Known secrets, names, and folders aren't masked in it")
        assert "Done." in (project / "talk.jsonl").read_text()


async def test_a_file_that_is_named_is_written_without_a_question(project: Path, open_project: OpenPage) -> None:
    (project / "there.md").write_text("mine")
    async with open_project(prompt("go"), agent("Done.")) as page:
        await page.send("/export out.md")
        await page.shows("Known secrets, names, and folders aren't masked in it")
        assert "Done." in (project / "out.md").read_text()
        await page.send("/export there.md")
        await page.shows("Enter again replaces it")
        assert (project / "there.md").read_text() == "mine"


# Links


async def _click_with_control(page: Desk, text: str) -> None:
    """Ctrl+click the first cell of this text on the screen."""
    rows = page.lines
    row = next(at for at, line in enumerate(rows) if text in line)
    await page.pilot.click(offset=(rows[row].index(text), row), control=True)


async def test_a_click_with_control_opens_a_file_in_the_editor(
    project: Path, open_project: OpenPage, edited: Callable[[], list[str]]
) -> None:
    said = MessageChunk("agent", Text("See `./b.py:3` and [this](gone.py)."), "m")
    async with open_project(_works_on("1", Location(str(project / "a.py"), 7)), said) as page:
        await _click_with_control(page, "a.py:7")
        await page.shows("Opened in your editor")
        await _click_with_control(page, "./b.py:3")
        await _click_with_control(page, "this")
        await page.shows("There is no file")
    assert edited() == [f"+7 {project / 'a.py'}", f"+3 {project / 'b.py'}"]


async def test_a_click_with_control_opens_a_page_in_the_browser(
    open_project: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    visited: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: not visited.append(url))
    said = MessageChunk("agent", Text("Read <https://a.example/x> first."), "m")
    async with open_project(said) as page:
        await _click_with_control(page, "Read")
        await _click_with_control(page, "https://")
        await page.shows("Opened in your browser: https://a.example/x")
    assert visited == ["https://a.example/x"]


async def test_links_can_be_turned_off(project: Path, open_project: OpenPage) -> None:
    async with open_project(_works_on("1", Location(str(project / "a.py"), 7))) as page:
        view = page.pilot.app.screen.query_one(ConversationView)
        assert any(style.link for style in _styles(view))
        app = page.pilot.app
        assert isinstance(app, BaseApp)
        app.looks.use(Appearance(links=False))
        assert not any(style.link for style in _styles(view))


def _styles(view: ConversationView) -> list[Style]:
    rows = map(view.render_line, range(view.size.height))
    return [segment.style for row in rows for segment in row if segment.style is not None]
