"""The detail shown beside a tool call's title if that is only the tool's name."""

from __future__ import annotations

from typing import Any

import pytest

from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.tool_calls import TerminalContent, TerminalId, ToolCall, ToolCallId
from acp_tui.conversation.tool_text import ToolSubject, subject_of

TERMINAL = TerminalId("t")


def call(title: str, raw_input: Any = None, **reported: Any) -> ToolCall:
    return ToolCall(ToolCallId("c"), title, raw_input=raw_input, **reported)


@pytest.mark.parametrize(
    ("reported", "words"),
    [
        (call("execute", {"command": "echo hi"}, kind="execute"), "$ echo hi"),
        (call("Bash", {"command": ["ls", "a b"]}, kind="execute"), "$ ls 'a b'"),
        (call("Say hi", {"command": "echo hi"}, kind="execute"), "$ echo hi"),
        (call("git status", {"command": "git status; rm -rf /"}, kind="execute"), "$ git status; rm -rf /"),
        (call("run", {"command": "ls", "args": ["-l"]}), "$ ls -l"),
        (call("bash", {"command": "make", "path": "/p"}, kind="execute"), "$ make"),
        (call("editor", {"command": "view", "path": "/p/a.py"}, kind="read"), "/p/a.py"),
        (call("mcp__web__fetch", {"url": "https://a.example"}), "https://a.example"),
        (call("grep", {"path": "/p", "pattern": "x+"}), "x+"),
        (call("Web Search", {"query": "acp"}, name="Web Search"), "acp"),
        (call("read_file", {"file_path": "/p/a.py", "limit": 5}), "/p/a.py"),
        (call("echo", content=(TerminalContent(TERMINAL),)), "$ echo hi"),
    ],
)
def test_a_command_a_query_an_address_or_a_path_is_told(reported: ToolCall, words: str) -> None:
    subject = subject_of(reported, {TERMINAL: TerminalState(TERMINAL, "echo hi\n")})
    assert subject is not None
    assert subject.words == words


@pytest.mark.parametrize(
    "reported",
    [
        call("echo hi", {"command": "echo hi"}, kind="execute"),
        call("Say `echo hi`", {"command": "echo hi"}, kind="execute"),
        call("git status", {"command": ["/bin/bash", "-lc", "git status"]}, kind="execute"),
        call("Say hi", {"command": "echo hi"}),
        call("ls", {"command": "ls"}, kind="execute"),
        call("execute", {"command": ""}, kind="execute"),
        call("execute", {"command": 5, "path": ["a"]}, kind="execute"),
        call("execute", "echo hi", kind="execute"),
        call("/p/a.py", {"path": "/p/a.py"}),
        call("think", {"thought": "hm"}),
        call("echo", content=(TerminalContent(TerminalId("unknown")),)),
    ],
)
def test_nothing_is_told_twice_or_made_up(reported: ToolCall) -> None:
    assert subject_of(reported, {}) is None


def test_nothing_hides_in_it() -> None:
    assert ToolSubject("rm\u202e \u2013rf\nx\x1b[m", is_command=True).visible.startswith("$ rm⟨U+202E⟩ ⟨U+2013≈-⟩rf")
    assert "\n" not in ToolSubject("a\nb").visible
    assert "\x1b" not in ToolSubject("a\x1b[mb").visible
