"""The secrets that are known, and what stands for each; where they stand in a text is `texts`'."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from acp_tui.client.redaction.names import MIN_NAME, is_common_user, is_host, private_folders
from acp_tui.client.redaction.stand_ins import Secret, blank, is_stand_in, make_stand_in
from acp_tui.client.transcript.secrets import is_secret_name

MIN_EVERYWHERE: Final = 6
"""A shorter one, which nobody gave, is replaced only where its place tells that it is one."""
_WORD: Final = r"(?<![A-Za-z0-9]){}(?![A-Za-z0-9])"


class Ledger:
    """Every secret by its text; the same text has the same stand-in, whatever led to it."""

    def __init__(self) -> None:
        self.secrets: dict[str, Secret] = {}
        self.users: set[str] = set()
        self.longest_with_line_end = 0
        self._everywhere: dict[str, Secret] = {}
        """By the pattern that finds it."""
        self._pattern: re.Pattern[str] | None = None
        self._folders: dict[tuple[str, str], Secret] = {}

    def __len__(self) -> int:
        """How much is known."""
        return len(self.secrets) + len(self._folders) + len(self._everywhere)

    # Learning

    def learn(self, text: str, kind: str, *, is_everywhere: bool = True) -> Secret | None:
        """Take note of a secret; None for what is a stand-in already."""
        if is_stand_in(text):
            return None
        secret = self.secrets.get(text)
        if secret is None:
            secret = self.secrets[text] = self._new(text, kind)
        if kind == "user":
            self.users.add(text)
        if is_everywhere:
            is_name = kind in ("user", "host")
            self._find_everywhere(_WORD.format(re.escape(text)) if is_name else re.escape(text), secret)
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
                self._find_everywhere(rf"(?<={re.escape(above)}/){re.escape(name)}(?![\w-])", secret)

    def learn_environment(self, environ: Mapping[str, str], host: str) -> None:
        """Take note of who runs this, and of the secrets in the environment."""
        for name, value in environ.items():
            if is_secret_name(name) and len(value) >= MIN_EVERYWHERE and not value.isdigit():
                self.learn(value, "variable")
        for name in ("USER", "LOGNAME", "USERNAME"):
            user = environ.get(name, "")
            if len(user) >= MIN_NAME and not is_common_user(user):
                self.learn(user, "user")
        for one in {host, host.partition(".")[0]}:
            if is_host(one):
                self.learn(one, "host")
        self.learn_folders(f"{environ.get('HOME', '')}/.")

    def _new(self, text: str, kind: str) -> Secret:
        number = len(self.secrets) + len(self._folders) + 1
        return Secret(kind, text, make_stand_in(text, kind, number))

    def _find_everywhere(self, pattern: str, secret: Secret) -> None:
        if pattern not in self._everywhere:
            self._everywhere[pattern] = secret
            self._pattern = None
            if "\n" in secret.text:
                self.longest_with_line_end = max(self.longest_with_line_end, len(secret.text))

    # Finding

    def known(self, text: str) -> Iterator[tuple[int, int, Secret]]:
        """Where in a text known secrets stand."""
        if not any(secret.text in text for secret in self._everywhere.values()):
            return  # this is quick, and all that happens to nearly all texts
        if self._pattern is None:
            self._pattern = self._compiled()
        secrets = self._in_order
        for found in self._pattern.finditer(text):
            assert found.lastindex is not None
            yield *found.span(), secrets[found.lastindex - 1]

    def _compiled(self) -> re.Pattern[str]:
        # The longest first: one may be the beginning of another.
        in_order = sorted(self._everywhere.items(), key=lambda item: -len(item[1].text))
        self._in_order = [secret for _, secret in in_order]
        return re.compile("|".join(f"({pattern})" for pattern, _ in in_order) or r"(?!)")

    def replaced(self) -> Iterator[Secret]:
        """Those that were replaced somewhere."""
        return (secret for secret in (*self.secrets.values(), *self._folders.values()) if secret.count)
