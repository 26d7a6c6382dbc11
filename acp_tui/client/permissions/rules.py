"""Which of the user's standing rules refuses what the agent is about to do; what follows is the session's matter.

A rule only ever refuses. It is a seat belt against accidents, not a sandbox: it sees what the agent reports and asks,
and whoever wants to hide something from it can.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from functools import lru_cache
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from acp_tui.client.path_globs import Places
from acp_tui.client.permissions.command_search import CommandSearch
from acp_tui.client.permissions.launchers import program_name
from acp_tui.client.permissions.shell_lines import (
    ANY,
    ANY_PART,
    NOT_TOLD,
    Words,
    as_written,
    is_told,
    split_words,
)
from acp_tui.conversation.tool_calls import ToolCall, changed_paths
from acp_tui.values import dataclass

if TYPE_CHECKING:
    # A rule is only read here; the settings would bring along what reads them from disk.
    from acp_tui.client.settings.tree import RefusalRule

# Much of it is found by the names that agents commonly give to their tools' parameters: what an agent calls otherwise,
# or does without a word, is not seen. There is a limit to how much of a request is looked at, since somebody waits.

# As `_name` gives them.
_COMMAND_KEY: Final = re.compile("commands?|cmd|commandline|script")
_PATH_KEY: Final = re.compile(
    "(abs|absolute|relative|file|notebook|old|new)?paths?|files?|filename|targetfile|directory|dir|cwd|workdir"
    "|source|destination|src|dst"
)
_MAX_KEY: Final = 40
"""Characters; no key that means something to us is as long."""
_MAX_FIELDS: Final = 1_000
"""Of the objects in a tool's input, the outermost first."""
_MAX_TEXTS: Final = 5_000
"""In them."""
_MAX_PATHS: Final = 1_000
_MAX_TITLE: Final = 10_000
_CHANGING_KINDS: Final = frozenset({"edit", "delete", "move"})


@dataclass(frozen=True, slots=True)
class Subject:
    """What would be done."""

    kind: str
    """A kind of tool call."""
    paths: tuple[str, ...] = ()
    """As they are spelled; relative ones are below a workspace root."""
    commands: tuple[Words, ...] = ()
    """Each program that would be started, with its arguments; with marks where the line does not tell them."""
    unread: str = ""
    """Lines for a shell, or the ends of some, that there was no time to look for commands in."""
    places: Places | None = field(default=None, compare=False, repr=False)
    """Where `paths` lead; None: nobody has looked yet."""


def subject_of_read(path: str) -> Subject:
    """The agent reads a file of ours."""
    return Subject("read", (path,))


def subject_of_write(path: str) -> Subject:
    """The agent writes a file of ours."""
    return Subject("edit", (path,))


def subject_of_command(
    command: str,
    args: Sequence[str] = (),
    cwd: str | Path | None = None,
    env: Iterable[tuple[str, str]] = (),
) -> Subject:
    """The agent starts a program; without `args`, `command` may be a line for a shell."""
    search = CommandSearch()
    search.read_words([*(f"{name}={value}" for name, value in env), *([command, *args] if args else [])])
    if not args:
        search.read_line(command)
    where = None if cwd is None else str(cwd)
    here = () if where is None else (where,)
    return _subject("execute", chain(here, _paths_in(search.commands, where)), search)


def subject_of_tool_call(call: ToolCall) -> Subject:
    """What the agent reports of a call: places, diffs and input.

    A call of kind `execute` that gives no command in its input is taken to name it in its title. A change that is
    reported as no change, or a command as `other`, has the kind of what it brings. Files that a command names as
    words of their own count as its paths.
    """
    diffs = changed_paths(call.content)
    search = CommandSearch()
    said_paths = _read_input(call.raw_input, search)
    if call.kind == "execute" and isinstance(call.raw_input, str):
        search.read_line(call.raw_input)
    if call.kind == "execute" and not search.commands:
        _read_title(call.title, search)
    places = (location.path for location in call.locations)
    paths = chain(places, diffs, said_paths, _paths_in(search.commands, None))
    return _subject(_kind(call.kind, bool(diffs), bool(search.commands)), paths, search)


def _subject(kind: str, paths: Iterable[str], search: CommandSearch) -> Subject:
    return Subject(kind, tuple(dict.fromkeys(islice(paths, _MAX_PATHS))), search.commands, search.unread)


def _kind(reported: str, has_diffs: bool, has_commands: bool) -> str:
    if has_diffs and reported not in _CHANGING_KINDS:
        return "edit"
    return "execute" if has_commands and reported == "other" else reported


def _read_title(title: str, search: CommandSearch) -> None:
    """The title as a line, and what it has in backquotes."""
    title = title[:_MAX_TITLE]
    for line in (title, *re.findall("`([^`]+)`", title)):
        search.read_line(line)


def _read_input(raw: Any, search: CommandSearch) -> list[str]:
    """Find the commands in a tool's input, at whatever depth they are. The paths in it."""
    fields = [*islice(_fields(raw), _MAX_FIELDS)]
    for name, value, arguments in fields:
        if _COMMAND_KEY.fullmatch(name) and not search.is_over:
            _read_command(value, arguments, search)
    texts = islice(_texts(fields), _MAX_TEXTS)
    return [
        text for name, text in texts if text.startswith("file://") or (text and _PATH_KEY.fullmatch(name))
    ]


def _read_command(value: Any, arguments: Any, search: CommandSearch) -> None:
    """A line, a program that has arguments beside it, or the words of one command; anything else is none."""
    if isinstance(value, str) and isinstance(arguments, list) and arguments:
        search.read_words([value, *_strings(arguments)])
    elif isinstance(value, str):
        search.read_line(value)
    elif isinstance(value, list):
        words = _strings(value)
        search.read_words(words)
        # Where the words are lines each, as of a list of commands, these are read too.
        for line in takewhile(lambda _: not search.is_over, words):
            if " " in line:
                search.read_line(line)


def _strings(values: list[Any]) -> list[str]:
    return [value for value in values[:_MAX_TEXTS] if isinstance(value, str)]


def _fields(raw: Any) -> Iterator[tuple[str, Any, Any]]:
    """Every field of every object in a decoded JSON value: its name, its value, and the `args` beside it."""
    values = [raw]
    for value in values:  # grows on the way
        room = max(_MAX_TEXTS - len(values), 0)
        if isinstance(value, dict):
            yield from ((_name(key), inner, value.get("args")) for key, inner in value.items())
            values += islice(value.values(), room)
        elif isinstance(value, list):
            values += value[:room]


def _name(key: Any) -> str:
    """The key without case and separators: `filePath` is `file_path`."""
    return re.sub(r"[\W_]", "", str(key)[:_MAX_KEY]).lower()


def _texts(fields: Iterable[tuple[str, Any, Any]]) -> Iterator[tuple[str, str]]:
    """The strings in fields and in lists there, each with the field's name."""
    for name, value, _ in fields:
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, list):
            yield from ((name, text) for text in _strings(value))


def _paths_in(commands: tuple[Words, ...], cwd: str | None) -> Iterator[str]:
    """The words that may be paths, also behind `=` and `@`, and a program that is called by its path."""
    written = filter(None, map(as_written, commands))
    words = (word for command in written for word in command[0 if "/" in command[0] else 1 :])
    for word in dict.fromkeys(words):
        spellings = (word.removeprefix("@"), word.partition("=")[2])
        for path in (spelling for spelling in spellings if spelling and not spelling.startswith("-")):
            yield path if cwd is None or path.startswith(("/", "~", "file://")) else f"{cwd}/{path}"


__all__ = [
    "Subject",
    "asks_disk",
    "doubtful",
    "first_match",
    "resolved",
    "subject_of_command",
    "subject_of_read",
    "subject_of_tool_call",
    "subject_of_write",
]


_BUNDLE: Final = re.compile("-[A-Za-z0-9]{1,4}")
"""Options of a letter each. What is longer is a word, as in `find -delete`."""


def first_match(
    rules: Sequence[RefusalRule], subject: Subject, roots: Sequence[Path] = ()
) -> RefusalRule | None:
    """The first rule of which everything that it names is in `subject`; None where none refuses.

    `roots` are the session's workspace roots, below which relative paths and globs are. A rule that names nothing
    refuses nothing. The disk is asked unless `subject` is `resolved`, or `asks_disk` is false.
    """
    subject = resolved(rules, subject, roots)
    return next((rule for rule in rules if _fits(rule, subject) and _is_place(rule.path, subject)), None)


def doubtful(rules: Iterable[RefusalRule], subject: Subject) -> RefusalRule | None:
    """The first rule for commands that may cover `subject`, though what it would run cannot be told; None: none may."""
    return next(
        (rule for rule in rules if _is_kind(rule.kind, subject) and _may_run(rule.command, subject)), None
    )


def asks_disk(rules: Iterable[RefusalRule], subject: Subject) -> bool:
    """Whether `subject` must be `resolved` before it can be held against `rules`."""
    unknown = subject.places is None and bool(subject.paths)
    return unknown and any(rule.path is not None and _fits(rule, subject) for rule in rules)


def resolved(rules: Sequence[RefusalRule], subject: Subject, roots: Sequence[Path] = ()) -> Subject:
    """`subject` with the places where its paths lead, if `rules` ask for them.

    It blocks as long as the disk does, on a dead mount for ever: call it in a thread.
    """
    if not asks_disk(rules, subject):
        return subject
    globs = [rule.path for rule in rules if rule.path is not None]
    return replace(subject, places=Places(subject.paths, roots, globs))


def _fits(rule: RefusalRule, subject: Subject) -> bool:
    """Whether all but the place is as the rule says."""
    return _names_something(rule) and _is_kind(rule.kind, subject) and _runs(rule.command, subject)


def _is_place(glob: str | None, subject: Subject) -> bool:
    return glob is None or (subject.places is not None and subject.places.any_match(glob))


def _names_something(rule: RefusalRule) -> bool:
    return bool(rule.kind or rule.path or rule.command)


def _is_kind(kind: str | None, subject: Subject) -> bool:
    return kind is None or kind == subject.kind


def _runs(command: str | None, subject: Subject) -> bool:
    if command is None:
        return True
    prefix = _words_of_rule(command)
    if not prefix:
        return False
    is_found = any(_begins_with(prefix, words) for words in filter(None, map(as_written, subject.commands)))
    return is_found or (bool(subject.unread) and _may_begin(prefix, subject.unread))


@lru_cache(maxsize=256)
def _words_of_rule(command: str) -> Words:
    return split_words(command)


def _begins_with(prefix: Words, words: Words) -> bool:
    """Whether `words` begin with the words of `prefix` and have its options.

    `git push -f` is also found in `git -C project push origin -f`.
    """
    program = words[0]
    if prefix[0] != program and prefix[0].casefold() != program_name(program).casefold():
        return False
    rest = iter(words[1:])
    return all(_comes_next(word, rest) for word in _plain(prefix[1:])) and _has_options(prefix, words)


def _comes_next(wanted: str, rest: Iterable[str]) -> bool:
    """Whether `wanted` follows, with nothing before it but options and a value behind each."""
    after_option = False
    for word in rest:
        if word == wanted:
            return True
        if not word.startswith("-") and not after_option:
            return False
        after_option = word.startswith("-")
    return False


def _has_options(prefix: Words, words: Words) -> bool:
    """Whether all options of `prefix` are among those of `words`, in whatever order and bundles."""
    wanted = [*filter(_is_option, prefix)]
    if not wanted:
        return True
    found = {*filter(_is_option, words), *(word.partition("=")[0] for word in words if word.startswith("--"))}
    letters = {letter for word in found if not word.startswith("--") for letter in word[1:]}
    return all(
        word in found or (_BUNDLE.fullmatch(word) is not None and letters.issuperset(word[1:]))
        for word in wanted
    )


def _is_option(word: str) -> bool:
    return word.startswith("-") and word not in ("-", "--")


def _plain(words: Words) -> Words:
    return tuple(word for word in words if word != "--" and not _is_option(word))


_QUOTES_ONLY: Final = re.compile(
    r"\[|test|echo|printf?|\w*grep|rg|ag|ack|ls|cat|head|tail|wc|which|whereis|type|man|cd|mkdir|touch|cp|mv|ln|chmod|git"
)
"""Programs to which another's name in their arguments is a text or a file, and nothing to run."""
_SUBSCRIPT: Final = re.compile(r"\[[^\]]*(?:\$\(|`)", re.DOTALL)
"""Tests and `printf -v` evaluate what stands between the brackets of a name that they are given."""
_MAX_MENTION: Final = 20_000
"""Characters of arguments that are looked at; what is longer nobody reads."""


def _may_run(command: str | None, subject: Subject) -> bool:
    """Whether what the line does not tell may be this command."""
    prefix = _words_of_rule(command) if command is not None else ()
    if not prefix:
        return False
    return bool(subject.unread) or any(_may_begin_with(prefix, words) for words in subject.commands)


def _may_begin_with(prefix: Words, words: Words) -> bool:
    return (
        words == NOT_TOLD
        or ANY in words[0]
        or (_may_be_program(words[0], prefix[0]) and _may_have(prefix, words))
        or _is_mentioned(prefix, words)
    )


def _may_be_program(word: str, wanted: str) -> bool:
    name = word.rpartition("/")[2]
    if is_told(name):
        return wanted in (word, name) or program_name(name).casefold() == wanted.casefold()
    return wanted.rpartition("/")[2].startswith(name.partition(ANY_PART)[0])


def _may_have(prefix: Words, words: Words) -> bool:
    """Whether the arguments may be those of `prefix`, in the order of `_comes_next`."""
    rest = iter(words[1:])
    for wanted in _plain(prefix[1:]):
        after_option = False
        for word in rest:
            if ANY in word:
                return True
            if wanted.startswith(word.partition(ANY_PART)[0]) if ANY_PART in word else word == wanted:
                break
            if not word.startswith("-") and not after_option:
                return False
            after_option = word.startswith("-")
        else:
            return False
    written = as_written(words)
    return _has_options(prefix, written) or any(
        word.startswith(("-", ANY, ANY_PART)) and not is_told(word) for word in words
    )


def _is_mentioned(prefix: Words, words: Words) -> bool:
    """Whether the arguments of a program have the words of the rule in them, which it might run."""
    if _QUOTES_ONLY.fullmatch(program_name(words[0])) and not any(map(_SUBSCRIPT.search, words)):
        return False
    text = "\n".join(as_written(words[1:]))
    return len(text) > _MAX_MENTION or _mention((prefix[0], *_plain(prefix[1:]))).search(text) is not None


@lru_cache(maxsize=256)
def _mention(words: Words) -> re.Pattern[str]:
    between = r"[\s'\",\[\]()]+(?:-\S*[\s'\",]+){0,3}(?:[^\s'\",-]\S*[\s'\",]+)?"
    first, *others = map(re.escape, words)
    rest = "".join(f"{between}{word}" for word in others)
    return re.compile(rf"(?<![\w./-])(?:/\S*/)?{first}(?:\.exe)?{rest}(?![\w./-])", re.IGNORECASE)


def _may_begin(prefix: Words, unread: str) -> bool:
    """Whether a command in `unread` seems to begin with the words of `prefix`, whatever its options are."""
    words = (prefix[0], *_plain(prefix[1:]))
    return all(word in unread for word in words) and bool(_beginning(words).search(f"\n{unread}"))


@lru_cache(maxsize=256)
def _beginning(words: Words) -> re.Pattern[str]:
    border = r"\s;&|()<>`'\""
    plain = r"[ \t]+".join(map(re.escape, words))
    return re.compile(rf"[;&|(\n`'\"][ \t]*(?:[^{border}]*/)?{plain}(?![^{border}])")
