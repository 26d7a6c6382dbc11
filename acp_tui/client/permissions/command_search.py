"""Finds every program that an agent's request would start: in lines, in words, and in what those programs start."""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import basename
from typing import Final

from acp_tui.client.permissions.launchers import lines_within, sets_what_is_run, started_by, without_prefixes
from acp_tui.client.permissions.shell_lines import NOT_TOLD, Words, as_written, read_commands

MAX_WORK: Final = 6_000
"""Limit of one search, in pieces of lines and commands.

It bounds the time on the event loop, whatever an agent writes.
"""
_CHARACTERS_PER_WORK: Final = 8
_WORDS_PER_WORK: Final = 8
_MIN_WORDS: Final = 100
"""Words of a command that are kept however little time is left."""
_MAX_UNREAD: Final = 100_000
"""Characters that are kept of unread text."""
_MAX_DEPTH: Final = 8
"""Limit for nested lines, such as `sh -c 'sh -c ...'`."""


class CommandSearch:
    """Collects the commands in one request. An agent may write more than there is time to read."""

    def __init__(self) -> None:
        self._found: dict[Words, None] = {}
        self._lines: set[str] = set()
        self._unread: list[str] = []
        self._unread_left = _MAX_UNREAD
        self._work_left = MAX_WORK

    @property
    def commands(self) -> tuple[Words, ...]:
        """The commands found, with marks, each before the ones inside it.

        Targets of redirections come last in a command.
        """
        return tuple(self._found)

    @property
    def unread(self) -> str:
        """The text that there was no time to read, up to a limit."""
        return "\n".join(self._unread)

    @property
    def is_over(self) -> bool:
        """Whether the search accepts nothing more."""
        return self._work_left <= 0 and self._unread_left <= 0

    def read_line(self, line: str, depth: int = 0) -> None:
        """Find every command that `line` would run."""
        if depth > _MAX_DEPTH:
            self._found[NOT_TOLD] = None
            return
        if self._work_left <= 0:
            self._leave_unread(line)
            return
        if line in self._lines:
            return
        self._lines.add(line)
        # Keep some of the remaining work for what is inside these commands.
        work = (self._work_left + 1) // 2
        reading = read_commands(line[: work * _CHARACTERS_PER_WORK], work)
        self._work_left -= 1 + max(reading.pieces, reading.characters // _CHARACTERS_PER_WORK)
        self._leave_unread(line[reading.characters : reading.characters + _MAX_UNREAD])
        for command in reading.commands:
            self.read_words(command.words, depth, command.targets)
        for inner in reading.inner_lines:
            self.read_line(inner, depth + 1)

    def read_words(self, words: Sequence[str], depth: int = 0, targets: Words = ()) -> None:
        """Find one command that no shell reads, and those that it starts."""
        if self._work_left <= 0:
            self._unread_left -= len(words)  # the caller had to collect them
            self._leave_unread(" ".join(words[:_MIN_WORDS]))
            return
        all_words = tuple(words[: max(self._work_left, _MIN_WORDS)])
        command = without_prefixes(all_words)
        self._work_left -= 1 + len(command) // _WORDS_PER_WORK
        found = command + targets
        if not (all_words or targets) or found in self._found:
            return
        if command:
            self._found[found] = None
        elif targets:
            self._found[":", *targets] = None  # `> file` empties it, `$(<file)` reads it
        if sets_what_is_run(all_words):
            self._found[NOT_TOLD] = None
        if depth <= _MAX_DEPTH:
            self._read_inside(all_words, command, targets, depth + 1)
        else:
            self._found[NOT_TOLD] = None

    def _read_inside(self, all_words: Words, command: Words, targets: Words, depth: int) -> None:
        for line in lines_within(all_words, command, targets):
            self.read_line(line, depth)
        for started in started_by(basename(command[0]), command[1:]) if command else ():
            if self.is_over:
                return
            if started == NOT_TOLD:
                self._found[NOT_TOLD] = None
            else:
                self.read_words(started, depth)

    def _leave_unread(self, text: str) -> None:
        if text and self._unread_left > 0:
            self._unread.append(text[: self._unread_left])
            self._unread_left -= len(text) + _CHARACTERS_PER_WORK


def commands_in(words: Words) -> tuple[Words, ...]:
    """One command that no shell reads, and those that it starts, as they are written."""
    search = CommandSearch()
    search.read_words(words)
    return tuple(filter(None, map(as_written, search.commands)))
