"""What a release builds, and programs that are run to try it. Where no package index is reached, the test skips."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
UV: Final = Path(sys.executable).with_name("uv")
LIMIT_S: Final = 300
UNREACHED: Final = (
    "Failed to fetch",
    "error sending request",
    "Couldn't connect",
    "dns error",
    "cache-only",
)


def run(*command: str | Path, cwd: Path = ROOT, environ: Mapping[str, str] = os.environ, **more: str) -> str:
    """What the command printed. Skips the test if it failed for lack of a network."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**environ, **more},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    if done.returncode != 0 and any(sign in done.stderr for sign in UNREACHED):
        pytest.skip(f"no package index is reached: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(folder: Path, source: Path = ROOT) -> tuple[Path, Path]:
    """The sdist of a source, and the wheel made from it."""
    offline = ("--offline", "--no-build-isolation", "--python", sys.executable)
    run(UV, "build", *offline, "--out-dir", folder, source)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel
