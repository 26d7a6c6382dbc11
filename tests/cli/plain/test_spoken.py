"""A whole session in plain mode as it is read aloud, kept as text in `spoken.txt`.

It is all that the terminal was sent, with what was typed.
`ACP_TUI_ACCEPT_SPOKEN=1` writes the file anew: read it aloud before you commit it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import wave
from pathlib import Path
from typing import Final

import pytest

from support.terminals import line_terminal

KEPT: Final = Path(__file__).with_name("spoken.txt")
SILENT: Final = re.compile(r"[^\w\s.,:;!?()'\"/=+*`@\[\]{}<>|#%&$~^\\-]")
"""What a speech synthesizer skips, or may."""


def session(folder: Path) -> str:
    """What the terminal shows of a session with a plan, a table, a diff, questions, and commands; times are N."""
    with line_terminal("demo", "--plain", "--speed", "0", cwd=folder) as terminal:
        for shown, typed in (
            ("you: ", "The tests fail"),
            ("Ctrl+C cancels the turn.\nYour choice: ", "1"),
            ("Your choice: ", "y"),
            ("\nyou: ", "/plan"),
            ("\nyou: ", "/changes"),
            ("\nyou: ", "/find seconds"),
            ("\nyou: ", "/undo"),
            ("[y/N] ", "y"),
            ("\nyou: ", "/quit"),
        ):
            terminal.shows(shown)
            terminal.type(f"{typed}\n")
        assert terminal.end() == 0
    text = terminal.text.replace("\a", "")
    text = re.sub(r"/\S*/acp-tui-demo-\w+/", "/tmp/", text)
    text = re.sub("acp-tui: waiting for .*\n", "", text)  # on a busy machine
    text = re.sub(r"--resume demo-\w+", "--resume ID", text)
    text = re.sub(r"( after )[\d.]+ s", r"\1N s", text)
    return re.sub(r" is done(, \d+ s)?", " is done, N s", text)


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> str:
    return session(tmp_path_factory.mktemp("spoken"))


def test_a_session_is_told_as_it_was_when_it_was_listened_to(spoken: str) -> None:
    if os.environ.get("ACP_TUI_ACCEPT_SPOKEN"):
        KEPT.write_text(spoken)
    assert spoken == KEPT.read_text()


def test_no_line_of_ours_has_what_speech_leaves_out(spoken: str) -> None:
    ours = [line for line in spoken.splitlines() if re.match(r"(you|acp-tui|tool|plan|done|failed|Permission)", line)]
    assert [line for line in ours if SILENT.search(line)] == []


def test_a_speech_synthesizer_reads_every_line(spoken: str, tmp_path: Path) -> None:
    if shutil.which("espeak-ng") is None:
        pytest.skip("espeak-ng is missing")
    lines = [line for line in spoken.splitlines() if re.search(r"\w", line)]
    (tmp_path / "text").write_text("\n\n".join(lines))
    command = ("espeak-ng", "-v", "en", "-s", "450", "-w", str(tmp_path / "spoken.wav"), "-X", "-f", "text")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    with wave.open(str(tmp_path / "spoken.wav")) as sound:
        assert sound.getnframes() / sound.getframerate() > len(lines) * 0.3, "each line takes a moment"
    assert "removed" in done.stdout
