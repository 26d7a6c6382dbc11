"""Makes the content block for a file or folder, and says what went wrong where it is not the one hoped for.

It does not find the file in the prompt's text; `attach` does.
"""

from __future__ import annotations

import codecs
import os
import stat
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import Final, TypeAlias

from acp_tui.client.attachments.blocks import decode, media_block
from acp_tui.client.attachments.kinds import binary_type, media_type, text_type
from acp_tui.client.attachments.reading import (
    LineRange,
    SpecialFile,
    TooMuch,
    open_regular,
    read_all,
    read_lines,
)
from acp_tui.conversation.content import ContentBlock, ResourceLink, TextResource

_UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

Outcome: TypeAlias = tuple[ContentBlock | None, str | None]
"""What is attached, and a sentence on what went wrong."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a file is sent; a larger one becomes a link, which the agent can follow by itself."""

    text_bytes: int = 256 << 10
    media_bytes: int = 10 << 20


@dataclass(frozen=True, slots=True)
class Named:
    """Something on the disk that a prompt names; two names for one path are equal."""

    path: Path
    """Absolute."""
    lines: LineRange | None
    """None: all of it."""
    name: str = field(compare=False)
    """As the user wrote it, for messages."""

    def link(self, mime_type: str | None = None, size: int | None = None) -> ResourceLink:
        """A link to all of the file."""
        return ResourceLink(self.path.as_uri(), self.path.name, mime_type=mime_type, size=size)


def block_for(named: Named, limits: Limits) -> Outcome:
    """The block for a file or folder as it is now; never an exception, and no waiting for other processes."""
    try:
        if stat.S_ISDIR(named.path.stat().st_mode):
            return _whole(named, _folder(named.path))
        with open_regular(named.path) as file:
            return _block_for_content(named, file, limits)
    except SpecialFile as special:
        return None, f"{named.name!r} is a {special.kind}: nothing is attached for it."
    except (FileNotFoundError, NotADirectoryError):
        return None, f"{named.name!r} has just vanished: nothing is attached for it."
    except OSError as error:
        reason = os.strerror(error.errno).lower() if error.errno else str(error)
        return named.link(), f"{named.name!r} cannot be read ({reason}): a link to it is attached instead."


def _folder(path: Path) -> ResourceLink:
    uri = path.as_uri().removesuffix("/") + "/"  # the root has its slash already
    return ResourceLink(uri, path.name or str(path), mime_type="inode/directory")


def _block_for_content(named: Named, file: BufferedReader, limits: Limits) -> Outcome:
    head = file.peek()
    media = media_type(head)
    if media is not None:
        return _media(named, file, media, limits.media_bytes)
    if b"\0" in head and not head.startswith(_UTF16_MARKS):
        return _whole(named, named.link(binary_type(named.path.name), _size(file)))
    if named.lines is not None:
        return _some_lines(named, named.lines, file, limits.text_bytes)
    return _text(named, file, limits.text_bytes)


def _media(named: Named, file: BufferedReader, mime_type: str, limit_bytes: int) -> Outcome:
    try:
        content = read_all(file, limit_bytes)
    except TooMuch:
        problem = f"{named.name!r} is larger than {limit_bytes:,} bytes: a link to it is attached instead."
        return named.link(mime_type, _size(file)), problem
    return _whole(named, media_block(content, mime_type, named.path.as_uri()))


def _whole(named: Named, block: ContentBlock) -> Outcome:
    """The block for something that has no lines, even if some were asked for."""
    if named.lines is None:
        return block, None
    return block, f"{named.name!r} is not text, so it has no {named.lines}: all of it is attached."


def _text(named: Named, file: BufferedReader, limit_bytes: int) -> Outcome:
    link = named.link(text_type(named.path.name), _size(file))
    try:
        text = decode(read_all(file, limit_bytes))
    except TooMuch:
        return link, None
    if text is None:
        return _not_text(named, link)
    return TextResource(link.uri, text, link.mime_type), None


def _some_lines(named: Named, asked: LineRange, file: BufferedReader, limit_bytes: int) -> Outcome:
    link = named.link(text_type(named.path.name), _size(file))
    try:
        content, last_seen = read_lines(file, asked, limit_bytes)
    except TooMuch:
        return link, f"{named.name!r} is too large to take {asked} from: a link to it is attached instead."
    if last_seen < asked.first:
        return link, f"{named.name!r} ends before {asked}: a link to it is attached instead."
    text = decode(content)
    if text is None:
        return _not_text(named, link)
    given = LineRange(asked.first, last_seen)
    problem = (
        None
        if given == asked
        else f"{named.name!r} ends with line {last_seen}: no more of {asked} is attached."
    )
    return TextResource(link.uri + given.fragment, text, link.mime_type), problem


def _not_text(named: Named, link: ResourceLink) -> Outcome:
    return link, f"{named.name!r} is not UTF-8 text: a link to it is attached instead."


def _size(file: BufferedReader) -> int:
    return os.fstat(file.fileno()).st_size
