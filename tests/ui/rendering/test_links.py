"""Links lead to pages and files, and nothing an agent writes gets out of them."""

from __future__ import annotations

import io

import pytest
from rich.color import ColorSystem
from rich.segment import Segment
from textual.color import Color

from acp_tui.ui.rendering.links import (
    MAX_CHARACTERS,
    FilePlace,
    WithoutLinks,
    file_of,
    to_code,
    to_file,
    to_page,
    to_target,
)
from acp_tui.ui.rendering.markdown import MarkdownRenderer
from acp_tui.ui.rendering.palette import PLAIN

FOLDER = "/home/me/project"


def _place(style_link: str | None) -> FilePlace | None:
    return None if style_link is None else file_of(style_link)


@pytest.mark.parametrize(
    ("path", "line", "place"),
    [
        ("src/a.py", 7, FilePlace(f"{FOLDER}/src/a.py", 7)),
        ("/etc/hosts", None, FilePlace("/etc/hosts", None)),
        ("a b#c?.md", None, FilePlace(f"{FOLDER}/a b#c?.md", None)),
        ("../other/ü.py", 1, FilePlace("/home/me/other/ü.py", 1)),
        ("\x1b]8;;\x07", None, FilePlace(f"{FOLDER}/\x1b]8;;\x07", None)),
    ],
)
def test_a_file_is_found_again_in_its_link(path: str, line: int | None, place: FilePlace) -> None:
    assert _place(to_file(FOLDER, path, line).link) == place


@pytest.mark.parametrize(
    "hostile",
    [
        "https://a.example/\x1b\\\x1b]0;title\x07",
        "https://a.example/\x9c\u202e\n",
        "mailto:a@b.example\x07",
        "/tmp/\x1b]52;c;cm0=\x07",
        "/tmp/\ud800\x9d",
    ],
)
def test_no_target_ends_the_sequence_around_it(hostile: str) -> None:
    written = io.StringIO()
    for style in (to_page(hostile), to_file(FOLDER, hostile), to_target(FOLDER, hostile)):
        written.write(style.render("x", color_system=ColorSystem.TRUECOLOR))
        assert style.link is None or (style.link.isascii() and style.link.isprintable())
    text = written.getvalue()
    assert text.count("\x1b") == text.count("\x1b]8;") + text.count("\x1b\\")
    assert not {"\x07", "\x9c", "\x9d", "\n"} & {*text}


@pytest.mark.parametrize(
    "target",
    ["javascript:alert(1)", "data:text/html,x", "file://server/share", "//server/share", "ssh://host", "#part", ""],
)
def test_other_schemes_and_machines_are_no_links(target: str) -> None:
    assert to_target(FOLDER, target).link is None
    assert to_page(target).link is None


def test_text_without_a_folder_links_to_pages_only() -> None:
    assert to_target("", "src/a.py").link is None
    assert to_target("", "https://a.example/x").link == "https://a.example/x"


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("src/a.py#L7", FilePlace(f"{FOLDER}/src/a.py", 7)),
        ("src/a.py#L7-L9", FilePlace(f"{FOLDER}/src/a.py", 7)),
        ("src/a.py:7:2", FilePlace(f"{FOLDER}/src/a.py", 7)),
        ("docs/a%20b.md#part", FilePlace(f"{FOLDER}/docs/a b.md", None)),
        ("a.py:7", FilePlace(f"{FOLDER}/a.py", 7)),
    ],
)
def test_a_markdown_link_to_a_file_may_have_a_line(target: str, place: FilePlace) -> None:
    assert _place(to_target(FOLDER, target).link) == place


@pytest.mark.parametrize("code", ["src/a.py", "./a.py:7", "a.py:7", "a/b.test.ts:1:2", "/etc/x.conf"])
def test_code_that_looks_like_a_place_in_a_file_is_a_link(code: str) -> None:
    assert to_code(FOLDER, code).link is not None


@pytest.mark.parametrize("code", ["a.py", "json.loads", "x/y", "rm -rf a/b.py", "f(a/b.py)", "https://a.example/b.c"])
def test_other_code_is_no_link(code: str) -> None:
    assert to_code(FOLDER, code).link is None


def links(source: str, *, chunks: int = 1) -> list[str]:
    """The links of a message that comes in chunks, each with its text if that isn't its target."""
    message = MarkdownRenderer()
    for at in range(0, len(source), -(-len(source) // chunks)):
        message.append(source[at : at + -(-len(source) // chunks)])
        message.lines(200, PLAIN)
    message.finish()
    segments = [segment for strip in message.lines(200, PLAIN) for segment in strip if segment.style]
    return [
        link if link == segment.text else f"{segment.text} -> {link}"
        for segment in segments
        if (link := segment.style and segment.style.link)
    ]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("see https://a.example/x.", ["https://a.example/x"]),
        (
            "(see https://a.example/x_(y)), and http://localhost:3000/!",
            ["https://a.example/x_(y)", "http://localhost:3000/"],
        ),
        ("**https://a.example/b_c_d?e=1&f=2#g**: done", ["https://a.example/b_c_d?e=1&f=2#g"]),
        ("https://a.example/?b=1&amp;c=2;", ["https://a.example/?b=1&c=2"]),
        (
            '"https://a.example", https://b.example, 见https://c.example/日。',
            ["https://a.example", "https://b.example", "https://c.example/日 -> https://c.example/%E6%97%A5"],
        ),
        ("| a |\n|---|\n| https://a.example |", ["https://a.example"]),
        ("[https://a.example]", ["https://a.example"]),
        ("[b](https://a.example/x)", ["b -> https://a.example/x"]),
        ("<https://a.example> [https://b.example](https://b.example)", ["https://a.example", "https://b.example"]),
    ],
)
def test_an_address_in_a_message_is_a_link_without_the_sentence_around_it(source: str, found: list[str]) -> None:
    assert links(source) == found
    assert links(source, chunks=9) == found


@pytest.mark.parametrize(
    "source",
    [
        "`https://a.example`",
        "```\nhttps://a.example\n```",
        "https:// and xhttps://a.example",
        "javascript://a.example",
        "file:///etc/passwd",
    ],
)
def test_code_and_other_schemes_in_a_message_are_no_links(source: str) -> None:
    assert links(source) == []


@pytest.mark.parametrize(
    "address",
    [
        "https://google.com@evil.example/x",
        "https://user:word@a.example",
        "https://\u0430pple.example",
        "https://xn--pple-43d.example",
    ],
)
def test_an_address_whose_host_misleads_is_no_link(address: str) -> None:
    assert links(f"see {address} and [this]({address})") == []


def test_targets_too_long_for_terminals_are_left_out() -> None:
    assert to_page("https://a.example/" + "x" * MAX_CHARACTERS).link is None


def test_a_filter_takes_links_out_and_keeps_the_rest() -> None:
    style = to_page("https://a.example") + to_page("").parse("bold red")
    (segment,) = WithoutLinks().apply([Segment("x", style)], Color(0, 0, 0))
    assert segment.style is not None
    assert (segment.style.link, segment.style.bold, segment.text) == (None, True, "x")
