"""Writes frames to a file of their own: as a recording, which all that reads recordings takes, or one as plain JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from anyio import to_thread

from acp_tui import __version__
from acp_tui.client.errors import ClientError
from acp_tui.client.files import create_private
from acp_tui.client.transcript import lines as recorded
from acp_tui.client.transcript.events import Exited, Header, Stderr
from acp_tui.client.transcript.frame_log import ENDED, Kind, Line
from acp_tui.rpc import Direction
from acp_tui.workbench.inspect.outline import pretty


class SavingFailed(ClientError):
    """Nothing is written, or not all of it."""


class FileIsThere(SavingFailed):
    """There is such a file, and it was not to be replaced."""


async def save_frames(
    path: Path, header: Header, slices: AsyncIterator[list[Line]], *, is_raw: bool, overwrite: bool
) -> int:
    """Write a recording of these lines; gives how many there were. Raises SavingFailed."""
    count = 0
    header = replace(header, is_raw=is_raw, client=__version__)
    try:
        file = await to_thread.run_sync(_open, path, overwrite)
        with file:
            file.write(recorded.header_line(header))
            async for lines in slices:
                await to_thread.run_sync(file.writelines, [_recorded(line) for line in lines])
                count += len(lines)
    except FileExistsError as error:
        raise FileIsThere(f"{path} is there already") from error
    except OSError as error:
        raise SavingFailed(f"It cannot be written to {path}: {error.strerror or error}") from error
    return count


def save_json(path: Path, line: Line, *, overwrite: bool) -> None:
    """Write one frame as JSON over several lines, or as it is where it is no JSON. It blocks. Raises SavingFailed."""
    try:
        text = pretty(line.data.decode("utf-8", "replace")) + "\n"
        data = text.encode("utf-8", "surrogatepass")
    except ValueError:
        data = line.data + b"\n"
    try:
        with _open(path, overwrite) as file:
            file.write(data)
    except FileExistsError as error:
        raise FileIsThere(f"{path} is there already") from error
    except OSError as error:
        raise SavingFailed(f"It cannot be written to {path}: {error.strerror or error}") from error


def _open(path: Path, overwrite: bool) -> BinaryIO:
    """A new file, readable by the user only."""
    if overwrite:
        with suppress(FileNotFoundError):
            path.unlink()
    return create_private(path)


def _recorded(line: Line) -> bytes:
    at_s, kind, data = line
    match kind:
        case Kind.STDERR:
            return recorded.event_line(Stderr(at_s, data))
        case Kind.NOTE:
            return recorded.event_line(Exited(at_s, data.decode("utf-8", "replace").removeprefix(ENDED)))
        case _:
            direction = Direction.IN if kind is Kind.IN else Direction.OUT
            is_json = recorded.parsed(data) is not None
            return recorded.frame_line(at_s, direction, data, is_json=is_json)
