"""settings.toml, read into the tree."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.reader import EXAMPLE, SettingsRead, interpret, read_settings
from acp_tui.client.settings.reference import documented
from acp_tui.client.settings.refusal_rule import RefusalRule
from acp_tui.client.settings.tree import (
    AgentSettings,
    Appearance,
    Changes,
    ConversationSettings,
    KeyChoice,
    Settings,
    TerminalSettings,
    TraceContext,
    Workspace,
)

APPEARANCE = ", ".join(each.name for each in fields(Appearance))
ENVIRON = {"HOME": "/home/u", "WORK": "/work", "PARENT": "00-1-2-01"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def read(text: str) -> SettingsRead:
    return interpret(tomllib.loads(text), "F", ENVIRON)


def said(text: str) -> list[str]:
    return [str(problem) for problem in read(text).problems]


# What is right


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
        [changes]
        max_file_bytes = 0
        max_total_bytes = 2
        max_files = 3
        [terminals]
        output_limit_bytes = 4
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
            AgentSettings(2.5, TraceContext("00-1-2-01", "a=b", "c=d")),
            Workspace("ask", "off", "on", directories),
            Changes(0, 2, 3),
            TerminalSettings(4),
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
    lines = [f"{one.key} = {one.default}" for one in documented() if one.default and "[]" not in one.key]

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


# What is wrong


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
            'agent.trace_context.baggage is "${NONE}": the environment variable NONE is not set',
        ),
        ("changes.max_files = 1.0", "changes.max_files is 1.0; allowed: a whole number of files, at least 0"),
        ("changes.max_files = false", "changes.max_files is false; allowed: a whole number of files"),
        (f"changes.max_files = 0x{'f' * 5000}", "changes.max_files is a very long number; allowed: a whole"),
        (
            "terminals.output_limit_bytes = 0",
            "terminals.output_limit_bytes is 0; allowed: a whole number of bytes, at least 1, at most 67_108_864",
        ),
        (
            'workspace.additional_directories = "/a"',
            'workspace.additional_directories is "/a"; allowed: a list of',
        ),
        (
            "refuse.kind = 'read'",
            "refuse is a table; allowed: tables [[refuse]], each with at least one of kind",
        ),
        ("changes = 'a\"b\\u202e'", "changes is 'a\"b\\\\u202e'; allowed: a table"),
        ('changes = "\\u202e\'"', 'changes is "\\u202e\'"; allowed: a table'),
        (f"changes = '{'a' * 100}'", f'changes is "{"a" * 60}…"; allowed: a table'),
    ],
)
def test_a_wrong_value_counts_as_not_set_and_is_said_with_key_and_what_is_allowed(
    line: str, problem: str
) -> None:
    (text,) = said(line)

    assert text.startswith(f"F: {problem}")
    assert text.endswith("; it counts as not set")
    assert read(line).settings == Settings()


def test_a_wrong_value_loses_no_other() -> None:
    result = read("[changes]\nmax_files = true\nmax_file_bytes = 5\n[appearance]\ntheme = 'nord'")

    assert result.settings == Settings(appearance=Appearance("nord"), changes=Changes(max_file_bytes=5))
    assert [problem.key for problem in result.problems] == ["changes.max_files"]


def test_what_an_agent_may_do_is_asked_about_where_its_setting_is_wrong() -> None:
    result = read('workspace.write = "of"')

    assert result.settings.workspace == Workspace(write="ask")
    assert [str(problem) for problem in result.problems] == [
        'F: workspace.write is "of"; allowed: "on", "ask" or "off" (did you mean "off"?); "ask" holds instead'
    ]


def test_all_is_asked_about_where_the_section_is_wrong() -> None:
    assert read('workspace = "off"').settings.workspace == Workspace("ask", "ask", "ask")
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
    assert problem.instead == "it is left out"


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
        "F: refuse[0] needs at least one of kind, path, command; it is left out"
    ]


@pytest.mark.parametrize(
    "wrong", ['kind = "delet"', "kind = 5", 'command = " "', 'command = ""', "reason = 5"]
)
def test_a_rule_that_is_wrong_in_part_refuses_more_rather_than_less(wrong: str) -> None:
    result = read(f"[[refuse]]\npath = '/a'\n{wrong}")

    assert result.settings.refuse == (RefusalRule(None, "/a", None, ""),)
    assert [problem.key for problem in result.problems] == [f"refuse[0].{wrong.split()[0]}"]


def test_a_rule_of_which_nothing_is_right_is_left_out_and_that_is_said() -> None:
    result = read("[[refuse]]\nkind = 'delet'")

    assert result.settings.refuse == ()
    assert [problem.key for problem in result.problems] == ["refuse[0].kind", "refuse[0]"]
    assert 'did you mean "delete"?' in result.problems[0].text


def test_an_item_that_is_no_table_is_no_rule() -> None:
    assert said("refuse = ['rm']") == [
        'F: refuse[0] is "rm"; allowed: a table, with at least one of kind, path, command; it is left out'
    ]


# What means nothing


@pytest.mark.parametrize(
    ("line", "warning"),
    [
        ("workspce.read = 'on'", "workspce means nothing and is ignored; did you mean workspace?"),
        ("workspace.wirte = 'on'", "workspace.wirte means nothing and is ignored; did you mean write?"),
        ("mpc.x.command = 'a'", "mpc means nothing and is ignored; did you mean mcp?"),
        (
            "agent.Trace_Context.x = 1",
            "agent.Trace_Context means nothing and is ignored; did you mean trace_context?",
        ),
        (
            "appearance.x = 1",
            f"appearance.x means nothing and is ignored; known: {APPEARANCE}",
        ),
        (
            "appearance.'a\\nb' = 1",
            f"appearance.'a\\\\nb' means nothing and is ignored; known: {APPEARANCE}",
        ),
        (
            "refuse = [{path = '/', knd = 'read'}]",
            "refuse[0].knd means nothing and is ignored; did you mean kind?",
        ),
    ],
)
def test_a_key_that_means_nothing_warns_with_the_one_that_may_be_meant(line: str, warning: str) -> None:
    result = read(line)

    assert result.warnings == (f"F: {warning}",)
    assert result.problems == ()


# The whole


def test_whoever_wants_all_or_nothing_gets_every_problem_in_one_error() -> None:
    with pytest.raises(SettingsError) as failure:
        read("appearance = 5\nchanges = 5").checked()

    assert str(failure.value) == "F: appearance is 5; allowed: a table\nF: changes is 5; allowed: a table"
    assert read("").checked() == Settings()


@pytest.mark.parametrize(
    "content",
    [b"a = [", b"\xff", b"a = " + b"[" * 10_000, b"a = " + b"9" * 5_000, b"a = 2020-02-30"],
    ids=["not TOML", "not UTF-8", "too deep", "too long a number", "no date"],
)
def test_a_file_that_cannot_be_read_is_said_with_an_example(file: Path, content: bytes) -> None:
    file.write_bytes(content)

    with pytest.raises(SettingsError, match="cannot be read") as failure:
        read_settings(file)

    assert str(file) in str(failure.value)
    assert EXAMPLE in failure.value.hint


def test_a_folder_in_the_place_of_the_file_is_said(file: Path) -> None:
    file.mkdir()

    with pytest.raises(SettingsError, match="cannot be read"):
        read_settings(file)


# Any document

SOME_TEXT = st.text(max_size=8) | st.sampled_from(
    ["on", "read", "/a", "~/a", "${HOME}", "${NONE}", "${", "~"]
)
SCALARS = (
    st.booleans()
    | st.integers()
    | st.integers().map(lambda n: n << 2000)
    | st.floats()
    | st.datetimes()
    | SOME_TEXT
)
KEYS = st.text(max_size=4) | st.sampled_from(
    [part.removesuffix("[]") for one in documented() for part in one.key.split(".")]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=20,
)
SECTIONS = st.dictionaries(KEYS, VALUES, max_size=6) | st.lists(st.dictionaries(KEYS, SCALARS), max_size=3)


@given(st.dictionaries(KEYS, SECTIONS | VALUES, max_size=8))
def test_no_document_fails_the_reader_and_what_it_gives_is_complete(document: dict[str, Any]) -> None:
    result = interpret(document, "F", ENVIRON)

    hash(result.settings)  # all of it are values: no list and no table of the document has come through
    assert all(problem.text.startswith(f"F: {problem.key} ") for problem in result.problems)
    assert all(rule.kind or rule.path or rule.command for rule in result.settings.refuse)
    assert all(path.is_absolute() for path in result.settings.workspace.additional_directories)
    assert {result.settings.workspace.read, result.settings.workspace.write} <= {"on", "ask", "off"}
    assert 0 <= result.settings.agent.start_limit_s < float("inf")


@given(st.binary(max_size=40) | st.text(max_size=40).map(str.encode))
def test_no_file_fails_the_reader_but_with_a_settings_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "any-settings.toml"
    file.write_bytes(content)

    try:
        read_settings(file, ENVIRON)
    except SettingsError as error:
        assert str(file) in str(error)
