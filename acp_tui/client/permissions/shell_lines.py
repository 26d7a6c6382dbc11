"""Reads a shell line as commands, each a list of words, as bash would. Runs nothing and knows no programs.

Words are what bash makes of all kinds of quotes, of `{a,b}`, and of `$IFS`, `$@`, and `$*` with their usual values. A
mark replaces what the line itself doesn't reveal: a variable, the output of `$(...)`, a file name matched by `*`. Where
the grammar is ambiguous, this module reports one command too many.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import islice, pairwise, takewhile
from typing import Final, NamedTuple, TypeAlias

from acp_tui.client.path_globs import OPEN, WILDCARD

Words: TypeAlias = tuple[str, ...]
"""A program and its arguments."""

ANY: Final = OPEN
"""In a word, precedes what may become any text, including several words."""
ANY_PART: Final = WILDCARD
"""In a word, precedes what may become any text within that word."""
NOT_TOLD: Final = (ANY,)
"""A command about which nothing is known."""
_MARKS: Final = str.maketrans("", "", ANY + ANY_PART)

_TOKEN: Final = re.compile(
    r"""
      (?P<blank>[ \t\r]+|\$(?:IFS\b|\{IFS\}))
    | \$'(?P<ansi>(?:[^'\\]|\\.)*)['\\]?
    | \$?(?P<quote>")
    | \$(?P<nothing>[@*]|\{[@*]\})
    | '(?P<single>[^']*)'?
    | \\(?P<escaped>.?)
    | (?P<open>\$\(|[<>]\()
    | (?P<redirect>&>+|\d*[<>]+[&|]?)
    | (?P<end>[;&|\n]|\([ \t]*\))
    | (?P<group>\()
    | (?P<close>\))
    | (?P<tick>`)
    | (?P<variable>\$(?:\{|(?=[\w?!#$-])))
    | (?P<brace>[{,}])
    | (?P<plain>\$|\d+|[^ \t\r'"\\<>;&|\n()`$\d{,}]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTED: Final = re.compile(
    r"""
      (?P<quote>")
    | (?P<open>\$\()
    | (?P<tick>`)
    | \\(?P<escaped>[$`"\\\n])
    | (?P<one>\$(?:\w|\{\w+\}))
    | (?P<variable>\$[{@*?!#$-])
    | (?P<text>[^"\\$`]+|\$|\\.?)
    """,
    re.VERBOSE | re.DOTALL,
)
"""The same between double quotes."""
_ANSI: Final = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.)|([abeEfnrtv\\'\"?]))",
    re.DOTALL,
)
"""The same for `$'...'`."""
_ANSI_LETTERS: Final = dict(zip("abeEfnrtv", "\a\b\x1b\x1b\f\n\r\t\v", strict=True))
_BRACES: Final = dict(zip("{,}", "\ue000\ue001\ue002", strict=True))
"""Stand-ins for the unquoted characters until the word ends."""
_UNBRACED: Final = str.maketrans({mark: brace for brace, mark in _BRACES.items()})
_BRACE: Final = re.compile("[\ue000-\ue002]")
_MAX_ALTERNATIVES: Final = 64
"""Limit for the words that one word with braces expands to."""
_MAX_GROUPS: Final = 64
"""Limit for the braces to expand."""
_MAX_READ_AGAIN: Final = 20
"""How often to read the rest of a line in another way because it's unclear where a substitution ends."""
_FOUND: Final = re.compile(r"[*?]|\[(?=[^\]]+\])")
"""What bash expands to file names."""
_RANGE: Final = re.compile("\ue000[^\ue000-\ue002]*\\.\\.")
_DOCUMENT: Final = re.compile(r"<<-?[ \t]*((?:\"[^\"]*\"|'[^']*'|\\.|[^\s;&|<>()'\"\\])+)", re.DOTALL)
"""The beginning of a here-document, with the word that ends it."""
_IN_DOCUMENT: Final = re.compile(r"\$\(|`")
"""Beginnings of substitutions that run inside a here-document."""


def as_written(words: Words) -> Words:
    """The words without marks, and without those that consist of nothing else."""
    joined = "".join(words)
    if ANY not in joined and ANY_PART not in joined:
        return words
    plain = (word.translate(_MARKS) for word in words)
    return tuple(text for text, word in zip(plain, words, strict=True) if text or not word)


def is_told(word: str) -> bool:
    """Whether the line reveals the whole word."""
    return ANY not in word and ANY_PART not in word


def split_words(text: str) -> Words:
    """The words of the first command in `text`."""
    return as_written(read_commands(text, len(text)).commands[0].words)


class Command:
    """One command while it's being read."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._targets: list[str] = []
        self._pieces: list[str] = []
        self._in_word = False
        self._in_target = False

    def read(self, token: re.Match[str]) -> None:
        """Read the next piece of the line."""
        match token.lastgroup:
            case "blank":
                self._end_word()
            case "redirect":
                self._end_word()
                self._in_target = True
            case "ansi":
                self._add(_read_ansi(token["ansi"]))
            case "brace":
                self._add(_BRACES[token["brace"]])
            case "nothing" | "open" | "tick" | "group":
                self._add(ANY)
            case "variable":
                self._add(ANY + token["variable"])
            case "one":
                self._add(ANY_PART + token["one"])
            case "quote":
                self._add("")
            case "plain":
                self._add(_FOUND.sub(rf"{ANY_PART}\g<0>", token["plain"]))
            case "escaped" if token["escaped"] == "\n":
                pass
            case str(kind):
                self._add(token[kind])

    @property
    def words(self) -> Words:
        self._end_word()
        return tuple(self._words)

    @property
    def targets(self) -> Words:
        """The targets of its redirections, and the texts it gets as input."""
        self._end_word()
        return tuple(self._targets)

    @property
    def is_in_word(self) -> bool:
        """Whether a piece that follows without a blank belongs to the same word."""
        return self._in_word

    def _add(self, piece: str) -> None:
        self._pieces.append(piece)
        self._in_word = True

    def _end_word(self) -> None:
        if self._in_word:
            words = self._targets if self._in_target else self._words
            words += _alternatives("".join(self._pieces))
            self._pieces.clear()
            self._in_word = self._in_target = False


def _alternatives(word: str) -> list[str]:
    """The words that `word` expands to, in bash's order, without empty ones."""
    if _BRACES["{"] not in word:
        return [word.translate(_UNBRACED)]
    if _RANGE.search(word):
        return [ANY + word.translate(_UNBRACED)]
    expanded = (each.translate(_UNBRACED) for each in _expanded(word, iter(range(_MAX_GROUPS))))
    return [*islice(filter(None, expanded), _MAX_ALTERNATIVES)]


def _expanded(word: str, groups_left: Iterator[int]) -> Iterator[str]:
    group = _first_group(word)
    if group is None or next(groups_left, None) is None:
        yield word
        return
    for start, stop in pairwise(group):
        for inner in _expanded(word[start + 1 : stop], groups_left):
            for rest in _expanded(word[group[-1] + 1 :], groups_left):
                yield word[: group[0]] + inner + rest


def _first_group(word: str) -> list[int] | None:
    """The positions of the first braces with a comma of their own: opening, commas, closing."""
    opened: list[list[int]] = []
    closed: list[list[int]] = []
    for mark in _BRACE.finditer(word):
        if mark[0] == _BRACES["{"]:
            opened.append([mark.start()])
        elif opened:
            opened[-1].append(mark.start())
            if mark[0] == _BRACES["}"]:
                closed.append(opened.pop())
    return min((group for group in closed if len(group) > 2), default=None)


def _read_ansi(text: str) -> str:
    """What bash makes of `$'text'`, up to the first NUL. Several bytes may form one character."""
    pieces: list[bytes] = []
    at = 0
    for found in _ANSI.finditer(text):
        pieces += _encoded(text[at : found.start()]), _ansi_bytes(found)
        at = found.end()
    pieces.append(_encoded(text[at:]))
    return b"".join(pieces).partition(b"\0")[0].decode("utf-8", "surrogateescape")


def _ansi_bytes(found: re.Match[str]) -> bytes:
    octal, byte, short, long, control, letter = found.groups()
    if octal or byte:
        return bytes(((int(octal, 8) if octal else int(byte, 16)) & 0xFF,))
    if short or long:
        code = int(short or long, 16)
        return _encoded(chr(code)) if code <= sys.maxunicode else b""
    if control:
        return b"\x7f" if control == "?" else _encoded(chr(ord(control.upper()[0]) & 0x1F))
    return _encoded(_ANSI_LETTERS.get(letter, letter))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class ParsedCommand(NamedTuple):
    """The result of reading a line."""

    commands: list[Command]
    inner_lines: list[str]
    """Rests of the line that may also be commands."""
    characters: int
    """How many of the line's characters were read, and in how many pieces."""
    pieces: int


class _Opened(NamedTuple):
    kind: str
    continued: list[Command]
    """The commands that continue after it closes."""


def read_commands(line: str, max_pieces: int) -> ParsedCommand:
    """`line` split into commands and words. Everything left open is closed."""
    reading = _LineReading("case" in line)
    at = pieces = 0
    while pieces < max_pieces and at < len(line):
        token = (_QUOTED if reading.is_quoted else _TOKEN).match(line, at)
        if token is None:
            break
        at = token.end()
        pieces += 1
        reading.read(token)
    inner_lines = [*reading.inner_lines, *islice(_behind_documents(line[:at]), _MAX_READ_AGAIN + 1)]
    return ParsedCommand(reading.commands, inner_lines, at, pieces)


def _behind_documents(line: str) -> Iterator[str]:
    """What follows each line that may end a here-document, and what runs inside one, where quotes have no meaning."""
    first = line.find("<<")
    if first < 0:
        return
    words = {found[1] for found in _DOCUMENT.finditer(line)}
    ends = {re.sub(r"['\"\\]", "", word) for word in words}
    if any(_IN_DOCUMENT.search(end) or "$" in end for end in ends):
        yield "$rest"
    at = line.find("\n", first) + 1
    if not at or not ends:
        return
    if not words.isdisjoint(ends):  # unless the word is quoted, substitutions in the text run
        run = islice(_IN_DOCUMENT.finditer(line, at), _MAX_READ_AGAIN // 2)
        yield from (line[found.start() :] for found in run)
    while at:
        start, at = at, line.find("\n", at) + 1
        if at and line[start : at - 1].lstrip("\t").rstrip(")`") in ends:
            yield line[at:]


class _LineReading:
    """A line while it's being split."""

    def __init__(self, has_case: bool) -> None:
        """With `has_case`, a `)` may belong to a `case` and close nothing."""
        self.commands = [Command()]
        self.inner_lines: list[str] = []
        self._has_case = has_case
        # After a substitution closes, its command continues. Another may also begin, as after the `)` of a `case`.
        self._active = self.commands[:]
        self._opened: list[_Opened] = []

    @property
    def is_quoted(self) -> bool:
        """Whether the next piece is between double quotes."""
        return bool(self._opened) and self._opened[-1].kind == "quote"

    def read(self, token: re.Match[str]) -> None:
        """Read the next piece."""
        match token.lastgroup:
            case "end":
                self._begin([])
            case "quote":
                self._feed(token)
                if self.is_quoted:
                    self._opened.pop()
                else:
                    self._opened.append(_Opened("quote", []))
            case "close":
                self._close(("open", "group"), token)
            case "tick" if not self.is_quoted and self._has_open_tick():
                self._close(("tick",), token)
            case "open" | "tick" | "group" as kind:
                is_within = kind != "group" or self._active[0].is_in_word
                if is_within:
                    self._feed(token)
                self._opened.append(_Opened(kind, self._active[:1] if is_within else []))
                self._begin([])
            case _:
                self._feed(token)

    def _feed(self, token: re.Match[str]) -> None:
        for command in self._active:
            command.read(token)

    def _begin(self, continued: list[Command]) -> None:
        self.commands.append(Command())
        self._active = [*continued, self.commands[-1]]

    def _has_open_tick(self) -> bool:
        within = takewhile(lambda opened: opened.kind != "quote", reversed(self._opened))
        return any(opened.kind == "tick" for opened in within)

    def _close(self, kinds: tuple[str, ...], token: re.Match[str]) -> None:
        continued: list[Command] = []
        while self._opened and not self.is_quoted:
            opened = self._opened.pop()
            if opened.kind in kinds:
                continued = opened.continued
                break
        self._begin(continued)
        if self.is_quoted and self._has_case and len(self.inner_lines) <= _MAX_READ_AGAIN:
            is_last = len(self.inner_lines) == _MAX_READ_AGAIN
            self.inner_lines.append("$rest" if is_last else token.string[token.end() :])
