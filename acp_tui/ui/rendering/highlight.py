"""Tells what the parts of a line of code are, by Pygments; which style that gives is the palette's business.

Pygments is imported when the first line is looked at: the first frame must not pay for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rich.style import Style

from acp_tui.ui.rendering.palette import NO_STYLE, Palette
from acp_tui.ui.rendering.wrapping import Span

if TYPE_CHECKING:
    from pygments.lexer import RegexLexer  # type: ignore[import-untyped]

MAX_LINES: Final = 2_000
"""Lines behind these stay plain: a lexer has to read all that stands before the line that is seen."""
MAX_LINE_CHARACTERS: Final = 1_000
"""A longer line stays plain: some lexers take very long over data."""

_NAME: Final = re.compile(r"[\w+#.-]+")
_STYLE_FIELDS: Final = {
    "Comment": "syntax_comment",
    "Comment.Preproc": "syntax_decorator",
    "Keyword": "syntax_keyword",
    "Keyword.Constant": "syntax_builtin",
    "Keyword.Type": "syntax_type",
    "Literal.Number": "syntax_number",
    "Literal.String": "syntax_string",
    "Name.Attribute": "syntax_function",
    "Name.Builtin": "syntax_builtin",
    "Name.Class": "syntax_type",
    "Name.Decorator": "syntax_decorator",
    "Name.Exception": "syntax_type",
    "Name.Function": "syntax_function",
    "Name.Tag": "syntax_tag",
    "Operator": "syntax_operator",
    "Operator.Word": "syntax_keyword",
    "Generic.Deleted": "syntax_deleted",
    "Generic.Heading": "syntax_keyword",
    "Generic.Inserted": "syntax_inserted",
    "Generic.Subheading": "syntax_function",
    "Error": "syntax_error",
}

LexerState: TypeAlias = tuple[str, ...]
"""What a lexer knows of the lines above."""
START: Final[LexerState] = ("root",)
Lexed: TypeAlias = list[tuple[str, str | None]]
"""Pieces of a line with the palette's field for each, None where nothing is special."""


class Highlighter:
    """The code of one block, line by line: each line is lexed once, from the state that the lines above left."""

    def __init__(self, language: str) -> None:
        """`language` is what the block calls itself; an unknown one gives plain lines."""
        self._language = language_name(language)
        self._lines: list[str] = []
        self._lexed: list[Lexed] = []
        self._stack = START

    def __len__(self) -> int:
        return len(self._lines)

    def append(self, line: str) -> None:
        """Put a line behind the others."""
        self._lines.append(line)

    def spans(self, number: int, palette: Palette, base: Style) -> list[Span]:
        """Line `number`, counted from 0, in the palette's styles laid over `base`."""
        if number >= MAX_LINES:
            return [(self._lines[number], base)]
        self._read_to(number)
        return [(text, base + syntax_style(palette, field)) for text, field in self._lexed[number]]

    def preview(self, line: str, palette: Palette, base: Style) -> list[Span]:
        """`line` as it would look behind the others, without adding it."""
        if len(self._lines) >= MAX_LINES:
            return [(line, base)]
        self._read_to(len(self._lines) - 1)
        lexed, _ = lex_line(self._language, line, self._stack)
        return [(text, base + syntax_style(palette, field)) for text, field in lexed]

    def _read_to(self, number: int) -> None:
        while len(self._lexed) <= number:
            lexed, self._stack = lex_line(self._language, self._lines[len(self._lexed)], self._stack)
            self._lexed.append(lexed)


def language_name(info: str) -> str:
    """The language in what follows an opening fence: `python` in "{.Python title=x}"."""
    found = _NAME.search(info)
    return found.group().strip(".").lower() if found else ""


def syntax_style(palette: Palette, field: str | None) -> Style:
    """The palette's style for a piece of a line."""
    style: Style = NO_STYLE if field is None else getattr(palette, field)
    return style


def lex_line(language: str, line: str, stack: LexerState) -> tuple[Lexed, LexerState]:
    """The pieces of `line`, and the state for the next one; plain where the lexer fails."""
    if not language or len(line) > MAX_LINE_CHARACTERS or (lexer := find_lexer(language)) is None:
        return [(line, None)], stack
    try:
        return _lex_from(lexer, line, stack)
    except Exception:  # noqa: BLE001 - hundreds of lexers that others wrote, and only colours are at stake
        return [(line, None)], START


def _lex_from(lexer: Any, line: str, stack: LexerState) -> tuple[Lexed, LexerState]:
    from pygments.lexer import ExtendedRegexLexer, LexerContext, RegexLexer

    if isinstance(lexer, RegexLexer) and not isinstance(lexer, ExtendedRegexLexer):
        context = LexerContext(line + "\n", 0, list(stack))
        try:
            return _pieces(_with_context(lexer, context), line), tuple(context.stack)
        except TypeError:
            # A callback of this lexer does not take a context: its lines are read each on its own.
            pass
    return _pieces(lexer.get_tokens_unprocessed(line + "\n"), line), START


def _with_context(lexer: RegexLexer, context: Any) -> Iterator[tuple[int, Any, str]]:
    """What `lexer` finds, with its state in `context`: the extended lexer's way works for the plain ones too."""
    from pygments.lexer import ExtendedRegexLexer

    tokens: Iterator[tuple[int, Any, str]] = ExtendedRegexLexer.get_tokens_unprocessed(lexer, context=context)
    return tokens


def _pieces(tokens: Iterator[tuple[int, Any, str]], line: str) -> Lexed:
    """The tokens with neighbours of one style joined; the line's text is kept whatever the lexer says."""
    pieces: Lexed = []
    for _, kind, text in tokens:
        field = _field(kind)
        if pieces and (pieces[-1][1] == field or text.isspace()):
            pieces[-1] = (pieces[-1][0] + text, pieces[-1][1])
        else:
            pieces.append((text, field))
    if pieces and pieces[-1][0].endswith("\n"):
        pieces[-1] = (pieces[-1][0][:-1], pieces[-1][1])
    if "".join([text for text, _ in pieces]) != line:
        raise ValueError("the lexer changed the text")
    return pieces


@cache
def _field(kind: Any) -> str | None:
    """The palette's field for a token type, by its nearest ancestor that has one."""
    name = str(kind).removeprefix("Token.")
    while name not in _STYLE_FIELDS and "." in name:
        name = name.rpartition(".")[0]
    return _STYLE_FIELDS.get(name)


@cache
def find_lexer(language: str) -> Any | None:
    """The lexer of a language, None for an unknown one; the first time it is imported, which takes up to 40 ms."""
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        return get_lexer_by_name(language)
    except ClassNotFound:
        return None
