"""Reads which programs a shell line would start, as lists of words; it runs and expands nothing.

A seat belt, not a sandbox: it reads what people and agents ordinarily write. A variable, a function, a script or a
program that starts another one hides what is run. Where it is in doubt it names a command too many.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile
from posixpath import basename
from typing import Final, TypeAlias

Words: TypeAlias = tuple[str, ...]
"""A program and its arguments."""

MAX_WORK: Final = 200_000
"""Characters and words that are looked at for one line; what stands behind them is not read."""
_MAX_DEPTH: Final = 8
"""Of lines within lines, such as `sh -c 'sh -c ...'`."""
_TOKEN: Final = re.compile(
    r"""
      (?P<blank>[ \t\r]+)
    | '(?P<single>[^']*)'?
    | "(?P<double>(?:[^"\\]|\\.)*)["\\]?
    | \\(?P<escaped>.?)
    | (?P<redirect>&>+|\d*[<>]+[&|]?)
    | (?P<end>[;&|\n()`]|\$\()
    | (?P<plain>\$|\d+|[^ \t\r'"\\<>;&|\n()`$\d]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_SUBSTITUTION: Final = re.compile(r"\$\(|`")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*\+?=")
_NUMBER: Final = re.compile(r"[\d.]+[smhd]?")
_RESERVED: Final = re.compile(r"[!{]|if|then|elif|else|do|while|until|time|coproc")
_SHELL: Final = re.compile("(ba|da|a|z|k|mk|fi)?sh|su")
_SHELL_LINE: Final = re.compile("-[A-Za-z]*c|--command")
_STARTER: Final = re.compile(
    "builtin|busybox|chroot|command|doas|env|exec|ionice|nice|nohup|setsid|stdbuf|strace|sudo|time|timeout"
    "|unbuffer|watch|xargs"
)
"""A program that starts the program that its arguments name."""
_FIND_EXEC: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


def commands_of_line(line: str) -> tuple[Words, ...]:
    """Every command that `line` would run, each before those inside it; targets of redirections come last in it."""
    search = _Search()
    search.read_line(line, 0)
    return tuple(search.found)


def commands_of_words(words: Sequence[str]) -> tuple[Words, ...]:
    """As `commands_of_line`, where the words are known and no shell reads them."""
    search = _Search()
    search.read_words(tuple(words), 0)
    return tuple(search.found)


def split_words(text: str) -> Words:
    """The words of the first command in `text`."""
    return next((command.words for command in _commands(text)), ())


class _Search:
    """Collects commands; an agent may write lines that could be read in more ways than there is time for."""

    def __init__(self) -> None:
        self.found: dict[Words, None] = {}
        self._work_left = MAX_WORK

    def read_line(self, line: str, depth: int) -> None:
        """Find the commands of a line."""
        line = line[: max(self._work_left, 0)]
        self._work_left -= len(line)
        if depth > _MAX_DEPTH:
            return
        for command in _commands(line):
            self.read_words(command.words, depth)
            for inner in command.inner_lines:
                self.read_line(inner, depth + 1)

    def read_words(self, words: Words, depth: int) -> None:
        """Find one command, and those that it starts."""
        words = _without_prefixes(words)
        self._work_left -= len(words)
        if not words or depth > _MAX_DEPTH or self._work_left < 0:
            return
        self.found[words] = None
        program, arguments = basename(words[0]), words[1:]
        if _SHELL.fullmatch(program):
            for option, line in pairwise(arguments):
                if _SHELL_LINE.fullmatch(option):
                    self.read_line(line, depth + 1)
        elif program == "eval":
            self.read_line(" ".join(arguments), depth + 1)
        for started in _started(program, arguments):
            if self._work_left < 0:
                return
            self.read_words(started, depth + 1)


def _without_prefixes(words: Words) -> Words:
    """`words` from the program on, without assignments and words of the shell's grammar."""
    for at, word in enumerate(words):
        if not (_RESERVED.fullmatch(word) or _ASSIGNMENT.match(word)):
            return words[at:]
    return ()


def _started(program: str, arguments: Words) -> Iterator[Words]:
    """The programs that the arguments name."""
    if program == "find":
        yield from (arguments[at + 1 :] for at, word in enumerate(arguments) if word in _FIND_EXEC)
    if not _STARTER.fullmatch(program):
        return
    while arguments:
        options = [*takewhile(_is_no_program, arguments)]
        yield (rest := arguments[len(options) :])
        # What follows an option may be its value, and what follows that the program.
        arguments = rest[1:] if options and options[-1].startswith("-") else ()


def _is_no_program(word: str) -> bool:
    return word.startswith("-") or bool(_ASSIGNMENT.match(word) or _NUMBER.fullmatch(word))


class _Command:
    """One command while it is read."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._targets: list[str] = []
        self._pieces: list[str] = []
        self._in_word = False
        self._in_target = False
        self.inner_lines: list[str] = []
        """What stands as `$(...)` in double quotes, and whatever follows it there."""

    def add(self, piece: str) -> None:
        self._pieces.append(piece)
        self._in_word = True

    def end_word(self) -> None:
        if self._in_word:
            (self._targets if self._in_target else self._words).append("".join(self._pieces))
            self._pieces.clear()
            self._in_word = self._in_target = False

    def redirect(self) -> None:
        self.end_word()
        self._in_target = True

    @property
    def words(self) -> Words:
        self.end_word()
        return (*self._words, *self._targets)


def _commands(line: str) -> Iterator[_Command]:
    """`line` cut into commands and words, whatever is left open closed."""
    command = _Command()
    for token in _TOKEN.finditer(line):
        match token.lastgroup:
            case "blank":
                command.end_word()
            case "redirect":
                command.redirect()
            case "end":
                yield command
                command = _Command()
            case "double":
                command.add(_ESCAPED.sub(r"\1", token["double"]))
                command.inner_lines += _SUBSTITUTION.split(token["double"])[1:]
            case "escaped" if token["escaped"] == "\n":
                pass
            case str(kind):
                command.add(token[kind])
    yield command
