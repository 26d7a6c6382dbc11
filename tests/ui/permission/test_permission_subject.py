"""How the subject of a permission request is drawn: commands, terminals, text, and the raw report."""

from collections.abc import Sequence
from typing import Any

import pytest
from rich.style import Style

from acp_tui.conversation.content import Text, TextResource
from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.facts import AskedCommand, PermissionOption, PermissionRequest, RequestKey
from acp_tui.conversation.request_outline import ON_SCREEN, ShownRequest
from acp_tui.conversation.tool_calls import (
    BlockContent,
    Location,
    TerminalContent,
    TerminalId,
    TextDiff,
    ToolCall,
    ToolCallId,
    UnknownContent,
)
from acp_tui.conversation.visible.cutting import cut_text, cut_value, mark_of
from acp_tui.ui.permission.request_drawing import SubjectDrawing, SubjectStyle, option_lines
from acp_tui.ui.rendering.palette import PLAIN, Palette

ID = ToolCallId("call")


def draw(
    width: int = 60,
    *,
    shows_raw: bool = False,
    note: str | None = None,
    asks: str | None = None,
    command: AskedCommand | None = None,
    **reported: Any,
) -> list[str]:
    terminals = {
        TerminalId("ours"): TerminalState(TerminalId("ours"), "npm run dev", "/project/web"),
        TerminalId("theirs"): TerminalState(TerminalId("theirs")),
    }
    request = PermissionRequest(RequestKey(1), ID, (), note=note, title=asks, command=command)
    asked = ShownRequest(request, ToolCall(ID, **reported), "/project", terminals=terminals)
    lines = SubjectDrawing().draw(asked, SubjectStyle(width, PLAIN, shows_raw=shows_raw)).lines
    return [strip.text.rstrip() for strip in lines]


def execute(raw_input: Any, **reported: Any) -> list[str]:
    return draw(kind="execute", raw_input=raw_input, **reported)


@pytest.mark.parametrize(
    ("path", "kind", "title"),
    [
        ("/project/src/a.py", "edit", "Edit src/a.py"),
        ("/etc/hosts", "read", "Read /etc/hosts"),
        ("/project/src/a.py", "other", "/project/src/a.py"),
    ],
)
def test_a_title_that_is_only_a_path_says_what_is_done_with_it(path: str, kind: str, title: str) -> None:
    call = ToolCall(ID, title=path, kind=kind, locations=(Location(path),))
    assert ShownRequest(PermissionRequest(RequestKey(1), ID, ()), call, "/project").title == title


@pytest.mark.parametrize("name", ["reason", "justification"])
def test_why_the_agent_asks_comes_before_what_it_asks(name: str) -> None:
    assert execute({"command": "make", name: "to see it work"}) == [f"{name}: to see it work", "$ make"]
    long = "because " * 20
    assert execute({"command": "make", name: long})[0] == "$ make"


# Commands


@pytest.mark.parametrize(
    ("named", "title"),
    [
        ("make test", "Run a command: check it"),
        ("`make test`", "Run a command: check it"),
        ("make test?", "Run a command: check it"),
        ("Run make test", "Run a command: check it"),
        ("make test (say hi)", "Run a command: say hi"),
        ("make test (say hi) && rm -rf .", "make test (say hi) && rm -rf ."),
        ("make tests", "make tests"),
    ],
)
def test_a_title_that_is_the_command_says_what_it_is_for(named: str, title: str) -> None:
    call = ToolCall(ID, title=named, kind="execute", raw_input={"command": "make test", "description": "check it"})
    for asked in (PermissionRequest(RequestKey(1), ID, ()), PermissionRequest(RequestKey(1), ID, (), title=named)):
        assert ShownRequest(asked, call, "/project").title == title


@pytest.mark.parametrize(
    ("raw_input", "line"),
    [
        ({"command": "git push --force"}, "$ git push --force"),
        ({"command": ["git", "commit", "-m", "two words"]}, "$ git commit -m 'two words'"),
        ({"command": "git", "args": ["push", "a b"]}, "$ git push 'a b'"),
        ({"command": "make", "args": []}, "$ make"),
    ],
)
def test_a_command_is_shown_as_a_shell_line(raw_input: Any, line: str) -> None:
    assert execute(raw_input) == [line]


def test_each_line_of_a_command_is_marked_as_one() -> None:
    assert execute({"command": "cd web\nrm -rf build\n"}) == ["$ cd web", "> rm -rf build"]


def test_a_command_that_is_folded_loses_nothing_and_is_not_taken_for_two() -> None:
    assert draw(12, kind="execute", raw_input={"command": "abcdefghij   klm"}) == ["$ abcdefghij", "↪    klm"]


def test_control_characters_of_a_command_are_made_visible() -> None:
    assert execute({"command": "echo \x1b[2K\rls"}) == ["$ echo ␛[2K␍ls"]


def test_where_it_runs_and_what_else_is_reported_is_said() -> None:
    assert execute({"command": "make", "cwd": "/project/web", "env": {"A": "1"}, "timeout": 3}) == [
        "$ make",
        "in /project/web",
        "env:",
        "  A: 1",
        "timeout: 3",
    ]


def test_all_of_it_is_shown_on_demand() -> None:
    lines = execute({"command": "make", "env": {"A": "1"}}, shows_raw=True)
    assert lines[0] == "$ make"
    assert lines[1:3] == ["env:", "  A: 1"]
    assert lines[3] == "raw input:"
    assert '    "A": "1"' in lines
    assert "raw output:" not in lines


@pytest.mark.parametrize("command", [None, "", " ", 7, ["ls", 1], {"sh": "ls"}])
def test_what_is_no_command_is_shown_field_by_field(command: Any) -> None:
    assert execute({"command": command})[0].startswith("command")


def test_the_input_of_another_kind_of_call_is_no_command() -> None:
    assert draw(kind="edit", raw_input={"command": "view"}) == ["command: view"]


# Terminals and texts


def test_a_terminal_shows_its_command() -> None:
    assert draw(content=(TerminalContent(TerminalId("ours")),)) == [
        "terminal",
        "$ npm run dev",
        "in /project/web",
    ]


def test_an_unknown_terminal_is_named() -> None:
    unknown = (TerminalContent(TerminalId("theirs")), TerminalContent(TerminalId("?")))
    assert draw(content=unknown) == [
        "[a terminal whose command isn't reported]",
        "[the agent shows a terminal that it hasn't opened]",
    ]


def test_a_terminal_without_a_command_is_left_out_below_the_calls_command() -> None:
    terminals = (TerminalContent(TerminalId("theirs")), TerminalContent(TerminalId("ours")))
    lines = draw(kind="execute", raw_input={"command": "make"}, content=terminals)
    assert lines == ["$ make", "terminal", "$ npm run dev", "in /project/web"]


IN_TERMINAL = "npm run dev"


@pytest.mark.parametrize("title", [IN_TERMINAL, f"`{IN_TERMINAL}`"])
def test_a_command_that_is_also_the_title_and_what_a_terminal_runs_is_told_once(title: str) -> None:
    """Like codex-acp 2.6.0 asks."""
    command, content = AskedCommand(IN_TERMINAL, "/project/web"), (TerminalContent(TerminalId("ours")),)
    lines = draw(asks="Run command?", command=command, title=title, kind="execute", content=content)
    assert lines == ["$ npm run dev", "in /project/web"]


@pytest.mark.parametrize(
    ("title", "line", "cwd", "told"),
    [
        ("npm run dev ", IN_TERMINAL, "/project/web", ["npm run dev", "$ npm run dev", "in /project/web"]),
        (
            IN_TERMINAL,
            "npm  run dev",
            "/project/web",
            ["npm run dev", "$ npm  run dev", "in /project/web", "terminal", "$ npm run dev", "in /project/web"],
        ),
        (
            IN_TERMINAL,
            IN_TERMINAL,
            "/project",
            ["$ npm run dev", "in /project", "terminal", "$ npm run dev", "in /project/web"],
        ),
    ],
    ids=["title", "command", "folder"],
)
def test_texts_that_differ_in_anything_are_all_told(title: str, line: str, cwd: str, told: list[str]) -> None:
    content = (TerminalContent(TerminalId("ours")),)
    asked = AskedCommand(line, cwd)
    assert draw(asks="Run command?", command=asked, title=title, kind="execute", content=content) == told


@pytest.mark.parametrize(
    ("title", "names", "told"),
    [
        ("Edit files", ["a.py"], ["Edit files: a.py"]),
        ("Edit files", ["a.py", "b/c.py"], ["Edit files", "at a.py", "at b/c.py"]),
        ("Edit a.py", ["a.py"], ["Edit a.py", "at a.py"]),
    ],
)
def test_a_title_that_names_no_file_is_followed_by_the_only_one(
    title: str, names: Sequence[str], told: list[str]
) -> None:
    """Like codex-acp 2.6.0 asks."""
    locations = tuple(Location(f"/project/{name}") for name in names)
    assert draw(asks="Make edits?", title=title, kind="edit", locations=locations)[: len(told)] == told


def test_texts_keep_their_lines() -> None:
    content = (BlockContent(Text("one\ntwo\n")), BlockContent(TextResource("file:///a", "three\nfour")))
    assert draw(content=content) == ["one", "two", "[file: /a, 2 lines]", "three", "four"]


def test_content_of_an_unknown_kind_is_named() -> None:
    assert draw(content=(UnknownContent("hologram", {}),)) == [
        "[hologram: a kind of content acp-tui doesn't know]",
        "content: {}",
    ]


def test_the_whole_of_every_diff_is_shown_and_where_its_changes_begin() -> None:
    old = "".join(f"{number}\n" for number in range(30))
    diffs = (
        TextDiff("/project/a", old.replace("2\n", "x\n"), old, {"agents": "own"}),
        TextDiff("/project/b", "new\n"),
    )
    asked = ShownRequest(PermissionRequest(RequestKey(1), ID, ()), ToolCall(ID, content=diffs), "/project")
    subject = SubjectDrawing().draw(asked, SubjectStyle(60, PLAIN))
    lines = [strip.text.rstrip() for strip in subject.lines]
    assert [lines[row] for row in subject.hunks] == [
        "a  +3  -3",
        "@@ -10,7 +10,7 @@  … 3 unchanged lines",
        "@@ -20,7 +20,7 @@  … 3 unchanged lines",
        "b  new file  +1",
    ]


def test_a_reported_path_that_a_diff_names_is_not_told_again() -> None:
    diff = TextDiff("/project/src/a.py", "new\n")
    for path in ("/project/src/a.py", "src/a.py"):
        assert not any("path" in line for line in draw(content=(diff,), raw_input={"path": path}))
    assert "path: a.py" in draw(content=(diff,), raw_input={"path": "a.py"})


def test_a_change_of_one_line_that_is_also_reported_is_not_told_again() -> None:
    change = {"old_string": "return a", "new_string": "return b"}
    diff = TextDiff("/project/a.py", change["new_string"], change["old_string"])
    assert draw(content=(diff,), raw_input={**change, "replace_all": True})[-1] == "replace_all: true"
    assert not any("_string" in line for line in draw(content=(diff,), raw_input=change))
    for other in ({"command": "return b"}, {**change, "new_string": "return c"}):
        assert set(draw(content=(diff,), raw_input=other)) >= {f"{name}: {text}" for name, text in other.items()}


# What the user should know first


def test_a_note_and_what_lies_outside_come_first() -> None:
    diff = TextDiff("/project/../etc/hosts", "x\n")
    assert draw(note="Mind the hosts", content=(diff,))[:2] == [
        "Mind the hosts",
        "outside the session's folder: /project/../etc/hosts",
    ]


LOADS = "Warning: LD_PRELOAD loads code into every program."


@pytest.mark.parametrize(
    "raw_input",
    [
        {"command": "ls", "env": {"LD_PRELOAD": "/tmp/x.so"}},
        {"command": "ls", "env": {"ld_preload": "/tmp/x.so", "LD_PRELOAD": ""}},
        {"command": "ls", "environment": [{"name": "LD_PRELOAD", "value": "/tmp/x.so"}]},
        {"command": "ls", "envVars": ["LD_PRELOAD=/tmp/x.so"]},
        {"command": "ls", "options": {"variables": [["LD_PRELOAD", "/tmp/x.so"]]}},
        {"command": "ls", "with": {"LD_PRELOAD": "/tmp/x.so"}},
        {"command": "LD_PRE\\LOAD=/tmp/x.so ls"},
        {"command": ["env", "LD_PRELOAD=/tmp/x.so", "ls"]},
        {"script": ["true", "export 'LD_PRELOAD'=/tmp/x.so; ls"]},
        "LD_PRELOAD=/tmp/x.so ls",
    ],
)
def test_variables_that_load_code_are_named_however_an_agent_reports_them(raw_input: Any) -> None:
    assert LOADS in execute(raw_input)


def test_a_command_in_a_title_is_read_for_variables_and_ordinary_words_are_none() -> None:
    assert LOADS in draw(title="LD_PRELOAD=/tmp/x.so ls", kind="execute")
    ordinary = {"path": "a", "home": "b", "editor": "c", "text": "LD_PRELOAD=x", "env": {"CI": "1"}}
    assert not [line for line in draw(kind="edit", raw_input=ordinary) if line.startswith("Warning")]


@pytest.mark.parametrize("path", ["/project", "/project/a/../b", "a/b", "/project/.."])
def test_only_what_leads_out_is_called_outside(path: str) -> None:
    is_outside = path == "/project/.."
    assert any("outside" in line for line in draw(locations=(Location(path),))) is is_outside


def test_a_directory_outside_is_called_so_where_a_command_runs_there() -> None:
    assert execute({"command": "ls", "cwd": "/"})[0] == "outside the session's folder: /"


def test_the_folder_that_a_command_runs_in_is_said_once() -> None:
    assert execute({"command": "ls", "cwd": "/project"}, locations=(Location("/project"),)) == ["$ ls", "in /project"]


@pytest.mark.parametrize("reported", [{"command": "make", "cwd": "/evil"}, {"command": "rm -rf x", "cwd": "/evil"}])
def test_a_question_about_a_command_hides_nothing_that_its_call_reports_otherwise(
    reported: dict[str, str],
) -> None:
    lines = execute(reported, command=AskedCommand("make", "/project"))
    assert lines[:3] == ["outside the session's folder: /evil", "$ make", "in /project"]
    shown = "\n".join(lines)
    assert "cwd: /evil" in shown
    assert reported["command"] in shown


# Long texts


def left_out(**reported: Any) -> int:
    asked = ShownRequest(PermissionRequest(RequestKey(1), ID, ()), ToolCall(ID, **reported), "/project")
    return SubjectDrawing().draw(asked, SubjectStyle(80, PLAIN)).left_out


MARKS = "\u0301" * 10_000_000


@pytest.mark.parametrize(
    "reported",
    [
        {"title": cut_text(MARKS)},
        {"title": "x", "kind": cut_text(MARKS)},
        {"title": "x", "locations": (Location(cut_text(MARKS)),)},
        {"title": "x", "content": (TextDiff(cut_text(MARKS), "new", "old"),)},
        {"title": "x", "content": (BlockContent(Text(MARKS)),)},
        {"title": "x", "content": (BlockContent(Text("x")), BlockContent(Text(mark_of(10_000_000))))},
        {"title": "x", "raw_input": cut_value({"a": "short", "b": MARKS})},
        {"title": "x", "raw_input": cut_value({MARKS: 1})},
        {"title": "x", "kind": "execute", "raw_input": cut_value({"command": MARKS})},
    ],
)
def test_what_a_long_text_loses_is_counted_and_the_rest_is_little(reported: dict[str, Any]) -> None:
    assert left_out(**reported) > 9_000_000 - 4_096
    assert sum(map(len, draw(**reported))) < 2 * ON_SCREEN.most


def test_of_a_million_fields_not_all_are_counted() -> None:
    assert draw(raw_input={"a": [1] * 1_000_000})[-1] == "… over 20,000 more fields, not shown"
    assert draw(raw_input={"a": [1] * 1_500})[-1] == "… 500 more fields, not shown"


def test_all_texts_of_a_request_are_bounded_together() -> None:
    raw = {f"field{number}": f"{number} " + "漢" * 50_000 for number in range(20)}
    assert sum(map(len, draw(raw_input=raw))) < 2 * ON_SCREEN.most
    assert left_out(raw_input=raw) > 20 * 50_000 - ON_SCREEN.most


def test_a_title_that_begins_the_command_loses_nothing() -> None:
    command = "echo " + "word " * 2_000
    assert left_out(title=cut_text(f"`{command}`"), kind="execute", raw_input={"command": command}) == 0
    assert left_out(title=cut_text(f"`{command}`"), kind="execute", raw_input={"command": "other"}) > 5_000


@pytest.mark.parametrize(("patch", "is_told"), [("", False), ("@@ -1,1 +1,2 @@\n same\n+\n", True)])
def test_a_patch_that_says_no_more_than_the_diff_without_a_change_is_left_out(patch: str, is_told: bool) -> None:
    """As OpenCode 1.18.33 sends it."""
    path = "/project/a.py"
    head = f"Index: {path}\n{'=' * 67}\n--- {path}\n+++ {path}\n"
    drawn = draw(
        kind="edit",
        title=path,
        content=(TextDiff(path, "same\n", "same\n"),),
        locations=(Location(path),),
        raw_input={"filepath": path, "diff": head + patch},
    )
    assert any("Index:" in line for line in drawn) is is_told


def test_the_agents_words_are_dim_only_where_the_kind_tells_the_answers_apart() -> None:
    kinds = {"Push": "allow_once", "Only try": "allow_once", "Leave it": "reject_once"}
    answers = [PermissionOption(name, name, kind) for name, kind in kinds.items()]
    lines = option_lines(answers, None, Palette(muted=Style(dim=True)), 80)
    dim = ["".join(part.text for part in line if part.style and part.style.dim) for (line,) in lines]
    assert [name in text for name, text in zip(kinds, dim, strict=True)] == [False, False, True]
