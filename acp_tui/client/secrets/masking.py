"""Removes secrets from what is kept, shown, or passed on. Doesn't affect what is sent to agents (R-MCP-3).

Secrets are found by their place (MCP servers, variables, headers, logins, answers to forms, keys with secret names) and
by their shape. From then on they are found wherever the value occurs, because agents echo what they're given. A masked
frame keeps its shape: texts become "***", numbers 0.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

from acp_tui.client.secrets import names
from acp_tui.client.secrets.heuristics import find_secrets, has_sign, is_login
from acp_tui.client.secrets.shapes import found_in, looks_random

MASK: Final = "***"
MIN_KNOWN: Final = 6
"""Shorter values occur in too many places where they aren't secrets."""
MIN_KNOWN_WORD: Final = 8
"""The same for values that may be words or numbers."""
MAX_KNOWN: Final = 1_000
MAX_DEPTH: Final = 200
"""The maximum depth of a message (rpc.messages). Deeper values aren't searched, so they aren't shown."""

_BEARER: Final = re.compile(r"\b(bearer|basic)(\s+)[\w.~+/=-]{8,}", re.IGNORECASE)
_ASSIGNED: Final = re.compile(rf"[=:](\s*\\?[\"']?)((?:{'|'.join(names.SCHEMES)})\s+)?([^\s\"',;&\\]+)", re.IGNORECASE)
_NAME_BACKWARDS: Final = re.compile(r"\s{0,4}[\"']?\\?([\w.-]+(?: [\w-]+)?)")
_USERINFO: Final = re.compile(r"(?<=://)[^/\s]+(?=@)")
# With \n as its newlines, as in the file of a service account.
_KEY_ON_ONE_LINE: Final = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----(?=\\)")
_KINDS: Final = ("key", "token", "password", "private key")
"""Kinds found by their shape. Redaction also handles user names."""
# If a frame contains none of these, nothing in it is masked because of its place. Letters may be written as escapes.
_PLACES: Final = (
    b"mcpServers",
    b'"env"',
    b'"headers"',
    b'"error"',
    b"authenticat",
    b"auth/login",
    b"auth/status",
    b'"accounts"',
    b'"terminal_',
    b"\\u",
)
_IDENTITY: Final = ("name", "email", "organization")
"""Whose account it is, which the draft of `auth/status` wants in no log. Its label says what kind it is."""
_OPEN_KEYS: Final = ("name", "type", "command", "serverId")
"""Open keys of an MCP server. Arguments and URL paths may contain tokens, so they are masked, too."""
_ORIGIN: Final = re.compile(r"https?://(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?(?=[/?#]|\Z)")
_KEY_LINE: Final = re.compile(
    r"^[^\S\n]*(?=\S*[A-Z])(?=\S*[a-z])(?=\S*[0-9])[A-Za-z0-9+/]{60,76}={0,2}[^\S\n]*$", re.MULTILINE
)
"""A line of a wrapped private key. In a log, the line before it, which says so, may be cut off.

It matches no newlines: each of a million would be read to the end of all.
"""
_COLOR: Final = re.compile(r"\x1b\[[0-9;]*m")


def mask(value: str) -> str:
    """The stand-in for a secret. An empty value isn't one, and it helps to see that it's empty."""
    return MASK if value else ""


def masked_text(text: str) -> str:
    return _changed(text, ((start, end, MASK) for start, end in _spans(text)))


def _changed(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    """The text with something else at these positions, which are in order."""
    pieces: list[str] = []
    at = 0
    for start, end, new in changes:
        pieces += text[at:start], new
        at = end
    return "".join(pieces) + text[at:] if pieces else text


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """The positions of what looks like a secret, from left to right, without overlaps."""
    if not has_sign(text):
        return
    found = [(find.start, find.end) for find in find_secrets(text) if find.kind in _KINDS]
    found += ((each.end(1) + len(each[2]), each.end()) for each in found_in(_BEARER, text))
    found += _keys_on_one_line(text)
    begin, at = 0, 0
    for start, end in (*sorted(found), (len(text) + 1, 0)):
        if start > at:  # the previous ones overlapped or were adjacent
            if at > begin and text[begin:at] != MASK:
                yield begin, at
            begin = start
        at = max(at, end) if start <= at else end


def _keys_on_one_line(text: str) -> Iterator[tuple[int, int]]:
    for begin in found_in(_KEY_ON_ONE_LINE, text):
        end = text.find("-----END", begin.end())
        yield begin.end(), len(text) if end < 0 else end


class Masker:
    """Masks one connection's frames and lines, and remembers the secrets it has seen."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        """`environ` is the agent's environment, whose secrets must not reappear."""
        self._known: set[str] = set()
        # Searched one at a time: a pattern of all of them is ten times slower and blocks all threads.
        self._forms: list[str] = []
        """The forms in which known secrets may occur in a text, longest first."""
        self._bytes: list[bytes] = []
        """The same as bytes."""
        self.learn(environ or {})

    def learn(self, environ: Mapping[str, str]) -> None:
        """Remember the secrets among these variables."""
        for name, value in environ.items():
            if names.is_secret_name(name):
                self._learn(value)
            else:  # for example, the password in the address of a database
                for start, end in _spans(value):
                    self._learn(value[start:end])

    def is_suspect(self, frame: bytes) -> bool:
        if any(place in frame for place in _PLACES) or any(known in frame for known in self._bytes):
            return True
        return has_sign(frame.decode("utf-8", "replace"))

    def is_suspect_text(self, text: str) -> bool:
        """The same for a text that is known not to be in a suspect place."""
        return any(form in text for form in self._forms) or has_sign(text)

    # Messages

    def message(self, value: Any, *, is_answer_to_form: bool = False) -> Any:
        """A decoded frame without its secrets; the same object if there are none."""
        if is_answer_to_form and isinstance(value, dict) and isinstance(value.get("result"), dict):
            content = self._hidden(value["result"].get("content"))
            value = {**value, "result": {**value["result"], "content": content}}
        if isinstance(value, dict) and value.get("method") in ("authenticate", "auth/login"):
            params = value.get("params")
            if isinstance(params, dict):
                hidden = {key: self._hidden(item, learns=True) for key, item in params.items()}
                value = {**value, "params": {**hidden, "methodId": params.get("methodId")}}
        return self._searched(self._terminal(self._nameless(value)), 0)

    def _nameless(self, value: Any) -> Any:
        """The message without whose accounts the agent has."""
        match value:
            case {"method": "auth/status_update" | "_auth/status_update", "params": told}:
                return {**value, "params": self._without_names(told)}
            case {"result": {"state": str(), "accounts": list()} as told}:
                return {**value, "result": self._without_names(told)}
        return value

    def _without_names(self, told: Any) -> Any:
        if isinstance(told, list):
            return [self._without_names(item) for item in told]
        if not isinstance(told, dict):
            return told
        return {
            key: self._hidden(item) if key in _IDENTITY else self._without_names(item) for key, item in told.items()
        }

    def _terminal(self, value: Any) -> Any:
        """The message with a terminal's bytes masked, which agents report in base64."""
        match value:
            case {"params": {"update": {"sessionUpdate": "terminal_output_chunk", "data": str(data)} as update}}:
                update = {**update, "data": self._base64(data)}
            case {"params": {"update": {"sessionUpdate": "terminal_update", "output": {"data": str(data)}} as update}}:
                update = {**update, "output": {**update["output"], "data": self._base64(data)}}
            case _:
                return value
        return {**value, "params": {**value["params"], "update": update}}

    def _base64(self, data: str) -> str:
        try:
            printed = b64decode(data)
        except ValueError:
            return data
        masked = self.output(printed)
        return data if masked == printed else b64encode(masked).decode()

    def _searched(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if depth > MAX_DEPTH:
            return MASK
        if isinstance(value, list):
            return [
                self._hidden(item, learns=True)
                if at and isinstance(item, str) and _is_option(value[at - 1]) and not item.startswith("--")
                else self._searched(item, depth + 1)
                for at, item in enumerate(value)
            ]
        if not isinstance(value, dict):
            return value
        names_a_secret = names.is_secret_name(value.get("name"))
        return {
            self.text(key): self._field(key, item, depth, names_a_secret and key == "value")
            for key, item in value.items()
        }

    def _field(self, key: str, item: Any, depth: int, is_secret: bool) -> Any:
        if key == "mcpServers":
            self._learn_servers(item)
            return self._servers(item)
        if key in ("env", "headers"):
            return self._pairs(item)
        if key == "error":
            return self.log(self._searched(item, depth + 1))
        if key == "auth" and isinstance(item, str) and is_login(item):
            return self._hidden(item, learns=True)
        is_number = isinstance(item, int | float) and not isinstance(item, bool)
        if is_secret or (names.is_secret_name(key) and not (is_number and names.counts_tokens(key))):
            return self._hidden(item, learns=True)
        return self._searched(item, depth + 1)

    def _pairs(self, pairs: Any) -> Any:
        """A map by name, a list of names with values, or a list of "NAME=value"."""
        if isinstance(pairs, dict):
            return {name: self._hidden(value, learns=names.is_secret_name(name)) for name, value in pairs.items()}
        if not isinstance(pairs, list):
            return self._hidden(pairs)
        return [self._pair(pair) for pair in pairs]

    def _pair(self, pair: Any) -> Any:
        if isinstance(pair, str) and "=" in pair:
            name, _, value = pair.partition("=")
            if names.is_secret_name(name):
                self._learn(value)
            return f"{name}={mask(value)}"
        if isinstance(pair, dict):
            learns = names.is_secret_name(pair.get("name"))
            return {
                key: value if key == "name" and isinstance(value, str) else self._hidden(value, learns=learns)
                for key, value in pair.items()
            }
        return self._hidden(pair)

    def _hidden(self, value: Any, *, learns: bool = False) -> Any:
        match value:
            case str():
                if learns or (" " not in value and "/" not in value and looks_random(value)):
                    self._learn(value)
                return mask(value)
            case bool() | None:
                return value
            case int() | float():
                return 0
            case list():
                return [self._hidden(item, learns=learns) for item in value]
            case dict():
                return {
                    key: self._hidden(item, learns=learns or names.is_secret_name(key)) for key, item in value.items()
                }
            case _:
                return MASK

    def _servers(self, servers: Any) -> Any:
        """The servers: a list on the wire, a map by name in files. Agents echo both."""
        if isinstance(servers, dict):
            return {name: self._server(server) for name, server in servers.items()}
        return list(map(self._server, servers)) if isinstance(servers, list) else self._hidden(servers)

    def _server(self, server: Any) -> Any:
        """Keep only what can't be a secret: name, type, command, the host of a URL, the names of variables."""
        if not isinstance(server, dict):
            return self._hidden(server)
        hidden = {}
        for key, item in server.items():
            if key in _OPEN_KEYS and isinstance(item, str):
                hidden[key] = item
            elif key in ("env", "headers"):
                hidden[key] = self._pairs(item)
            else:
                hidden[key] = _host_only(item) if key == "url" and isinstance(item, str) else self._hidden(item)
        return hidden

    def log(self, value: Any) -> Any:
        """A decoded value whose texts are treated like log lines. An error, for example, may contain what was sent."""
        return _each_text(value, self.line)

    # Texts

    def text(self, text: str) -> str:
        """A text without known secrets and what looks like one."""
        for form in self._forms:
            text = text.replace(form, MASK)
        return masked_text(text)

    def line(self, text: str) -> str:
        """A log line, in which anything after the name of a secret counts as one."""
        for pattern, by in ((_KEY_LINE, _mask), (_ASSIGNED, _masked_value), (_USERINFO, _mask)):
            text = _changed(text, ((*found.span(), by(found)) for found in found_in(pattern, text)))
        return self.text(text)

    def output(self, data: bytes) -> bytes:
        """A terminal's bytes.

        Each known secret becomes the same number of asterisks, so that nothing on its screen moves.
        """
        for form in self._bytes:
            data = data.replace(form, b"*" * len(form))
        text = data.decode("utf-8", "surrogateescape")
        spans = _spans(_COLOR.sub(lambda color: " " * len(color[0]), text))
        stars = ((start, end, re.sub(r"[^\x00-\x20]", "*", text[start:end])) for start, end in spans)
        return _changed(text, stars).encode("utf-8", "surrogateescape")

    def argv(self, argv: Iterable[str]) -> tuple[str, ...]:
        """A command line. What follows an option with a secret name is a secret."""
        kept: list[str] = []
        is_secret = False
        for word in argv:
            is_secret = is_secret and not word.startswith("--")
            kept.append(mask(word) if is_secret else self.line(word))
            if is_secret:
                self._learn(word)
            is_secret = _is_option(word)
        return tuple(kept)

    # Known secrets

    def _learn_servers(self, servers: Any) -> None:
        """Learn the values that are masked there, if they aren't ordinary words."""
        found = servers.values() if isinstance(servers, dict) else servers
        for server in found if isinstance(found, Iterable) and not isinstance(found, str) else ():
            if isinstance(server, dict):
                for key in ("env", "headers"):
                    self._pairs(server.get(key))
                self._hidden(server.get("args"))

    def _learn(self, value: str) -> None:
        secret = names.without_scheme(value)
        least = MIN_KNOWN if looks_random(secret, MIN_KNOWN) else MIN_KNOWN_WORD
        if len(secret) < least or secret in self._known or len(self._known) >= MAX_KNOWN:
            return
        self._known.add(secret)
        self._forms = sorted({*self._forms, *_forms(secret)}, key=len, reverse=True)
        self._bytes = [form.encode("utf-8", "replace") for form in self._forms]


def _mask(_: object) -> str:
    return MASK


def _masked_value(found: re.Match[str]) -> str:
    """Mask what is assigned to a secret's name, except token counts."""
    before = found.string[max(0, found.start() - names.MAX_NAME) : found.start()][::-1]
    name = _NAME_BACKWARDS.match(before)
    if name is None or not names.is_secret_name(name[1][::-1]):
        return found[0]
    if names.is_token_count(found.string, found.start() - name.start(1), found[3]):
        return found[0]
    return f"{found[0][: found.end(1) - found.start()]}{found[2] or ''}{MASK}"


def _is_option(word: object) -> bool:
    """Whether the next word in a command line is a secret."""
    return isinstance(word, str) and word.startswith("-") and "=" not in word and names.is_secret_name(word)


def _forms(secret: str) -> set[str]:
    """The value itself and its JSON and URL forms."""
    escaped = (json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
    return {secret, *escaped, quote(secret, safe="", errors="replace")}


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_each_text(item, change) for item in value]
    if isinstance(value, dict):
        return {key: _each_text(item, change) for key, item in value.items()}
    return value


def _host_only(url: str) -> str:
    origin = _ORIGIN.match(url)
    # With an @, it's unclear where a password ends and the host begins.
    return MASK if origin is None or "@" in url else f"{origin[0]}/{MASK}"
