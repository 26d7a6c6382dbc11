"""A conductor as a real process, written from the schema alone, to hold proxies and chains against.

`agent COMMANDS` is an agent to its client, and the last command is the agent behind the proxies. `proxy COMMANDS` is
itself a proxy, whose last proxy has the successor of the whole. COMMANDS is JSON: a list of lists of words.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import count
from threading import Lock, Thread
from typing import Any

MODE, COMMANDS = sys.argv[1], json.loads(sys.argv[2])
LAST = len(COMMANDS)
HERE = Lock()
"""One message at a time."""
RUNNING = [subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for words in COMMANDS]
INPUTS: list[Any] = [sys.stdin.buffer, *(process.stdout for process in RUNNING)]
OUTPUTS: list[Any] = [sys.stdout.buffer, *(process.stdin for process in RUNNING)]
"""Whom we are started by comes first."""
_ids = count(1)
_asked: dict[tuple[int, Any], tuple[int, Any]] = {}
"""Who asked and under which ID, by who was asked and our ID."""
_went: dict[tuple[int, Any], tuple[int, Any]] = {}
"""The other way around."""


def is_proxy(member: int) -> bool:
    return MODE == "proxy" or member < LAST


def send(member: int, **message: Any) -> None:
    OUTPUTS[member].write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    OUTPUTS[member].flush()


def route(member: int, message: Any) -> None:
    """Pass on one message."""
    if "method" not in message:
        asker, theirs = _asked.pop((member, message["id"]))
        _went.pop((asker, theirs), None)
        send(asker, **{**message, "id": theirs})
    elif message["method"] == "$/cancel_request":
        target, ours = _went.get((member, message["params"]["requestId"]), (None, None))
        if target is not None:
            send(target, method="$/cancel_request", params={"requestId": ours})
    else:
        target, call = addressed(member, message["method"], message.get("params"))
        if "id" in message:
            ours = next(_ids)
            _asked[target, ours] = member, message["id"]
            _went[member, message["id"]] = target, ours
            call["id"] = ours
        send(target, **call)


def addressed(member: int, method: str, params: Any) -> tuple[int, dict[str, Any]]:
    """Who gets a call, and how."""
    wrapped = method == "proxy/successor"
    if member == 0 and wrapped:  # from the successor of the whole
        return LAST, {"method": method, "params": params}
    if member == 0:
        return 1, downward(1, method, params)
    if wrapped and member == LAST:
        return 0, {"method": method, "params": params}
    if wrapped:
        return member + 1, downward(member + 1, params["method"], params.get("params"))
    if member == 1:
        return 0, {"method": method, "params": params}
    return member - 1, {"method": "proxy/successor", "params": {"method": method, "params": params}}


def downward(member: int, method: str, params: Any) -> dict[str, Any]:
    if method in ("initialize", "proxy/initialize"):
        method = "proxy/initialize" if is_proxy(member) else "initialize"
    return {"method": method, "params": params}


def serve(member: int) -> None:
    """Pass on what a member says, until it says no more; then all of this ends."""
    for line in INPUTS[member]:
        with HERE:
            route(member, json.loads(line))
    for process in RUNNING:
        process.stdin.close()
    for process in RUNNING:
        process.wait()
    os._exit(0)


for each in range(LAST + 1):
    Thread(target=serve, args=(each,)).start()
