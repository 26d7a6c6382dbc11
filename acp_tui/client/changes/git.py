"""Asks git what a repository contains, only through `safe_git`. The repository may be hostile.

No answer is trusted as a path: anything that leads out of the directory is dropped.
"""

import hashlib
import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, Self

from anyio import to_thread

from acp_tui.client.changes.git_index import LEADS_OUT, GitIndex
from acp_tui.client.private_files import read_regular
from acp_tui.client.safe_git import GitFailed, ask_git
from acp_tui.values import dataclass

MAX_PATH_ARGUMENTS: Final = 500
"""With more paths than this, ask about the whole directory, because command lines have a length limit."""
MAX_COMMITS: Final = 50
"""How many commits of a session are passed over to find an earlier one."""
MAX_WRITING_S: Final = 60

# Git before version 2.25 knows only one kind of ID, and repeats the question.
_ID_BYTES: Final = {b"sha1": 20, b"sha256": 32, b"--show-object-format": 20}
_CONVERTING_ATTRIBUTES: Final = ("filter", "ident", "working-tree-encoding")
_CONVERSION: Final = re.compile("|".join(_CONVERTING_ATTRIBUTES).encode())
_MAX_ATTRIBUTES_BYTES: Final = 1 << 20


class Committed(NamedTuple):
    mode: int
    blob: bytes
    size: int


@dataclass(frozen=True, slots=True)
class Git:
    """Questions to git in one directory. All paths are relative to it, and all methods raise GitFailed."""

    directory: Path
    prefix: str = ""
    """The path below the top of the repository, with a slash at the end; "" at the top."""
    index_file: Path = Path()
    attributes_file: Path = Path()
    """The repository's own, which isn't in its tree."""
    id_bytes: int = 20
    borders: frozenset[str] = frozenset()
    """Directories below that belong to other file systems. Git isn't asked to look into them."""

    @classmethod
    async def at(cls, directory: Path, borders: Iterable[str] = ()) -> Self | None:
        """Git for this directory; None if it's in no repository, or ignored by one. Raises: GitFailed."""
        questions = ("--is-inside-work-tree", "--show-prefix", "--show-object-format")
        places = ("--git-path", "index", "--git-path", "info/attributes", "--shared-index-path")
        try:
            answer = await cls(directory)._run("rev-parse", *questions, *places)
        except _NoRepository:
            return None
        inside, prefix, form, index, attributes, *shared = answer.removesuffix(b"\n").split(b"\n")
        if inside != b"true":
            return None
        if shared or form not in _ID_BYTES:  # a newline in a folder's name makes more lines, too
            raise GitFailed("git has an index that acp-tui can't read")
        git = cls(
            directory,
            os.fsdecode(prefix),
            directory / os.fsdecode(index),
            directory / os.fsdecode(attributes),
            _ID_BYTES[form],
            frozenset(borders),
        )
        # In a home directory under git, everything that wasn't explicitly added is typically ignored.
        ignored = prefix and await git._run("check-ignore", "./", ok=(0, 1))
        return None if ignored else git

    async def open_index(self) -> GitIndex:
        index = await to_thread.run_sync(GitIndex, self.index_file, self.prefix, self.id_bytes)
        if index.is_missing and await self._run("ls-files", "-z", "--cached"):
            raise GitFailed("git has an index that acp-tui can't read")
        return index

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

    async def may_convert(self, attributes: Iterable[str]) -> bool:
        """Whether any attributes may be set that make content differ from its blob, apart from line endings.

        `attributes` are the files with attributes in the directory.
        """
        told = await self._run("config", "--get", "core.attributesFile", ok=(0, 1))
        own = Path(os.fsdecode(told.rstrip(b"\n")) or "~/.config/git/attributes")
        inside = [self.directory / path for path in attributes]
        configured = os.environ.get("XDG_CONFIG_HOME")
        files = [self.attributes_file, own, Path("/etc/gitattributes")]
        files += [Path(configured, "git/attributes")] if configured else []
        above = self.directory
        for _ in range(self.prefix.count("/")):
            above = above.parent
            files.append(above / ".gitattributes")
        return await to_thread.run_sync(_mention_conversion, inside, files, abandon_on_cancel=True)

    async def converted(self, paths: Iterable[str]) -> set[str]:
        """Paths whose attributes make their content differ from their blob, apart from line endings."""
        question = await to_thread.run_sync(_joined, paths)
        answer = await self._run("check-attr", "-z", "--stdin", *_CONVERTING_ATTRIBUTES, question=question)
        return await to_thread.run_sync(_parse_attributes, answer)

    async def blobs(self, ids: Iterable[bytes]) -> dict[bytes, bytes]:
        question = b"".join(blob.hex().encode() + b"\n" for blob in ids)
        answer = await self._run("cat-file", "--batch", question=question)
        return dict(_parse_objects(answer, b"blob"))

    async def committed(self, commit: str) -> dict[str, Committed]:
        """The files and links of a commit, in git's order, without submodules."""
        listed = await self._run("ls-tree", "-r", "-l", "-z", "--full-tree", commit)
        return await to_thread.run_sync(_parse_tree, listed, os.fsencode(self.prefix))

    async def listed_before(self, at_ns: int) -> Iterator[tuple[str, bytes]]:
        """Paths and blobs of the last commit of this branch before a time; none if that is long ago."""
        question = b"".join(b"HEAD~%d\n" % back for back in range(MAX_COMMITS))
        answer = await self._run("cat-file", "--batch", question=question)
        for commit, content in _parse_objects(answer, b"commit"):
            made = _COMMITTED.search(content.partition(b"\n\n")[0])
            if made is not None and int(made[1]) * 1_000_000_000 < at_ns:
                files = await self.committed(commit.hex())
                return ((path, file.blob) for path, file in files.items())
        return iter(())

    def is_writing(self) -> bool:
        """Whether git is about to replace the index. A lock that's old was left behind. Blocks."""
        try:
            lock = os.lstat(f"{self.index_file}.lock")
        except OSError:
            return False
        return time.time() - lock.st_mtime < MAX_WRITING_S

    async def _listed(self, *options: str, under: Sequence[str] = ()) -> list[str]:
        few = under if len(under) <= MAX_PATH_ARGUMENTS else ()
        beyond = [f"--exclude={_as_pattern(self.prefix + path)}" for path in sorted(self.borders)]
        listed = await self._run("ls-files", "-z", "--exclude-standard", *beyond, *options, "--", *few)
        return await to_thread.run_sync(_paths, listed)

    async def _run(self, command: str, *words: str, question: bytes = b"", ok: Sequence[int] = (0,)) -> bytes:
        answer = await ask_git(self.directory, command, *words, question=question, is_urgent=False)
        if answer.is_cut:
            raise GitFailed(f"git {command} printed too much")
        if answer.code not in ok:
            kind = _NoRepository if "not a git repository" in answer.complaint else GitFailed
            raise kind(f"git {command}: {answer.complaint or f'exit code {answer.code}'}")
        return answer.output


def blob_id(data: bytes, id_bytes: int) -> bytes:
    """The ID under which git stores these bytes. A repository uses IDs of 20 or of 32 bytes."""
    name = "sha1" if id_bytes == 20 else "sha256"
    return hashlib.new(name, b"blob %d\0" % len(data) + data, usedforsecurity=False).digest()


class _NoRepository(GitFailed):
    pass


def _paths(listed: bytes) -> list[str]:
    """Those that lead down. An index can contain any text, such as `../file` and `/etc/file`."""
    paths = map(os.fsdecode, filter(None, listed.split(b"\0")))
    return [path for path in paths if LEADS_OUT.isdisjoint(path.removesuffix("/").split("/"))]


def _as_pattern(path: str) -> str:
    """What makes git leave out this path below the top of the repository."""
    return "/" + re.sub(r"([\\*?\[\s])", r"\\\1", path)


def _joined(paths: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


def _mention_conversion(inside: Iterable[Path], others: Iterable[Path]) -> bool:
    """Git takes the attributes of a file that's gone from its index, so they can't be read here."""
    return any(_may_mention(file, if_gone=True) for file in inside) or any(_may_mention(file) for file in others)


def _may_mention(file: Path, *, if_gone: bool = False) -> bool:
    try:
        place = file.expanduser()
    except RuntimeError:  # no home
        return True
    found = read_regular(place, _MAX_ATTRIBUTES_BYTES)
    if found is None:
        return if_gone or os.path.lexists(place)
    return len(found) == _MAX_ATTRIBUTES_BYTES or _CONVERSION.search(found) is not None


def _parse_attributes(answer: bytes) -> set[str]:
    """The paths with any attribute set, from `path NUL attribute NUL value NUL`."""
    fields = answer.split(b"\0")
    values = zip(fields[0::3], fields[2::3], strict=False)
    return {os.fsdecode(path) for path, value in values if value not in (b"unspecified", b"unset")}


_HEADER: Final = re.compile(rb"([0-9a-f]+) (?:(\w+) (\d+)|\S.*)\n")
_COMMITTED_FILE: Final = re.compile(rb"(\d+) blob ([0-9a-f]+) +(\d+)\t([^\0]*)\0")
_IN_NO_FILE: Final = frozenset({b"", b".", b"..", b".git"})
"""A commit can contain any text, such as `../x` and `.git/hooks/x`."""
_COMMITTED: Final = re.compile(rb"^committer .* (\d+) \S+$", re.MULTILINE)


def _parse_objects(answer: bytes, kind: bytes) -> Iterator[tuple[bytes, bytes]]:
    """From `id kind size LF content LF`, without missing objects and those of another kind."""
    position = 0
    while header := _HEADER.match(answer, position):
        position = header.end()
        if header[2] is not None:
            end = position + int(header[3])
            if header[2] == kind:
                yield bytes.fromhex(header[1].decode()), answer[position:end]
            position = end + 1


def _parse_tree(listed: bytes, prefix: bytes) -> dict[str, Committed]:
    """From `mode kind id size TAB path NUL`, what is below the prefix."""
    return {
        os.fsdecode(path[len(prefix) :]): Committed(int(mode, 8), bytes.fromhex(blob.decode()), int(size))
        for mode, blob, size, path in _COMMITTED_FILE.findall(listed)
        if path.startswith(prefix) and _IN_NO_FILE.isdisjoint(path.lower().split(b"/"))
    }
