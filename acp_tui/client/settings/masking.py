"""Takes secrets out of frames that are logged or recorded (R-MCP-3); the frames that are sent are not its matter.

Of an MCP server only what cannot be a secret stays: its name, type and command, the host of its url, the names of
its variables and headers. Tokens are also passed as arguments and in the paths of urls, so these go as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

MASK: Final = "***"

_OPEN_KEYS: Final = ("name", "type", "command")
_ORIGIN: Final = re.compile(r"https?://(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?(?=[/?#]|\Z)")
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
# fmt: off
_COUNTING: Final = {
    "budget", "cache", "cached", "completion", "context", "count", "input", "left", "limit", "max", "min", "num",
    "output", "per", "prompt", "reasoning", "remaining", "thought", "thoughts", "total", "usage", "used",
}
# fmt: on
_NAME_BEFORE: Final = re.compile(r"[\w-]*\Z")
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?[\])}.]*")
"""What may stand behind it is no part of it."""
MOST_NAME: Final = 60
# Nothing that we send is nested so deep. Beyond it no frame is searched, and what is not searched is not shown.
_MAX_DEPTH: Final = 100


def mask(value: str) -> str:
    """The stand-in for a secret; an empty value is none, and seeing that it is empty helps."""
    return MASK if value else ""


def counts_tokens(name: object) -> bool:
    """Whether a number under this name says how many tokens of a model there were, and so is no secret."""
    if not isinstance(name, str):
        return False
    words = {word.lower() for word in _WORD.findall(name)}
    return "tokens" in words or ("token" in words and not words.isdisjoint(_COUNTING))


def is_token_count(text: str, name_end: int, value: str) -> bool:
    """The same for a name that ends there in a text, as far as the value behind it is a number."""
    if _NUMBER.fullmatch(value) is None:
        return False
    name = _NAME_BEFORE.search(text[max(0, name_end - MOST_NAME) : name_end])
    return name is not None and counts_tokens(name[0])


def masked(frame: object) -> object:
    """A decoded frame with the secrets of all `mcpServers` masked, wherever they are: agents echo what they reject.

    The frame itself is not changed.
    """
    return _searched(frame, 0)


def _searched(value: object, depth: int) -> object:
    if depth > _MAX_DEPTH:
        return MASK
    if isinstance(value, list):
        return [_searched(item, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _each(_server, item) if key == "mcpServers" else _searched(item, depth + 1)
        for key, item in value.items()
    }


def _each(hide: Callable[[object], object], items: object) -> object:
    """On the wire it is a list, in files a map by name; both are echoed."""
    if isinstance(items, list):
        return [hide(item) for item in items]
    if isinstance(items, dict):
        return {key: hide(item) for key, item in items.items()}
    return _hidden(items)


def _server(server: object) -> object:
    if not isinstance(server, dict):
        return _hidden(server)
    return {key: _server_field(key, value) for key, value in server.items()}


def _server_field(key: str, value: object) -> object:
    if key in _OPEN_KEYS and isinstance(value, str):
        return value
    if key in ("env", "headers"):
        return _each(_pair, value)
    if key == "args":
        return _each(_hidden, value)
    if key == "url" and isinstance(value, str):
        return _host_only(value)
    return _hidden(value)


def _pair(pair: object) -> object:
    if not isinstance(pair, dict):
        return _hidden(pair)
    return {
        key: value if key == "name" and isinstance(value, str) else _hidden(value)
        for key, value in pair.items()
    }


def _host_only(url: str) -> str:
    origin = _ORIGIN.match(url)
    # With an @ it is uncertain where a password ends and the host begins.
    return MASK if origin is None or "@" in url else f"{origin[0]}/{MASK}"


def _hidden(value: object) -> object:
    if value is None:
        return None
    return mask(value) if isinstance(value, str) else MASK
