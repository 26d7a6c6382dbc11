"""Which of the user's standing rules refuses what the agent is about to do. The session acts on the result.

A rule only ever refuses. It's a seat belt against accidents, not a sandbox: it sees what the agent reports and asks
for, and an agent that wants to hide something from it can.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from functools import lru_cache
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from acp_tui.client.path_globs import ResolvedPaths, is_file_url
from acp_tui.client.permissions.command_search import CommandSearch
from acp_tui.client.permissions.launchers import program_name
from acp_tui.client.permissions.shell_lines import ANY, ANY_PART, NOT_TOLD, Words, as_written, is_told, split_words
from acp_tui.conversation.tool_calls import ToolCall, changed_paths
from acp_tui.values import dataclass

if TYPE_CHECKING:
    # Rules are only read here. Importing the settings would also load the code that reads them from disk.
    from acp_tui.client.settings.tree import RefusalRule

# Much of it is found by common names of tool parameters. What an agent names differently, or does without reporting it,
# isn't found. There is a limit to how much of a request is searched, because the user is waiting.

# As normalized by `_name`.
_COMMAND_KEY: Final = re.compile("commands?|cmd|commandline|script")
_PATH_KEY: Final = re.compile(
    "(abs|absolute|relative|file|notebook|old|new)?paths?|files?|filename|targetfile|directory|dir|cwd|workdir"
    "|source|destination|src|dst"
)
_MAX_KEY: Final = 40
"""Characters. Longer keys have no meaning to us."""
_MAX_FIELDS: Final = 1_000
"""Limit for fields of the objects in a tool's input, outermost first."""
_MAX_TEXTS: Final = 5_000
"""Limit for texts in them."""
_MAX_PATHS: Final = 1_000
_MAX_TITLE: Final = 10_000
_CHANGING_KINDS: Final = frozenset({"edit", "delete", "move"})


@dataclass(frozen=True, slots=True)
class Subject:
    """What the agent would do."""

    kind: str
    """A kind of tool call."""
    paths: tuple[str, ...] = ()
    """As spelled. Relative ones are below a workspace root."""
    commands: tuple[Words, ...] = ()
    """Each program that would be started, with its arguments. Marks stand for what the line doesn't reveal."""
    unread: str = ""
    """Shell command lines, or the ends of some, that there was no time to search."""
    places: ResolvedPaths | None = field(default=None, compare=False, repr=False)
    """Where `paths` lead; None if not resolved yet."""


def subject_of_read(*paths: str) -> Subject:
    """The agent reads a file through us. The paths are the one it named and the place that will be opened."""
    return Subject("read", paths)


def subject_of_write(*paths: str) -> Subject:
    """The agent writes a file through us, as for reading one."""
    return Subject("edit", paths)


def subject_of_command(
    command: str, args: Sequence[str] = (), cwd: str | Path | None = None, env: Iterable[tuple[str, str]] = ()
) -> Subject:
    """The agent starts a program. Without `args`, `command` may be a shell command line."""
    search = CommandSearch()
    search.read_words([*(f"{name}={value}" for name, value in env), *([command, *args] if args else [])])
    if not args:
        search.read_line(command)
    where = None if cwd is None else str(cwd)
    here = () if where is None else (where,)
    return _subject("execute", chain(here, _paths_in(search.commands, where)), search)


def subject_of_tool_call(call: ToolCall) -> Subject:
    """What the agent reports about a call: locations, diffs, and input.

    A call of kind `execute` without a command in its input is assumed to have it in its title. A change that isn't
    reported as one, or a command reported as `other`, gets the kind that fits its content. Files that a command names
    as separate words count as its paths.
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
    """Read the title as a line, and the parts in backquotes."""
    title = title[:_MAX_TITLE]
    for line in (title, *re.findall("`([^`]+)`", title)):
        search.read_line(line)


def _read_input(raw: Any, search: CommandSearch) -> list[str]:
    """Find the commands in a tool's input, at any depth. Returns the paths in it."""
    fields = [*islice(_fields(raw), _MAX_FIELDS)]
    for name, value, arguments in fields:
        if _COMMAND_KEY.fullmatch(name) and not search.is_over:
            _read_command(value, arguments, search)
    texts = islice(_texts(fields), _MAX_TEXTS)
    return [text for name, text in texts if is_file_url(text) or (text and _PATH_KEY.fullmatch(name))]


def _read_command(value: Any, arguments: Any, search: CommandSearch) -> None:
    """Read a line, a program with separate arguments, or the words of one command. Ignores anything else."""
    if isinstance(value, str) and isinstance(arguments, list) and arguments:
        search.read_words([value, *_strings(arguments)])
    elif isinstance(value, str):
        search.read_line(value)
    elif isinstance(value, list):
        words = _strings(value)
        search.read_words(words)
        # If each word is a line, as in a list of commands, read those too.
        for line in takewhile(lambda _: not search.is_over, words):
            if " " in line:
                search.read_line(line)


def _strings(values: list[Any]) -> list[str]:
    return [value for value in values[:_MAX_TEXTS] if isinstance(value, str)]


def _fields(raw: Any) -> Iterator[tuple[str, Any, Any]]:
    """Every field of every object in a decoded JSON value: its name, its value, and the `args` next to it."""
    values = [raw]
    for value in values:  # grows during the loop
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
    """The words that may be paths, including after `=` and `@`, and a program called by its path.

    Each counts in the folders that the commands before it may have gone to, and open in places if its word is.
    """
    bases, told = [""], set[str]()
    for words in commands:
        bases = _bases_behind(words, bases)
        for path in _paths_of(words):
            is_absolute = path.startswith(("/", "~", ANY)) or is_file_url(path)
            for base in [""] if is_absolute else bases:
                is_below = cwd is not None and not is_absolute and not base.startswith(("/", "~", ANY))
                place = "/".join(filter(None, (cwd if is_below else "", base, path)))
                if place not in told:
                    told.add(place)
                    yield place


def _paths_of(words: Words) -> Iterator[str]:
    written = as_written(words)
    spellings = chain(written if "/" in (written or ("",))[0] else written[1:], map(_open_path, words))
    for word in dict.fromkeys(spellings):
        value = word.partition("=")[2]
        glued = word[2:].lstrip("@=") if word.startswith("-") and not word.startswith("--") else ""
        behind = (value, value.lstrip("@<"), word.partition(":")[2], glued)
        found = dict.fromkeys((word.removeprefix("@"), *behind))
        yield from (path for path in found if path and not path.startswith("-"))


_HERE: Final = re.compile(rf"(?<![^=@:<])(?:[{ANY}{ANY_PART}]\$(?:PWD\b|\{{PWD\}})|~\+)(?=/|\Z)")
_HOME: Final = re.compile(rf"(?<![^=@:<])[{ANY}{ANY_PART}]\$(?:HOME\b|\{{HOME\}})(?=/|\Z)")
_VARIABLE: Final = re.compile(rf"[{ANY}{ANY_PART}]\$(?:\{{[^}}]*\}}?|\w+|.?)|(?<![^=@:<])~[+-]\d*(?=/|\Z)")


def _open_path(word: str) -> str:
    """The word with the folders that are told, and with `ANY` for variables that aren't. "" if it's as written."""
    path = _VARIABLE.sub(ANY, _HOME.sub("~", _HERE.sub(".", word)))
    return "" if path == word and is_told(word) else path


_GOES: Final = frozenset({"cd", "chdir", "pushd"})
_GOES_FIRST: Final = re.compile(r"-C(.*)|--(?:directory|chdir|cwd|work-tree)(?:=(.*))?", re.DOTALL)
"""Options of `git`, `make`, `tar`, `env`, and others that name the folder to work in."""
_MAX_BASES: Final = 8


def _bases_behind(words: Words, bases: list[str]) -> list[str]:
    """The folders, from the working directory, in which this command and the ones behind it may look for files."""
    program = as_written(words[:1])
    goes_to: list[str] = []
    if program and program_name(program[0]) in _GOES:
        goes_to = [word for word in words[1:] if word == "-" or not word.startswith("-")][:1] or ["~"]
    else:
        for word, after in zip(words, (*words[1:], ""), strict=True):
            if option := _GOES_FIRST.fullmatch(word):
                goes_to.append(option[1] or option[2] or after)
    for folder in filter(None, goes_to):
        path = ANY if folder == "-" else _open_path(folder) or folder
        is_absolute = path.startswith(("/", "~", ANY))
        bases = [*dict.fromkeys([*bases, *(path if is_absolute or not base else f"{base}/{path}" for base in bases)])]
        if len(bases) > _MAX_BASES:
            bases = [*bases[:_MAX_BASES], ANY]
    return bases


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
"""Single-letter options. Longer ones are words, as in `find -delete`."""


def first_match(rules: Sequence[RefusalRule], subject: Subject, roots: Sequence[Path] = ()) -> RefusalRule | None:
    """The first rule whose conditions all match `subject`; None if no rule refuses.

    `roots` are the session's workspace roots, the base of relative paths and globs. A rule without conditions refuses
    nothing. Accesses the disk unless `subject` is `resolved` or `asks_disk` is false.
    """
    subject = resolved(rules, subject, roots)
    return next((rule for rule in rules if _fits(rule, subject) and _is_place(rule.path, subject)), None)


def doubtful(rules: Iterable[RefusalRule], subject: Subject) -> RefusalRule | None:
    """The first rule for commands that may cover the unknown part of `subject`; None if there isn't one."""
    return next((rule for rule in rules if _is_kind(rule.kind, subject) and _may_run(rule.command, subject)), None)


def asks_disk(rules: Iterable[RefusalRule], subject: Subject) -> bool:
    """Whether `subject` must be `resolved` before matching it against `rules`."""
    unknown = subject.places is None and bool(subject.paths)
    return unknown and any(rule.path is not None and _fits(rule, subject) for rule in rules)


def resolved(rules: Sequence[RefusalRule], subject: Subject, roots: Sequence[Path] = ()) -> Subject:
    """`subject` with the places its paths lead to, if `rules` need them.

    Blocks as long as the disk does, on a dead mount forever: call it in a thread.
    """
    if not asks_disk(rules, subject):
        return subject
    globs = [rule.path for rule in rules if rule.path is not None]
    return replace(subject, places=ResolvedPaths(subject.paths, roots, globs))


def _fits(rule: RefusalRule, subject: Subject) -> bool:
    """Whether everything except the place matches the rule."""
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

    `git push -f` also matches `git -C project push origin -f`.
    """
    program = words[0]
    if prefix[0] != program and prefix[0].casefold() != program_name(program).casefold():
        return False
    rest = iter(words[1:])
    return all(_comes_next(word, rest) for word in _plain(prefix[1:])) and _has_options(prefix, words)


def _comes_next(wanted: str, rest: Iterable[str]) -> bool:
    """Whether `wanted` follows, after nothing but options, each with at most one value."""
    after_option = False
    for word in rest:
        if word == wanted:
            return True
        if not word.startswith("-") and not after_option:
            return False
        after_option = word.startswith("-")
    return False


def _has_options(prefix: Words, words: Words) -> bool:
    """Whether all options of `prefix` are among those of `words`, in any order and combination."""
    wanted = [*filter(_is_option, prefix)]
    if not wanted:
        return True
    found = {*filter(_is_option, words), *(word.partition("=")[0] for word in words if word.startswith("--"))}
    letters = {letter for word in found if not word.startswith("--") for letter in word[1:]}
    return all(
        word in found or (_BUNDLE.fullmatch(word) is not None and letters.issuperset(word[1:])) for word in wanted
    )


def _is_option(word: str) -> bool:
    return word.startswith("-") and word not in ("-", "--")


def _plain(words: Words) -> Words:
    return tuple(word for word in words if word != "--" and not _is_option(word))


_QUOTES_ONLY: Final = re.compile(
    r"\[|test|echo|printf?|\w*grep|rg|ag|ack|ls|cat|head|tail|wc|which|whereis|type|man|cd|mkdir|touch|cp|mv|ln|chmod|git"
)
"""Programs that treat another program's name in their arguments as text or a file and don't run it."""
_SUBSCRIPT: Final = re.compile(r"\[[^\]]*(?:\$\(|`)", re.DOTALL)
"""Tests and `printf -v` evaluate what is between the brackets of a name."""
_MAX_MENTION: Final = 20_000
"""Characters of arguments to check. Longer ones count as a match."""


def _may_run(command: str | None, subject: Subject) -> bool:
    """Whether the unknown part of the line may be this command."""
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
    """Whether a program's arguments contain the words of the rule, which the program might run."""
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
    """Whether a command in `unread` seems to begin with the words of `prefix`, whatever its options."""
    words = (prefix[0], *_plain(prefix[1:]))
    return all(word in unread for word in words) and bool(_beginning(words).search(f"\n{unread}"))


@lru_cache(maxsize=256)
def _beginning(words: Words) -> re.Pattern[str]:
    border = r"\s;&|()<>`'\""
    plain = r"[ \t]+".join(map(re.escape, words))
    return re.compile(rf"[;&|(\n`'\"][ \t]*(?:[^{border}]*/)?{plain}(?![^{border}])")
