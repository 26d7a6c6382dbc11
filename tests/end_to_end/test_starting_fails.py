"""If an agent can't start, the screen says so right away, and scripts learn it from the exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.terminals import on_terminal

CTRL_Q = "\x11"


@pytest.mark.parametrize(
    ("name", "message", "status"),
    [("no-such-agent", "wasn't found", 127), ("not-executable", "isn't an executable file", 126)],
)
def test_the_reason_is_drawn_and_quitting_returns_it(tmp_path: Path, name: str, message: str, status: int) -> None:
    (tmp_path / "not-executable").touch(mode=0o600)
    command = name if name == "no-such-agent" else str(tmp_path / name)
    with on_terminal(tmp_path, "--", command) as screen:
        screen.wait_for(message)
        screen.wait_for("no session")
        screen.type(CTRL_Q)
        assert screen.wait_for_end() == status
