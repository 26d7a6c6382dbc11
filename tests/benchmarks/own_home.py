"""A new home folder for each run, so that no draft, history, or setting carries over to the next."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def own_home() -> Iterator[dict[str, str]]:
    """The environment of a first-time user, with compiled bytecode as after an installation.

    Agents may run commands without asking, which is what the benchmarks measure.
    """
    with tempfile.TemporaryDirectory(prefix="acp-tui-benchmark-") as home:
        folders = {f"XDG_{name}_HOME": f"{home}/{name.lower()}" for name in ("CONFIG", "STATE", "DATA", "CACHE")}
        settings = Path(home, "config/acp-tui/settings.toml")
        settings.parent.mkdir(parents=True)
        settings.write_text("workspace.terminals = 'on'\n", encoding="utf-8")
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        yield {**kept, "HOME": home, **folders}
