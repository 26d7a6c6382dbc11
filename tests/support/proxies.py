"""A proxy and a conductor as real processes, written from the schema alone: this module is their program.

It uses only the standard library.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from itertools import count
from threading import Lock, Thread
from typing import Any, Final

CHUNK: Final = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x" * 1000}}
PROGRAM: Final = (sys.executable, "-I", "-S", __file__)


def proxy(*ways: str) -> tuple[str, ...]:
    """The command of a proxy that passes messages on in these ways."""
    return (*PROGRAM, "proxy", *ways)


def conducted(mode: str, *commands: Sequence[str]) -> tuple[str, ...]:
    """The command of another conductor than ours, for these: as an "agent", or as a "proxy" of proxies."""
    return (*PROGRAM, "conductor", mode, json.dumps(commands))


class Proxy:
    """Passes messages on, in the ways its words name.

    It names the methods as the schema does, or with `_` as the released Rust crates do.
    """

    def __init__(self, ways: Sequence[str]) -> None:
        self._ways = ways
        self._prefix = "_" if "released" in ways else ""
        self._successor = self._prefix + "proxy/successor"
        self._ids = count(1)
        self._asked: dict[Any, tuple[Any, str]] = {}
        """The ID that the asker knows and the method, by ours."""
        self._sent: dict[Any, int] = {}
        """Our IDs, by the asker's."""

    def serve(self) -> None:
        """Pass on each line."""
        for line in sys.stdin:
            message = json.loads(line)
            if message.get("method") == self._successor:
                call = message["params"]
                self._pass_on(message, call["method"], call)
            elif "method" in message:
                self._downward(message)
            else:
                self._answer(message)

    def _pass_on(self, message: Any, method: str, call: Any) -> None:
        """Send a request or notification on, a request under an ID of our own."""
        if "id" not in message:
            send(**call)
            return
        ours = next(self._ids)
        self._asked[ours] = message["id"], method
        self._sent[message["id"]] = ours
        send(id=ours, **call)

    def _downward(self, message: Any) -> None:
        """From the client, on to the successor."""
        method, params = message["method"], message.get("params")
        if method == "$/cancel_request":
            if params["requestId"] in self._sent:
                send(method=method, params={"requestId": self._sent[params["requestId"]]})
            return
        if method == self._prefix + "proxy/initialize":
            if "silent" in self._ways:
                return
            if "early" in self._ways:
                send(id=message["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
                return
            if "dies" in self._ways:
                sys.stderr.write("the proxy can't find its rules\n")
                sys.exit(3)
            method = "initialize"
        elif method.removeprefix("_") == "proxy/initialize":
            send(id=message["id"], error={"code": -32601, "message": "no such method"})
            return
        if method == "session/prompt":
            self._before_prompt(params)
        self._pass_on(message, method, {"method": self._successor, "params": {"method": method, "params": params}})

    def _before_prompt(self, params: Any) -> None:
        """Do what our words say with a prompt."""
        successor = self._successor
        if "rewrites" in self._ways:
            params["prompt"][0]["text"] = params["prompt"][0]["text"].upper()
        if "junk" in self._ways:
            sys.stdout.buffer.write(b'Rules loaded.\n[1, 2]\n{"id": 999, "result": {}}\n')
            send(method=successor, params={"method": 7})
            send(id="wrong", method=successor, params={"method": "session/prompt", "params": "text"})
            send(id="loop", method=successor, params={"method": successor, "params": {"method": "session/new"}})
        if "floods" in self._ways:
            for _ in range(20_000):
                send(method="session/update", params={"sessionId": params["sessionId"], "update": CHUNK})
        if "killed" in self._ways:
            os.kill(os.getpid(), signal.SIGKILL)

    def _answer(self, message: Any) -> None:
        """Pass an answer back to whoever asked."""
        if message["id"] not in self._asked:
            if "junk" in self._ways:
                sys.stderr.write(f"answered {message['id']}: {message['error']['code']}\n")
            return
        theirs, method = self._asked.pop(message.pop("id"))
        self._sent.pop(theirs, None)
        if method == "initialize" and "result" in message:
            result = message["result"]
            if "named" in self._ways:
                info = "info" if result["protocolVersion"] == 2 else "agentInfo"
                result[info] = {"name": "scripted-proxy", "version": "7.1"}
            if "newer" in self._ways:
                result["protocolVersion"] += 1
        send(**{**message, "id": theirs})


def send(**message: Any) -> None:
    """Send a message to who has started us."""
    write(sys.stdout.buffer, message)


def write(output: Any, message: Any) -> None:
    output.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    output.flush()


class Conductor:
    """Holds proxies and chains together.

    As an `agent` to its client, its last command is the agent behind the proxies. As a `proxy`, it is one itself,
    whose last proxy has the successor of the whole.
    """

    def __init__(self, mode: str, commands: Sequence[Sequence[str]]) -> None:
        self._mode = mode
        self._last = len(commands)
        self._here = Lock()
        """One message at a time."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._running = [subprocess.Popen(words, **pipes) for words in commands]
        self._inputs: list[Any] = [sys.stdin.buffer, *(process.stdout for process in self._running)]
        self._outputs: list[Any] = [sys.stdout.buffer, *(process.stdin for process in self._running)]
        """Whom we are started by comes first."""
        self._ids = count(1)
        self._asked: dict[tuple[int, Any], tuple[int, Any]] = {}
        """Who asked and under which ID, by who was asked and our ID."""
        self._went: dict[tuple[int, Any], tuple[int, Any]] = {}
        """The other way around."""

    def serve(self) -> None:
        for each in range(self._last + 1):
            Thread(target=self._serve_member, args=(each,)).start()

    def _serve_member(self, member: int) -> None:
        """Pass on what a member says, until it says no more; then all of this ends."""
        for line in self._inputs[member]:
            with self._here:
                self._route(member, json.loads(line))
        for process in self._running:
            process.stdin.close()
        for process in self._running:
            process.wait()
        os._exit(0)

    def _route(self, member: int, message: Any) -> None:
        """Pass on one message."""
        if "method" not in message:
            asker, theirs = self._asked.pop((member, message["id"]))
            self._went.pop((asker, theirs), None)
            self._send(asker, **{**message, "id": theirs})
        elif message["method"] == "$/cancel_request":
            target, ours = self._went.get((member, message["params"]["requestId"]), (None, None))
            if target is not None:
                self._send(target, method="$/cancel_request", params={"requestId": ours})
        else:
            target, call = self._addressed(member, message["method"], message.get("params"))
            if "id" in message:
                ours = next(self._ids)
                self._asked[target, ours] = member, message["id"]
                self._went[member, message["id"]] = target, ours
                call["id"] = ours
            self._send(target, **call)

    def _send(self, member: int, **message: Any) -> None:
        write(self._outputs[member], message)

    def _addressed(self, member: int, method: str, params: Any) -> tuple[int, dict[str, Any]]:
        """Who gets a call, and how."""
        wrapped = method == "proxy/successor"
        if member == 0 and wrapped:  # from the successor of the whole
            return self._last, {"method": method, "params": params}
        if member == 0:
            return 1, self._downward(1, method, params)
        if wrapped and member == self._last:
            return 0, {"method": method, "params": params}
        if wrapped:
            return member + 1, self._downward(member + 1, params["method"], params.get("params"))
        if member == 1:
            return 0, {"method": method, "params": params}
        return member - 1, {"method": "proxy/successor", "params": {"method": method, "params": params}}

    def _downward(self, member: int, method: str, params: Any) -> dict[str, Any]:
        if method in ("initialize", "proxy/initialize"):
            is_proxy = self._mode == "proxy" or member < self._last
            method = "proxy/initialize" if is_proxy else "initialize"
        return {"method": method, "params": params}


if __name__ == "__main__":
    kind, *words = sys.argv[1:]
    (Proxy(words) if kind == "proxy" else Conductor(words[0], json.loads(words[1]))).serve()
