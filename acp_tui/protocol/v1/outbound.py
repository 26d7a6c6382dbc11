"""Converts the client's values to ACP v1. The caller knows whether the agent supports them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias, TypeVar, assert_never

from acp_tui.conversation.content import (
    Annotations,
    Audio,
    BlobResource,
    ContentBlock,
    Image,
    ResourceLink,
    Text,
    TextResource,
    UnknownBlock,
)
from acp_tui.protocol import v1
from acp_tui.protocol.roles import ClientOffer, HttpServer, McpServer, Workplace
from acp_tui.protocol.v1 import content, initialize, session
from acp_tui.protocol.wire import WireModel

M = TypeVar("M", bound=WireModel)
_WireBlock: TypeAlias = (
    content.TextContent | content.ImageContent | content.AudioContent | content.ResourceLink | content.EmbeddedResource
)
_Annotated: TypeAlias = Text | Image | Audio | ResourceLink | TextResource | BlobResource


def initialize_request(
    protocol_version: int, offer: ClientOffer, name: str, title: str, version: str
) -> initialize.InitializeRequest:
    """Return the handshake with exactly what the client offers."""
    return initialize.InitializeRequest(
        protocol_version=protocol_version,
        client_capabilities=_capabilities(offer),
        client_info=initialize.Implementation(name=name, title=title, version=version),
    )


def _capabilities(offer: ClientOffer) -> initialize.ClientCapabilities:
    files = initialize.FileSystemCapabilities(
        read_text_file=offer.read_text_file, write_text_file=offer.write_text_file
    )
    return _made(
        initialize.ClientCapabilities,
        fs=files,
        terminal=offer.terminal,
        session=_session_capabilities(offer),
        auth=initialize.AuthCapabilities(terminal=True) if offer.auth_terminal else None,
        elicitation=_some(
            initialize.ElicitationCapabilities, form=_marker(offer.elicitation_form), url=_marker(offer.elicitation_url)
        ),
        subagents=_marker(offer.subagents),
        # Without this, claude-agent-acp 0.23 doesn't report the output of commands it runs itself.
        meta={"terminal_output": True, **offer.meta},
    )


def _session_capabilities(offer: ClientOffer) -> initialize.ClientSessionCapabilities | None:
    boolean = _marker(offer.boolean_options)
    return _some(
        initialize.ClientSessionCapabilities,
        config_options=_some(initialize.SessionConfigOptionsCapabilities, boolean=boolean),
        notices=_marker(offer.notices),
        compaction=_marker(offer.compaction),
    )


def _marker(is_offered: bool) -> initialize.Marker | None:
    return initialize.Marker() if is_offered else None


def _some(model: type[M], **fields: Any) -> M | None:
    """Return the model; None if it would be empty."""
    return None if all(value is None for value in fields.values()) else _made(model, **fields)


# Sessions


def new_session(workplace: Workplace) -> session.NewSessionRequest:
    """Return a request that opens a session."""
    return session.NewSessionRequest(**_workplace(workplace))


def load_session(session_id: str, workplace: Workplace) -> session.LoadSessionRequest:
    """Return a request that opens a session with its history."""
    return session.LoadSessionRequest(session_id=session_id, **_workplace(workplace))


def resume_session(session_id: str, workplace: Workplace) -> session.ResumeSessionRequest:
    """Return a request that opens a session without its history."""
    return session.ResumeSessionRequest(session_id=session_id, **_workplace(workplace))


def list_sessions(cwd: Path | None, cursor: str | None) -> session.ListSessionsRequest:
    """Return a request that lists sessions. The cursor goes back verbatim (R-SESS-9)."""
    return _made(session.ListSessionsRequest, cwd=None if cwd is None else str(cwd), cursor=cursor)


def _workplace(workplace: Workplace) -> dict[str, Any]:
    """Return the fields. The list of servers is always present, the list of folders only if it isn't empty."""
    fields: dict[str, Any] = {
        "cwd": str(workplace.cwd),
        "mcp_servers": [mcp_server(server) for server in workplace.mcp_servers],
    }
    if workplace.additional_directories:
        fields["additional_directories"] = list(map(str, workplace.additional_directories))
    return fields


def mcp_server(server: McpServer) -> session.McpServer:
    """Convert an MCP server."""
    if not isinstance(server, HttpServer):
        env = [session.EnvVariable(name=name, value=value) for name, value in server.env]
        return session.McpServerStdio(name=server.name, command=server.command, args=list(server.args), env=env)
    headers = [session.HttpHeader(name=name, value=value) for name, value in server.headers]
    model = session.McpServerHttp if server.kind == "http" else session.McpServerSse
    return model(name=server.name, url=server.url, headers=headers)


def set_option(session_id: str, option_id: str, source: str, value: str | bool) -> tuple[str, WireModel]:
    """Return the method and params that set an option from this source."""
    if source == "mode":
        return v1.SESSION_SET_MODE, session.SetSessionModeRequest(session_id=session_id, mode_id=str(value))
    if source == "model":
        return v1.SESSION_SET_MODEL, session.SetSessionModelRequest(session_id=session_id, model_id=str(value))
    request = _made(
        session.SetSessionConfigOptionRequest,
        session_id=session_id,
        config_id=option_id,
        type="boolean" if isinstance(value, bool) else None,
        value=value,
    )
    return v1.SESSION_SET_CONFIG_OPTION, request


# Content


def content_block(block: ContentBlock) -> _WireBlock:
    """Convert a content block. Raises ValueError for an unknown kind, which only agents create."""
    match block:
        case Text():
            return _block(content.TextContent, block, text=block.text)
        case Image():
            return _block(content.ImageContent, block, data=block.data, mime_type=block.mime_type, uri=block.uri)
        case Audio():
            return _block(content.AudioContent, block, data=block.data, mime_type=block.mime_type)
        case ResourceLink():
            return _resource_link(block)
        case TextResource():
            text = _made(content.TextResourceContents, text=block.text, **_resource_fields(block))
            return _block(content.EmbeddedResource, block, resource=text)
        case BlobResource():
            blob = _made(content.BlobResourceContents, blob=block.blob, **_resource_fields(block))
            return _block(content.EmbeddedResource, block, resource=blob)
        case UnknownBlock():
            raise ValueError(f"a content block of the unknown kind {block.kind!r} can't be sent")
        case _:
            assert_never(block)


def _resource_link(link: ResourceLink) -> content.ResourceLink:
    return _block(
        content.ResourceLink,
        link,
        uri=link.uri,
        name=link.name,
        title=link.title,
        description=link.description,
        mime_type=link.mime_type,
        size=link.size,
    )


def _resource_fields(block: TextResource | BlobResource) -> dict[str, Any]:
    return {"uri": block.uri, "mime_type": block.mime_type, "meta": block.resource_meta}


def _block(model: type[M], block: _Annotated, **fields: Any) -> M:
    """Return the model with the block's annotations and `_meta`."""
    return _made(model, annotations=_annotations(block.annotations), meta=block.meta, **fields)


def _annotations(annotations: Annotations | None) -> content.Annotations | None:
    if annotations is None:
        return None
    return _made(
        content.Annotations,
        audience=None if annotations.audience is None else list(annotations.audience),
        last_modified=annotations.last_modified,
        priority=annotations.priority,
        meta=annotations.meta,
    )


def _made(model: type[M], **fields: Any) -> M:
    """Return the model without fields that are None: they are omitted on the wire, not null."""
    return model(**{name: value for name, value in fields.items() if value is not None})
