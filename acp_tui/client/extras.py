"""How to add an optional part to this copy of acp-tui, the way that it was installed. Loaded when a part is missing."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

CHECKOUT: Final = Path(__file__).parents[2]
_IN_RECEIPT: Final = r'"acp-tui"[^}]*extras = \[([^]]*)\]'
_IN_METADATA: Final = r"acp-tui\[([^]]*)\]"


def command_to_add(extra: str, *, prefix: str = sys.prefix, checkout: Path = CHECKOUT) -> str:
    """The command that adds this extra. It names those that uv or pipx installed, too, which would go otherwise."""
    uv, pipx = Path(prefix, "uv-receipt.toml"), Path(prefix, "pipx_metadata.json")
    if uv.is_file():
        return f"uv tool install {_with(extra, _found(_IN_RECEIPT, uv))}"
    if pipx.is_file():
        return f"pipx install --force {_with(extra, _found(_IN_METADATA, pipx))}"
    if (checkout / "pyproject.toml").is_file():
        return f"pip install --editable {shlex.quote(f'{checkout}[{extra}]')}"
    return f"pip install {_with(extra)}"


def _with(extra: str, had: Iterable[str] = ()) -> str:
    return f"'acp-tui[{','.join(sorted({extra, *had}))}]'"


def _found(pattern: str, path: Path) -> list[str]:
    """The extras that a tool noted; none if that can't be read."""
    try:
        noted = re.search(pattern, path.read_text())
    except (OSError, ValueError):
        return []
    return re.findall(r"[-\w]+", noted[1]) if noted else []
