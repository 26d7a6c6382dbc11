"""Renders Markdown that somebody else wrote as HTML that can do nothing but be read.

It loads the Markdown parser, so import it only when there is something to render.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from acp_tui.client.export.parts import is_linkable
from acp_tui.conversation.visible import make_visible

HEADING_SHIFT: Final = 2
LOWEST_HEADING: Final = 6
MAX_NESTING: Final = 60
"""The parser drops what is nested deeper; such a text is shown as its source."""
MAX_CHARACTERS: Final = 20_000
MAX_BRACKETS: Final = 1_000
"""A paragraph beyond these limits is shown as it stands: nested brackets take quadratic time."""


def render(source: str) -> str:
    """HTML of known tags, without scripts, styles, images, or links but those of `links.is_linkable`."""
    source = make_visible(source)
    parser = _parser()
    env: dict[str, Any] = {}
    try:
        tokens = parser.parse(source, env)
        if all(token.level < MAX_NESTING - 1 for token in tokens):
            _tame(tokens)
            return str(parser.renderer.render(tokens, parser.options, env)).rstrip("\n")
    except RecursionError:
        pass  # of images within images
    return f"<pre>{escape(source)}</pre>"


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        """Where it says no, no link is made."""
        return is_linkable(url)


class _Renderer(RendererHTML):
    """Images as what they are called; of links, the style sheet shows the targets where they are not the text."""

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        token.attrSet("rel", "noopener noreferrer")
        if _link_text(tokens, idx) == token.attrGet("href"):
            token.attrSet("class", "bare")
        return self.renderToken(tokens, idx, options, env)

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        label = self.renderInlineAsText(token.children, options, env)
        return f"<em>[image: {escape(label)}]</em> ({escape(str(token.attrGet('src')))})"


def _link_text(tokens: Sequence[Token], idx: int) -> str:
    shown = []
    for token in tokens[idx + 1 :]:
        if token.type == "link_close":
            break
        shown.append(token.content)
    return "".join(shown)


@cache
def _parser() -> MarkdownIt:
    options = {"html": False, "xhtmlOut": False, "maxNesting": MAX_NESTING}
    parser = _Parser("commonmark", options, renderer_cls=_Renderer)
    parser.enable(["table", "strikethrough"])
    parser.core.ruler.at("inline", _parse_inline)
    return parser


def _parse_inline(state: StateCore) -> None:
    """The parser's own rule, with limits."""
    for token in state.tokens:
        if token.type == "inline":
            token.children = _children(state, token.content)


def _children(state: StateCore, content: str) -> list[Token]:
    children: list[Token] = []
    if len(content) <= MAX_CHARACTERS and content.count("[") <= MAX_BRACKETS:
        state.md.inline.parse(content, state.md, state.env, children)
        return children
    return [Token("text", "", 0, content=content)]


def _tame(tokens: Sequence[Token]) -> None:
    """Make visible what only the parser has resolved (`&#27;`), lower headings, and take styles off table cells."""
    for token in tokens:
        token.content = make_visible(token.content)
        token.attrs = {name: make_visible(str(value)) for name, value in token.attrs.items()}
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + HEADING_SHIFT, LOWEST_HEADING)}"
        if align := token.attrs.pop("style", None):  # the page's policy allows no style but its own
            token.attrs["class"] = str(align).replace("text-align:", "")
        _tame(token.children or ())
