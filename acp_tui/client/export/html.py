"""Writes a conversation as one self-contained HTML page. `outline` decides its content.

The page has no scripts, no styles but its own, and loads nothing; a content security policy enforces this in the
browser. All external text is made visible and escaped, and Markdown is rendered with restrictions.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any, Final, assert_never

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from acp_tui.client.export import parts
from acp_tui.client.export.outline import ExportFacts, header_rows, heading, sections
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.visible import make_visible, make_visible_line

PICTURE_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Not SVG, because an SVG file can contain scripts and load resources."""
_POLICY: Final = "default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_DIFF_CLASSES: Final = {"+": "added", "-": "removed", "@": "hunk", "\\": "hunk"}


def to_html(conversation: Conversation, facts: ExportFacts) -> str:
    """The complete page."""
    return "".join(_page(conversation, facts))


def _page(conversation: Conversation, facts: ExportFacts) -> Iterator[str]:
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    policy = _POLICY.format(digest=b64encode(sha256(style.encode()).digest()).decode())
    title = _line(heading(conversation, facts))
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n<dl>\n"
    )
    for name, value in header_rows(facts):
        yield f"<dt>{name}</dt><dd>{_line(value)}</dd>\n"
    yield "</dl>\n</header>\n<main>\n"
    for section in sections(conversation, facts):
        yield from _section(section)
    yield "</main>\n</body>\n</html>\n"


def _section(section: parts.Section) -> Iterator[str]:
    title = f"<h2>{_line(section.title)}</h2>"
    yield f'<section class="{section.kind}">\n'
    if section.is_folded:
        yield f"<details>\n<summary>{title}</summary>\n{_parts(section.parts)}</details>\n"
    else:
        yield f"{title}\n{_parts(section.parts)}"
    yield "</section>\n"


def _parts(shown: Iterable[parts.Part]) -> str:
    return "".join(f"{_part(part)}\n" for part in shown)


def _part(part: parts.Part) -> str:
    match part:
        case parts.Prose(text):
            return f'<div class="prose">{render(text)}</div>'
        case parts.TypedText(text):
            return f'<div class="typed">{_text(text)}</div>'
        case parts.Code(text, language):
            return f"<pre><code>{_diff(text) if language == 'diff' else _text(text)}</code></pre>"
        case parts.Note(text, is_problem):
            return f'<p class="{"problem" if is_problem else "note"}">{_line(text)}</p>'
        case parts.ExportedPicture():
            return _picture(part)
        case parts.NamedLink(label, uri):
            return f'<p class="note">{_line(label)}: {_address(uri)}</p>'
        case parts.Folded(title, inner):
            return f"<details>\n<summary>{_line(title)}</summary>\n{_parts(inner)}</details>"
        case parts.PlanSteps(steps):
            items = (f"<li>{'☑' if is_done else '☐'} {_line(text)}</li>\n" for is_done, text in steps)
            return f'<ul class="steps">\n{"".join(items)}</ul>'
        case _:
            assert_never(part)


def _diff(text: str) -> str:
    """The lines of a diff, marked by their first character. The two lines that name the file aren't marked."""
    lines = text.split("\n")
    marked = [f'<span class="hunk">{_text(line)}</span>' for line in lines[:2]]
    for line in lines[2:]:
        shown = _text(line)
        kind = _DIFF_CLASSES.get(line[:1])
        marked.append(f'<span class="{kind}">{shown}</span>' if kind else shown)
    return "\n".join(marked)


def _picture(picture: parts.ExportedPicture) -> str:
    data = "".join(picture.data.split())
    if picture.mime_type not in PICTURE_TYPES or not _BASE64.fullmatch(data):
        return f'<p class="note">{_line(picture.label)}</p>'
    return f'<img src="data:{picture.mime_type};base64,{data}" alt="{_line(picture.label)}">'


def _address(uri: str) -> str:
    """A link that shows its target, or plain text if it can't be a link."""
    shown = _line(uri)
    if make_visible_line(uri) != uri or not parts.is_linkable(uri):
        return shown
    return f'<a class="bare" rel="noopener noreferrer" href="{shown}">{shown}</a>'


def _text(text: str) -> str:
    return escape(make_visible(text))


def _line(text: str) -> str:
    return escape(make_visible_line(text))


HEADING_SHIFT: Final = 2
LOWEST_HEADING: Final = 6
MAX_NESTING: Final = 60
"""The parser drops anything nested more deeply. Such a text is shown as source."""
MAX_CHARACTERS: Final = 20_000
MAX_BRACKETS: Final = 1_000
"""A paragraph beyond these limits is shown as source, because nested brackets take quadratic time."""


def render(source: str) -> str:
    """HTML with known tags, without scripts, styles, or images, and with links only as `links.is_linkable` permits."""
    source = make_visible(source)
    parser = _parser()
    env: dict[str, Any] = {}
    try:
        tokens = parser.parse(source, env)
        if all(token.level < MAX_NESTING - 1 for token in tokens):
            _tame(tokens)
            return str(parser.renderer.render(tokens, parser.options, env)).rstrip("\n")
    except RecursionError:
        pass  # from images within images
    return f"<pre>{escape(source)}</pre>"


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        """Rejecting a URL prevents the link."""
        return parts.is_linkable(url)


class _Renderer(RendererHTML):
    """Renders images as their labels. The style sheet shows the target of a link if it differs from the text."""

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
    """Show characters that only the parser resolves (`&#27;`), lower headings, and remove styles from table cells."""
    for token in tokens:
        token.content = make_visible(token.content)
        token.attrs = {name: make_visible(str(value)) for name, value in token.attrs.items()}
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + HEADING_SHIFT, LOWEST_HEADING)}"
        if align := token.attrs.pop("style", None):  # the page's policy allows only its own styles
            token.attrs["class"] = str(align).replace("text-align:", "")
        _tame(token.children or ())
