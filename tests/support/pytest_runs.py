"""Runs pytest within a test, for what only a whole run shows."""

import os
import subprocess
import sys
from pathlib import Path


def run_pytest(folder: Path, *options: str) -> str:
    """Run pytest there with only the plugins the kit knows; return its output."""
    # This process may be one of several workers; the new run isn't.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    plugins = ("acp_tui.workbench.testing.plugin", "syrupy")
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            *(f"-p{name}" for name in plugins),
            "-p",
            "no:cacheprovider",
            *options,
        ],
        cwd=folder,
        env={**environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return ran.stdout + ran.stderr
