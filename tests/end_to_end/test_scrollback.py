"""What stays in the terminal when the screen has ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.agents import scripted_argv
from support.terminals import on_terminal

SCRIPT = """
    for text in ("one", "two"):
        prompt = open_session() if text == "one" else expect("session/prompt")
        say(f"This is **{text}**.")
        end(prompt)
    serve_until_closed()
"""
LEAVES_THE_SCREEN = "\x1b[?1049l"


@pytest.mark.parametrize("stays", [True, False])
def test_the_last_turn_stays_in_the_terminal_if_it_is_wanted(tmp_path: Path, *, stays: bool) -> None:
    settings = tmp_path / "config" / "acp-tui" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"appearance.scrollback = {str(stays).lower()}\n")
    with on_terminal(tmp_path, "run", "--", *scripted_argv(SCRIPT)) as terminal:
        terminal.prompt("first")
        terminal.wait_for("This is one.")
        terminal.prompt("second")
        terminal.wait_for("This is two.")
        terminal.type("\x11")
        assert terminal.wait_for_end() == 0
        after = terminal.written.decode().split(LEAVES_THE_SCREEN)[-1]
    assert ("second" in after, "two" in after) == (stays, stays)
    assert "one" not in after
    assert ("\x1b[1" in after) == stays, "with its styles"
    assert "╭" not in terminal.shown, "this terminal has no other screen to go back to"
