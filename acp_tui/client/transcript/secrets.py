"""Takes secrets out of what is written to a recording; what is sent is not its matter.

Secrets are found by where they stand (MCP servers, variables, headers, logins, answers to forms, keys that are called
like one) and from then on wherever their value stands, however it got there: agents echo what they were given. A
masked frame keeps its shape: texts become "***", numbers 0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from acp_tui.client.settings.masking import MASK, counts_tokens, is_token_count, mask, masked

MIN_KNOWN: Final = 8
"""A shorter value stands in too many places where it is no secret."""
MAX_KNOWN: Final = 1_000
MAX_DEPTH: Final = 200
"""As deep as a message may be (rpc.messages)."""

_WORDS = (
    r"token|secret|password|passwd|passphrase|api[-_]?key|private[-_]?key|access[-_]?key|credentials?"
    r"|authorization|cookie"
)
_NAME = re.compile(rf"(?:^|[-_.])(?:[a-z0-9]*?)(?:{_WORDS})$", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# What a token of a well-known service looks like, and what stands behind "Bearer".
_TOKEN = re.compile(
    r"(?<![\w-])(?:(?:sk|pk|rk|ghp|gho|ghu|ghs|github_pat|glpat|xox[abeprs]|hf|npm|pypi)[-_][\w-]{16,}"
    r"|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]+)"
)
_BEARER = re.compile(r"\b(bearer|basic)(\s+)[\w.~+/=-]{8,}", re.IGNORECASE)
# Not from the beginning of the name on: to look for that at every letter of a long word takes its length squared.
_ASSIGNED = re.compile(
    rf"({_WORDS})(\\?[\"']?\s*[=:]\s*\\?[\"']?)((?:bearer|basic)\s+)?([^\s\"',;&\\]+)",
    re.IGNORECASE,
)
_USERINFO = re.compile(r"(?<=://)[^/\s@]+@")
# Where none of these stands, a frame holds nothing to hide. A letter may be written as an escape.
_SUSPECT = re.compile(
    rb"mcpServers|\"env\"|\"headers\"|\"error\"|authenticat|token|secret|passw|passphrase|credential|authorization"
    rb"|api.?key|(?:private|access).?key|cookie|bearer|basic |\\u00|://[^/\s\"]*@"
    rb"|(?:sk|pk|rk)[-_]|gh[pous]_|github_pat|glpat|xox|hf_|npm_|pypi[-_]|AKIA|AIza|eyJ",
    re.IGNORECASE,
)


# Looked for first, in small letters: nearly all frames hold none of these, and the pattern takes ten times as long.
# fmt: off
_TOKEN_SIGNS: Final = (
    "bearer", "basic", "sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "gho_", "ghp_", "ghu_", "ghs_", "github_pat", "glpat",
    "xox", "hf_", "npm_", "pypi", "akia", "aiza", "eyj",
)
_NAME_SIGNS: Final = (
    "mcpserver", '"env"', '"headers"', '"error"', "authenticat", "authorization", "token", "secret", "passw", "passph",
    "credential", "cookie", "key", "\\u00", "://",
)
# fmt: on
_SIGNS: Final = tuple(sign.encode() for sign in (*_NAME_SIGNS, *_TOKEN_SIGNS))


def is_secret_name(name: object) -> bool:
    """Whether a key, a variable or a header of this name holds a secret."""
    return isinstance(name, str) and _NAME.search(_CAMEL.sub("_", name)) is not None


class Masker:
    """Masks one connection's frames and lines; it remembers the secrets that it has seen."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        """`environ` is what the agent runs with: what is secret there must not come back."""
        self._known: set[str] = set()
        # Looked for one by one: a pattern of all of them is ten times slower, and stops all threads meanwhile.
        self._forms: list[str] = []
        """How the known secrets may stand in a text, the longest first."""
        self._bytes: list[bytes] = []
        """The same in bytes."""
        for name, value in (environ or {}).items():
            if is_secret_name(name):
                self._learn(value)

    def is_suspect(self, frame: bytes) -> bool:
        """Whether a frame has to be looked at at all."""
        small = frame.lower()
        if any(map(small.__contains__, _SIGNS)) and _SUSPECT.search(frame) is not None:
            return True
        return any(map(frame.__contains__, self._bytes))

    def is_suspect_text(self, text: str) -> bool:
        """The same for a text of which it is known that it is not in a suspect place."""
        small = text.lower()
        return any(map(small.__contains__, _TOKEN_SIGNS)) or any(map(text.__contains__, self._forms))

    # Messages

    def message(self, value: Any, *, is_answer_to_form: bool = False) -> Any:
        """A decoded frame without its secrets; the same object where there are none."""
        if is_answer_to_form and isinstance(value, dict) and isinstance(value.get("result"), dict):
            content = self._hidden(value["result"].get("content"))
            value = {**value, "result": {**value["result"], "content": content}}
        if isinstance(value, dict) and value.get("method") == "authenticate":
            params = value.get("params")
            if isinstance(params, dict):
                kept = {"methodId": params.get("methodId")}
                value = {**value, "params": {**self._all(params), **kept}}
        return self._searched(value, 0)

    def _all(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return {key: self._hidden(item, learns=True) for key, item in params.items()}

    def _searched(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if depth > MAX_DEPTH:
            return MASK
        if isinstance(value, list):
            return [self._searched(item, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        names_a_secret = is_secret_name(value.get("name"))
        return {
            key: self._field(key, item, depth, names_a_secret and key == "value")
            for key, item in value.items()
        }

    def _field(self, key: str, item: Any, depth: int, is_secret: bool) -> Any:
        if key == "mcpServers":
            self._learn_servers(item)
            hidden = masked({"mcpServers": item})
            assert isinstance(hidden, dict)
            return _in_shape(item, hidden["mcpServers"])
        if key in ("env", "headers"):
            return self._pairs(item)
        if key == "error":
            return self.log(self._searched(item, depth + 1))
        if is_secret or (is_secret_name(key) and not (_is_number(item) and counts_tokens(key))):
            return self._hidden(item, learns=True)
        return self._searched(item, depth + 1)

    def _pairs(self, pairs: Any) -> Any:
        """A map by name, a list of names with values, or a list of "NAME=value"."""
        if isinstance(pairs, dict):
            return {name: self._hidden(value, learns=is_secret_name(name)) for name, value in pairs.items()}
        if not isinstance(pairs, list):
            return self._hidden(pairs)
        return [self._pair(pair) for pair in pairs]

    def _pair(self, pair: Any) -> Any:
        if isinstance(pair, str) and "=" in pair:
            name, _, value = pair.partition("=")
            if is_secret_name(name):
                self._learn(value)
            return f"{name}={mask(value)}"
        if isinstance(pair, dict):
            learns = is_secret_name(pair.get("name"))
            return {
                key: value if key == "name" else self._hidden(value, learns=learns)
                for key, value in pair.items()
            }
        return self._hidden(pair)

    def _hidden(self, value: Any, *, learns: bool = False) -> Any:
        """The same shape without its values."""
        match value:
            case str():
                if learns or _looks_random(value):
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
                    key: self._hidden(item, learns=learns or is_secret_name(key))
                    for key, item in value.items()
                }
            case _:
                return MASK

    def log(self, value: Any) -> Any:
        """A decoded value of which each text is as a line of a log; in an error, say, may stand what was sent."""
        return _each_text(value, self.line)

    # Texts

    def text(self, text: str) -> str:
        """A text without what is known to be secret, or can be nothing else."""
        for form in self._forms:
            text = text.replace(form, MASK)
        small = text.lower()
        if not any(map(small.__contains__, _TOKEN_SIGNS)):
            return text
        return _BEARER.sub(rf"\1\2{MASK}", _TOKEN.sub(MASK, text))

    def line(self, text: str) -> str:
        """A line of a log: there a secret often stands behind its name."""
        return self.text(_USERINFO.sub(f"{MASK}@", _ASSIGNED.sub(_masked_value, text)))

    def output(self, data: bytes) -> bytes:
        """Bytes of a terminal: known secrets become as many asterisks, so that nothing on its screen moves."""
        for form in self._bytes:
            data = data.replace(form, b"*" * len(form))
        return data

    def argv(self, argv: Iterable[str]) -> tuple[str, ...]:
        """A command line: what stands behind an option that is called like a secret is one."""
        kept: list[str] = []
        is_secret = False
        for word in argv:
            kept.append(mask(word) if is_secret else self.line(word))
            if is_secret:
                self._learn(word)
            is_secret = word.startswith("-") and "=" not in word and is_secret_name(word)
        return tuple(kept)

    # What it knows

    def _learn_servers(self, servers: Any) -> None:
        """The values that are masked there, as far as they can be told from ordinary words."""
        found = servers.values() if isinstance(servers, dict) else servers
        for server in found if isinstance(found, Iterable) and not isinstance(found, str) else ():
            if isinstance(server, dict):
                for key in ("env", "headers"):
                    self._pairs(server.get(key))
                self._hidden(server.get("args"))

    def _learn(self, value: str) -> None:
        scheme, _, token = value.partition(" ")
        secret = token.strip() if scheme.lower() in ("bearer", "basic") and token else value
        if len(secret) < MIN_KNOWN or secret in self._known or len(self._known) >= MAX_KNOWN:
            return
        self._known.add(secret)
        self._forms = sorted({*self._forms, *_forms(secret)}, key=len, reverse=True)
        self._bytes = [form.encode("utf-8", "replace") for form in self._forms]


def _masked_value(found: re.Match[str]) -> str:
    """What is assigned to a secret's name; how many tokens there were stays."""
    if is_token_count(found.string, found.end(1), found[4]):
        return found[0]
    return f"{found[1]}{found[2]}{found[3] or ''}{MASK}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _forms(secret: str) -> set[str]:
    """The value as it is, and as JSON has it, which may stand in a text itself."""
    return {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], secret}


def _looks_random(value: str) -> bool:
    """A long value without spaces and slashes, of letters and digits."""
    return (
        len(value) >= 16
        and re.fullmatch(r"[\w+=.~-]+", value) is not None
        and any(each.isdigit() for each in value)
        and any(each.isalpha() for each in value)
    )


def _in_shape(value: Any, hidden: Any) -> Any:
    """`hidden` where it has the type of `value`, else the shape of `value` without its contents."""
    if isinstance(value, dict) and isinstance(hidden, dict):
        return {key: _in_shape(item, hidden.get(key)) for key, item in value.items()}
    if isinstance(value, list) and isinstance(hidden, list):
        return [_in_shape(*pair) for pair in zip(value, hidden, strict=True)]
    if type(value) is type(hidden):
        return hidden
    return Masker()._hidden(value)


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_each_text(item, change) for item in value]
    if isinstance(value, dict):
        return {key: _each_text(item, change) for key, item in value.items()}
    return value
