"""Asks git what a repository holds, so that nothing that the repository configures is run.

It does not interpret the answers beyond their syntax. The repository may be hostile: `safe_git` has what every call
leaves out, and the two calls that could run a content filter (`changed`, `converted_blob`) take every configured one
away first.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, NamedTuple, Self

import anyio
from anyio import to_thread
from anyio.abc import Process

from acp_tui.client.safe_git import git_command, git_environment

MAX_OUTPUT_BYTES: Final = 256 << 20
MAX_PATH_ARGUMENTS: Final = 500
"""With more paths than this a question is asked about the whole directory: a command line has an end."""

_TIMEOUT_S: Final = 15.0
_FILTER_KEYS: Final = r"^filter\..*\.(clean|smudge|process|required)$"
_CONVERTING_ATTRIBUTES: Final = ("filter", "working-tree-encoding")


class GitFailed(Exception):
    """Git is not there, took too long or refused; `str()` of it is git's own reason."""


class IndexEntry(NamedTuple):
    """A path that git tracks. A tuple, because there may be 100,000 of them, made while the user waits."""

    path: str
    mode: int
    blob: bytes
    is_plain: bool
    """Not in conflict, not sparse, not assumed unchanged: what `changed` says of it can be relied on."""

    @property
    def is_repository(self) -> bool:
        """Whether it is a submodule."""
        return self.mode == 0o160000


@dataclass(frozen=True, slots=True)
class Git:
    """Questions to git in one directory. All paths, in and out, are relative to that. All raise GitFailed."""

    directory: Path
    prefix: str
    """What to put before a path to have it relative to the repository's top: "" or ending in a slash."""

    @classmethod
    async def at(cls, directory: Path) -> Self | None:
        """Git for this directory; None where it is in no repository, or is itself ignored by one.

        Raises: GitFailed.
        """
        try:
            answer = await cls(directory, "")._run("rev-parse", "--is-inside-work-tree", "--show-prefix")
        except _NoRepository:
            return None
        inside, _, prefix = answer.partition(b"\n")
        git = cls(directory, os.fsdecode(prefix.removesuffix(b"\n")))
        # In a home directory kept in git, everything that was not added by hand tends to be ignored.
        ignored = inside != b"true" or (prefix.strip() and await git._run("check-ignore", "./", ok=(0, 1)))
        return None if ignored else git

    async def index(self) -> list[IndexEntry]:
        """What git tracks."""
        listed = await self._run("ls-files", "-z", "-v", "--stage")
        return await to_thread.run_sync(_parse_index, listed)

    async def changed(self) -> set[str]:
        """The tracked paths that differ from the index, by size and times; in doubt, by content."""
        listed = await self._run(
            "diff-files",
            "-z",
            "--relative",
            "--name-only",
            "--ignore-submodules=all",
            settings=await self._no_filters(),
        )
        return set(_paths(listed))

    async def untracked(self) -> list[str]:
        """The paths that git neither tracks nor ignores; a repository inside ends in a slash."""
        return await self._listed("--others")

    async def not_ignored(self, under: Sequence[str] = ()) -> list[str]:
        """What is tracked or not ignored, at or below these paths; tracked ones may be absent."""
        return await self._listed("--cached", "--others", under=under)

    async def ignored(self, under: Sequence[str] = ()) -> set[str]:
        """What git ignores; of a directory that it ignores as a whole only that."""
        listed = await self._listed("--others", "--ignored", "--directory", under=under)
        directories = {path.removesuffix("/") for path in listed if path.endswith("/")}
        files = {path for path in listed if not path.endswith("/")}
        if not directories:
            return files
        # Listed as directories are also those in which all that there is so far is ignored, file by file.
        answer = await self._run("check-ignore", "-z", "--stdin", question=_joined(directories), ok=(0, 1))
        return files.union(_paths(answer))

    async def converted(self, paths: Iterable[str]) -> set[str]:
        """Which of these paths have, by their attributes, other content than their blob; ends of lines aside."""
        question = await to_thread.run_sync(_joined, paths)
        answer = await self._run("check-attr", "-z", "--stdin", *_CONVERTING_ATTRIBUTES, question=question)
        return await to_thread.run_sync(_parse_attributes, answer)

    async def blobs(self, ids: Iterable[bytes]) -> dict[bytes, bytes]:
        """The blobs that there are, as they are stored."""
        question = b"".join(blob.hex().encode() + b"\n" for blob in ids)
        answer = await self._run("cat-file", "--batch", question=question)
        return dict(_parse_blobs(answer))

    async def converted_blob(self, blob: bytes, path: str) -> bytes:
        """A blob as git would check it out at this path, had it no filters: with its ends of lines."""
        settings = await self._no_filters()
        at_top = f"--path={self.prefix}{path}"
        return await self._run("cat-file", "--filters", at_top, blob.hex(), settings=settings)

    async def _listed(self, *options: str, under: Sequence[str] = ()) -> list[str]:
        few = under if len(under) <= MAX_PATH_ARGUMENTS else ()
        fixed = ("--literal-pathspecs", "ls-files", "-z", "--exclude-standard")
        return await to_thread.run_sync(_paths, await self._run(*fixed, *options, "--", *few))

    async def _no_filters(self) -> tuple[str, ...]:
        """Settings that take each configured filter away."""
        listed = await self._run("config", "-z", "--name-only", "--get-regexp", _FILTER_KEYS, ok=(0, 1))
        keys = _paths(listed)
        if any("=" in key for key in keys):
            raise GitFailed("a content filter has a name that cannot be overridden")
        return tuple(f"{key}={'false' if key.endswith('.required') else ''}" for key in keys)

    async def _run(
        self, *words: str, question: bytes = b"", settings: Sequence[str] = (), ok: Sequence[int] = (0,)
    ) -> bytes:
        try:
            with (
                anyio.fail_after(_TIMEOUT_S),
                tempfile.TemporaryFile() as asked,
                tempfile.TemporaryFile() as complaint,
            ):
                await to_thread.run_sync(_fill, asked, question)
                process = await anyio.open_process(
                    git_command(*words, settings=settings),
                    stdin=asked,
                    stdout=subprocess.PIPE,
                    stderr=complaint,
                    cwd=self.directory,
                    env=git_environment(),
                    start_new_session=True,
                )
                async with process:
                    answer = await _output(process)
                    code = await process.wait()
                if code not in ok:
                    raise _failure(_command(words), code, complaint)
                return answer
        except TimeoutError:
            raise GitFailed(f"git {_command(words)} took longer than {_TIMEOUT_S:g} s") from None
        except OSError as error:
            raise GitFailed(f"git could not be run: {error.strerror or error}") from error


class _NoRepository(GitFailed):
    pass


def _fill(file: IO[bytes], content: bytes) -> None:
    file.write(content)
    file.seek(0)


async def _output(process: Process) -> bytes:
    assert process.stdout is not None
    pieces = bytearray()
    async for piece in process.stdout:
        pieces += piece
        if len(pieces) > MAX_OUTPUT_BYTES:
            process.kill()
            raise GitFailed(f"git said more than {MAX_OUTPUT_BYTES >> 20} MiB")
    return bytes(pieces)


def _command(words: Sequence[str]) -> str:
    return next(word for word in words if not word.startswith("-"))


def _failure(command: str, code: int, complaint: IO[bytes]) -> GitFailed:
    complaint.seek(0)
    reason = complaint.read(500).decode(errors="replace").strip().partition("\n")[0]
    kind = _NoRepository if "not a git repository" in reason else GitFailed
    return kind(f"git {command}: {reason or f'exit code {code}'}")


def _paths(listed: bytes) -> list[str]:
    return [os.fsdecode(path) for path in listed.split(b"\0") if path]


def _joined(paths: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


def _parse_index(listed: bytes) -> list[IndexEntry]:
    """From `tag mode blob stage<TAB>path`, NUL-terminated; of a path in conflict one stage is kept."""
    entries: dict[str, IndexEntry] = {}
    for record in listed.split(b"\0")[:-1]:
        facts, _, path = record.partition(b"\t")
        tag, mode, blob, stage = facts.decode().split(" ")
        name = os.fsdecode(path)
        entries[name] = IndexEntry(name, int(mode, 8), bytes.fromhex(blob), tag == "H" and stage == "0")
    return list(entries.values())


def _parse_attributes(answer: bytes) -> set[str]:
    """The paths for which any attribute is set, from `path NUL attribute NUL value NUL`."""
    fields = answer.split(b"\0")
    values = zip(fields[0::3], fields[2::3], strict=False)
    return {os.fsdecode(path) for path, value in values if value not in (b"unspecified", b"unset")}


_HEADER: Final = re.compile(rb"([0-9a-f]+) (?:blob (\d+)|\S.*)\n")


def _parse_blobs(answer: bytes) -> Iterator[tuple[bytes, bytes]]:
    """From `id blob size LF content LF`; what is missing, or no blob, is left out."""
    position = 0
    while header := _HEADER.match(answer, position):
        position = header.end()
        if header[2] is not None:
            end = position + int(header[2])
            yield bytes.fromhex(header[1].decode()), answer[position:end]
            position = end + 1
