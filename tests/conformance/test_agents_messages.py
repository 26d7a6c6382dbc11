"""Whatever an agent sends over a live connection, a client answers each request once, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_tui.conversation.entries import ToolCallEntry
from acp_tui.rpc import ErrorCode
from support.agents import agent_texts, in_session, in_turn, notification, said, until
from support.schema import Messages, needs_schema

COUNT = 200
SERVED = (
    *("session/request_permission", "fs/read_text_file", "fs/write_text_file"),
    *("terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"),
)
WRONG_PARAMS: tuple[Any, ...] = ({}, [], 5, "x", {"sessionId": 5}, {"sessionId": "s1"}, {"sessionId": None})


def request(request_id: Any, method: str, params: Any) -> dict[str, Any]:
    """A request from the agent, as on the wire."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


@needs_schema
async def test_no_update_is_answered_however_it_looks(tmp_path: Path) -> None:
    """R-UPD-1, R-RPC-4, R-LEN-3"""
    async with in_session(tmp_path) as (_, wire):
        for seed in range(COUNT):
            messages = Messages(seed)
            params = messages.valid("SessionNotification") | {"sessionId": "s1"}
            await wire.send(notification("session/update", params))
            await wire.send(notification("session/update", messages.broken(params)))
        assert await wire.receive_all() == []


@pytest.mark.parametrize("method", SERVED)
async def test_wrong_params_are_refused_as_such(tmp_path: Path, method: str) -> None:
    """R-RPC-6, R-LEN-3"""
    async with in_session(tmp_path) as (_, wire):
        for number, params in enumerate(WRONG_PARAMS):
            await wire.send(request(number, method, params))
            answer = await wire.receive()
            assert (answer["id"], answer["error"]["code"]) == (number, ErrorCode.INVALID_PARAMS)


@needs_schema
@pytest.mark.parametrize(
    ("method", "definition"),
    [
        ("fs/read_text_file", "ReadTextFileRequest"),
        ("terminal/output", "TerminalOutputRequest"),
        ("terminal/kill", "KillTerminalRequest"),
        ("terminal/release", "ReleaseTerminalRequest"),
        ("terminal/wait_for_exit", "WaitForTerminalExitRequest"),
    ],
)
async def test_each_broken_request_is_answered_once(tmp_path: Path, method: str, definition: str) -> None:
    """R-RPC-4, R-RPC-6: even with strange IDs, which come back unchanged."""
    async with in_session(tmp_path) as (_, wire):
        for seed in range(COUNT // 10):
            messages = Messages(seed)
            params = messages.broken(messages.valid(definition))
            request_id = (seed, str(seed), f"größer {seed}", None)[seed % 4]
            await wire.send(request(request_id, method, params))
            answer = await wire.receive()
            assert (answer["id"], "error" in answer) == (request_id, True)
        assert await wire.receive_all() == []


async def test_meta_and_unknown_keys_change_nothing(tmp_path: Path) -> None:
    """R-EXT-2, R-RPC-9"""
    meta = {"traceparent": "00-1", "example.org/x": {"deep": [1, None]}, "sessionUpdate": "plan"}
    chunk = said("Hello")
    chunk["params"] |= {"_meta": meta, "xKey": 1}
    chunk["params"]["update"] |= {"_meta": meta, "xKey": {"sessionId": "other"}}
    chunk["params"]["update"]["content"] |= {"_meta": meta, "xKey": None}
    async with in_session(tmp_path) as (session, wire):
        await wire.send(chunk | {"xKey": 1}, said(" again"))
        await until(session, lambda: agent_texts(session) == ["Hello again"])
        assert await wire.receive_all() == []


async def test_updates_behind_the_end_of_a_turn_are_shown(tmp_path: Path) -> None:
    """R-PROMPT-10, R-UPD-2"""
    call = {"sessionUpdate": "tool_call", "toolCallId": "late", "title": "Late", "status": "completed"}
    async with in_session(tmp_path) as (session, wire):
        async with in_turn(session, wire):
            pass
        await wire.send(notification("session/update", {"sessionId": "s1", "update": call}), said("Too late?"))
        await until(session, lambda: agent_texts(session) == ["Too late?"])
        assert any(isinstance(entry, ToolCallEntry) for entry in session.conversation.entries)
