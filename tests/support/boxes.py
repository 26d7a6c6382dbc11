"""Sandboxes for tests that start nothing in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from acp_tui.client.sandbox import Access
from acp_tui.client.sandbox.box import Box
from acp_tui.client.sandbox.engines import Engine
from acp_tui.client.sandbox.sandbox import Sandbox
from acp_tui.client.settings.settings import WORKSPACE, SandboxProfile
from acp_tui.client.temporary import TemporaryFolder


def sandbox_of(
    project: Path,
    places: Mapping[Path, Access],
    profile: SandboxProfile = WORKSPACE,
    *,
    engine: str = "bubblewrap",
    gaps: tuple[str, ...] = (),
    note: str = "",
) -> Sandbox:
    """A sandbox with these places, and with a project that may be written."""
    everywhere = {Path("/"): Access.READABLE, Path.home(): Access.HIDDEN, Path("/tmp"): Access.SCRATCH}
    inside = {**everywhere, project: Access.WRITABLE, **places}
    own = TemporaryFolder("acp-tui-test-box-")
    own.remove()  # nothing runs there
    box = Box(profile, (project,), inside, {"PATH": "/usr/bin"}, own, note)
    return Sandbox(box, Engine(engine, f"/usr/bin/{engine}", gaps))
