"""What the user is told when a file can't be attached as requested, and what happens instead."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from pathlib import Path

import pytest

from acp_tui.client.attachments import files as files_module
from acp_tui.client.attachments import files as reading_module
from acp_tui.client.attachments.attach import attach
from acp_tui.client.attachments.files import AttachmentLimits
from acp_tui.conversation.content import ContentBlock, Image, ResourceLink, TextResource

PNG = b"\x89PNG\r\n\x1a\n\0\0"
ROOT_READS_EVERYTHING = pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")


def attachments(
    text: str, cwd: Path, limits: AttachmentLimits | None = None
) -> tuple[Sequence[ContentBlock], tuple[str, ...]]:
    result = attach(text, cwd, limits=limits or AttachmentLimits())
    return result.blocks[1:], result.problems


def test_a_named_pipe_is_named_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert attachments("@pipe", tmp_path) == ((), ("'pipe' is a named pipe, so it isn't attached.",))


def test_a_pipe_that_takes_a_files_place_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between checking a file and opening it."""
    file, pipe = tmp_path / "file", tmp_path / "pipe"
    file.touch()
    os.mkfifo(pipe)
    real_open = reading_module.open_at_once
    monkeypatch.setattr(reading_module, "open_at_once", lambda _path, flags: real_open(str(pipe), flags))
    assert attachments("@file", tmp_path) == ((), ("'file' is a named pipe, so it isn't attached.",))


def test_devices_and_sockets_are_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        blocks, problems = attachments("@/dev/zero @socket", tmp_path)
    assert blocks == ()
    assert problems == (
        "'/dev/zero' is a character device, so it isn't attached.",
        "'socket' is a socket, so it isn't attached.",
    )


@ROOT_READS_EVERYTHING
@pytest.mark.parametrize("closed", ["folder", "folder/secret"])
def test_what_may_not_be_read_becomes_a_link(tmp_path: Path, closed: str) -> None:
    secret = tmp_path / "folder" / "secret"
    secret.parent.mkdir()
    secret.touch()
    (tmp_path / closed).chmod(0)
    result = attachments("@folder/secret", tmp_path)
    (tmp_path / closed).chmod(0o700)
    assert result == (
        (ResourceLink(secret.as_uri(), "secret"),),
        ("'folder/secret' can't be read (permission denied), so a link to it is attached instead.",),
    )


def test_a_disk_that_fails_is_a_problem_not_an_exception(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("x")

    def fail(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(files_module, "read_all", fail)
    blocks, problems = attachments("@a", tmp_path)
    assert blocks == (ResourceLink((tmp_path / "a").as_uri(), "a"),)
    assert problems == ("'a' can't be read (input/output error), so a link to it is attached instead.",)


def test_a_file_that_vanishes_is_told_and_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a"
    file.touch()
    real_open = reading_module.open_at_once

    def open_too_late(path: str, flags: int) -> int:
        file.unlink()
        return real_open(path, flags)

    monkeypatch.setattr(reading_module, "open_at_once", open_too_late)
    assert attachments("@a", tmp_path) == ((), ("'a' is gone, so it isn't attached.",))


@pytest.mark.parametrize("content", [b"caf\xe9\n", "text\n".encode("utf-16")])
@pytest.mark.parametrize("mention", ["a.txt", "a.txt:1"])
def test_text_of_another_encoding_becomes_a_link(tmp_path: Path, content: bytes, mention: str) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    blocks, problems = attachments(f"@{mention}", tmp_path)
    uri = (tmp_path / "a.txt").as_uri()
    assert blocks == (ResourceLink(uri, "a.txt", mime_type="text/plain", size=len(content)),)
    assert problems == ("'a.txt' isn't UTF-8 text, so a link to it is attached instead.",)


def test_lines_beyond_the_end_become_a_link(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\ntwo")
    (tmp_path / "empty").touch()
    blocks, problems = attachments("@a:3 @empty:1-5", tmp_path)
    assert blocks == (
        ResourceLink((tmp_path / "a").as_uri(), "a", mime_type="text/plain", size=7),
        ResourceLink((tmp_path / "empty").as_uri(), "empty", mime_type="text/plain", size=0),
    )
    assert problems == (
        "'a' ends before line 3, so a link to it is attached instead.",
        "'empty' ends before lines 1-5, so a link to it is attached instead.",
    )


@pytest.mark.parametrize("end", ["two", "two\n"])
def test_lines_that_reach_beyond_the_end_are_attached_as_far_as_there_are_any(tmp_path: Path, end: str) -> None:
    (tmp_path / "a").write_text(f"one\n{end}")
    blocks, problems = attachments("@a:2-9", tmp_path)
    assert blocks == (TextResource(f"{(tmp_path / 'a').as_uri()}#L2", end, "text/plain"),)
    assert problems == ("'a' ends with line 2, so only part of lines 2-9 is attached.",)


def test_lines_above_the_limit_become_a_link(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("12345\n6\n")
    blocks, problems = attachments("@a:1-2", tmp_path, AttachmentLimits(text_bytes=7))
    assert blocks == (ResourceLink((tmp_path / "a").as_uri(), "a", mime_type="text/plain", size=8),)
    assert problems == ("'a' is too large to read lines 1-2 from, so a link to it is attached instead.",)


def test_lines_far_into_a_huge_file_are_not_searched_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_module, "SCANNED_BYTES", 10)
    (tmp_path / "a").write_text("12345\n" * 3)
    blocks, problems = attachments("@a:3", tmp_path)
    assert blocks == (ResourceLink((tmp_path / "a").as_uri(), "a", mime_type="text/plain", size=18),)
    assert problems == ("'a' is too large to read line 3 from, so a link to it is attached instead.",)


def test_a_picture_above_the_limit_becomes_a_link(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    blocks, problems = attachments("@a.png", tmp_path, AttachmentLimits(media_bytes=9))
    assert blocks == (ResourceLink((tmp_path / "a.png").as_uri(), "a.png", mime_type="image/png", size=10),)
    assert problems == ("'a.png' is larger than 9 bytes, so a link to it is attached instead.",)


def test_what_has_no_lines_is_attached_whole(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    (tmp_path / "b").write_bytes(b"\0")
    (tmp_path / "c").mkdir()
    blocks, problems = attachments("@a.png:1 @b:1-2 @c:3", tmp_path)
    assert [type(block) for block in blocks] == [Image, ResourceLink, ResourceLink]
    assert problems == (
        "'a.png' isn't text, so it has no line 1; all of it is attached.",
        "'b' isn't text, so it has no lines 1-2; all of it is attached.",
        "'c' isn't text, so it has no line 3; all of it is attached.",
    )


def test_two_failed_wishes_for_one_file_give_one_link_and_two_sentences(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\n")
    blocks, problems = attachments("@a:8 @a:9", tmp_path)
    assert (len(blocks), len(problems)) == (1, 2)


def test_one_problem_keeps_no_other_file_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a").write_text("x")
    blocks, problems = attachments("@pipe @a", tmp_path)
    assert blocks == (TextResource((tmp_path / "a").as_uri(), "x", "text/plain"),)
    assert len(problems) == 1
