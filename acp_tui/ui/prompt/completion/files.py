"""What may be meant by `@` in the draft: paths, or lines of one file. It looks at the disk in threads only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from anyio import to_thread

from acp_tui.client.completion.matching import Match
from acp_tui.client.completion.spelling import Writing, mention_of
from acp_tui.client.completion.workspace_files import Peek, WorkspaceFiles, is_written_out, peek
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import ToolCallEntry
from acp_tui.ui.prompt.completion.suggestion import Remark, Suggestion

PEEKED_LINES: Final = 6
MOST_RECENT: Final = 8
LOOKED_BACK: Final = 200
"""Entries of the conversation that are asked for files."""
READING: Final = Remark("Reading which files there are …")

Row: TypeAlias = Suggestion | Remark


async def rows_for(
    writing: Writing, files: WorkspaceFiles, recent: Sequence[str], is_stale: Callable[[], bool]
) -> list[Row]:
    """What to show for a mention that is being written; it may take a while, and is best given up when stale."""

    def look() -> list[Row]:
        if writing.lines is not None:
            return _lines_of(files.root, writing, writing.lines)
        return list(_suggestions(files.find(writing.path, recent, is_stale)))

    rows = await to_thread.run_sync(look, abandon_on_cancel=True)
    needs_reading = not files.is_read and writing.lines is None and not is_written_out(writing.path)
    return rows or ([READING] if needs_reading else [])


def _suggestions(found: Iterable[Match]) -> Iterator[Suggestion]:
    """What can be written in a prompt so that it is read back as the same path."""
    for match in found:
        written = mention_of(match.text)
        if written is None:
            continue
        is_folder = match.text.endswith("/")
        further = mention_of(match.text, is_open=True) if is_folder else None
        name_at = match.text.rfind("/", 0, -1) + 1
        yield Suggestion(match.text, f"{written} ", further or "", places=match.places, name_at=name_at)


def _lines_of(root: Path, writing: Writing, lines: str) -> list[Row]:
    """How many lines the file has, and a look at those that are written."""
    try:
        path = Path(writing.path).expanduser() if writing.path.startswith("~/") else root / writing.path
    except RuntimeError:  # there is no home
        return []
    seen = peek(path, lines, PEEKED_LINES)
    return [] if seen is None else [Remark(writing.path, _count(seen)), *_numbered(seen)]


def _count(seen: Peek) -> str:
    return f"{seen.count:,}{' or more' if seen.is_cut else ''} line{'' if seen.count == 1 else 's'}"


def _numbered(seen: Peek) -> Iterator[Remark]:
    width = len(str(seen.lines[-1][0])) if seen.lines else 0
    for number, text in seen.lines:
        yield Remark(f"{number:>{width}} │ {text.expandtabs(4)}")


def recent_paths(conversation: Conversation, root: Path) -> list[str]:
    """The files that the agent worked on last, relative to `root`, the latest first."""
    found: dict[str, None] = {}
    for entry in reversed(conversation.entries[-LOOKED_BACK:]):
        for path in reversed(_paths_of(entry) if isinstance(entry, ToolCallEntry) else ()):
            found.setdefault(path.removeprefix(f"{root}/"))
        if len(found) >= MOST_RECENT:
            break
    return list(found)[:MOST_RECENT]


def _paths_of(entry: ToolCallEntry) -> list[str]:
    return [location.path for location in entry.call.locations]
