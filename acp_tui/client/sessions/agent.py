"""One agent: its process and its connection, from start to end. The end of the agent is the end of nothing else.

What can be wanted of it is in `calls` and `session_calls`, what it asks of its client in `client_role`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import anyio
from anyio.abc import TaskStatus

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.process import AgentProcess, running_agent
from acp_tui.client.errors import (
    AgentLost,
    AgentRefused,
    AuthenticationRequired,
    ClientError,
    UnsupportedProtocol,
)
from acp_tui.client.extensions import Extensions
from acp_tui.client.sessions.calls import AgentCalls
from acp_tui.client.sessions.phase import Phase
from acp_tui.client.sessions.policy import Policy
from acp_tui.client.sessions.stderr_lines import StderrLines
from acp_tui.client.transcript.frame_log import FrameLog
from acp_tui.conversation.updates import Disconnected, SessionUpdate
from acp_tui.protocol import AUTH_REQUIRED, MalformedMessage, UnsupportedVersion
from acp_tui.protocol.roles import ClientOffer
from acp_tui.rpc import AnswersUnread, Direction, ErrorCode, FrameTooLarge, Peer, RequestFailed, RpcError, Tap

if TYPE_CHECKING:
    from acp_tui.client.transcript.plan import RecordingPlan

NO_AGENT: Final = "it did not answer initialize: is it an ACP agent? Some want an argument such as --acp"
EXIT_GRACE_S: Final = 0.5

T = TypeVar("T")


def _is_no_agent(error: AgentRefused | AgentLost) -> bool:
    """Whether a handshake that failed so looks like one with a program that does not speak ACP."""
    if isinstance(error, AgentRefused):
        return error.code in (ErrorCode.METHOD_NOT_FOUND, ErrorCode.INVALID_REQUEST)
    return not isinstance(error, UnsupportedProtocol) and not error.hint


class Agent(AgentCalls):
    """A running agent; made by `SessionHub.start_agent`."""

    def __init__(
        self,
        command: AgentCommand,
        *,
        cwd: Path | None = None,
        offer: ClientOffer | None,
        on_phase: Callable[[Phase], None],
        tap: Tap | None = None,
        extensions: Extensions | None = None,
        policy: Policy | None = None,
        recordings: RecordingPlan | None = None,
        keeps_frames: bool = False,
    ) -> None:
        policy = (policy or Policy()).for_agent(command)
        super().__init__(
            command,
            offer=policy.within(offer or ClientOffer()),
            policy=policy,
            extensions=extensions or Extensions(),
            on_phase=on_phase,
        )
        self.lost: AgentLost | None = None
        self.frames: FrameLog | None = None
        """The last lines that passed, where there is somebody who can look."""
        if keeps_frames:
            self.frames = FrameLog(command.name, command.argv, {**os.environ, **command.env})
        self._stderr_lines = StderrLines(self.log)
        self._cwd = cwd
        self._tap = tap
        self._recordings = recordings
        self._process: AgentProcess | None = None
        self._scope = anyio.CancelScope()
        self._start_limit = anyio.CancelScope()
        self._lost_known = anyio.Event()
        self._ended = anyio.Event()

    # Life

    async def run(self, *, task_status: TaskStatus[None]) -> None:
        """Own the process from start to end. Raises ClientError only before the process has started."""
        try:
            with self._scope:
                async with running_agent(self.command, self._on_stderr, self._cwd) as process:
                    self._process = process
                    self._record()
                    peer = Peer(process.stream, self._connection, tap=self._see)
                    self._connection.peer = peer
                    task_status.started()
                    await self._serve(peer, process)
        finally:
            # The scope above is not ours to wait in any more, but the terminals must not outlive us.
            with anyio.CancelScope(shield=True):
                await self._close_sessions()
                await self._end_recording()
            self._set_phase(Phase.GONE)
            self._ended.set()

    async def _serve(self, peer: Peer, process: AgentProcess) -> None:
        try:
            await peer.serve()
            # Most agents that close their output are about to exit, and the exit code is what tells.
            await process.wait_for_end(EXIT_GRACE_S)
            self._lose(f"{self.title} {process.describe_exit()}", process)
        except FrameTooLarge as error:
            self._lose(f"{self.title} broke the protocol: it sent {error}", process)
        except AnswersUnread as error:
            self._lose(f"{self.title} was ended: {error}", process)
        finally:
            # We are stopping it: whoever still waits for an answer is to know, the conversations need not say it.
            self.lost = self.lost or AgentLost(f"{self.title} was stopped")
            self._lost_known.set()

    def _lose(self, message: str, process: AgentProcess) -> AgentLost:
        self.lost = self.lost or AgentLost(message, detail=process.stderr_tail)
        disconnected = Disconnected(str(self.lost), process.stderr_tail)
        for session in self._table.all():
            session.apply(disconnected)
        self._apply_outside(disconnected)
        return self.lost

    async def _close_sessions(self) -> None:
        for session in self._table.all():
            await session.aclose()

    def _record(self) -> None:
        if self._recordings is not None:
            self._recorder = self._recordings.begin(self.command.name, self.command.argv, self.command.env)

    def _see(self, direction: Direction, frame: bytes) -> None:
        if self.frames is not None:
            self.frames.tap(direction, frame)
        if self._recorder is not None:
            self._recorder.tap(direction, frame)
        if self._tap is not None:
            self._tap(direction, frame)

    async def _end_recording(self) -> None:
        if self._process is None:
            return
        how = self._process.describe_exit()
        if self.frames is not None:
            self.frames.exited(how)
        if self._recorder is not None:
            self._recorder.exited(how)
            await anyio.to_thread.run_sync(self._recorder.close)

    def screen_resized(self, columns: int, rows: int) -> None:
        """The user's screen has another size; the agent is not told, a replay is."""
        if self._recorder is not None:
            self._recorder.resized(columns, rows)

    async def stop(self) -> None:
        """End the agent and all that runs for its sessions; returns when nothing is left."""
        self._scope.cancel()
        await self._ended.wait()

    def _on_stderr(self, data: bytes) -> None:
        if self.frames is not None:
            self.frames.stderr(data)
        if self._recorder is not None:
            self._recorder.stderr(data)
        self._stderr_lines.append(data)

    async def initialize(self, limit_s: float | None = None) -> None:
        """Agree on the protocol. Raises UnsupportedProtocol too, and AgentLost where it takes longer than `limit_s`.

        An agent that asks the user something meanwhile is not silent: from then on it may take its time (R-INIT-10).
        """
        with anyio.move_on_after(limit_s) as self._start_limit:
            try:
                await super().initialize()
            except (AgentRefused, AgentLost) as error:
                if _is_no_agent(error):
                    error.hint = NO_AGENT
                raise
        if self._start_limit.cancelled_caught:
            raise self._give_up(
                f"{self.title} has not answered within {limit_s:g} s",
                hint=f"it may still be downloading: run {self.command.line} by hand, or raise agent.start_limit_s",
            )

    def _apply_outside(self, update: SessionUpdate) -> None:
        self._start_limit.deadline = math.inf
        super()._apply_outside(update)

    # What goes wrong

    async def _ask(self, call: Awaitable[T]) -> T:
        try:
            return await super()._ask(call)
        except UnsupportedVersion as error:
            self.lost = UnsupportedProtocol(
                f"{self.title} speaks version {error.version} of ACP, and acp-tui speaks version 1",
                hint="update the agent or acp-tui",
            )
            raise self.lost from error

    async def explain(self, error: RpcError | MalformedMessage) -> ClientError:
        """What a user is to know of an error of the connection: for a lost one, the end of the agent."""
        if isinstance(error, RequestFailed):
            return self._refused(error)
        if isinstance(error, MalformedMessage):
            return AgentLost(f"{self.title} broke the protocol: {error}")
        # Whoever reads the connection learns more than whoever lost a request: the exit code, the rest of stderr.
        with anyio.move_on_after(2 * EXIT_GRACE_S):
            await self._lost_known.wait()
        return self.lost or self._give_up(f"{self.title} broke the protocol: {error}")

    def _give_up(self, message: str, hint: str = "") -> AgentLost:
        """It lives on and does not listen, or does not speak: as good as gone, so it is ended."""
        assert self._process is not None
        lost = self._lose(message, self._process)
        lost.hint = hint
        self._scope.cancel()
        return lost

    def _refused(self, error: RequestFailed) -> ClientError:
        detail = error.detail or ""
        if error.code != AUTH_REQUIRED:
            return AgentRefused(f"{self.title}: {error.message}", code=error.code, detail=detail)
        names = ", ".join(method.name for method in self.auth_methods) or "none that it names"
        return AuthenticationRequired(
            f"{self.title} wants you to log in first",
            self.auth_methods,
            hint=f"its ways to log in: {names}",
            detail=detail or error.message,
        )
