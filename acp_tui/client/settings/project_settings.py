"""A project's `.acp-tui.toml`, applied over the user's settings once the user trusts it.

It can only narrow what agents may do, and choose how much is shown. Each setting declares this (`setting.project`).
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any, Final

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.location import PROJECT_SETTINGS, value_at
from acp_tui.client.settings.reader import SettingProblem, SettingsRead, interpret
from acp_tui.client.settings.setting import DeclaredSetting, declared
from acp_tui.client.settings.settings import READ_ELSEWHERE
from acp_tui.client.settings.trust import Trust, read_project_file, trust_state
from acp_tui.client.settings.wording import either, quoted, shown_value
from acp_tui.conversation.wording import from_home
from acp_tui.values import dataclass

FILE_NAME: Final = PROJECT_SETTINGS
YOURS: Final = "your own setting stays in effect"
LEFT_TO_PROJECTS: Final = (
    "narrow workspace.read, workspace.write, and workspace.terminals, add to refuse, and choose conversation.*"
)


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """A project's settings, read once: what the user sees is what they trust and what is used."""

    file: Path
    """Absolute, without symbolic links."""
    digest: str
    """SHA-256 of the file's bytes."""
    text: str
    read: SettingsRead
    """Its content, including settings that a project may not change."""
    document: Mapping[str, Any]


_MAX_BYTES: Final = 64 << 10
_MAX_DOTS: Final = 100
"""Limit for the dots in a line. A key's memory is quadratic in its parts, so a megabyte of them could exhaust it."""


def read_project_settings(cwd: Path, environ: Mapping[str, str] | None = None) -> ProjectSettings | None:
    """The settings of the project in `cwd`; None if it has no such file. Blocks.

    Raises SettingsError for a file that can't or shouldn't be used.
    """
    file = cwd.resolve() / FILE_NAME
    content = read_project_file(file, _MAX_BYTES)
    if content is None:
        return None
    try:
        text = content.decode()
        if any(line.count(".") > _MAX_DOTS for line in text.split("\n")):
            raise ValueError(f"a line of it has more than {_MAX_DOTS} dots")
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{from_home(file)} isn't used: {error}") from error
    read = interpret(document, FILE_NAME, os.environ if environ is None else environ)
    return ProjectSettings(file, hashlib.sha256(content).hexdigest(), text, read, document)


def layered(user: SettingsRead, project: ProjectSettings) -> SettingsRead:
    """The user's settings with the project's over them. Of its problems and warnings, only the project's are included.

    `found` contains the keys that the project decides.
    """
    laying = _ProjectPass(project)
    settings = laying.over(user.settings, project.document, "")
    wrong = [replace(problem, instead=YOURS) for problem in project.read.problems]
    elsewhere = [laying.forbidden(name) for name in READ_ELSEWHERE if name in project.document]
    problems = (*wrong, *elsewhere, *laying.problems)
    return SettingsRead(settings, problems, project.read.warnings, frozenset(laying.found))


def with_trusted_project(user: SettingsRead, cwd: Path, decisions: Path) -> SettingsRead:
    """The settings for `cwd` when no one can be asked: the user's, with the project's if those are trusted.

    `decisions` is the file with the user's decisions. Blocks.
    """
    try:
        project = read_project_settings(cwd)
    except SettingsError as error:
        return replace(user, warnings=(*user.warnings, str(error)))
    if project is None:
        return user
    trust = trust_state(project, decisions)
    if trust is not Trust.TRUSTED:
        told = () if trust is Trust.REJECTED else (f"{from_home(project.file)} isn't used: you haven't trusted it yet",)
        return replace(user, warnings=(*user.warnings, *told))
    laid = layered(user, project)
    problems, warnings = (*user.problems, *laid.problems), (*user.warnings, *laid.warnings)
    return replace(user, settings=laid.settings, problems=problems, warnings=warnings)


class _ProjectPass:
    """One pass over a project's document. Collects what isn't allowed."""

    def __init__(self, project: ProjectSettings) -> None:
        self._project = project
        self.problems: list[SettingProblem] = []
        self.found: set[str] = set()

    def over(self, mine: Any, document: Mapping[str, Any], prefix: str) -> Any:
        """The section with the values that the project may set."""
        changed = {}
        for one in declared(type(mine)):
            key = f"{prefix}{one.name}"
            if one.name not in document:
                continue
            own = getattr(mine, one.name)
            if is_dataclass(one.kind) and not one.is_list and isinstance(document[one.name], dict):
                changed[one.name] = self.over(own, document[one.name], f"{key}.")
            elif key in self._project.read.found:
                changed[one.name] = self._decided(one, key, own)
        return replace(mine, **changed)

    def _decided(self, one: DeclaredSetting, key: str, mine: Any) -> Any:
        theirs = value_at(self._project.read.settings, key)
        may = one.setting.project
        if may == "nothing":
            self.problems.append(self.forbidden(key))
            return mine
        if may == "narrow" and one.allowed.index(theirs) < one.allowed.index(mine):
            self.problems.append(self._too_wide(one, key, mine, theirs))
            return mine
        self.found.add(key)
        return (*mine, *(each for each in theirs if each not in mine)) if may == "add" else theirs

    def forbidden(self, key: str) -> SettingProblem:
        where = "; its MCP servers belong in .mcp.json" if key == "mcp" else f"; it can {LEFT_TO_PROJECTS}"
        return SettingProblem(key, f"{FILE_NAME}: {key} can't be set by a project{where}", YOURS)

    def _too_wide(self, one: DeclaredSetting, key: str, mine: Any, theirs: Any) -> SettingProblem:
        allowed = either([quoted(each) for each in one.allowed[one.allowed.index(mine) :]])
        text = f"{FILE_NAME}: {key} is {shown_value(theirs)}; a project can only narrow it: {allowed}"
        return SettingProblem(key, text, YOURS)
