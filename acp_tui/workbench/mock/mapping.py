"""Recorded names and those of the client at hand: its sessions, terminals, requests and folder; it sends nothing."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from acp_tui.rpc import RequestId

NAMED: Final = ("sessionId", "terminalId", "requestId")
"""The keys of which the values are names."""
ESCAPES: Final = (rb"\/", rb"\u")
"""By which a name may be hidden."""


class Mapping:
    """Which live name stands for which recorded one."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, type, Any], Any] = {}
        self._folders: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None
        self._traces: set[bytes] = set()
        """One of these is in every frame that holds something to be mapped."""

    def learn(self, recorded: Any, live: Any) -> None:
        """Take note of what two messages of the same kind call things."""
        for key in NAMED:
            self.learn_name(key, _at(recorded, key), _at(live, key))
        before, now = _at(recorded, "cwd"), _at(live, "cwd")
        if isinstance(before, str) and isinstance(now, str) and before != now and before.strip("/"):
            self._folders[before.rstrip("/")] = now.rstrip("/")
            longest_first = sorted(map(re.escape, self._folders), key=len, reverse=True)
            self._pattern = re.compile(rf"(?<![\w.~-])(?:{'|'.join(longest_first)})(?![\w-]|\.\w)")
            self._traces |= {_trace(before.rstrip("/")), *ESCAPES}

    def learn_name(self, key: str, recorded: Any, live: Any) -> None:
        """Take note of one name."""
        if isinstance(recorded, str | int | float) and live is not None and recorded != live:
            self._names[key, type(recorded), recorded] = live
            # A number of a request may stand anywhere.
            self._traces |= {_trace(recorded) if isinstance(recorded, str) else key.encode(), *ESCAPES}

    def name(self, key: str, recorded: Any) -> Any:
        """The live name."""
        return self._names.get((key, type(recorded), recorded), recorded)

    def frame(self, data: bytes) -> bytes:
        """A recorded frame in live names; to the byte where nothing changes."""
        if not any(trace in data for trace in self._traces):
            return data
        value = _read(data)
        mapped = self._mapped(value)
        return data if _is_same(mapped, value) else _write(mapped)

    def response(self, data: bytes, request_id: RequestId) -> bytes:
        """A recorded response, to a request that has another id now."""
        value = _read(data)
        mapped = {**self._mapped(value), "id": request_id}
        return data if _is_same(mapped, value) else _write(mapped)

    def _mapped(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._in_folder(value)
        if isinstance(value, list):
            return [self._mapped(item) for item in value]
        if isinstance(value, dict):
            return {self._in_folder(key): self._named(key, item) for key, item in value.items()}
        return value

    def _named(self, key: str, item: Any) -> Any:
        if key in NAMED and isinstance(item, str | int | float):
            return self.name(key, item)
        return self._mapped(item)

    def _in_folder(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._folders[found[0]], text)


def _read(data: bytes) -> Any:
    """What it says, as leniently as messages are read; None for what says nothing."""
    try:
        return json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None


def _write(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _trace(name: str) -> bytes:
    return json.dumps(name, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")


def _is_same(one: Any, other: Any) -> bool:
    return one == other and type(one) is type(other) and _id_type(one) is _id_type(other)


def _id_type(value: Any) -> type:
    return type(value.get("id")) if isinstance(value, dict) else type(value)


def _at(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None
