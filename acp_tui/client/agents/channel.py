"""The way to an agent, wherever it runs: a stream of lines, and how it ended. Nothing above knows what lies behind it.

A process of ours is `process`'s matter. For an agent that runs already, at an address, here is what proves who we are;
`websocket` and `streamable_http` are the ways, `endings` says what became of one.
"""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

import anyio
from anyio.abc import ByteStream

from acp_tui.client.agents.address import Address
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.process import running_agent
from acp_tui.client.errors import AgentLost, AgentNotRunnable, AgentUnreachable

if TYPE_CHECKING:
    from acp_tui.client.agents.endings import RemoteStream  # brings http and email along, for proxies

TOKEN_LIMIT_S: Final = 60.0
"""How long a command may take to print a token: it may ask the user for a finger or a touch."""
MAX_TOKEN: Final = 16 << 10


Opened: TypeAlias = Callable[[Address, Mapping[str, str]], "AbstractAsyncContextManager[RemoteStream]"]
"""Opens the way to an address, with these headers."""


class Connected:
    """An agent at an address (channel.Channel)."""

    stderr_tail = ""

    def __init__(self, stream: RemoteStream, given: Mapping[str, str]) -> None:
        self.stream = stream
        self.given = given
        """The headers that prove who we are."""

    def describe_exit(self) -> str:
        """A clause on how the connection ended."""
        return self.stream.ended.how

    def loss(self, title: str) -> AgentUnreachable:
        """The same for the user."""
        return self.stream.ended.of(title)

    async def wait_for_end(self, _: float) -> None:
        """How it ended is known as soon as it has."""


@asynccontextmanager
async def connected_agent(address: Address) -> AsyncIterator[Connected]:
    """An agent at `address`, until the block ends. Raises AgentUnreachable and AgentNotRunnable."""
    opened: Opened
    try:
        # Each way brings its own library along.
        if address.is_http:
            from acp_tui.client.agents.streamable_http import opened_http as opened
        else:
            from acp_tui.client.agents.websocket import opened_websocket as opened
    except ImportError as error:
        raise AgentNotRunnable(
            f"remote agents need the package {error.name}", hint="pip install 'acp-tui[remote]'"
        ) from error
    headers = await _with_token(address)
    async with opened(address, headers) as stream:
        yield Connected(stream, headers)


async def _with_token(address: Address) -> Mapping[str, str]:
    if not address.token_command:
        return address.headers
    program = address.token_command[0]
    try:
        with anyio.fail_after(TOKEN_LIMIT_S):
            # In a session of its own: it must not ask on the terminal that we draw on.
            done = await anyio.run_process(
                address.token_command, stdin=subprocess.DEVNULL, check=False, start_new_session=True
            )
    except OSError as error:
        raise AgentNotRunnable(f"the token command {program} can't be run: {error.strerror}") from error
    except TimeoutError:
        raise AgentNotRunnable(f"the token command {program} didn't end within {TOKEN_LIMIT_S:g} s") from None
    token = done.stdout.strip().decode("utf-8", "replace")
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace")
        raise AgentNotRunnable(f"the token command {program} ended with {done.returncode}", detail=said)
    if not (token and len(token) <= MAX_TOKEN and token.isascii() and token.isprintable()):
        raise AgentNotRunnable(f"the token command {program} must print a token: one line of ASCII")
    return {**address.headers, "Authorization": f"Bearer {token}"}


class Channel(Protocol):
    """An open way to an agent."""

    @property
    def stream(self) -> ByteStream:
        """One message a line, both ways."""

    @property
    def stderr_tail(self) -> str:
        """The last of what it said beside its messages."""

    @property
    def given(self) -> Mapping[str, str]:
        """What it was given by name, variables or headers: what is secret there must not show."""

    def describe_exit(self) -> str:
        """A clause on how it ended, such as "exited with code 3"."""

    def loss(self, title: str) -> AgentLost:
        """The same for the user, of an agent that is called `title`."""

    async def wait_for_end(self, timeout_s: float) -> None:
        """Wait until it is known how it ended, but no longer than that."""


def open_channel(
    command: AgentCommand, on_stderr: Callable[[bytes], None], folder: Path | None = None
) -> AbstractAsyncContextManager[Channel]:
    """The way to the agent, from its start to its certain end; a process starts in `folder`.

    Raises AgentStartFailed and AgentUnreachable.
    """
    if command.address is None:
        return running_agent(command, on_stderr, folder)

    return connected_agent(command.address)
