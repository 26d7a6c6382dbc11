"""What a request of the agent is about, in the terms of the user's rules; it judges nothing.

Much of it is found by the names that agents commonly give to their tools' parameters: what an agent calls otherwise,
or does without a word, is not seen. There is a limit to how much of a request is looked at, since somebody waits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import Any, Final

from acp_tui.client.path_globs import Places
from acp_tui.client.permissions.shell_lines import CommandSearch, Words
from acp_tui.conversation.tool_calls import TextDiff, ToolCall

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
    """Each program that would be started, with its arguments."""
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


def subject_of_command(command: str, args: Sequence[str] = (), cwd: str | Path | None = None) -> Subject:
    """The agent starts a program; without `args`, `command` may be a line for a shell."""
    search = CommandSearch()
    search.read_words([command, *args])
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
    diffs = [item.path for item in call.content if isinstance(item, TextDiff)]
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
    words = (word for command in commands for word in command[0 if "/" in command[0] else 1 :])
    for word in dict.fromkeys(words):
        spellings = (word.removeprefix("@"), word.partition("=")[2])
        for path in (spelling for spelling in spellings if spelling and not spelling.startswith("-")):
            yield path if cwd is None or path.startswith(("/", "~", "file://")) else f"{cwd}/{path}"
