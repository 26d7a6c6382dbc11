"""What a request of the agent is about, in the terms of the user's rules; it judges nothing.

Much of it is found by the names that agents commonly give to their tools' parameters: what an agent calls otherwise,
or does without a word, is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from acp_tui.client.permissions.shell_lines import Words, commands_of_line, commands_of_words
from acp_tui.conversation.tool_calls import TextDiff, ToolCall

# Keys without case and separators: `filePath` is `file_path`.
_COMMAND_KEY: Final = re.compile("commands?|cmd|commandline|script")
_PATH_KEY: Final = re.compile(
    "(abs|absolute|relative|file|notebook|old|new)?paths?|files?|filename|targetfile|directory|dir|cwd|workdir"
    "|source|destination|src|dst"
)
_MAX_DEPTH: Final = 6
"""Of objects in a tool's input."""
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


def subject_of_read(path: str) -> Subject:
    """The agent reads a file of ours."""
    return Subject("read", (path,))


def subject_of_write(path: str) -> Subject:
    """The agent writes a file of ours."""
    return Subject("edit", (path,))


def subject_of_command(command: str, args: Sequence[str] = (), cwd: str | Path | None = None) -> Subject:
    """The agent starts a program; without `args`, `command` may be a line for a shell."""
    lines = () if args else commands_of_line(command)
    commands = tuple(dict.fromkeys([*commands_of_words([command, *args]), *lines]))
    where = None if cwd is None else str(cwd)
    here = () if where is None else (where,)
    return Subject("execute", (*here, *_paths_in(commands, where)), commands)


def subject_of_tool_call(call: ToolCall) -> Subject:
    """What the agent reports of a call: places, diffs and input.

    A call of kind `execute` that gives no command in its input is taken to name it in its title. A change that is
    reported as no change, or a command as `other`, has the kind of what it brings. Files that a command names as
    words of their own count as its paths.
    """
    diffs = [item.path for item in call.content if isinstance(item, TextDiff)]
    said_paths, said_commands = _read_input(call.raw_input)
    if isinstance(call.raw_input, str) and call.kind == "execute":
        said_commands = commands_of_line(call.raw_input)
    commands = said_commands or (_in_title(call.title) if call.kind == "execute" else ())
    places = [location.path for location in call.locations]
    paths = dict.fromkeys([*places, *diffs, *said_paths, *_paths_in(commands, None)])
    return Subject(_kind(call.kind, bool(diffs), bool(commands)), tuple(paths), commands)


def _kind(reported: str, has_diffs: bool, has_commands: bool) -> str:
    if has_diffs and reported not in _CHANGING_KINDS:
        return "edit"
    return "execute" if has_commands and reported == "other" else reported


def _in_title(title: str) -> tuple[Words, ...]:
    """The title as a line, and what it has in backquotes."""
    title = title[:_MAX_TITLE]
    return tuple(command for line in (title, *re.findall("`([^`]+)`", title)) for command in _commands(line))


def _commands(value: Any) -> tuple[Words, ...]:
    """A line, or the words of one command; anything else is none."""
    if isinstance(value, str):
        return commands_of_line(value)
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        # Where the words are lines each, as of a list of commands, these are read too.
        lines = [command for word in value if " " in word for command in commands_of_line(word)]
        return (*commands_of_words(value), *lines)
    return ()


def _read_input(raw: Any) -> tuple[list[str], tuple[Words, ...]]:
    """The paths and commands in a tool's input, at whatever depth they are."""
    paths: list[str] = []
    commands: list[Words] = []
    for fields in _objects(raw, 0):
        for key, value in fields.items():
            name = re.sub(r"[\W_]", "", str(key)).lower()
            if _COMMAND_KEY.fullmatch(name):
                commands += _commands(_with_arguments(value, fields.get("args")))
            texts = [
                text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)
            ]
            paths += [
                text for text in texts if text.startswith("file://") or (text and _PATH_KEY.fullmatch(name))
            ]
    return paths, tuple(commands)


def _with_arguments(command: Any, arguments: Any) -> Any:
    if isinstance(command, str) and isinstance(arguments, list) and arguments:
        return [command, *map(str, arguments)]
    return command


def _objects(raw: Any, depth: int) -> Iterator[dict[Any, Any]]:
    """Every object in a decoded JSON value."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(raw, dict):
        yield raw
    for value in raw.values() if isinstance(raw, dict) else raw if isinstance(raw, list) else ():
        yield from _objects(value, depth + 1)


def _paths_in(commands: tuple[Words, ...], cwd: str | None) -> Iterator[str]:
    """The words that may be paths, also behind `=` and `@`, and a program that is called by its path."""
    words = (word for command in commands for word in command[0 if "/" in command[0] else 1 :])
    for word in dict.fromkeys(words):
        spellings = (word.removeprefix("@"), word.partition("=")[2])
        for path in (spelling for spelling in spellings if spelling and not spelling.startswith("-")):
            yield path if cwd is None or path.startswith(("/", "~", "file://")) else f"{cwd}/{path}"
