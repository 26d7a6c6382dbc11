"""Writes a conversation, or its picture, to a file, completely or not at all. Each format has its own module.

The file is created under a temporary name in the same folder and then renamed, so no reader sees a partial file. Only
the user can read it (0600), like the conversation itself, even if it replaces a file that others could read. A symbolic
link itself is replaced, not its target.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from acp_tui.client.errors import ClientError
from acp_tui.client.export.facts import ExportFacts
from acp_tui.client.export.jsonl import to_jsonl
from acp_tui.client.export.markdown import to_markdown
from acp_tui.client.private_files import create_private, replacing
from acp_tui.client.save_content import FileExists
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.visible import make_visible_line

_HINTS: Final = {
    errno.ENOENT: "The folder doesn't exist: make it, or choose another.",
    errno.ENOSPC: "Make room, or choose another folder.",
}


SUFFIXES: Final = (".md", ".jsonl")


def export(conversation: Conversation, facts: ExportFacts, path: Path, *, overwrite: bool = False) -> None:
    """Write `path` in the format of its suffix.

    The time depends on the conversation's length: call it in a thread, with a `snapshot` if updates may continue.
    Raises ClientError, which is FileExists if it may not `overwrite` a file.
    """
    if path.suffix.lower() not in SUFFIXES:
        shown = make_visible_line(str(path))
        raise ClientError(
            f"{shown} doesn't say which format to write.", hint=f"End the name in {' or '.join(SUFFIXES)}."
        )
    if not overwrite:
        require_new(path)
    write(path, _pieces(conversation, facts, path.suffix.lower()), overwrite=overwrite)


def require_new(path: Path) -> None:
    """Raises FileExists if it's there."""
    if os.path.lexists(path):
        raise FileExists(path)


def _pieces(conversation: Conversation, facts: ExportFacts, suffix: str) -> Iterator[bytes]:
    if suffix == ".md":
        yield to_markdown(conversation, facts).encode()
    else:
        yield from (f"{line}\n".encode() for line in to_jsonl(conversation, facts))


def write(path: Path, pieces: Iterable[bytes], *, overwrite: bool = False) -> None:
    """Write the pieces to `path`. Raises ClientError, which is FileExists if it may not `overwrite` a file."""

    def reserve() -> None:
        if not overwrite:
            create_private(path).close()  # a rename alone would replace a file that another program has created since

    try:
        with replacing(path, check=reserve) as file:
            file.writelines(pieces)
    except FileExistsError:
        raise FileExists(path) from None
    except OSError as error:
        hint = _HINTS.get(error.errno or 0, "Choose another folder.")
        shown = make_visible_line(str(path))
        raise ClientError(f"Can't write {shown}: {error.strerror or error}.", hint=hint) from error
