"""What bytes are: media by their first bytes, and MIME types for names.

It reads no files.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Final

_MEDIA: Final = tuple(
    (mime_type, re.compile(magic, re.DOTALL))
    for mime_type, magic in (
        ("image/png", rb"\x89PNG\r\n\x1a\n"),
        ("image/jpeg", rb"\xff\xd8\xff"),
        ("image/gif", rb"GIF8[79]a"),
        ("image/webp", rb"RIFF.{4}WEBP"),
        ("audio/wav", rb"RIFF.{4}WAVE"),
        ("audio/mpeg", rb"ID3[\x02-\x04]|\xff[\xe2\xe3\xf2\xf3\xfa\xfb][^\xf0-\xff]"),
        ("audio/ogg", rb"OggS\0.{23}(?:\x01vorbis|OpusHead|\x7fFLAC|Speex)"),  # not Theora, which is video
        ("audio/flac", rb"fLaC[\0\x80]"),
    )
)
# What Python's table lacks in some version, calls plain, or files under `application/`.
_TEXT_TYPES: Final = {
    ".c": "text/x-c",
    ".cpp": "text/x-c++",
    ".go": "text/x-go",
    ".h": "text/x-c",
    ".java": "text/x-java",
    ".js": "text/javascript",
    ".json": "application/json",
    ".jsx": "text/javascript",
    ".md": "text/markdown",
    ".rb": "text/x-ruby",
    ".rs": "text/x-rust",
    ".rst": "text/x-rst",
    ".sh": "text/x-shellscript",
    ".toml": "application/toml",
    ".ts": "text/x-typescript",
    ".tsx": "text/x-typescript",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}
_COMPRESSED_TYPES: Final = {
    "gzip": "application/gzip",
    "bzip2": "application/x-bzip2",
    "xz": "application/x-xz",
}


def media_type(head: bytes) -> str | None:
    """The MIME type of a picture or a sound that begins with these bytes (36 are enough), None for all else."""
    return next((mime_type for mime_type, magic in _MEDIA if magic.match(head)), None)


def text_type(name: str) -> str:
    """The MIME type of a text of this name, however misleading its suffix is."""
    suffix = PurePath(name).suffix.lower()
    guessed = _TEXT_TYPES.get(suffix) or _guess(suffix) or ""
    is_text = guessed.startswith("text/") or guessed.endswith(("+xml", "+json"))
    return guessed if is_text or suffix in _TEXT_TYPES else "text/plain"


def binary_type(name: str) -> str:
    """The MIME type of a file of this name that is not text, however misleading its suffix is."""
    guessed = _guess(PurePath(name).suffix.lower())
    return "application/octet-stream" if guessed is None or guessed.startswith("text/") else guessed


def _guess(suffix: str) -> str | None:
    import mimetypes  # only when something is attached; it reads system files the first time

    # An instance of its own knows only Python's table: what an agent gets does not vary with the machine.
    guessed, compression = mimetypes.MimeTypes().guess_type("name" + suffix)
    return guessed if compression is None else _COMPRESSED_TYPES.get(compression)
