"""How pasted or read bytes are classified, and which MIME type a name implies."""

from __future__ import annotations

from base64 import b64encode

import pytest

from acp_tui.client.attachments.files import binary_type, from_bytes, media_type, text_type
from acp_tui.conversation.content import Audio, BlobResource, Image, TextResource

OGG = b"OggS\0\x02" + bytes(21) + b"\x1e"


@pytest.mark.parametrize(
    ("head", "mime_type"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\n\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\n\0\0\0WAVEfmt ", "audio/wav"),
        (b"ID3\x04\0", "audio/mpeg"),
        (b"\xff\xfb\x90\x64", "audio/mpeg"),
        (OGG + b"\x01vorbis", "audio/ogg"),
        (OGG + b"OpusHead", "audio/ogg"),
        (OGG + b"\x80theora", None),
        (b"fLaC\0\0\0\x22", "audio/flac"),
        (b"RIFF\n\0\0\0AVI LIST", None),
        (b"BM", None),
        (b"ID3 tags are text", None),
        (b"\xff\xfea\0", None),
        (b"GIF8", None),
        (b"", None),
    ],
)
def test_media_are_told_by_their_first_bytes(head: bytes, mime_type: str | None) -> None:
    assert media_type(head) == mime_type


@pytest.mark.parametrize(
    ("name", "as_text", "as_binary"),
    [
        ("a.py", "text/x-python", "application/octet-stream"),
        ("a.CSS", "text/css", "application/octet-stream"),
        ("a.html", "text/html", "application/octet-stream"),
        ("a.svg", "image/svg+xml", "image/svg+xml"),
        ("a.json", "application/json", "application/json"),
        ("a.png", "text/plain", "image/png"),
        ("a.tar.gz", "text/plain", "application/octet-stream"),
        ("a.svgz", "text/plain", "application/octet-stream"),
        ("Makefile", "text/plain", "application/octet-stream"),
        ("data:text/html,x", "text/plain", "application/octet-stream"),
    ],
)
def test_a_mime_type_fits_the_content_whatever_the_name_says(name: str, as_text: str, as_binary: str) -> None:
    assert (text_type(name), binary_type(name)) == (as_text, as_binary)


def test_pasted_media_have_no_uri() -> None:
    for data, block in ((b"GIF89a\0", Image), (b"fLaC\0\0\0\x22", Audio)):
        encoded = b64encode(data).decode()
        mime_type = media_type(data)
        assert mime_type is not None
        assert from_bytes(data, "x.bin") == block(encoded, mime_type)


def test_other_pasted_bytes_are_whole_resources() -> None:
    assert from_bytes(b"\xef\xbb\xbfh\xc3\xa9\r\n", "a b.html") == TextResource(
        "pasted:a%20b.html", "hé\r\n", "text/html"
    )
    assert from_bytes(b"\xff") == BlobResource("pasted:bytes", "/w==", "application/octet-stream")
    assert from_bytes(b"a\0b") == BlobResource("pasted:bytes", "YQBi", "application/octet-stream")
