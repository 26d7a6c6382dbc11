"""Code: the tokens of a line, found with Pygments, which loads with the first line, and the panel of a block of code.

Lexers are regular expressions written for well-meant code; some take exponential time. Each line has a limit of CPU
time, and a language that exceeds it stays plain from then on. Where a block ends, others find.
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
from acp_tui.ui.rendering.wrapping import CUT, Gutter, LineRange, Row, Span, fold, slice_spans, width_cells

_AGAIN_S: Final = 0.02
"""Until the next attempt, where something on the way has swallowed the exception."""

_Result = TypeVar("_Result")


class OverLimit(BaseException):
    """The work was stopped. It is no `Exception`, so that the work cannot catch it by mistake."""


class CannotLimit(Exception):
    """There is no such timer here: only the main thread has one."""


class _Limit:
    """The one timer of the process."""

    is_installed = False
    is_running = False

    def install(self) -> None:
        """Take the timer's signal, for good: one that comes late finds nothing to stop, and ends nothing."""
        if not self.is_installed:
            signal.signal(signal.SIGVTALRM, self._stop)
            self.is_installed = True

    def _stop(self, _number: int, _frame: object) -> None:
        if self.is_running:
            raise OverLimit


_limit: Final = _Limit()


def run_within(cpu_s: float, work: Callable[[], _Result]) -> _Result:
    """What `work` returns. Raises OverLimit after about `cpu_s` seconds, and CannotLimit outside of the main thread.

    Work inside of limited work has the limit of the outer one.
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
"""A longer line stays plain: some lexers take very long over data."""
MAX_CHARACTERS_ABOVE: Final = 10_000
"""Code to read above the first line of a block that is looked at; a lexer takes about 5 us for each of them."""
MAX_STATES: Final = 100
"""Inside each other. A line that opens more begins anew, since all of them are copied for every line."""
MAX_LANGUAGES: Final = 60
"""To load in one run: each costs 5 to 300 ms and memory that is never given back."""

LINE_S: Final = 0.0005
"""Of processor time, for each line ..."""
CHARACTER_S: Final = 20e-6
"""... and for each of its characters. Both are several times what lexers ordinarily need."""
TRIES: Final = 3
SPARE_S: Final = 0.03
"""What earlier lines have left over; more than that is not saved up."""

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
_LexedLine: TypeAlias = tuple[Lexed, LexerState]


class LexedText:
    """What the parts of a text's lines are; of what is above the lines that are seen only as much is lexed as is told.

    A lexer reads from the top, which takes two seconds for a file of 10,000 lines. Here it begins some lines above
    those that are seen: a string or a comment that begins further above is not known as such.
    """

    def __init__(
        self, lines: Sequence[str], language: str, max_lines: int = sys.maxsize, max_characters: int = 0
    ) -> None:
        """`lines` may grow; `max_lines` and `max_characters` are read above the first line that is looked at."""
        self._lines = lines
        self._language = language
        self._max_lines = max_lines
        self._max_characters = max_characters or MAX_CHARACTERS_ABOVE
        self._read: dict[int, tuple[Lexed, LexerState]] = {}

    def lexed(self, at: int, top: int = 0, state_at_top: Callable[[], LexerState] = lambda: START) -> Lexed:
        """The line at `at`, counted from 0; nothing above `top` is looked at."""
        if at not in self._read:
            begin = self._begin_above(at, top)
            state = self._read[begin - 1][1] if begin - 1 in self._read else START
            if begin == top:
                state = state_at_top()
            # What was begun in the middle of the text is not kept for the first lines, which have little above them.
            kept_from = begin if begin == top or begin - 1 in self._read else (begin + at) // 2
            for number in range(begin, at + 1):
                lexed = self._lex(number, state)
                state = lexed[1]
                if number >= kept_from:
                    self._read[number] = lexed
        return self._read[at][0]

    def state_before(self, at: int) -> LexerState:
        """What the lexer knows where the line at `at` begins."""
        if at:
            self.lexed(at - 1)
        return self._read[at - 1][1] if at else START

    def _lex(self, at: int, state: LexerState) -> tuple[Lexed, LexerState]:
        return lex_line(self._language, self._lines[at].rstrip("\r\n"), state)

    def _begin_above(self, at: int, top: int) -> int:
        """The line to begin at: behind one that was read, else not too far above."""
        begin, characters = at, 0
        while begin > max(at - self._max_lines, top) and begin - 1 not in self._read:
            characters += len(self._lines[begin - 1])
            if characters > self._max_characters:
                break
            begin -= 1
        return begin


class Highlighter:
    """The code of one block, line by line."""

    def __init__(self, language: str) -> None:
        """`language` is what the block calls itself; an unknown one gives plain lines."""
        self._language = language_name(language)
        self._lines: list[str] = []
        self._text = LexedText(self._lines, self._language)

    def __len__(self) -> int:
        return len(self._lines)

    def append(self, line: str) -> None:
        """Put a line behind the others."""
        self._lines.append(line)

    def spans(self, number: int, palette: Palette, base: Style) -> list[Span]:
        """Line `number`, counted from 0, in the palette's styles laid over `base`."""
        return _styled(self._text.lexed(number), palette, base)

    def preview(self, line: str, palette: Palette, base: Style) -> list[Span]:
        """`line` as it would look behind the others, without adding it."""
        lexed, _ = lex_line(self._language, line, self._text.state_before(len(self._lines)))
        return _styled(lexed, palette, base)


def _styled(lexed: Lexed, palette: Palette, base: Style) -> list[Span]:
    return [(text, base + syntax_style(palette, field)) for text, field in lexed]


def language_name(info: str) -> str:
    """The language in what follows an opening fence: `python` in "{.Python title=x}"."""
    found = _NAME.search(info)
    return found.group().strip(".").lower() if found else ""


def syntax_style(palette: Palette, field: str | None) -> Style:
    """The palette's style for a piece of a line."""
    style: Style = NO_STYLE if field is None else getattr(palette, field)
    return style


class Allowance:
    """The processor time that lexers may use, and the languages that have used it up."""

    def __init__(self) -> None:
        self._spare_s = SPARE_S
        self.spent: set[str] = set()
        """Languages that stay plain: a line of theirs took longer than it may."""

    def run(self, language: str, line: str, work: Callable[[], _LexedLine]) -> _LexedLine | None:
        """What `work` finds in `line`; None where it was stopped, or cannot be stopped here."""
        allowed_s = self._spare_s + LINE_S + CHARACTER_S * len(line)
        begun = time.thread_time()
        try:
            for _ in range(TRIES):
                with suppress(OverLimit):
                    return run_within(allowed_s, work)
                # The timer counts every thread: only what this one took is held against the language.
                if time.thread_time() - begun >= allowed_s:
                    self.spent.add(language)
                    break
            return None
        except CannotLimit:
            return None
        finally:
            self._spare_s = min(max(allowed_s - (time.thread_time() - begun), 0), SPARE_S)


allowance: Final = Allowance()
"""One for all that is on the screen: a text in thirty languages may not cost thirty times as much."""


def lex_line(language: str, line: str, stack: LexerState) -> tuple[Lexed, LexerState]:
    """The pieces of `line`, and the state for the next one; plain where the lexer fails or takes too long."""
    plain: _LexedLine = [(line, None)], START
    if not language or language in allowance.spent:
        return plain
    if len(line) > MAX_LINE_CHARACTERS or (lexer := find_lexer(language)) is None:
        return [(line, None)], stack
    try:
        return allowance.run(language, line, lambda: _lex_from(lexer, line, stack)) or plain
    except Exception:  # noqa: BLE001 - hundreds of lexers that others wrote, and only colours are at stake
        return plain


def _lex_from(lexer: Any, line: str, stack: LexerState) -> tuple[Lexed, LexerState]:
    from pygments.lexer import ExtendedRegexLexer, LexerContext, RegexLexer  # type: ignore[import-untyped]

    if isinstance(lexer, RegexLexer) and not isinstance(lexer, ExtendedRegexLexer):
        context = LexerContext(line + "\n", 0, list(stack))
        try:
            # The extended lexer's way, with the state in a context, works for the plain ones too.
            pieces = _pieces(ExtendedRegexLexer.get_tokens_unprocessed(lexer, context=context), line)
            return pieces, tuple(context.stack) if len(context.stack) <= MAX_STATES else START
        except TypeError:
            # A callback of this lexer does not take a context: its lines are read each on its own.
            pass
    return _pieces(lexer.get_tokens_unprocessed(line + "\n"), line), START


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


@lru_cache(maxsize=256)
def find_lexer(language: str) -> Any | None:
    """The lexer of a language, None for an unknown one and for one too many.

    The first time it is imported, which can take 300 ms.
    """
    from pygments.lexers import find_lexer_class, get_all_lexers  # type: ignore[import-untyped]

    name = _languages(get_all_lexers).get(language)
    return None if name is None else _loaded(find_lexer_class, name)


@cache
def _languages(get_all_lexers: Callable[..., Any]) -> dict[str, str]:
    """The full names of the languages by what they are called, without those of plugins: these have to be searched
    for anew each time.
    """
    return {alias.lower(): name for name, aliases, _, _ in get_all_lexers(plugins=False) for alias in aliases}


_lexers: Final[dict[str, Any]] = {}


def _loaded(find: Callable[[str], Any], name: str) -> Any | None:
    if name not in _lexers and len(_lexers) < MAX_LANGUAGES:
        _lexers[name] = find(name)()
    return _lexers.get(name)


def load_language(language: str) -> Steps:
    """Import what colours it, so that drawing need not: twice 20 ms for the first diff, then nothing."""
    if not language:
        return
    if "pygments.lexers" not in sys.modules:
        yield
        import_module("pygments.lexers")  # not before something is to be colored
        yield
    find_lexer(language)


PADDING: Final = " "
CONTINUATION: Final = "↪ "
"""Begins a row that goes on with the line above."""
TAB_CELLS: Final = 4

Indent: TypeAlias = Sequence[Segment]
TakeIndent: TypeAlias = Callable[[], Indent]
"""What stands left of the next row: bars of quotes, a list marker the first time."""


class CodePanel:
    """One block of code. Rows are cut at once, but highlighted only when they are looked at."""

    def __init__(self, info: str, width: int, palette: Palette, take_indent: TakeIndent = tuple) -> None:
        """`width` is the panel's own, without the indent; `info` is what follows the opening fence."""
        self._highlighter = Highlighter(info)
        self._info = info.expandtabs(TAB_CELLS)
        self._width = width
        self._palette = palette
        self._take_indent = take_indent
        self._inner = max(width - 2 * len(PADDING), 1)

    def header(self) -> list[Row]:
        """A row that names the language; none where the block does not."""
        if not self._info:
            return []
        label_style = self._palette.code_block + self._palette.code_label
        label = fold(self._info, self._inner)[0]
        return [self._row([(self._info, label_style)], label, False, self._take_indent())]

    def append(self, line: str) -> list[Row]:
        """The rows of one more line of the code."""
        text = line.expandtabs(TAB_CELLS)
        self._highlighter.append(text)
        number = len(self._highlighter) - 1
        return [
            partial(self._lazy_row, number, part, index > 0, self._take_indent())
            for index, part in enumerate(self._parts(text))
        ]

    def preview(self, line: str) -> list[Row]:
        """The rows of a line that is still being written; the next `append` or `preview` replaces it."""
        text = line.expandtabs(TAB_CELLS)
        spans = self._highlighter.preview(text, self._palette, self._palette.code_block)
        return [
            self._row(spans, part, index > 0, self._take_indent())
            for index, part in enumerate(self._parts(text))
        ]

    def _parts(self, text: str) -> list[LineRange]:
        """The line cut to the width; later parts leave room for the continuation mark."""
        parts = fold(text, self._inner)
        if len(parts) == 1:
            return parts
        first = parts[0]
        room = max(self._inner - len(CONTINUATION), 1)
        rest = fold(text[first.stop :], room)
        return [
            first,
            *(LineRange(start + first.stop, stop + first.stop, cells) for start, stop, cells in rest),
        ]

    def _lazy_row(self, number: int, part: LineRange, continues: bool, indent: Indent) -> Strip:
        spans = self._highlighter.spans(number, self._palette, self._palette.code_block)
        return self._row(spans, part, continues, indent)

    def _row(self, spans: Sequence[Span], part: LineRange, continues: bool, indent: Indent) -> Strip:
        style = self._palette.code_block
        segments = [*indent, Gutter(PADDING, style)]
        cells = len(PADDING) + part.cells
        if continues:
            segments += [CUT, Gutter(CONTINUATION, style + self._palette.code_label)]
            cells += len(CONTINUATION)
        segments += slice_spans(spans, part.start, part.stop)
        if cells < self._width:
            segments.append(Segment(" " * (self._width - cells), style))
        return Strip(segments, max(cells, self._width) + sum([width_cells(text) for text, _, _ in indent]))
