"""Drawn Markdown shows what its HTML would: the same blocks, nesting, words, and marks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from support.commonmark import drawn_blocks, drawn_text, html_blocks, html_targets

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
