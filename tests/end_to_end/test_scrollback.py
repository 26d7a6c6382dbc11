"""What stays in the terminal when the screen has ended."""

from __future__ import annotations

import os
import signal
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


def test_how_to_resume_is_told_also_after_more_ctrl_c_than_quitting_needs(tmp_path: Path) -> None:
    never = tmp_path / "never"
    os.mkfifo(never)
    script = f"""
        handshake(agentCapabilities={{"loadSession": True}})
        answer(expect("session/new"), sessionId="s1")
        prompt = expect("session/prompt")
        say("Well.")
        end(prompt)
        serve_until_closed()
        open({str(never)!r})
    """
    with on_terminal(tmp_path, "run", "--", *scripted_argv(script)) as terminal:
        terminal.prompt("how are you")
        terminal.wait_for("Well.")
        terminal.insist("\x03", lambda: LEAVES_THE_SCREEN.encode() in terminal.written)
        while terminal.process.poll() is None:
            terminal.process.send_signal(signal.SIGINT)  # without an echo, or its loss of what wasn't read yet
            terminal.read(0.05)
        terminal.wait_for_end()
        assert "--resume s1" in terminal.shown
