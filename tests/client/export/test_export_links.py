"""An exported page runs and loads nothing, and links only to the web and to mail addresses.

ACP_TUI_HOSTILE_LINKS=20000 tries that many pages.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from typing import Final

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from acp_tui.client.export.contained import contained
from acp_tui.client.export.facts import ExportFacts
from acp_tui.client.export.markdown import to_markdown
from acp_tui.conversation.content import Image, ResourceLink, Text, TextResource
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.tool_calls import BlockContent, Location, TextDiff
from acp_tui.conversation.updates import MessageChunk, NoticeShown, SessionUpdate
from support.folding import agent, call, fold, prompt, thought

PAGES: Final = int(os.environ.get("ACP_TUI_HOSTILE_LINKS", "150"))
SAFE: Final = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)

TARGETS: Final = (
    "javascript:alert(1)",
    "vbscript:msgbox(1)",
    "data:text/html;base64,PHNjcmlwdD4=",
    "data:image/svg+xml,<svg onload=alert(1)>",
    "file:///etc/passwd",
    "file://evil.example/share",
    "//evil.example/p.png",
    r"\\evil.example\share",
    "blob:https://evil.example/1",
    "view-source:javascript:alert(1)",
    "ms-msdt:/id",
    "https://evil.example/p.png",
    "HTTPS://user@evil.example:8080/p.png?q=](javascript:alert(1))",
    "mailto:a@example.org",
    "src/a.py",
    "#fragment",
)
FORMS: Final = (
    "[a]({0})",
    "[a](<{0}>)",
    '[a]( {0} "title")',
    "[a](\n{0})",
    "[a][b]\n\n[b]: {0}",
    "[a]\n\n[a]: <{0}> 'title'",
    "[a]\n\n[a]:\n{0}",
    "[a]\n\n[a]:\n  <{0}>\n  'title'",
    "[A][]\n\n> [a]: {0}",
    "- [a]\n- x\n\n  [a]: {0}",
    "[a\nb]\n\n[a b]: {0}",
    "[^1] note\n\n[^1]: {0}",
    r"[a\]]: {0}" + "\n\n" + r"[a\]]",
    "<{0}>",
    "![a]({0})",
    "![a][b]\n\n[b]: {0}",
    "![a]\n\n[a]: {0}",
    "[![a](https://example.org/i.png)]({0})",
    "![![a]({0})]({0})",
    '<a href="{0}">a</a>',
    "<img src='{0}'>",
    "<img\nsrc={0} onerror=alert(1)>",
    "<iframe src={0}></iframe>",
    "<svg><script href={0} /></svg>",
    "<style>@import url({0});</style>",
    '<div style="background:url({0})">',
    '<link rel=stylesheet href="{0}"><meta http-equiv=refresh content="0;url={0}">',
    "# [a]({0})",
    "[a]({0})\n===",
    "![a]({0})\n---",
    "| [a]({0}) | ![b]({0}) |\n|---|---|\n| <{0}> | [c]({0}) |",
    "| ` | [a]({0}) ` |\n|---|---|\n| ` | ![b]({0}) ` |",
    "> - > [a]({0})",
    "> " * 25 + "[a]({0})",
    "    [a]({0})",
    "\t![a]({0})",
    "`code` [a]({0}) `",
    "``x` [a]({0})``",
    "\\`[a]({0})`",
    "<https://example.org/](> [a]({0})",
    "[a <https://example.org/]({0})>",
    "*[**a**]({0})*",
    "```\n[a]({0})\n```\n[a]({0})",
    "~~~\n[a]({0})",
    "1. ```\n\t[a]({0})",
    "{0}",
    "[[a]({0})]({0})",
    "[a]\\({0})",
    "\\[a]({0})",
    "\\\\[a]({0})",
    "<!-- [a]({0})\n\n--> [b]({0})",
    "[a]({0} 'x' [b]({0}))",
)


def mangled(target: str, chance: random.Random) -> str:
    """The target, written in one of the ways that filters miss and renderers understand."""
    at = chance.randrange(len(target))
    match chance.randrange(14):
        case 0:
            return "".join(chance.choice((letter.lower(), letter.upper())) for letter in target)
        case 1:
            return "".join(f"&#{ord(letter)};" if chance.random() < 0.3 else letter for letter in target)
        case 2:
            return "".join(f"&#x{ord(letter):x};" if chance.random() < 0.3 else letter for letter in target)
        case 3:
            return target.replace(":", "&colon;", 1).replace("(", "&lpar;", 1)
        case 4:
            return target[:at] + chance.choice(("\t", "\n", "&Tab;", "&NewLine;", "&#1;")) + target[at:]
        case 5:
            return target[:at] + chance.choice("\x01\x1b\x9b\u200b\u2028\u202e\xad\xa0\ufeff\ud800") + target[at:]
        case 6:
            return target[:at] + "\\" + target[at:]
        case 7:
            return chance.choice((" ", "\t", "\x01", "&#32;", "&nbsp;", "\u3000")) + target
        case 8:
            return f"%{ord(target[0]):02x}{target[1:]}"
        case 9:
            return f"https:{target}"
        case _:
            return target


def hostile_text(chance: random.Random) -> str:
    """Several such links in a row, or inside each other's lines."""
    forms = (chance.choice(FORMS) for _ in range(chance.randint(1, 4)))
    between = chance.choice(("\n\n", "\n", " ", "", " ` ", "\n> ", " | "))
    return between.join(form.replace("{0}", mangled(chance.choice(TARGETS), chance)) for form in forms)


def conversation_of(text: str) -> Conversation:
    """The text in every place a page has for it."""
    spoken: list[SessionUpdate] = [
        prompt(text),
        agent(text),
        thought(text),
        MessageChunk("agent", Image(text, text, text), "image"),
        MessageChunk("agent", Image("aGk=", "image/png", text), "png"),
        MessageChunk("agent", ResourceLink(text, text, text), "link"),
        MessageChunk("agent", TextResource(text, text), "resource"),
        call(
            "call",
            title=text,
            kind=text,
            status=text,
            locations=(Location(text, 1),),
            content=(BlockContent(Text(text)), TextDiff(text, text, text[::-1])),
            raw_input={text: text},
            raw_output=text,
        ),
        NoticeShown("error", text, text),
    ]
    return fold(*spoken)


def facts_of(text: str) -> ExportFacts:
    return ExportFacts(text, text, text, text, text, text)


# The readers of both formats


class _AllowsAll(MarkdownIt):
    """A renderer that makes links of anything that may be one, and relies on the page."""

    def validateLink(self, url: str) -> bool:
        return True


PLAIN: Final = _AllowsAll("commonmark", {"html": True, "maxNesting": 100})
WITH_TABLES: Final = _AllowsAll("commonmark", {"html": True, "maxNesting": 100}).enable(["table", "strikethrough"])


def _tokens(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _tokens(token.children or [])


def assert_markdown_is_harmless(markdown: str) -> None:
    for parser in (PLAIN, WITH_TABLES):
        env: dict[str, dict[str, dict[str, str]]] = {}
        for token in _tokens(parser.parse(markdown, env)):
            assert token.type not in ("html_block", "html_inline", "image"), token.content
            if token.type == "link_open":
                assert SAFE.match(str(token.attrGet("href"))), token.attrGet("href")
        for definition in env.get("references", {}).values():
            assert SAFE.match(definition["href"])


def assert_harmless(text: str) -> None:
    conversation, facts = conversation_of(text), facts_of(text)
    assert_markdown_is_harmless(to_markdown(conversation, facts))


@pytest.mark.parametrize("target", TARGETS)
def test_every_form_of_link_is_harmless(target: str) -> None:
    for form in FORMS:
        assert_harmless(form.replace("{0}", target))


def test_no_page_runs_loads_or_leads_to_what_it_should_not() -> None:
    for seed in range(PAGES):
        text = hostile_text(random.Random(seed))
        try:
            assert_harmless(text)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {text!r}") from error


@pytest.mark.parametrize(
    ("written", "stands"),
    [
        ("[a](https://example.org)", "[a](https://example.org)"),
        ("[a](javascript:b)", r"[a\](javascript:b)"),
        ("[a](&#106;avascript:b)", r"[a\](&#106;avascript:b)"),
        ("`[a](javascript:b)`", "`[a](javascript:b)`"),
        ("[1]: data:text/html,x", r"[1\]: data:text/html,x"),
        ("[1]: <https://example.org>", "[1]: <https://example.org>"),
        ("![c](http://a@example.org/c)", "image: [c (example.org)](http://a@example.org/c)"),
    ],
)
def test_a_link_of_the_web_stays_and_another_shows_as_text(written: str, stands: str) -> None:
    assert contained(written, 3) == stands
