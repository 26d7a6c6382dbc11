"""An agent as a real process: runs the Python lines in its only argument, with the few names below in scope.

It uses only the standard library and starts in about 20 ms. It doesn't check what it receives.
"""

from __future__ import annotations

import json
import sys
from itertools import count
from typing import Any

_ids = count(1)


def read() -> Any:
    """The client's next message; the agent exits at the end of its input."""
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def expect(method: str) -> Any:
    """The next message of this method; skips others."""
    while (message := read()).get("method") != method:
        pass
    return message


def send(**message: Any) -> None:
    """Send a message."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(request: Any, **result: Any) -> None:
    """Answer a request."""
    send(id=request["id"], result=result)


def refuse(request: Any, code: int, message: str, data: Any = None) -> None:
    """Answer a request with an error."""
    send(id=request["id"], error={"code": code, "message": message, "data": data})


def update(kind: str, session: str = "s1", **fields: Any) -> None:
    """Send a session/update."""
    send(method="session/update", params={"sessionId": session, "update": {"sessionUpdate": kind, **fields}})


def say(text: str) -> None:
    """Send a chunk of a message."""
    update("agent_message_chunk", content={"type": "text", "text": text})


def ask(*kinds: str, session: str = "s1") -> int:
    """Ask for permission with one option of each kind, whose ID is the kind; return the request's ID."""
    options = [{"optionId": kind, "name": kind, "kind": kind} for kind in kinds]
    call = {"toolCallId": "call", "title": "Delete everything"}
    request_id = next(_ids)
    params = {"sessionId": session, "toolCall": call, "options": options}
    send(id=request_id, method="session/request_permission", params=params)
    return request_id


def outcome() -> str:
    """The decision in the client's next message."""
    decided = read()["result"]["outcome"]
    return str(decided.get("optionId", decided["outcome"]))


def handshake(**fields: Any) -> None:
    """Answer initialize."""
    answer(expect("initialize"), protocolVersion=1, **fields)


def open_session() -> Any:
    """Answer everything up to a session, and return the request of its first prompt."""
    handshake()
    answer(expect("session/new"), sessionId="s1")
    return expect("session/prompt")


def end(prompt: Any, stop_reason: str = "end_turn") -> None:
    """End the turn."""
    answer(prompt, stopReason=stop_reason)


def serve_until_closed() -> None:
    """Keep reading, and exit at the end of the input."""
    while True:
        read()


if __name__ == "__main__":
    exec(compile(sys.argv[1], "script", "exec"))
