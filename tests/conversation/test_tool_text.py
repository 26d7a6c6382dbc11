"""Which parts of a tool call's text are output, and which are Markdown."""

from __future__ import annotations

import json

import pytest

from acp_tui.cli.plain.tool_call_text import content_text
from acp_tui.conversation.content import Text
from acp_tui.conversation.tool_calls import BlockContent
from acp_tui.conversation.tool_text import Markdown, Output, parts_of
from support.waiting import LINEAR, growth


@pytest.mark.parametrize(
    "text",
    [
        "Command: ls\nOutput: (none)\nExit Code: 0",
        '[\n  {\n    "content": "Read **it**, see [a](https://a.example)"\n  }\n]',
        '{"text": "**a** `b`"}',
        "# a comment\nname: x\n- `item`\n",
        "drwxr-xr-x  2 me me  4096 a\n-rw-r--r--  1 me me     1 b",
        "def f(*args, **kwargs):\n    # **not** kwargs`\n    return a**b**c",
        "diff --git a/x.md b/x.md\n@@ -1,3 +1,3 @@\n # **Title**\n ```\n- `old`\n+ `new`\n ```",
        "--- a\n+++ b\n- **x** `y`",
        "<p>**a** `b`</p>",
        "  12\t```\n  13\tx\n  14\t```",
        "Wrote `a.py`.",
        "- one\n- two",
        "",
        " indented\n\n\nblank lines above\n",
    ],
)
def test_what_tools_print_is_output_to_the_letter(text: str) -> None:
    assert parts_of(text) == ((Output(text),) if text else ())


def test_a_list_of_todos_has_a_line_for_each() -> None:
    todos = [
        {"content": "Read the\ncode", "status": "completed", "priority": "high"},
        {"content": "Change it", "status": "in_progress", "priority": "medium", "id": "2"},
        {"content": "Test it", "status": "pending"},
    ]
    lines = "[x] Read the code\n[~] Change it\n[ ] Test it"
    assert parts_of(json.dumps(todos, indent=2)) == (Output(lines),)
    assert content_text(BlockContent(Text(json.dumps(todos)))) == lines


@pytest.mark.parametrize(
    "other",
    [
        *("[]", "[1]", "[{}]", "[" * 5_000, '[{"content": "a", "status": "odd"}]'),
        *('[{"content": 1, "status": "pending"}]', '[{"content": "a", "status": "pending", "owner": "me"}]'),
        '{"content": "a", "status": "pending"}',
    ],
)
def test_what_only_looks_like_todos_stays_as_it_is(other: str) -> None:
    assert parts_of(other) == (Output(other),)


def test_a_fence_is_markdown_and_what_stands_around_it_is_not() -> None:
    text = "Output of *ls*:\n```console\na\n  b\n```\nExit Code: 0\nSignal: none"
    assert parts_of(text) == (
        Output("Output of *ls*:"),
        Markdown("```console\na\n  b\n```"),
        Output("Exit Code: 0\nSignal: none"),
    )


def test_a_fence_ends_where_one_as_long_stands_or_with_the_text() -> None:
    assert parts_of("~~~~\n~~~\n```\n~~~~~ \nx") == (Markdown("~~~~\n~~~\n```\n~~~~~ "), Output("x"))
    assert parts_of("```\nis being written") == (Markdown("```\nis being written"),)
    assert parts_of("```ls``` is no fence") == (Output("```ls``` is no fence"),)


@pytest.mark.parametrize(
    "text",
    [
        "## Findings\n\n**Two** of them.",
        "- see [the page](https://a.example/x)\n- and another",
        "**Done**: wrote `a.py`",
        "| a | b |\n|---|:-:|\n| 1 | `2` |",
        "> said\n\nin [here](./a.md)",
    ],
)
def test_two_kinds_of_marks_make_markdown_where_one_is_unmistakable(text: str) -> None:
    [part] = parts_of(text)
    assert isinstance(part, Markdown)


def test_lines_of_paragraphs_stay_lines_in_markdown_and_fences_stay_as_they_are() -> None:
    text = "**Done**\nin `2` steps\n\n- a\n- b\n```\nx\ny\n```\nlast"
    assert parts_of(text) == (Markdown("**Done**  \nin `2` steps\n\n- a  \n- b\n```\nx\ny\n```\nlast"),)


@pytest.mark.parametrize("piece", ["`", "~~~\n", "```\n", "[", "[a](", "**a", "|---", " \n", "- ", "\n```", "> "])
def test_a_lot_of_anything_is_taken_apart_in_linear_time(piece: str) -> None:
    assert growth(lambda size: parts_of(piece * size), 2_000) < LINEAR
    # What a pattern does in one call isn't counted. If that were quadratic, this would take longer than a test may.
    parts_of(piece * (300_000 // len(piece)))
