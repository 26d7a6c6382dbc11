"""How a copy reaches the clipboard, and that acp-tui claims only what it tried."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest

from acp_tui.client.desktop import (
    MAX_OSC_52_BYTES,
    copy_by_tool,
    fits_terminal,
    native_tool,
    said,
    through_tmux,
)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with a wl-copy that stores what it gets, and an xclip that fails."""
    (tmp_path / "wl-copy").write_text(f"#!/bin/sh\nexec cat > {tmp_path}/copied\n")
    (tmp_path / "xclip").write_text("#!/bin/sh\nexit 1\n")
    for tool in tmp_path.iterdir():
        tool.chmod(0o755)
    return tmp_path


def environ(tools: Path, **more: str) -> dict[str, str]:
    return {"PATH": str(tools), **more}


def test_the_tool_of_the_users_desktop_gets_the_text(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tools), prepend=":")
    assert copy_by_tool("héllo\n", environ(tools, WAYLAND_DISPLAY="wayland-0")) == "wl-copy"
    assert (tools / "copied").read_text() == "héllo\n"


def test_a_tool_that_fails_has_not_copied(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tools), prepend=":")
    assert copy_by_tool("hello", environ(tools, DISPLAY=":0")) == ""


def test_without_a_display_or_over_ssh_there_is_no_tool(tools: Path) -> None:
    assert native_tool(environ(tools)) is None
    assert native_tool(environ(tools, WAYLAND_DISPLAY="w", SSH_CONNECTION="1 2 3 4")) is None


def test_tmux_is_asked_to_hand_the_copy_on() -> None:
    encoded = b64encode(b"hello").decode()
    assert through_tmux("hello") == f"\x1bPtmux;\x1b\x1b]52;c;{encoded}\x07\x1b\\"


def test_what_is_too_long_for_the_terminal_is_not_sent_to_it() -> None:
    assert fits_terminal("x" * 50_000)
    assert not fits_terminal("x" * MAX_OSC_52_BYTES)


def test_only_what_was_tried_is_said() -> None:
    assert said(5, "wl-copy", by_terminal=True) == said(5, "wl-copy", by_terminal=False) == "Copied 5 characters"
    assert said(1, "", by_terminal=True) == "Copied 1 character through the terminal"
    assert said(9, "", by_terminal=False).startswith("Couldn't copy")
