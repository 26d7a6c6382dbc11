"""A client for the demo agent, in memory: it records what arrives and answers as the test says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import pytest

from acp_tui.demo.agent import DemoAgent
from acp_tui.demo.scenario import read_scenario
from acp_tui.demo.script import Scenario
from acp_tui.rpc import ErrorCode, Peer, RequestFailed, Tap
from acp_tui.rpc.memory_stream import connected_pair
from support.waiting import LIMIT_S, Bell

OFFERED = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
    "elicitation": {"form": {}, "url": {}},
    "auth": {"terminal": True},
}
OFFERED_IN_TWO = {"elicitation": {"form": {}, "url": {}}, "auth": {"terminal": {}}}
CWD = "/project"


class FakeClient:
    """The client's side. `answers[method]` replaces the answer to the agent's request."""

    def __init__(self) -> None:
        self.peer: Peer
        self.cwd = CWD
        self.updates: list[dict[str, Any]] = []
        self.states: list[dict[str, Any]] = []
        """The updates that report the agent's state; those are few."""
        self.updates_of: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.notifications: list[tuple[str, dict[str, Any]]] = []
        """Those that aren't updates."""
        self.cancelled_requests: list[str] = []
        self.junk: list[bytes] = []
        self.files: dict[str, str] = {}
        self.permission_kind = "allow_once"
        self.elicitation_action = "accept"
        self.exit_code = 0
        self.answers: dict[str, Callable[[dict[str, Any]], Awaitable[Any]]] = {}
        self._bell = Bell()

    # What a test does

    async def open(self, capabilities: dict[str, Any] = OFFERED) -> dict[str, Any]:
        """The handshake and one session; returns the answer to session/new."""
        await self.initialize(capabilities)
        return await self.new_session()

    async def initialize(self, capabilities: dict[str, Any] = OFFERED, protocol: int = 1) -> dict[str, Any]:
        shapes = {"clientCapabilities": capabilities, "capabilities": OFFERED_IN_TWO}
        return await self.peer.request("initialize", {"protocolVersion": protocol, **shapes})

    async def new_session(self) -> dict[str, Any]:
        return await self.peer.request("session/new", {"cwd": self.cwd, "mcpServers": []})

    @property
    def is_idle(self) -> bool:
        """Whether the agent has said last that it waits for a prompt."""
        return bool(self.states) and self.states[-1]["state"] == "idle"

    async def prompt(self, text: str = "go", session_id: str = "demo-1") -> str:
        """Take a turn; return its stop reason."""
        blocks = [{"type": "text", "text": text}]
        params = {"sessionId": session_id, "prompt": blocks}
        return (await self.peer.request("session/prompt", params))["stopReason"]

    def cancel(self, session_id: str = "demo-1") -> None:
        self.peer.notify("session/cancel", {"sessionId": session_id})

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something from the agent makes the condition true."""
        await self._bell.until(condition)

    async def until_asked(self, method: str) -> None:
        await self.until(lambda: method in self.methods)

    @property
    def methods(self) -> list[str]:
        """The methods the agent has called, in order."""
        return [method for method, _ in self.requests]

    def params(self, method: str) -> dict[str, Any]:
        """The params of the first call of a method."""
        return next(params for name, params in self.requests if name == method)

    def kinds(self) -> list[str]:
        return [update["sessionUpdate"] for update in self.updates]

    def message(self, session_id: str = "demo-1") -> str:
        """Everything the agent said."""
        return "".join(
            update["content"]["text"]
            for update in self.updates_of[session_id]
            if update["sessionUpdate"] == "agent_message_chunk" and update["content"]["type"] == "text"
        )

    # rpc.Handler

    def on_notification(self, method: str, params: Any) -> None:
        if method == "session/update":
            self.updates.append(params["update"])
            if params["update"]["sessionUpdate"] == "state_update":
                self.states.append(params["update"])
            self.updates_of[params["sessionId"]].append(params["update"])
        else:
            self.notifications.append((method, params))
        self._bell.ring()

    def on_request(self, method: str, params: Any) -> Awaitable[Any]:
        self.requests.append((method, params))
        self._bell.ring()
        return self._answer(method, params)

    def on_malformed(self, line: bytes, reason: str) -> None:
        self.junk.append(line)
        self._bell.ring()

    async def _answer(self, method: str, params: dict[str, Any]) -> Any:
        try:
            return await self.answers.get(method, self._default)(params | {"method": method})
        except anyio.get_cancelled_exc_class():
            self.cancelled_requests.append(method)
            raise

    async def _default(self, params: dict[str, Any]) -> Any:
        match params["method"]:
            case "fs/read_text_file":
                if params["path"] not in self.files:
                    raise RequestFailed(-32002, "Resource not found")
                return {"content": self.files[params["path"]]}
            case "fs/write_text_file":
                self.files[params["path"]] = params["content"]
                return {}
            case "session/request_permission":
                return {"outcome": self._choose(params["options"])}
            case "elicitation/create":
                is_filled_in = self.elicitation_action == "accept" and params["mode"] == "form"
                content = {"content": filled_in(params["requestedSchema"])} if is_filled_in else {}
                return {"action": self.elicitation_action} | content
            case "terminal/create":
                return {"terminalId": f"term-{self.methods.count('terminal/create')}"}
            case "terminal/wait_for_exit":
                return {"exitCode": self.exit_code}
            case "terminal/output":
                return {"output": "ok\n", "truncated": False}
            case "terminal/kill" | "terminal/release":
                return {}
        raise RequestFailed(ErrorCode.METHOD_NOT_FOUND, "Method not found")

    def _choose(self, options: list[dict[str, Any]]) -> dict[str, Any]:
        word = self.permission_kind.partition("_")[0]
        chosen = next(option for option in options if option["kind"].startswith(word))
        return {"outcome": "selected", "optionId": chosen["optionId"]}


def filled_in(schema: dict[str, Any]) -> dict[str, Any]:
    """A form's fields that have a default, with it."""
    properties = schema["properties"].items()
    return {name: field["default"] for name, field in properties if "default" in field}


Connect = Callable[..., AbstractAsyncContextManager[FakeClient]]


@pytest.fixture
def connect() -> Connect:
    """`async with connect(scenario) as client`: the agent serves until the block ends. TOML text works, too."""
    return _connected


@asynccontextmanager
async def _connected(
    scenario: Scenario | str, *, speed: float = 0, tap: Tap | None = None
) -> AsyncIterator[FakeClient]:
    if isinstance(scenario, str):
        scenario = read_scenario("test", f'description = "a test"\n{scenario}', "test.toml")
    ours, theirs = connected_pair()
    client = FakeClient()
    client.peer = Peer(ours, client)
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_serve, DemoAgent(scenario, speed=speed), theirs, tap)
            tasks.start_soon(client.peer.serve)
            yield client
            await client.peer.flush()
            await ours.aclose()


async def _serve(agent: DemoAgent, stream: Any, tap: Tap | None) -> None:
    await agent.serve(stream, tap=tap)
    await stream.aclose()
