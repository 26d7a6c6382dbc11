"""One turn as far as it has come: its session, client and ids, and what its steps are made of. `playing` plays it."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import anyio

from acp_tui.rpc import RequestFailed
from acp_tui.values import dataclass
from acp_tui.workbench.demo import script
from acp_tui.workbench.demo.client_calls import ClientCalls
from acp_tui.workbench.demo.session import Session

CHUNK_CHARS: Final = 20
CHUNKS_PER_FLUSH: Final = 64
PLACEHOLDER: Final = re.compile(r"{([^{}]+)}")
PROGRAMS: Final = Path(__file__).with_name("programs.py")

Ending: TypeAlias = str | RequestFailed | None
"""How a step ended the turn: a stop reason or an error; None where the turn goes on."""
Outcome: TypeAlias = Ending | tuple[script.Step, ...]
"""The same, or the branch that is to be played next."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast the agent plays: 2 is twice as fast as written, 0 knows no delays."""

    speed: float = 0

    async def wait(self, seconds: float) -> None:
        """Let the written time pass."""
        await anyio.sleep(seconds / self.speed if self.speed else 0)


class Turn:
    """One prompt and the answer to it."""

    def __init__(
        self,
        session: Session,
        client: ClientCalls,
        pace: Pace,
        text: str,
        texts: Mapping[str, str],
        request_id: Any = None,
    ) -> None:
        self.session = session
        self.client = client
        self.pace = pace
        self.request_id = request_id
        """The prompt's, as the client gave it; None where it has its answer."""
        place = re.escape(session.cwd)
        self._whole_places = re.compile(f"{place}|(?:(?!{place})[\\s\\S]){{1,{CHUNK_CHARS}}}")
        """Cuts what is streamed; the folder stays in one piece, so that there are as many of them in any folder."""
        self.scope = anyio.CancelScope()
        self.is_echoed = False
        """The client was told what the user says."""
        self.deaf = False
        self.late: tuple[script.Step, ...] = ()
        self._ids: dict[tuple[str, str], str] = {}
        self._values = dict(texts) | {
            "cwd": session.cwd,
            "text": text,
            "speed": f"{pace.speed:g}",
            "python": "python3" if shutil.which("python3") else sys.executable,
            "programs": str(PROGRAMS),
        }

    def cancel(self) -> None:
        """Stop playing; a turn that plays deaf goes on."""
        if not self.deaf:
            self.scope.cancel()

    async def stream(self, step: script.Say) -> None:
        """Send what is said, a few characters at a time."""
        update: dict[str, Any] = {"sessionUpdate": step.update}
        if step.id is not None:
            update["messageId"] = self.id_of("message", step.id)
        await self.stream_text(update, self.fill(step.text), step.repeat, step.chunk_s)

    async def stream_text(self, update: script.Wire, text: str, repeat: int, chunk_s: float) -> None:
        """Send a text in chunks of this update."""
        chunks = self._whole_places.findall(text)
        for number, chunk in enumerate(chunks * repeat, 1):
            self.send({**update, "content": {"type": "text", "text": chunk}})
            if number % CHUNKS_PER_FLUSH == 0:
                await self.client.flush()
            await self.pace.wait(chunk_s)

    def send(self, update: script.Wire) -> None:
        """Send a session update."""
        self.repeat(self.client.worded(self.session, update))

    def repeat(self, update: script.Wire) -> None:
        """Send a session update as it is, as when it was remembered."""
        self.session.remember(update)
        self.client.update(self.session.id, update)

    def say(self, text: str) -> None:
        """Send a short message in one piece, as it is."""
        self.send({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})

    def lack(self, what: str, so: str) -> None:
        """Say that the client does not offer what a step needs, and what comes of it."""
        self.say(f"*The client offers no {what}, so {so}.*\n\n")

    def learn(self, values: Mapping[str, str]) -> None:
        """Fill in `{name}` with these, too, from now on."""
        self._values |= values

    def id_of(self, kind: str, name: str | None) -> str:
        """The id behind a scenario's name: the same within the turn, a fresh one in the next and for no name."""
        if name is None:
            return self.session.next_id(kind)
        if (kind, name) not in self._ids:
            self._ids[kind, name] = self.session.next_id(kind)
        return self._ids[kind, name]

    def call_id(self, name: str | None) -> str:
        """The id of a tool call."""
        return self.id_of("call", name)

    def is_known(self, name: str | None) -> bool:
        """Whether this turn has mentioned the tool call before."""
        return name is not None and ("call", name) in self._ids

    def tool_call(self, patch: script.ToolPatch) -> dict[str, Any]:
        """A patch as it goes on the wire: filled in, with its id and absolute paths."""
        fields: dict[str, Any] = {"toolCallId": self.call_id(patch.id)} | self.fill(patch.fields)
        if "content" in fields:
            fields["content"] = [self._content(item) for item in fields["content"]]
        if "locations" in fields:
            fields["locations"] = [item | {"path": self.path(item["path"])} for item in fields["locations"]]
        return fields

    def _content(self, item: dict[str, Any]) -> dict[str, Any]:
        if item["type"] != "diff":
            return item
        path = self.path(item["path"])
        # A diff that names no old text is against what was read; without that it is a new file.
        return {"oldText": self.session.files_read.get(path)} | item | {"path": path}

    def path(self, path: str) -> str:
        """A path of the session's, absolute."""
        return str(Path(self.session.cwd) / path)

    def fill(self, value: Any) -> Any:
        """A value with `{cwd}`, `{text}` and the like replaced in every text; what they stand for is not looked at."""
        if isinstance(value, str):
            return PLACEHOLDER.sub(lambda found: self._values.get(found[1], found[0]), value)
        if isinstance(value, Mapping):
            return {key: self.fill(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.fill(item) for item in value]
        return value
