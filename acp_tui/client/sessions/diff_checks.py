"""Compares the diffs that an agent shows with the files: what isn't so, and where parts of files are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from anyio import Lock, move_on_after, sleep, sleep_forever, to_thread

from acp_tui.client.line_comparison import CONTEXT_LINES
from acp_tui.client.sessions.allowances import digest, plain, shown_changes
from acp_tui.client.workspace import errors
from acp_tui.client.workspace.workspace import Workspace
from acp_tui.conversation.tool_calls import FilePart, TextDiff, ToolCall

Stamp: TypeAlias = tuple[int, ...]
MAX_COMPARED_FILES: Final = 16
"""Per call. The card must not wait for more."""
MAX_COMPARED_BYTES: Final = 1024 * 1024
COMPARING_S: Final = 5
"""For all files of a call."""
FOLLOWING_S: Final = 0.3
"""Between two looks. Less than a question waits before it can be answered."""
NOT_COMPARED: Final = "Not compared, {why}: {path}"
MORE_FILES: Final = f"Only the first {MAX_COMPARED_FILES} files are compared with those on disk, not {{more}} others."
MAX_AROUND: Final = 10_000
"""Characters around a part. There are more in files without lines."""


class Comparison(NamedTuple):
    doubts: tuple[str, ...] = ()
    """Sentences about files that differ from what the agent shows, and about those that weren't compared.

    Only the user sees them.
    """
    parts: tuple[FilePart, ...] = ()
    """Where the diffs are that show only parts of their files."""
    seen: Mapping[str, bytes] = {}
    """The digests of the files' texts, by the paths that the agent gave; of "" for those that don't exist."""
    stamps: Mapping[str, Stamp] = {}
    """By the files' paths, what changes when somebody writes, makes, or deletes them; from just before."""


async def compare(call: ToolCall, root: Path, files: Workspace, turn: Lock) -> Comparison:
    """Compare what a call shows with the files; relative paths start at `root`. One file at a time has its `turn`."""
    shown = shown_changes(call)
    if not shown:
        return Comparison()
    compared = {path: str(root / path) for path in islice(shown, MAX_COMPARED_FILES)}
    doubts = {path: NOT_COMPARED.format(why="too slow to read", path=path) for path in compared}
    seen: dict[str, bytes] = {}
    stamps: Mapping[str, Stamp] = {}
    parts: list[FilePart] = []
    with move_on_after(COMPARING_S):
        stamps = await _stamps_of(compared.values())
        for path, full_path in compared.items():
            async with turn:
                try:
                    text: str | None = await files.read_text_file(full_path)
                except errors.NotFound:
                    text = None
                except errors.WorkspaceError as error:
                    doubts[path] = NOT_COMPARED.format(why=_why_not_compared(error), path=path)
                    continue
                diffs = {at: item for at, item in enumerate(call.content) if item in shown[path]}
                compare = partial(_compare, path, text, shown[path], diffs)
                doubts[path], seen[path], found = await to_thread.run_sync(compare, abandon_on_cancel=True)
            parts += found
    more = len(shown) - len(compared)
    notes = [*filter(None, doubts.values()), *([MORE_FILES.format(more=more)] if more else [])]
    return Comparison(tuple(notes), tuple(parts), seen, stamps)


async def until_outdated(compared: Comparison, is_shown: Callable[[], bool]) -> None:
    """Wait until the agent shows something else or a compared file changes.

    Files on a file system that didn't answer once aren't looked at again.
    """
    await sleep(FOLLOWING_S)
    while is_shown():
        with move_on_after(COMPARING_S) as looking:
            if compared.stamps and await _stamps_of(compared.stamps) != compared.stamps:
                return
        if looking.cancelled_caught:
            await sleep_forever()
        await sleep(FOLLOWING_S)


async def _stamps_of(paths: Iterable[str]) -> Mapping[str, Stamp]:
    return await to_thread.run_sync(lambda: {path: _stamp(path) for path in paths}, abandon_on_cancel=True)


def _stamp(path: str) -> Stamp:
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _compare(
    path: str, text: str | None, shown: Sequence[TextDiff], diffs: Mapping[int, TextDiff]
) -> tuple[str, bytes, list[FilePart]]:
    if text is None:
        doubt = f"The file to change doesn't exist: {path}" if any(map(_old_parts, shown)) else ""
        return doubt, digest(""), [FilePart(at, 0, "", "") for at, diff in diffs.items() if diff.old_text == ""]
    return _doubt(path, plain(text).strip(), shown), digest(text), find_parts(text, diffs)


def _doubt(path: str, now: str, diffs: Iterable[TextDiff]) -> str:
    """How a file's text differs from the old text of its diffs; "" if it doesn't differ."""
    for diff in diffs:
        parts = _old_parts(diff)
        if not parts and now:
            return f"Replaces text that isn't shown: {path}"
        if any(part not in now for part in parts):
            return f"The old text isn't in the file: {path}"
    return ""


def _why_not_compared(error: errors.WorkspaceError) -> str:
    match error:
        case errors.FileTooLarge():
            return f"larger than {MAX_COMPARED_BYTES >> 20} MiB"
        case errors.OutsideWorkspace():
            return "outside the workspace"
        case errors.NotText():
            return "not text"
        case _:
            return "unreadable"


def _old_parts(diff: TextDiff) -> list[str]:
    """The old text; if it's from several places of the file, each of them."""
    lines = (diff.old_text or "").splitlines(keepends=True) if diff.hunks else [diff.old_text or ""]
    starts = [hunk.old_at for hunk in diff.hunks] or [0]
    ends = [*starts[1:], len(lines)]
    parts = (plain("".join(lines[start:end])).strip() for start, end in zip(starts, ends, strict=True))
    return [part for part in parts if part]


def find_parts(text: str, diffs: Mapping[int, TextDiff]) -> list[FilePart]:
    """Where the old texts of these diffs are in a file's text.

    Leaves out what isn't there exactly once, and diffs that say enough without it.
    """
    text = text.removeprefix("\ufeff")
    found = []
    for index, diff in diffs.items():
        if diff.old_text and not diff.hunks:
            is_crlf = "\r\n" in diff.old_text + diff.new_text
            # Line ends that the diff has differently would all look changed.
            part = _find(index, text if is_crlf else text.replace("\r\n", "\n"), diff.old_text)
            if part is not None and (diff.parts or part.before or part.after):
                found.append(part)
    return found


def _find(index: int, text: str, shown: str) -> FilePart | None:
    start = text.find(shown)
    if start < 0 or text.find(shown, start + 1) >= 0:
        return None
    begin = text.rfind("\n", 0, start) + 1
    end = start + len(shown)
    if not shown.endswith("\n"):
        end = _line_end(text, end)
    for _ in range(CONTEXT_LINES):
        begin = text.rfind("\n", 0, max(begin - 1, 0)) + 1
        end = _line_end(text, end)
    before, after = text[begin:start], text[start + len(shown) : end]
    if len(before) + len(after) > MAX_AROUND:
        return None
    return FilePart(index, text.count("\n", 0, begin) + 1, before, after)


def _line_end(text: str, at: int) -> int:
    """Where the line ends that has this character."""
    return text.find("\n", at) + 1 or len(text)
