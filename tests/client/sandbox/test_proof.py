"""What `doctor` proves about a sandbox: a real one holds, and one with a hole is found out."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from acp_tui.client.sandbox import Access
from acp_tui.client.sandbox.proof import prove
from acp_tui.client.sandbox.sandbox import Sandbox, make_sandbox
from acp_tui.client.settings.location import state_folder
from acp_tui.client.settings.settings import READ_ONLY, WORKSPACE, SandboxProfile

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap isn't installed")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    subprocess.run(("git", "init", "-q", project), check=True)
    return project


def made(project: Path, profile: SandboxProfile) -> Sandbox:
    return make_sandbox(profile, "agent", "", [project], [], ["/bin/sh"], {})


async def outcomes(sandbox: Sandbox, project: Path) -> dict[str, bool]:
    """Whether each promise held, by its topic."""
    try:
        return {attempt.topic: attempt.holds for attempt in await prove(sandbox, project)}
    finally:
        sandbox.box.discard()


@pytest.mark.parametrize("profile", [WORKSPACE, READ_ONLY, SandboxProfile("offline", network=False)])
async def test_a_sandbox_holds_what_it_promises(project: Path, profile: SandboxProfile) -> None:
    found = await outcomes(made(project, profile), project)
    assert {"Write", "Read", "Hidden", "Process", "Folder", "Git"} <= found.keys()
    assert all(found.values()), found
    assert [*project.iterdir()] == [project / ".git"]
    assert not any(file.name.startswith(".probe") for file in state_folder().iterdir())


async def test_a_sandbox_with_a_hole_is_found_out(project: Path) -> None:
    sandbox = made(project, WORKSPACE)
    places = {**sandbox.box.places, state_folder(): Access.WRITABLE}
    places.pop(project / ".git/config")
    holey = replace(sandbox, box=replace(sandbox.box, places=places))
    found = await outcomes(holey, project)
    assert (found["Write"], found["Read"], found["Git"]) == (False, False, False)
    assert found["Process"]
