"""Reads which programs a shell line would start, as lists of words; it runs nothing.

Words are what bash makes of every kind of quotes, of `{a,b}`, and of `$IFS`, `$@` and `$*` as they ordinarily are. A
seat belt, not a sandbox: another variable, a function, a script, what `$(...)` gives, `{a..z}`, a file name found by
`*`, or a program that starts another one hides what is run. Where it is in doubt it names a command too many. There is
a limit to how much is read of one request.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise, takewhile
from posixpath import basename
from typing import Final, TypeAlias

Words: TypeAlias = tuple[str, ...]
"""A program and its arguments."""

MAX_WORK: Final = 6_000
"""Of one search: pieces of lines, and commands. It bounds the time on the event loop, whatever an agent writes."""
_CHARACTERS_PER_WORK: Final = 8
_WORDS_PER_WORK: Final = 8
_MIN_WORDS: Final = 100
"""Of a command that are kept however little time is left."""
_MAX_UNREAD: Final = 100_000
"""Characters that are kept of what there was no time for."""
_MAX_DEPTH: Final = 8
"""Of lines within lines, such as `sh -c 'sh -c ...'`."""
_MAX_INNER_LINES: Final = 500
"""Of `$(...)` in one pair of double quotes; the last has the others in it."""
_TOKEN: Final = re.compile(
    r"""
      (?P<blank>[ \t\r]+|\$(?:IFS\b|\{IFS\}))
    | \$'(?P<ansi>(?:[^'\\]|\\.)*)['\\]?
    | \$?"(?P<double>(?:[^"\\]|\\.)*)["\\]?
    | \$(?P<nothing>[@*]|\{[@*]\})
    | '(?P<single>[^']*)'?
    | \\(?P<escaped>.?)
    | (?P<redirect>&>+|\d*[<>]+[&|]?)
    | (?P<end>[;&|\n()`]|\$\()
    | (?P<brace>[{,}])
    | (?P<plain>\$\{?|\d+|[^ \t\r'"\\<>;&|\n()`$\d{,}]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPED: Final = re.compile(r"""\\([$`"\\]|\n)""")
"""What a backslash means something to between double quotes."""
_ANSI: Final = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.)|([abeEfnrtv\\'\"?]))",
    re.DOTALL,
)
"""The same for `$'...'`."""
_ANSI_LETTERS: Final = dict(zip("abeEfnrtv", "\a\b\x1b\x1b\f\n\r\t\v", strict=True))
_BRACES: Final = dict(zip("{,}", "\ue000\ue001\ue002", strict=True))
"""What stands for those without quotes, until the word ends."""
_UNBRACED: Final = str.maketrans({mark: brace for brace, mark in _BRACES.items()})
_BRACE: Final = re.compile("[\ue000-\ue002]")
_MAX_ALTERNATIVES: Final = 64
"""Words that one word with braces stands for."""
_MAX_GROUPS: Final = 64
"""Braces to look into for them."""
_SUBSTITUTION: Final = re.compile(r"\$\(|`")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*\+?=")
_NUMBER: Final = re.compile(r"[\d.]+[smhd]?")
_RESERVED: Final = re.compile(r"[!{]|if|then|elif|else|do|while|until|coproc")
_LINE_READER: Final = re.compile("(ba|da|a|z|k|mk|fi)?sh|env|npx|script|su")
"""A program that is given a line in an option."""
_LINE_OPTION: Final = re.compile(
    r"(?:-[A-Za-z]*?[cS]|--(?:command|call|split-string)(?:=|\Z))(.*)", re.DOTALL
)
_STARTER: Final = re.compile(
    "builtin|bunx|busybox|chroot|command|doas|env|exec|flock|ionice|nice|nohup|npx|parallel|setsid|ssh|stdbuf|strace"
    "|sudo|time|timeout|unbuffer|unshare|uvx|watch|xargs"
)
"""A program that starts the program that its arguments name."""
_PLACE_FIRST: Final = frozenset({"chroot", "flock", "ssh"})
"""Those whose first argument is where."""
_START_COMMANDS: Final = {
    "bun": "x",
    "npm": "exec",
    "pdm": "run",
    "pipenv": "run",
    "pnpm": "exec",
    "poetry": "run",
    "uv": "run",
}
"""Programs of which one command does so."""
_FIND_EXEC: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


class CommandSearch:
    """Collects the commands of all that one request brings; an agent may write more than there is time for."""

    def __init__(self) -> None:
        self._found: dict[Words, None] = {}
        self._unread: list[str] = []
        self._unread_left = _MAX_UNREAD
        self._work_left = MAX_WORK

    @property
    def commands(self) -> tuple[Words, ...]:
        """What was found, each before those inside it; targets of redirections come last in it."""
        return tuple(self._found)

    @property
    def unread(self) -> str:
        """The text that there was no time to read, up to a limit."""
        return "\n".join(self._unread)

    @property
    def is_over(self) -> bool:
        """Whether nothing more is taken in."""
        return self._work_left <= 0 and self._unread_left <= 0

    def read_line(self, line: str, depth: int = 0) -> None:
        """Find every command that `line` would run."""
        if depth > _MAX_DEPTH:
            return
        if self._work_left <= 0:
            self._leave_unread(line)
            return
        # Not all that is left: what stands inside of these commands is to be looked at, too.
        work = (self._work_left + 1) // 2
        commands, read, pieces = _commands(line[: work * _CHARACTERS_PER_WORK], work)
        self._work_left -= 1 + max(pieces, read // _CHARACTERS_PER_WORK)
        self._leave_unread(line[read : read + _MAX_UNREAD])
        for command in commands:
            self.read_words(command.words, depth)
            for inner in command.inner_lines:
                self.read_line(inner, depth + 1)

    def read_words(self, words: Sequence[str], depth: int = 0) -> None:
        """Find one command that no shell reads, and those that it starts."""
        if self._work_left <= 0:
            self._unread_left -= len(words)  # the caller had to gather them
            self._leave_unread(" ".join(words[:_MIN_WORDS]))
            return
        command = _without_prefixes(tuple(words[: max(self._work_left, _MIN_WORDS)]))
        self._work_left -= 1 + len(command) // _WORDS_PER_WORK
        if not command or command in self._found:
            return
        self._found[command] = None
        if depth <= _MAX_DEPTH:
            self._read_inside(basename(command[0]), command[1:], depth + 1)

    def _read_inside(self, program: str, arguments: Words, depth: int) -> None:
        for line in _lines(program, arguments):
            self.read_line(line, depth)
        for started in _started(program, arguments):
            if self.is_over:
                return
            self.read_words(started, depth)

    def _leave_unread(self, text: str) -> None:
        if text and self._unread_left > 0:
            self._unread.append(text[: self._unread_left])
            self._unread_left -= len(text) + _CHARACTERS_PER_WORK


def commands_in(words: Words) -> tuple[Words, ...]:
    """One command that no shell reads, and those that it starts."""
    search = CommandSearch()
    search.read_words(words)
    return search.commands


def split_words(text: str) -> Words:
    """The words of the first command in `text`."""
    return _commands(text, len(text))[0][0].words


def _without_prefixes(words: Words) -> Words:
    """`words` from the program on, without assignments and words of the shell's grammar."""
    if words[:1] == ("function",):
        words = words[2:]
    for at, word in enumerate(words):
        if not (_RESERVED.fullmatch(word) or _ASSIGNMENT.match(word)):
            return words[at:]
    return ()


def _lines(program: str, arguments: Words) -> Iterator[str]:
    """The lines that the arguments have for a shell, or for `env` to split."""
    if program == "eval":
        yield " ".join(arguments)
    if program == "trap" and arguments:
        yield arguments[arguments[0] == "--" :][0] if len(arguments) > 1 else arguments[0]
    if not _LINE_READER.fullmatch(program):
        return
    before = "env " if program == "env" else ""  # its line may begin with options and assignments
    is_awaited = False
    for word in arguments:
        if word.startswith("-"):
            option = _LINE_OPTION.fullmatch(word)
            is_awaited = is_awaited or option is not None
            if option and option[1]:
                yield before + option[1]
        elif is_awaited:
            yield before + word
            is_awaited = False


def _started(program: str, arguments: Words) -> Iterator[Words]:
    """The programs that the arguments name."""
    if program == "find":
        yield from (arguments[at + 1 :] for at, word in enumerate(arguments) if word in _FIND_EXEC)
    if program.startswith("git-"):
        yield ("git", program.removeprefix("git-"), *arguments)
    start_command = _START_COMMANDS.get(program)
    if start_command in arguments:
        arguments = arguments[arguments.index(start_command) + 1 :]
    elif not _STARTER.fullmatch(program):
        return
    while arguments:
        options = [*takewhile(_is_no_program, arguments)]
        yield (rest := arguments[len(options) :])
        if program in _PLACE_FIRST:
            yield rest[1:]
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

    def read(self, token: re.Match[str]) -> None:
        """Take in the next piece of the line."""
        match token.lastgroup:
            case "blank":
                self._end_word()
            case "redirect":
                self._end_word()
                self._in_target = True
            case "double":
                self._add(_ESCAPED.sub(lambda found: found[1].strip("\n"), token["double"]))
                self.inner_lines += _SUBSTITUTION.split(token["double"], _MAX_INNER_LINES)[1:]
            case "ansi":
                self._add(_read_ansi(token["ansi"]))
            case "brace":
                self._add(_BRACES[token["brace"]])
            case "nothing":
                pass
            case "escaped" if token["escaped"] == "\n":
                pass
            case str(kind):
                self._add(token[kind])

    @property
    def words(self) -> Words:
        self._end_word()
        return (*self._words, *self._targets)

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
    """The words that `word` stands for, in bash's order; empty ones are none."""
    if _BRACES["{"] not in word:
        return [word.translate(_UNBRACED)]
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
    """Where the first braces with a comma of their own open, have their commas, and close."""
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
    """What bash makes of `$'text'`: bytes that may be a character together, up to the first NUL."""
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


def _commands(line: str, max_pieces: int) -> tuple[list[_Command], int, int]:
    """`line` cut into commands and words, whatever is left open closed; how much was read, and in how many pieces."""
    commands = [_Command()]
    read = pieces = 0
    for token in islice(_TOKEN.finditer(line), max_pieces):
        read = token.end()
        pieces += 1
        if token.lastgroup == "end":
            commands.append(_Command())
        else:
            commands[-1].read(token)
    return commands, read, pieces
