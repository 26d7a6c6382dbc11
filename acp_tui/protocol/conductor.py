"""Passes messages along a chain, from the client through proxies to the agent and back (ACP, proxy chains).

Only the envelope is read: what a message says arrives unchanged. Both versions of ACP have the same envelope. The
processes belong to `client.agents.proxy_chain`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Any, Final, NamedTuple, TypeAlias

import anyio
from anyio.abc import ByteStream

from acp_tui.rpc import ConnectionLost, Direction, ErrorCode, RequestFailed, RequestId, Wire, messages
from acp_tui.rpc.peer import CANCEL_REQUEST

log = logging.getLogger(__name__)

INITIALIZE: Final = "initialize"
PROXY_INITIALIZE: Final = "proxy/initialize"
SUCCESSOR: Final = "proxy/successor"
RELEASED: Final = "_"
"""The Rust crates, 2.0.0, have it before both names, as for extensions."""
SUCCESSORS: Final = (SUCCESSOR, RELEASED + SUCCESSOR)
PROXY_INITIALIZES: Final = (PROXY_INITIALIZE, RELEASED + PROXY_INITIALIZE)
RESERVED: Final = frozenset({*SUCCESSORS, *PROXY_INITIALIZES})
"""Only a conductor says what they mean: a proxy must not pass them on."""
DRAIN_LIMIT_S: Final = 0.5
"""How long the proxies before one that has ended may take to pass on what it had said."""

HopTap: TypeAlias = Callable[[int, Direction, bytes], None]
"""Sees each line of a component, counted from 0; IN is what it says."""


class BrokeTheChain(ConnectionLost):
    """A proxy did what no proxy may do; the message says what, as in "it …"."""


class _Asked(NamedTuple):
    asker: _Link
    request_id: RequestId
    """As its asker knows it."""
    params: Any
    is_first: bool
    """Whether it's the handshake."""


class _Link:
    """The conductor's connection to the client or a component."""

    def __init__(self, position: int, stream: ByteStream) -> None:
        self.position = position
        self.stream = stream
        self.wire: Wire
        self.prefix = ""
        """What it puts before the names of the methods for proxies."""
        self.is_begun = position == 0
        """Whether it was sent the handshake."""
        self.agreement: Mapping[str, Any] | None = None
        """Its answer to the handshake."""
        self.asked: messages.Recent[int, _Asked] = messages.Recent()
        """By the ID that the conductor chose."""
        self.under_way: messages.Recent[messages.Key, tuple[_Link, int]] = messages.Recent()
        """Where its own requests went, and their IDs there."""
        self.ids = count(1)
        self.ended = anyio.Event()


class Conductor:
    """Serves one chain, until one of its members ends."""

    def __init__(
        self,
        client: ByteStream,
        components: Sequence[ByteStream],
        tap: HopTap,
        on_malformed: Callable[[int, bytes], None],
    ) -> None:
        """`components` are the proxies, the first one next to the client, and the agent.

        `on_malformed` gets a component's lines that aren't messages. Whoever sends to one that doesn't read isn't read
        either, above `MAX_WAITING_BYTES`; after `UNREAD_LIMIT_S`, the chain ends.
        """
        self.fault: tuple[int, ConnectionLost] | None = None
        """Which component ended first, and how; -1 is the client."""
        self._on_malformed = on_malformed
        self._links = [_Link(position, stream) for position, stream in enumerate((client, *components))]
        self._last = len(components)
        self._is_over = anyio.Event()
        for link in self._links:
            link.wire = Wire(
                link.stream,
                partial(self._receive, link),
                partial(self._end, link),
                tap=partial(tap, link.position - 1) if link.position else None,
            )

    @property
    def awaited(self) -> int | None:
        """The component whose answer the handshake waits for, or that refused it."""
        begun = [link.position - 1 for link in self._links[1:] if link.is_begun and link.agreement is None]
        return max(begun, default=None)

    def agreement(self, component: int) -> Mapping[str, Any]:
        """What a component answered to the handshake; empty if it hasn't."""
        return self._links[component + 1].agreement or {}

    async def serve(self) -> None:
        """Pass messages on until one of the chain ends. What it had said reaches the client before that ends, too."""
        client = self._links[0]
        try:
            async with anyio.create_task_group() as tasks:
                for link in self._links:
                    tasks.start_soon(self._serve, link)
                await self._is_over.wait()
                assert self.fault is not None
                with anyio.move_on_after(DRAIN_LIMIT_S):
                    for link in reversed(self._links[1 : self.fault[0] + 1]):
                        await link.wire.flush()
                        await link.stream.send_eof()
                        await link.ended.wait()
                    await client.wire.flush()
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await client.stream.aclose()

    async def _serve(self, link: _Link) -> None:
        with suppress(ConnectionLost):  # `_end` has seen it
            await link.wire.serve()
        link.ended.set()

    def _end(self, link: _Link, lost: ConnectionLost) -> None:
        self.fault = self.fault or (link.position - 1, lost)
        self._is_over.set()

    # Each line, in the order of its connection. What comes back is the wire that has to have room for the next one.

    def _receive(self, link: _Link, line: bytes) -> Wire:
        if not line or line.isspace():
            return link.wire
        value = messages.decode(line)
        message = value if isinstance(value, messages.Malformed) else messages.read_value(line, value)
        match message:
            case messages.Malformed(_, _, answer):
                self._on_malformed(link.position - 1, line)
                if answer is not None:
                    self._send(link, answer)
                return link.wire
            case messages.Result():
                return self._answer(link, message, {"result": message.value})
            case messages.ErrorResponse():
                return self._answer(link, message, {"error": value["error"]})
            case messages.Notification() | messages.Request():
                return self._pass_on(link, message, value)

    def _pass_on(self, link: _Link, message: messages.Notification | messages.Request, call: dict[str, Any]) -> Wire:
        """Pass a call on: from a proxy to its successor if it's wrapped for that, otherwise toward the client."""
        goes_down = link.position == 0
        if 0 < link.position < self._last and message.method in SUCCESSORS:
            goes_down, call = True, message.params
            if not is_call(call):
                return self._refuse(link, message, ErrorCode.INVALID_PARAMS, "It wraps no request or notification")
        method, params = call["method"], call.get("params")
        if method == CANCEL_REQUEST:
            return self._cancel(link, params)
        target = self._links[link.position + (1 if goes_down else -1)]
        is_first = goes_down and method == INITIALIZE and isinstance(message, messages.Request)
        if method in RESERVED:
            return self._refuse(link, message, ErrorCode.METHOD_NOT_FOUND, f"{method} is between conductor and proxy")
        if not (is_first or target.is_begun):
            return self._refuse(link, message, ErrorCode.INVALID_REQUEST, f"{method} came before initialize")
        if not isinstance(message, messages.Request):
            self._send(
                target, messages.encode({"jsonrpc": "2.0", **self._addressed(target, method, params, goes_down)})
            )
        elif is_first:
            self._begin(target, _Asked(link, message.id, params, is_first))
        else:
            call = self._addressed(target, method, params, goes_down)
            self._ask(target, _Asked(link, message.id, None, is_first), call)
        return target.wire

    def _addressed(self, target: _Link, method: str, params: Any, goes_down: bool) -> dict[str, Any]:
        """A call as its receiver gets it: wrapped for a proxy if it comes from its successor."""
        call = {"method": method} if params is None else {"method": method, "params": params}
        if goes_down or target.position == 0:
            return call
        return {"method": target.prefix + SUCCESSOR, "params": call}

    def _ask(self, target: _Link, asked: _Asked, call: Mapping[str, Any]) -> None:
        request_id = next(target.ids)
        target.asked[request_id] = asked
        key = messages.key_of(asked.request_id)
        if key is not None:
            asked.asker.under_way[key] = target, request_id
        self._send(target, messages.encode({"jsonrpc": "2.0", "id": request_id, **call}))

    def _begin(self, target: _Link, asked: _Asked) -> None:
        """Tell a component what it is: a proxy, or the agent."""
        target.is_begun = True
        is_proxy = target.position < self._last
        method = target.prefix + PROXY_INITIALIZE if is_proxy else INITIALIZE
        self._ask(target, asked, {"method": method, "params": asked.params})

    def _answer(self, link: _Link, answer: messages.Result | messages.ErrorResponse, said: Mapping[str, Any]) -> Wire:
        asked = link.asked.pop(answer.id, None) if isinstance(answer.id, int) else None
        if asked is None:
            log.debug("component %d answered an unknown request %r", link.position - 1, answer.id)
            return link.wire
        if asked.is_first and self._begins_otherwise(link, answer):
            self._begin(link, asked)
            return link.wire
        key = messages.key_of(asked.request_id)
        if key is not None and asked.asker.under_way.get(key) == (link, answer.id):
            del asked.asker.under_way[key]
        self._send(asked.asker, messages.encode({"jsonrpc": "2.0", "id": asked.request_id, **said}))
        return asked.asker.wire

    def _begins_otherwise(self, link: _Link, answer: messages.Result | messages.ErrorResponse) -> bool:
        """Look at the answer to the handshake. Whether it shows a proxy that knows it by its other name.

        Raises BrokeTheChain for a proxy whose answer isn't that of its successor.
        """
        after = self._links[link.position + 1] if link.position < self._last else None
        if isinstance(answer, messages.ErrorResponse):
            if after is None or after.is_begun or link.prefix or answer.error.code != ErrorCode.METHOD_NOT_FOUND:
                return False
            link.prefix = RELEASED
            return True
        agreement = answer.value if isinstance(answer.value, dict) else {}
        if after is not None:
            if after.agreement is None:
                raise BrokeTheChain("it answered proxy/initialize without the answer of what comes after it")
            theirs, its = after.agreement.get("protocolVersion"), agreement.get("protocolVersion")
            if its != theirs:
                raise BrokeTheChain(f"it changed the protocol version from {_number(theirs)} to {_number(its)}")
        link.agreement = agreement
        return False

    def _cancel(self, link: _Link, params: Any) -> Wire:
        """Cancel a request where it went. IDs differ on each connection, so the notification itself goes no further."""
        key = messages.key_of(params.get("requestId")) if isinstance(params, dict) else None
        went = link.under_way.get(key) if key is not None else None
        if went is None:
            return link.wire
        target, request_id = went
        # The Rust crates wrap it as its request was wrapped; the schema never does.
        is_bare = target.prefix != RELEASED or link.position < target.position
        call = self._addressed(target, CANCEL_REQUEST, {**params, "requestId": request_id}, goes_down=is_bare)
        self._send(target, messages.encode({"jsonrpc": "2.0", **call}))
        return target.wire

    def _refuse(
        self, link: _Link, message: messages.Notification | messages.Request, code: ErrorCode, why: str
    ) -> Wire:
        """Answer a request with an error. A notification gets no answer."""
        if isinstance(message, messages.Request):
            self._send(link, messages.write_failure(message.id, RequestFailed(code, why)))
        return link.wire

    def _send(self, link: _Link, frame: bytes) -> None:
        with suppress(ConnectionLost):  # the chain is about to end
            link.wire.send(frame)


def _number(version: Any) -> str:
    return str(version) if type(version) is int and abs(version) < 1000 else "another value"


def is_call(call: Any) -> bool:
    return (
        isinstance(call, dict)
        and isinstance(call.get("method"), str)
        and isinstance(call.get("params"), dict | list | None)
    )
