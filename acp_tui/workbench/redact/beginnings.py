"""Secrets that a text ends in the midst of: what grows is often sent again and again, cut anywhere.

Which secrets are known is `ledger`'s matter, and what whole keys look like `client.secrets`'.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from acp_tui.client.secrets.shapes import shaped
from acp_tui.workbench.redact.stand_ins import NAMES, Secret

MIN_BEGUN: Final = 4
"""Of a shorter beginning nobody can tell what it is of."""
MAX_BEGUN: Final = 2_000
"""A longer beginning is not looked for."""
MIN_CUT: Final = 8
"""A shorter beginning of an unknown key is hardly more than what all keys of its kind begin with."""
MAX_CLOSING: Final = 40
_CLOSING: Final = " \t\r\n\"'`.,;:!?)]}>…*_"
"""What may stand behind the place of a cut: a fence, a quote, a sign that there was more."""
_WORDS: Final = ("host", "folder")
"""They begin as words do: "build" is seldom cut from "buildbox9"."""
_LAST_WORD: Final = re.compile(r"[\w.~+/=-]*")
_GOING_ON: Final = "0" * 64
_AWS: Final = re.compile(r"(?<![A-Za-z0-9])A(?:KIA|SIA|GPA|IDA|ROA|NPA)[A-Z0-9]{4,15}\Z")
"""Of these keys the length is fixed."""


class Beginnings:
    """What known secrets begin with."""

    def __init__(self) -> None:
        self._secrets: defaultdict[str, list[Secret]] = defaultdict(list)
        """By their first letters; none begins with another of its kind."""
        self._pattern: re.Pattern[str] | None = None
        """Finds those letters."""
        self._longest = 0

    def add(self, secret: Secret) -> None:
        """Look for its beginnings, too."""
        if len(secret.text) <= MIN_BEGUN or secret.kind in _WORDS:
            return
        first = secret.text[:MIN_BEGUN]
        if first not in self._secrets:
            self._pattern = None
        if any(_begins(each, secret) for each in self._secrets[first]):
            return
        self._secrets[first] = [
            *(each for each in self._secrets[first] if not _begins(secret, each)),
            secret,
        ]
        self._longest = max(self._longest, min(len(secret.text), MAX_BEGUN))

    def at_end(self, text: str) -> Iterator[tuple[int, int, Secret]]:
        """Where secrets begin that go on behind the end of a text."""
        if self._pattern is None:
            self._pattern = re.compile("|".join(map(re.escape, self._secrets)) or "(?!)")
        for end in _ends(text):
            begin = max(end - self._longest, 0)
            while (found := self._pattern.search(text, begin, end)) is not None:
                secret = self._begun(text, found.start(), end)
                if secret is not None:
                    yield found.start(), end, secret
                begin = found.start() + 1

    def _begun(self, text: str, start: int, end: int) -> Secret | None:
        for secret in self._secrets[text[start : start + MIN_BEGUN]]:
            is_begun = end - start < len(secret.text) and secret.text.startswith(text[start:end])
            if is_begun and (secret.kind not in NAMES or _is_most_of_name(text, start, end, secret)):
                return secret
        return None


def _begins(secret: Secret, other: Secret) -> bool:
    return secret.kind == other.kind and secret.text.startswith(other.text)


def _is_most_of_name(text: str, start: int, end: int, secret: Secret) -> bool:
    # A shorter part of it may be another name, or a word.
    return start > 0 and not text[start - 1].isalnum() and 2 * (end - start) > len(secret.text)


def cut_keys(text: str) -> Iterator[tuple[int, int, str]]:
    """Where a key begins that would look like one if the text went on, and of what kind it is."""
    for end in _ends(text):
        # Read backwards: to look for the beginning from each letter on takes the length squared.
        last = _LAST_WORD.match(text[max(end - MAX_BEGUN, 0) : end][::-1])
        assert last is not None
        word = last[0][::-1]
        if len(word) >= MIN_CUT and not _is_word(word):
            yield from _cut(word, end)


def _cut(word: str, end: int) -> Iterator[tuple[int, int, str]]:
    of_fixed_length = _AWS.search(word)
    if of_fixed_length is not None:
        yield end - len(word) + of_fixed_length.start(), end, "key"
    whole = {start for start, _, _ in shaped(word)}
    for start, far, kind in shaped(word + _GOING_ON):
        if start + MIN_CUT <= len(word) < far and start not in whole and not _is_word(word[start:]):
            yield end - len(word) + start, end, kind


def _is_word(text: str) -> bool:
    return text == text.lower() and not any(map(str.isdigit, text))


def _ends(text: str) -> tuple[int, ...]:
    """Where a text may have been cut: at its end, and before what only closes it."""
    closing = text[-MAX_CLOSING:]
    before = len(text) - len(closing) + len(closing.rstrip(_CLOSING))
    return (len(text),) if before == len(text) else (len(text), before)
