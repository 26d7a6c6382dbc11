"""A connection as frames, written message by message, and the rules' verdict on it."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

from acp_tui.rpc import Direction
from acp_tui.workbench.conformance import Finding, Frame, Linter

EVERYTHING = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
    "elicitation": {"form": {}, "url": {}},
}
ALL_SESSION_METHODS = {
    "loadSession": True,
    "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}},
}
AGENT = {"name": "agent", "version": "1"}


class Talk:
    """Plays both sides. Each message takes a second unless `wait` says otherwise."""

    def __init__(self) -> None:
        self.linter = Linter()
        self.findings: list[Finding] = []
        self.now = 0.0
        self._ids = count(1)

    @property
    def broken(self) -> set[str]:
        """The IDs of the broken rules."""
        return {finding.rule.rule_id for finding in self.findings}

    def line(self, raw: bytes, direction: Direction = Direction.IN) -> None:
        """Add any line."""
        self.now += 1
        self.findings += self.linter.feed(Frame(direction, self.now, raw))

    def message(self, direction: Direction, **message: Any) -> None:
        """Add a message."""
        self.line(json.dumps({"jsonrpc": "2.0", **message}).encode(), direction)

    def end(self) -> None:
        """End the connection."""
        self.findings += self.linter.finish()

    # The client

    def ask(self, method: str, **params: Any) -> int:
        """The client sends a request; returns its ID."""
        request_id = next(self._ids)
        self.message(Direction.OUT, id=request_id, method=method, params=params)
        return request_id

    def tell(self, method: str, **params: Any) -> None:
        """The client sends a notification."""
        self.message(Direction.OUT, method=method, params=params)

    def reply(self, request_id: Any, **result: Any) -> None:
        """The client answers the agent."""
        self.message(Direction.OUT, id=request_id, result=result)

    # The agent

    def answer(self, request_id: Any, **result: Any) -> None:
        """The agent answers."""
        self.message(Direction.IN, id=request_id, result=result)

    def refuse(self, request_id: Any, code: int) -> None:
        """The agent answers with an error."""
        self.message(Direction.IN, id=request_id, error={"code": code, "message": "no"})

    def request(self, method: str, request_id: Any = 900, **params: Any) -> None:
        """The agent sends a request in session s1."""
        self.message(Direction.IN, id=request_id, method=method, params={"sessionId": "s1", **params})

    def update(self, kind: str, /, session: str = "s1", **fields: Any) -> None:
        """The agent sends an update."""
        update = {"sessionUpdate": kind, **fields}
        params = {"sessionId": session, "update": update}
        self.message(Direction.IN, method="session/update", params=params)

    def say(self, text: str, kind: str = "agent_message_chunk") -> None:
        """The agent sends a chunk of a message."""
        self.update(kind, content={"type": "text", "text": text})

    # Both

    def handshake(
        self, offer: dict[str, Any] | None = None, capabilities: dict[str, Any] | None = None, **result: Any
    ) -> None:
        """Agree on everything."""
        offer = EVERYTHING if offer is None else offer
        request_id = self.ask("initialize", protocolVersion=1, clientCapabilities=offer)
        capabilities = ALL_SESSION_METHODS if capabilities is None else capabilities
        agreed = {"protocolVersion": 1, "agentInfo": AGENT, "agentCapabilities": capabilities, **result}
        self.answer(request_id, **agreed)

    def handshake_of_two(self) -> None:
        """Agree on version 2."""
        request_id = self.ask("initialize", protocolVersion=2, info=AGENT, capabilities={})
        self.answer(request_id, protocolVersion=2, info=AGENT, capabilities={})

    def open(self, **result: Any) -> None:
        """Open the session s1."""
        self.answer(self.ask("session/new", cwd="/w", mcpServers=[]), sessionId="s1", **result)

    def prompt(self) -> int:
        """Begin a turn; return the prompt's ID."""
        return self.ask("session/prompt", sessionId="s1", prompt=[{"type": "text", "text": "how are you?"}])

    def turn(self) -> None:
        """A whole turn."""
        prompt = self.prompt()
        self.say("I am fine")
        self.answer(prompt, stopReason="end_turn")

    def turn_of_two(self, *, is_busy: bool = True, is_echoed: bool = True) -> None:
        """A correct turn of version 2, except for what is left out."""
        text = {"type": "text", "text": "how are you?"}
        prompt = self.prompt()
        if is_echoed:
            self.update("user_message", messageId="u", content=[text])
        self.answer(prompt, messageId="u")
        if is_busy:
            self.update("state_update", state="running", background=[])
        self.update("agent_message_chunk", messageId="a", content=text)
        self.update("state_update", state="idle", stopReason="end_turn")


def talk_with_session(**result: Any) -> Talk:
    """Up to an open session."""
    talk = Talk()
    talk.handshake()
    talk.open(**result)
    return talk


def talk_of_two() -> Talk:
    """Up to an open session of version 2."""
    talk = Talk()
    talk.handshake_of_two()
    talk.open()
    return talk


def talk_in_turn() -> tuple[Talk, int]:
    """Up to an unanswered prompt."""
    talk = talk_with_session()
    return talk, talk.prompt()
