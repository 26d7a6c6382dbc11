"""Compares the diffs that an agent shows with the files: what isn't so, and where parts of files are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from anyio import Lock, move_on_after, to_thread

from acp_tui.client.line_comparison import CONTEXT_LINES
from acp_tui.client.workspace import Workspace, errors
from acp_tui.conversation.tool_calls import FilePart, TextDiff

MAX_COMPARED_FILES: Final = 8
"""Per call. The card must not wait for more."""
MAX_COMPARED_BYTES: Final = 1024 * 1024
COMPARING_S: Final = 5
"""For all files of a call."""
NOT_COMPARED: Final = "Not compared with the file, because {why}: {path}"
MORE_FILES: Final = f"Only the first {MAX_COMPARED_FILES} files are compared; not compared: {{more}} more."
MAX_AROUND: Final = 10_000
"""Characters around a part. There are more in files without lines."""


class Comparison(NamedTuple):
    doubts: tuple[str, ...]
    """Sentences about files that differ from what the agent shows, and about those that weren't compared.

    Only the user sees them.
    """
    parts: tuple[FilePart, ...]
    """Where the diffs are that show only parts of their files."""


async def compare(diffs: Mapping[int, TextDiff], files: Workspace, turn: Lock) -> Comparison:
    """Compare diffs, which are given by their index in the call's content. One file at a time has its `turn`."""
    of_file: dict[str, dict[int, TextDiff]] = {}
    for index, diff in diffs.items():
        of_file.setdefault(diff.path, {})[index] = diff
    compared = [*of_file][:MAX_COMPARED_FILES]
    doubts = {path: NOT_COMPARED.format(why="reading takes too long", path=path) for path in compared}
    parts: list[FilePart] = []
    with move_on_after(COMPARING_S):
        for path in compared:
            async with turn:
                doubts[path], found = await _compare_file(files, path, of_file[path])
            parts += found
    more = len(of_file) - len(compared)
    notes = [*filter(None, doubts.values()), *([MORE_FILES.format(more=more)] if more else [])]
    return Comparison(tuple(notes), tuple(parts))


async def _compare_file(files: Workspace, path: str, diffs: Mapping[int, TextDiff]) -> tuple[str, list[FilePart]]:
    try:
        text = await files.read_text_file(path)
    except errors.NotFound:
        is_old = any(map(_old_parts, diffs.values()))
        return f"The agent shows old text, but the file doesn't exist: {path}" if is_old else "", []
    except errors.WorkspaceError as error:
        return NOT_COMPARED.format(why=_why_not_compared(error), path=path), []
    found = await to_thread.run_sync(find_parts, text, diffs, abandon_on_cancel=True)
    return _doubt(path, _plain(text), diffs.values()), found


def _doubt(path: str, now: str, diffs: Iterable[TextDiff]) -> str:
    """How a file's text differs from the old text of its diffs; "" if it doesn't differ."""
    for diff in diffs:
        parts = _old_parts(diff)
        if not parts and now:
            return f"The agent shows this file as new, but it exists: {path}"
        if any(part not in now for part in parts):
            return f"The agent shows old text that isn't in the file: {path}"
    return ""


def _why_not_compared(error: errors.WorkspaceError) -> str:
    match error:
        case errors.FileTooLarge():
            return f"the file is larger than {MAX_COMPARED_BYTES >> 20} MiB"
        case errors.OutsideWorkspace():
            return "the file is outside the session's folders"
        case errors.NotText():
            return "the file isn't text"
        case _:
            return "the file can't be read"


def _old_parts(diff: TextDiff) -> list[str]:
    """The old text; if it's from several places of the file, each of them."""
    lines = (diff.old_text or "").splitlines(keepends=True) if diff.hunks else [diff.old_text or ""]
    starts = [hunk.old_at for hunk in diff.hunks] or [0]
    ends = [*starts[1:], len(lines)]
    parts = (_plain("".join(lines[start:end])) for start, end in zip(starts, ends, strict=True))
    return [part for part in parts if part]


def _plain(text: str) -> str:
    """The text without differences that readers don't see: byte order marks and line endings."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").strip()


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
