"""Turns inline Markdown (what stands within a paragraph, heading or cell) into styled text; does not wrap it.

markdown-it is handed in, so that importing this module does not import it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

from rich.style import Style

from acp_tui.conversation.visible import make_visible
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from markdown_it.utils import EnvType

MAX_CHARACTERS: Final = 20_000
MAX_BRACKETS: Final = 1_000
"""Text beyond these limits is shown as it stands: nested brackets take quadratic time."""
_PLAIN: Final = re.compile(r"[^\n\\`*_~\[\]!<&]*")
_LINKABLE: Final = ("http://", "https://", "mailto:")
_STYLE_FIELDS: Final = {"strong": "strong", "em": "emphasis", "s": "strikethrough"}

Lines: TypeAlias = list[list[Span]]
"""Spans between hard line breaks; at least one list."""


def inline_lines(md: MarkdownIt, source: str, env: EnvType, palette: Palette, base: Style) -> Lines:
    """`source` in the palette's styles laid over `base`."""
    if _PLAIN.fullmatch(source) or len(source) > MAX_CHARACTERS or source.count("[") > MAX_BRACKETS:
        return _literal(source, base)
    children: list[Token] = []
    try:
        md.inline.parse(source, md, env, children)
    except RecursionError:
        return _literal(source, base)
    return _Flattener(palette, base).flatten(children)


def _literal(source: str, base: Style) -> Lines:
    return [[(line.replace("\t", " "), base)] for line in source.split("\n")]


class _Flattener:
    """Walks the tokens of one paragraph, with the styles that are open."""

    def __init__(self, palette: Palette, base: Style) -> None:
        self._palette = palette
        self._styles = [base]
        self._link_text: list[str] = []
        self._targets: list[str] = []
        self._lines: Lines = [[]]

    def flatten(self, tokens: Sequence[Token]) -> Lines:
        for token in tokens:
            match token.type:
                case "softbreak":
                    self._add(" ", self._styles[-1])
                case "hardbreak":
                    self._lines.append([])
                case "code_inline":
                    self._add(token.content, self._styles[-1] + self._palette.code)
                case "link_open":
                    self._open_link(str(token.attrs.get("href", "")))
                case "link_close":
                    self._close_link()
                case "image":
                    self._add_image(token)
                case _ if token.nesting > 0:
                    self._styles.append(self._styles[-1] + getattr(self._palette, _STYLE_FIELDS[token.tag]))
                case _ if token.nesting < 0:
                    self._styles.pop()
                case _:
                    self._add(token.content, self._styles[-1])
        return self._lines

    def _add(self, text: str, style: Style) -> None:
        # Character references such as &#27; are resolved only by the parser, so the text is looked at again.
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
        style = self._styles[-1] + self._palette.link
        self._styles.append(style + Style(link=target) if target.startswith(_LINKABLE) else style)

    def _close_link(self) -> None:
        self._styles.pop()
        target, shown = self._targets.pop(), "".join(self._link_text).strip()
        if target and not _says_the_same(shown, target):
            self._add(f" ({target})" if shown else target, self._styles[-1] + self._palette.muted)

    def _add_image(self, token: Token) -> None:
        label = " ".join(["image:", *token.content.split()]) if token.content.strip() else "image"
        self._add(label, self._styles[-1] + self._palette.emphasis)
        self._add(
            f" ({make_visible(str(token.attrs.get('src', '')))})", self._styles[-1] + self._palette.muted
        )


def _says_the_same(shown: str, target: str) -> bool:
    """Whether the reader of `shown` already knows the target: never where the two could lead to different places."""
    return target in (shown, f"mailto:{shown}", f"{shown}/")


_MARKS: Final = re.compile(r"\\.|`+|\*\*|\*|~~", re.DOTALL)
_DANGLING: Final = re.compile(r"(?:(?<=\s)|^)[*~`_]+$")
_OPEN_TARGET: Final = re.compile(r"\[[^\[\]]*\]\([^()\s]*$")


def close_open_marks(source: str) -> str:
    """Unfinished inline Markdown with what is open closed, so that it shows as it will look when it is complete."""
    source = _DANGLING.sub("", source.rstrip())
    if _OPEN_TARGET.search(source):
        source += ")"
    opened: list[str] = []
    for mark in _MARKS.finditer(source):
        _open_or_close(opened, mark, source)
    return source + "".join(reversed(opened))


def _open_or_close(opened: list[str], mark: re.Match[str], source: str) -> None:
    """Note in `opened`, from the outermost on, what `mark` begins or ends."""
    text = mark.group()
    if opened and opened[-1] == text:
        opened.pop()
    elif text[0] == "\\" or (opened and opened[-1][0] == "`"):
        return
    elif text[0] == "`" or (mark.end() < len(source) and not source[mark.end()].isspace()):
        opened.append(text)
