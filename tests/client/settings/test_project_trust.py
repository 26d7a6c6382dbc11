"""Trust in a project's MCP servers, remembered by location and content."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.mcp import Skipped
from acp_tui.client.settings.trust import (
    ProjectServers,
    Trust,
    read_project_servers,
    remember,
    trust_file,
    trust_state,
    trusted_servers,
)

CONTENT = '{"mcpServers": {"files": {"command": "files"}, "bad": 5}}'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "acp-tui" / "trusted-projects.json"


def project_in(folder: Path, content: str = CONTENT) -> ProjectServers:
    folder.mkdir(exist_ok=True)
    (folder / ".mcp.json").write_text(content)
    project = read_project_servers(folder)
    assert project is not None
    return project


@pytest.fixture
def project(tmp_path: Path) -> ProjectServers:
    return project_in(tmp_path / "project")


def test_the_decisions_stand_in_the_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    assert trust_file().is_relative_to(tmp_path)
    assert trust_file().name == "trusted-projects.json"


def test_nothing_is_trusted_before_the_user_was_asked(project: ProjectServers, file: Path) -> None:
    assert trust_state(project, file) is Trust.UNDECIDED
    assert not file.parent.exists()


@pytest.mark.parametrize("decision", Trust)
def test_a_decision_is_remembered(project: ProjectServers, file: Path, decision: Trust) -> None:
    remember(project, decision, file)

    assert trust_state(project, file) is decision


def test_the_last_decision_counts(project: ProjectServers, file: Path) -> None:
    remember(project, Trust.TRUSTED, file)
    remember(project, Trust.REJECTED, file)

    assert trust_state(project, file) is Trust.REJECTED


def test_changed_content_is_asked_for_again_and_the_old_content_is_still_known(
    project: ProjectServers, file: Path
) -> None:
    folder = project.file.parent
    remember(project, Trust.TRUSTED, file)

    changed = project_in(folder, CONTENT + " ")
    assert trust_state(changed, file) is Trust.UNDECIDED
    assert trust_state(project_in(folder), file) is Trust.TRUSTED


def test_the_same_content_elsewhere_is_another_project(project: ProjectServers, file: Path, tmp_path: Path) -> None:
    remember(project, Trust.TRUSTED, file)

    assert trust_state(project_in(tmp_path / "clone"), file) is Trust.UNDECIDED


def test_a_project_reached_through_a_link_is_the_same_project(
    project: ProjectServers, file: Path, tmp_path: Path
) -> None:
    remember(project, Trust.TRUSTED, file)
    (tmp_path / "link").symlink_to(project.file.parent)

    linked = read_project_servers(tmp_path / "link")
    assert linked == project
    assert trust_state(linked, file) is Trust.TRUSTED


def test_a_decision_leaves_those_on_other_projects_alone(project: ProjectServers, file: Path, tmp_path: Path) -> None:
    other = project_in(tmp_path / "other")
    remember(other, Trust.REJECTED, file)
    remember(project, Trust.TRUSTED, file)

    assert trust_state(other, file) is Trust.REJECTED


def test_the_file_is_the_users_alone_and_no_other_is_left_beside_it(project: ProjectServers, file: Path) -> None:
    for decision in Trust:
        remember(project, decision, file)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [*file.parent.iterdir()] == [file]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff", b"[]", b'{"a": 5}', b"[" * 100_000],
    ids=lambda content: repr(content[:10]),
)
def test_a_broken_file_trusts_nothing_and_is_replaced_by_the_next_decision(
    project: ProjectServers, file: Path, content: bytes
) -> None:
    file.parent.mkdir(parents=True)
    file.write_bytes(content)

    assert trust_state(project, file) is Trust.UNDECIDED
    remember(project, Trust.TRUSTED, file)
    assert trust_state(project, file) is Trust.TRUSTED


@pytest.mark.parametrize("decision", [None, True, 1, "yes", "TRUSTED", ["trusted"], {"trusted": True}])
def test_a_decision_in_other_words_is_none(project: ProjectServers, file: Path, decision: object) -> None:
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({str(project.file): {project.digest: decision}}))

    assert trust_state(project, file) is Trust.UNDECIDED


def test_a_file_that_cannot_be_used_trusts_nothing_and_says_why_on_writing(
    project: ProjectServers, tmp_path: Path
) -> None:
    assert trust_state(project, tmp_path) is Trust.UNDECIDED
    with pytest.raises(SettingsError, match="can't be kept"):
        remember(project, Trust.TRUSTED, tmp_path)


def test_a_write_that_fails_leaves_the_old_decisions_whole(
    project: ProjectServers, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    remember(project, Trust.TRUSTED, file)
    monkeypatch.setattr(os, "fsync", fail)

    with pytest.raises(SettingsError, match="No space left on device"):
        remember(project, Trust.REJECTED, file)
    assert trust_state(project, file) is Trust.TRUSTED
    assert [*file.parent.iterdir()] == [file]


def test_a_trusted_project_gives_what_it_declares(project: ProjectServers) -> None:
    assert trusted_servers(project, Trust.TRUSTED) == project.declared


@pytest.mark.parametrize(
    ("trust", "reason"),
    [(Trust.UNDECIDED, "you haven't trusted yet"), (Trust.REJECTED, "you rejected")],
)
def test_any_other_project_gives_no_server_and_says_so_of_each(
    project: ProjectServers, trust: Trust, reason: str
) -> None:
    given = trusted_servers(project, trust)

    assert given.servers == ()
    assert given.skipped == (
        *project.declared.skipped,
        Skipped("files", f"{reason} {project.file}"),
    )
