"""Recorded names and those of the client at hand: its sessions, terminals, requests and folder; it sends nothing."""

from __future__ import annotations

import json
import re
from typing import Any, Final

NAMED: Final = ("sessionId", "terminalId", "requestId")
"""The keys of which the values are names."""


class Mapping:
    """Which live name stands for which recorded one."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, type, Any], Any] = {}
        self._folders: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def learn(self, recorded: Any, live: Any) -> None:
        """Take note of what two messages of the same kind call things."""
        for key in NAMED:
            self.learn_name(key, _at(recorded, key), _at(live, key))
        before, now = _at(recorded, "cwd"), _at(live, "cwd")
        if isinstance(before, str) and isinstance(now, str) and before != now and before.strip("/"):
            self._folders[before.rstrip("/")] = now.rstrip("/")
            longest_first = sorted(map(re.escape, self._folders), key=len, reverse=True)
            self._pattern = re.compile(rf"(?:{'|'.join(longest_first)})(?![\w-])")

    def learn_name(self, key: str, recorded: Any, live: Any) -> None:
        """Take note of one name."""
        if isinstance(recorded, str | int | float) and live is not None and recorded != live:
            self._names[key, type(recorded), recorded] = live

    def name(self, key: str, recorded: Any) -> Any:
        """The live name."""
        return self._names.get((key, type(recorded), recorded), recorded)

    def frame(self, data: bytes, request_id: Any = None) -> bytes:
        """A recorded frame in live names, and with another id where one is given; to the byte where nothing changes."""
        if request_id is None and not self._names and self._pattern is None:
            return data
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return data
        mapped = self._mapped(value)
        if request_id is not None and isinstance(mapped, dict):
            mapped = {**mapped, "id": request_id}
        return data if _is_same(mapped, value) else json.dumps(mapped, separators=(",", ":")).encode()

    def _mapped(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._in_folder(value)
        if isinstance(value, list):
            return [self._mapped(item) for item in value]
        if isinstance(value, dict):
            return {key: self._named(key, item) for key, item in value.items()}
        return value

    def _named(self, key: str, item: Any) -> Any:
        if key in NAMED and isinstance(item, str | int | float):
            return self.name(key, item)
        return self._mapped(item)

    def _in_folder(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._folders[found[0]], text)


def _is_same(one: Any, other: Any) -> bool:
    return one == other and type(one) is type(other) and _id_type(one) is _id_type(other)


def _id_type(value: Any) -> type:
    return type(value.get("id")) if isinstance(value, dict) else type(value)


def _at(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None
