"""Converts the client's values to ACP v1, as JSON. The caller knows whether the agent supports them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from acp_tui import __version__
from acp_tui.conversation import content
from acp_tui.conversation.facts import HttpServer
from acp_tui.protocol import roles
from acp_tui.protocol.wire import Wire, with_some, written


def initialize_request(protocol_version: int, offer: roles.ClientOffer) -> Wire:
    return {
        "protocolVersion": protocol_version,
        "clientCapabilities": _capabilities(offer),
        "clientInfo": {"name": "acp-tui", "version": __version__, "title": "acp-tui"},
    }


def _capabilities(offer: roles.ClientOffer) -> Wire:
    modes = {"form": offer.elicitation_form, "url": offer.elicitation_url}
    return with_some(
        {
            # Without this, claude-agent-acp 0.23 doesn't report the output of commands it runs itself.
            "_meta": {"terminal_output": True, **offer.meta},
            "fs": {"readTextFile": offer.read_text_file, "writeTextFile": offer.write_text_file},
            "terminal": offer.terminal,
            "session": {"compaction": {}, "configOptions": {"boolean": {}}, "notices": {}},
            "subagents": {},  # a draft, like several plans
            "plan": {},
        },
        auth={"terminal": True} if offer.auth_terminal else None,
        elicitation={mode: {} for mode, is_offered in modes.items() if is_offered} or None,
    )


# Sessions


def new_session(workplace: roles.Workplace) -> Wire:
    """Return the params that open a session. The list of folders is only present if it isn't empty."""
    prompt = workplace.system_prompt
    return with_some(
        {"cwd": str(workplace.cwd), "mcpServers": [mcp_server(server) for server in workplace.mcp_servers]},
        additionalDirectories=list(map(str, workplace.additional_directories)) or None,
        systemPrompt=prompt and {"mode": prompt.mode, "content": [content_block(content.Text(prompt.text))]},
    )


def list_sessions(cwd: Path | None, cursor: str | None) -> Wire:
    """Return the params that list sessions. The cursor goes back verbatim (R-SESS-9)."""
    return with_some({}, cwd=None if cwd is None else str(cwd), cursor=cursor)


def mcp_server(server: roles.McpServer) -> Wire:
    if isinstance(server, roles.AcpServer):
        return {"type": "acp", "name": server.name, "serverId": server.server_id}
    if not isinstance(server, HttpServer):
        return {"name": server.name, "command": server.command, "args": list(server.args), "env": _pairs(server.env)}
    return {"type": server.kind, "name": server.name, "url": server.url, "headers": _pairs(server.headers)}


def _pairs(pairs: Iterable[tuple[str, str]]) -> list[Wire]:
    return [{"name": name, "value": value} for name, value in pairs]


def set_option(session_id: str, option_id: str, source: str, value: str | bool) -> tuple[str, Wire]:
    """Return the method and params that set an option from this source."""
    if source == "mode":
        return "session/set_mode", {"sessionId": session_id, "modeId": str(value)}
    if source == "model":  # removed from the protocol, but many agents still answer it (R-OLD-1)
        return "session/set_model", {"sessionId": session_id, "modelId": str(value)}
    kind = "boolean" if isinstance(value, bool) else None
    params = with_some({"sessionId": session_id, "configId": option_id}, type=kind, value=value)
    return "session/set_config_option", params


# Content


_TYPES: Final = {content.Image: "image", content.Audio: "audio", content.ResourceLink: "resource_link"}


def content_block(block: content.ContentBlock) -> Wire:
    """Convert a content block. Raises ValueError for an unknown kind, which only agents create."""
    if isinstance(block, content.Text):  # written out, because most are
        return with_some({"type": "text", "text": block.text}, annotations=written(block.annotations), _meta=block.meta)
    if isinstance(block, content.UnknownBlock):
        raise ValueError(f"a content block of the unknown kind {block.kind!r} can't be sent")
    told = written(block)
    if not isinstance(block, content.TextResource | content.BlobResource):
        return {"type": _TYPES[type(block)], **told}
    around = {key: told.pop(key) for key in ("annotations", "_meta") if key in told}
    return {"type": "resource", "resource": with_some(told, _meta=told.pop("resourceMeta", None)), **around}


def elicitation_answer(answer: roles.ElicitationAnswer) -> dict[str, Any]:
    """Return the answer on the wire. Content only goes with accepting a form (R-ELIC-3, R-ELIC-11)."""
    return with_some({"action": answer.action}, content=answer.values if answer.action == "accept" else None)
