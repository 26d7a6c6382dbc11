"""Colours the lines of a diff as the code that they are; only those that are looked at, and from little context.

A lexer reads from the top, which takes two seconds for a file of 10,000 lines. Here it begins a few lines above those
that are seen: a string or a comment that begins further above is not known as such.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import Final

from acp_tui.client.line_comparison import Steps
from acp_tui.ui.rendering.diff_model import Diff, DiffLine
from acp_tui.ui.rendering.highlight import START, Lexed, LexerState, find_lexer, lex_line
from acp_tui.ui.rendering.palette import Palette

MAX_LINES_ABOVE: Final = 24
"""Lines to read above the first that is seen: they take 5 ms, and there are several hunks on a page."""
MAX_CHARACTERS_ABOVE: Final = 4_000

_LANGUAGES: Final = {
    "bash": "bash",
    "c": "c",
    "cc": "cpp",
    "cfg": "ini",
    "cpp": "cpp",
    "cs": "csharp",
    "css": "css",
    "dart": "dart",
    "diff": "diff",
    "dockerfile": "docker",
    "ex": "elixir",
    "exs": "elixir",
    "go": "go",
    "h": "c",
    "hpp": "cpp",
    "hs": "haskell",
    "htm": "html",
    "html": "html",
    "ini": "ini",
    "java": "java",
    "js": "javascript",
    "json": "json",
    "jsx": "jsx",
    "kt": "kotlin",
    "lua": "lua",
    "makefile": "make",
    "md": "markdown",
    "ml": "ocaml",
    "mjs": "javascript",
    "php": "php",
    "pl": "perl",
    "ps1": "powershell",
    "py": "python",
    "pyi": "python",
    "r": "r",
    "rb": "ruby",
    "rs": "rust",
    "scala": "scala",
    "scss": "scss",
    "sh": "bash",
    "sql": "sql",
    "svelte": "html",
    "swift": "swift",
    "tcss": "css",
    "tf": "terraform",
    "toml": "toml",
    "ts": "typescript",
    "tsx": "tsx",
    "vue": "html",
    "xml": "xml",
    "yaml": "yaml",
    "yml": "yaml",
    "zig": "zig",
    "zsh": "zsh",
}


def language_of(path: str) -> str:
    """The language that the name of a file tells; "" for none."""
    name = PurePosixPath(path).name.lower()
    return _LANGUAGES.get(name.rpartition(".")[2], "")


def load_language(language: str) -> Steps:
    """Import what colours it, so that drawing need not: twice 20 ms for the first diff, then nothing."""
    if not language:
        return
    if "pygments.lexers" not in sys.modules:
        yield
        import pygments.lexers  # type: ignore[import-untyped]  # noqa: F401 - not before something is to be coloured

        yield
    find_lexer(language)


def has_colours(palette: Palette) -> bool:
    """Whether colours are left for it: without a ground of their own, changes are told by the colour of the text."""
    return palette.diff_added.bgcolor is not None


class DiffSyntax:
    """What the parts of both texts' lines are."""

    def __init__(self, diff: Diff, language: str) -> None:
        self._changes = diff.changes
        self._old = _Text(diff.old, language)
        self._new = _Text(diff.new, language)

    def lexed(self, line: DiffLine) -> Lexed:
        """The pieces of the line's text."""
        if line.new_number is not None:
            return self._new.lexed(line.new_number - 1)
        assert line.old_number is not None, "a line of a diff is in one of the texts"
        at = line.old_number - 1
        change = self._changes[bisect_right(self._changes, at, key=lambda change: change.old_from) - 1]
        # Above the change both texts are the same, and the new one is what is mostly looked at.
        return self._old.lexed(at, change.old_from, lambda: self._new.state_before(change.new_from))


class _Text:
    """One text; of what is above the lines that are seen only as much is lexed as is told."""

    def __init__(self, lines: Sequence[str], language: str) -> None:
        self._lines = lines
        self._language = language
        self._read: dict[int, tuple[Lexed, LexerState]] = {}

    def lexed(self, at: int, top: int = 0, state_at_top: Callable[[], LexerState] = lambda: START) -> Lexed:
        """The line at `at`, counted from 0; nothing above `top` is looked at."""
        if at not in self._read:
            begin = self._begin_above(at, top)
            state = self._read[begin - 1][1] if begin - 1 in self._read else START
            if begin == top:
                state = state_at_top()
            for above in range(begin, at):
                _, state = self._lex(above, state)
            self._read[at] = self._lex(at, state)
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
        while begin > max(at - MAX_LINES_ABOVE, top) and begin - 1 not in self._read:
            characters += len(self._lines[begin - 1])
            if characters > MAX_CHARACTERS_ABOVE:
                break
            begin -= 1
        return begin
