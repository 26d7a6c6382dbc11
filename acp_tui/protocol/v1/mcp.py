"""MCP servers as a client hands them to an agent; a client never talks to them itself."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Tag

from acp_tui.protocol.wire import NullIsEmpty, Variant, WireModel, kind_of


class EnvVariable(WireModel):
    """One variable of an environment."""

    name: str
    value: str


class HttpHeader(WireModel):
    """One header of a request."""

    name: str
    value: str


class McpServerStdio(WireModel):
    """A server that the agent starts; it has no type on the wire."""

    name: str
    command: str
    args: NullIsEmpty[str]
    env: NullIsEmpty[EnvVariable]


class McpServerHttp(Variant):
    """A server over streamable HTTP."""

    type: Literal["http"] = "http"
    name: str
    url: str
    headers: NullIsEmpty[HttpHeader]


class McpServerSse(Variant):
    """A server over server-sent events."""

    type: Literal["sse"] = "sse"
    name: str
    url: str
    headers: NullIsEmpty[HttpHeader]


def _transport(value: Any) -> str:
    kind = kind_of(value)
    return kind if kind is not None and kind in ("http", "sse") else "stdio"


McpServer: TypeAlias = Annotated[
    Annotated[McpServerHttp, Tag("http")]
    | Annotated[McpServerSse, Tag("sse")]
    | Annotated[McpServerStdio, Tag("stdio")],
    Discriminator(_transport),
]
