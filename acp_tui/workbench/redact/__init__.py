"""Redacts recordings so that you can share them: names, addresses, keys, and file contents. README.md has the list."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Final

from acp_tui.client.errors import ClientError
from acp_tui.client.safe_git import ask_git_global
from acp_tui.client.transcript.lines import open_recording
from acp_tui.client.transcript.store import create
from acp_tui.workbench.redact.pipeline import Redaction, RedactionReport, RedactOptions
from acp_tui.workbench.redact.pseudonyms import Pseudonyms
from acp_tui.workbench.redact.replacing import Redactor

__all__ = ["RedactOptions", "RedactionReport", "redact"]


def redact(
    source: Path,
    out: Path,
    options: RedactOptions,
    environ: Mapping[str, str],
    host: str,
    full_names: Iterable[str] = (),
    later: Sequence[Path] = (),
) -> RedactionReport:
    """Write a redacted copy of a recording, and of `later` ones below it, to a new file only for its owner. Blocks.

    `environ`, `host`, and `full_names` describe who made it and where. Memory holds one line, the ends of texts in
    pieces, and the known secrets.

    Raises ClientError, and then leaves nothing.
    """
    open_recording(source, *later).close()
    if os.path.lexists(out):
        raise ClientError(f"{out} exists and won't be overwritten; give the redacted recording another name")
    pseudonyms = Pseudonyms()
    for text in options.secrets:
        pseudonyms.learn(text, "given")
    pseudonyms.learn_environment(environ, host, full_names)
    try:
        return _written((source, *later), out, Redaction(Redactor(pseudonyms), options))
    except FileExistsError as error:
        raise ClientError(f"{out} exists and won't be overwritten") from error
    except OSError as error:
        raise ClientError(f"{out} can't be written: {error.strerror or error}") from error


def _written(sources: Sequence[Path], out: Path, redaction: Redaction) -> RedactionReport:
    with ExitStack() as opened:
        old = [opened.enter_context(source.open("rb")) for source in sources]
        sizes = [os.fstat(file.fileno()).st_size for file in old]
        while redaction.is_to_be_read:
            redaction.read(_lines(old, sizes))
        new = create(out)
        try:
            with new:
                new.writelines(redaction.write(_lines(old, sizes)))
        except BaseException:
            out.unlink(missing_ok=True)  # an incomplete file is worse than none
            raise
    return redaction.report()


def _lines(files: Sequence[BinaryIO], sizes: Sequence[int]) -> Iterator[bytes]:
    """The lines that existed when the sizes were read, because a file may still grow."""
    for file, size in zip(files, sizes, strict=True):
        file.seek(0)
        while size > 0 and (line := file.readline()):
            size -= len(line)
            is_cut = not line.endswith(b"\n") and file is not files[-1]
            yield line + b"\n" if is_cut else line


_VARIABLES: Final = ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "FULLNAME", "DEBFULLNAME")


def full_names(environ: Mapping[str, str]) -> frozenset[str]:
    """All known full names. Blocks while git runs."""
    names = {environ.get(name, "") for name in _VARIABLES}
    # Only git's global settings, because those of a project may be someone else's.
    names |= {_of_account(), ask_git_global("user.name", environ)}
    return frozenset(name for each in names if (name := each.strip()))


def _of_account() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_gecos.partition(",")[0]
    except KeyError:  # a container whose user is only a number
        return ""
