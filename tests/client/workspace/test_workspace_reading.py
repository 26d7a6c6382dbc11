"""What an agent gets when it reads a file."""

import os
import socket
from pathlib import Path

import anyio
import pytest

from acp_tui.client.workspace import workspace as reading_module
from acp_tui.client.workspace.errors import FileTooLarge, NotAFile, NotFound, NotText, WorkspaceError
from acp_tui.client.workspace.workspace import Workspace
from support.waiting import LIMIT_S

TWO_LINES = "one\ntwo\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace([tmp_path])


async def read(workspace: Workspace, name: str, line: int | None = None, limit: int | None = None) -> str:
    with anyio.fail_after(LIMIT_S):
        return await workspace.read_text_file(f"{workspace.roots[0]}/{name}", line, limit)


@pytest.mark.parametrize(
    ("line", "limit", "expected"),
    [
        (None, None, "a\nb\r\nc\rd\n\ne"),
        (1, None, "a\nb\r\nc\rd\n\ne"),
        (0, 1, "a\n"),
        (2, 1, "b\r\n"),
        (3, 1, "c\rd\n"),
        (4, 2, "\ne"),
        (5, 9, "e"),
        (6, None, ""),
        (2**32 - 1, 2**32 - 1, ""),
        (1, 0, ""),
        (None, 2, "a\nb\r\n"),
        (-3, 1, "a\n"),
    ],
)
async def test_line_and_limit_select_lines_with_their_endings_r_fs_2(
    workspace: Workspace, tmp_path: Path, line: int | None, limit: int | None, expected: str
) -> None:
    (tmp_path / "lines").write_bytes(b"a\nb\r\nc\rd\n\ne")
    assert await read(workspace, "lines", line, limit) == expected


@pytest.mark.parametrize("chunk_bytes", [1, 2, 3, 7])
async def test_lines_and_characters_may_straddle_the_chunks_of_a_read(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk_bytes: int
) -> None:
    monkeypatch.setattr(reading_module, "CHUNK_BYTES", chunk_bytes)
    lines = ["äöü\n", "\n", "€uro\r\n", "🙂🙂\n", "end"]
    (tmp_path / "lines").write_bytes("".join(lines).encode())
    for first in range(1, 7):
        for count in range(6):
            expected = "".join(lines[first - 1 : first - 1 + count])
            assert await read(workspace, "lines", first, count) == expected


async def test_an_empty_file_is_an_empty_text(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert await read(workspace, "empty") == ""


async def test_a_byte_order_mark_survives_reading_and_writing_back(workspace: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "bom"
    file.write_bytes(b"\xef\xbb\xbfx\r\n")
    text = await read(workspace, "bom")
    await workspace.write_text_file(str(file), text)
    assert (text, file.read_bytes()) == ("\ufeffx\r\n", b"\xef\xbb\xbfx\r\n")


@pytest.mark.parametrize(
    ("content", "offset", "reason"),
    [
        (b"ELF\0\1", 3, "a NUL"),
        (b"x" * 8191 + b"\0", 8191, "a NUL"),
        ("hi".encode("utf-16"), 0, "UTF-16"),
        ("hi".encode("utf-32"), 0, "UTF-16 or UTF-32"),
        (b"caf\xe9 au lait", 3, "invalid continuation byte"),
        (b"ok\n\xf0\x9f\x99", 3, "unexpected end of data"),
    ],
)
@pytest.mark.parametrize("chunk_bytes", [1, 3, 1 << 20])
async def test_what_is_not_utf_8_is_refused_with_the_offset_of_the_fault(
    workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    offset: int,
    reason: str,
    chunk_bytes: int,
) -> None:
    if reason.startswith("UTF"):
        chunk_bytes = 1 << 20  # a mark is searched in the first chunk
    monkeypatch.setattr(reading_module, "CHUNK_BYTES", chunk_bytes)
    (tmp_path / "binary").write_bytes(content)
    with pytest.raises(NotText, match=f"{reason}.* at byte {offset}") as caught:
        await read(workspace, "binary")
    assert caught.value.offset == offset


async def test_a_fault_is_named_by_its_offset_in_the_file_when_lines_are_selected(
    workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "latin1").write_bytes(b"first\nsecond\ncaf\xe9\n")
    assert await read(workspace, "latin1", 1, 2) == "first\nsecond\n"
    with pytest.raises(NotText) as caught:
        await read(workspace, "latin1", 3, 1)
    assert caught.value.offset == 16


async def test_a_file_over_the_ceiling_is_refused_with_its_size_and_a_way_out(tmp_path: Path) -> None:
    workspace = Workspace([tmp_path], max_read_bytes=10)
    (tmp_path / "big").write_text("12345\n" * 2000)
    with pytest.raises(FileTooLarge, match=r"12,000 bytes.*line and limit") as caught:
        await read(workspace, "big")
    assert caught.value.size == 12_000
    assert await read(workspace, "big", 1999, 1) == "12345\n"
    with pytest.raises(FileTooLarge):
        await read(workspace, "big", 5, None)


async def test_lines_of_a_file_of_100_mb_are_read_without_holding_it(tmp_path: Path) -> None:
    workspace = Workspace([tmp_path], max_read_bytes=1000)
    big = tmp_path / "big"
    with big.open("wb") as file:
        file.write(b"head\n" + b"x" * 10_000)
        file.seek(100 * 1024 * 1024)
        file.write(b"\ntail\n")
    assert await read(workspace, "big", 1, 1) == "head\n"
    assert await read(workspace, "big", 3, 1) == "tail\n"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc")
async def test_a_proc_file_of_size_zero_yields_its_content(tmp_path: Path) -> None:
    workspace = Workspace([tmp_path])
    text = await workspace.read_text_file("/proc/version", allowed_at=Path("/proc/version"))
    assert text == Path("/proc/version").read_text()


async def test_a_missing_file_and_a_missing_directory_are_not_found_r_fs_3(workspace: Workspace) -> None:
    for name in ("missing", "missing/file"):
        with pytest.raises(NotFound, match="doesn't exist"):
            await read(workspace, name)


@pytest.mark.parametrize("name", ["", "sub", "sub/", "sub/.", "sub/..", "link"])
async def test_a_directory_is_refused_as_one(workspace: Workspace, tmp_path: Path, name: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to("sub")
    with pytest.raises(NotAFile, match="is a directory"):
        await read(workspace, name)


@pytest.mark.parametrize("name", ["file/below", "file/", "file/.", "file/../file", "link"])
async def test_a_file_in_the_place_of_a_directory_is_named(workspace: Workspace, tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("file/")
    with pytest.raises(WorkspaceError, match="uses a file as a directory"):
        await read(workspace, name)


async def test_a_named_pipe_is_refused_and_never_waited_for_r_fs_3(workspace: Workspace, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotAFile, match="named pipe"):
        await read(workspace, "pipe")


async def test_a_named_pipe_that_comes_after_the_check_is_not_waited_for_either(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    open_file = os.open

    def swap_and_open(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == "file":
            file.unlink()
            os.mkfifo(file)
        return open_file(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", swap_and_open)
    with pytest.raises(NotAFile, match="named pipe"):
        await read(workspace, "file")


async def test_a_socket_is_refused(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's address must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        with pytest.raises(NotAFile, match="socket"):
            await read(workspace, "socket")


async def test_a_device_is_refused_even_if_the_user_allowed_the_path(workspace: Workspace) -> None:
    with pytest.raises(NotAFile, match="character device"):
        await workspace.read_text_file("/dev/zero", allowed_at=Path("/dev/zero"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_an_unreadable_file_is_denied_with_the_reason(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "closed").touch(mode=0o000)
    with pytest.raises(WorkspaceError, match=r"Cannot read .*permission denied"):
        await read(workspace, "closed")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.skipif(not hasattr(os, "O_PATH"), reason="only Linux opens directories without the right to list")
async def test_a_directory_that_may_only_be_passed_through_can_be(workspace: Workspace, tmp_path: Path) -> None:
    passage = tmp_path / "passage"
    passage.mkdir()
    (passage / "file").write_text(TWO_LINES)
    passage.chmod(0o100)
    try:
        assert await read(workspace, "passage/file") == TWO_LINES
    finally:
        passage.chmod(0o700)


async def test_reading_leaves_no_descriptor_open(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(TWO_LINES)
    (tmp_path / "loop").symlink_to("loop")

    def open_descriptors() -> int:
        return len(os.listdir("/dev/fd"))  # noqa: PTH208

    await read(workspace, "file")
    before = open_descriptors()
    for name in ("file", "missing/x", "", "loop", "file/x", "../../x/y"):
        with pytest.raises(Exception) if name != "file" else anyio.fail_after(LIMIT_S):
            await read(workspace, name)
    assert open_descriptors() == before
