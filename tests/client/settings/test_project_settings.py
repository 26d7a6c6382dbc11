"""What a project may set for the people who work in it, and what it may not."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.location import leaves
from acp_tui.client.settings.project_settings import (
    FILE_NAME,
    LEFT_TO_PROJECTS,
    ProjectSettings,
    layered,
    read_project_settings,
    with_trusted_project,
)
from acp_tui.client.settings.reader import SettingsRead, interpret
from acp_tui.client.settings.settings import RefusalRule
from acp_tui.client.settings.trust import Trust, remember

NARROWER_OR_LESS = {
    "workspace.read",
    "workspace.write",
    "workspace.terminals",
}


def user(text: str = "") -> SettingsRead:
    return interpret(tomllib.loads(text), "U", {})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path


def read(project: Path, text: str) -> ProjectSettings:
    (project / FILE_NAME).write_text(text)
    found = read_project_settings(project, {})
    assert found is not None
    return found


def test_without_a_file_there_is_nothing_to_trust(project: Path) -> None:
    assert read_project_settings(project) is None


def test_what_is_left_to_projects_is_narrowed_added_to_or_only_shown() -> None:
    assert {key for key, one in leaves() if one.setting.project == "narrow"} == NARROWER_OR_LESS
    assert [key for key, one in leaves() if one.setting.project == "add"] == ["refuse"]
    assert all(key.startswith("conversation.") for key, one in leaves() if one.setting.project == "choose")


@pytest.mark.parametrize(
    ("mine", "theirs", "holds"),
    [
        *(("on", "ask-if-unasked", "ask-if-unasked"), ("on", "ask", "ask"), ("on", "off", "off")),
        *(("ask-if-unasked", "ask", "ask"), ("ask-if-unasked", "off", "off")),
        *(("ask", "off", "off"), ("ask", "ask", "ask")),
    ],
)
def test_a_project_can_make_access_stricter(mine: str, theirs: str, holds: str, project: Path) -> None:
    laid = layered(user(f"workspace.write = '{mine}'"), read(project, f"workspace.write = '{theirs}'"))

    assert laid.settings.workspace.write == holds
    assert laid.found == {"workspace.write"}


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("ask-if-unasked", "on"),
        ("ask", "on"),
        ("ask", "ask-if-unasked"),
        ("off", "on"),
        ("off", "ask-if-unasked"),
        ("off", "ask"),
    ],
)
def test_a_project_cannot_make_access_wider(mine: str, theirs: str, project: Path) -> None:
    laid = layered(user(f"workspace.write = '{mine}'"), read(project, f"workspace.write = '{theirs}'"))

    assert laid.settings.workspace.write == mine
    (problem,) = laid.problems
    assert problem.key == "workspace.write"
    assert f'{FILE_NAME}: workspace.write is "{theirs}"; a project can only narrow it' in str(problem)
    assert str(problem).endswith("your own setting stays in effect")


def test_a_wrong_value_narrows_nothing_and_widens_nothing(project: Path) -> None:
    laid = layered(user("workspace.write = 'off'"), read(project, "workspace.write = 'yes'"))

    assert laid.settings.workspace.write == "off"
    assert [problem.instead for problem in laid.problems] == ["your own setting stays in effect"]


def test_rules_are_added_behind_those_of_the_user(project: Path) -> None:
    laid = layered(user("[[refuse]]\nkind = 'edit'"), read(project, "[[refuse]]\npath = '**/.env'"))

    assert laid.settings.refuse == (RefusalRule(kind="edit"), RefusalRule(path="**/.env"))


@pytest.mark.parametrize(
    "text",
    [
        "appearance.theme = 'nord'",
        "keys.quit = 'ctrl+x'",
        "workspace.additional_directories = ['/']",
        "history.keep = false",
        "agent.trace_context.baggage = 'x'",
        "[mcp.tool]\ncommand = 'evil'",
    ],
)
def test_what_is_the_users_alone_stays_so_and_is_named(text: str, project: Path) -> None:
    laid = layered(user(), read(project, text))

    assert laid.settings == user().settings
    (problem,) = laid.problems
    assert "can't be set by a project" in problem.text
    assert problem.text.startswith(f"{FILE_NAME}: ")


def test_what_a_project_can_set_is_said_in_a_line() -> None:
    narrow, others = LEFT_TO_PROJECTS.split(", add to ")
    assert set(re.findall(r"workspace\.\w+", narrow)) == NARROWER_OR_LESS
    assert others == "refuse, and choose conversation.*"


def test_a_project_names_no_agent_no_proxy_and_no_system_prompt(project: Path) -> None:
    text = "[agents.demo]\ncommand = ['evil']\nproxies = [['evil']]\nsystem_prompt = 'Ask for nothing.'"
    laid = layered(user(), read(project, text))
    assert laid.settings == user().settings
    assert "agents" in str(laid.warnings)


def test_unknown_keys_are_warned_of(project: Path) -> None:
    (warning,) = layered(user(), read(project, "workspace.wirte = 'off'")).warnings

    assert "did you mean write?" in warning


@pytest.mark.parametrize("content", [b"[a", b"\xff"])
def test_a_file_that_cannot_be_understood_is_not_used(content: bytes, project: Path) -> None:
    (project / FILE_NAME).write_bytes(content)

    with pytest.raises(SettingsError, match=r"\.acp-tui\.toml isn't used"):
        read_project_settings(project)


@pytest.mark.parametrize(
    "text",
    [
        ".".join("a" * 500_000) + " = 1",
        f"[{'.'.join('a' * 2_000)}]",
        '"\\u2028"' + "." * 200,
        "".join(f"k{n}=1\n" for n in range(20_000)),
    ],
    ids=["key", "table", "quoted", "many"],
)
def test_a_file_that_would_take_all_the_memory_is_refused_before_it_is_parsed(
    project: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tomllib, "loads", lambda _: pytest.fail("it was parsed"))
    (project / FILE_NAME).write_text(text)

    with pytest.raises(SettingsError, match=r"dots|larger than"):
        read_project_settings(project)


def test_a_link_is_not_followed(project: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("")
    (project / FILE_NAME).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(SettingsError, match="symbolic link"):
        read_project_settings(project)


# Without anyone to ask


def test_it_counts_once_it_is_trusted_and_only_as_it_was_then(project: Path, tmp_path: Path) -> None:
    decisions = tmp_path / "decisions.json"
    found = read(project, "workspace.write = 'off'")
    untrusted = with_trusted_project(user(), project, decisions)
    remember(found, Trust.TRUSTED, decisions)
    trusted = with_trusted_project(user(), project, decisions)
    read(project, "workspace.write = 'ask'")
    changed = with_trusted_project(user(), project, decisions)

    holds = [each.settings.workspace.write for each in (untrusted, trusted, changed)]
    assert holds == ["ask-if-unasked", "off", "ask-if-unasked"]
    assert "you haven't trusted it yet" in untrusted.warnings[0]
    assert trusted.warnings == ()


def test_what_was_rejected_is_not_mentioned_again(project: Path, tmp_path: Path) -> None:
    decisions = tmp_path / "decisions.json"
    remember(read(project, "workspace.write = 'off'"), Trust.REJECTED, decisions)

    assert with_trusted_project(user(), project, decisions) == user()
