"""A proxy of the protocol as a real process, written from the schema: passes messages on, in the ways its words name.

Uses only the standard library. It names the methods as the schema does, or with `_` as the released Rust crates do.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from itertools import count
from typing import Any

WAYS = set(sys.argv[1:])
PREFIX = "_" if "released" in WAYS else ""
SUCCESSOR = PREFIX + "proxy/successor"
CHUNK = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x" * 1000}}

_ids = count(1)
_asked: dict[Any, tuple[Any, str]] = {}
"""The ID that the asker knows and the method, by ours."""
_sent: dict[Any, int] = {}
"""Our IDs, by the asker's."""


def send(**message: Any) -> None:
    """Send a message."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def pass_on(message: Any, method: str, call: Any) -> None:
    """Send a request or notification on, a request under an ID of our own."""
    if "id" not in message:
        send(**call)
        return
    ours = next(_ids)
    _asked[ours] = message["id"], method
    _sent[message["id"]] = ours
    send(id=ours, **call)


def downward(message: Any) -> None:
    """From the client, on to the successor."""
    method, params = message["method"], message.get("params")
    if method == "$/cancel_request":
        if params["requestId"] in _sent:
            send(method=method, params={"requestId": _sent[params["requestId"]]})
        return
    if method == PREFIX + "proxy/initialize":
        if "silent" in WAYS:
            return
        if "early" in WAYS:
            send(id=message["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
            return
        if "dies" in WAYS:
            sys.stderr.write("the proxy can't find its rules\n")
            sys.exit(3)
        method = "initialize"
    elif method.removeprefix("_") == "proxy/initialize":
        send(id=message["id"], error={"code": -32601, "message": "no such method"})
        return
    if method == "session/prompt":
        before_prompt(params)
    pass_on(message, method, {"method": SUCCESSOR, "params": {"method": method, "params": params}})


def before_prompt(params: Any) -> None:
    """Do what our words say with a prompt."""
    if "rewrites" in WAYS:
        params["prompt"][0]["text"] = params["prompt"][0]["text"].upper()
    if "junk" in WAYS:
        sys.stdout.write("Rules loaded.\n[1, 2]\n" + json.dumps({"id": 999, "result": {}}) + "\n")
        send(method=SUCCESSOR, params={"method": 7})
        send(id="wrong", method=SUCCESSOR, params={"method": "session/prompt", "params": "text"})
        send(id="loop", method=SUCCESSOR, params={"method": SUCCESSOR, "params": {"method": "session/new"}})
    if "floods" in WAYS:
        for _ in range(20_000):
            send(method="session/update", params={"sessionId": params["sessionId"], "update": CHUNK})
    if "killed" in WAYS:
        os.kill(os.getpid(), signal.SIGKILL)


def answer(message: Any) -> None:
    """Pass an answer back to whoever asked."""
    if message["id"] not in _asked:
        if "junk" in WAYS:
            sys.stderr.write(f"answered {message['id']}: {message['error']['code']}\n")
        return
    theirs, method = _asked.pop(message.pop("id"))
    _sent.pop(theirs, None)
    if method == "initialize" and "result" in message:
        result = message["result"]
        if "named" in WAYS:
            info = "info" if result["protocolVersion"] == 2 else "agentInfo"
            result[info] = {"name": "scripted-proxy", "version": "7.1"}
        if "newer" in WAYS:
            result["protocolVersion"] += 1
    send(**{**message, "id": theirs})


def main() -> None:
    """Pass on each line."""
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == SUCCESSOR:
            call = message["params"]
            pass_on(message, call["method"], call)
        elif "method" in message:
            downward(message)
        else:
            answer(message)


if __name__ == "__main__":
    main()
