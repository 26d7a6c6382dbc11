"""A recorded agent in memory, and its client, which the test plays."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio

from acp_tui.client.transcript.events import Event, Frame
from acp_tui.rpc import Direction
from acp_tui.workbench.mock import PATIENCE_S, MockAgent
from acp_tui.workbench.mock.script import read_script
from support.peers import Counterpart, connected, notification, request, response
from support.waiting import LIMIT_S

OPTIONS = [
    {"optionId": "a1", "name": "Allow", "kind": "allow_once"},
    {"optionId": "a2", "name": "Always", "kind": "allow_always"},
    {"optionId": "r1", "name": "No", "kind": "reject_once"},
]
AT_ONCE = " (0.000s)"
"""The folder of all these recordings."""
NEW = request(1, "session/new", {"cwd": "/rec/p", "mcpServers": []})


def came(*messages: Any) -> list[Event]:
    """Frames from the agent."""
    return [Frame(0.0, Direction.IN, json.dumps(message).encode()) for message in messages]


def went(*messages: Any) -> list[Event]:
    """Frames to the agent."""
    return [Frame(0.0, Direction.OUT, json.dumps(message).encode()) for message in messages]


def says(text: str) -> dict[str, Any]:
    """A chunk of the agent's message."""
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    return notification("session/update", {"sessionId": "s", "update": update})


def prompt(request_id: Any, session: str = "s") -> dict[str, Any]:
    """A prompt."""
    return request(request_id, "session/prompt", {"sessionId": session, "prompt": []})


def chosen(option: str) -> dict[str, Any]:
    """An answer to a permission request."""
    return {"outcome": {"outcome": "selected", "optionId": option}}


ASKS = request(0, "session/request_permission", {"sessionId": "s", "toolCall": {}, "options": OPTIONS})
OPENED = [*went(NEW), *came(response(1, {"sessionId": "s"}))]
TURN = [
    *went(prompt(2)),
    *came(says("may I?"), ASKS),
    *went(response(0, chosen("a1"))),
    *came(says("in /rec/p/x"), response(2, {"stopReason": "end_turn"})),
]


@dataclass
class Mocked:
    """A mock and its client, which the test plays."""

    client: Counterpart
    agent: MockAgent
    departures: list[str]
    notes: list[str]

    async def open(self) -> None:
        """Open the session, in another folder and with another request ID."""
        await self.client.send(request("n", "session/new", {"cwd": "/live", "mcpServers": []}))
        assert await self.client.receive() == response("n", {"sessionId": "s"})


@asynccontextmanager
async def mocked(
    *events: Event, patience_s: float = PATIENCE_S, timeout_s: float | None = None
) -> AsyncIterator[Mocked]:
    """A mock of these events, for at most `LIMIT_S`."""
    departures: list[str] = []
    notes: list[str] = []
    agent = MockAgent(
        read_script(events),
        on_departure=lambda what: departures.append(what.replace(AT_ONCE, "")),
        on_note=lambda what: notes.append(what.replace(AT_ONCE, "")),
        patience_s=patience_s,
        timeout_s=timeout_s,
    )
    with connected() as (client, stream), anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.serve, stream)
            yield Mocked(client, agent, departures, notes)
            tasks.cancel_scope.cancel()
