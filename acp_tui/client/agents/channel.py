"""The connection to an agent, wherever it runs: a stream of lines, and how it ended.

Hides the transport from its users.

`process` runs our own processes. For an agent at an address, this module supplies the credentials; `websocket` and
`streamable_http` are the transports, and `remote_errors` says how one ended.
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
    from acp_tui.client.agents.command import SandboxPlan
    from acp_tui.client.agents.remote_errors import RemoteStream  # imports http and email, for proxies
    from acp_tui.client.sandbox.sandbox import Sandbox

TOKEN_LIMIT_S: Final = 60.0
"""How long a command may take to print a token. It may ask the user for a fingerprint or a touch."""
MAX_TOKEN: Final = 16 << 10


Opened: TypeAlias = Callable[[Address, Mapping[str, str]], "AbstractAsyncContextManager[RemoteStream]"]
"""Connects to an address with these headers."""


class Connected:
    """An agent at an address (channel.Channel)."""

    stderr_tail = ""
    sandbox = None

    def __init__(self, stream: RemoteStream, given: Mapping[str, str]) -> None:
        self.stream = stream
        self.given = given
        """The headers with the credentials."""

    def describe_exit(self) -> str:
        return self.stream.ended.how

    def loss(self, title: str) -> AgentUnreachable:
        return self.stream.ended.of(title)

    async def wait_for_end(self, _: float) -> None:
        """Return immediately: how the connection ended is known as soon as it ends."""


@asynccontextmanager
async def connected_agent(address: Address) -> AsyncIterator[Connected]:
    """Connect to the agent at `address` until the block ends. Raises AgentUnreachable and AgentNotRunnable."""
    opened: Opened
    # Each transport needs its own library.
    if address.url.startswith("http"):
        from acp_tui.client.agents.streamable_http import opened_http as opened
    else:
        from acp_tui.client.agents.websocket import opened_websocket as opened
    headers = await _with_token(address)
    async with opened(address, headers) as stream:
        yield Connected(stream, headers)


async def _with_token(address: Address) -> Mapping[str, str]:
    if not address.token_command:
        return address.headers
    program = address.token_command[0]
    try:
        with anyio.fail_after(TOKEN_LIMIT_S):
            # Run it in its own session, because it must not ask questions on the terminal we draw on.
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
    """An open connection to an agent."""

    @property
    def stream(self) -> ByteStream:
        """One message per line, both ways."""

    @property
    def stderr_tail(self) -> str:
        """The last output of the agent besides its messages."""

    @property
    def given(self) -> Mapping[str, str]:
        """The named values it was given, variables or headers. Secrets among them must not be shown."""

    @property
    def sandbox(self) -> Sandbox | None:
        """What it runs in, if that's a sandbox of ours."""

    def describe_exit(self) -> str:
        """How it ended, as a clause such as "exited with code 3"."""

    def loss(self, title: str) -> AgentLost:
        """How the agent called `title` ended, as an error for the user."""

    async def wait_for_end(self, timeout_s: float) -> None:
        """Wait until it's known how it ended, but no longer than `timeout_s`."""


def open_channel(
    command: AgentCommand,
    on_stderr: Callable[[bytes], None],
    folder: Path | None = None,
    plan: SandboxPlan | None = None,
) -> AbstractAsyncContextManager[Channel]:
    """Connect to the agent until the block ends. A process starts in `folder` and is certain to end.

    With `plan`, it starts in a sandbox, which the caller discards.

    Raises AgentStartFailed and AgentUnreachable.
    """
    if command.address is None:
        return running_agent(command, on_stderr, folder, plan)

    return connected_agent(command.address)
