"""The first frame must not pay for what a conversation needs: imports, checked in a separate process."""

import subprocess
import sys

import pytest

# What is loaded after the first frame, or when it is first needed.
LATER = (
    "anyio.abc",
    "acp_tui.conversation.updates",
    "acp_tui.conversation.reducer",
    "acp_tui.protocol",
    "acp_tui.client.sessions.session",
    "acp_tui.ui.rendering.markdown",
    "acp_tui.ui.conversation",
    "markdown_it",
    "pydantic",
    "pygments",
    "pyghostty",
)


HUB = """
import asyncio, sys
from acp_tui.client.sessions.hub import open_hub

async def main():
    async with open_hub():
        print([name for name in sys.modules if name.startswith("anyio._backends")])

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def loaded() -> frozenset[str]:
    """The modules loaded by the time the screen could be drawn."""
    modules = "acp_tui.cli.screen, acp_tui.client.sessions.hub, acp_tui.ui.app.app"
    script = f"import sys, {modules}; print('\\n'.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return frozenset(run.stdout.split())


@pytest.mark.parametrize("module", LATER)
def test_the_first_frame_does_not_wait_for(module: str, loaded: frozenset[str]) -> None:
    assert "acp_tui.ui.tab.screen" in loaded
    assert module not in loaded


def test_a_hub_does_not_load_the_backend_of_anyio_before_an_agent_starts() -> None:
    run = subprocess.run([sys.executable, "-c", HUB], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.split() == ["[]"]  # it would take 10 ms
