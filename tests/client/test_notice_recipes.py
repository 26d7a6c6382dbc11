"""The commands for notices that the documentation shows do what it says."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import anyio
import pytest

from acp_tui.client.notices import About, News, NoticeCommand
from support.waiting import LIMIT_S

pytestmark = pytest.mark.anyio

PAGE = Path(__file__).parents[2] / "acp_tui" / "docs" / "sessions.md"
QUESTION = News("needs_you", "needs your decision")
ABOUT = About("Toy agent", "s1", '"; touch hacked; $(touch hacked) @x', "/a folder")


def recipe(name: str) -> tuple[str, ...]:
    """The command of the recipe whose comment begins like this."""
    blocks = [block.partition("```")[0] for block in PAGE.read_text().split("```toml\n")[1:]]
    (block,) = (block for block in blocks if block.startswith(f"# {name}"))
    command = tomllib.loads(block)["notifications"]["command"]
    return tuple(command)


async def told(command: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the command for a question, in this folder."""
    monkeypatch.chdir(folder)
    problems: list[str] = []
    with anyio.fail_after(LIMIT_S):
        await NoticeCommand(problems.append).run(command, QUESTION, ABOUT)
    assert problems == []
    assert not (folder / "hacked").exists()


@pytest.fixture
def posts() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """A server's address, and the titles and texts it was sent."""
    received: list[tuple[str, str]] = []

    class Server(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            received.append((self.headers["Title"], text))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Server) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/topic", received
        server.shutdown()


async def test_a_phone_is_told_through_ntfy(
    posts: tuple[str, list[tuple[str, str]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("curl") is None:
        pytest.skip("there is no curl")
    address, received = posts
    command = tuple(word.replace("https://ntfy.sh/TOPIC", address) for word in recipe("Your phone"))
    assert any(address in word for word in command)
    await told(command, tmp_path, monkeypatch)
    assert received == [("Toy agent needs your decision", f"{ABOUT.title} (/a folder)")]


async def test_a_desktop_is_told_by_its_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, note = tmp_path / "notify-send", tmp_path / "note"
    program.write_text(f"#!{sys.executable}\nimport sys\nopen({str(note)!r}, 'w').write('|'.join(sys.argv[1:]))\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    await told(recipe("Your desktop"), tmp_path, monkeypatch)
    assert note.read_text() == f"--app-name=acp-tui|{ABOUT.title}|needs your decision"


async def test_a_terminal_rings_through_tmux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("tmux") is None:
        pytest.skip("there is no tmux")
    monkeypatch.setenv("TMUX_TMPDIR", str(tmp_path))
    monkeypatch.delenv("TMUX", raising=False)
    tmux = partial(subprocess.run, check=True, env={**os.environ, "TERM": "xterm"})
    tmux(["tmux", "-f", "/dev/null", "new-session", "-d", "-x", "40", "-y", "5", "cat"])
    master, slave = pty.openpty()
    try:
        client = subprocess.Popen(
            ["tmux", "attach"], stdin=slave, stdout=slave, stderr=slave, env={**os.environ, "TERM": "xterm"}
        )
        _read_until(master, lambda said: b"[0]" in said or b"cat" in said)  # the status line
        await told(recipe("A bell"), tmp_path, monkeypatch)
        assert b"\a" in _read_until(master, lambda said: b"\a" in said)
    finally:
        tmux(["tmux", "kill-server"])
        client.wait()
        os.close(master)
        os.close(slave)


def _read_until(master: int, is_so: Any) -> bytes:
    said = b""
    while not is_so(said):
        assert select.select([master], [], [], LIMIT_S)[0], said
        said += os.read(master, 1 << 16)
    return said
