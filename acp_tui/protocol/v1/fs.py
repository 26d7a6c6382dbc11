"""`fs/*`: files that the agent reads and writes through the client; strict, since they decide what is touched."""

from __future__ import annotations

from acp_tui.protocol.wire import UInt32, WireModel


class ReadTextFileRequest(WireModel):
    """`fs/read_text_file`: a file, or `limit` lines of it from the 1-based `line` on."""

    session_id: str
    path: str
    line: UInt32 | None = None
    limit: UInt32 | None = None


class ReadTextFileResponse(WireModel):
    """The text."""

    content: str


class WriteTextFileRequest(WireModel):
    """`fs/write_text_file`: the whole new text of a file."""

    session_id: str
    path: str
    content: str


class WriteTextFileResponse(WireModel):
    """Nothing: written."""
