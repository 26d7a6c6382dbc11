"""How tool calls look: what a bare title omits, where they work, and their text."""

from __future__ import annotations

from typing import Any

import pytest

from acp_tui.conversation.content import Text
from acp_tui.conversation.facts import PermissionOption, RequestKey
from acp_tui.conversation.tool_calls import (
    BlockContent,
    Location,
    TerminalContent,
    TerminalId,
    TextDiff,
)
from acp_tui.conversation.updates import PermissionAnswered, SessionUpdate, TerminalOpened
from support.folding import ALLOW, REJECT, ask, call
from support.screens import open_page

JSON = '[\n  {\n    "content": "Read **it**"\n  }\n]'


def text_call(text: str) -> SessionUpdate:
    return call("c", title="A call", kind="other", content=(BlockContent(Text(text)),))


def head(text: str) -> str:
    """The line with the title."""
    return next(line.strip(" ▐") for line in text.split("\n") if "tool" in line)


@pytest.mark.parametrize(
    ("reported", "line"),
    [
        ({"raw_input": {"command": "echo hi"}, "kind": "execute"}, "○ • tool  $ echo hi"),
        ({"raw_input": {"command": "a\nb"}, "kind": "execute"}, "○ • tool  $ a␊b"),
        ({"raw_input": {"path": "/project/a.py"}, "kind": "read"}, "○ → tool  a.py"),
        (
            {"raw_input": {"url": "https://a.example"}, "status": "failed"},
            "✗ • tool  https://a.example  failed",
        ),
        ({"raw_input": {"path": "/project/a.py"}, "content": (TextDiff("/project/a.py", "x"),)}, "○ • tool"),
        (
            {"raw_input": {"path": "/project/a.py"}, "locations": (Location("/project/a.py"),)},
            "○ • tool  a.py",
        ),
        ({"content": (TerminalContent(TerminalId("t")),)}, "○ • tool  $ make all"),
    ],
)
async def test_a_bare_title_is_followed_by_what_it_is_about(reported: dict[str, Any], line: str) -> None:
    terminal = TerminalOpened(TerminalId("t"), "make all", "/project")
    async with open_page(terminal, call("c", title="tool", **reported)) as page:
        assert head(page.text) == line


async def test_a_long_command_is_cut_to_the_line_until_the_call_is_opened() -> None:
    command = f"echo {'x' * 200} whole"
    async with open_page(call("c", title="tool", kind="execute", raw_input={"command": command})) as page:
        assert head(page.text).endswith("x…")
        assert "whole" not in page.text
        await page.press("ctrl+o")
        assert "whole" in page.text


async def test_a_title_that_is_cut_leaves_room_for_how_the_call_ended() -> None:
    async with open_page(call("c", title=f"tool {'a b c ' * 200}", status="failed"), size=(40, 24)) as page:
        assert page.lines[2].strip(" ▐").endswith("…  failed")


async def test_an_open_call_says_the_tools_name_unless_the_title_does() -> None:
    told = call("c", title="List the files", kind="execute", name="[b]exec_command\x1b", raw_input={"a": 1})
    async with open_page(told, call("d", title="write_file a", name="write_file", raw_input={"a": 1})) as page:
        assert "exec_command" not in page.text
        await page.press("ctrl+o")
        assert "tool: [b]exec_command␛" in page.text
        assert "tool: write_file" not in page.text
        assert page.text.count("tool: ") == 1


async def test_an_open_call_has_no_row_for_what_is_empty() -> None:
    empty = call("c", title="tool", raw_input={}, raw_output="")
    async with open_page(empty, call("d", title="other", raw_input={"a": 1}, raw_output=False)) as page:
        await page.press("ctrl+o")
        assert "a: 1" in page.text
        assert (page.text.count("input:"), page.text.count("output:")) == (1, 1)
        assert "output: false" in page.text


@pytest.mark.parametrize(("kind", "line"), [("execute", "○ $ tool"), ("search", "○ ⌕ tool  .")])
async def test_the_sessions_own_folder_is_no_news_beside_a_command(kind: str, line: str) -> None:
    reported = call("c", title="tool", kind=kind, locations=(Location("/project/"),))
    async with open_page(reported) as page:
        assert head(page.text) == line


async def test_what_a_tool_prints_keeps_its_lines_and_its_blanks() -> None:
    async with open_page(text_call(JSON)) as page:
        for line in JSON.split("\n"):
            assert f"    │ {line}" in page.text


async def test_a_fence_in_a_tools_text_is_a_panel_and_the_lines_around_it_stay_lines() -> None:
    async with open_page(text_call("Output:\n```\n a\n```\nExit: 0\nSignal: none")) as page:
        assert "```" not in page.text
        assert "    │ Exit: 0\n" in "\n".join(line.rstrip(" ▐") for line in page.text.split("\n"))
        assert "    │ Signal: none" in page.text


async def test_markdown_in_a_tools_text_is_drawn_and_its_lines_stay_lines() -> None:
    async with open_page(text_call("## Done\n**Two** of 3\nfiles")) as page:
        for line in ("Done", "Two of 3", "files"):
            assert f"    │ {line}" in page.text


@pytest.mark.parametrize(
    ("option", "status", "said"),
    [(ALLOW, "completed", "Wrote file successfully."), (REJECT, "failed", "The user rejected permission.")],
)
async def test_the_diff_that_was_decided_on_stays_above_the_text_that_replaces_it(
    option: PermissionOption, status: str, said: str
) -> None:
    asked = ask(1, "c", title="tool", kind="edit", content=(TextDiff("/project/a.py", "x = 2", "x = 1"),))
    ended = call("c", status=status, content=(BlockContent(Text(said)),))
    async with open_page(asked, PermissionAnswered(RequestKey(1), option.option_id), ended) as page:
        await page.until(lambda: "x = 2" in page.text)
        assert page.text.index("a.py") < page.text.index("x = 1") < page.text.index(said)
        await page.apply(call("c", content=(TextDiff("/project/a.py", "x = 3", "x = 1"),)))
        await page.until(lambda: "x = 3" in page.text)
        assert "x = 2" not in page.text
