"""How a permission request looks on a terminal: complete, and never longer than fits."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from acp_tui.cli import permissions
from acp_tui.cli.permissions import question_text
from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.facts import PermissionOption, PermissionRequest, RequestKey
from acp_tui.conversation.request_outline import ShownRequest
from acp_tui.conversation.tool_calls import TerminalContent, TerminalId, TextDiff, ToolCall, ToolCallId

CALL = ToolCallId("c")


def shown(
    note: str | None = None, terminals: Mapping[TerminalId, TerminalState] = MappingProxyType({}), **call: Any
) -> str:
    options = (PermissionOption("a", "Allow", "allow_once"), PermissionOption("r", "No", "reject_once"))
    request = PermissionRequest(RequestKey(1), CALL, options, note=note)
    return question_text(ShownRequest(request, ToolCall(CALL, title="push", **call), terminals=terminals))


def test_our_own_word_on_it_comes_first() -> None:
    assert shown("Your rule refuses it\x1b (git push).").splitlines()[:2] == [
        "Your rule refuses it␛ (git push).",
        "Permission needed: push",
    ]


def test_the_content_of_a_new_file_is_shown_once() -> None:
    diff = TextDiff("/p/a.py", "one = 1\ntwo = 2\n")
    text = shown(content=(diff,), raw_input={"file_path": "/p/a.py", "content": diff.new_text})
    assert text.count("two = 2") == 1
    text = shown(content=(diff,), raw_input={"file_path": "/p/a.py", "content": f"{diff.new_text}three = 3\n"})
    assert "three = 3" in text, "no diff shows that line"


def test_options_are_numbered_below_a_blank_line() -> None:
    assert shown().endswith("\n\n  1 y  Allow once\n  2 n  Reject once  “No”")


def test_what_is_nested_deeply_is_shown_all_the_same() -> None:
    deep: Any = "rm -rf /"
    for _ in range(100_000):
        deep = [deep]
    assert "- rm -rf /\n" in shown(raw_input=deep)
    while isinstance(deep, list):  # freed at once, this would recurse too deeply
        deep = deep.pop()


def test_long_input_shows_its_start_and_counts_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permissions, "MAX_CHARACTERS", len("input: ") + 10)
    text = shown(raw_input="12345678\x1b" + "9" * 5)
    assert "  input:\n  │ 12345678␛9\n  … 4 more characters, not shown\n" in text


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("a\n", "a\r\n", ["-a", "+a␍"]),
        ("a\r\nb\n", "a\nb\n", ["-a␍", "+a", " b"]),
        ("a", "a\n", ["-a", "\\ No newline at end of file", "+a"]),
        ("a\x0cb\n", "a\n", ["-a␌b", "+a"]),
        (None, "a\n", ["+a"]),
    ],
)
def test_a_diff_shows_line_ends_and_splits_at_newlines_only(old: str | None, new: str, lines: list[str]) -> None:
    text = shown(content=(TextDiff("/x", new, old),))
    header = ["  --- /dev/null" if old is None else "  --- /x", "  +++ /x"]
    assert text.splitlines()[1:3] == header
    assert text.splitlines()[4 : 4 + len(lines)] == [f"  {line}" for line in lines]


@pytest.mark.parametrize("command", ["push", "push\n", "push --force"])
def test_a_title_that_is_the_command_is_told_once(command: str) -> None:
    told = shown(kind="execute", raw_input={"command": command}).splitlines()
    assert told[0] == f"Permission needed: {'Run a command' if command == 'push' else 'push'}"
    assert told[1] == f"  $ {command.strip()}"


TERMINAL = TerminalId("t")
DEV_SERVER = TerminalState(TERMINAL, "npm run dev", "/web")


@pytest.mark.parametrize(
    ("call", "lines"),
    [
        ({"kind": "execute", "raw_input": {"command": ["make", "all"]}}, ["  $ make all"]),
        ({"kind": "execute", "raw_input": {"command": "cd a\nrm -rf b"}}, ["  $ cd a", "  > rm -rf b"]),
        ({"kind": "execute", "raw_input": {"command": "ls", "cwd": "/w", "n": 1}}, ["  $ ls", "  in /w", "  n: 1"]),
        ({"content": (TerminalContent(TERMINAL),)}, ["  terminal", "  $ npm run dev", "  in /web"]),
        ({"name": "push_it"}, ["  tool: push_it"]),
        ({"kind": "teleport"}, ["  kind: teleport"]),
        ({"raw_output": {"done": True}}, ["  output:", "    done: true"]),
        ({"meta": {"x": "Read this first"}}, ["  what else is reported isn't shown here: _meta"]),
        ({}, ["  the agent didn't say exactly what this does"]),
    ],
)
def test_it_tells_what_the_card_shows(call: dict[str, Any], lines: list[str]) -> None:
    told = shown(terminals={TERMINAL: DEV_SERVER}, **call).splitlines()
    assert "\n".join(lines) in "\n".join(told)
