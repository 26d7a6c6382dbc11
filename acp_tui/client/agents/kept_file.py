"""A small JSON file that acp-tui keeps for itself: for the user's eyes only, written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

from acp_tui.client.files import replace_file


def read_kept(file: Path) -> object:
    """What it holds; None where there is none, or it is of no use."""
    try:
        content: object = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return content


def write_kept(file: Path, content: object) -> None:
    """Replace what it holds. Of two that write at once the last wins. Raises OSError."""
    replace_file(file, json.dumps(content).encode())
