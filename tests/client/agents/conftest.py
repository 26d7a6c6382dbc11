"""A machine controlled by the test: its programs, its platform, and the files that make up a catalogue."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_tui.client.agents.catalogue import CatalogueSources

MakePlace = Callable[..., CatalogueSources]


@pytest.fixture
def make_place(tmp_path: Path) -> MakePlace:
    """A machine with these programs on PATH, this agents.toml, and these agents in the fetched registry."""

    def make(
        *programs: str,
        user: str = "",
        registry: list[dict[str, Any]] | None = None,
        platform: str = "linux-x86_64",
        **environ: str,
    ) -> CatalogueSources:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        for program in programs:
            (folder / program).touch(mode=0o755)
        (tmp_path / "agents.toml").write_text(user)
        if registry is not None:
            kept = {"fetched_at": 1.0, "etag": "", "index": json.dumps({"agents": registry})}
            (tmp_path / "registry.json").write_text(json.dumps(kept))
        return CatalogueSources(
            tmp_path / "agents.toml",
            tmp_path / "registry.json",
            tmp_path / "recent.json",
            {"PATH": str(folder), **environ},
            platform,
        )

    return make
