"""An invalid value in settings.toml affects nothing else, and is reported with its key and the allowed values."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.reader import read_settings
from acp_tui.client.settings.settings import (
    Appearance,
    ConversationSettings,
    RefusalRule,
    Settings,
    WorkspaceSettings,
)
from support.settings import read, said

APPEARANCE = ", ".join(each.name for each in fields(Appearance))


# Values


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("appearance.theme = 5", "appearance.theme is 5; allowed: a string"),
        ("agent.start_limit_s = -1", "agent.start_limit_s is -1; allowed: a number of seconds, at least 0"),
        ("agent.start_limit_s = nan", "agent.start_limit_s is nan; allowed: a number of seconds, at least 0"),
        ("agent.start_limit_s = inf", "agent.start_limit_s is inf; allowed: a number of seconds, at least 0"),
        ("agent.start_limit_s = true", "agent.start_limit_s is true; allowed: a number"),
        ('agent.start_limit_s = "5"', 'agent.start_limit_s is "5"; allowed: a number'),
        (
            "agent.start_limit_s = 2020-01-01",
            "agent.start_limit_s is a date or a time; allowed: a number of seconds",
        ),
        ("agent.trace_context = []", "agent.trace_context is a list; allowed: a table"),
        (
            'agent.trace_context.baggage = "${NONE}"',
            'agent.trace_context.baggage is "${NONE}": the environment variable NONE isn\'t set: '
            "export it, or write ${NONE:-default}",
        ),
        ("recordings.max_total_bytes = 1.0", "recordings.max_total_bytes is 1.0; allowed: a whole number of bytes"),
        ("recordings.max_total_bytes = false", "recordings.max_total_bytes is false; allowed: a whole number of bytes"),
        (
            f"recordings.max_total_bytes = 0x{'f' * 5000}",
            "recordings.max_total_bytes is a very long number; allowed: a whole",
        ),
        (
            "conversation.diff_lines = 10_001",
            "conversation.diff_lines is 10001; allowed: a whole number of lines, at least 0, at most 10_000",
        ),
        (
            'workspace.additional_directories = "/a"',
            'workspace.additional_directories is "/a"; allowed: a list of',
        ),
        (
            "refuse.kind = 'read'",
            "refuse is a table; allowed: tables [[refuse]], each with at least one of kind",
        ),
        ("history = 'a\"b\\u202e'", "history is 'a\"b\\\\u202e'; allowed: a table"),
        ('history = "\\u202e\'"', 'history is "\\u202e\'"; allowed: a table'),
        (f"history = '{'a' * 100}'", f'history is "{"a" * 60}…"; allowed: a table'),
    ],
)
def test_a_wrong_value_counts_as_not_set_and_is_said_with_key_and_what_is_allowed(line: str, problem: str) -> None:
    (text,) = said(line)

    assert text.startswith(f"F: {problem}")
    assert text.endswith("; it is treated as unset")
    assert read(line).settings == Settings()


def test_a_wrong_value_loses_no_other() -> None:
    result = read("[conversation]\ntext_lines = true\ndiff_lines = 5\n[appearance]\ntheme = 'nord'")

    assert result.settings == Settings(appearance=Appearance("nord"), conversation=ConversationSettings(diff_lines=5))
    assert [problem.key for problem in result.problems] == ["conversation.text_lines"]


def test_what_an_agent_may_do_is_asked_about_where_its_setting_is_wrong() -> None:
    result = read('workspace.write = "of"')

    assert result.settings.workspace == WorkspaceSettings(write="ask")
    assert [str(problem) for problem in result.problems] == [
        'F: workspace.write is "of"; allowed: "on", "ask-if-unasked", "ask" or "off" (did you mean "off"?);'
        ' "ask" is used instead'
    ]


def test_all_is_asked_about_where_the_section_is_wrong() -> None:
    assert read('workspace = "off"').settings.workspace == WorkspaceSettings("ask", "ask", "ask")
    assert said('workspace = "off"') == [
        'F: workspace is "off"; allowed: a table; read = "ask", write = "ask", terminals = "ask" hold instead'
    ]


@pytest.mark.parametrize("directory", ['"rel"', '""', '"~other/a"', '"/a\\u0000b"', "5", "[]", "{}"])
def test_only_the_directories_that_are_wrong_are_left_out(directory: str) -> None:
    result = read(f'workspace.additional_directories = ["/a", {directory}, "/b"]')

    assert result.settings.workspace.additional_directories == (Path("/a"), Path("/b"))
    (problem,) = result.problems
    assert problem.key == "workspace.additional_directories[1]"
    assert problem.text.endswith("; allowed: an absolute path")
    assert problem.instead == "it is ignored"


def test_only_the_kinds_that_are_wrong_are_left_out() -> None:
    result = read('conversation.fold_kinds = ["edit", "serch", 5]')

    assert result.settings.conversation == ConversationSettings(fold_kinds=("edit",))
    assert [problem.key for problem in result.problems] == [
        "conversation.fold_kinds[1]",
        "conversation.fold_kinds[2]",
    ]
    assert result.problems[0].text.endswith('(did you mean "search"?)')


@pytest.mark.parametrize("lines", ["-1", "10_001", "1.5", "true", '"5"'])
def test_a_number_of_lines_that_is_wrong_is_as_if_it_was_not_set(lines: str) -> None:
    assert read(f"conversation.diff_lines = {lines}").settings == Settings()
    (problem,) = said(f"conversation.diff_lines = {lines}")
    assert "; allowed: a whole number of lines, at least 0, at most 10_000; " in problem


# Rules


def test_a_rule_names_at_least_one_of_kind_path_and_command() -> None:
    result = read("[[refuse]]\nreason = 'a'\n[[refuse]]\ncommand = 'rm'")

    assert result.settings.refuse == (RefusalRule(None, None, "rm", ""),)
    assert [str(each) for each in result.problems] == [
        "F: refuse[0] needs at least one of kind, path, command; it is ignored"
    ]


@pytest.mark.parametrize("wrong", ['kind = "delet"', "kind = 5", 'command = " "', 'command = ""', "reason = 5"])
def test_a_rule_that_is_wrong_in_part_refuses_more_rather_than_less(wrong: str) -> None:
    result = read(f"[[refuse]]\npath = '/a'\n{wrong}")

    assert result.settings.refuse == (RefusalRule(None, "/a", None, ""),)
    assert [problem.key for problem in result.problems] == [f"refuse[0].{wrong.split()[0]}"]


def test_an_entirely_invalid_rule_is_dropped_and_reported() -> None:
    result = read("[[refuse]]\nkind = 'delet'")

    assert result.settings.refuse == ()
    assert [problem.key for problem in result.problems] == ["refuse[0].kind", "refuse[0]"]
    assert 'did you mean "delete"?' in result.problems[0].text


def test_an_item_that_is_no_table_is_no_rule() -> None:
    assert said("refuse = ['rm']") == [
        'F: refuse[0] is "rm"; allowed: a table, with at least one of kind, path, command; it is ignored'
    ]


# Keys that mean nothing


@pytest.mark.parametrize(
    ("line", "warning"),
    [
        ("workspce.read = 'on'", "workspce is unknown and ignored; did you mean workspace?"),
        ("workspace.wirte = 'on'", "workspace.wirte is unknown and ignored; did you mean write?"),
        ("mpc.x.command = 'a'", "mpc is unknown and ignored; did you mean mcp?"),
        (
            "agent.Trace_Context.x = 1",
            "agent.Trace_Context is unknown and ignored; did you mean trace_context?",
        ),
        (
            "appearance.x = 1",
            f"appearance.x is unknown and ignored; known: {APPEARANCE}",
        ),
        (
            "appearance.'a\\nb' = 1",
            f"appearance.'a\\\\nb' is unknown and ignored; known: {APPEARANCE}",
        ),
        (
            "refuse = [{path = '/', knd = 'read'}]",
            "refuse[0].knd is unknown and ignored; did you mean kind?",
        ),
    ],
)
def test_a_key_that_means_nothing_warns_with_the_one_that_may_be_meant(line: str, warning: str) -> None:
    result = read(line)

    assert result.warnings == (f"F: {warning}",)
    assert result.problems == ()


# Where


def test_a_file_in_the_home_folder_is_named_from_there(home: Path) -> None:
    file = home / "settings.toml"
    file.write_text("appearance.theme = 5\nfoo = 1")
    found = read_settings(file)
    assert [str(problem).partition(" ")[0] for problem in found.problems] == ["~/settings.toml:"]
    assert [warning.partition(" ")[0] for warning in found.warnings] == ["~/settings.toml:"]
    file.write_text("not TOML")
    with pytest.raises(SettingsError, match=r"^~/settings\.toml can't be read"):
        read_settings(file)
