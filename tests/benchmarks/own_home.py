"""A home that is new for each run: no draft, history or setting of one run is in the next."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def own_home() -> Iterator[dict[str, str]]:
    """The environment of a user who starts for the first time."""
    with tempfile.TemporaryDirectory(prefix="acp-tui-benchmark-") as home:
        folders = {
            f"XDG_{name}_HOME": f"{home}/{name.lower()}" for name in ("CONFIG", "STATE", "DATA", "CACHE")
        }
        yield {**os.environ, "HOME": home, **folders}
