"""What `acp-tui exec --format ndjson` prints: the lines of an export as they change, and a result.

`acp-tui schema exec` prints their shape.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from acp_tui.cli import ExitCode
from acp_tui.cli.exec_output import OutputFormat, Streams
from acp_tui.client.errors import ClientError
from acp_tui.client.export.facts import ExportFacts
from acp_tui.client.export.jsonl import ChangedLines, ascii_line, header, plain, without_nulls
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.conversation import Change, Conversation
from acp_tui.rpc import Direction


class NdjsonOutput(OutputFormat):
    """Prints each change of the conversation as a line of JSON, in the shape of an export, and a result at the end."""

    def __init__(self, streams: Streams, agent: str, cwd: Path, *, is_raw: bool) -> None:
        """With `is_raw`, print each frame of the agent's, too, before what it changes."""
        super().__init__(streams)
        self._facts = ExportFacts(agent, str(cwd), "")
        self._is_raw = is_raw
        self._lines: ChangedLines | None = None
        self._error: dict[str, Any] | None = None

    def tap(self, direction: Direction, frame: bytes) -> None:
        if not self._is_raw or direction is not Direction.IN:
            return
        text = frame.decode("utf-8", "replace")
        try:
            self._print({"type": "frame", "frame": json.loads(text)})
        except ValueError:
            self._print({"type": "frame", "frame": text})

    def _print(self, value: dict[str, Any]) -> None:
        self._streams.out(f"{ascii_line(value)}\n")

    def begin(self, session: Session, agent: Agent) -> None:
        version = agent.identity.version if agent.identity is not None else None
        self._facts = ExportFacts(
            agent.title, str(session.cwd), session.session_id, version, sandbox=agent.sandbox_name
        )
        self._print(header(self._facts, session.conversation.title))
        self._lines = ChangedLines(session.conversation)

    def change(self, conversation: Conversation, change: Change) -> None:
        assert self._lines is not None
        for line in self._lines.of(change):
            self._streams.out(f"{line}\n")

    def fail(self, error: ClientError) -> None:
        super().fail(error)
        told = {"kind": type(error).__name__, "message": str(error), "detail": error.detail or None, "said": error.said}
        self._error = without_nulls(told)

    def finish(self, session: Session | None, code: ExitCode) -> None:
        if self._lines is None:
            self._print(header(self._facts))
        result: dict[str, Any] = {"exit_code": int(code), "error": self._error}
        if session is not None:
            said = session.conversation
            result["stop_reason"], result["turn"] = said.last_stop_reason, said.turns[-1] if said.turns else None
            result["usage"], result["tokens"] = said.usage, said.spent
        self._print({"type": "result", **plain(without_nulls(result))})
