"""One session with an agent: its conversation, its prompt, and what the agent may ask of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from acp_tui.client.errors import AgentLost, ClientError, PromptInProgress
from acp_tui.client.permissions import PermissionBroker
from acp_tui.client.sessions.refusals import as_refusal
from acp_tui.conversation import reducer
from acp_tui.conversation.content import ContentBlock, Meta
from acp_tui.conversation.conversation import Change, Conversation
from acp_tui.conversation.facts import PermissionOption, PermissionRequest, RequestKey, SessionId, Turn
from acp_tui.conversation.tool_calls import TerminalId, ToolCallPatch
from acp_tui.conversation.updates import (
    CancelRequested,
    PermissionAnswered,
    PermissionAsked,
    PromptSent,
    SessionUpdate,
    TerminalExited,
    TerminalOpened,
    TerminalOutput,
    TurnEnded,
    TurnFailed,
)
from acp_tui.protocol.errors import MalformedMessage
from acp_tui.protocol.handler import ExitStatus, TerminalSnapshot
from acp_tui.rpc import RpcError

if TYPE_CHECKING:
    # Loaded when an agent first touches a file or a terminal.
    from acp_tui.client.agents.quirks import Quirks
    from acp_tui.client.terminals import Terminals
    from acp_tui.client.workspace import Workspace
    from acp_tui.protocol.v1.connection import Connection

T = TypeVar("T")

Listener = Callable[[Change], None]
"""Called on the client's loop after each change; it may only mark what to draw."""

Explain = Callable[[RpcError | MalformedMessage], Awaitable[ClientError]]
"""Turns an error of the connection into one that a user understands."""


class Session:
    """A conversation and the ways to act on it. Reads are free; `apply` is for the connection and the replay."""

    def __init__(
        self,
        session_id: SessionId,
        cwd: Path,
        connection: Connection,
        quirks: Quirks,
        explain: Explain,
        listener: Listener | None = None,
    ) -> None:
        self.session_id = session_id
        self.cwd = cwd
        self.conversation = Conversation()
        self.listener = listener
        self.terminal_size = (120, 30)
        """Columns and rows of the terminals that are opened from now on."""
        self._connection = connection
        self._quirks = quirks
        self._explain = explain
        self._permissions = PermissionBroker()
        self._workspace: Workspace | None = None
        self._terminals: Terminals | None = None

    def apply(self, update: SessionUpdate) -> None:
        """Change the conversation and tell the listener."""
        change = reducer.apply(self.conversation, update)
        if self.listener is not None:
            self.listener(change)

    # What the user does

    async def send_prompt(self, blocks: Sequence[ContentBlock]) -> None:
        """Run one turn; returns when it is over, however it ended: the conversation says how.

        Raises PromptInProgress; AgentRefused or AuthenticationRequired where the agent answered with an error;
        AgentLost where it is gone.
        """
        if not self.conversation.is_connected:
            raise AgentLost("the agent is gone", hint="start it again")
        if self.conversation.turn is not Turn.IDLE:
            raise PromptInProgress(
                "the agent is still working on the last prompt", hint="wait, or cancel the turn"
            )
        self.apply(PromptSent(tuple(blocks)))
        try:
            await self._connection.prompt(self.session_id, blocks, on_end=self._end_turn)
        except RpcError as error:
            raise await self._explain(error) from error

    def _end_turn(self, end: TurnEnded | TurnFailed) -> None:
        self._cancel_permissions()
        self.apply(end)

    def cancel(self) -> None:
        """Ask the agent to stop the turn, and take back every question that waits (R-CANC-1..3, R-ORD-4)."""
        if self.conversation.turn is not Turn.RUNNING:
            return
        self._connection.cancel(self.session_id)
        self.apply(CancelRequested())
        self._cancel_permissions()

    def answer_permission(self, key: RequestKey, option_id: str) -> None:
        """Pass on what the user chose; the only way in which an agent is ever allowed anything."""
        request = self.conversation.permissions.get(key)
        if request is None or all(option.option_id != option_id for option in request.options):
            return
        self._answer(key, option_id)

    def _answer(self, key: RequestKey, option_id: str | None) -> None:
        if self._permissions.answer(key, option_id):
            self.apply(PermissionAnswered(key, option_id))

    def _cancel_permissions(self) -> None:
        for key in self._permissions.waiting:
            self._answer(key, None)

    async def set_option(self, option_id: str, value: str | bool) -> None:
        """Set a mode, a model or another option of the session. Raises AgentRefused and AgentLost."""
        option = next(option for option in self.conversation.options if option.option_id == option_id)
        try:
            await self._connection.set_option(self.session_id, option, value, self.apply)
        except (RpcError, MalformedMessage) as error:
            raise await self._explain(error) from error

    # What the agent asks

    def request_permission(
        self, patch: ToolCallPatch, options: tuple[PermissionOption, ...], meta: Meta | None
    ) -> Awaitable[str | None]:
        """Park a request and show it; gives the option the user chooses. Cancelled at once in a cancelled turn."""
        key = self._permissions.park()
        self.apply(PermissionAsked(PermissionRequest(key, patch.tool_call_id, options, meta), patch))
        if self.conversation.turn is Turn.CANCELLING or not options:
            self._answer(key, None)
        return self._decision(key)

    async def _decision(self, key: RequestKey) -> str | None:
        try:
            return await self._permissions.wait(key)
        finally:
            # Withdrawn by the agent: the question must not stay on the screen.
            if key in self.conversation.permissions:
                self.apply(PermissionAnswered(key, None))

    async def read_text_file(self, path: str, line: int | None, limit: int | None) -> str:
        """A text file inside the workspace."""
        from acp_tui.client.workspace import NotFound

        try:
            return await self._files().read_text_file(path, line, limit)
        except NotFound as error:
            if self._quirks.missing_file_reads_empty:
                return ""
            raise as_refusal(error) from error
        except Exception as error:
            raise as_refusal(error) from error

    async def write_text_file(self, path: str, content: str) -> None:
        """Write a text file inside the workspace."""
        try:
            await self._files().write_text_file(path, content)
        except Exception as error:
            raise as_refusal(error) from error

    def _files(self) -> Workspace:
        if self._workspace is None:
            from acp_tui.client.workspace import Workspace

            self._workspace = Workspace([self.cwd])
        return self._workspace

    async def create_terminal(
        self,
        command: str,
        args: Sequence[str],
        env: Sequence[tuple[str, str]],
        cwd: str | None,
        output_limit_bytes: int | None,
    ) -> TerminalId:
        """Start a command on a PTY and show it."""
        terminals = self._open_terminals()
        terminals.size = self.terminal_size
        columns, rows = self.terminal_size
        directory = self.cwd if cwd is None else Path(cwd)
        try:
            created = await terminals.create(command, args, env, directory, output_limit_bytes)
        except Exception as error:
            raise as_refusal(error) from error
        terminal_id = TerminalId(created)
        self.apply(
            TerminalOpened(terminal_id, " ".join([command, *args]), str(directory), True, columns, rows)
        )
        return terminal_id

    def terminal_output(self, terminal_id: TerminalId) -> TerminalSnapshot:
        """What a terminal of this session printed so far."""
        try:
            return self._open_terminals().output(terminal_id)
        except Exception as error:
            raise as_refusal(error) from error

    async def wait_for_terminal_exit(self, terminal_id: TerminalId) -> ExitStatus:
        """Wait until a terminal's command has ended."""
        return await self._on_terminals(lambda terminals: terminals.wait_for_exit(terminal_id))

    async def kill_terminal(self, terminal_id: TerminalId) -> None:
        """End a terminal's command; the terminal stays."""
        await self._on_terminals(lambda terminals: terminals.kill(terminal_id))

    async def release_terminal(self, terminal_id: TerminalId) -> None:
        """End a terminal's command and forget the terminal; what it printed stays in the conversation."""
        await self._on_terminals(lambda terminals: terminals.release(terminal_id))

    async def _on_terminals(self, call: Callable[[Terminals], Awaitable[T]]) -> T:
        try:
            return await call(self._open_terminals())
        except Exception as error:
            raise as_refusal(error) from error

    def _open_terminals(self) -> Terminals:
        if self._terminals is None:
            from acp_tui.client.terminals import Terminals

            self._terminals = Terminals(
                self.cwd, on_output=self._on_terminal_output, on_exit=self._on_terminal_exit
            )
        return self._terminals

    def _on_terminal_output(self, terminal_id: str, data: bytes) -> None:
        self.apply(TerminalOutput(TerminalId(terminal_id), data))

    def _on_terminal_exit(self, terminal_id: str, status: ExitStatus) -> None:
        self.apply(TerminalExited(TerminalId(terminal_id), status.exit_code, status.signal))

    async def aclose(self) -> None:
        """End what runs on the user's machine for this session: its terminals."""
        if self._terminals is not None:
            await self._terminals.close()
