"""The Markdown page: its contents, and that an agent's text can't break out of its place."""

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from acp_tui.client.export.contained import contained, escaped, fence, literal
from acp_tui.client.export.facts import ExportFacts
from acp_tui.client.export.markdown import to_markdown
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import RequestKey
from acp_tui.conversation.tool_calls import BlockContent, TextDiff
from acp_tui.conversation.updates import CompactionChanged, PermissionAnswered
from acp_tui.conversation.visible import hidden_characters, make_visible, make_visible_line
from support.folding import agent, ask, call, fold, prompt, thought

FACTS = ExportFacts("Demo Agent", "/project", "s-1")
# Characters that may form structure, often enough that some do.
PIECES = (
    *"`~#<>!-=|[]()&;*_\\ \t\n1.:ax\r\x1b\u202e",
    *("```", "~~~~", "`` ", "<!--", "<script>", "<div hidden>", "</", "]]>", "<?", "![a](b)", "&#8238;"),
    *("\n\n", "    ", "> ", "- ", "1. ", "===\n", "---\n", "[a]: b\n"),
)
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
STRICT = MarkdownIt("commonmark", {"html": True})
WITH_TABLES = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def page(conversation: Conversation, facts: ExportFacts = FACTS) -> str:
    return to_markdown(conversation, facts)


def headings(markdown: str) -> list[str]:
    tokens = WITH_TABLES.parse(markdown)
    return [
        f"{before.markup} {token.content}"
        for before, token in pairwise(tokens)
        if before.type == "heading_open" and before.level == 0
    ]


def fences(markdown: str) -> list[str]:
    return [token.content for token in STRICT.parse(markdown) if token.type == "fence"]


@pytest.mark.parametrize(
    "shown",
    [
        "# Fix the parser\n\n- Agent: Demo Agent 1.2\n- Folder: /project\n- Session: s-1\n",
        "- Exported: 2026-11-21T10:00:00+00:00\n\n## You",
        "## You\n\n> Why?\n>\n> And how?\n\nfile: /a.py, 2 lines:\n\n```\none\ntwo\n\n```\n\n**Shortened.**",
        "> **Thought**\n>\n> Let me **think**.",
        "### Demo Agent\n\n#### Answer\n\nBecause.",
        "\\[image: PNG, 8 bytes]",
        "\\[image: SVG, ",
        "\\[audio: WAV, ",
        "a page: <https://example.org/a>",
        "a trap: javascript:alert(1)",
        "file: /notes.txt, 1 line:\n\n```\nnoted\n```",
        "\\[file: /data.bin, 3 bytes]",
        'hologram: a kind of content acp-tui doesn\'t know:\n\n```json\n{\n  "type": "hologram"',
        "### Edit a.py\n\nedit · unfinished · /project/a.py:2\n\n```\nSome *words*.\n```",
        "```diff\n--- /project/a.py\n+++ /project/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n```",
        "```console\n$ make test\n1 failed\n```\n\n**exit 2 · 1.5 s**",
        'dance: a kind of content acp-tui doesn\'t know:\n\n```json\n{\n  "type": "dance"',
        "**your rule chose: Allow once (no edits) · 2023-11-14 22:13:20 UTC**",
        '### fetch it\n\n**fetch · failed**\n\nRaw input:\n\n```json\n{\n  "url": "https://example.org"\n}\n```',
        "Raw output:\n\n```\nnot found\n```\n\npermission: canceled",
        "### Your command\n\n```console\n$ ls\na.py\n```\n\nstill running",
        "### Context compaction\n\nfailed\n\n**no room**\n\n> In short.",
        "### Turn ended\n\nstopped: token limit reached",
        "### Failure\n\n**Overloaded**\n\n```\ntry later\n```",
        "**Agent exited with code 1**\n\nits last lines:\n\n```\nTraceback\nKeyError: 'x'\n```",
        '### mood: an update acp-tui doesn\'t know\n\n```json\n{\n  "sessionUpdate": "mood"',
        "### Plan: 1 of 2 done\n\n- [x] Read (high priority)\n- [ ] Write (in progress)",
        "### Usage\n\n1,200 of 8,000 tokens, $0.50\n",
    ],
)
def test_every_kind_of_entry_stands_on_the_page(everything: Conversation, facts: ExportFacts, shown: str) -> None:
    assert shown in page(everything, facts)


def test_what_is_meant_for_the_model_alone_is_left_out(everything: Conversation, facts: ExportFacts) -> None:
    assert "for the model only" not in page(everything, facts)


@given(HOSTILE)
@example("a\n````\nb\n```")
@example("\ttabs\n\n```")
def test_a_fence_holds_exactly_what_was_put_in(text: str) -> None:
    assert fences(f"{fence(text, 'diff')}\n\nafter") == [make_visible(text) + "\n"]


def test_only_what_would_be_read_as_markup_is_escaped() -> None:
    assert literal("touch a_b.txt && echo {hi} > ~/c #1") == "touch a_b.txt && echo {hi} > ~/c #1"
    assert literal("# *a* _b_ &amp; <c> [d]") == r"\# \*a\* \_b\_ \&amp; \<c> \[d]"


@given(HOSTILE)
@example("- a")
@example("a_b_c ~~d~~ & &lt; # #")
@example("1. a")
@example("a #")
@example("---")
@example("![a](b) <http://c> &amp; `d")
def test_a_line_reads_as_it_was_said(text: str) -> None:
    tokens = WITH_TABLES.parse(literal(text))

    assert [token.type for token in tokens] in (["paragraph_open", "inline", "paragraph_close"], [])
    shown = "".join(child.content for token in tokens for child in token.children or ())
    assert shown == make_visible_line(text).strip()


@given(HOSTILE)
@example("```")
@example("~~~~x\n~~~")
@example("- ```\n  a")
@example("    code\n\n```")
@example("a `b\n\n<script>` c")
@example("a ` b | ` <script> ` |")
@example("\\\\<script>")
@example("> " * 30 + "<script>")
@example("[a]: <\n<!--\n> b")
@example("\t![a](b)")
@example("1. ```\n\t<script>")
@example("`===\n<!--`")
@example("`<script>\n> <div hidden>`")
def test_an_answer_stays_in_its_place(text: str) -> None:
    markdown = page(
        fold(
            prompt(f"A{text}"),
            agent(f"A{text}"),
            thought(f"A{text}"),
            call("c", title=text, content=(BlockContent(Text(text)),)),
            CompactionChanged("k", text, (Text(text),), text),
            prompt("END"),
        )
    )
    ours = [line for line in headings(markdown) if not line.startswith("####")]
    kept = [child for token in STRICT.parse(markdown) if token.type == "inline" for child in token.children or ()]

    assert [line.split(" ")[0] for line in ours] == ["#", "##", "###", "###", "###", "##"]
    assert (ours[1], ours[2], ours[4], ours[5]) == (
        "## You",
        "### Demo Agent",
        "### Context compaction",
        "## You",
    )
    assert not {child.type for child in kept} & {"html_inline", "image"}
    assert markdown.endswith("\n\n## You\n\n> END\n")
    assert hidden_characters().isdisjoint(markdown)


@given(HOSTILE)
def test_no_renderer_finds_html_or_an_image(text: str) -> None:
    markdown = contained(text, 3)

    for parser in (STRICT, WITH_TABLES):
        tokens = parser.parse(f"{markdown}\n\nafter")
        children = [child for token in tokens for child in token.children or ()]
        assert not {token.type for token in (*tokens, *children)} & {"html_block", "html_inline", "image"}
        assert tokens[-2].content.split("\n")[-1] == "after"


@pytest.mark.parametrize(
    ("written", "stands"),
    [
        ("# One\n## Two\n#### Four", "#### One\n##### Two\n###### Four"),
        ("One\n===\n\nTwo\nmore\n---\n\nbelow", "#### One\n\n##### Two more\n\nbelow"),
        ("- # item\n\n> quoted\n> ---", "- #### item\n\n> ##### quoted"),
        ("a List<int>, `List<int>` and <https://example.org>", "a List\\<int>, `List<int>` and <https://example.org>"),
        ("```html\n<b># no heading</b>\n```", "```html\n<b># no heading</b>\n```"),
        ("1 < 2 && a <b", "1 < 2 && a \\<b"),
        ("see ![chart](https://example.org/c.png)", "see image: [chart (example.org)](https://example.org/c.png)"),
        ("&amp; &#x202E; &rlm; `&rlm;`", "&amp; \\&#x202E; \\&rlm; `&rlm;`"),
        ("~~~\nopen", "~~~\nopen\n~~~"),
        ("``` `<b>", "``` `\\<b>"),
        ("1.\tone\n\n\ttwo\n\n```\n\tthree\n```", "1.  one\n\n    two\n\n```\n\tthree\n```"),
    ],
)  # fmt: skip
def test_markdown_stays_as_it_was_written_but_for_what_does_harm(written: str, stands: str) -> None:
    assert contained(written, 3) == stands


def test_escaping_looks_for_code_in_each_cell_and_in_the_whole_paragraph() -> None:
    assert escaped("a ` b | ` <i> `") == "a ` b | ` \\<i> `"
    assert escaped("| `a\\|<i>` |") == "| `a\\|<i>` |"


def test_output_of_a_terminal_is_shown_once_however_often_it_is_named(everything: Conversation) -> None:
    (edit,) = [e for e in everything.entries if getattr(getattr(e, "call", None), "title", "") == "Edit a.py"]
    everything.entries.append(edit)

    markdown = page(everything)

    assert markdown.count("1 failed") == 1
    assert "in a terminal shown above" in markdown


def test_a_heading_is_there_without_a_title() -> None:
    facts = ExportFacts("", "", "", title="")

    assert re.match(r"# Conversation\n\n- Agent: \n", page(fold(agent("Hello.")), facts))
    assert "### Agent\n\nHello." in page(fold(agent("Hello.")), facts)


def test_the_diff_that_was_decided_on_stands_above_the_text_that_replaces_it() -> None:
    asked = ask(1, "c", content=(TextDiff("/a.py", "x = 2\n", "x = 1\n"),))
    ended = call("c", status="completed", content=(BlockContent(Text("Written.")),))
    written = page(fold(asked, PermissionAnswered(RequestKey(1), "opt-1"), ended))
    assert written.index("-x = 1\n+x = 2\n") < written.index("Written.")
