"""Reads settings.toml into the tree: what is set, what isn't, and unreadable files."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.reader import EXAMPLE, SettingsRead, read_settings
from acp_tui.client.settings.settings import (
    AgentSettings,
    Appearance,
    ConversationSettings,
    KeyChoice,
    RefusalRule,
    Settings,
    TraceContext,
    WorkspaceSettings,
)
from acp_tui.client.settings.wording import documented, shown_setting
from support.settings import ENVIRON, read


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


# What is set


def test_without_a_file_the_defaults_hold(file: Path) -> None:
    assert read_settings(file) == SettingsRead(Settings())


def test_every_setting_can_be_set(file: Path) -> None:
    file.write_text(
        """
        appearance.theme = "nord"
        appearance.images = "blocks"
        [conversation]
        fold_kinds = ["edit", "other"]
        diff_lines = 0
        text_lines = 10_000
        terminal_lines = 5
        thoughts = "open"
        [agent]
        start_limit_s = 2.5
        [agent.trace_context]
        traceparent = "${PARENT}"
        tracestate = "a=b"
        baggage = "c=d"
        [workspace]
        read = "ask"
        write = "off"
        terminals = "on"
        additional_directories = ["~", "~/a", "${WORK}/b", "${NONE:-/c}"]
        [[refuse]]
        kind = "delete"
        path = "~/.ssh/**"
        command = "rm"
        reason = "no"
        [[refuse]]
        path = "**/.env"
        [keys]
        find = ["ctrl+f", "f9"]
        toggle_plan = ""
        """
    )

    directories = (Path("/home/u"), Path("/home/u/a"), Path("/work/b"), Path("/c"))
    assert read_settings(file, ENVIRON) == SettingsRead(
        Settings(
            Appearance("nord", images="blocks"),
            ConversationSettings(("edit", "other"), 0, 10_000, 5, "open"),
            AgentSettings(2.5, trace_context=TraceContext("00-1-2-01", "a=b", "c=d")),
            WorkspaceSettings("ask", "off", "on", directories),
            refuse=(
                RefusalRule("delete", "/home/u/.ssh/**", "rm", "no"),
                RefusalRule(None, "**/.env", None, ""),
            ),
            keys=(KeyChoice("find", ("ctrl+f", "f9")), KeyChoice("toggle_plan", ())),
        )
    )


def test_a_wrong_key_in_a_table_of_names_loses_no_other() -> None:
    found = read('[keys]\nfind = 3\nhelp = "f1"')

    assert found.settings.keys == (KeyChoice("help", ("f1",)),)
    assert [problem.key for problem in found.problems] == ["keys.find"]
    assert "is 3; allowed: a string, or a list of strings" in found.problems[0].text


def test_what_stands_in_the_file_and_is_right_is_known() -> None:
    found = read("workspace.read = 'ask'\nworkspace.write = 3\nappearance.ascii = true").found

    assert {"workspace.read", "appearance.ascii"} <= found
    assert "workspace.write" not in found


def test_variables_come_from_the_environment_unless_others_are_given(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACE", "/place")
    file.write_text('workspace.additional_directories = ["${PLACE}"]')

    assert read_settings(file).settings.workspace.additional_directories == (Path("/place"),)


def test_the_documented_defaults_are_the_defaults() -> None:
    lines = [
        f"{one.key} = {shown_setting(one.default)}"
        for one in documented()
        if one.default is not None and "[]" not in one.key and ".NAME." not in one.key
    ]

    assert len(lines) > 10
    assert read("\n".join(lines)) == SettingsRead(Settings())


def test_the_example_of_the_hint_is_right() -> None:
    assert read(EXAMPLE).problems == ()
    assert read(EXAMPLE).settings != Settings()


def test_a_limit_may_be_a_whole_number_of_seconds_and_0_is_no_limit() -> None:
    assert read("agent.start_limit_s = 0").settings.agent.start_limit_s == 0.0
    assert isinstance(read("agent.start_limit_s = 5").settings.agent.start_limit_s, float)


def test_servers_are_left_to_their_own_reader() -> None:
    assert read("mcp = 5") == SettingsRead(Settings())


# Rules and the rest


def test_problems_with_rules_are_told_from_all_others() -> None:
    found = read('[appearance]\ntheme = 5\n[[refuse]]\nreason = "x"')

    assert [problem.key for problem in found.problems] == ["appearance.theme", "refuse[0]"]
    assert [problem.key for problem in found.rule_problems] == ["refuse[0]"]


@pytest.mark.parametrize(
    "content",
    [b"a = [", b"\xff", b"a = " + b"[" * 10_000, b"a = " + b"9" * 5_000, b"a = 2020-02-30"],
    ids=["not TOML", "not UTF-8", "too deep", "too long a number", "no date"],
)
def test_a_file_that_cannot_be_read_is_said_with_an_example(file: Path, content: bytes) -> None:
    file.write_bytes(content)

    with pytest.raises(SettingsError, match="can't be read") as failure:
        read_settings(file)

    assert str(file) in str(failure.value)
    assert EXAMPLE in failure.value.hint


def test_a_folder_in_the_place_of_the_file_is_said(file: Path) -> None:
    file.mkdir()

    with pytest.raises(SettingsError, match="can't be read"):
        read_settings(file)
