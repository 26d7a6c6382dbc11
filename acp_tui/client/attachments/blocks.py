"""Makes content blocks of bytes in memory, such as a picture from the clipboard.

It reads no files; `files` does.
"""

from __future__ import annotations

from binascii import b2a_base64
from typing import Final
from urllib.parse import quote

from acp_tui.client.attachments.kinds import binary_type, media_type, text_type
from acp_tui.conversation.content import Audio, BlobResource, Image, TextResource

_SCHEME: Final = "pasted:"
"""Of the URI of what is nowhere on the disk: an agent cannot fetch it, so it must be sent whole."""


def from_bytes(data: bytes, name: str | None = None) -> Image | Audio | TextResource | BlobResource:
    """The block for pasted bytes, whatever they are; their size is for the caller to bound."""
    mime_type = media_type(data)
    if mime_type is not None:
        return media_block(data, mime_type)
    uri = _SCHEME + quote(name or "bytes", errors="surrogateescape")
    text = decode(data)
    if text is None:
        return BlobResource(uri, _base64(data), binary_type(name or ""))
    return TextResource(uri, text, text_type(name or ""))


def media_block(data: bytes, mime_type: str, uri: str | None = None) -> Image | Audio:
    """A picture or a sound, as its MIME type says; the protocol gives a sound no URI."""
    if mime_type.startswith("image/"):
        return Image(_base64(data), mime_type, uri)
    return Audio(_base64(data), mime_type)


def decode(data: bytes) -> str | None:
    """UTF-8 as text without its byte order mark, line endings as they are; None where it is not that.

    A NUL is valid UTF-8, but no text has one.
    """
    try:
        return None if b"\0" in data else data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _base64(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode("ascii")
