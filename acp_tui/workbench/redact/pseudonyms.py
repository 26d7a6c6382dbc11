"""The known secrets and their stand-ins; identities; and texts that end in the middle of a secret.

Identities are users, folders, hosts, and addresses of people and machines. A stand-in is as long and as wide as its
secret. Letters and digits change, and everything else stays, so a path stays a path.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from ipaddress import IPv6Address
from typing import Final

from acp_tui.client.secrets.heuristics import Find, find_secrets
from acp_tui.client.secrets.names import is_secret_name
from acp_tui.client.secrets.shapes import AWS_IDS, shaped
from acp_tui.values import dataclass

MIN_NAME: Final = 3
"""A shorter name is replaced only in paths, because it occurs in too many words."""

# Names that identify nobody.
# fmt: off
_COMMON_USERS: Final = frozenset((
    "root", "user", "users", "username", "you", "me", "admin", "shared", "public", "default", "guest", "runner",
    "ubuntu", "debian", "vscode", "node", "app", "linuxbrew", "git", "www", "data", "nobody",
))
_COMMON_HOSTS: Final = frozenset((
    "localhost", "github", "gitlab", "host", "hostname", "server", "docker", "container",
))
_COMMON_FOLDERS: Final = frozenset((
    "home", "users", "root", "tmp", "private", "var", "srv", "opt", "mnt", "media", "usr", "local", "data", "work",
    "workspace", "workspaces", "src", "code", "projects", "project", "repos", "repo", "folders", "t", "volumes",
))
# fmt: on
_HOMES: Final = ("/home", "/Users", "/var/home", "/export/home")

_NAME: Final = r"[^\s/\\:\"'`<>|*?,;()\[\]{}=%&#!]*[^\s/\\:\"'`<>|*?,;()\[\]{}=%&#!.]"
# Each pattern begins with something that is fast to find; what may come before is checked then.
_HOME: Final = re.compile(rf"/(?:home|Users)/({_NAME})")
_BEFORE_HOME: Final = re.compile(r"(?:^|[^\w.]|/var|/export|/[a-z])\Z")
_WINDOWS: Final = re.compile(rf":[\\/]+[uU][sS][eE][rR][sS][\\/]+([^\\/:*?\"<>|\r\n]{{1,64}}(?=[\\/])|{_NAME})")
_DASHED: Final = re.compile(r"-(?:home|Users)-(?<![\w-]-home-)(?<![\w-]-Users-)([A-Za-z0-9]+)(?=-)")
"""The name that Claude Code gives to its folder for a project."""
_TILDE: Final = re.compile(r"~(?<![\w.~/-]~)([A-Za-z_](?:[\w.-]{0,64}\w)?)(?=/)")


def users(text: str) -> Iterator[Find]:
    """Find users in paths to their homes."""
    for found in _HOME.finditer(text):
        if _BEFORE_HOME.search(text, max(found.start() - 7, 0), found.start()):
            yield from _user(found)
    for pattern in (_DASHED, _WINDOWS, _TILDE):
        for found in pattern.finditer(text):
            yield from _user(found)


def _user(found: re.Match[str]) -> Iterator[Find]:
    if not is_common_user(found[1]):
        yield Find(*found.span(1), "user", len(found[1]) >= MIN_NAME)


def is_common_user(name: str) -> bool:
    return name.lower() in _COMMON_USERS


def is_host(name: str) -> bool:
    return len(name) >= MIN_NAME and name.lower() not in _COMMON_HOSTS and not name.isdigit()


def private_folders(path: str) -> Iterator[tuple[str, str]]:
    """The identifying folders above a path, each with the path above it. Home folders count as users instead."""
    above = ""
    for name in [name for name in path.split("/") if name][:-1]:
        if name.lower() not in _COMMON_FOLDERS and above not in _HOMES:
            yield above, name
        above += f"/{name}"


MAX_LOCAL: Final = 64
"""The maximum length of the part before the @."""

_LOCAL: Final = re.compile(r"[\w.+-]*")
_DOMAIN: Final = re.compile(r"(?:[A-Za-z0-9-]{1,63}\.){1,10}[A-Za-z]{2,24}(?![\w-])")
_HOST: Final = re.compile(r"[A-Za-z0-9][\w-]+(?![\w.-]*\.[A-Za-z])")
_NOBODY: Final = ("git", "noreply", "no-reply", "ssh")
_IP4: Final = re.compile(r"(?<![\w.-])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]\w)(?!\w)")
_NO_MACHINE: Final = re.compile(r"127\..*|0\..*|255\..*|\d+\.0\.0\.0|\d\.\d\.\d\.\d|(?:1\.1\.1\.1|8\.8\.[48]\.[48])")
"""Loopback addresses, masks, networks, what could also be a version, and well-known servers."""
_VERSION_BEFORE: Final = re.compile(r"(?:version|v|==|>=|<=|~=|[A-Za-z]/)\s*\Z", re.IGNORECASE)
_MAC: Final = re.compile(r"(?<![\w:-])[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}(?![\w:-])")
_IP6: Final = re.compile(r"(?<![\w:-])[0-9A-Fa-f]{1,4}:(?:[0-9A-Fa-f]{0,4}:){1,6}[0-9A-Fa-f]{1,4}(?![\w:])")


def addresses(text: str, known_users: Container[str]) -> Iterator[Find]:
    yield from _behind_names(text, known_users)
    yield from _ip4(text)
    yield from _hardware(text)


def _behind_names(text: str, known_users: Container[str]) -> Iterator[Find]:
    at = text.find("@")
    while at >= 0:
        # Read backward: searching for the beginning from each letter would take quadratic time.
        local = _LOCAL.match(text[max(at - MAX_LOCAL, 0) : at][::-1])
        assert local is not None
        name = local[0][::-1].lstrip("-.")
        mail, host = _DOMAIN.match(text, at + 1), _HOST.match(text, at + 1)
        if name and mail is not None:
            if name.lower() not in _NOBODY and not _is_login(text, at):
                yield Find(at - len(name), mail.end(), "e-mail", False)
        elif host is not None and name in known_users and is_host(host[0]):
            yield Find(*host.span(), "host")
        at = text.find("@", at + 1)


def _is_login(text: str, at: int) -> bool:
    """Whether the @ comes after the password of a URL."""
    before = text[max(at - 200, 0) : at]
    begin = before.rfind("://")
    return begin >= 0 and ":" in before[begin + 3 :] and not re.search(r"[\s/\"']", before[begin + 3 :])


def _ip4(text: str) -> Iterator[Find]:
    for found in _IP4.finditer(text):
        address, before = found[0], text[max(found.start() - 12, 0) : found.start()]
        is_address = all(int(part) <= 255 and str(int(part)) == part for part in address.split("."))
        if is_address and not _NO_MACHINE.fullmatch(address) and not _VERSION_BEFORE.search(before):
            yield Find(*found.span(), "IP address", False)


def _hardware(text: str) -> Iterator[Find]:
    for found in _MAC.finditer(text):
        if len(set(found[0].replace(found[1], ""))) > 2:
            yield Find(*found.span(), "MAC address", False)
    for found in _IP6.finditer(text):
        if _is_ip6(found[0]):
            yield Find(*found.span(), "IP address", False)


def _is_ip6(text: str) -> bool:
    # Programmers write "a::b" for a name in a module.
    if text.count(":") < 4 and not re.match(r"fe80:|f[cd][0-9a-f]{2}:|2[0-9a-f]{3}:", text, re.IGNORECASE):
        return False
    try:
        return bool(IPv6Address(text))
    except ValueError:
        return False


NARROW: Final = "x"
NUMBER: Final = "1"
WIDE: Final = "ｘ"
"""As wide as a character that takes two cells."""

KINDS: Final = {
    "key": "key",
    "token": "token",
    "password": "pass",
    "private key": "pem",
    "user": "user",
    "host": "host",
    "full name": "name",
    "e-mail": "mail",
    "IP address": "ip",
    "MAC address": "mac",
    "folder": "dir",
    "variable": "env",
    "given": "own",
}
"""The kinds of secrets, with the word that their stand-ins contain if there is room."""

NAMES: Final = ("user", "full name", "host", "folder")
"""These are replaced only as separate words."""

_STAND_IN: Final = re.compile(rf"x+(?:(?:{'|'.join(KINDS.values())})?\d+)?x*")


@dataclass(slots=True, eq=False)
class Secret:
    """A text that is replaced wherever it occurs."""

    kind: str
    """One of `KINDS`."""
    text: str
    stand_in: str
    count: int = 0
    """How often it was replaced."""


def is_stand_in(text: str) -> bool:
    """Whether a text is one of our stand-ins, so that nothing is redacted twice."""
    bare = "".join(char for char in text if char.isalnum()).replace(WIDE, NARROW)
    return not bare or _STAND_IN.fullmatch(bare.lower()) is not None


def make_stand_in(text: str, kind: str, number: int) -> str:
    """Create the stand-in for a secret; `number` distinguishes it from others of the same length."""
    filled = "".join(map(blank, text))
    for label in (f"{NARROW}{KINDS[kind]}{number}", f"{NARROW}{number}"):
        at = filled.find(NARROW * len(label))
        if at >= 0:
            return filled[:at] + label + filled[at + len(label) :]
    return filled


def number_stand_in(text: str) -> str:
    return re.sub(r"\d", NUMBER, text)


def blank(char: str) -> str:
    """A meaningless character of the same width."""
    if not char.isalnum():
        return char
    return WIDE if unicodedata.east_asian_width(char) in "WF" else NARROW


MIN_EVERYWHERE: Final = 6
"""A shorter secret that the user didn't give is replaced only where its place marks it as secret."""
MIN_BROKEN: Final = 8
"""A shorter secret isn't searched across line breaks."""
MAX_EVERYWHERE: Final = 2_000
"""Each one takes time in every text. Any more are replaced only where their form or place marks them as secret."""
FROM_OUTSIDE: Final = ("given", "variable")
"""Secrets known from outside the recording are complete, whatever else begins with them."""
_WORD: Final = r"(?<![A-Za-z0-9]){}(?![A-Za-z0-9])"


class Pseudonyms:
    """All secrets by text. The same text always has the same stand-in, however it was found."""

    def __init__(self) -> None:
        self.secrets: dict[str, Secret] = {}
        self.users: set[str] = set()
        self.version = 0
        """Changes whenever new knowledge may lead to more finds."""
        self.longest_with_line_end = 0
        self.numbers: set[str] = set()
        """The numbers that are secret wherever they occur."""
        self._beginnings = SecretPrefixes()
        self._everywhere: dict[str, Secret] = {}
        """By the pattern that finds each."""
        self._signs: set[str] = set()
        """Every text with a match of these patterns contains at least one of these strings."""
        self._pattern: re.Pattern[str] | None = None
        self._in_order: list[Secret] = []
        self._folders: dict[tuple[str, str], Secret] = {}

    # Learning

    def learn(self, text: str, kind: str, *, is_everywhere: bool = True) -> Secret | None:
        """Record a secret; return None if the text is a stand-in."""
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
        secret = self.secrets.get(text)
        if secret is None:
            secret = self.secrets[text] = Secret("key", text, number_stand_in(text))
        if len(text) >= MIN_BROKEN and text not in self.numbers:
            self.numbers.add(text)
            self.version += 1
            self._find_everywhere(_WORD.format(re.escape(text)), (text,), secret)
        return secret

    def maybe_secret(self, text: str, kind: str) -> Secret | None:
        """Return the secret if known; otherwise a temporary one, because the text may be the beginning of another."""
        if is_stand_in(text):
            return None
        return self.secrets.get(text) or Secret(kind, text, "".join(map(blank, text)))

    def learn_folders(self, path: str) -> None:
        for above, name in private_folders(path):
            if not is_stand_in(name) and (above, name) not in self._folders:
                secret = self._folders[above, name] = self._new(name, "folder")
                # Claude Code calls its folder for /srv/acme/web "-srv-acme-web".
                before = re.escape(above).replace("/", "[/-]")
                self._find_everywhere(rf"(?<={before}[/-]){re.escape(name)}(?!\w)", (name,), secret)

    def learn_environment(self, environ: Mapping[str, str], host: str, full_names: Iterable[str] = ()) -> None:
        """Record the user, the host, and the secrets in the environment."""
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
        """Record secrets within a value, such as the password in a database URL."""
        for find in find_secrets(value):
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

    def known(self, text: str) -> Iterator[tuple[int, int, Secret]]:
        if not any(map(text.__contains__, self._signs)):
            return
        if self._pattern is None:
            # Longest first, because one secret may be the beginning of another.
            in_order = sorted(self._everywhere.items(), key=lambda item: -len(item[1].text))
            self._in_order = [secret for _, secret in in_order]
            self._pattern = re.compile("|".join(f"({pattern})" for pattern, _ in in_order) or r"(?!)")
        secrets = self._in_order
        for found in self._pattern.finditer(text):
            assert found.lastindex is not None
            yield *found.span(), secrets[found.lastindex - 1]

    def begun(self, text: str) -> Iterator[tuple[int, int, Secret]]:
        """Find known secrets that the end of the text cuts off."""
        for start, end, secret in self._beginnings.at_end(text):
            own = self.secrets.get(text[start:end])
            if own is None or own.kind not in FROM_OUTSIDE:
                yield start, end, secret

    def known_over_lines(self, text: str) -> Iterator[tuple[int, int, Secret]]:
        """Like `known` and `begun`, for a text joined without line breaks.

        Excludes names, because words have merged.
        """
        for start, end, secret in (*self.begun(text), *self.known(text)):
            if secret.kind not in NAMES and end - start >= MIN_BROKEN:
                yield start, end, secret

    def replaced(self) -> Iterator[Secret]:
        return (secret for secret in (*self.secrets.values(), *self._folders.values()) if secret.count)


def _search(text: str, kind: str) -> tuple[str, tuple[str, ...]]:
    """The pattern that finds a secret, and strings of which every match contains one."""
    if kind not in NAMES:
        return re.escape(text), (text,)
    words = re.split(r"[\s._-]+", text) if kind != "host" else [text]
    longest = max(words, key=len)
    if kind == "full name":  # as written, and as in the name of a file or an account
        together = r"[\s._-]{0,2}".join(map(re.escape, words))
        return _WORD.format(f"(?i:{together})"), (longest, longest.lower(), longest.upper())
    if kind == "user":  # also as at the beginning of a sentence, and in capitals
        together = r"[._-]".join(map(re.escape, words))
        cases = (longest, longest.lower(), longest.upper(), longest.capitalize())
        return _WORD.format(f"(?i:{together})"), cases
    return _WORD.format(re.escape(text)), (longest,)


MIN_BEGUN: Final = 4
"""A shorter beginning could belong to anything."""
MAX_BEGUN: Final = 2_000
"""A longer beginning isn't searched."""
MIN_CUT: Final = 8
"""A shorter beginning of an unknown key is hardly more than the prefix of its kind."""
MAX_CLOSING: Final = 40
_CLOSING: Final = " \t\r\n\"'`.,;:!?)]}>…*_"
"""Characters that may follow a cut: a fence, a quote, or an ellipsis."""
_WORDS: Final = ("host", "folder")
"""These begin like words: "build" is rarely cut from "buildbox9"."""
_LAST_WORD: Final = re.compile(r"[\w.~+/=-]*")
_GOING_ON: Final = "0" * 64
_AWS: Final = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(AWS_IDS)})[A-Z0-9]{{4,15}}\Z")
"""These keys have a fixed length."""


class SecretPrefixes:
    def __init__(self) -> None:
        self._secrets: defaultdict[str, list[Secret]] = defaultdict(list)
        """By their first letters. None begins with another of its kind."""
        self._pattern: re.Pattern[str] | None = None
        """Finds these letters."""
        self._longest = 0

    def add(self, secret: Secret) -> None:
        """Search for the beginnings of this secret too."""
        if len(secret.text) <= MIN_BEGUN or secret.kind in _WORDS:
            return
        first = secret.text[:MIN_BEGUN]
        if first not in self._secrets:
            self._pattern = None
        if any(_begins(each, secret) for each in self._secrets[first]):
            return
        self._secrets[first] = [*(each for each in self._secrets[first] if not _begins(secret, each)), secret]
        self._longest = max(self._longest, min(len(secret.text), MAX_BEGUN))

    def at_end(self, text: str) -> Iterator[tuple[int, int, Secret]]:
        """Find secrets that continue after the end of the text."""
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
    # A shorter part may be another name or a word.
    return start > 0 and not text[start - 1].isalnum() and 2 * (end - start) > len(secret.text)


def cut_keys(text: str) -> Iterator[tuple[int, int, str]]:
    """Find keys cut off by the end of the text, and their kinds."""
    for end in _ends(text):
        # Read backward: searching for the beginning from each letter would take quadratic time.
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
    """Where a text may have been cut: at its end, and before closing characters."""
    closing = text[-MAX_CLOSING:]
    before = len(text) - len(closing) + len(closing.rstrip(_CLOSING))
    return (len(text),) if before == len(text) else (len(text), before)
