"""A change to the settings file is noticed, however it is written."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from acp_tui.client.settings import watching
from acp_tui.client.settings.watching import changes_of
from support.waiting import LIMIT_S


async def first_change(files: tuple[Path, ...], do: Callable[[], object]) -> frozenset[Path]:
    """The reports while `do` runs."""
    told: list[frozenset[Path]] = []

    async def listen() -> None:
        async for touched in changes_of(files):
            told.append(touched)
            tasks.cancel_scope.cancel()

    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            await anyio.wait_all_tasks_blocked()
            do()
    return told[0]


def replace(file: Path) -> None:
    beside = file.with_suffix(".new")
    beside.write_text("x")
    beside.replace(file)


async def test_a_file_that_is_replaced_is_told(tmp_path: Path) -> None:
    file, other = tmp_path / "settings.toml", tmp_path / "other" / "project.toml"
    other.parent.mkdir()

    assert await first_change((file, other), lambda: replace(file)) == {file}


async def test_a_change_where_a_link_leads_is_told(tmp_path: Path) -> None:
    target, link = tmp_path / "dotfiles" / "settings.toml", tmp_path / "config" / "settings.toml"
    for folder in (target.parent, link.parent):
        folder.mkdir()
    target.write_text("")
    link.symlink_to(target)

    assert await first_change((link,), lambda: target.write_text("x")) == {link}


async def test_a_folder_that_is_deleted_and_made_again_is_watched(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "settings.toml"
    file.parent.mkdir()
    file.write_text("")
    with anyio.fail_after(LIMIT_S):
        told = anyio.Event()

        async def listen() -> None:
            async for _ in changes_of((file,)):
                told.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            await anyio.wait_all_tasks_blocked()
            shutil.rmtree(file.parent)
            file.parent.mkdir()
            await told.wait()
            told = anyio.Event()
            await anyio.wait_all_tasks_blocked()
            file.write_text("x")
            await told.wait()
            tasks.cancel_scope.cancel()


async def test_a_folder_that_has_yet_to_be_made_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "not" / "yet" / "settings.toml"

    def make() -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace(file)

    assert await first_change((file,), make) == {file}


async def test_what_lies_beside_it_is_not_told(tmp_path: Path) -> None:
    file, other = tmp_path / "settings.toml", tmp_path / "other.toml"

    def write() -> None:
        (tmp_path / "unrelated").write_text("")
        replace(file)

    assert await first_change((file, other), write) == {file}


async def test_a_name_that_is_not_utf8_ends_nothing_and_a_change_behind_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent can create one in its workspace, beside the project's settings."""
    monkeypatch.setattr(watching, "AGAIN_S", 0.0)
    file = tmp_path / ".acp-tui.toml"
    bad = tmp_path / os.fsdecode(b"bad\xff\x9b")
    if sys.platform == "darwin":
        pytest.skip("its disks hold no such name")
    # It may have been changed: nobody was watching.
    assert await first_change((file,), lambda: bad.write_text("x")) == {file}
