"""The settings while the app runs: reading, asking, following, and writing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from acp_tui.client.errors import SettingsError
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.settings.location import leaves
from acp_tui.client.settings.project_settings import FILE_NAME, ProjectSettings
from acp_tui.client.settings.reader import SettingsRead
from acp_tui.client.settings.settings import Appearance, Settings
from acp_tui.ui.app.app import AcpTuiApp
from acp_tui.ui.app.settings.follower import PROGRAMS, LiveSettings
from acp_tui.ui.app.settings.screen import SettingsScreen
from acp_tui.ui.dialogs.trust import TrustSettingsDialog
from support.agents import scripted
from support.desks import SESSION, OpenDesk
from support.settling import until_so
from support.waiting import LIMIT_S


class App:
    """Records what it is told, and answers as set."""

    def __init__(self) -> None:
        self.settings = Settings()
        self.said: list[str] = []
        self.notes: list[str] = []
        self.asked: list[ProjectSettings] = []
        self.is_trusting = True
        self.changed = anyio.Event()

    def use_settings(self, settings: Settings) -> tuple[str, ...]:
        """Record them."""
        self.settings = settings
        self.changed.set()
        self.changed = anyio.Event()
        return ()

    def say(self, text: str, *, is_wrong: bool = False) -> None:
        """Record it."""
        self.said.append(text)

    def tell_notes(self, notes: Sequence[str]) -> None:
        """Record them."""
        self.notes += notes

    async def trusts(self, project: ProjectSettings, user: SettingsRead) -> bool:
        """Answer as set."""
        self.asked.append(project)
        return self.is_trusting


@pytest.fixture
def app() -> App:
    return App()


@pytest.fixture
def desk(app: App, tmp_path: Path) -> LiveSettings:
    (tmp_path / "config").mkdir()
    (tmp_path / "project").mkdir()
    return LiveSettings(app, tmp_path / "config" / "settings.toml", tmp_path / "project")


def project(desk: LiveSettings, text: str) -> None:
    (desk.project_file.parent / FILE_NAME).write_text(text)


@asynccontextmanager
async def following(desk: LiveSettings) -> AsyncIterator[None]:
    await desk.open()
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(desk.follow)
            await anyio.wait_all_tasks_blocked()
            yield
            tasks.cancel_scope.cancel()


# What applies


async def test_what_stands_in_the_users_file_holds_from_the_start(app: App, desk: LiveSettings) -> None:
    desk.file.write_text("appearance.ascii = true\nconversation.diff_lines = 'x'")

    await desk.open()

    assert app.settings.appearance.ascii
    assert [desk.origin(key) for key in ("appearance.ascii", "appearance.theme")] == ["yours", "default"]
    assert "conversation.diff_lines is" in desk.notes[0]
    assert app.asked == []


async def test_a_project_is_asked_about_once_and_narrows(app: App, desk: LiveSettings) -> None:
    project(desk, "workspace.write = 'off'")

    await desk.open()
    again = LiveSettings(app, desk.file, desk.project_file.parent)
    await again.open()

    assert len(app.asked) == 1
    assert again.settings.workspace.write == "off"
    assert again.origin("workspace.write") == "project"


async def test_a_project_that_is_not_trusted_changes_nothing(app: App, desk: LiveSettings) -> None:
    project(desk, "workspace.write = 'off'")
    app.is_trusting = False

    await desk.open()

    assert (app.settings, desk.pending) == (Settings(), None)


async def test_nothing_waits_where_the_files_cannot_be_read(desk: LiveSettings) -> None:
    desk.file.write_text("[")
    project(desk, "[")

    await desk.open()

    with anyio.fail_after(LIMIT_S):
        await desk.ready()
    assert len(desk.notes) == 2


# As they change


async def test_an_edit_counts_at_once(app: App, desk: LiveSettings) -> None:
    async with following(desk):
        changed = app.changed
        desk.file.write_text("appearance.theme = 'nord'")
        await changed.wait()

    assert app.settings.appearance.theme == "nord"


async def test_after_a_wrong_edit_the_last_good_value_stays_and_the_others_count(app: App, desk: LiveSettings) -> None:
    desk.file.write_text("conversation.diff_lines = 3")
    await desk.open()
    desk.file.write_text("conversation.diff_lines = 'x'\nconversation.text_lines = 4")

    await desk.read_again()

    shown = app.settings.conversation
    assert (shown.diff_lines, shown.text_lines) == (3, 4)
    assert app.notes == list(desk.notes)
    assert app.notes[0].endswith("; the previous value stays in effect")


async def test_a_file_that_is_no_toml_any_more_changes_nothing(app: App, desk: LiveSettings) -> None:
    desk.file.write_text("conversation.diff_lines = 3")
    await desk.open()
    desk.file.write_text("conversation.diff_lines = ")

    await desk.read_again()

    assert app.settings.conversation.diff_lines == 3
    assert "can't be read" in app.notes[0]


async def test_a_program_that_the_file_names_later_is_not_run_and_that_is_said(app: App, desk: LiveSettings) -> None:
    """The file may have been written by an agent."""
    desk.file.write_text("notifications.command = ['mine']")
    await desk.open()
    desk.file.write_text("notifications.command = ['evil']\nappearance.ascii = true")
    await desk.read_again()
    await desk.set("appearance.reduced_motion", True)

    assert app.settings.notifications.command == ("mine",)
    assert app.settings.appearance.ascii  # everything else takes effect at once
    assert len(app.notes) == 1
    assert "notifications.command has changed" in app.notes[0]


async def test_a_program_that_the_user_sets_on_the_screen_counts_at_once(app: App, desk: LiveSettings) -> None:
    await desk.open()
    await desk.set("notifications.command", ["mine"])

    assert app.settings.notifications.command == ("mine",)
    assert desk.notes == ()


async def test_a_program_that_is_named_right_after_the_start_is_not_run(app: App, tmp_path: Path) -> None:
    """The file is read again when there is time; by then an agent is running."""
    desk = LiveSettings(app, tmp_path / "settings.toml", tmp_path, started_with=Settings())
    desk.file.write_text("notifications.command = ['evil']")
    await desk.open()

    assert app.settings.notifications.command == ()
    assert "notifications.command" in desk.notes[0]


def test_the_settings_that_run_programs_are_known() -> None:
    """A new setting whose name says so must be marked."""
    assert PROGRAMS == ("appearance.status_command", "notifications.command", "follow.command")
    named = {key for key, _ in leaves() if key.endswith(("command", "program", "editor", "wrapper"))}
    assert named == set(PROGRAMS)


async def test_what_counts_later_is_said(app: App, desk: LiveSettings) -> None:
    await desk.open()
    desk.file.write_text("workspace.write = 'ask'\nappearance.ascii = true")

    await desk.read_again()

    assert app.said == ["workspace.write: takes effect with the next agent."]


@pytest.mark.parametrize("text", ["workspace.write = 'on'", None])
async def test_what_a_trusted_project_said_holds_until_the_user_agrees_to_another(
    text: str | None, app: App, desk: LiveSettings
) -> None:
    project(desk, "workspace.write = 'off'")
    async with following(desk):
        changed = app.changed
        if text is None:
            desk.project_file.unlink()
        else:
            project(desk, text)
        await changed.wait()

    assert app.settings.workspace.write == "off"
    assert len(app.asked) == 1
    assert (desk.pending is not None) == (text is not None)


async def test_the_user_decides_on_a_changed_project_when_they_like(app: App, desk: LiveSettings) -> None:
    project(desk, "workspace.write = 'off'")
    async with following(desk):
        changed = app.changed
        project(desk, "workspace.read = 'ask'")
        await changed.wait()
    await desk.ask()

    assert (app.settings.workspace.read, app.settings.workspace.write) == ("ask", "ask-if-unasked")
    assert desk.pending is None


# Writing


async def test_what_is_set_is_written_and_holds(app: App, desk: LiveSettings) -> None:
    await desk.open()

    await desk.set("appearance.theme", "nord")

    assert app.settings.appearance.theme == "nord"
    assert desk.file.read_text() == '[appearance]\ntheme = "nord"\n'


async def test_a_reset_brings_the_default_back(app: App, desk: LiveSettings) -> None:
    desk.file.write_text("[keys]\nfind = 'ctrl+f'\n")
    await desk.open()
    assert desk.origin("keys.find") == "yours"

    await desk.set("keys.find", None)

    assert app.settings.keys == ()
    assert desk.origin("keys.find") == "default"


async def test_what_cannot_be_written_changes_nothing(app: App, desk: LiveSettings) -> None:
    desk.file.write_text("[")
    await desk.open()

    with pytest.raises(SettingsError, match="can't be changed"):
        await desk.set("appearance.theme", "nord")

    assert app.settings == Settings()


async def test_the_settings_open_with_the_question_about_a_projects_file_that_has_changed(tmp_path: Path) -> None:
    file = tmp_path / FILE_NAME
    file.write_text("workspace.read = 'off'")
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            command = scripted(SESSION + "serve_until_closed()")
            page = AcpTuiApp(hub, command, tmp_path, settings_file=tmp_path / "settings.toml")

            def is_changed_and_said() -> bool:
                file.write_text(file.read_text() + "\n")  # again, because nobody may watch it yet
                return any("has changed" in one.message for one in page.notices.shown)

            async with page.run_test(notifications=True) as pilot:
                await until_so(pilot, lambda: isinstance(page.screen, TrustSettingsDialog))
                await pilot.press("escape")
                await until_so(pilot, is_changed_and_said)
                await pilot.press("f12")
                await until_so(pilot, lambda: isinstance(page.screen, TrustSettingsDialog))
                await pilot.press("escape")
                await until_so(pilot, lambda: isinstance(page.screen, SettingsScreen))


async def test_a_theme_that_does_not_exist_is_said_and_the_usual_one_taken(open_desk: OpenDesk) -> None:
    settings = Settings(appearance=Appearance("acp-drak"))
    async with open_desk(SESSION, "serve_until_closed()", settings=settings) as desk:
        await desk.shows("appearance.theme: there is no theme 'acp-drak'")
        assert desk.pilot.app.theme == "acp-dark"
