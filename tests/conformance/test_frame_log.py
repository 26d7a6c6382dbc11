"""The log that checks every test finds what it should: each planted violation is reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.conversation.facts import RequestKey
from acp_tui.rpc import Direction
from support.agents import asked, in_memory, in_session, in_turn, shake_hands, until
from support.frame_log import Chosen, FrameLog, Wire, judge
from support.schema import SCHEMA_V1, definition_for, flaws, needs_schema

OFFER = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
HELLO = {"protocolVersion": 1, "clientCapabilities": OFFER}
OPENED = {"sessionId": "s1", "modes": {"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}]}}
TEXT = [{"type": "text", "text": "go"}]
SELECTED = {"outcome": {"outcome": "selected", "optionId": "yes"}}
REMOTE = {"type": "http", "name": "m", "url": "https://example.org", "headers": []}
LOCAL = {"name": "m", "command": "server", "args": [], "env": []}


def to(method: str, params: Any = None, request_id: Any = None) -> tuple[Direction, bytes]:
    """The client sends this; without an ID, a notification."""
    identity = {} if request_id is None else {"id": request_id}
    return _frame(Direction.OUT, {**identity, "method": method, "params": {} if params is None else params})


def asks(method: str, params: Any = None, request_id: Any = 1) -> tuple[Direction, bytes]:
    """The agent asks."""
    return _frame(Direction.IN, {"id": request_id, "method": method, "params": {} if params is None else params})


def answers(result: Any, request_id: Any = 1) -> tuple[Direction, bytes]:
    """The client answers."""
    return _frame(Direction.OUT, {"id": request_id, "result": result})


def answered(result: Any, request_id: Any) -> tuple[Direction, bytes]:
    """The agent answers."""
    return _frame(Direction.IN, {"id": request_id, "result": result})


def _frame(direction: Direction, message: dict[str, Any]) -> tuple[Direction, bytes]:
    return direction, json.dumps({"jsonrpc": "2.0", **message}).encode()


def met(**agent: Any) -> list[Any]:
    """A handshake with an agent with these capabilities, and a session."""
    greeting = {"protocolVersion": 1, "agentCapabilities": agent.pop("capabilities", {}), **agent}
    new = {"cwd": "/project", "mcpServers": []}
    return [
        to("initialize", HELLO, 1),
        answered(greeting, 1),
        to("session/new", new, 2),
        answered(OPENED, 2),
    ]


def judged(*events: Any) -> list[str]:
    """The violations among these frames."""
    return judge(Wire(None, list(events)))  # type: ignore[arg-type]


ALLOWED: dict[str, list[Any]] = {
    "a turn": [*met(), to("session/prompt", {"sessionId": "s1", "prompt": TEXT}, 3)],
    "a mode that was given": [*met(), to("session/set_mode", {"sessionId": "s1", "modeId": "a"}, 3)],
    "a gate that is open": [
        *met(capabilities={"sessionCapabilities": {"list": {}}}),
        to("session/list", {}, 3),
    ],
    "a served file": [*met(), asks("fs/read_text_file"), answers({"content": ""})],
    "a choice of the user": [
        *met(),
        asks("session/request_permission"),
        Chosen("yes"),
        answers(SELECTED),
    ],
    "an extension": [*met(), to("_example.org/do", {"anything": 1}, 3)],
    "an answer to a batch": [
        *met(),
        _frame(Direction.OUT, {"id": None, "error": {"code": -32600, "message": "x"}}),
    ],
    "two ids that differ by type": [
        *met(),
        asks("fs/read_text_file", request_id=1),
        asks("fs/read_text_file", request_id="1"),
        answers({"content": ""}, "1"),
        answers({"content": ""}, 1),
    ],
}

BREACHES: dict[str, tuple[str, list[Any]]] = {
    "something before initialize": ("R-INIT-1", [to("session/new", {"cwd": "/p", "mcpServers": []}, 1)]),
    "something before its answer": ("R-INIT-1", [to("initialize", HELLO, 1), to("session/cancel")]),
    "something after another version": (
        "R-INIT-1",
        [
            to("initialize", HELLO, 1),
            answered({"protocolVersion": 3}, 1),
            to("session/new", {"cwd": "/p", "mcpServers": []}, 2),
        ],
    ),
    "a second initialize": ("R-INIT-1", [*met(), to("initialize", HELLO, 3)]),
    **{
        f"{method} to an agent without it": ("R-INIT-7", [*met(), to(method, params, 3)])
        for method, params in {
            "session/load": {"sessionId": "s", "cwd": "/p", "mcpServers": []},
            "session/resume": {"sessionId": "s", "cwd": "/p"},
            "session/list": {},
            "session/delete": {"sessionId": "s"},
            "session/close": {"sessionId": "s"},
            "logout": {},
        }.items()
    },
    **{
        f"a system prompt to {mode} that the agent doesn't take": (
            f"the agent takes no system prompt to {mode}",
            [
                *met(capabilities={"sessionCapabilities": {"systemPrompt": offered}}),
                to("session/new", {"cwd": "/p", "mcpServers": [], "systemPrompt": {"mode": mode, "content": TEXT}}, 3),
            ],
        )
        for mode, offered in {"append": None, "override": {"mode": None}}.items()
    },
    "a null marker taken for a yes": (
        "R-INIT-5",
        [*met(capabilities={"auth": {"logout": None}}), to("logout", {}, 3)],
    ),
    "a mode that wasn't given": (
        "R-MODE-2",
        [*met(), to("session/set_mode", {"sessionId": "s1", "modeId": "z"}, 3)],
    ),
    "an option that wasn't given": (
        "R-MODE-2",
        [*met(), to("session/set_config_option", {"sessionId": "s1", "configId": "z", "value": "v"}, 3)],
    ),
    "an image to an agent that takes none": (
        "R-PROMPT-4",
        [
            *met(),
            to(
                "session/prompt",
                {"sessionId": "s1", "prompt": [{"type": "image", "data": "", "mimeType": "image/png"}]},
                3,
            ),
        ],
    ),
    "a second prompt": (
        "R-PROMPT-3",
        [*met(), *(to("session/prompt", {"sessionId": "s1", "prompt": TEXT}, i) for i in (3, 4))],
    ),
    "an MCP server over http": (
        "R-MCP-2",
        [*met(), to("session/new", {"cwd": "/p", "mcpServers": [REMOTE]}, 3)],
    ),
    "an MCP server by its bare name": (
        "R-MCP-1",
        [*met(), to("session/new", {"cwd": "/p", "mcpServers": [LOCAL]}, 3)],
    ),
    "a relative directory": ("R-SESS-2", [*met(), to("session/new", {"cwd": "p", "mcpServers": []}, 3)]),
    "additional directories": (
        "R-DIR-1",
        [*met(), to("session/new", {"cwd": "/p", "mcpServers": [], "additionalDirectories": ["/q"]}, 3)],
    ),
    "authenticate with a method for the terminal": (
        "R-AUTH-5",
        [
            *met(authMethods=[{"id": "t", "name": "T", "type": "terminal"}]),
            to("authenticate", {"methodId": "t"}, 3),
        ],
    ),
    "an answer to a notification": ("R-RPC-4", [*met(), answers({}, 9)]),
    "a second answer": (
        "R-RPC-4",
        [*met(), asks("fs/read_text_file"), answers({"content": ""}), answers({"content": ""})],
    ),
    "an answer under an id of another type": (
        "R-RPC-4",
        [*met(), asks("fs/read_text_file", request_id="1"), answers({"content": ""}, 1)],
    ),
    "a result and an error": (
        "R-RPC-4",
        [
            *met(),
            asks("_x"),
            _frame(Direction.OUT, {"id": 1, "result": {}, "error": {"code": 1, "message": ""}}),
        ],
    ),
    "a key of our own in an envelope": (
        "R-RPC-9",
        [_frame(Direction.OUT, {"id": 1, "method": "initialize", "params": HELLO, "extra": 1})],
    ),
    "an elicitation that wasn't offered": (
        "R-INIT-6",
        [*met(), asks("elicitation/create", {"mode": "url"}), answers({"action": "cancel"})],
    ),
    "an option that nobody chose": (
        "R-PERM-4",
        [*met(), asks("session/request_permission"), answers(SELECTED)],
    ),
    "one choice for two requests": (
        "R-PERM-4",
        [
            *met(),
            asks("session/request_permission"),
            asks("session/request_permission", request_id=2),
            Chosen("yes"),
            answers(SELECTED),
            answers(SELECTED, 2),
        ],
    ),
}

UNFIT: dict[str, list[Any]] = {
    "a missing field": [to("initialize", {}, 1)],
    "a key of our own": [to("initialize", {**HELLO, "vendor": 1}, 1)],
    "a key of our own further in": [to("initialize", {**HELLO, "clientCapabilities": {"fs": {"vendor": 1}}}, 1)],
    "a result of the wrong type": [*met(), asks("fs/read_text_file"), answers({"content": 5})],
    "a cancellation as a request": [*met(), to("session/cancel", {"sessionId": "s1"}, 3)],
    "a system prompt without content": [
        *met(capabilities={"sessionCapabilities": {"systemPrompt": {}}}),
        to("session/new", {"cwd": "/p", "mcpServers": [], "systemPrompt": {"mode": "append"}}, 3),
    ],
    "a method that doesn't exist": [*met(), to("session/invent", {}, 3)],
    "an error without a message": [
        *met(),
        asks("_x"),
        _frame(Direction.OUT, {"id": 1, "error": {"code": 1}}),
    ],
}


def test_the_schema_is_there() -> None:
    """Without the schema, only the gates judge frames."""
    if not SCHEMA_V1.exists():
        pytest.skip("the protocol's schema isn't beside the repository: no frame is validated")
    assert flaws(definition_for("session/prompt", "agent", "Request") or "", {"sessionId": "s", "prompt": []}) == []


@pytest.mark.parametrize("what", ALLOWED)
def test_what_is_allowed_passes(what: str) -> None:
    assert judged(*ALLOWED[what]) == []


@pytest.mark.parametrize("what", BREACHES)
def test_a_breach_is_seen(what: str) -> None:
    """R-INIT-1, R-INIT-5, R-INIT-6, R-RPC-4, R-PERM-4, R-PROMPT-3, R-PROMPT-4, R-MCP-2, R-DIR-1, R-AUTH-5"""
    requirement, events = BREACHES[what]
    assert any(requirement in text for text in judged(*events))


@needs_schema
@pytest.mark.parametrize("what", UNFIT)
def test_what_does_not_fit_the_schema_is_seen(what: str) -> None:
    """R-RPC-9, R-CANC-1"""
    assert judged(*UNFIT[what]) != []


async def test_the_clients_connections_are_seen(frame_log: FrameLog) -> None:
    async with in_memory() as (agent, wire):
        await shake_hands(agent, wire)
        assert [len(seen.events) for seen in frame_log.wires] == [2]
        # Bypasses the client's own check, as a mistake in it would.
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.connection.peer.request, "session/list", {})
            await wire.answer(await wire.expect("session/list"), {"sessions": []})
    assert len(frame_log.violations()) == 1
    frame_log.begin()


async def test_an_answer_that_is_nobodys_choice_is_seen(tmp_path: Path, frame_log: FrameLog) -> None:
    """R-PERM-4: no test, key, or click chose this, but the product itself."""
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire):
        await wire.send(asked(7, "yes"))
        await until(session, lambda: bool(session.conversation.permissions))
        code = compile("session.answer_permission(key, 'yes')", "acp_tui/client/somewhere.py", "exec")
        exec(code, {"session": session, "key": RequestKey(1)})
        assert (await wire.receive())["result"] == SELECTED
    assert [text for text in frame_log.violations() if "no key" in text] != []
    frame_log.begin()
