"""Every frame a client of ours sent or received in a test, and violations among those it sent.

It sees each Peer in this process whose handler is the client's connection; other processes are out of reach. `conduct`
decides what is a violation.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest

from acp_tui.client.sessions.session import Session
from acp_tui.conversation.facts import RequestKey
from acp_tui.protocol.connection import Connection
from acp_tui.rpc import Direction, Peer, Tap
from support.conduct import Conduct

TESTS: Final = str(Path(__file__).parents[1])
ASKS: Final = ("ask_permission", "Client.answer")
"""Where a user's answer may come from if not from Textual's keys: plain mode's terminal, a host's client."""
CARDS: Final = ("SessionPanel.answer_request", "_User.answer_request")
"""Where the answer of a card comes from."""


# What it sees


@dataclass(frozen=True, slots=True)
class Chosen:
    """The user chose an option of a permission request. Among a wire's events, it comes before its answer."""

    option_id: str


@dataclass(eq=False)
class Wire:
    """One connection of a client, with its events in order."""

    handler: Connection
    events: list[tuple[Direction, bytes] | Chosen] = field(default_factory=list)

    def teed(self, tap: Tap | None) -> Tap:
        """A tap that stores each frame and passes it on."""

        def keep(direction: Direction, frame: bytes) -> None:
            self.events.append((direction, frame))
            if tap is not None:
                tap(direction, frame)

        return keep


class FrameLog:
    """The wires of the current test."""

    def __init__(self) -> None:
        self.wires: list[Wire] = []
        self.unlicensed: list[str] = []
        self._judged = 0

    def begin(self) -> None:
        """Forget the previous test."""
        self.wires, self.unlicensed, self._judged = [], [], 0

    def violations(self) -> list[str]:
        """The violations since `begin`, reported once."""
        seen = sum(len(wire.events) for wire in self.wires) + len(self.unlicensed)
        if seen == self._judged:
            return []
        self._judged = seen
        return [*self.unlicensed, *(text for wire in self.wires for text in judge(wire))]

    def open_wire(self, handler: Any, tap: Tap | None) -> Tap | None:
        """The tap for a new peer with this handler."""
        if not isinstance(handler, Connection):
            return tap
        self.wires.append(Wire(handler))
        return self.wires[-1].teed(tap)

    def choose(self, session: Session, key: RequestKey, option_id: str) -> None:
        """Note the user's choice for a session, and who vouches that it is the user's."""
        request = session.conversation.permissions.get(key)
        option = next((o for o in request.options if o.option_id == option_id), None) if request else None
        if option is None:
            return
        if not option.is_rejection and not _is_the_users():
            self.unlicensed.append(f"{option.name!r} was chosen no key, a click or the test itself")
        for wire in self.wires:
            if wire.handler.peer is getattr(session.connection, "peer", None):
                wire.events.append(Chosen(option_id))

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Watch all peers and choices from now on."""
        open_peer, answer = Peer.__init__, Session.answer_permission

        def init(peer: Peer, stream: Any, handler: Any, *, tap: Tap | None = None, **options: Any) -> None:
            open_peer(peer, stream, handler, tap=self.open_wire(handler, tap), **options)

        def answer_permission(session: Session, key: RequestKey, option_id: str) -> None:
            self.choose(session, key, option_id)
            answer(session, key, option_id)

        patch.setattr(Peer, "__init__", init)
        patch.setattr(Session, "answer_permission", answer_permission)


# Whose choice it is


def _is_the_users() -> bool:
    """Whether the test said so itself, the terminal was asked, or a card answered while it handled a key or a click.

    A host passes on what one of its clients answered; that client's own wire is judged.
    """
    caller = sys._getframe(3)
    if caller.f_code.co_filename.startswith(TESTS) or caller.f_code.co_qualname in ASKS:
        return True
    if caller.f_code.co_qualname not in CARDS:
        return False
    from textual import events

    return any(isinstance(value, events.Key | events.Click) for value in _locals_of_callers())


def _locals_of_callers() -> Iterator[Any]:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        yield from list(frame.f_locals.values())
        frame = frame.f_back


# Violations


def judge(wire: Wire) -> list[str]:
    """What the client sent on this wire although it wasn't allowed to."""
    conduct = Conduct()
    for event in wire.events:
        if isinstance(event, Chosen):
            conduct.chosen[event.option_id] += 1
        elif event[0] is Direction.OUT:
            conduct.sent(json.loads(event[1]))
        elif (message := _received(event[1])) is not None:
            conduct.received(message)
    return conduct.violations


def _received(frame: bytes) -> dict[str, Any] | None:
    """The agent's message; None if it opens no gate, like nearly all updates, or is junk."""
    if b'"session/update"' in frame and b"config_option_update" not in frame and b'"id"' not in frame:
        return None
    try:
        message = json.loads(frame.decode("utf-8-sig", "replace"))
    except ValueError:
        return None
    return message if isinstance(message, dict) else None
