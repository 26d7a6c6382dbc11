"""The secrets that are known, and what stands for each; where they stand in a text is `texts`'."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from acp_tui.client.secrets.looks import look
from acp_tui.client.secrets.names import is_secret_name
from acp_tui.workbench.redact.beginnings import Beginnings
from acp_tui.workbench.redact.names import MIN_NAME, is_common_user, is_host, private_folders
from acp_tui.workbench.redact.stand_ins import (
    NAMES,
    Secret,
    blank,
    is_stand_in,
    make_stand_in,
    number_stand_in,
)

MIN_EVERYWHERE: Final = 6
"""A shorter one, which nobody gave, is replaced only where its place tells that it is one."""
MIN_BROKEN: Final = 8
"""A shorter one is not looked for over the end of a line."""
MAX_EVERYWHERE: Final = 2_000
"""Each takes time in each text; more are replaced only where their form or place tells what they are."""
FROM_OUTSIDE: Final = ("given", "variable")
"""What is known without the recording is whole, whatever else begins with it."""
_WORD: Final = r"(?<![A-Za-z0-9]){}(?![A-Za-z0-9])"


class Ledger:
    """Every secret by its text; the same text has the same stand-in, whatever led to it."""

    def __init__(self) -> None:
        self.secrets: dict[str, Secret] = {}
        self.users: set[str] = set()
        self.version = 0
        """Another one whenever there is more to be found by what is known."""
        self.longest_with_line_end = 0
        self.numbers: set[str] = set()
        """Those that are secret wherever they stand."""
        self._beginnings = Beginnings()
        self._everywhere: dict[str, Secret] = {}
        """By the pattern that finds it."""
        self._signs: set[str] = set()
        """One of them stands in every text in which one of those is found."""
        self._pattern: re.Pattern[str] | None = None
        self._in_order: list[Secret] = []
        self._folders: dict[tuple[str, str], Secret] = {}

    # Learning

    def learn(self, text: str, kind: str, *, is_everywhere: bool = True) -> Secret | None:
        """Take note of a secret; None for what is a stand-in already."""
        if is_stand_in(text):
            return None
        secret = self.secrets.get(text)
        if secret is None:
            secret = self.secrets[text] = self._new(text, kind)
        if kind == "user" and text not in self.users:
            self.users.add(text)
            self.version += 1
        if is_everywhere:
            self._find_everywhere(*_search(text, kind), secret)
        return secret

    def learn_number(self, text: str) -> Secret:
        """Take note of a number that is a secret."""
        secret = self.secrets.get(text)
        if secret is None:
            secret = self.secrets[text] = Secret("key", text, number_stand_in(text))
        if len(text) >= MIN_BROKEN and text not in self.numbers:
            self.numbers.add(text)
            self.version += 1
            self._find_everywhere(_WORD.format(re.escape(text)), (text,), secret)
        return secret

    def perhaps(self, text: str, kind: str) -> Secret | None:
        """The secret where it is known; else one that is not remembered: the text may be the beginning of another."""
        if is_stand_in(text):
            return None
        return self.secrets.get(text) or Secret(kind, text, "".join(map(blank, text)))

    def learn_folders(self, path: str) -> None:
        """Take note of the folders above a path."""
        for above, name in private_folders(path):
            if not is_stand_in(name) and (above, name) not in self._folders:
                secret = self._folders[above, name] = self._new(name, "folder")
                # Claude Code calls the folder that it keeps of /srv/acme/web -srv-acme-web.
                before = re.escape(above).replace("/", "[/-]")
                self._find_everywhere(rf"(?<={before}[/-]){re.escape(name)}(?!\w)", (name,), secret)

    def learn_environment(
        self, environ: Mapping[str, str], host: str, full_names: Iterable[str] = ()
    ) -> None:
        """Take note of who runs this, and of the secrets in the environment."""
        for name, value in environ.items():
            if is_secret_name(name) and len(value) >= MIN_EVERYWHERE and not value.isdigit():
                self.learn(value, "variable")
            else:
                self._learn_within(value)
        for name in ("USER", "LOGNAME", "USERNAME"):
            user = environ.get(name, "")
            if len(user) >= MIN_NAME and not is_common_user(user):
                self.learn(user, "user")
        for full_name in full_names:
            if " " in full_name.strip() and not is_common_user(full_name):
                self.learn(full_name.strip(), "full name")
        for one in {host, host.partition(".")[0]}:
            if is_host(one):
                self.learn(one, "host")
        self.learn_folders(f"{environ.get('HOME', '')}/.")

    def _learn_within(self, value: str) -> None:
        """The passwords in the address of a database, say."""
        for find in look(value):
            if find.kind in ("key", "token", "password") and find.is_known_elsewhere:
                self.learn(value[find.start : find.end], "variable")

    def _new(self, text: str, kind: str) -> Secret:
        number = len(self.secrets) + len(self._folders) + 1
        return Secret(kind, text, make_stand_in(text, kind, number))

    def _find_everywhere(self, pattern: str, signs: Iterable[str], secret: Secret) -> None:
        if pattern in self._everywhere or len(self._everywhere) >= MAX_EVERYWHERE:
            return
        self.version += 1
        self._everywhere[pattern] = secret
        self._signs.update(signs)
        self._beginnings.add(secret)
        self._pattern = None
        if "\n" in secret.text:
            self.longest_with_line_end = max(self.longest_with_line_end, len(secret.text))

    # Finding

    def is_known_in(self, text: str) -> bool:
        """Whether a known secret may stand in a text; quick."""
        return any(map(text.__contains__, self._signs)) or any(self._beginnings.at_end(text))

    def known(self, text: str) -> Iterator[tuple[int, int, Secret]]:
        """Where in a text known secrets stand."""
        if not self.is_known_in(text):
            return
        if self._pattern is None:
            self._pattern = self._compiled()
        secrets = self._in_order
        for found in self._pattern.finditer(text):
            assert found.lastindex is not None
            yield *found.span(), secrets[found.lastindex - 1]

    def begun(self, text: str) -> Iterator[tuple[int, int, Secret]]:
        """Where a text ends in the midst of known secrets."""
        for start, end, secret in self._beginnings.at_end(text):
            own = self.secrets.get(text[start:end])
            if own is None or own.kind not in FROM_OUTSIDE:
                yield start, end, secret

    def known_over_lines(self, text: str) -> Iterator[tuple[int, int, Secret]]:
        """The same in a text of which the line ends are left out: no names, since words have become one there."""
        for start, end, secret in (*self.begun(text), *self.known(text)):
            if secret.kind not in NAMES and end - start >= MIN_BROKEN:
                yield start, end, secret

    def _compiled(self) -> re.Pattern[str]:
        # The longest first: one may be the beginning of another.
        in_order = sorted(self._everywhere.items(), key=lambda item: -len(item[1].text))
        self._in_order = [secret for _, secret in in_order]
        return re.compile("|".join(f"({pattern})" for pattern, _ in in_order) or r"(?!)")

    def replaced(self) -> Iterator[Secret]:
        """Those that were replaced somewhere."""
        return (secret for secret in (*self.secrets.values(), *self._folders.values()) if secret.count)


def _search(text: str, kind: str) -> tuple[str, tuple[str, ...]]:
    """The pattern that finds a secret, and texts one of which stands wherever it does."""
    if kind not in NAMES:
        return re.escape(text), (text,)
    words = re.split(r"[\s._-]+", text) if kind != "host" else [text]
    longest = max(words, key=len)
    if kind == "full name":  # as it is written, and as in the name of a file or an account
        together = r"[\s._-]{0,2}".join(map(re.escape, words))
        return _WORD.format(f"(?i:{together})"), (longest, longest.lower(), longest.upper())
    if kind == "user":  # as a name begins a sentence, and in capital letters
        together = r"[._-]".join(map(re.escape, words))
        cases = (longest, longest.lower(), longest.upper(), longest.capitalize())
        return _WORD.format(f"(?i:{together})"), cases
    return _WORD.format(re.escape(text)), (longest,)
