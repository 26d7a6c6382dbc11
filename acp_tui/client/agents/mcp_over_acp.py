"""MCP servers that run here for an agent, which reaches them over its own connection (MCP over ACP, a draft).

The user's settings say which programs run. An agent only sends requests to those that it was given; what they answer,
and what they say while they answer, goes back to it unchanged.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio

from acp_tui import __version__
from acp_tui.client.agents.channel import open_channel
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.proxy_chain import MAX_STDERR_LINE, discard, named_lines
from acp_tui.client.errors import ClientError
from acp_tui.conversation.facts import StdioServer
from acp_tui.protocol.roles import AcpServer
from acp_tui.rpc import AnswersUnread, ConnectionLost, ErrorCode, FrameTooLarge, RequestFailed, Wire, messages

if TYPE_CHECKING:
    from acp_tui.client.agents.command import Sandboxes
    from acp_tui.protocol.connection import Connection

log = logging.getLogger(__name__)

REVISION: Final = "2026-07-28"
"""The revision of MCP that is carried over ACP: each request stands for itself."""
OLD_REVISION: Final = "2025-11-25"
"""The last one before, which begins with a handshake. acp-tui does it for the agent."""
OWN: Final = "io.modelcontextprotocol/"
SUBSCRIPTION: Final = f"{OWN}subscriptionId"
DISCOVER: Final = "server/discover"
UNSUPPORTED_REVISION: Final = -32022
TOO_MANY: Final = -33000
FAILED: Final = -33002
"""The codes for what isn't the answer of an MCP server; its own errors are in the result."""
MAX_UNDER_WAY: Final = 64
MAX_MESSAGE_BYTES: Final = 16 << 20
"""The limit for a message of a server: some agents take no longer ones."""
PROBE_LIMIT_S: Final = 10.0
"""How long a server may take to say which revision it has. Old ones may say nothing."""
GREETING_LIMIT_S: Final = 60.0
"""How long it may then take to answer the old handshake: its program may be downloading."""
EXIT_GRACE_S: Final = 0.5


class _Call:
    def __init__(self, request_id: str | None = None, params: Mapping[str, Any] | None = None) -> None:
        self.request_id = request_id
        """As the agent knows it; None for our own."""
        self.progress_token = _meta_of(params or {}).get("progressToken")
        self.answered = anyio.Event()
        self.outcome: dict[str, Any] | None = None
        """The result or the error; None if there will be none."""

    def settle(self, outcome: dict[str, Any] | None) -> None:
        self.outcome = outcome
        self.answered.set()


class LentServer:
    """One MCP server's process, from `run` to `end`, and the requests to it."""

    def __init__(
        self,
        server: StdioServer,
        sandbox: str,
        agent: Callable[[], Connection],
        on_stderr: Callable[[bytes], None],
        table: MutableMapping[str, LentServer],
    ) -> None:
        """`sandbox` is the name of the one that the agent has or would have here.

        The server is in `table`, by the ID that the agent is given, until its end.
        """
        self.given = AcpServer(server.name, os.urandom(16).hex())
        """What the agent is given instead of the command."""
        self.on_lost: Callable[[str], None] = lambda _: None
        """Tells the user that it ended by itself."""
        self._command = AgentCommand(
            f"MCP server {server.name}", (server.command, *server.args), dict(server.env), sandbox=sandbox
        )
        self._agent = agent
        self._log = named_lines(self._command.name, on_stderr)
        self._table = table
        self._wire: Wire | None = None
        self._calls: dict[int, _Call] = {}
        self._ids = count(1)
        self._ready = anyio.Event()
        self._greeting: Mapping[str, Any] | None = None
        """What a server of an old revision answered to its handshake."""
        self._lost = ""
        """How it ended, as a clause."""
        self._scope = anyio.CancelScope()
        self._ended = anyio.Event()
        table[self.given.server_id] = self

    # Start and end

    async def run(self, folder: Path, sandboxes: Sandboxes) -> None:
        """Run its process in `folder` until it ends, or `end` is called. Nothing of it is left then."""
        sandbox = None
        try:
            with self._scope:
                plan = self._command.planned_in(sandboxes)
                async with open_channel(self._command, self._log, folder, plan) as channel:
                    sandbox = channel.sandbox
                    self._wire = Wire(channel.stream, self._receive, max_frame_bytes=MAX_MESSAGE_BYTES)
                    broken = await self._serve(self._wire)
                    await channel.wait_for_end(EXIT_GRACE_S)
                    self._lose(broken or channel.describe_exit())
        except ClientError as error:
            self._lose(f"didn't start: {error}")
        finally:
            self._lost = self._lost or "was ended"
            self._fail_all()
            if sandbox is not None:
                await discard(sandbox)
            self._ended.set()

    async def _serve(self, wire: Wire) -> str:
        """Read what it says. Returns what it did that no server may do; "" for an ordinary end."""
        broken = ""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._greet)
            try:
                await wire.serve()
            except FrameTooLarge as error:
                broken = f"sent {error}"
            except AnswersUnread as error:
                broken = f"was ended: {error}"
            tasks.cancel_scope.cancel()
        return broken

    async def end(self) -> None:
        """End it, with its process. Does nothing if it has ended."""
        self._table.pop(self.given.server_id, None)
        self._scope.cancel()
        with anyio.CancelScope(shield=True):
            await self._ended.wait()

    def tell(self, on_lost: Callable[[str], None]) -> None:
        """Have the user told if it ends by itself, or has."""
        self.on_lost = on_lost
        if self._lost:
            on_lost(self._told)

    @property
    def _told(self) -> str:
        return f"{self._command.name} {self._lost}, so the agent can't use it in this session"

    def _lose(self, how: str) -> None:
        self._lost = how
        self._fail_all()
        self.on_lost(self._told)

    def _fail_all(self) -> None:
        self._ready.set()
        for call in self._calls.values():
            call.settle(None)

    async def _greet(self) -> None:
        """Find out which revision it has, and do the handshake of an old one."""
        about = {"name": "acp-tui", "version": __version__}
        meta = {f"{OWN}protocolVersion": REVISION, f"{OWN}clientCapabilities": {}, f"{OWN}clientInfo": about}
        probe = self._ask_it(DISCOVER, {"_meta": meta})
        with anyio.move_on_after(PROBE_LIMIT_S):
            await probe.answered.wait()
        if not _is_of_this_revision(probe):
            hello = {"protocolVersion": OLD_REVISION, "capabilities": {}, "clientInfo": about}
            asked = self._ask_it("initialize", hello)
            with anyio.move_on_after(GREETING_LIMIT_S):
                await asked.answered.wait()
            greeting = (asked.outcome or {}).get("result")
            if isinstance(greeting, dict):
                self._greeting = greeting
                self._send(messages.write_notification("notifications/initialized", {}))
            elif not _is_of_this_revision(probe):
                self._lose("answered neither server/discover nor initialize as MCP servers do")
                self._scope.cancel()
        self._ready.set()

    # From the agent to the server

    async def ask(self, request_id: str, method: str, params: Mapping[str, Any] | None) -> Any:
        """Pass a request on, and return its outcome. Raises RequestFailed if there is none."""
        self._require(request_id)
        call = _Call(request_id, params)
        sent = next(self._ids)
        self._calls[sent] = call  # it counts from now on, also while the server starts
        is_sent = False
        try:
            await self._ready.wait()
            if self._greeting is not None and method == DISCOVER:
                return {"result": _discovered(self._greeting)}
            if self._wire is not None and not self._lost:
                await self._wire.until_room()
                self._send(messages.write_request(sent, method, {} if params is None else params))
                is_sent = True
                await call.answered.wait()
        except anyio.get_cancelled_exc_class():
            if is_sent and not call.answered.is_set():
                self._send(messages.write_notification("notifications/cancelled", {"requestId": sent}))
            raise
        finally:
            del self._calls[sent]
        if call.outcome is None:
            raise RequestFailed(FAILED, f"{self._command.name} {self._lost or 'gave no valid answer'}")
        result = call.outcome.get("result")
        return {"result": _renamed(result, request_id)} if isinstance(result, dict) else call.outcome

    def _require(self, request_id: str) -> None:
        if self._lost:
            raise RequestFailed(FAILED, f"{self._command.name} {self._lost}")
        of_agent = [call.request_id for call in self._calls.values() if call.request_id is not None]
        if request_id in of_agent:
            raise RequestFailed(ErrorCode.INVALID_PARAMS, f"A request with the requestId {request_id!r} is under way")
        if len(of_agent) >= MAX_UNDER_WAY:
            raise RequestFailed(TOO_MANY, f"{self._command.name} has {MAX_UNDER_WAY} requests to answer")

    def _ask_it(self, method: str, params: Mapping[str, Any]) -> _Call:
        """Send a request of our own."""
        sent = next(self._ids)
        self._calls[sent] = _Call()
        self._send(messages.write_request(sent, method, params))
        return self._calls[sent]

    def _send(self, line: bytes) -> None:
        assert self._wire is not None
        with suppress(ConnectionLost):  # `run` learns of it, and settles all calls
            self._wire.send(line)

    # From the server to the agent, inside its read loop

    def _receive(self, line: bytes) -> Wire | None:
        if not line or line.isspace():
            return None
        value = messages.decode(line)
        message = value if isinstance(value, messages.Malformed) else messages.read_value(line, value)
        match message:
            case messages.Result(sent, result):
                self._settle(sent, {"result": result})
            case messages.ErrorResponse(sent):
                self._settle(sent, {"error": value["error"]} if _is_error(value["error"]) else None)
            case messages.Notification(method, params) if isinstance(params, dict):
                return self._tell(method, params)
            case messages.Request(asked, method) if self._greeting is not None:
                # Servers of an old revision may ask something, which is never passed on.
                unknown = RequestFailed(ErrorCode.METHOD_NOT_FOUND, f"Method not found: {method}")
                is_ping = method == "ping"
                self._send(messages.write_result(asked, {}) if is_ping else messages.write_failure(asked, unknown))
            case messages.Malformed(_, reason):
                self._log(b"[stdout] not a message (%b): %b\n" % (reason.encode(), line[:MAX_STDERR_LINE]))
            case _:
                log.debug("%s sent what nobody waits for", self._command.name)
        return None

    def _settle(self, sent: object, outcome: dict[str, Any] | None) -> None:
        call = self._calls.get(sent) if type(sent) is int else None
        if call is not None:
            call.settle(outcome)

    def _tell(self, method: str, params: dict[str, Any]) -> Wire | None:
        """Pass a notification on, if it belongs to a request of the agent's that is under way."""
        call = self._meant(method, params)
        if call is None or call.request_id is None or call.answered.is_set():
            return None
        if method == "notifications/cancelled":
            params = {**params, "requestId": call.request_id}
        self._agent().tell_of_mcp(self.given.server_id, call.request_id, method, _renamed(params, call.request_id))
        return self._agent().peer

    def _meant(self, method: str, params: Mapping[str, Any]) -> _Call | None:
        """The request that a notification belongs to: the one it names, otherwise the only one."""
        of_agent = [call for call in self._calls.values() if call.request_id is not None]
        sent = params.get("requestId") if method == "notifications/cancelled" else _meta_of(params).get(SUBSCRIPTION)
        if sent is not None:
            return self._calls.get(sent) if type(sent) is int else None
        if method == "notifications/progress":
            of_agent = [call for call in of_agent if call.progress_token == params.get("progressToken")]
        return of_agent[0] if len(of_agent) == 1 else None


def _meta_of(params: Mapping[str, Any]) -> Mapping[str, Any]:
    meta = params.get("_meta")
    return meta if isinstance(meta, dict) else {}


def _renamed(value: dict[str, Any], request_id: str) -> dict[str, Any]:
    """What a server says of a subscription, whose ID is that of its request, as the agent knows it."""
    meta = _meta_of(value)
    return {**value, "_meta": {**meta, SUBSCRIPTION: request_id}} if SUBSCRIPTION in meta else value


def _is_error(error: object) -> bool:
    """Whether it can be passed on: code and message are required."""
    return isinstance(error, dict) and type(error.get("code")) is int and isinstance(error.get("message"), str)


def _is_of_this_revision(probe: _Call) -> bool:
    outcome = probe.outcome or {}
    return "result" in outcome or outcome.get("error", {}).get("code") == UNSUPPORTED_REVISION


def _discovered(greeting: Mapping[str, Any]) -> dict[str, Any]:
    """What a server of an old revision said in its handshake, as one of today's would."""
    known = {name: greeting[name] for name in ("capabilities", "instructions") if name in greeting}
    about = {"_meta": {f"{OWN}serverInfo": greeting.get("serverInfo")}}
    fresh = {"ttlMs": 0, "cacheScope": "private"}
    return {"resultType": "complete", "supportedVersions": [REVISION], "capabilities": {}, **known, **fresh, **about}
