"""Which of the user's standing rules refuses what the agent is about to do. The session acts on the result.

A rule only ever refuses. It's a seat belt against accidents, not a sandbox: it sees the words that the agent reports
and asks for. A command line that has the words of a rule is refused, wherever they are in it; one that may have them
without saying so is in doubt, and the user is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from acp_tui.client.path_globs import ResolvedPaths, is_file_url
from acp_tui.client.permissions import command_words
from acp_tui.conversation.tool_calls import ToolCall, changed_paths
from acp_tui.values import dataclass

if TYPE_CHECKING:
    # Rules are only read here. Importing the settings would also load the code that reads them from disk.
    from acp_tui.client.settings.settings import RefusalRule

# Much of it is found by common names of tool parameters. What an agent names differently, or does without reporting it,
# isn't found. There is a limit to how much of a request is searched, because the user is waiting.

# As normalized by `_name`.
_COMMAND_KEY: Final = re.compile("commands?|cmd|commandline|script")
_PATH_KEY: Final = re.compile(
    "(abs|absolute|relative|file|notebook|old|new)?paths?|files?|filename|targetfile|directory|dir|cwd|workdir"
    "|source|destination|src|dst"
)
_FOLDER_KEY: Final = re.compile("directory|dir|cwd|workdir")
_MAX_FOLDERS: Final = 4
_MAX_SPACES: Final = 8
"""In a path that a command line names."""
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
class RuleSubject:
    kind: str
    """A kind of tool call."""
    paths: tuple[str, ...] = ()
    """As spelled. Relative ones are below a workspace root."""
    line: str = ""
    """All command lines, and the words of commands that no shell reads. "" if there are none."""
    folders: tuple[str, ...] = ()
    """Where relative names in `line` begin, besides the roots."""
    places: ResolvedPaths | None = field(default=None, compare=False, repr=False)
    """Where `paths` and the names in `line` lead; None if not resolved yet."""
    are_all_names_in_places: bool = field(default=True, compare=False, repr=False)
    """False if there was no time for all names in `line`."""


def subject_of_read(*paths: str) -> RuleSubject:
    """The agent reads a file through us. The paths are the one it named and the place that will be opened."""
    return RuleSubject("read", paths)


def subject_of_write(*paths: str) -> RuleSubject:
    """The agent writes a file through us, as for reading one."""
    return RuleSubject("edit", paths)


def subject_of_command(
    command: str, args: Sequence[str] = (), cwd: str | Path | None = None, env: Iterable[tuple[str, str]] = ()
) -> RuleSubject:
    """The agent starts a program. Without `args`, `command` may be a shell command line."""
    line = "\n".join([*(f"{name}={value}" for name, value in env), " ".join([command, *args])])
    where = () if cwd is None else (str(cwd),)
    return RuleSubject("execute", where, line[: command_words.MAX_LINE + 1], where)


def subject_of_tool_call(call: ToolCall) -> RuleSubject:
    """What the agent reports about a call: locations, diffs, and input.

    A call of kind `execute` without a command in its input is assumed to have it in its title. A change that isn't
    reported as one, or a command reported as `other`, gets the kind that fits its content. Files that a command names
    count as its paths.
    """
    diffs = changed_paths(call.content)
    fields = [*islice(_fields(call.raw_input), _MAX_FIELDS)]
    line = "\n".join(_lines_in(fields))
    if call.kind == "execute" and isinstance(call.raw_input, str):
        line = call.raw_input
    if call.kind == "execute" and not line:
        line = call.title[:_MAX_TITLE]
    places = (location.path for location in call.locations)
    paths = dict.fromkeys(islice(chain(places, diffs, _paths_in(fields)), _MAX_PATHS))
    folders = tuple(value for name, value, _ in fields if _FOLDER_KEY.fullmatch(name) and isinstance(value, str))
    return RuleSubject(
        _kind(call.kind, bool(diffs), bool(line)), tuple(paths), line[: command_words.MAX_LINE + 1], folders
    )


def _kind(reported: str, has_diffs: bool, has_commands: bool) -> str:
    if has_diffs and reported not in _CHANGING_KINDS:
        return "edit"
    return "execute" if has_commands and reported == "other" else reported


def _lines_in(fields: Iterable[tuple[str, Any, Any]]) -> Iterator[str]:
    """The commands in a tool's input: lines, programs with separate arguments, or the words of one command."""
    for name, value, arguments in fields:
        if not _COMMAND_KEY.fullmatch(name):
            continue
        if isinstance(value, str):
            yield " ".join([value, *(_strings(arguments) if isinstance(arguments, list) else ())])
        elif isinstance(value, list):
            yield " ".join(_strings(value))


def _paths_in(fields: Iterable[tuple[str, Any, Any]]) -> Iterator[str]:
    texts = islice(_texts(fields), _MAX_TEXTS)
    return (text for name, text in texts if is_file_url(text) or (text and _PATH_KEY.fullmatch(name)))


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


def first_match(rules: Sequence[RefusalRule], subject: RuleSubject, roots: Sequence[Path] = ()) -> RefusalRule | None:
    """The first rule whose conditions all match `subject`; None if no rule refuses.

    `roots` are the session's workspace roots, the base of relative paths and globs. A rule without conditions refuses
    nothing. Accesses the disk unless `subject` is `resolved` or `asks_disk` is false.
    """
    subject = resolved(rules, subject, roots)
    return next((rule for rule in rules if _fits(rule, subject) and _is_place(rule.path, subject)), None)


def doubtful(rules: Iterable[RefusalRule], subject: RuleSubject) -> tuple[RefusalRule, str] | None:
    """The first rule that may cover what the command line doesn't say, and which part of it that is.

    None if there's no such rule. For a `subject` that no rule refuses.
    """
    if not subject.line:
        return None
    named = (rule for rule in rules if (rule.command or rule.path) and _is_kind(rule.kind, subject))
    return next(((rule, why) for rule in named if (why := _why_in_doubt(rule, subject))), None)


def _why_in_doubt(rule: RefusalRule, subject: RuleSubject) -> str:
    """What may make the line one that the rule refuses, "" if nothing does."""
    why = ""
    if not _runs(rule.command, subject):
        words = command_words.words_of_rule(rule.command or "")
        why = (command_words.why_not_literal(subject.line) or words.wild_in(subject.line)) if words else ""
        if not why:
            return ""
    if rule.path is None or _is_place(rule.path, subject):
        return why
    return command_words.why_paths_are_open(subject.line) or ("" if subject.are_all_names_in_places else "its length")


def asks_disk(rules: Iterable[RefusalRule], subject: RuleSubject) -> bool:
    """Whether `subject` must be `resolved` before matching it against `rules`."""
    unknown = subject.places is None and bool(subject.paths or subject.line)
    return unknown and any(rule.path is not None and _fits(rule, subject) for rule in rules)


def resolved(rules: Sequence[RefusalRule], subject: RuleSubject, roots: Sequence[Path] = ()) -> RuleSubject:
    """`subject` with the places its paths lead to, if `rules` need them.

    Blocks as long as the disk does, on a dead mount forever: call it in a thread.
    """
    if not asks_disk(rules, subject):
        return subject
    globs = [rule.path for rule in rules if rule.path is not None]
    # A name with blanks is found only if a rule, or a folder above, has as many.
    spaces = max(path.count(" ") for path in ("", *globs, *map(str, roots), *subject.folders))
    found = command_words.names_in(subject.line, min(spaces, _MAX_SPACES))
    paths = dict.fromkeys([*subject.paths, *_below_folders(found.names, subject.folders[:_MAX_FOLDERS])])
    places = ResolvedPaths(tuple(paths), roots, globs)
    return replace(subject, places=places, are_all_names_in_places=found.are_all)


def _below_folders(names: Iterable[str], folders: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield name
        if not name.startswith(("/", "~")) and not is_file_url(name):
            yield from (f"{folder}/{name}" for folder in folders)


def _fits(rule: RefusalRule, subject: RuleSubject) -> bool:
    """Whether everything except the place matches the rule."""
    says_something = bool(rule.kind or rule.path or rule.command)
    return says_something and _is_kind(rule.kind, subject) and _runs(rule.command, subject)


def _is_place(glob: str | None, subject: RuleSubject) -> bool:
    return glob is None or (subject.places is not None and subject.places.any_match(glob))


def _is_kind(kind: str | None, subject: RuleSubject) -> bool:
    return kind is None or kind == subject.kind


def _runs(command: str | None, subject: RuleSubject) -> bool:
    if command is None:
        return True
    words = command_words.words_of_rule(command)
    return words is not None and bool(subject.line) and words.are_in(subject.line)
