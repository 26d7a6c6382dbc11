"""How a copy reaches the clipboard, and that acp-tui claims only what it tried."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from acp_tui.client.desktop import (
    MAX_OSC_52_BYTES,
    copy_by_tool,
    native_tool,
    said,
    through_terminal,
)


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STY", raising=False)


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


def test_tmux_keeps_a_copy_as_it_is_set_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("tmux") is None:
        pytest.skip("there is no tmux")
    tmux = ("tmux", "-S", str(tmp_path / "tmux"))
    subprocess.run(
        [*tmux, "-f", "/dev/null", "new-session", "-d", "cat"], check=True, env={**os.environ, "TERM": "xterm"}
    )
    try:
        asked = subprocess.run([*tmux, "display", "-p", "#{socket_path},#{pid},0"], check=True, stdout=subprocess.PIPE)
        monkeypatch.setenv("TMUX", asked.stdout.decode().strip())
        assert copy_by_tool("héllo\n", {"PATH": "", "TMUX": os.environ["TMUX"], "SSH_CONNECTION": "1 2 3 4"}) == "tmux"
        assert subprocess.run([*tmux, "show-buffer"], check=True, stdout=subprocess.PIPE).stdout.decode() == "héllo\n"
    finally:
        subprocess.run([*tmux, "kill-server"], check=True)


def test_a_tmux_before_3_2_keeps_a_copy_too(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tools / "tmux").write_text(f"""#!/bin/sh\n[ "$2" != -w ] && exec cat > {tools}/kept\n""")
    (tools / "tmux").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools), prepend=":")
    assert copy_by_tool("hello", environ(tools, TMUX="/socket,1,0")) == "tmux"
    assert (tools / "kept").read_text() == "hello"
    assert copy_by_tool("there", environ(tools, TMUX="/socket,1,0", WAYLAND_DISPLAY="w")) == "wl-copy"
    assert (tools / "kept").read_text() == (tools / "copied").read_text() == "there"


def test_a_tmux_that_does_not_answer_has_not_copied(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tools / "tmux").write_text("#!/bin/sh\nexit 1\n")
    (tools / "tmux").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools), prepend=":")
    assert copy_by_tool("hello", environ(tools, TMUX="/socket,1,0")) == ""


def test_gnu_screen_passes_a_copy_on_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = through_terminal("hello" * 1000)
    monkeypatch.setenv("STY", "1.pts")
    sent = through_terminal("hello" * 1000).removeprefix(whole)
    pieces = re.findall(r"\x1bP([^\x1b]*|\x1b\].*?)\x1b\\", sent)
    assert "".join(pieces) == whole
    assert max(map(len, pieces)) <= 256


def test_what_is_too_long_for_the_terminal_is_not_sent_to_it() -> None:
    assert through_terminal("x" * 50_000).startswith("\x1b]52;c;")
    assert through_terminal("x" * MAX_OSC_52_BYTES) == ""


def test_only_what_was_tried_is_said() -> None:
    assert said(5, "wl-copy", by_terminal=True) == said(5, "wl-copy", by_terminal=False) == "Copied 5 characters"
    assert said(5, "tmux", by_terminal=True) == "Copied 5 characters to tmux"
    assert said(1, "", by_terminal=True) == "Copied 1 character through the terminal"
    assert said(9, "", by_terminal=False).startswith("Couldn't copy")
