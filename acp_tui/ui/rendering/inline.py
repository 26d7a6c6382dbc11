"""Turns inline Markdown into styled text, without wrapping.

Callers pass markdown-it in; this module doesn't import it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeAlias

from rich.style import Style

from acp_tui.conversation.visible import make_visible
from acp_tui.ui.rendering.links import to_code, to_page, to_target
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token
    from markdown_it.utils import EnvType

MAX_CHARACTERS: Final = 20_000
MAX_BRACKETS: Final = 1_000
"""Text beyond these limits is shown as written, because nested brackets take quadratic time."""
_PLAIN: Final = re.compile(r"[^\n\\`*_~\[\]!<&]*")
_TEXT: Final = ("text", "text_special")  # the second one was escaped
_STYLE_FIELDS: Final = {"strong": "strong", "em": "emphasis", "s": "strikethrough"}

_ADDRESS: Final = re.compile(r"(?<![A-Za-z0-9])https?://[A-Za-z0-9\[][^\s<>\"`\u3000-\u303f\uff00-\uffef]*")
_PUNCTUATION: Final = "?!.,:;*_~'"
_OPENERS: Final = {")": "(", "]": "[", "}": "{"}

Lines: TypeAlias = list[list[Span]]
"""The spans between hard line breaks; at least one list."""


def inline_lines(
    md: MarkdownIt, source: str, env: EnvType, palette: Palette, base: Style, *, is_open: bool = False
) -> Lines:
    """Style `source` with the palette on top of `base`. If `is_open`, unfinished marks look as if completed."""
    if is_open:
        source = close_open_end(md, source)
    if _PLAIN.fullmatch(source) or len(source) > MAX_CHARACTERS or source.count("[") > MAX_BRACKETS:
        return _literal(source, palette, base)
    try:
        children = _parse_open(md, source, env) if is_open else _parse(md, source, env)
    except RecursionError:
        return _literal(source, palette, base)
    return _Flattener(palette, base).flatten(children)


def _parse(md: MarkdownIt, source: str, env: EnvType) -> list[Token]:
    children: list[Token] = []
    md.inline.parse(source, md, env, children)
    return children


def _literal(source: str, palette: Palette, base: Style) -> Lines:
    return [_with_links(line.replace("\t", " "), palette, base) for line in source.split("\n")]


def _with_links(text: str, palette: Palette, style: Style) -> list[Span]:
    """`text` with a link at each address in it."""
    if "://" not in text:
        return [(text, style)]
    spans: list[Span] = []
    at = 0
    for found in _ADDRESS.finditer(text):
        address = _without_end(found[0])
        link = to_page(address)
        if link.link:
            start = found.start()
            spans += [(text[at:start], style)] * (start > at) + [(address, style + palette.link + link)]
            at = start + len(address)
    return [*spans, (text[at:], style)] if at < len(text) or not spans else spans


def _without_end(address: str) -> str:
    """`address` without the punctuation of the sentence around it, as GitHub's Markdown finds it."""
    while (last := address[-1]) in _PUNCTUATION or (
        last in _OPENERS and address.count(last) > address.count(_OPENERS[last])
    ):
        address = address[:-1]
    return address


class _Flattener:
    """Walks the tokens of one paragraph and keeps track of the open styles."""

    def __init__(self, palette: Palette, base: Style) -> None:
        self._palette = palette
        self._styles = [base]
        self._link_text: list[str] = []
        self._targets: list[str] = []
        self._lines: Lines = [[]]

    def flatten(self, tokens: Sequence[Token]) -> Lines:
        for is_text, run in groupby(tokens, lambda token: token.type in _TEXT):
            if is_text:
                self._add_text("".join([token.content for token in run]))
                continue
            for token in run:
                self._add_token(token)
        return self._lines

    def _add_token(self, token: Token) -> None:
        match token.type:
            case "softbreak":
                self._add(" ", self._styles[-1])
            case "hardbreak":
                self._lines.append([])
            case "code_inline":
                code = self._styles[-1] + self._palette.code
                self._add(token.content, code + to_code(self._palette.folder, token.content))
            case "link_open":
                self._open_link(str(token.attrs.get("href", "")))
            case "link_close":
                self._styles.pop()
                target, shown = self._targets.pop(), "".join(self._link_text).strip()
                if target and not _says_the_same(shown, target):
                    self._add(f" ({target})" if shown else target, self._styles[-1] + self._palette.muted)
            case "image":
                self._add_image(token)
            case _ if token.nesting > 0:
                self._styles.append(self._styles[-1] + getattr(self._palette, _STYLE_FIELDS[token.tag]))
            case _ if token.nesting < 0:
                self._styles.pop()
            case _:
                self._add(token.content, self._styles[-1])

    def _add_text(self, text: str) -> None:
        if self._targets:
            self._add(text, self._styles[-1])
            return
        for part, style in _with_links(make_visible(text), self._palette, self._styles[-1]):
            self._add(part, style)

    def _add(self, text: str, style: Style) -> None:
        # The parser resolves character references such as &#27;, so check the text again.
        text = make_visible(text).replace("\n", " ").replace("\t", " ")
        self._link_text.append(text)
        line = self._lines[-1]
        if line and line[-1][1] is style:
            line[-1] = (line[-1][0] + text, style)
        elif text:
            line.append((text, style))

    def _open_link(self, target: str) -> None:
        target = make_visible(target)
        self._targets.append(target)
        self._link_text.clear()
        self._styles.append(self._styles[-1] + self._palette.link + to_target(self._palette.folder, target))

    def _add_image(self, token: Token) -> None:
        label = " ".join(["image:", *words]) if (words := _alternative(token).split()) else "image"
        self._add(label, self._styles[-1] + self._palette.emphasis)
        if target := make_visible(str(token.attrs.get("src", ""))):
            self._add(f" ({target})", self._styles[-1] + self._palette.muted)


def _alternative(token: Token) -> str:
    """An image's alternative text, without marks."""
    words = ""
    for part in token.children or ():
        words += " " if part.type.endswith("break") else _alternative(part) or part.content
    return words


def _says_the_same(shown: str, target: str) -> bool:
    """Whether `shown` already tells the reader the target. False whenever the two could lead to different places."""
    return target in (shown, f"mailto:{shown}", f"{shown}/")


_ESCAPE_OR_TICKS: Final = re.compile(r"\\.|(`+)", re.DOTALL)
_DANGLING: Final = re.compile(r"(?:(?<=\s)|^)[*~`_]+$")
# A link or image with an incomplete target. Its text may contain an image, and a title may follow the target.
_OPEN_TARGET: Final = re.compile(
    r"""\[(?:[^\[\]]|!\[[^\[\]]*\]\([^()]*\))*\]\((?P<target>[^()<>\s]*)(?P<title>\s+(?:["'(][^"')]*["')]?)?)?$"""
)
_LOOK_BACK: Final = 1_000
"""A longer unfinished link is shown as written."""


def close_open_end(md: MarkdownIt, source: str) -> str:
    """Clean up unfinished inline Markdown: drop marks that begin nothing yet; close an open code span or target."""
    source = _DANGLING.sub("", source.rstrip()).rstrip()
    if ticks := _open_ticks(source):
        return source.rstrip("`") + ticks
    half = _OPEN_TARGET.search(source, max(len(source) - _LOOK_BACK, 0))
    if half and md.validateLink(md.normalizeLink(half["target"])):
        return f"{source[: half.end('target')]})"
    return source


def _open_ticks(source: str) -> str:
    """The backticks needed to close a code span; empty if none is open."""
    at = 0
    while mark := _ESCAPE_OR_TICKS.search(source, at):
        at = mark.end()
        if (ticks := mark[1]) and at < len(source):
            end = re.compile(f"(?<!`){ticks}(?!`)").search(source, at)
            if end is None:
                return ticks
            at = end.end()
    return ""


def _parse_open(md: MarkdownIt, source: str, env: EnvType) -> list[Token]:
    """Parse unfinished text into inline tokens. Open emphasis extends to the end."""
    from markdown_it.rules_inline import StateInline

    state = StateInline(source, md, env, [])
    md.inline.tokenize(state)
    balance, *others = md.inline.ruler2.getRules("")
    balance(state)
    _close_delimiters(state)
    for rule in others:
        rule(state)
    return state.tokens


def _close_delimiters(state: StateInline) -> None:
    """Pair each unclosed opener with a closer after the text."""
    opened, inside_until = [], -1
    for at, delimiter in enumerate(state.delimiters):
        if delimiter.end > at:
            inside_until = max(inside_until, delimiter.end)
        elif delimiter.open and at > inside_until:
            opened.append(delimiter)
    for opener in reversed(opened):
        state.push("text", "", 0)
        opener.end = len(state.delimiters)
        state.delimiters.append(replace(opener, token=len(state.tokens) - 1, end=-1, open=False, close=True))
