"""A turn of a session: its IDs, the values for its steps, and the connection to the client. `playing` plays it."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import anyio

from acp_tui.demo.client_calls import ClientCalls
from acp_tui.demo.script import Step, Wire
from acp_tui.demo.session import DemoSession
from acp_tui.rpc import RequestFailed
from acp_tui.values import dataclass

CHUNK_S: Final = 0.07
"""The time between two chunks, if the scenario has none."""
CHUNK_CHARS: Final = 20
CHUNKS_PER_FLUSH: Final = 64
PLACEHOLDER: Final = re.compile(r"{([^{}]+)}")
PROGRAMS: Final = Path(__file__).with_name("programs.py")

Ending: TypeAlias = str | RequestFailed | None
"""How a step ended the turn: a stop reason or an error; None if the turn continues."""
Outcome: TypeAlias = Ending | tuple[Step, ...]
"""The same, or the branch to play next."""


@dataclass(frozen=True, slots=True)
class DemoPace:
    """The speed of the agent: 2 is twice as fast as written, 0 has no delays."""

    speed: float = 0

    async def wait(self, seconds: float) -> None:
        await anyio.sleep(seconds / self.speed if self.speed else 0)


class DemoTurn:
    def __init__(
        self,
        session: DemoSession,
        client: ClientCalls,
        pace: DemoPace,
        text: str,
        texts: Mapping[str, str],
        request_id: Any = None,
    ) -> None:
        self.session = session
        self.client = client
        self.pace = pace
        self.request_id = request_id
        """The ID of the prompt request; None if it has been answered."""
        place = re.escape(session.cwd)
        self._whole_places = re.compile(f"{place}|(?:(?!{place})[\\s\\S]){{1,{CHUNK_CHARS}}}")
        """Splits streamed text. The folder stays in one chunk, so that the number of chunks doesn't depend on it."""
        self.scope = anyio.CancelScope()
        self.is_echoed = False
        self.deaf = False
        self.late: tuple[Step, ...] = ()
        self.spoken = 0
        """The number of updates sent. A subagent's reported tokens derive from it."""
        self._ids: dict[tuple[str, str], str] = {}
        self._values = dict(texts) | {
            "cwd": session.cwd,
            "text": text,
            "speed": "" if pace.speed == 1 else f"{pace.speed:g}",
            "python": "python3" if shutil.which("python3") else sys.executable,
            "programs": str(PROGRAMS),
        }

    def cancel(self) -> None:
        """Stop playing. A turn that hangs deaf continues."""
        if not self.deaf:
            self.scope.cancel()

    async def stream(self, update: Wire, text: str, repeat: int = 1, chunk_s: float = CHUNK_S) -> None:
        """Stream a text, a few characters at a time, each with this update."""
        chunks = self._whole_places.findall(text)
        for number, chunk in enumerate(chunks * repeat, 1):
            self.send({**update, "content": {"type": "text", "text": chunk}})
            if number % CHUNKS_PER_FLUSH == 0:
                await self.client.peer.flush()
            await self.pace.wait(chunk_s)

    def send(self, update: Wire) -> None:
        self.spoken += 1
        self.repeat(self.client.worded(self.session, update))

    def repeat(self, update: Wire) -> None:
        """Send a session update unchanged, such as one from the history."""
        self.session.remember(update)
        self.client.update(self.session.id, update)

    def of_subagent(self, session: DemoSession) -> DemoTurn:
        return DemoTurn(session, self.client, self.pace, self._values["text"], self._values)

    def say(self, text: str) -> None:
        """Send a short message in one chunk, unchanged."""
        self.send({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})

    def lack(self, what: str, so: str) -> None:
        """Say that the client lacks a capability that a step needs, and the consequence."""
        self.say(f"*The client doesn't support {what}, so {so}.*\n\n")

    def learn(self, values: Mapping[str, str]) -> None:
        self._values |= values

    def id_of(self, kind: str, name: str | None) -> str:
        """The ID for a name in the scenario: the same within a turn. Without a name, a new one."""
        if name is None:
            return self.session.next_id(kind)
        if (kind, name) not in self._ids:
            self._ids[kind, name] = self.session.next_id(kind)
        return self._ids[kind, name]

    def call_id(self, name: str | None) -> str:
        return self.id_of("call", name)

    def is_known(self, name: str | None) -> bool:
        return name is not None and ("call", name) in self._ids

    def tool_call(self, tool: Wire) -> dict[str, Any]:
        """A tool call in its wire format, with placeholders filled in, an ID, and absolute paths."""
        fields: dict[str, Any] = {"toolCallId": self.call_id(tool.get("id")), **self.fill(tool)}
        fields.pop("id", None)
        if "content" in fields:
            fields["content"] = [self._content(item) for item in fields["content"]]
        if "locations" in fields:
            fields["locations"] = [item | {"path": self.path(item["path"])} for item in fields["locations"]]
        return fields

    def _content(self, item: dict[str, Any]) -> dict[str, Any]:
        if item["type"] != "diff":
            return item
        path = self.path(item["path"])
        # A diff without an old text compares with what was read; if nothing was read, it's a new file.
        return {"oldText": self.session.files_read.get(path)} | item | {"path": path}

    def path(self, path: str) -> str:
        return str(Path(self.session.cwd) / path)

    def fill(self, value: Any) -> Any:
        """Replace `{cwd}`, `{text}`, and other placeholders in every text. Replacements aren't expanded again."""
        if isinstance(value, str):
            return PLACEHOLDER.sub(lambda found: self._values.get(found[1], found[0]), value)
        if isinstance(value, Mapping):
            return {key: self.fill(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.fill(item) for item in value]
        return value
