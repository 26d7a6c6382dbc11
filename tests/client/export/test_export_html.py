"""The HTML page: its contents, and that it can only be read."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_tui.client.export import ExportFacts, to_html
from acp_tui.client.export.html import MAX_NESTING, render
from acp_tui.conversation.content import Image, ResourceLink, Text, TextResource, UnknownBlock
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.tool_calls import BlockContent, Location, TerminalContent, TerminalId, TextDiff
from acp_tui.conversation.updates import (
    CompactionChanged,
    Disconnected,
    MessageChunk,
    TerminalOpened,
    TerminalOutput,
    UnknownUpdate,
)
from acp_tui.conversation.visible import hidden_characters
from support.folding import agent, call, fold, prompt, thought

FACTS = ExportFacts("Demo Agent", "/project", "s-1")
PIECES = (
    *"<>&\"'`/=:; \t\n()[]!#|*_~\\x",
    *(
        "<script>",
        "</style>",
        "-->",
        "<!--",
        "javascript:alert(1)",
        "data:text/html,<b>",
        "onload=",
        "style=",
    ),
    *("[a](javascript:b)", "![a](https://b/c)", "<https://a>", "[a](https://b 'c')", 'https://a.b/"c'),
    *("&#27;", "&lt;script&gt;", "\u202e", "\x1b[31m", "\ud800", "\n\n", "    ", "```"),
)
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
VOID = {"meta", "img", "br", "hr"}
TAGS = VOID | {
    *(
        "html",
        "head",
        "title",
        "style",
        "body",
        "header",
        "main",
        "section",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
    ),
    *("dl", "dt", "dd", "details", "summary", "div", "p", "pre", "code", "span", "a", "em", "strong", "s"),
    *("ul", "ol", "li", "blockquote", "table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {
    *(
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
        "rel",
        "href",
        "src",
        "alt",
        "title",
        "start",
    )
}


class Reader(HTMLParser):
    """Reads a page as a browser does, and fails if it contains anything forbidden."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.pictures: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert {name for name, _ in attrs} <= ATTRIBUTES
        values = {name: value or "" for name, value in attrs}
        self.links += [values["href"]] if "href" in values else []
        self.pictures += [values["src"]] if "src" in values else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += "" if self.open[-1:] == ["style"] else data

    def handle_comment(self, data: str) -> None:
        raise AssertionError("there is a comment")


def page(conversation: Conversation, facts: ExportFacts = FACTS) -> str:
    return to_html(conversation, facts)


@pytest.mark.parametrize(
    "shown",
    [
        "<title>Fix the parser</title>",
        "<dt>Agent</dt><dd>Demo Agent 1.2</dd>\n<dt>Folder</dt><dd>/project</dd>\n<dt>Session</dt><dd>s-1</dd>",
        '<h2>You</h2>\n<div class="typed">Why?\n\nAnd how?</div>',
        "<summary>file: /a.py, 2 lines</summary>\n<pre><code>one\ntwo\n</code></pre>",
        '<p class="problem">Shortened.</p>',
        '<details>\n<summary><h2>Thought</h2></summary>\n<div class="prose"><p>Let me <strong>think</strong>.</p>',
        '<h2>Demo Agent</h2>\n<div class="prose"><h3>Answer</h3>\n<p>Because.</p></div>',
        '<img src="data:image/png;base64,iVBORw0KGgo=" alt="[image: PNG, 8 bytes]">',
        '<p class="note">[image: SVG, ',
        '<p class="note">[audio: WAV, ',
        'a page: <a class="bare" rel="noopener noreferrer" href="https://example.org/a">https://example.org/a</a>',
        '<p class="note">a trap: javascript:alert(1)</p>',
        "<summary>file: /notes.txt, 1 line</summary>\n<pre><code>noted</code></pre>",
        "[file: /data.bin, 3 bytes]",
        "<summary>hologram: a kind of content acp-tui doesn&#x27;t know</summary>",
        "<h2>Edit a.py</h2>",
        "/project/a.py:2</p>\n",
        "<pre><code>Some *words*.</code></pre>",
        '<span class="removed">-two</span>\n<span class="added">+three</span>',
        '<pre><code>$ make test\n1 failed</code></pre>\n<p class="problem">exit 2 · 1.5 s</p>',
        "<summary>dance: a kind of content acp-tui doesn&#x27;t know</summary>",
        "your rule chose: Allow once (no edits) · 2023-11-14 22:13:20 UTC",
        '<h2>fetch it</h2>\n<p class="problem">fetch · failed</p>\n<details>\n<summary>Raw input</summary>',
        "<summary>Raw output</summary>\n<pre><code>not found</code></pre>",
        "permission: canceled",
        "<h2>Your command</h2>\n<pre><code>$ ls\na.py</code></pre>",
        '<h2>Context compaction</h2>\n<p class="note">failed</p>\n<p class="problem">no room</p>',
        "<p>In short.</p>",
        '<h2>Turn ended</h2>\n<p class="note">stopped: token limit reached</p>',
        '<p class="problem">Overloaded</p>\n<pre><code>try later</code></pre>',
        "<pre><code>Traceback\nKeyError: &#x27;x&#x27;</code></pre>",
        "<summary><h2>mood: an update acp-tui doesn&#x27;t know</h2></summary>",
        "<li>☑ Read (high priority)</li>\n<li>☐ Write (in progress)</li>",
        '<p class="note">1,200 of 8,000 tokens · $0.50</p>',
    ],
)
def test_every_kind_of_entry_stands_on_the_page(everything: Conversation, facts: ExportFacts, shown: str) -> None:
    assert shown in page(everything, facts)


def test_the_page_is_well_formed_and_links_only_to_what_is_safe(everything: Conversation, facts: ExportFacts) -> None:
    read = Reader(page(everything, facts))

    assert read.links == ["https://example.org/a"]
    assert "for the model only" not in read.text


@given(HOSTILE)
@example("</style><script>alert(1)</script>")
@example("[a](javascript:b) <javascript:c> [d](JaVaScRiPt&#58;e) [f](data:text/html,g)")
@example("![a](https://b/c) [![d](https://e)](https://f)")
@example("| a |\n|--:|\n| b |")
def test_whatever_an_agent_says_is_text(text: str) -> None:
    terminal = TerminalId("t")
    read = Reader(
        page(
            fold(
                prompt(text),
                agent(f"x{text}"),
                thought(f"x{text}"),
                MessageChunk("agent", Image(text, text, text), "i"),
                MessageChunk("agent", ResourceLink(text, text), "l"),
                MessageChunk("agent", TextResource(text, text), "r"),
                MessageChunk("agent", UnknownBlock(text, {text: text}), "u"),
                TerminalOpened(terminal, text, text),
                TerminalOutput(terminal, text.encode("utf-8", "replace")),
                call(
                    "c",
                    title=text,
                    kind=text,
                    status=text,
                    locations=(Location(text),),
                    content=(
                        BlockContent(Text(text)),
                        TextDiff(text, text, text[::-1]),
                        TerminalContent(terminal),
                    ),
                ),
                call("d", raw_input=text, raw_output={text: [text]}),
                CompactionChanged("k", text, (Text(text),), text),
                UnknownUpdate(text, text),
                Disconnected(text, text),
            ),
            ExportFacts(text, text, text, text, text, text),
        )
    )
    assert all(link.startswith(("https://", "http://", "mailto:")) for link in read.links)
    assert read.pictures == []
    assert hidden_characters().isdisjoint(read.text)


def test_the_policy_allows_the_pages_own_style_and_no_other() -> None:
    html = page(fold(agent("| a |\n|--:|\n| b |")))
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()

    assert f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'" in html
    assert '<th class="right">' in html
    assert "url(" not in style


@pytest.mark.parametrize(
    ("mime_type", "data", "is_shown"),
    [
        ("image/png", "aGVsbG8=", True),
        ("image/webp", "aGVs\nbG8=", True),
        ("image/svg+xml", "aGVsbG8=", False),
        ("text/html", "aGVsbG8=", False),
        ("image/png", 'x" onerror="alert(1)', False),
        ("image/png", "", False),
    ],
)
def test_only_pictures_without_scripts_are_shown(mime_type: str, data: str, is_shown: bool) -> None:
    read = Reader(page(fold(MessageChunk("agent", Image(data, mime_type)))))

    assert len(read.pictures) == is_shown


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("[text](https://a.org)", '<p><a href="https://a.org" rel="noopener noreferrer">text</a></p>'),
        (
            "<https://a.org>",
            '<p><a href="https://a.org" rel="noopener noreferrer" class="bare">https://a.org</a></p>',
        ),
        ("[a](javascript:b)", "<p>[a](javascript:b)</p>"),
        ("![a](https://b/c.png)", "<p><em>[image: a]</em> (https://b/c.png)</p>"),
        ("<b>&#x202e;</b>", "<p>&lt;b&gt;⟨U+202E⟩&lt;/b&gt;</p>"),
        ("# a\n###### b", "<h3>a</h3>\n<h6>b</h6>"),
    ],
)
def test_prose_is_rendered_without_what_does_harm(markdown: str, html: str) -> None:
    assert render(markdown) == html


@pytest.mark.parametrize("source", ["> " * (MAX_NESTING + 5) + "deep", "![" * 450 + "](x)" * 450, "[" * 2000])
def test_what_the_parser_cannot_take_is_shown_as_it_stands(source: str) -> None:
    assert Reader(render(source)).text.strip().startswith(source[:100].strip())
