"""The sample project that the demo works on: a few small files with one real bug; it plays nothing itself."""

from __future__ import annotations

from pathlib import Path

_FILES = Path(__file__).with_name("files")
# The sample's files end so in this package, lest a tool take its deliberate bug and its tests for ours.
_SUFFIX = ".txt"


def copy_project(directory: Path) -> None:
    """Put a fresh copy of the sample project into `directory`, which is made where it does not exist."""
    directory.mkdir(parents=True, exist_ok=True)
    for source in sorted(_FILES.glob(f"*{_SUFFIX}")):
        (directory / source.name.removesuffix(_SUFFIX)).write_bytes(source.read_bytes())
