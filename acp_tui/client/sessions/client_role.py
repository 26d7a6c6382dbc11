"""The client that an agent talks to: leads what it says and asks to the session, or the extension, that it is for."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Sequence
from typing import Any

from acp_tui.client.extensions import Extensions
from acp_tui.client.sessions.elicitations import Elicitations
from acp_tui.client.sessions.session import Session
from acp_tui.client.sessions.table import SessionTable
from acp_tui.conversation.content import Meta
from acp_tui.conversation.elicitation import Elicitation
from acp_tui.conversation.facts import PermissionOption, SessionId
from acp_tui.conversation.tool_calls import TerminalId, ToolCallPatch
from acp_tui.conversation.updates import SessionUpdate
from acp_tui.protocol import RESOURCE_NOT_FOUND
from acp_tui.protocol.roles import ElicitationAnswer, ExitStatus, TerminalSnapshot
from acp_tui.rpc import RequestFailed


class ClientRole:
    """Serves one agent (protocol.roles.ClientHandler)."""

    def __init__(
        self, table: SessionTable, log: deque[str], elicitations: Elicitations, extensions: Extensions
    ) -> None:
        """`elicitations` are those that belong to no session."""
        self._table = table
        self._log = log
        self._elicitations = elicitations
        self._extensions = extensions

    def on_update(self, session_id: SessionId, update: SessionUpdate) -> None:
        """Apply an update, or keep it until its session is known."""
        self._table.apply(session_id, update)

    def on_dropped(self, what: str, why: str, raw: bytes | None = None) -> None:
        """Keep in the log what could not be used."""
        text = "" if raw is None else ": " + raw[:500].decode("utf-8", "replace")
        self._log.append(f"[stdout] {what[:500]} ({why[:500]}){text}")

    def serve_extension(self, method: str, params: Any) -> Awaitable[Any]:
        """Pass the request to whoever registered for it."""
        return self._extensions.serve(method, params)

    def on_extension(self, method: str, params: Any) -> None:
        """Pass the notification to whoever registered for it."""
        self._extensions.tell(method, params)

    # Questions to the user

    def elicit(self, session_id: SessionId | None, elicitation: Elicitation) -> Awaitable[ElicitationAnswer]:
        """Pass the question to its session, or keep it beside the sessions."""
        if session_id is None:
            return self._elicitations.ask(elicitation)
        return self._session(session_id).elicit(elicitation)

    def on_elicitation_complete(self, elicitation_id: str) -> None:
        """The notification names no session: whoever knows the page takes note."""
        self._elicitations.complete(elicitation_id)
        for session in self._table.open.values():
            session.complete_elicitation(elicitation_id)

    def request_permission(
        self,
        session_id: SessionId,
        patch: ToolCallPatch,
        options: tuple[PermissionOption, ...],
        meta: Meta | None,
    ) -> Awaitable[str | None]:
        """Pass the question to its session."""
        return self._session(session_id).request_permission(patch, options, meta)

    # Files and terminals

    async def read_text_file(
        self, session_id: SessionId, path: str, line: int | None, limit: int | None
    ) -> str:
        """Serve a file of the session's workspace."""
        return await self._session(session_id).machine.read_text_file(path, line, limit)

    async def write_text_file(self, session_id: SessionId, path: str, content: str) -> None:
        """Write a file of the session's workspace."""
        await self._session(session_id).machine.write_text_file(path, content)

    async def create_terminal(
        self,
        session_id: SessionId,
        command: str,
        args: Sequence[str],
        env: Sequence[tuple[str, str]],
        cwd: str | None,
        output_limit_bytes: int | None,
    ) -> TerminalId:
        """Start a terminal of the session."""
        session = self._session(session_id)
        return await session.machine.create_terminal(command, args, env, cwd, output_limit_bytes)

    def terminal_output(self, session_id: SessionId, terminal_id: TerminalId) -> TerminalSnapshot:
        """What a terminal of the session printed."""
        return self._session(session_id).machine.terminal_output(terminal_id)

    async def wait_for_terminal_exit(self, session_id: SessionId, terminal_id: TerminalId) -> ExitStatus:
        """Wait for a terminal of the session."""
        return await self._session(session_id).machine.wait_for_terminal_exit(terminal_id)

    async def kill_terminal(self, session_id: SessionId, terminal_id: TerminalId) -> None:
        """Kill in a terminal of the session."""
        await self._session(session_id).machine.kill_terminal(terminal_id)

    async def release_terminal(self, session_id: SessionId, terminal_id: TerminalId) -> None:
        """Release a terminal of the session."""
        await self._session(session_id).machine.release_terminal(terminal_id)

    def _session(self, session_id: SessionId) -> Session:
        session = self._table.open.get(session_id)
        if session is None:
            raise RequestFailed(RESOURCE_NOT_FOUND, f"Unknown session: {session_id}")
        return session
