"""Bytes sent by an agent are saved under a harmless name, completely or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

import pytest

from acp_tui.client import save_content
from acp_tui.client.errors import ClientError
from acp_tui.client.private_files import create_private
from acp_tui.client.save_content import safe_name, save_block
from acp_tui.conversation.content import Audio, BlobResource, Image, TextResource

HELLO = "aGVsbG8="


def _named(uri: str) -> str:
    return safe_name(BlobResource(uri, HELLO))


@pytest.mark.parametrize(
    ("block", "name"),
    [
        (Image(HELLO, "image/png"), "image.png"),
        (Image(HELLO, "image/jpeg", "file:///project/my%20photo.jpeg"), "my photo.jpeg"),
        (Audio(HELLO, "audio/wav"), "audio.wav"),
        (BlobResource("file:///project/durations.z", HELLO, "application/zlib"), "durations.z"),
        (BlobResource("memory:", HELLO, "application/pdf"), "file.pdf"),
        (BlobResource("memory:", HELLO), "file.bin"),
        (BlobResource("memory:", HELLO, "application/../../x"), "file.bin"),
    ],
)
def test_a_block_is_saved_whole_under_its_own_name(block: save_content.Saveable, name: str, tmp_path: Path) -> None:
    path = save_block(block, tmp_path)
    assert path == tmp_path / name
    assert path.read_bytes() == b"hello"


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("file:///a/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "_.._etc_passwd"),
        ("file:///a/..", "file.bin"),
        ("file:///a/.bashrc", "bashrc"),
        ("file:///a/-rf", "rf"),
        ("file:///a/~root", "root"),
        ("file:///a/c:%5cwindows", "c__windows"),
        ("file:///a/x%00%0a%1b[31m.png", "x[31m.png"),
        ("file:///a/x%e2%80%aegnp.exe", "xgnp.exe"),
        ("file:///a/%20%20", "file.bin"),
        ("file:///a/picture.png/", "picture.png"),
        ("https://example.org/a/picture.png?size=2#top", "picture.png"),
        ("http://[bad/picture.png", "file.bin"),
        ("", "file.bin"),
        ("file:///a/日本語.png", "日本語.png"),
    ],
)
def test_a_name_leads_nowhere_and_misleads_nobody(uri: str, name: str) -> None:
    assert _named(uri) == name


@pytest.mark.parametrize(
    ("block", "name"),
    [
        (TextResource("file:///project/durations.toml", "naïve\n"), "durations.toml"),
        (TextResource("memory:", "naïve\n"), "file.txt"),
        (TextResource("memory:", "naïve\n", "text/markdown"), "file.md"),
    ],
)
def test_a_text_is_saved_as_it_is(block: TextResource, name: str, tmp_path: Path) -> None:
    path = save_block(block, tmp_path)
    assert path == tmp_path / name
    assert path.read_bytes() == "naïve\n".encode()


def test_a_long_name_keeps_its_suffix() -> None:
    for letter in "aé日":
        name = _named(f"file:///{letter * 300}.png")
        assert name.endswith(f"{letter}.png")
        assert len(name.encode()) <= save_content.MAX_NAME_BYTES


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "image.png").write_text("mine")
    (tmp_path / "image-1.png").symlink_to(tmp_path / "elsewhere")
    assert save_block(Image(HELLO, "image/png"), tmp_path) == tmp_path / "image-2.png"
    assert (tmp_path / "image.png").read_text() == "mine"
    assert not (tmp_path / "elsewhere").exists()


def test_there_is_an_end_to_looking_for_a_free_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(save_content, "MAX_TRIES", 2)
    for _ in range(2):
        save_block(Image(HELLO, "image/png"), tmp_path)
    with pytest.raises(ClientError, match="too many files"):
        save_block(Image(HELLO, "image/png"), tmp_path)


def test_only_the_user_can_read_it(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        path = save_block(Image(HELLO, "image/png"), tmp_path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_folder_that_is_missing_is_made(tmp_path: Path) -> None:
    assert save_block(Image(HELLO, "image/png"), tmp_path / "new" / "er").read_bytes() == b"hello"


@pytest.mark.parametrize("data", ["aGVsbG8", "aGVs bG8=", "aGVs\nbG8=", "é", "aGVsbG8=!"])
def test_what_is_not_base64_is_not_saved(data: str, tmp_path: Path) -> None:
    with pytest.raises(ClientError, match="n't base64"):
        save_block(Audio(data, "audio/wav"), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ClientError, match=f"can't be saved in {tmp_path}/file"):
        save_block(Image(HELLO, "image/png"), tmp_path / "file")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_half_a_file_does_not_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def on_a_full_disk(path: Path) -> BinaryIO:
        create_private(path).close()
        return Path("/dev/full").open("wb", buffering=0)

    monkeypatch.setattr(save_content, "create_private", on_a_full_disk)
    with pytest.raises(ClientError, match="No space left"):
        save_block(Image(HELLO, "image/png"), tmp_path)
    assert list(tmp_path.iterdir()) == []
