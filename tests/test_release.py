"""The release: it installs into clean environments, with the lowest and the newest versions, and works.

Packages come from the index that pip and uv are set up for; where there is none, the tests that need it skip.
"""

from __future__ import annotations

import os
import re
import sys
import tarfile
import tomllib
from email import message_from_string
from email.message import Message
from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

import pytest
from hatchling.metadata.plugin.interface import MetadataHookInterface
from hatchling.plugin.utils import load_plugin_from_script

import acp_tui
from acp_tui.cli.help_text import man_page
from support.processes import ROOT, UV, build, run

LOCK: Final = ROOT / ".ci/requirements.txt"
HOOK: Final = ROOT / ".github/packaging/hatch_build.py"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist, and the wheel made from it."""
    return build(tmp_path_factory.mktemp("dist"))


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
    install(environment, "--upgrade", f"{built[1]}[terminal]")

    assert as_a_user(environment, tmp_path, "--version") == f"acp-tui {acp_tui.__version__}\n"
    assert plays(environment, tmp_path, "terminal.svg").startswith(b"<svg")
    assert "install acp-tui[terminal]" not in re.sub(r"\s+", " ", as_a_user(environment, tmp_path, "doctor"))


def metadata_of(wheel: Path) -> Message:
    (name,) = (name for name in ZipFile(wheel).namelist() if name.endswith("/METADATA"))
    return message_from_string(ZipFile(wheel).read(name).decode())


def headings_of(page: Path) -> set[str]:
    """The names by which links lead to them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def leads_somewhere(link: str, tracked: set[str]) -> bool:
    """Whether a link leads to a file of this version, or a workflow, and to a heading that is there."""
    if workflow := re.fullmatch(r"/actions/workflows/([\w.]+)(?:/badge\.svg)?", link):
        return f".github/workflows/{workflow[1]}" in tracked
    file, _, heading = re.sub(rf"^/(blob|raw)/v{acp_tui.__version__}/", "", link).partition("#")
    return file in tracked and (not heading or heading in headings_of(ROOT / file))


def test_every_link_and_picture_of_the_long_description_is_there(built: tuple[Path, Path], tmp_path: Path) -> None:
    metadata, page = metadata_of(built[1]), tmp_path / "page.md"
    page.write_text(str(metadata.get_payload()))
    renderer = ("tool", "run", "--quiet", "--from", "readme-renderer[md]", "python", "-m", "readme_renderer")
    shown = re.findall(r'(?:href|src)="([^"#][^"]*)"', run(UV, *renderer, page))
    addresses = dict(each.split(", ") for each in metadata.get_all("Project-URL", []))
    repository, tracked = addresses.pop("Homepage"), set(run("git", "ls-files").splitlines())
    links = [*shown, *addresses.values()]
    own = [link.removeprefix(repository) for link in links if link.startswith(repository)]

    assert [link for link in links if not link.startswith("https://")] == []
    assert [link for link in own if link != "/issues" and not leads_somewhere(link, tracked)] == []
    assert len([link for link in own if link.startswith("/raw/")]) == len(re.findall(r"^!\[", page.read_text(), re.M))
    assert len(own) > 30


def test_no_release_is_built_before_the_repositorys_address_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    hook: Any = load_plugin_from_script(str(HOOK), HOOK.name, MetadataHookInterface, "metadata_hook")
    unset = hook(str(ROOT), {"repository": "https://repository.invalid/acp-tui"})

    monkeypatch.delenv("ACP_TUI_RELEASE", raising=False)
    unset.update({"version": "1.0"})
    monkeypatch.setenv("ACP_TUI_RELEASE", "1")
    with pytest.raises(ValueError, match="set the repository's address"):
        unset.update({"version": "1.0"})


def test_the_metadata_passes_twine(built: tuple[Path, Path]) -> None:
    assert run(UV, "tool", "run", "--quiet", "twine", "check", "--strict", *built).count("PASSED") == 2


def test_the_metadata_offers_users_no_tools_of_ours(built: tuple[Path, Path]) -> None:
    metadata = metadata_of(built[1])

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
