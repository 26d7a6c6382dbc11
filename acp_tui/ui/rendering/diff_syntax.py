"""Colours the lines of a diff as the code that they are; only those that are looked at, and from little context."""

from __future__ import annotations

from bisect import bisect_right
from pathlib import PurePosixPath
from typing import Final

from acp_tui.ui.rendering.diff_model import Diff, DiffLine
from acp_tui.ui.rendering.highlight import Lexed, LexedText
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


def has_colours(palette: Palette) -> bool:
    """Whether colours are left for it: without a ground of their own, changes are told by the colour of the text."""
    return palette.diff_added.bgcolor is not None


class DiffSyntax:
    """What the parts of both texts' lines are."""

    def __init__(self, diff: Diff, language: str) -> None:
        self._changes = diff.changes
        self._old = LexedText(diff.old, language, MAX_LINES_ABOVE, MAX_CHARACTERS_ABOVE)
        self._new = LexedText(diff.new, language, MAX_LINES_ABOVE, MAX_CHARACTERS_ABOVE)

    def lexed(self, line: DiffLine) -> Lexed:
        """The pieces of the line's text."""
        if line.new_number is not None:
            return self._new.lexed(line.new_number - 1)
        assert line.old_number is not None, "a line of a diff is in one of the texts"
        at = line.old_number - 1
        change = self._changes[bisect_right(self._changes, at, key=lambda change: change.old_from) - 1]
        # Above the change both texts are the same, and the new one is what is mostly looked at.
        return self._old.lexed(at, change.old_from, lambda: self._new.state_before(change.new_from))
