"""An agent behind proxies: their processes, and the conductor between them (ACP, proxy chains).

Each proxy is started as an agent is, and ends with it. What they say to each other is `protocol.conductor`'s.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import anyio
from anyio import to_thread
from anyio.abc import ByteStream

from acp_tui.client.agents.channel import Channel, open_channel
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.process import AgentProcess
from acp_tui.client.errors import AgentLost, ClientError
from acp_tui.protocol import MalformedMessage, UnsupportedVersion
from acp_tui.protocol.conductor import BrokeTheChain, Conductor, HopTap
from acp_tui.protocol.negotiation import read_agreement
from acp_tui.rpc import AnswersUnread, FrameTooLarge
from acp_tui.rpc.memory_stream import connected_pair
from acp_tui.values import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.client.agents.command import Sandboxes
    from acp_tui.client.sandbox.sandbox import Sandbox

MAX_STDERR_LINE: Final = 4 << 10
"""Longer lines are cut in two; of those that should be messages, this much is kept."""


@dataclass(frozen=True, slots=True)
class Hop:
    """A proxy, or the agent behind them."""

    command: AgentCommand
    channel: Channel


class Chain:
    """The way to an agent through its proxies (channel.Channel)."""

    def __init__(self, stream: ByteStream, hops: Sequence[Hop], conductor: Conductor) -> None:
        self.stream = stream
        self.hops = tuple(hops)
        """The proxy next to the client first, the agent last."""
        self._conductor = conductor
        agent = self.hops[-1].channel
        self.given, self.sandbox, self.describe_exit = agent.given, agent.sandbox, agent.describe_exit

    @property
    def awaited(self) -> AgentCommand | None:
        """Whose answer the handshake waits for, or who refused it."""
        awaited = self._conductor.awaited
        return None if awaited is None else self.hops[awaited].command

    @property
    def stderr_tail(self) -> str:
        return self._culprit.channel.stderr_tail

    @property
    def _culprit(self) -> Hop:
        """The one that ended first, or that keeps the others waiting."""
        fault, awaited = self._conductor.fault, self._conductor.awaited
        if fault is not None and fault[0] >= 0:
            return self.hops[fault[0]]
        return self.hops[-1 if awaited is None else awaited]

    def loss(self, title: str) -> AgentLost:
        hop, fault = self._culprit, self._conductor.fault
        name = title if hop is self.hops[-1] else hop.command.name
        match fault[1] if fault is not None else None:
            case BrokeTheChain() as error:
                return AgentLost(f"{name} broke the protocol: {error}", detail=hop.channel.stderr_tail)
            case FrameTooLarge() as error:
                return AgentLost(f"{name} broke the protocol: it sent {error}", detail=hop.channel.stderr_tail)
            case AnswersUnread() as error:
                return AgentLost(f"{name} was ended: {error}", detail=hop.channel.stderr_tail)
        return hop.channel.loss(name)

    async def wait_for_end(self, timeout_s: float) -> None:
        await self._culprit.channel.wait_for_end(timeout_s)

    @property
    def facts(self) -> Sequence[tuple[str, str]]:
        """The command of each hop, with the name and version it answered with, and a label."""
        identities = [_identity(self._conductor.agreement(position)) for position in range(len(self.hops))]
        facts = []
        for hop, its, next_ones in zip(self.hops, identities, [*identities[1:], ""], strict=True):
            told = f" ({its})" if its not in ("", next_ones) else ""  # a proxy passes on the name it was given
            facts.append(("Agent" if hop is self.hops[-1] else "Proxy", f"{hop.command.line}{told}"))
        return facts


def _identity(agreement: Mapping[str, Any]) -> str:
    try:
        identity = read_agreement(agreement)[1].identity
    except (MalformedMessage, UnsupportedVersion):
        return ""
    return "" if identity is None else f"{identity.name} {identity.version}".strip()


@asynccontextmanager
async def open_chain(
    command: AgentCommand, on_stderr: Callable[[bytes], None], folder: Path | None, sandboxes: Sandboxes, tap: HopTap
) -> AsyncIterator[Chain]:
    """Connect to the agent through its proxies until the block ends; all of them are certain to end.

    `tap` sees what each of them says and hears. Raises as `open_channel`.
    """
    failure: ClientError | None = None
    async with AsyncExitStack() as opened:
        hops: list[Hop] = []
        writes = [named_lines(each.name, on_stderr) for each in (*command.proxy_commands, command)]
        try:
            for each, write in zip((*command.proxy_commands, command), writes, strict=True):
                channel = await opened.enter_async_context(
                    open_channel(each, write, folder, each.planned_in(sandboxes))
                )
                if each is not command and channel.sandbox is not None:
                    opened.push_async_callback(discard, channel.sandbox)
                hops.append(Hop(each, channel))
        except ClientError as error:
            failure = error  # raised below, because the task groups of the others would wrap it
        else:
            here, there = connected_pair()
            streams = [hop.channel.stream for hop in hops]
            conductor = Conductor(
                there, streams, tap, lambda position, line: writes[position](line[:MAX_STDERR_LINE] + b"\n")
            )
            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(conductor.serve)
                    try:
                        yield Chain(here, hops, conductor)
                    finally:
                        tasks.cancel_scope.cancel()
            finally:
                with anyio.CancelScope(shield=True):
                    await _end_all(hops)
    if failure is not None:
        raise failure


async def discard(sandbox: Sandbox) -> None:
    with anyio.CancelScope(shield=True):
        await to_thread.run_sync(sandbox.box.discard)


async def _end_all(hops: Sequence[Hop]) -> None:
    """Have all end at the same time: each may take its seconds."""
    async with anyio.create_task_group() as ending:
        for hop in hops:
            if isinstance(hop.channel, AgentProcess):
                ending.start_soon(hop.channel.end)


def named_lines(name: str, on_stderr: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """Pass on whole lines, each after the name of whose they are: others write to the same log."""
    begun = b""

    def write(data: bytes) -> None:
        nonlocal begun
        *lines, begun = (begun + data).split(b"\n")
        if len(begun) > MAX_STDERR_LINE:
            lines.append(begun)
            begun = b""
        for line in lines:
            on_stderr(b"%b: %b\n" % (name.encode(), line))

    return write
