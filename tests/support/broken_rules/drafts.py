"""Connections that each break one rule of a draft."""

from __future__ import annotations

from typing import Any

from acp_tui.rpc import Direction
from support.broken_rules.case import breaks
from support.linting import ALL_SESSION_METHODS, Talk


def _with_provider(**fields: Any) -> tuple[Talk, dict[str, Any]]:
    provider = {
        "providerId": "main",
        "supported": ["anthropic"],
        "required": False,
        "current": {"apiType": "anthropic", "baseUrl": "https://a"},
        **fields,
    }
    talk = Talk()
    talk.handshake(capabilities={**ALL_SESSION_METHODS, "providers": {}})
    talk.answer(talk.ask("providers/list"), providers=[provider])
    return talk, provider


@breaks("A-PROV-1")
def _still_there_after_it_was_disabled() -> Talk:
    talk, provider = _with_provider()
    talk.answer(talk.ask("providers/disable", providerId="main"))
    talk.answer(talk.ask("providers/list"), providers=[provider])
    return talk


@breaks("A-PROV-2")
def _disabled_although_required() -> Talk:
    talk, _ = _with_provider(required=True)
    talk.answer(talk.ask("providers/disable", providerId="main"))
    return talk


GIVEN = {"type": "acp", "name": "tools", "serverId": "t"}


def _with_server() -> Talk:
    talk = Talk()
    talk.handshake(capabilities={**ALL_SESSION_METHODS, "mcpCapabilities": {"acp": True}})
    talk.answer(talk.ask("session/new", cwd="/w", mcpServers=[GIVEN]), sessionId="s1")
    return talk


def _asks(talk: Talk, request_id: str, **params: str) -> None:
    asked = {"serverId": "t", "requestId": "r", "method": "tools/list", **params}
    talk.message(Direction.IN, id=request_id, method="mcp/message", params=asked)


@breaks("A-MCP-1")
def _a_server_that_it_was_not_given() -> Talk:
    talk = _with_server()
    _asks(talk, "a", serverId="another")
    talk.reply("a", result={})
    return talk


@breaks("A-MCP-2")
def _an_id_that_is_under_way() -> Talk:
    talk = _with_server()
    _asks(talk, "a")
    talk.reply("a", result={})
    _asks(talk, "b")
    _asks(talk, "c")
    talk.reply("b", result={})
    talk.reply("c", result={})
    return talk


@breaks("A2-MCP-1")
def _an_unknown_kind_of_server_taken() -> Talk:
    talk = Talk()
    talk.handshake_of_two()
    servers = [{"type": "_acp-tui.check", "name": "check"}]
    talk.answer(talk.ask("session/new", cwd="/w", mcpServers=servers), sessionId="s1")
    return talk
