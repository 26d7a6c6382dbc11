"""The way to an agent, wherever it runs: a stream of lines, and how it ended. Nothing above knows what lies behind it.

A process of ours is `process`'s matter, an agent at an address is `remote`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

from anyio.abc import ByteStream

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.process import running_agent
from acp_tui.client.errors import AgentLost


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
    from acp_tui.client.agents.remote import connected_agent  # for agents elsewhere alone

    return connected_agent(command.address)
