"""Which of the user's standing rules refuses what the agent is about to do; what follows is the session's matter.

A rule only ever refuses. It is a seat belt against accidents, not a sandbox: it sees what the agent reports and asks,
and whoever wants to hide something from it can.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from posixpath import basename
from typing import TYPE_CHECKING, Final

from acp_tui.client.path_globs import Places
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
    "asks_disk",
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
    is_found = any(_begins_with(prefix, words) for words in subject.commands)
    return is_found or (bool(subject.unread) and _may_begin(prefix, subject.unread))


@lru_cache(maxsize=256)
def _words_of_rule(command: str) -> Words:
    return split_words(command)


def _begins_with(prefix: Words, words: Words) -> bool:
    """Whether `words` begin with the words of `prefix` and have its options.

    `git push -f` is also found in `git -C project push origin -f`.
    """
    program = words[0]
    if not program.endswith(prefix[0]) or prefix[0] not in (program, basename(program)):
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


def _may_begin(prefix: Words, unread: str) -> bool:
    """Whether a command in `unread` seems to begin with the words of `prefix`, whatever its options are."""
    words = (prefix[0], *_plain(prefix[1:]))
    return all(word in unread for word in words) and bool(_beginning(words).search(f"\n{unread}"))


@lru_cache(maxsize=256)
def _beginning(words: Words) -> re.Pattern[str]:
    border = r"\s;&|()<>`'\""
    plain = r"[ \t]+".join(map(re.escape, words))
    return re.compile(rf"[;&|(\n`'\"][ \t]*(?:[^{border}]*/)?{plain}(?![^{border}])")
