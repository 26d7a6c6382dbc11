"""Only the user can read what acp-tui writes of conversations, under any umask, even if a file was open before."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.command_line import one_after_the_other
from support.terminals import environment, on_terminal

DEMO = ("demo", "markdown", "--speed", "0")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """With a umask that removes nothing."""
    before = os.umask(0)
    try:
        yield tmp_path
    finally:
        os.umask(before)


def open_to_others(home: Path) -> dict[str, str]:
    """What others could read or write, except existing folders that aren't ours alone."""
    before = {home, home / "state"}
    found = {path: stat.S_IMODE(path.lstat().st_mode) for path in home.rglob("*") if path not in before}
    assert found
    return {str(path.relative_to(home)): oct(mode) for path, mode in found.items() if mode & 0o077}


def test_a_session_leaves_nothing_that_others_can_read(home: Path) -> None:
    state = home / "state/acp-tui"
    (state / "recordings").mkdir(parents=True)
    for name in ("history.jsonl", "recent-agents.json", "recordings/index.sqlite3"):
        (state / name).touch()
    with on_terminal(home, *DEMO) as terminal:
        terminal.prompt("something private")
        terminal.wait_for("A thought can hold")
        terminal.type("\x11")
        terminal.wait_for_end()
    written = {path.name for path in home.rglob("*")}
    assert "index.sqlite3" in written
    assert any(b"something private" in path.read_bytes() for path in home.rglob("*.jsonl"))
    assert open_to_others(home) == {}


def test_no_command_leaves_anything_that_others_can_read(home: Path) -> None:
    agent = ("--", sys.executable, "-P", "-m", "acp_tui.demo", "markdown", "--speed", "0")
    commands = (
        ("exec", "--prompt", "hello", "--record", "run.jsonl", *agent),
        ("redact", "run.jsonl", "-o", "redacted.jsonl"),
        *(("render", "run.jsonl", "-o", name) for name in ("out.txt", "out.svg")),
        ("doctor", "--format", "json"),
        *((name,) for name in ("agents", "settings", "keys")),
    )
    done = subprocess.run(
        one_after_the_other(*commands),
        cwd=home,
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (home / "redacted.jsonl").exists()
    assert open_to_others(home) == {}
