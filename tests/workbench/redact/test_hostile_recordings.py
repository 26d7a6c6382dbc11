"""Lines built to take long, or much memory, take no more than others of their size."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from acp_tui.client.transcript.events import Event
from support.recordings import write
from support.secrets import HEADER, update

SIZE: Final = int(os.environ.get("HOSTILE_LINE_BYTES", "100_000"))
"""With more time, use 10,000,000."""
MAX_CPU_S: Final = 60 + SIZE // 10_000
"""Quadratic work takes hours."""
LINES: Final = {
    "letters": "a",
    "a key that goes on": "sk-a",
    "web tokens that end early": "-eyJ",
    "names of secrets": "key  ",
    "spaces behind a name": "token" + " " * 1_000,
    "a block that begins": "-----BEGIN PRIVATE KEY-----   ",
    "addresses": "a.a@a.a.",
    "at": "@",
    "logins": "://a:b",
    "homes": "/home/",
    "tildes": "~a...",
    "Windows": "C:\\Users\\",
    "escapes": "\x1b]",
    "percent": "%41",
    "backslashes": "\\\\",
    "quotes": '\\"',
    "line ends": "\r\n \n",
    "base64 in lines": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0NTY3ODkw\n",
    "hexadecimal": "41 ",
    "colons": "fe80:",
    "numbers": "1.1.",
    "dashes": "-home-",
    "entities": "&#99;&#",
    "letters printed over": "a\b",
    "marks": "a**",
    "beginnings": "hidden-away-",
    "names in quotes": '"secret":"aaaaaa',
}
REDACT: Final = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({MAX_CPU_S}, {MAX_CPU_S}))
from pathlib import Path
from acp_tui.workbench.redact import RedactOptions, redact
redact(Path(sys.argv[1]), Path(sys.argv[2]), RedactOptions(("hidden-away-7",)), {{}}, "")
"""


def test_no_line_takes_the_square_of_its_length(tmp_path: Path) -> None:
    source, out = tmp_path / "raw.jsonl", tmp_path / "out.jsonl"
    write(source, map(tool_call, LINES.values()), HEADER, is_raw=True)
    with source.open("a") as file:
        file.writelines(long_text(piece).replace("\n", " ") + "\n" for piece in LINES.values())
    done = subprocess.run([sys.executable, "-c", REDACT, source, out], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert out.stat().st_size == source.stat().st_size


def tool_call(piece: str) -> Event:
    return update(sessionUpdate="tool_call", toolCallId="c", rawOutput=long_text(piece))


def long_text(piece: str) -> str:
    return (piece * (SIZE // len(piece) + 1))[:SIZE]
