"""Creates the content block for a file or folder, or says why it couldn't."""

from __future__ import annotations

import codecs
import mimetypes
import os
import re
import stat
from binascii import b2a_base64
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from io import BufferedReader
from pathlib import Path, PurePath
from typing import Final, TypeAlias
from urllib.parse import quote

from acp_tui.client.private_files import SPECIAL_KINDS
from acp_tui.conversation.content import Audio, BlobResource, ContentBlock, Image, ResourceLink, TextResource
from acp_tui.values import dataclass

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


def media_type(head: bytes) -> str | None:
    """The MIME type of an image or sound that begins with these bytes (36 are enough); None for anything else."""
    return next((mime_type for mime_type, magic in _MEDIA if magic.match(head)), None)


def text_type(name: str) -> str:
    """The MIME type of a text with this name, however misleading its suffix."""
    guessed = _guess(name) or ""
    is_text = guessed.startswith("text/") or guessed == "application/json" or guessed.endswith(("+xml", "+json"))
    return guessed if is_text else "text/plain"


def binary_type(name: str) -> str:
    """The MIME type of a non-text file with this name, however misleading its suffix."""
    guessed = _guess(name)
    return "application/octet-stream" if guessed is None or guessed.startswith("text/") else guessed


def _guess(name: str) -> str | None:
    # A new instance knows only Python's table, so the result doesn't depend on the machine.
    guessed, compression = mimetypes.MimeTypes().guess_type("name" + PurePath(name).suffix.lower())
    return guessed if compression is None else None


_PIECE_BYTES: Final = 1 << 16
SCANNED_BYTES: Final = 64 << 20  # a second or two of counting lines


class NotRegular(Exception):
    """Neither a file nor a folder, but of this kind. Reading it could block forever."""


class TooMuch(Exception):
    """Reading it would exceed the byte limit."""


@dataclass(frozen=True, slots=True)
class MentionedLines:
    """Lines of a file, 1-based, both inclusive."""

    first: int
    last: int

    @property
    def fragment(self) -> str:
        """The suffix of a file's URI for these lines."""
        return f"#L{self.first}" if self.first == self.last else f"#L{self.first}-L{self.last}"

    def __str__(self) -> str:
        return f"line {self.first}" if self.first == self.last else f"lines {self.first}-{self.last}"


@contextmanager
def open_regular(path: Path) -> Iterator[BufferedReader]:
    """Open a regular file. Follows links. Raises: NotRegular, OSError."""
    _require_regular(path.stat())  # before opening it, which alone can activate a device
    with open(path, "rb", opener=open_at_once) as file:
        _require_regular(os.fstat(file.fileno()))  # it may have been swapped since
        yield file


def read_all(file: BufferedReader, limit_bytes: int) -> bytes:
    """The rest of a file. Its size isn't used, because files in /proc have none. Raises: TooMuch, OSError."""
    content = file.read(limit_bytes + 1) or b""  # None means that reading would block
    if len(content) > limit_bytes:
        raise TooMuch
    return content


def read_lines(file: BufferedReader, lines: MentionedLines, limit_bytes: int) -> tuple[bytes, int]:
    """These lines of a file with their endings, and the number of the last line read.

    A line ends with a line feed. The last line read comes before the range if the file ends there.

    Raises: TooMuch, OSError.
    """
    wanted: list[bytes] = []
    wanted_bytes = scanned_bytes = ended = 0
    line_has_begun = False
    while ended < lines.last and (piece := file.readline(_PIECE_BYTES)):
        scanned_bytes += len(piece)
        if ended + 1 >= lines.first:
            wanted.append(piece)
            wanted_bytes += len(piece)
        if wanted_bytes > limit_bytes or scanned_bytes > SCANNED_BYTES:
            raise TooMuch
        line_has_begun = not piece.endswith(b"\n")  # a long line arrives in several pieces
        ended += not line_has_begun
    return b"".join(wanted), ended + line_has_begun


def open_at_once(path: str, flags: int) -> int:
    """O_NONBLOCK: opening a named pipe must not wait for its other end."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)


def _require_regular(status: os.stat_result) -> None:
    kind = stat.S_IFMT(status.st_mode)
    if kind not in (stat.S_IFREG, stat.S_IFDIR):  # opening a directory fails anyway
        raise NotRegular(SPECIAL_KINDS.get(kind, "special file"))


_SCHEME: Final = "pasted:"
"""The URI scheme for content that isn't on the disk. An agent can't fetch it, so it must be sent completely."""


def from_bytes(data: bytes, name: str | None = None) -> Image | Audio | TextResource | BlobResource:
    """The block for pasted bytes of any kind. The caller limits their size."""
    mime_type = media_type(data)
    if mime_type is not None:
        return media_block(data, mime_type)
    uri = _SCHEME + quote(name or "bytes", errors="surrogateescape")
    text = decode(data)
    if text is None:
        return BlobResource(uri, _base64(data), binary_type(name or ""))
    return TextResource(uri, text, text_type(name or ""))


def media_block(data: bytes, mime_type: str, uri: str | None = None) -> Image | Audio:
    """An image or a sound, according to its MIME type. In the protocol, a sound has no URI."""
    if mime_type.startswith("image/"):
        return Image(_base64(data), mime_type, uri)
    return Audio(_base64(data), mime_type)


def decode(data: bytes) -> str | None:
    """UTF-8 as text without a byte order mark, line endings unchanged; None if it isn't valid.

    A NUL is valid UTF-8, but no text contains one.
    """
    try:
        return None if b"\0" in data else data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _base64(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode("ascii")


_UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

Outcome: TypeAlias = tuple[ContentBlock | None, str | None]
"""The attachment, and a sentence about any problem."""


@dataclass(frozen=True, slots=True)
class AttachmentLimits:
    """How much of a file is sent. A larger file becomes a link, which the agent can follow itself."""

    text_bytes: int = 256 << 10
    media_bytes: int = 10 << 20


@dataclass(frozen=True, slots=True)
class NamedPath:
    """A file or folder that a prompt names. Two names for the same path are equal."""

    path: Path
    """Absolute."""
    lines: MentionedLines | None
    """None for the whole file."""
    name: str = field(compare=False)
    """As the user wrote it, for messages."""

    def link(self, mime_type: str | None = None, size: int | None = None) -> ResourceLink:
        return ResourceLink(self.path.as_uri(), self.path.name, mime_type=mime_type, size=size)


def block_for(named: NamedPath, limits: AttachmentLimits) -> Outcome:
    """The block for a file or folder as it is now. Never raises, and never waits for other processes."""
    try:
        if stat.S_ISDIR(named.path.stat().st_mode):
            return _whole(named, _folder(named.path))
        with open_regular(named.path) as file:
            return _block_for_content(named, file, limits)
    except NotRegular as special:
        return None, f"{named.name!r} is a {special}, so it isn't attached."
    except (FileNotFoundError, NotADirectoryError):
        return None, f"{named.name!r} is gone, so it isn't attached."
    except OSError as error:
        reason = os.strerror(error.errno).lower() if error.errno else str(error)
        return named.link(), f"{named.name!r} can't be read ({reason}), so a link to it is attached instead."


def _folder(path: Path) -> ResourceLink:
    uri = path.as_uri().removesuffix("/") + "/"  # the root already ends with a slash
    return ResourceLink(uri, path.name or str(path), mime_type="inode/directory")


def _block_for_content(named: NamedPath, file: BufferedReader, limits: AttachmentLimits) -> Outcome:
    head = file.peek()
    media = media_type(head)
    if media is not None:
        return _media(named, file, media, limits.media_bytes)
    if b"\0" in head and not head.startswith(_UTF16_MARKS):
        return _whole(named, named.link(binary_type(named.path.name), _size(file)))
    if named.lines is not None:
        return _some_lines(named, named.lines, file, limits.text_bytes)
    return _text(named, file, limits.text_bytes)


def _media(named: NamedPath, file: BufferedReader, mime_type: str, limit_bytes: int) -> Outcome:
    try:
        content = read_all(file, limit_bytes)
    except TooMuch:
        problem = f"{named.name!r} is larger than {limit_bytes:,} bytes, so a link to it is attached instead."
        return named.link(mime_type, _size(file)), problem
    return _whole(named, media_block(content, mime_type, named.path.as_uri()))


def _whole(named: NamedPath, block: ContentBlock) -> Outcome:
    """The block for something without lines, even if some were requested."""
    if named.lines is None:
        return block, None
    return block, f"{named.name!r} isn't text, so it has no {named.lines}; all of it is attached."


def _text(named: NamedPath, file: BufferedReader, limit_bytes: int) -> Outcome:
    link = named.link(text_type(named.path.name), _size(file))
    try:
        text = decode(read_all(file, limit_bytes))
    except TooMuch:
        return link, None
    if text is None:
        return _not_text(named, link)
    return TextResource(link.uri, text, link.mime_type), None


def _some_lines(named: NamedPath, asked: MentionedLines, file: BufferedReader, limit_bytes: int) -> Outcome:
    link = named.link(text_type(named.path.name), _size(file))
    try:
        content, last_seen = read_lines(file, asked, limit_bytes)
    except TooMuch:
        return link, f"{named.name!r} is too large to read {asked} from, so a link to it is attached instead."
    if last_seen < asked.first:
        return link, f"{named.name!r} ends before {asked}, so a link to it is attached instead."
    text = decode(content)
    if text is None:
        return _not_text(named, link)
    given = MentionedLines(asked.first, last_seen)
    problem = (
        None if given == asked else f"{named.name!r} ends with line {last_seen}, so only part of {asked} is attached."
    )
    return TextResource(link.uri + given.fragment, text, link.mime_type), problem


def _not_text(named: NamedPath, link: ResourceLink) -> Outcome:
    return link, f"{named.name!r} isn't UTF-8 text, so a link to it is attached instead."


def _size(file: BufferedReader) -> int:
    return os.fstat(file.fileno()).st_size
