"""The settings in force while acp-tui runs, the user's and the project's: followed on disk, changed, and applied."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from anyio import to_thread

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.location import changed, leaves, value_at, with_value
from acp_tui.client.settings.project_settings import FILE_NAME, ProjectSettings, layered, read_project_settings
from acp_tui.client.settings.reader import SettingProblem, SettingsRead, read_settings
from acp_tui.client.settings.settings import Settings
from acp_tui.client.settings.trust import Trust, remember, trust_file, trust_state
from acp_tui.client.settings.watching import changes_of
from acp_tui.client.settings.writing import TomlValue, write_setting
from acp_tui.conversation.wording import from_home

if TYPE_CHECKING:
    from acp_tui.ui.app.app import AcpTuiApp

Origin: TypeAlias = Literal["default", "yours", "project"]

STILL: Final = "the previous value stays in effect"
HELD_BACK: Final = f"has changed and names a program, so it takes effect at the next start; {STILL}"
PROGRAMS: Final = tuple(key for key, one in leaves() if one.setting.runs_program)


class LiveSettings:
    """Holds the current settings and where they come from."""

    def __init__(self, app: AcpTuiApp, file: Path, cwd: Path, started_with: Settings | None = None) -> None:
        """`started_with` has the settings before any agent ran; None for those first read from the file."""
        self._app = app
        self._programs = started_with
        """Settings with the programs to run, whatever the file says by now."""
        self._held_back: tuple[str, ...] = ()
        self.file = file
        self.project_file = cwd.resolve() / FILE_NAME
        self.user = SettingsRead(Settings())
        """The user's file, with each invalid value replaced by the previous one."""
        self.project: ProjectSettings | None = None
        """The project's settings, once the user trusts them."""
        self.pending: ProjectSettings | None = None
        """New or changed project settings that the user hasn't decided on."""
        self._laid: SettingsRead | None = None
        self._unreadable: dict[Path, str] = {}
        self._unusable: Sequence[str] = ()
        self._opened = asyncio.Event()
        self.listeners: list[Callable[[], None]] = []
        """Called when something about the settings changes."""

    # Current settings

    @property
    def is_open(self) -> bool:
        return self._opened.is_set()

    @property
    def settings(self) -> Settings:
        return self._laid.settings if self._laid is not None else self.user.settings

    @property
    def notes(self) -> tuple[str, ...]:
        """All problems, the worst first."""
        read = (self.user, *((self._laid,) if self._laid is not None else ()))
        problems = (str(problem) for each in read for problem in each.problems)
        warnings = (warning for each in read for warning in each.warnings)
        return (*self._unreadable.values(), *self._held_back, *problems, *warnings, *self._unusable)

    def origin(self, key: str) -> Origin:
        """Where a setting's value comes from. Keys of commands are settings too."""
        if self._laid is not None and key in self._laid.found:
            return "project"
        is_chosen = any(f"keys.{choice.command}" == key for choice in self.settings.keys)
        return "yours" if is_chosen or key in self.user.found else "default"

    # Reading

    async def open(self) -> None:
        """Read both files, ask about the project's, and apply them."""
        try:
            await self._read_user()
            self._app.tell_notes(self._held_back)
            await self._read_project()
            await self.ask()
            self._use()
        finally:
            self._opened.set()

    async def ready(self) -> None:
        """Wait until the settings are known. Agents aren't started before."""
        await self._opened.wait()

    async def follow(self) -> None:
        """Apply edits of the files, until canceled."""
        try:
            async for files in changes_of((self.file, self.project_file)):
                if self.file in files:
                    await self.read_again()
                if self.project_file in files:
                    await self._notice_project()
        except (OSError, RuntimeError) as error:
            self._unreadable[Path()] = f"edits of {from_home(self.file)} won't be noticed until the next start: {error}"

    async def read_again(self, chosen: str = "") -> None:
        """Read and apply the user's file again, and report problems in it.

        `chosen` is the setting that the user has just changed in acp-tui. Of the settings that run programs, only that
        one is applied.
        """
        known = set(self.notes)
        before = self.settings
        await self._read_user(self.user.settings, chosen)
        self._use()
        self._app.tell_notes([note for note in self.notes if note not in known])
        self._say_what_waits(before)

    async def _read_user(self, before: Settings | None = None, chosen: str = "") -> None:
        try:
            read = await to_thread.run_sync(read_settings, self.file)
        except SettingsError as error:
            self._unreadable[self.file] = f"{error}; {STILL}" if before is not None else str(error)
            return
        self._unreadable.pop(self.file, None)
        self.user = self._without_new_programs(read if before is None else _with_the_last_good(read, before), chosen)

    def _without_new_programs(self, read: SettingsRead, chosen: str) -> SettingsRead:
        """What was read, but with the current programs: an agent may have written the file."""
        held = self._programs or read.settings
        if chosen in PROGRAMS:
            held = with_value(held, chosen, value_at(read.settings, chosen))
        self._programs = held
        others = [key for key in PROGRAMS if value_at(read.settings, key) != value_at(held, key)]
        self._held_back = tuple(f"{from_home(self.file)}: {key} {HELD_BACK}" for key in others)
        settings = read.settings
        for key in others:
            settings = with_value(settings, key, value_at(held, key))
        return replace(read, settings=settings)

    async def _read_project(self) -> None:
        try:
            project = await to_thread.run_sync(read_project_settings, self.project_file.parent)
        except SettingsError as error:
            self._unreadable[self.project_file] = str(error)
            return
        self._unreadable.pop(self.project_file, None)
        if project is None or (self.project is not None and project.digest == self.project.digest):
            self.pending = None
            return
        trust = await to_thread.run_sync(trust_state, project, trust_file())
        self.pending = project if trust is Trust.UNDECIDED else None
        if trust is Trust.TRUSTED:
            self.project = project

    async def _notice_project(self) -> None:
        """Read the project's file again. An agent may have written it, so the settings stay until the user decides."""
        await self._read_project()
        self._use()
        if self.pending is not None:
            stay = "The previous settings stay in effect; open the settings to decide."
            self._app.say(f"{FILE_NAME} has changed. {stay}")

    async def ask(self) -> None:
        """Ask about the project's file if it's new or has changed, and use it if the user trusts it."""
        project, self.pending = self.pending, None
        if project is None:
            return
        is_trusted = await self._app.trusts(project, self.user)
        trust = Trust.TRUSTED if is_trusted else Trust.REJECTED
        try:
            await to_thread.run_sync(remember, project, trust, trust_file())
        except SettingsError as error:
            self._app.say(f"{error}; {error.hint}", is_wrong=True)
        self.project = project if is_trusted else None
        self._use()

    def _use(self) -> None:
        self._laid = layered(self.user, self.project) if self.project is not None else None
        self._unusable = self._app.use_settings(self.settings)
        for tell in self.listeners:
            tell()

    # Writing

    async def set(self, key: str, value: TomlValue | None) -> None:
        """Write and apply one setting; None removes it from the file. Raises SettingsError and changes nothing then."""
        await to_thread.run_sync(write_setting, self.file, key.split("."), value)
        await self.read_again(key)

    def _say_what_waits(self, before: Settings) -> None:
        waiting: dict[str, list[str]] = {}
        for key, one in changed(before, self.settings):
            if one.setting.applies != "at once":
                waiting.setdefault(one.setting.applies, []).append(key)
        for when, keys in waiting.items():
            self._app.say(f"{', '.join(keys)}: takes effect with the {when}.")


def _with_the_last_good(read: SettingsRead, before: Settings) -> SettingsRead:
    """What was read, with each invalid value replaced by the previous one."""
    settings = read.settings
    for key in {_of_setting(problem) for problem in read.problems}:
        settings = with_value(settings, key, value_at(before, key))
    problems = tuple(replace(problem, instead=STILL) for problem in read.problems)
    return replace(read, settings=settings, problems=problems)


def _of_setting(problem: SettingProblem) -> str:
    key = problem.key.partition("[")[0]
    return "keys" if key.startswith("keys.") else key
