"""A program that queries its terminal and waits for the answer, as `vim`, `fzf`, and shells do."""

from __future__ import annotations

_SOURCE = """
import os, time, tty
tty.setraw(0)
{before}
for piece in {writes!r}:
    os.write(1, piece)
    time.sleep({pause_s})
answer = b''
while not answer.endswith({until!r}):
    answer += os.read(0, 1000)
os.write(1, b'\\r\\ngot ' + answer.hex().encode() + b'\\r\\n')
"""


def asking(*writes: bytes, until: bytes, before: str = "") -> str:
    """Its source: it writes these pieces separately, and prints in hexadecimal what it gets, up to `until`."""
    return _SOURCE.format(writes=writes, until=until, before=before, pause_s=0.05 if len(writes) > 1 else 0)
