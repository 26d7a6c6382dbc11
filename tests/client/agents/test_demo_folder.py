"""The demo's temporary folder: however acp-tui ends, it's gone then, or at the latest with the next demo."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

START = """
import sys
from acp_tui.cli.main import end_in_order
from acp_tui.client.agents.demo_agent import demo_command, with_project
end_in_order()
print(with_project(demo_command()).cwd, flush=True)
sys.stdin.read()
"""


@contextmanager
def _run(place: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process that has just made its project in `place`, and the project."""
    env = {**os.environ, "TMPDIR": str(place)}
    process = subprocess.Popen(
        [sys.executable, "-c", START], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().rstrip())
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [None, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_the_folder_is_gone_after_each_way_to_end_early(tmp_path: Path, number: signal.Signals | None) -> None:
    with _run(tmp_path) as (process, project):
        assert (project / "durations.py").exists()
        if number is not None:
            process.send_signal(number)
        process.communicate("")
        assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_deleted_by_the_next_one_and_nothing_else(tmp_path: Path) -> None:
    others = tmp_path / "acp-tui-demo-of-someone", tmp_path / "acp-tui-demo-login-0-1"
    others[0].mkdir()
    others[1].write_text("")
    with _run(tmp_path) as (killed, left), _run(tmp_path) as (_, alive):
        killed.kill()
        killed.wait()
        assert left.exists()
        with _run(tmp_path) as (_, new):
            assert not left.parent.exists()
            assert set(tmp_path.iterdir()) == {*others, alive.parent, new.parent}
