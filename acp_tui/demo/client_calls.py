"""The agent's connection to its client: stdin and stdout as one stream, and one method per call."""

from __future__ import annotations

import os
import select
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import anyio
from anyio.abc import ByteStream

from acp_tui.demo.script import Wire
from acp_tui.demo.session import DemoSession
from acp_tui.rpc import Peer


class ClientCalls:
    """One connection, seen from the agent. Requests raise RequestFailed and ConnectionLost."""

    def __init__(self, peer: Peer, stream: ByteStream) -> None:
        self.peer = peer
        self._stream = stream
        self.learn({})

    def learn(self, capabilities: Any) -> None:
        """Record the client's capabilities from `initialize`. Missing or malformed ones count as not offered."""
        self.can_read = at(capabilities, "fs", "readTextFile") is True
        self.can_write = at(capabilities, "fs", "writeTextFile") is True
        self.can_run = at(capabilities, "terminal") is True
        self.can_log_in_in_terminal = at(capabilities, "auth", "terminal") is True
        self.takes_boolean_options = is_marked(capabilities, "session", "configOptions", "boolean")
        self.takes_notices = is_marked(capabilities, "session", "notices")
        self.takes_compaction = is_marked(capabilities, "session", "compaction")
        self.takes_subagents = is_marked(capabilities, "subagents")
        self.takes_forms = is_marked(capabilities, "elicitation", "form")
        self.takes_pages = is_marked(capabilities, "elicitation", "url")

    def worded(self, session: DemoSession, update: Wire) -> Wire:
        """Convert an update to the protocol version in use. Scenarios use version 1."""
        return update

    def update(self, session_id: str, update: Wire) -> None:
        self.peer.notify("session/update", {"sessionId": session_id, "update": update})

    async def send_raw(self, line: bytes) -> None:
        """Write a line of arbitrary bytes after what was sent before; for faults."""
        await self.peer.flush()
        await self._stream.send(line + b"\n")

    async def request_permission(self, session: DemoSession, tool_call: Wire, options: Sequence[Wire]) -> str | None:
        """Ask the user; return the ID of the chosen option, or None if the client says the turn was cancelled."""
        params = {"sessionId": session.id, "toolCall": tool_call, "options": options}
        answer: Any = await self.peer.request("session/request_permission", params)
        option_id = at(answer, "outcome", "optionId")
        return option_id if isinstance(option_id, str) else None

    async def elicit(self, session: DemoSession, question: Wire) -> tuple[str, dict[str, Any]]:
        """Ask the user; return accept, decline, or cancel, and the values of a form."""
        answer: Any = await self.peer.request("elicitation/create", question)
        content = at(answer, "content")
        return str(at(answer, "action")), content if isinstance(content, dict) else {}

    async def read_text_file(self, session: DemoSession, path: str, line: int | None, limit: int | None) -> str:
        params: dict[str, Any] = {"sessionId": session.id, "path": path}
        params |= {key: value for key, value in (("line", line), ("limit", limit)) if value is not None}
        answer: Any = await self.peer.request("fs/read_text_file", params)
        return str(at(answer, "content") or "")

    async def write_text_file(self, session: DemoSession, path: str, content: str) -> None:
        await self.peer.request("fs/write_text_file", {"sessionId": session.id, "path": path, "content": content})

    async def create_terminal(
        self, session: DemoSession, argv: Sequence[str], env: Mapping[str, str], cwd: str, limit_bytes: int | None
    ) -> str:
        """Start a command; return the terminal's ID."""
        command, *args = argv
        params: dict[str, Any] = {"sessionId": session.id, "command": command, "args": args, "cwd": cwd}
        params["env"] = [{"name": name, "value": value} for name, value in env.items()]
        if limit_bytes is not None:
            params["outputByteLimit"] = limit_bytes
        return str(at(await self.peer.request("terminal/create", params), "terminalId"))

    async def wait_for_terminal_exit(self, session: DemoSession, terminal_id: str) -> int | None:
        """Wait for the exit code; None if a signal ended the command."""
        exit_code = at(await self._terminal("wait_for_exit", session, terminal_id), "exitCode")
        return exit_code if isinstance(exit_code, int) else None

    async def terminal_output(self, session: DemoSession, terminal_id: str) -> str:
        return str(at(await self._terminal("output", session, terminal_id), "output") or "")

    async def kill_terminal(self, session: DemoSession, terminal_id: str) -> None:
        await self._terminal("kill", session, terminal_id)

    async def release_terminal(self, session: DemoSession, terminal_id: str) -> None:
        await self._terminal("release", session, terminal_id)

    async def _terminal(self, verb: str, session: DemoSession, terminal_id: str) -> Any:
        return await self.peer.request(f"terminal/{verb}", {"sessionId": session.id, "terminalId": terminal_id})


def at(value: Any, *keys: str) -> Any:
    """The value at a path of keys; None if a key is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def is_marked(value: Any, *keys: str) -> bool:
    return isinstance(at(value, *keys), dict)


STDIN_FD = 0
STDOUT_FD = 1


class StdioStream(ByteStream):
    """Reads from stdin and writes to stdout, without a thread."""

    def __init__(self) -> None:
        self._sending = anyio.Lock()

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """Return the next bytes. Raises EndOfStream if the parent closed its end."""
        await _ready(anyio.wait_readable, STDIN_FD)
        data = os.read(STDIN_FD, max_bytes)
        if not data:
            raise anyio.EndOfStream
        return data

    async def send(self, item: bytes) -> None:
        """Write all of `item`. Concurrent sends never interleave. Raises BrokenResourceError if nothing reads."""
        rest = memoryview(item)
        async with self._sending:
            while rest:
                await _ready(anyio.wait_writable, STDOUT_FD)
                try:
                    # A writable pipe accepts this much without blocking, and guarantees no more.
                    written = os.write(STDOUT_FD, rest[: select.PIPE_BUF])
                except BrokenPipeError as error:
                    raise anyio.BrokenResourceError from error
                rest = rest[written:]

    async def send_eof(self) -> None:
        os.close(STDOUT_FD)

    async def aclose(self) -> None:
        """Do nothing: the descriptors belong to the process."""


async def _ready(wait: Callable[[int], Awaitable[None]], fd: int) -> None:
    try:
        await wait(fd)
    except PermissionError:
        # epoll refuses plain files and /dev/null, which are always ready.
        await anyio.sleep(0)
