"""Reads the desktop's clipboard, with tools that the tests put in place of the system's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.client import clipboard as reading
from acp_tui.client.clipboard import ClipboardPicture, NothingToPaste

PNG = b"\x89PNG\r\n\x1a\n rest"
XCLIP = """#!/bin/sh
for target; do :; done
echo "$target" >>{folder}/asked
case "$target" in
  TARGETS) cat {folder}/targets ;;
  *) cat "{folder}/$(echo "$target" | tr / _)" ;;
esac
"""


@pytest.fixture
def desktop(tmp_path: Path) -> Path:
    """A folder with an `xclip` that prints the files beside it."""
    tool = tmp_path / "xclip"
    tool.write_text(XCLIP.format(folder=tmp_path))
    tool.chmod(0o755)
    return tmp_path


def environ(folder: Path, **more: str) -> dict[str, str]:
    return {"DISPLAY": ":0", "PATH": f"{folder}:/usr/bin:/bin", **more}


def test_a_picture_is_read_in_the_best_type_there_is(desktop: Path) -> None:
    (desktop / "targets").write_text("TIMESTAMP\nimage/jpeg\nimage/png\ntext/html\n")
    (desktop / "image_png").write_bytes(PNG)
    assert reading.read_clipboard(environ(desktop), platform="linux") == ClipboardPicture(PNG, "image/png")


def test_text_goes_before_a_picture_of_it(desktop: Path) -> None:
    (desktop / "targets").write_text("image/png\nUTF8_STRING\n")
    (desktop / "UTF8_STRING").write_text("cells")
    assert reading.read_clipboard(environ(desktop), platform="linux") == "cells"


def test_a_picture_that_is_not_wanted_is_not_read(desktop: Path) -> None:
    (desktop / "targets").write_text("image/png\n")
    with pytest.raises(NothingToPaste, match="the agent takes no pictures"):
        reading.read_clipboard(environ(desktop), no_pictures="the agent takes no pictures", platform="linux")
    assert (desktop / "asked").read_text() == "TARGETS\n"


def test_what_only_says_that_it_is_a_picture_is_none(desktop: Path) -> None:
    (desktop / "targets").write_text("image/png\n")
    (desktop / "image_png").write_text("<html>")
    with pytest.raises(NothingToPaste, match="no text and no picture"):
        reading.read_clipboard(environ(desktop), platform="linux")


def test_what_is_too_large_is_not_taken(desktop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_BYTES", 20)
    (desktop / "targets").write_text("image/png\n")
    (desktop / "image_png").write_bytes(PNG * 1000)
    with pytest.raises(NothingToPaste, match="larger than"):
        reading.read_clipboard(environ(desktop), platform="linux")


def test_a_tool_that_hangs_is_ended(desktop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LIMIT_S", 0.05)
    (desktop / "xclip").write_text("#!/bin/sh\nexec sleep 60\n")
    with pytest.raises(NothingToPaste, match="didn't answer"):
        reading.read_clipboard(environ(desktop), platform="linux")


@pytest.mark.parametrize(
    ("more", "platform", "said"),
    [
        ({"DISPLAY": ":0"}, "linux", "xclip is missing"),
        ({"WAYLAND_DISPLAY": "w"}, "linux", "wl-paste is missing"),
        ({}, "darwin", "pbpaste is missing"),
        ({}, "linux", "there is no desktop"),
        ({"DISPLAY": ":0", "SSH_CONNECTION": "a"}, "linux", "on a different machine"),
    ],
)
def test_what_is_missing_is_said(more: dict[str, str], platform: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(NothingToPaste, match=said):
        reading.read_clipboard({"PATH": str(tmp_path), **more}, platform=platform)


def test_on_macos_a_picture_is_tried_where_there_is_no_text(tmp_path: Path) -> None:
    for name, script in (("pbpaste", "true"), ("pngpaste", f"cat {tmp_path}/picture")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "picture").write_bytes(PNG)
    found = reading.read_clipboard({"PATH": f"{tmp_path}:/usr/bin:/bin"}, platform="darwin")
    assert found == ClipboardPicture(PNG, "image/png")
