"""Which words a command line has, and whether it's literal: whether these words are all it says. Parses no shell.

A line has a word if it's there in any quoting, behind a directory, or glued to an option, in whatever position: as a
program, an argument, a value, a part of a text. A line that isn't literal may have any other word, too. The lists of
names are data, a seat belt: no list has every program that runs what the line doesn't spell out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from posixpath import basename
from typing import Final, NamedTuple

from acp_tui.values import dataclass

MAX_LINE: Final = 100_000
"""Characters in which words are found."""
_MAX_LITERAL: Final = 20_000
"""Characters of a line that may be literal, since the user is waiting, and so is the screen."""
MAX_NAMES: Final = 2_000
"""Limit for the names that may be those of files, because each is looked up."""
_MAX_NAME_CHARACTERS: Final = 50_000
_MAX_GLUED: Final = 16
"""Limit for the ends of one word that may be the name of a file."""

_QUOTES: Final = re.compile(r"['\"\\]")
_BETWEEN: Final = re.compile(r"[\s;&|<>()`]+")
"""What is between the words of any shell."""
_GLUE: Final = re.compile(r"[^\w./~ -]")
"""What may be before or behind the name of a file within a word: `HEAD:file`, `--file=file`, `@file`."""

_BEGINS: Final = r"(?<![\w.-])"
"""A directory may be before it."""
_ENDS: Final = r"(?![\w/-]|\.\w)"

# What isn't literal. The line is in lower case except for its options, as some disks ignore case.

_NOT_PLAIN: Final = re.compile(r"""[^A-Za-z0-9 \t\n_.,:;=+@%^#!'"\\|&<>~/*?\[\]-]""")
_BLANKS: Final = r"[ \t]+"
_SCRIPT: Final = rf"{_BLANKS}(?!\d*[<>])[\w./~+@][^\s;|&<>*?\[]*(?![*?\[])"
_SAYS_AND_ENDS: Final = rf"{_BLANKS}(?:--version|--help|version|help|-[Vvh])(?!\S)"
_SHELLS: Final = "sh|bash|rbash|ash|dash|sash|posh|yash|ksh|lksh|mksh|zsh|fish|csh|tcsh|rsh|osh"
_INTERPRETERS: Final = (
    "python|pypy|ipython|perl|ruby|irb|php|lua|luajit|tclsh|wish|node|nodejs|bun|deno|tsx|ts-node|rscript"
    "|osascript|julia|iex|elixir|erl|groovy|jshell|scala|clojure|ghci|runghc|guile|racket|sbcl|ocaml|pwsh"
    "|powershell|nu|elvish|xonsh"
)
_RUN_TEXT: Final = (
    "eval|source|xargs|parallel|entr|trap|run-parts|expect|awk|gawk|mawk|nawk|original-awk|batch|crontab|fc|enable"
    "|bind|complete|shopt|setopt|emulate|mapfile|readarray|su|runuser|sg|ssh|script|newgrp|chroot|unshare|nsenter"
    "|socat|m4|dc|tmux|screen|ed|ex|vi|vim|nvim|rvim|view|vimdiff|emacs|kak|gdb|lldb|sqlite3|psql|mysql|gnuplot"
    "|octave"
)
"""Programs and shell builtins that run what is in their input, or what their arguments say in another language."""
_WITH_OPTIONS: Final = "env|sudo|doas|sed|gsed|git|fd|fdfind|at"
"""Programs that do so with some arguments."""
_RUNS: Final = rf"(?:{_RUN_TEXT})(?:\.(?:basic|tiny|exe))?{_ENDS}"
_SHELL: Final = rf"(?:{_SHELLS})(?:\.(?:distrib|exe))?{_ENDS}"
_INTERPRETER: Final = rf"(?:{_INTERPRETERS})(?:\d[\w.-]*)?w?(?:\.exe)?{_ENDS}"
_VERSION: Final = "0123456789.-"
_RUN_TEXT_OPTIONS: Final = r"-exec|-execdir|-ok|-okdir|--exec-batch|--eval|--split-string|-f[ \t]*-"
_READ_FIRST: Final = r"(?:git_config\w*|bash_env|env|zdotdir|bash_func\w*)\+?="
"""Variables that name what a shell or git reads before the line."""
_GIT_OWN: Final = (
    "add|am|annotate|apply|archive|bisect|blame|branch|bundle|cat-file|check-ignore|checkout|cherry|cherry-pick|clean"
    "|clone|commit|config|count-objects|describe|diff|diff-files|diff-index|diff-tree|difftool|fetch|filter-branch"
    "|for-each-ref|format-patch|fsck|gc|grep|hash-object|help|init|lfs|log|ls-files|ls-remote|ls-tree|merge|merge-base"
    "|mergetool|mv|name-rev|notes|prune|pull|push|range-diff|rebase|reflog|remote|repack|rerere|reset|restore|rev-list"
    "|rev-parse|revert|rm|shortlog|show|show-branch|show-ref|sparse-checkout|stage|stash|status|submodule|subtree"
    "|switch|symbolic-ref|tag|update-index|update-ref|version|whatchanged|worktree|write-tree"
)
"""No alias can have these names. Any other word may be one."""
_SED: Final = re.compile(rf"{_BEGINS}g?sed{_ENDS}", re.IGNORECASE | re.ASCII)
_SED_PLAIN: Final = re.compile(
    rf"""
    {_BEGINS}g?sed(?:{_BLANKS}-[nErsuiz]+)*(?:{_BLANKS}-e)?{_BLANKS}
    (?P<quote>\\?['"]|)
    (?:[\d,]*[pdq]|s(?P<by>[/|,#])(?:(?:(?!(?P=by))[^\n'"\\])*(?P=by)){{2}}[gpI\d]*)
    (?P=quote)(?=[\s;|&]|\Z)
    (?![^\n;|&]{{0,200}}[ \t]['"\\]*-)(?=[^\n;|&]{{0,200}}(?:[\n;|&]|\Z))
    """,
    re.VERBOSE | re.ASCII,
)
"""What sed does most: lines by number, or one replacement, and no more options. Its other commands can run programs."""
_HIDES: Final = re.compile(
    rf"""
      <<                                                                          # a here-document or a here-string
    | (?:\A|[;&|!\n]|\b(?:then|do|else|command|builtin|time){_BLANKS})[ \t]*\.{_BLANKS}   # `. file`
    | (?<![^\s;&|])\.{_BLANKS}(?:--{_BLANKS})?[^-\s;|&<>]
    | (?<!\S)(?:{_RUN_TEXT_OPTIONS})(?![\w-])
    | (?:=|(?<!\S)-\w|(?<!\S)-\S*{_BLANKS})(?:[\w.~-]*/)*(?:{_SHELL}|{_INTERPRETER})          # as an option's value
    | {_BEGINS}(?:
          (?:stdin|fd/|proc/)
        | {_READ_FIRST}
        | {_RUNS}
        | at{_BLANKS}(?:-|now|noon|midnight|teatime|[0-9])
        | set{_BLANKS}[-+]\w*o{_BLANKS}(?!pipefail|errexit|nounset|xtrace)
        | env{_ENDS}[^\n;|&]{{0,200}}[ \t]-\w*S
        | (?:sudo|doas){_ENDS}[^\n;|&]{{0,200}}[ \t]-\w*[si](?!\w)
        | fd(?:find)?{_ENDS}[^\n;|&]{{0,200}}[ \t](?:-[xX]|--exec)
        | (?:deno|bun){_ENDS}[^\n;|&]{{0,200}}[ \t]-(?!\S)
        | {_INTERPRETER}(?!{_SCRIPT}|{_BLANKS}-m{_BLANKS}(?!code|pdb|asyncio|timeit)\w|{_SAYS_AND_ENDS})
        | {_SHELL}(?!(?:{_BLANKS}-[aeluvx]+(?!\S)){{0,20}}+(?:{_SCRIPT}|{_BLANKS}-[a-z]*c(?!\S))|{_SAYS_AND_ENDS})
        | git(?:\.exe)?(?>{_BLANKS}(?:-[cC]{_BLANKS}\S+|-\S*)){{0,20}}+{_BLANKS}(?!(?:{_GIT_OWN})(?![\w-]))[a-z]
      )
    """,
    re.VERBOSE | re.ASCII,
)
"""For a line without quotes."""
_HIDES_IN_QUOTES: Final = re.compile(
    rf"""
      {_BEGINS}(?:{_SHELL}|{_INTERPRETER})(?:{_BLANKS}(?!-[a-z]*c[\s'"])-[^\s'"]+){{0,20}}[ \t\\]*['"]
    | {_BEGINS}{_SHELL}(?:{_BLANKS}-[^\s'"]+){{0,20}}?{_BLANKS}-[a-z]*c{_BLANKS}(?!
          \\?'[^']{{0,2000}}'(?![\w./-])
        | \\?"[^"]{{0,2000}}"(?![\w./-])
        | (?!(?:{_SHELL}|{_INTERPRETER}))[^\s'"\\]+(?!\S)
      )
    """,
    re.VERBOSE | re.ASCII,
)
"""The same with quotes. Behind the end of a quoted text, as in `trap '... | sh' EXIT`, there is no script. The code of
`sh -c` is one text, or one word."""
_HIDERS: Final = f"{_SHELLS}|{_INTERPRETERS}|{_RUN_TEXT}|{_WITH_OPTIONS}".split("|")
_ESCAPE: Final = re.compile(r"\\[A-Za-z0-9]")
_RUN_FILES: Final = (
    re.compile(rf"{_BEGINS}(?:{_SHELL}|{_INTERPRETER})(?:{_BLANKS}-\S*){{0,20}}{_BLANKS}([^\s;&|<>]+)", re.ASCII),
    re.compile(rf"{_BEGINS}chmod{_BLANKS}\S+{_BLANKS}([^\s;&|<>]+)"),
    re.compile(r"(?:\A|[;&|\n])[ \t]*([^\s;&|<>/]*/[^\s;&|<>]+)"),
)
"""Files that the line runs, or will: the scripts of shells and interpreters, what becomes executable, and programs."""
_UPPER: Final = re.compile("[A-Z]")
_NO_OPTION: Final = re.compile(r"(?<!\S)[^\s-]\S*")
_NAME: Final = re.compile(r"[\w.+@~-]+", re.ASCII)
_WILD: Final = re.compile(r"(?<![^\s;&|<>=:,/])[^\s;&|<>=:,/*?\[]*[*?\[][^\s;&|<>=:,/]*")
_TESTS: Final = re.compile(r"(?<!\S)(?:\[\[?|\]\]?)(?=[\s;&|]|\Z)")
"""The brackets of `[ -f file ]`, which are no wildcard."""
_GOES: Final = re.compile(
    rf"{_BEGINS}(?:cd|chdir|pushd|popd){_ENDS}|(?<!\S)(?:-[CD]|--(?:di(?:r\w*)?|ch?d?i?r?|cwd|wd|work-tree|git-dir)(?![\w-]))"
)
_HOME: Final = re.compile(r"(?<![\w./~^@-])~")


def readings(line: str) -> tuple[str, str]:
    """The line without quotes and backslashes, and with a gap for each: what is in a quoted text is a word, too."""
    line = line[:MAX_LINE]
    return _QUOTES.sub("", line.replace("\\\n", "")), _QUOTES.sub(" ", line)


@dataclass(frozen=True, slots=True)
class RuleWords:
    """The words of a rule for commands. A line has them if it has all of them, the program first."""

    words: tuple[str, ...]
    """In lower case, without the program's directory and the options."""
    options: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]
    joined: re.Pattern[str]
    """The words as one, as in `git-push`."""

    def are_in(self, line: str) -> bool:
        return any(map(self._are_all_in, readings(line)))

    def _are_all_in(self, reading: str) -> bool:
        lower = reading.lower()
        if not all(word in lower for word in self.words):  # much faster
            return False
        first, *others = self.patterns
        found = first.search(reading)
        is_there = found is not None and all(other.search(reading, found.end()) is not None for other in others)
        return (is_there or self.joined.search(reading) is not None) and _has_options(self.options, reading)

    def wild_in(self, line: str) -> str:
        """A word of `line` that a shell may turn into one of these, "" if there isn't one."""
        wilds = (wild for reading in readings(line) for wild in _wilds(reading))
        return next((_quoted(wild.word) for wild in wilds if any(map(wild.may_be, self.words))), "")


class _Wild(NamedTuple):
    """A word with wildcards, which a shell may turn into the name of a file."""

    word: str
    begin: str
    end: str
    """What is before and behind its wildcards, in lower case."""

    def may_be(self, name: str) -> bool:
        """Whether it may become `name`, or that with a version."""
        is_end = not self.end.strip(_VERSION) or name.endswith(self.end)
        return is_end and name.startswith((self.begin, self.begin.rstrip(_VERSION) or self.begin))


def _wilds(reading: str) -> Iterator[_Wild]:
    for word in _WILD.findall(_TESTS.sub("", reading)):
        begin = "" if word.startswith("-") else re.split(r"[*?\[]", word, maxsplit=1)[0]
        end = "" if word.rfind("[") > word.rfind("]") else re.split(r"[*?\[\]]", word)[-1]
        yield _Wild(word, begin.lower(), end.lower())


@lru_cache(maxsize=256)
def words_of_rule(command: str) -> RuleWords | None:
    """The words of `command`, None if there aren't any."""
    said = [word for word in _QUOTES.sub("", command).split() if word not in ("-", "--")]
    plain = [word.lower() for word in said if not word.startswith("-")]
    if not plain:
        return None
    plain[0] = re.sub(r"\.(?:exe|com|cmd|bat)\Z", "", basename(plain[0])) or plain[0]
    options = tuple(word for word in said if word.startswith("-"))
    return RuleWords(tuple(plain), options, tuple(map(_as_word, plain)), _as_word("-".join(plain)))


def _as_word(text: str) -> re.Pattern[str]:
    """Finds it as a word of its own, behind a directory, or glued to an option."""
    word = rf"{_BEGINS}(?:-\w*?)?{re.escape(text)}(?:\.(?:exe|com|cmd|bat))?{_ENDS}"
    return re.compile(word, re.IGNORECASE | re.ASCII)


_OPTION: Final = re.compile(r"(?<![\w-])--?[A-Za-z0-9][\w-]*")
_BUNDLE: Final = re.compile("-[A-Za-z0-9]{1,4}")
"""Single-letter options. Longer ones are words, as in `find -delete`."""


def _has_options(wanted: tuple[str, ...], reading: str) -> bool:
    """Whether all options are among those of the line, in any order and combination. Long ones may be abbreviated."""
    if not wanted:
        return True
    found = {*_OPTION.findall(reading), *(word for word in reading.split() if word.startswith("-"))}
    long = [option for option in found if option.startswith("--")]
    letters = {letter for option in found if not option.startswith("--") for letter in option[1:]}
    return all(
        option in found
        or (option.startswith("--") and any(map(option.partition("=")[0].startswith, long)))
        or (_BUNDLE.fullmatch(option) is not None and letters.issuperset(option[1:]))
        for option in wanted
    )


@lru_cache(maxsize=16)
def why_not_literal(line: str) -> str:
    """What in `line` may stand for something that it doesn't say, for any shell; "" if it's literal."""
    if len(line) > _MAX_LITERAL:
        return "its length"
    if odd := _NOT_PLAIN.search(line):
        return _quoted(odd[0]) if " " < odd[0] <= "~" else f"the character U+{ord(odd[0]):04X}"
    if escape := _ESCAPE.search(line.replace("\\\n", "")):
        return _quoted(escape[0])
    if found := _HIDES_IN_QUOTES.search(_lower(line)):
        return _quoted(found[0])
    if len(_SED.findall(readings(line)[0])) > sum(1 for _ in _SED_PLAIN.finditer(line)):
        return _quoted("sed")
    for reading in readings(line):
        if found := _HIDES.search(_lower(reading)):
            return _quoted(found[0])
        if wild := next((wild for wild in _wilds(reading) if any(map(wild.may_be, _HIDERS))), None):
            return _quoted(wild.word)
        if _makes_what_it_runs(reading):
            return "a file that it runs and also names elsewhere"
    return ""


def _makes_what_it_runs(reading: str) -> bool:
    """Whether another part of the line may make a file that it runs. Then the line doesn't say what is in it."""
    named = Counter(_NAME.findall(reading))
    runs = (Counter(map(basename, files.findall(reading))) for files in _RUN_FILES)
    return any(named[name] > times for run in runs for name, times in run.items())


def _lower(text: str) -> str:
    """The text in lower case, because some disks ignore case, except for options."""
    return _NO_OPTION.sub(lambda word: word[0].lower(), text) if _UPPER.search(text) else text


def _quoted(part: str) -> str:
    """A part of the line for a sentence. It's plain, so it can't disguise anything."""
    return f'"{" ".join(part.split())[:40]}"'


@lru_cache(maxsize=16)
def why_paths_are_open(line: str) -> str:
    """What in `line` may change which files it names, "" if nothing does."""
    if why := why_not_literal(line):
        return why
    for reading in readings(line):
        if wild := _WILD.search(_TESTS.sub("", reading)):
            return _quoted(wild[0])
        if found := _GOES.search(reading) or _HOME.search(reading):
            return _quoted(found[0])
    return "" if names_in(line).are_all else "its length"


class NamesInLine(NamedTuple):
    """What may be the names of files."""

    names: tuple[str, ...]
    are_all: bool
    """False if the line has more."""


@lru_cache(maxsize=16)
def names_in(line: str, spaces: int = 0) -> NamesInLine:
    """What in `line` may be the name of a file, with at most so many `spaces` inside."""
    names: dict[str, None] = {}
    left = _MAX_NAME_CHARACTERS
    for name in _all_names(line, spaces):
        if name not in names:
            left -= len(name)
            if len(names) >= MAX_NAMES or left < 0:
                return NamesInLine(tuple(names), False)
            names[name] = None
    return NamesInLine(tuple(names), True)


def _all_names(line: str, spaces: int) -> Iterator[str]:
    for reading in readings(line):
        words = [word for word in _BETWEEN.split(reading) if word]
        for size in range(1, spaces + 2):
            for at in range(len(words) + 1 - size):
                yield from _names_of(" ".join(words[at : at + size]))


def _names_of(word: str) -> Iterator[str]:
    yield word
    if word.startswith("-"):
        yield from (word[at:] for at in range(2, 6) if word[at:])
    yield from (word[glue.end() :] for glue in islice(_GLUE.finditer(word), _MAX_GLUED) if word[glue.end() :])
    yield from filter(None, _GLUE.split(word))
