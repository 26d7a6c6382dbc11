"""Saves a content block to a new file. The agent's name for it isn't trusted."""

from __future__ import annotations

import mimetypes
import unicodedata
from base64 import b64decode
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Final, TypeAlias
from urllib.parse import unquote, urlsplit

from acp_tui.client.errors import ClientError
from acp_tui.client.private_files import create_private, make_private
from acp_tui.conversation.content import Audio, BlobResource, Image, TextResource
from acp_tui.conversation.visible import make_visible_line

Saveable: TypeAlias = Image | Audio | BlobResource | TextResource
"""The blocks whose content can be a file."""

MAX_NAME_BYTES: Final = 200
"""File systems allow 255, and a number may be added."""
MAX_TRIES: Final = 1_000
_HIDDEN_OR_OPTION: Final = ".-~ "
"""A name must not begin with these, because it would be hidden, or mean something else on a command line."""
_SUFFIXES: Final = {
    "audio/mpeg": ".mp3",
    "audio/ogg": ".ogg",
    "audio/wav": ".wav",
    "image/gif": ".gif",
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/svg+xml": ".svg",
    "image/webp": ".webp",
    "text/markdown": ".md",
}


class FileExists(ClientError):
    """The file exists, and the caller didn't ask to replace it."""

    def __init__(self, path: Path) -> None:
        shown = make_visible_line(str(path))
        super().__init__(f"{shown} already exists.", hint="Choose another name, or delete it.")
        self.path = path


def save_block(block: Saveable, folder: Path) -> Path:
    """Write the block's bytes to a new file in `folder`, readable only by the user. Returns its path. Blocks.

    Creates the folder if necessary. Never overwrites a file or follows a link.

    Raises: ClientError, if nothing was saved.
    """
    content, name = _content(block), safe_name(block)
    try:
        make_private(folder)
        for path in _free_names(folder, name):
            with suppress(FileExistsError):
                _write(path, content)
                return path
    except OSError as error:
        raise ClientError(f"It can't be saved in {folder}: {error.strerror or error}") from error
    raise ClientError(f"It can't be saved in {folder}: too many files are named {name}")


def safe_name(block: Saveable) -> str:
    """A file name for the block: the last part of its URI without misleading characters, otherwise one for its kind."""
    uri = None if isinstance(block, Audio) else block.uri
    named = _cleaned(unquote(_last_part(uri or "")))
    kind = "image" if isinstance(block, Image) else "audio" if isinstance(block, Audio) else "file"
    return _shortened(named or kind + _suffix_of(block))


def _content(block: Saveable) -> bytes:
    if isinstance(block, TextResource):
        return block.text.encode(errors="replace")
    try:
        return b64decode(block.blob if isinstance(block, BlobResource) else block.data, validate=True)
    except ValueError as error:
        raise ClientError("It can't be saved: the agent's data isn't base64", detail=str(error)) from error


def _last_part(uri: str) -> str:
    try:
        return urlsplit(uri).path.rstrip("/").rpartition("/")[2]
    except ValueError:  # it isn't a URI
        return ""


def _cleaned(name: str) -> str:
    # Replace separators after decoding, too. Categories C and Z include controls, format characters, and lone
    # surrogates.
    shown = ("_" if each in "/\\:" else each for each in name)
    kept = "".join(each for each in shown if each == " " or unicodedata.category(each)[0] not in "CZ")
    return kept.lstrip(_HIDDEN_OR_OPTION).rstrip(" .")


def _shortened(name: str) -> str:
    suffix = PurePath(name).suffix
    suffix = suffix if len(suffix.encode()) <= 16 else ""
    stem = name.removesuffix(suffix).encode()[: MAX_NAME_BYTES - len(suffix.encode())]
    return stem.decode(errors="ignore") + suffix


def _suffix_of(block: Saveable) -> str:
    mime_type = (block.mime_type or "").partition(";")[0].strip().lower()
    if known := _SUFFIXES.get(mime_type):
        return known

    # A new instance knows only Python's table, so a file's name doesn't depend on the machine.
    guessed = mimetypes.MimeTypes(()).guess_extension(mime_type, strict=False)
    return guessed or (".txt" if isinstance(block, TextResource) else ".bin")


def _free_names(folder: Path, name: str) -> Iterator[Path]:
    path = folder / name
    yield path
    for number in range(1, MAX_TRIES):
        yield path.with_name(f"{path.stem}-{number}{path.suffix}")


def _write(path: Path, content: bytes) -> None:
    file = create_private(path)
    try:
        with file:
            file.write(content)
    except BaseException:
        path.unlink(missing_ok=True)  # an incomplete file is worse than none
        raise
