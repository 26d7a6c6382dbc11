"""Highlights code with Pygments and draws code blocks as panels.

Pygments loads with the first line. Lexers are regular expressions written for well-formed code, and some take
exponential time. So each line has a CPU time limit, and a language that exceeds it stays plain from then on. Finding
where a block ends is the caller's job.
"""

from __future__ import annotations

import gc
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache, partial
from importlib import import_module
from typing import Any, Final, TypeAlias, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.client.line_comparison import Steps
from acp_tui.ui.rendering.palette import NO_STYLE, Palette
from acp_tui.ui.rendering.plain import TAB_CELLS
from acp_tui.ui.rendering.wrapping import CUT, Gutter, Row, Span, TextRange, fold, slice_spans, width_cells

_AGAIN_S: Final = 0.02
"""Seconds until the signal is sent again, in case the work swallowed the exception."""

_Result = TypeVar("_Result")


class OverLimit(BaseException):
    """The work exceeded its limit. Not an `Exception`, so that the work can't catch it by mistake."""


class CannotLimit(Exception):
    """The timer isn't available here: only the main thread has one."""


class _Limit:
    """The only timer of the process."""

    is_installed = False
    is_running = False

    def install(self) -> None:
        """Install the signal handler permanently. A signal that arrives late does nothing."""
        if not self.is_installed:
            signal.signal(signal.SIGVTALRM, self._stop)
            self.is_installed = True

    def _stop(self, _number: int, _frame: object) -> None:
        if self.is_running:
            raise OverLimit


_limit: Final = _Limit()


def run_within(cpu_s: float, work: Callable[[], _Result]) -> _Result:
    """Return the result of `work`.

    Raises OverLimit after about `cpu_s` seconds, and CannotLimit outside the main thread. Nested calls share the limit
    of the outermost one.
    """
    if threading.current_thread() is not threading.main_thread():
        raise CannotLimit
    if _limit.is_running:
        return work()
    _limit.install()
    _limit.is_running = True
    collects = gc.isenabled()
    gc.disable()  # a collection takes longer than many lines
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, cpu_s, _AGAIN_S)
        return work()
    finally:
        _limit.is_running = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        if collects:
            gc.enable()


MAX_LINE_CHARACTERS: Final = 1_000
"""Longer lines stay plain: some lexers take very long on data."""
MAX_CHARACTERS_ABOVE: Final = 10_000
"""How many characters to lex above the first visible line of a block. A lexer takes about 5 us for each."""
MAX_STATES: Final = 100
"""The maximum depth of a lexer's stack. A deeper line resets the state, because the stack is copied for every line."""
MAX_LANGUAGES: Final = 60
"""The maximum number of languages to load per run. Each takes 5 to 300 ms, and memory that is never freed."""

LINE_S: Final = 0.0005
"""The CPU time allowed for each line, in addition to that for its characters."""
CHARACTER_S: Final = 20e-6
"""The CPU time allowed for each character. Both limits are several times what lexers usually need."""
TRIES: Final = 3
SPARE_S: Final = 0.03
"""The maximum of unused time that later lines may use."""

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
"""The lexer's stack at the end of the lines above."""
START: Final[LexerState] = ("root",)
Lexed: TypeAlias = list[tuple[str, str | None]]
"""Pieces of a line, each with the name of its palette field; None for plain text."""
_LexedLine: TypeAlias = tuple[Lexed, LexerState]


class LexedText:
    """Lexes the lines of a text on demand, with a limited number of lines above the ones in view.

    Lexing from the top would take two seconds for a file of 10,000 lines. This class begins a few lines above the
    visible ones instead, so it doesn't recognize a string or comment that begins further up.
    """

    def __init__(
        self, lines: Sequence[str], language: str, max_lines: int = sys.maxsize, max_characters: int = 0
    ) -> None:
        """`lines` may grow. At most `max_lines` and `max_characters` above the first line requested are lexed."""
        self._lines = lines
        self._language = language
        self._max_lines = max_lines
        self._max_characters = max_characters or MAX_CHARACTERS_ABOVE
        self._read: dict[int, tuple[Lexed, LexerState]] = {}

    def lexed(self, at: int, top: int = 0, state_at_top: Callable[[], LexerState] = lambda: START) -> Lexed:
        """Return the pieces of line `at`, counted from 0. Lines above `top` aren't lexed."""
        if at not in self._read:
            begin = self._begin_above(at, top)
            state = self._read[begin - 1][1] if begin - 1 in self._read else START
            if begin == top:
                state = state_at_top()
            # If lexing began in the middle of the text, don't keep the first lines: they have too little context above
            # them.
            kept_from = begin if begin == top or begin - 1 in self._read else (begin + at) // 2
            for number in range(begin, at + 1):
                lexed = lex_line(self._language, self._lines[number].rstrip("\r\n"), state)
                state = lexed[1]
                if number >= kept_from:
                    self._read[number] = lexed
        return self._read[at][0]

    def state_before(self, at: int) -> LexerState:
        """The lexer's state at the beginning of line `at`."""
        if at:
            self.lexed(at - 1)
        return self._read[at - 1][1] if at else START

    def _begin_above(self, at: int, top: int) -> int:
        """The line to begin lexing at: the one after a lexed line, or one not too far above."""
        begin, characters = at, 0
        while begin > max(at - self._max_lines, top) and begin - 1 not in self._read:
            characters += len(self._lines[begin - 1])
            if characters > self._max_characters:
                break
            begin -= 1
        return begin


class Highlighter:
    """Highlights one block of code, line by line."""

    def __init__(self, language: str) -> None:
        """`language` is the name that the block gives; lines of an unknown language stay plain."""
        self._language = language_name(language)
        self._lines: list[str] = []
        self._text = LexedText(self._lines, self._language)

    def __len__(self) -> int:
        return len(self._lines)

    def append(self, line: str) -> None:
        self._lines.append(line)

    def spans(self, number: int, palette: Palette, base: Style) -> list[Span]:
        """Return line `number`, counted from 0, in the palette's styles on top of `base`."""
        return _styled(self._text.lexed(number), palette, base)

    def preview(self, line: str, palette: Palette, base: Style) -> list[Span]:
        """Return `line` as it would look after the other lines, without adding it."""
        lexed, _ = lex_line(self._language, line, self._text.state_before(len(self._lines)))
        return _styled(lexed, palette, base)


def _styled(lexed: Lexed, palette: Palette, base: Style) -> list[Span]:
    return [(text, base + syntax_style(palette, field)) for text, field in lexed]


def language_name(info: str) -> str:
    """Return the language in the info string of a fence: `python` in "{.Python title=x}"."""
    found = _NAME.search(info)
    return found.group().strip(".").lower() if found else ""


def syntax_style(palette: Palette, field: str | None) -> Style:
    style: Style = NO_STYLE if field is None else getattr(palette, field)
    return style


class Allowance:
    """The CPU time that lexers may use, and the languages that have exceeded it."""

    def __init__(self) -> None:
        self._spare_s = SPARE_S
        self.spent: set[str] = set()
        """Languages that stay plain because one of their lines took too long."""

    def run(self, language: str, line: str, work: Callable[[], _LexedLine]) -> _LexedLine | None:
        """Return the result of `work` for `line`; None if it was stopped, or can't be stopped in this thread."""
        allowed_s = self._spare_s + LINE_S + CHARACTER_S * len(line)
        begun = time.thread_time()
        try:
            for _ in range(TRIES):
                with suppress(OverLimit):
                    return run_within(allowed_s, work)
                # The timer counts all threads. Only the time of this one counts against the language.
                if time.thread_time() - begun >= allowed_s:
                    self.spent.add(language)
                    break
            return None
        except CannotLimit:
            return None
        finally:
            self._spare_s = min(max(allowed_s - (time.thread_time() - begun), 0), SPARE_S)


allowance: Final = Allowance()
"""Shared by everything on the screen, so that a text in thirty languages doesn't take thirty times as long."""


def lex_line(language: str, line: str, stack: LexerState) -> tuple[Lexed, LexerState]:
    """Return the pieces of `line` and the state for the next line; plain if the lexer fails or takes too long."""
    plain: _LexedLine = [(line, None)], START
    if not language or language in allowance.spent:
        return plain
    if len(line) > MAX_LINE_CHARACTERS or (lexer := find_lexer(language)) is None:
        return [(line, None)], stack
    try:
        return allowance.run(language, line, lambda: _lex_from(lexer, line, stack)) or plain
    except Exception:  # noqa: BLE001 - others wrote hundreds of lexers, and only colors are at stake
        return plain


def _lex_from(lexer: Any, line: str, stack: LexerState) -> tuple[Lexed, LexerState]:
    kinds = _pygments().lexer
    if isinstance(lexer, kinds.RegexLexer) and not isinstance(lexer, kinds.ExtendedRegexLexer):
        context = kinds.LexerContext(line + "\n", 0, list(stack))
        try:
            # The extended lexer's method, with its state in a context, works for plain lexers too.
            pieces = _pieces(kinds.ExtendedRegexLexer.get_tokens_unprocessed(lexer, context=context), line)
            return pieces, tuple(context.stack) if len(context.stack) <= MAX_STATES else START
        except TypeError:
            # A callback of this lexer doesn't accept a context, so each line is lexed separately.
            pass
    return _pieces(lexer.get_tokens_unprocessed(line + "\n"), line), START


def _pieces(tokens: Iterator[tuple[int, Any, str]], line: str) -> Lexed:
    """Join neighboring tokens of the same style. Raises ValueError if the lexer changed the line's text."""
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
    """The palette's field for a token type: that of the nearest ancestor that has one."""
    name = str(kind).removeprefix("Token.")
    while name not in _STYLE_FIELDS and "." in name:
        name = name.rpartition(".")[0]
    return _STYLE_FIELDS.get(name)


@lru_cache(maxsize=256)
def find_lexer(language: str) -> Any | None:
    """Return the lexer of a language; None if it's unknown, or if too many are loaded.

    The first call for a language imports its lexer, which can take 300 ms.
    """
    known = _pygments().lexers
    name = _languages(known.get_all_lexers).get(language)
    return None if name is None else _loaded(known.find_lexer_class, name)


@cache
def _pygments() -> Any:
    import pygments.lexers  # type: ignore[import-untyped]  # not before there is something to color

    return pygments


@cache
def _languages(get_all_lexers: Callable[..., Any]) -> dict[str, str]:
    """Map each alias to the full name of its language.

    Excludes plugins, because Pygments searches for those again on every call.
    """
    return {alias.lower(): name for name, aliases, _, _ in get_all_lexers(plugins=False) for alias in aliases}


lexers: Final[dict[str, Any]] = {}


def _loaded(find: Callable[[str], Any], name: str) -> Any | None:
    if name not in lexers and len(lexers) < MAX_LANGUAGES:
        lexers[name] = find(name)()
    return lexers.get(name)


def load_language(language: str) -> Steps:
    """Import what is needed to color `language`, so that drawing doesn't have to: 20 ms twice for the first diff."""
    if not language:
        return
    if "pygments.lexers" not in sys.modules:
        yield
        import_module("pygments.lexers")  # not before there is something to color
        yield
    find_lexer(language)


PADDING: Final = " "
CONTINUATION: Final = "↪ "
"""Marks a row that continues the line above."""

Indent: TypeAlias = Sequence[Segment]
TakeIndent: TypeAlias = Callable[[], Indent]
"""Returns what goes to the left of the next row: quote bars, and a list marker the first time."""


class CodePanel:
    """Draws one block of code. Rows are cut immediately, but highlighted when first viewed."""

    def __init__(self, info: str, width: int, palette: Palette, take_indent: TakeIndent = tuple) -> None:
        """`width` excludes the indent; `info` is the info string of the fence."""
        self._highlighter = Highlighter(info)
        self._info = info.expandtabs(TAB_CELLS)
        self._width = width
        self._palette = palette
        self._take_indent = take_indent
        self._inner = max(width - 2 * len(PADDING), 1)

    def header(self) -> list[Row]:
        """A row that names the language; empty if the block doesn't name one."""
        if not self._info:
            return []
        label_style = self._palette.code_block + self._palette.code_label
        return [self._row([(self._info, label_style)], fold(self._info, self._inner)[0], False, self._take_indent())]

    def append(self, line: str) -> list[Row]:
        text = line.expandtabs(TAB_CELLS)
        self._highlighter.append(text)
        number = len(self._highlighter) - 1
        return [
            partial(self._lazy_row, number, part, index > 0, self._take_indent())
            for index, part in enumerate(self._parts(text))
        ]

    def preview(self, line: str) -> list[Row]:
        """Return the rows of an incomplete line. The next `append` or `preview` replaces it."""
        text = line.expandtabs(TAB_CELLS)
        spans = self._highlighter.preview(text, self._palette, self._palette.code_block)
        return [self._row(spans, part, index > 0, self._take_indent()) for index, part in enumerate(self._parts(text))]

    def _parts(self, text: str) -> list[TextRange]:
        """Cut the line to the width. Parts after the first leave room for the continuation mark."""
        parts = fold(text, self._inner)
        if len(parts) == 1:
            return parts
        first = parts[0]
        room = max(self._inner - len(CONTINUATION), 1)
        rest = fold(text[first.stop :], room)
        return [first, *(TextRange(start + first.stop, stop + first.stop, cells) for start, stop, cells in rest)]

    def _lazy_row(self, number: int, part: TextRange, continues: bool, indent: Indent) -> Strip:
        spans = self._highlighter.spans(number, self._palette, self._palette.code_block)
        return self._row(spans, part, continues, indent)

    def _row(self, spans: Sequence[Span], part: TextRange, continues: bool, indent: Indent) -> Strip:
        style = self._palette.code_block
        segments = [*indent, Gutter(PADDING, style)]
        cells = len(PADDING) + part.cells
        if continues:
            segments += [CUT, Gutter(CONTINUATION, style + self._palette.code_label)]
            cells += len(CONTINUATION)
        segments += slice_spans(spans, part.start, part.stop)
        if cells < self._width:
            segments.append(Gutter(" " * (self._width - cells), style))
        return Strip(segments, max(cells, self._width) + sum([width_cells(text) for text, _, _ in indent]))
