"""The release: it installs into clean environments, with the lowest and the newest versions, and works.

Packages come from the index that pip and uv are set up for; where there is none, the tests that need it skip.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
from ctypes.util import find_library
from email import message_from_string
from pathlib import Path
from typing import Final
from zipfile import ZipFile

import pytest

import acp_tui
from acp_tui.cli.help_text import man_page

ROOT: Final = Path(__file__).parents[1]
LOCK: Final = ROOT / ".ci/requirements.txt"
UV: Final = Path(sys.executable).with_name("uv")
LIMIT_S: Final = 300
UNREACHED: Final = (
    "Failed to fetch",
    "error sending request",
    "Couldn't connect",
    "dns error",
    "cache-only",
)


def run(*command: str | Path, cwd: Path = ROOT, **environ: str) -> str:
    """What the command printed. Skips the test if it failed for lack of a network."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=os.environ | environ,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    if done.returncode != 0 and any(sign in done.stderr for sign in UNREACHED):
        pytest.skip(f"no package index is reached: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist, and the wheel made from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(UV, "build", "--quiet", "--offline", "--no-build-isolation", "--python", sys.executable, "-o", folder)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A clean environment; its packages are links to uv's cache."""
    run(UV, "venv", "--quiet", "--python", sys.executable, tmp_path / "clean")
    return tmp_path / "clean"


def install(environment: Path, *what: str | Path) -> None:
    run(UV, "pip", "install", "--quiet", "--python", environment, *what)


def as_a_user(environment: Path, folder: Path, *words: str) -> str:
    """What the installed acp-tui prints, outside the repository and with its own home."""
    path = f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return run(environment / "bin/acp-tui", *words, cwd=folder, HOME=str(folder), PATH=path, PYTHONPATH="")


def plays(environment: Path, folder: Path, picture: str) -> bytes:
    """A picture of a session in which the demo agent uses a terminal."""
    as_a_user(environment, folder, "render", "demo:terminal", "--size", "100x100", "-o", picture)
    return (folder / picture).read_bytes()


@pytest.mark.skipif(sys.version_info[:2] > (3, 11), reason="the lowest versions are older than this Python")
def test_it_works_with_the_lowest_versions_and_without_the_emulator(
    built: tuple[Path, Path], environment: Path, tmp_path: Path
) -> None:
    lowest = ("--resolution", "lowest-direct", "--requirement", ROOT / "pyproject.toml")
    install(environment, *lowest)
    install(environment, "--no-deps", built[1])

    assert "pyghostty" not in run(UV, "pip", "freeze", "--python", environment)
    assert "wide: 日本語" in plays(environment, tmp_path, "terminal.txt").decode()
    assert "install acp-tui[terminal]" in re.sub(r"\s+", " ", as_a_user(environment, tmp_path, "doctor"))


def test_it_works_with_the_newest_versions_and_all_that_users_are_offered(
    built: tuple[Path, Path], environment: Path, tmp_path: Path
) -> None:
    install(environment, "--upgrade", f"{built[1]}[terminal,png]")

    assert as_a_user(environment, tmp_path, "--version") == f"acp-tui {acp_tui.__version__}\n"
    if find_library("cairo"):
        assert plays(environment, tmp_path, "terminal.png").startswith(b"\x89PNG")
    else:
        assert plays(environment, tmp_path, "terminal.svg").startswith(b"<svg")
    assert "install acp-tui[terminal]" not in re.sub(r"\s+", " ", as_a_user(environment, tmp_path, "doctor"))


def test_the_metadata_passes_twine(built: tuple[Path, Path]) -> None:
    assert run(UV, "tool", "run", "--quiet", "twine", "check", "--strict", *built).count("PASSED") == 2


def test_the_metadata_offers_users_no_tools_of_ours(built: tuple[Path, Path]) -> None:
    (name,) = (name for name in ZipFile(built[1]).namelist() if name.endswith("/METADATA"))
    metadata = message_from_string(ZipFile(built[1]).read(name).decode())

    assert metadata["Version"] == acp_tui.__version__
    assert "dev" not in metadata.get_all("Provides-Extra", [])


def test_the_wheel_brings_the_man_page(built: tuple[Path, Path]) -> None:
    (name,) = (name for name in ZipFile(built[1]).namelist() if name.endswith("share/man/man1/acp-tui.1"))
    assert ZipFile(built[1]).read(name).decode() == man_page()


def test_packagers_can_test_the_source_distribution(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[0]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    tracked = run("git", "ls-files", "acp_tui", "styles", "tests", "screenshots").splitlines()
    assert set(tracked) - names == set()


def test_the_changelog_has_this_version() -> None:
    assert f"\n## [{acp_tui.__version__}] - " in (ROOT / "CHANGELOG.md").read_text()


def test_the_lock_fits_the_project_and_names_no_index() -> None:
    locked = LOCK.read_text()
    pinned = re.findall(r"^([\w.-]+)(?:\[[\w,-]+\])?==", locked, re.MULTILINE)
    names = {re.sub(r"[-_.]+", "-", name).lower() for name in pinned}
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = pyproject["project"]
    wanted = [*project["dependencies"], *pyproject["dependency-groups"]["dev"]]
    wanted += [each for extra in project["optional-dependencies"].values() for each in extra]

    assert "://" not in locked
    assert {re.split(r"[^\w.-]", each)[0].lower() for each in wanted} - names == set(), "run .ci/lock"
