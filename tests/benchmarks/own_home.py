"""A new home folder for each run, so that no draft, history, or setting carries over to the next."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def own_home() -> Iterator[dict[str, str]]:
    """The environment of a first-time user, with compiled bytecode as after an installation."""
    with tempfile.TemporaryDirectory(prefix="acp-tui-benchmark-") as home:
        folders = {f"XDG_{name}_HOME": f"{home}/{name.lower()}" for name in ("CONFIG", "STATE", "DATA", "CACHE")}
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        yield {**kept, "HOME": home, **folders}
