"""Which of the user's standing rules refuses what the agent is about to do; what follows is the session's matter.

A rule only ever refuses. It is a seat belt against accidents, not a sandbox: it sees what the agent reports and asks,
and whoever wants to hide something from it can.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from posixpath import basename
from typing import TYPE_CHECKING

from acp_tui.client.permissions.path_globs import Places
from acp_tui.client.permissions.shell_lines import Words, split_words
from acp_tui.client.permissions.subject import (
    Subject,
    subject_of_command,
    subject_of_read,
    subject_of_tool_call,
    subject_of_write,
)

if TYPE_CHECKING:
    # A rule is only read here; the settings would bring along what reads them from disk.
    from acp_tui.client.settings.refusal_rule import RefusalRule

__all__ = [
    "Subject",
    "first_match",
    "subject_of_command",
    "subject_of_read",
    "subject_of_tool_call",
    "subject_of_write",
]


def first_match(
    rules: Iterable[RefusalRule], subject: Subject, roots: Sequence[Path] = ()
) -> RefusalRule | None:
    """The first rule of which everything that it names is in `subject`; None where none refuses.

    `roots` are the session's workspace roots, below which relative paths and globs are. A rule that names nothing
    refuses nothing.
    """
    places: Places | None = None
    for rule in rules:
        if not _names_something(rule) or not _is_kind(rule.kind, subject) or not _runs(rule.command, subject):
            continue
        if rule.path is None:
            return rule
        places = places or Places(subject.paths, roots)
        if places.any_match(rule.path):
            return rule
    return None


def _names_something(rule: RefusalRule) -> bool:
    return bool(rule.kind or rule.path or rule.command)


def _is_kind(kind: str | None, subject: Subject) -> bool:
    return kind is None or kind == subject.kind


def _runs(command: str | None, subject: Subject) -> bool:
    if command is None:
        return True
    prefix = split_words(command)
    return bool(prefix) and any(_begins_with(prefix, words) for words in subject.commands)


def _begins_with(prefix: Words, words: Words) -> bool:
    """Whether `words` begin with `prefix`: `git push` is also found in `git -C project push`."""
    if not words or prefix[0] not in (words[0], basename(words[0])):
        return False
    rest = iter(words[1:])
    return all(_comes_next(word, rest) for word in prefix[1:])


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
