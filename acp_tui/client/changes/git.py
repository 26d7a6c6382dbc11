"""Asks git what a repository contains, only through `safe_git`. The repository may be hostile.

No answer is trusted as a path: anything that leads out of the directory is dropped.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, Self

from anyio import to_thread

from acp_tui.client.safe_git import GitFailed, GitResult, ask_git
from acp_tui.values import dataclass

MAX_PATH_ARGUMENTS: Final = 500
"""With more paths than this, ask about the whole directory, because command lines have a length limit."""

_CONVERTING_ATTRIBUTES: Final = ("filter", "ident", "working-tree-encoding")


class Seen(NamedTuple):
    """Shows whether a file has been written to since. Times are in nanoseconds, 0 if git has none."""

    ctime_ns: int
    mtime_ns: int
    inode: int
    size: int

    def is_still(self, status: os.stat_result) -> bool:
        """Whether the file is certainly unchanged. Git keeps 32 bits of inode and size."""
        return (
            status.st_mtime_ns == self.mtime_ns
            and status.st_size & 0xFFFFFFFF == self.size
            and self.ctime_ns in (0, status.st_ctime_ns)
            and self.inode in (0, status.st_ino & 0xFFFFFFFF)
        )


class IndexEntry(NamedTuple):
    """A path that git tracks. A tuple, because up to 100,000 of them are created while the user waits."""

    path: str
    mode: int
    blob: bytes
    is_plain: bool
    """Not in conflict, not sparse, not assumed unchanged."""
    seen: Seen | None
    """What git saw of the file when it last knew it to be this blob; None if git doesn't say."""

    @property
    def is_repository(self) -> bool:
        """Whether it's a submodule."""
        return self.mode == 0o160000


@dataclass(frozen=True, slots=True)
class Git:
    """Questions to git in one directory. All paths are relative to it, and all methods raise GitFailed."""

    directory: Path
    is_top: bool = True
    """Whether it's the top of the repository."""

    @classmethod
    async def at(cls, directory: Path) -> Self | None:
        """Git for this directory; None if it's in no repository, or ignored by one. Raises: GitFailed."""
        try:
            answer = await cls(directory)._run("rev-parse", "--is-inside-work-tree", "--show-prefix")
        except _NoRepository:
            return None
        inside, _, prefix = answer.partition(b"\n")
        git = cls(directory, is_top=not prefix.strip())
        # In a home directory under git, everything that wasn't explicitly added is typically ignored.
        ignored = inside != b"true" or (not git.is_top and await git._run("check-ignore", "./", ok=(0, 1)))
        return None if ignored else git

    async def index(self) -> list[IndexEntry]:
        # Find the index before reading it: if it's newer than the answers, that only makes more files doubtful.
        told = await self._run("rev-parse", "--git-path", "index")
        listed = await self._run("ls-files", "-z", "-v", "--stage", "--debug")
        index = self.directory / os.fsdecode(told.removesuffix(b"\n"))
        return await to_thread.run_sync(_parse_index, listed, index)

    async def untracked(self) -> list[str]:
        """The paths that git neither tracks nor ignores. A repository inside ends with a slash."""
        return await self._listed("--others")

    async def not_ignored(self, under: Sequence[str] = ()) -> list[str]:
        """Paths that are tracked or not ignored, at or below these. Tracked ones may not exist."""
        return await self._listed("--cached", "--others", under=under)

    async def ignored(self, under: Sequence[str] = ()) -> set[str]:
        """What git ignores. For a directory ignored as a whole, only the directory."""
        listed = await self._listed("--others", "--ignored", "--directory", under=under)
        directories = {path.removesuffix("/") for path in listed if path.endswith("/")}
        files = {path for path in listed if not path.endswith("/")}
        if not directories:
            return files
        # The list also includes directories in which only each file so far is ignored, so ask about the directories
        # themselves.
        answer = await self._run("check-ignore", "-z", "--stdin", question=_joined(directories), ok=(0, 1))
        return files.union(_paths(answer))

    async def converted(self, paths: Iterable[str]) -> set[str]:
        """Paths whose attributes make their content differ from their blob, apart from line endings."""
        question = await to_thread.run_sync(_joined, paths)
        answer = await self._run("check-attr", "-z", "--stdin", *_CONVERTING_ATTRIBUTES, question=question)
        return await to_thread.run_sync(_parse_attributes, answer)

    async def blobs(self, ids: Iterable[bytes]) -> dict[bytes, bytes]:
        """The blobs that exist, as they are stored."""
        question = b"".join(blob.hex().encode() + b"\n" for blob in ids)
        answer = await self._run("cat-file", "--batch", question=question)
        return dict(_parse_blobs(answer))

    async def _listed(self, *options: str, under: Sequence[str] = ()) -> list[str]:
        few = under if len(under) <= MAX_PATH_ARGUMENTS else ()
        listed = await self._run("ls-files", "-z", "--exclude-standard", *options, "--", *few)
        return await to_thread.run_sync(_paths, listed)

    async def _run(self, command: str, *words: str, question: bytes = b"", ok: Sequence[int] = (0,)) -> bytes:
        answer = await ask_git(self.directory, command, *words, question=question)
        if answer.is_cut:
            raise GitFailed(f"git {command} printed too much")
        if answer.code not in ok:
            raise _failure(command, answer)
        return answer.output


def blob_id(data: bytes, id_bytes: int) -> bytes:
    """The ID under which git stores these bytes. A repository uses IDs of 20 or of 32 bytes."""
    name = "sha1" if id_bytes == 20 else "sha256"
    return hashlib.new(name, b"blob %d\0" % len(data) + data, usedforsecurity=False).digest()


class _NoRepository(GitFailed):
    pass


def _failure(command: str, answer: GitResult) -> GitFailed:
    kind = _NoRepository if "not a git repository" in answer.complaint else GitFailed
    return kind(f"git {command}: {answer.complaint or f'exit code {answer.code}'}")


def _paths(listed: bytes) -> list[str]:
    return [path for each in listed.split(b"\0") if each and _stays_below(path := os.fsdecode(each))]


_LEADS_OUT: Final = frozenset({"", ".", ".."})


def _stays_below(path: str) -> bool:
    """Whether a path leads down. An index can contain any text, such as `../file` and `/etc/file`."""
    return _LEADS_OUT.isdisjoint(path.removesuffix("/").split("/"))


def _joined(paths: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


_ENTRY: Final = re.compile(
    rb"(.) (\d+) ([0-9a-f]+) (\d)\t([^\0]*)\0"
    # Git may change this part at any time (git-ls-files, --debug). Without it, a file is only doubtful.
    rb"(?:  ctime: (\d+):(\d+)\n  mtime: (\d+):(\d+)\n  dev: \d+\tino: (\d+)\n"
    rb"  uid: \d+\tgid: \d+\n  size: (\d+)\tflags: [0-9a-f]+\n)?"
)
_NS: Final = 1_000_000_000


def _parse_index(listed: bytes, index: Path) -> list[IndexEntry]:
    """The output of `ls-files --stage --debug`. For a path in conflict, one stage is kept."""
    try:
        written_ns = index.stat().st_mtime_ns
    except OSError:
        written_ns = 0
    found = _ENTRY.findall(listed)
    if len(found) != listed.count(b"\0"):
        raise GitFailed("git's index has an unknown format")
    entries: dict[str, IndexEntry] = {}
    for tag, mode, blob, stage, path, ctime, ctime_ns, mtime, mtime_ns, inode, size in found:
        name = os.fsdecode(path)
        if not _stays_below(name):
            continue
        written_at = int(mtime) * _NS + int(mtime_ns) if mtime else written_ns
        # A file as recent as the index may have been written to since then with the same timestamps.
        seen = (
            Seen(int(ctime) * _NS + int(ctime_ns), written_at, int(inode), int(size))
            if written_at < written_ns
            else None
        )
        is_plain = tag == b"H" and stage == b"0"
        entries[name] = IndexEntry(name, int(mode, 8), bytes.fromhex(blob.decode()), is_plain, seen)
    return list(entries.values())


def _parse_attributes(answer: bytes) -> set[str]:
    """The paths with any attribute set, from `path NUL attribute NUL value NUL`."""
    fields = answer.split(b"\0")
    values = zip(fields[0::3], fields[2::3], strict=False)
    return {os.fsdecode(path) for path, value in values if value not in (b"unspecified", b"unset")}


_HEADER: Final = re.compile(rb"([0-9a-f]+) (?:blob (\d+)|\S.*)\n")


def _parse_blobs(answer: bytes) -> Iterator[tuple[bytes, bytes]]:
    """From `id blob size LF content LF`, without missing objects and those that aren't blobs."""
    position = 0
    while header := _HEADER.match(answer, position):
        position = header.end()
        if header[2] is not None:
            end = position + int(header[2])
            yield bytes.fromhex(header[1].decode()), answer[position:end]
            position = end + 1
