"""Parsing an agent's text takes work proportional to its length: twice as long, about twice as many calls."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import pytest

from acp_tui.client.permissions.command_words import names_in, why_not_literal, words_of_rule
from acp_tui.conversation.visible.confusables import make_visible_command
from acp_tui.ui.rendering.diff_model import changed_words
from acp_tui.ui.rendering.markdown import MarkdownRenderer
from acp_tui.ui.rendering.palette import PLAIN
from support.waiting import LINEAR, calls, growth

SIZE = 500

MARKDOWN: dict[str, Callable[[int], str]] = {
    "brackets": lambda n: "[" * n + "a",
    "closed brackets": lambda n: "[" * n + "a" + "](b)" * n,
    "emphasis": lambda n: "**a" * n,
    "mixed emphasis": lambda n: "*a_b" * n,
    "quotes": lambda n: ">" * n,
    "quoted lists": lambda n: "- > " * n,
    "columns": lambda n: "|a" * (n // 8) + "\n" + "|-" * (n // 8) + "\n" + "|b" * (n // 8),
    "rows": lambda n: "|a|b|\n|-|-|\n" + "|c|d|\n" * n,
    "references": lambda n: "".join(f"[a{number}]: b\n" for number in range(n)) + "[a1] " * n,
    "a list": lambda n: "- a\n" * n,
    "open links": lambda n: "[a](" * n,
    "open tags": lambda n: "<a " * n,
    "open titles": lambda n: '[a](b "' * n,
    "backquotes": lambda n: "`a``" * n,
    "headings": lambda n: "a\n" * n + "===",
    "fences": lambda n: "```\n" * n,
    "strikes": lambda n: "~~a" * n,
}


def markdown(text: str) -> None:
    """Draw all of it."""
    renderer = MarkdownRenderer()
    renderer.append(text)
    renderer.finish()
    deque(renderer.lines(80, PLAIN), maxlen=0)


def commands(text: str) -> None:
    """Find words and names in a line, and what isn't literal."""
    words = words_of_rule("a b")
    assert words is not None
    words.are_in(text)
    words.wild_in(text)
    why_not_literal.__wrapped__(text)
    names_in.__wrapped__(text)


OTHERS: dict[str, tuple[Callable[[str], object], str]] = {
    "look-alikes": (make_visible_command, "aоⲥ〇ı "),
    "signs": (make_visible_command, "–／"),
    "marks": (make_visible_command, "a\u0300\u0301"),
    "commands": (commands, "a 'x'; "),
    "wildcards": (commands, "a*[b] "),
    "glued names": (commands, "a=b,c "),
    "words": (lambda text: changed_words(text, text[::-1]), "a,b "),
}


@pytest.mark.parametrize("name", MARKDOWN)
def test_markdown(name: str) -> None:
    assert growth(lambda size: markdown(MARKDOWN[name](size)), SIZE) < LINEAR


@pytest.mark.parametrize("columns", [20, 250])
def test_cells_that_a_table_lacks(columns: int) -> None:
    """Completed by the parser, 8 KB of them took 2.6 s."""
    head = "|a" * columns + "\n" + "|-" * columns + "\n"

    assert calls(lambda: markdown(head + "|\n" * 3_000)) < 30 * calls(
        lambda: markdown("|a|b|\n|-|-|\n" + "|a|b|\n" * 100)
    )


@pytest.mark.parametrize("name", OTHERS)
def test_other_texts(name: str) -> None:
    parse, piece = OTHERS[name]

    assert growth(lambda size: parse(piece * size), SIZE) < LINEAR
