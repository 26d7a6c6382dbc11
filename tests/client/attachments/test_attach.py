"""Which files the text of a prompt attaches, and as which blocks."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.client.attachments.attach import Attached, attach
from acp_tui.client.attachments.files import AttachmentLimits
from acp_tui.conversation.content import Audio, Image, ResourceLink, Text, TextResource

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
WAV = b"RIFF\x24\0\0\0WAVEfmt "
TEN_LINES = "".join(f"line {number}\n" for number in range(1, 11))


def only_text(text: str) -> Attached:
    return Attached((Text(text),), ())


def attached(text: str, cwd: Path, limits: AttachmentLimits | None = None) -> list[object]:
    """The blocks after the text, if there were no problems."""
    result = attach(text, cwd, limits=limits or AttachmentLimits())
    assert result.problems == ()
    assert result.blocks[0] == Text(text)
    return list(result.blocks[1:])


def uris(text: str, cwd: Path) -> list[object]:
    return [getattr(block, "uri", None) for block in attached(text, cwd)]


def test_the_text_stays_as_written_and_a_text_file_follows_whole(tmp_path: Path) -> None:
    """R-PROMPT-5."""
    (tmp_path / "a.py").write_bytes(b"print()\r\n")
    assert attach("Explain @a.py, please", tmp_path) == Attached(
        (
            Text("Explain @a.py, please"),
            TextResource((tmp_path / "a.py").as_uri(), "print()\r\n", "text/x-python"),
        ),
        (),
    )


def test_lines_are_cut_out_and_named_in_the_uri(tmp_path: Path) -> None:
    file = tmp_path / "log.txt"
    file.write_bytes(b"one\ntwo\r\nth\ree\nfour")
    assert attached("@log.txt:2-3 @log.txt:4", tmp_path) == [
        TextResource(f"{file.as_uri()}#L2-L3", "two\r\nth\ree\n", "text/plain"),
        TextResource(f"{file.as_uri()}#L4", "four", "text/plain"),
    ]


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "bom").write_bytes(b"\xef\xbb\xbfone\ntwo\n")
    uri = (tmp_path / "bom").as_uri()
    assert attached("@bom @bom:1", tmp_path) == [
        TextResource(uri, "one\ntwo\n", "text/plain"),
        TextResource(f"{uri}#L1", "one\n", "text/plain"),
    ]


def test_an_empty_file_is_an_empty_text(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert attached("@empty", tmp_path) == [TextResource((tmp_path / "empty").as_uri(), "", "text/plain")]


def test_a_text_above_the_limit_becomes_a_link_with_its_size(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("12345")
    assert attached("@a.py", tmp_path, AttachmentLimits(text_bytes=5)) == [
        TextResource(file.as_uri(), "12345", "text/x-python")
    ]
    assert attached("@a.py", tmp_path, AttachmentLimits(text_bytes=4)) == [
        ResourceLink(file.as_uri(), "a.py", mime_type="text/x-python", size=5)
    ]


def test_lines_of_a_large_file_are_attached_if_they_are_small(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_text("x" * 200_000 + "\n" + "second\n")
    assert attached("@log:2", tmp_path, AttachmentLimits(text_bytes=10)) == [
        TextResource(f"{file.as_uri()}#L2", "second\n", "text/plain")
    ]


def test_pictures_and_sounds_are_told_by_their_bytes_not_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "picture.txt").write_bytes(PNG)
    (tmp_path / "sound.png").write_bytes(WAV)
    assert attached("@picture.txt @sound.png", tmp_path) == [
        Image(b64encode(PNG).decode(), "image/png", (tmp_path / "picture.txt").as_uri()),
        Audio(b64encode(WAV).decode(), "audio/wav"),
    ]


def test_other_binary_files_and_folders_are_links(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7\0")
    (tmp_path / "b c").mkdir()
    assert attached('@a.pdf @"b c/"', tmp_path) == [
        ResourceLink((tmp_path / "a.pdf").as_uri(), "a.pdf", mime_type="application/pdf", size=9),
        ResourceLink(f"{tmp_path.as_uri()}/b%20c/", "b c", mime_type="inode/directory"),
    ]


@pytest.mark.parametrize(
    ("name", "encoded"),
    [("a b", "a%20b"), ("名", "%E5%90%8D"), ("a#L1", "a%23L1"), ("100%", "100%25"), ("a?b", "a%3Fb")],
)
def test_a_uri_is_percent_encoded(tmp_path: Path, name: str, encoded: str) -> None:
    (tmp_path / name).touch()
    assert uris(f'@"{name}"', tmp_path) == [f"{tmp_path.as_uri()}/{encoded}"]


def test_the_root_of_the_disk_has_one_slash_like_any_folder(tmp_path: Path) -> None:
    assert attached("@/dev/..", tmp_path) == [ResourceLink("file:///", "/", mime_type="inode/directory")]


def test_a_path_may_lead_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, cwd = tmp_path / "home", tmp_path / "cwd"
    for folder in (home, cwd):
        folder.mkdir()
    (home / "a").touch()
    monkeypatch.setenv("HOME", str(home))
    assert uris(f"@~/a @~ @{home}/a @./ @../", cwd) == [
        (home / "a").as_uri(),
        home.as_uri() + "/",
        cwd.as_uri() + "/",
        tmp_path.as_uri() + "/",
    ]


def test_the_way_up_from_a_symbolic_link_is_the_disks_not_the_spellings(tmp_path: Path) -> None:
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real" / "deep")
    (tmp_path / "real" / "a").touch()
    assert uris("@link/../a", tmp_path) == [(tmp_path / "real" / "a").as_uri()]


def test_one_file_is_attached_once_however_it_is_spelled(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text(TEN_LINES)
    (tmp_path / "b").touch()
    assert uris(f"@b @a @./a @{file} @a:3 @a:3-3 @b", tmp_path) == [
        (tmp_path / "b").as_uri(),
        file.as_uri(),
        f"{file.as_uri()}#L3",
    ]


def test_a_file_of_that_very_name_wins_over_punctuation_and_lines(tmp_path: Path) -> None:
    for name in ("a", "a:3", "b", "b(1)", "c."):
        (tmp_path / name).write_text(TEN_LINES)
    here = tmp_path.as_uri()
    assert uris("@a:3 (@b(1)). @c. @b.", tmp_path) == [
        f"{here}/a%3A3",
        f"{here}/b%281%29",
        f"{here}/c.",
        f"{here}/b",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "@property\ndef x(self): ...",
        "mail me@a.py or @nobody",
        "@a.py/x `@a.py`",
        "@nul\0 @half\ud800",
        "@broken",
        "@circle",
    ],
)
def test_what_names_no_existing_file_is_just_text(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.py").touch()
    (tmp_path / "broken").symlink_to("nowhere")
    (tmp_path / "circle").symlink_to("circle")
    assert attach(text, tmp_path) == only_text(text)


@pytest.mark.parametrize("tail", ["x", ".", "/", "/..", ":1"])
def test_a_name_of_absurd_length_is_just_text(tmp_path: Path, tail: str) -> None:
    text = "@x" + tail * 10_000
    assert attach(text, tmp_path) == only_text(text)


def test_a_missing_cwd_is_no_error(tmp_path: Path) -> None:
    assert attach("@a ./@b @c", tmp_path / "gone") == only_text("@a ./@b @c")


@pytest.mark.parametrize("name", ["nosuch.txt", "./nosuch", "sub/z.py", "/no/such", "nosuch:2-3", '"no such:2-3"'])
def test_a_file_that_was_meant_and_is_not_there_is_said(tmp_path: Path, name: str) -> None:
    assert attach(f"see @{name}", tmp_path).problems == (f"no such file: {name}: it is sent as text",)


@pytest.mark.parametrize("name", ["code:4:2", "code.py:4:2", "code.py#L4-L5", "code:four"])
def test_a_file_named_with_what_is_no_lines_is_said(tmp_path: Path, name: str) -> None:
    (tmp_path / "code").touch()
    (tmp_path / "code.py").touch()
    assert attach(f"see @{name}", tmp_path).problems == (f"no such file: {name}: it is sent as text",)


@pytest.mark.parametrize("text", ["@someone", "@property", "@types/node", "me@example.org", "`@a.py`"])
def test_what_was_hardly_meant_as_a_file_is_just_text(tmp_path: Path, text: str) -> None:
    assert attach(text, tmp_path) == only_text(text)


@given(st.text())
def test_without_an_at_sign_there_is_just_the_text(text: str) -> None:
    text = text.replace("@", "")
    assert attach(text, Path("/")) == only_text(text)
