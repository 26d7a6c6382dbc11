"""Invalid paths, and links that lead nowhere."""

from pathlib import Path

import anyio
import pytest

from acp_tui.client.workspace.errors import InvalidPath, WorkspaceError
from acp_tui.client.workspace.workspace import Workspace
from support.waiting import LIMIT_S


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace([tmp_path])


@pytest.mark.parametrize("path", ["file.txt", "./file.txt", "../etc/passwd", "~/file.txt", "C:\\file.txt", " /x"])
async def test_a_relative_path_is_an_invalid_request_r_fs_5(workspace: Workspace, path: str) -> None:
    for call in (
        workspace.read_text_file(path),
        workspace.write_text_file(path, "x"),
        workspace.locate(path),
    ):
        with pytest.raises(InvalidPath, match="absolute path"):
            await call


@pytest.mark.parametrize("path", ["", "/a\0b", "/work/\ud800", "/" + "a/" * 2048])
async def test_a_path_that_no_file_can_have_is_an_invalid_request(workspace: Workspace, path: str) -> None:
    for call in (
        workspace.read_text_file(path),
        workspace.write_text_file(path, "x"),
        workspace.locate(path),
    ):
        with pytest.raises(InvalidPath, match="can't be a path") as caught:
            await call
        assert "\0" not in str(caught.value)
        assert len(str(caught.value)) < 500


async def test_a_name_that_is_too_long_is_said_to_be(tmp_path: Path, workspace: Workspace) -> None:
    for path in (tmp_path / ("x" * 300), tmp_path / ("x" * 300) / "y"):
        with pytest.raises(InvalidPath, match="too long"):
            await workspace.write_text_file(str(path), "x")


@pytest.mark.parametrize("name", ["loop", "loop/x", "ping", "pong/y"])
async def test_links_in_a_circle_end_in_an_error(tmp_path: Path, workspace: Workspace, name: str) -> None:
    for link, target in {"loop": "loop", "ping": "pong", "pong": "ping/x"}.items():
        (tmp_path / link).symlink_to(target)
    with anyio.fail_after(LIMIT_S), pytest.raises(WorkspaceError, match="too many symbolic links"):
        await workspace.read_text_file(f"{tmp_path}/{name}")


async def test_a_chain_of_forty_links_is_followed_and_of_forty_one_is_not(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "file.txt").write_text("reached")
    for number in range(41):
        target = "file.txt" if number == 0 else f"link{number - 1}"
        (tmp_path / f"link{number}").symlink_to(target)
    assert await workspace.read_text_file(f"{tmp_path}/link39") == "reached"
    with pytest.raises(WorkspaceError, match="too many symbolic links"):
        await workspace.read_text_file(f"{tmp_path}/link40")
