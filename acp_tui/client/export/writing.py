"""Writes a conversation into a file, whole or not at all; what a format looks like is its own module's matter.

The file is made under another name beside its place and then renamed, so nobody ever sees half of it. A new file's
mode is what the user's umask makes it (mostly 0644), as with any document that he saves: the page is for handing on.
A file that is replaced keeps its mode; a symbolic link is replaced itself, not the file that it leads to.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from acp_tui.client.export.errors import CannotWrite, FileExists, UnknownFormat
from acp_tui.client.export.facts import ExportFacts
from acp_tui.client.export.html import to_html
from acp_tui.client.export.jsonl import to_jsonl
from acp_tui.client.export.markdown import to_markdown
from acp_tui.client.export.tool_calls import PlainText
from acp_tui.conversation.conversation import Conversation

SUFFIXES: Final = (".md", ".html", ".jsonl")


def export(
    conversation: Conversation,
    facts: ExportFacts,
    path: Path,
    plain_text: PlainText,
    *,
    overwrite: bool = False,
) -> None:
    """Write `path` in the format that its suffix names.

    Takes as long as the conversation is: call it in a thread, with a `snapshot` where updates go on meanwhile.
    Raises UnknownFormat; FileExists, unless `overwrite`; CannotWrite.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UnknownFormat(path, SUFFIXES)
    if not overwrite and os.path.lexists(path):
        raise FileExists(path)
    try:
        _write(path, _pieces(conversation, facts, path.suffix.lower(), plain_text), overwrite)
    except FileExistsError:
        raise FileExists(path) from None
    except OSError as error:
        raise CannotWrite(path, error) from error


def _pieces(
    conversation: Conversation, facts: ExportFacts, suffix: str, plain_text: PlainText
) -> Iterator[str]:
    match suffix:
        case ".md":
            yield to_markdown(conversation, facts, plain_text)
        case ".html":
            yield to_html(conversation, facts, plain_text)
        case _:
            yield from (f"{line}\n" for line in to_jsonl(conversation, facts))


def _write(path: Path, pieces: Iterable[str], overwrite: bool) -> None:
    temporary = path.with_name(f".acp-tui-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(pieces)
            if overwrite:
                _take_mode(file.fileno(), path)
            file.flush()
            os.fsync(file.fileno())
        if not overwrite:
            path.touch(exist_ok=False)  # a rename alone would replace what somebody else has made by now
        temporary.replace(path)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def _take_mode(fd: int, path: Path) -> None:
    with suppress(FileNotFoundError):
        os.fchmod(fd, stat.S_IMODE(path.lstat().st_mode) & 0o666)
