"""Converts the client's values to ACP v1, as JSON. The caller knows whether the agent supports them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, assert_never

from acp_tui import __version__
from acp_tui.conversation import content
from acp_tui.protocol import roles
from acp_tui.protocol.wire import Wire, with_some


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
    if not isinstance(server, roles.HttpServer):
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


def content_block(block: content.ContentBlock) -> Wire:
    """Convert a content block. Raises ValueError for an unknown kind, which only agents create."""
    match block:
        case content.Text(text):
            fields: Wire = {"type": "text", "text": text}
        case content.Image(data, mime_type, uri):
            fields = with_some({"type": "image", "data": data, "mimeType": mime_type}, uri=uri)
        case content.Audio(data, mime_type):
            fields = {"type": "audio", "data": data, "mimeType": mime_type}
        case content.ResourceLink():
            fields = with_some(
                {"type": "resource_link", "uri": block.uri, "name": block.name},
                title=block.title,
                description=block.description,
                mimeType=block.mime_type,
                size=block.size,
            )
        case content.TextResource(uri, text):
            fields = {"type": "resource", "resource": _resource({"uri": uri, "text": text}, block)}
        case content.BlobResource(uri, blob):
            fields = {"type": "resource", "resource": _resource({"uri": uri, "blob": blob}, block)}
        case content.UnknownBlock():
            raise ValueError(f"a content block of the unknown kind {block.kind!r} can't be sent")
        case _:
            assert_never(block)
    return with_some(fields, annotations=_annotations(block.annotations), _meta=block.meta)


def _resource(told: Wire, block: content.TextResource | content.BlobResource) -> Wire:
    return with_some(told, mimeType=block.mime_type, _meta=block.resource_meta)


def _annotations(annotations: content.Annotations | None) -> Wire | None:
    if annotations is None:
        return None
    return with_some(
        {},
        audience=None if annotations.audience is None else list(annotations.audience),
        lastModified=annotations.last_modified,
        priority=annotations.priority,
        _meta=annotations.meta,
    )


def elicitation_answer(answer: roles.ElicitationAnswer) -> dict[str, Any]:
    """Return the answer on the wire. Content only goes with accepting a form (R-ELIC-3, R-ELIC-11)."""
    return with_some({"action": answer.action}, content=answer.values if answer.action == "accept" else None)
