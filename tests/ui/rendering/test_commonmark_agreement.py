"""Drawn Markdown shows what its HTML would: the same blocks, nesting, words, and marks.

Both are read into one form, without drawing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from html import unescape
from itertools import groupby
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.conversation.visible import make_visible
from acp_tui.ui.rendering.markdown import MarkdownRenderer
from acp_tui.ui.rendering.palette import Palette

WIDTH: Final = 400
"""Wide enough that no example wraps."""
_STYLES: Final[dict[str, Any]] = {
    field.name: Style(meta={field.name: True}) for field in fields(Palette) if field.type == "Style"
}
NAMED: Final = Palette(**_STYLES)
"""Styles that contain their own names, so a segment tells what it is."""

Marked: TypeAlias = tuple[str, frozenset[str]]
"""A character and its marks."""
_MARKS: Final = {"em": "emphasis", "strong": "strong", "code": "code", "a": "link", "del": "strikethrough"}
_HEADINGS: Final = {"heading_1": "h1", "heading_2": "h2", "heading": "h3"}
_SPACE: Final = " \t\n"


@dataclass(frozen=True, slots=True)
class Level:
    """A quote, or an item with its number or bullet."""

    mark: str
    is_new: bool
    """Whether the block is the first in it."""


@dataclass(frozen=True, slots=True)
class Block:
    """A leaf of the document: a paragraph, heading, code block, rule, or table row, and where it is."""

    path: tuple[Level, ...]
    kind: str
    lines: tuple[tuple[Marked, ...], ...]
    """Without white space at the ends, and with single spaces inside."""

    def __str__(self) -> str:
        """The block as a failing test shows it."""
        path = "".join(f"{level.mark}{'+' if level.is_new else ' '} " for level in self.path)
        return f"{path}{self.kind}: " + " / ".join("".join(text for text, _ in line) for line in self.lines)


def _tidied(line: Iterable[Marked]) -> tuple[Marked, ...]:
    tidy: list[Marked] = []
    for character, marks in line:
        if character not in _SPACE:
            tidy.append((character, marks))
        elif tidy and tidy[-1][0] != " ":
            tidy.append((" ", frozenset()))
    return tuple(tidy[:-1] if tidy and tidy[-1][0] == " " else tidy)


def _code_line(line: str) -> tuple[Marked, ...]:
    return tuple((character, frozenset[str]()) for character in line.expandtabs(4).rstrip(" "))


# What is drawn


def drawn_blocks(source: str) -> list[Block]:
    """The blocks a reader sees when `source` is drawn."""
    renderer = MarkdownRenderer(source)
    renderer.finish()
    return list(_Rows().read(renderer.lines(WIDTH, NAMED)))


def drawn_text(source: str) -> str:
    """Everything drawn, including link targets."""
    renderer = MarkdownRenderer(source)
    renderer.finish()
    return "\n".join([strip.text for strip in renderer.lines(WIDTH, NAMED)])


def _names(segment: Segment) -> set[str]:
    return set(segment.style.meta) if segment.style else set()


class _Rows:
    """Follows the margins from row to row."""

    def __init__(self) -> None:
        self._path: list[Level] = []
        self._kind = ""
        self._lines: list[tuple[Marked, ...]] = []

    def read(self, rows: Iterable[Strip]) -> Iterator[Block]:
        for row in rows:
            margin, content = _split(list(row))
            levels = self._levels(margin)
            kind = _kind(content)
            begins_level = any(level.is_new for level in levels)
            if begins_level or kind != self._kind or kind.startswith("h"):
                yield from self._block()
                self._path = levels
            self._kind = kind or ("empty" if begins_level else "")
            if line := _line(content, kind):
                self._lines += line
        yield from self._block()

    def _levels(self, margin: Iterable[Segment]) -> list[Level]:
        levels: list[Level] = []
        is_new = False
        for at, segment in enumerate(margin):
            before = self._path[at].mark if at < len(self._path) else ""
            names = _names(segment)
            if names & {"list_marker", "task_done", "task_open"}:
                mark, is_new = re.sub("[•◦▪]", "•", segment.text.strip()), True
            elif "quote_bar" in names:
                mark, is_new = ">", is_new or before != ">"
            else:
                mark = before
            levels.append(Level(mark, is_new))
        return levels

    def _block(self) -> Iterator[Block]:
        if self._kind:
            yield Block(tuple(self._path), self._kind, tuple(self._lines))
            self._path = [Level(level.mark, False) for level in self._path]
        self._lines = []


def _split(segments: list[Segment]) -> tuple[list[Segment], list[Segment]]:
    """A row's margin, and what is to the right of it."""
    at = 0
    while at < len(segments) and (
        _names(segments[at]) & {"quote_bar", "list_marker", "task_done", "task_open"}
        or (segments[at].style is None and segments[at].text.isspace())
    ):
        at += 1
    return segments[:at], segments[at:]


def _kind(content: list[Segment]) -> str:
    names = set[str]().union(*map(_names, content))
    if heading := names & set(_HEADINGS):
        return _HEADINGS[heading.pop()]
    if "code_block" in names:
        return "pre"
    if "rule" in names:
        return "hr"
    return "p" if content else ""


def _line(content: list[Segment], kind: str) -> list[tuple[Marked, ...]]:
    match kind:
        case "" | "hr":
            return []
        case "pre":
            text = "".join(segment.text for segment in content)[1:]
            is_label = any("code_label" in _names(segment) for segment in content)
            return [_code_line(f"language {text.split()[0]}" if is_label else text)]
        case _:
            shown = [segment for segment in content if "muted" not in _names(segment)]
            return [_tidied((character, _marks(segment)) for segment in shown for character in segment.text)]


def _marks(segment: Segment) -> frozenset[str]:
    return frozenset(_names(segment) & set(_MARKS.values()))


# What HTML describes

_TAG: Final = re.compile(
    r"</?(?P<tag>p|h[1-6]|ul|ol|li|blockquote|pre|code|em|strong|del|a|img|br|hr)"
    r'(?P<attributes>(?: [a-z]+="[^"]*")*)(?: /)?>'
    r"|<!---?>|<!--.*?-->|<[^>]*>|[^<]+|<",
    re.DOTALL,
)
_ATTRIBUTE: Final = re.compile(r'([a-z]+)="([^"]*)"')


def html_blocks(html: str, source: str) -> list[Block]:
    """The blocks of `html`; tags written in `source` are text."""
    reader = _Html(source)
    for found in _TAG.finditer(html):
        if found["tag"] and found.group() not in source:
            attributes = {name: unescape(value) for name, value in _ATTRIBUTE.findall(found["attributes"])}
            if found.group().startswith("</"):
                reader.close(found["tag"])
            else:
                reader.open(found["tag"], attributes)
        elif found.group().startswith("<"):
            reader.add_html(found.group())
        else:
            reader.add_text(make_visible(unescape(found.group())))
    reader.end_block()
    return reader.blocks


def html_targets(html: str, source: str) -> list[str]:
    """Where the links and images of `html` lead."""
    return [
        unescape(found[1])
        for tag in _TAG.finditer(html)
        if tag["tag"] in ("a", "img") and tag.group() not in source
        for found in re.finditer(r'(?:href|src)="([^"]*)"', tag["attributes"])
    ]


class _Html:
    """Follows the tags. Text outside a block becomes a paragraph of its container."""

    def __init__(self, source: str) -> None:
        self.blocks: list[Block] = []
        self._source = source
        self._path: list[Level] = []
        self._numbers: list[int | None] = []
        self._kind = ""
        self._is_html = False
        self._lines: list[list[Marked]] = []
        self._marks: list[str] = []

    def open(self, tag: str, attributes: dict[str, str]) -> None:
        match tag:
            case "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "pre":
                self._begin("h3" if tag in ("h4", "h5", "h6") else tag)
            case "hr":
                self._begin("hr")
                self.end_block()
            case "br":
                self._lines.append([])
            case "code" if self._kind == "pre":
                if language := attributes.get("class", "").removeprefix("language-"):
                    self.add_text(f"language {language}\n")
            case "img":
                words = attributes["alt"].split()
                self._add(" ".join(["image:", *words] if words else ["image"]), {*self._marks, "emphasis"})
            case "ul" | "ol":
                self.end_block()
                self._numbers.append(int(attributes.get("start", 1)) if tag == "ol" else None)
            case "li" | "blockquote":
                self.end_block()
                self._path.append(Level(">" if tag == "blockquote" else self._next_mark(), True))
            case _:
                self._marks.append(_MARKS[tag])

    def close(self, tag: str) -> None:
        match tag:
            case "ul" | "ol":
                self._numbers.pop()
            case "li" | "blockquote":
                self.end_block()
                if self._path[-1].is_new:
                    self._begin("empty")
                    self.end_block()
                self._path.pop()
            case "code" if self._kind == "pre":
                pass
            case "em" | "strong" | "code" | "a" | "del":
                self._marks.pop()
            case _:
                self.end_block()

    def add_html(self, text: str) -> None:
        """HTML written in the source."""
        if not self._kind:
            self._begin("p")
            self._is_html = True
        self.add_text(text)

    def add_text(self, text: str) -> None:
        if not self._kind and text.strip(_SPACE):
            self._begin("p")
        if self._kind == "pre" or self._is_html:
            first, *others = text.split("\n")
            self._add(first, set())
            for line in others:
                self._lines.append([])
                self._add(line, set())
        elif self._kind:
            self._add(text, set(self._marks))

    def _add(self, text: str, marks: set[str]) -> None:
        if not self._kind:
            self._begin("p")
        self._lines[-1] += [(character, frozenset(marks)) for character in text]

    def _next_mark(self) -> str:
        number = self._numbers[-1]
        if number is None:
            return "•"
        self._numbers[-1] = number + 1
        return f"{number}."

    def _begin(self, kind: str) -> None:
        self.end_block()
        self._kind = kind
        self._lines = [] if kind in ("hr", "empty") else [[]]

    def end_block(self) -> None:
        """End the open block."""
        for lines in self._parts():
            self.blocks.append(Block(tuple(self._path), self._kind, lines))
            self._path = [Level(level.mark, False) for level in self._path]
        self._kind, self._is_html = "", False

    def _parts(self) -> list[tuple[tuple[Marked, ...], ...]]:
        """The block's lines; empty lines split HTML into parts, as a reader sees it."""
        if not self._kind:
            return []
        if self._kind == "pre":
            texts = ["".join(character for character, _ in line) for line in self._lines]
            is_empty = len(texts) == 1 + texts[0].startswith("language ")
            return [tuple(map(_code_line, texts if is_empty else texts[:-1]))]
        lines = [_tidied(line) for line in self._lines]
        if not self._is_html:
            return [tuple(lines)]
        return [tuple(part) for full, part in groupby(lines, bool) if full]


EXAMPLES: Final = Path(__file__).parents[4] / "shared" / "markdown" / "commonmark.json"
OTHERWISE: Final = {
    79: "A heading without text isn't drawn: in a terminal there is nothing to see of it.",
    190: "Blocks of HTML below each other have no border in the HTML; here the empty lines between them stay.",
    191: "As 190.",
    353: "No-break spaces are made visible before the text is parsed, and then they aren't spaces any more.",
    487: "A link without text and target isn't drawn: there is nothing to see or to follow.",
    507: "As 353: the no-break space is a part of the target there.",
    602: "An address is a link without marks, too, as in GitHub's Markdown.",
    608: "As 602.",
    611: "As 602.",
}
"""The examples drawn differently than CommonMark says, by number, and why.

In all examples, headings of levels 3 to 6 look alike, HTML is shown as written, a link's title isn't shown, spaces at
line ends can't be seen, and a tab in code takes four columns.
"""


def commonmark_examples() -> list[dict[str, Any]]:
    if not EXAMPLES.exists():
        pytest.skip("the CommonMark examples aren't part of the repository")
    examples: list[dict[str, Any]] = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    return examples


def agrees(markdown: str, html: str) -> bool:
    """Whether the same blocks show, and where all links lead."""
    shown = drawn_text(markdown)
    return drawn_blocks(markdown) == html_blocks(html, markdown) and all(
        target.removeprefix("mailto:") in shown for target in html_targets(html, markdown)
    )


def test_every_commonmark_example_shows_the_blocks_words_and_targets_of_its_html() -> None:
    examples = commonmark_examples()
    otherwise = [example["example"] for example in examples if not agrees(example["markdown"], example["html"])]
    assert len(examples) == 652
    assert otherwise == list(OTHERWISE)


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("~~a~~ *b*", "<p><del>a</del> <em>b</em></p>"),
        (
            "> 1. a\n>    - b\n>\n>      ```py\n>      x\n>      ```\n> 2. c",
            "<blockquote><ol><li>a<ul><li><p>b</p><pre><code class='language-py'>x\n</code></pre></li></ul></li>"
            "<li>c</li></ol></blockquote>".replace("'", '"'),
        ),
        ("- > a\n\n  b\n- c", "<ul><li><blockquote><p>a</p></blockquote><p>b</p></li><li>c</li></ul>"),
        ("8. a\n9. b\n10. c", '<ol start="8"><li>a</li><li>b</li><li>c</li></ol>'),
    ],
)
def test_nested_blocks_show_what_their_html_shows(markdown: str, html: str) -> None:
    assert list(map(str, drawn_blocks(markdown))) == list(map(str, html_blocks(html, markdown)))


@pytest.mark.parametrize("markdown", ["a\n\nb", "- a\n- b", "> a", "*a*", "# a", "1. a", "`a`", "    a"])
def test_the_comparison_sees_a_difference(markdown: str) -> None:
    assert not agrees(markdown, "<p>a</p>")
