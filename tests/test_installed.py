"""acp-tui as its users have it: installed by name from an index, used, upgraded, and uninstalled, in an empty home.

It runs where `ACP_TUI_INSTALLS` is set, as in the release workflow. The index is on this machine and has all it needs.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copy
from threading import Thread
from typing import Any, Final

import psutil  # type: ignore[import-untyped]
import pytest

import acp_tui
from support.processes import ROOT, UV, build, run
from support.terminals import on_terminal

pytestmark = pytest.mark.skipif("ACP_TUI_INSTALLS" not in os.environ, reason="ACP_TUI_INSTALLS isn't set")

OURS: Final = r"(^|/)acp[-_]tui"
THEIRS: Final = r"\.cache/pipx?/|\.local/(bin|include|lib|lib64|pyvenv\.cfg|share/(pipx|uv)|state/pipx)\b"
"""What the installers, and the virtual environment for pip, keep for themselves."""
EARLIER: Final = "0.0.1"
"""A version below all others: the earlier wheel has it, whatever its source says."""
CTRL_Q: Final = "\x11"


@dataclass(frozen=True)
class Way:
    """How users install it: the lines that they type."""

    install: str
    upgrade: str
    uninstall: str


WAYS: Final = {
    "uv": Way("uv tool install 'acp-tui[terminal]'", "uv tool upgrade acp-tui", "uv tool uninstall acp-tui"),
    "pipx": Way("pipx install 'acp-tui[terminal]'", "pipx upgrade acp-tui", "pipx uninstall acp-tui"),
    "pip": Way(
        "python3 -m venv .local && .local/bin/pip install 'acp-tui[terminal]'",
        ".local/bin/pip install --upgrade acp-tui",
        ".local/bin/pip uninstall --yes acp-tui",
    ),
}


class Index:
    """An index of packages: one folder for each, served as it is."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.url = f"http://127.0.0.1:{port}/"

    def offer(self, wheel: Path) -> None:
        """Have this wheel, too."""
        package = self.folder / re.sub(r"[-_.]+", "-", wheel.name.split("-")[0]).lower()
        package.mkdir(exist_ok=True)
        copy(wheel, package)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Discard it."""


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    folder = tmp_path / "index"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield Index(folder, server.server_port)
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("dist"))[1]


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the last release; of the last commit before there was one."""
    found = subprocess.run(
        ["git", "describe", "--tags", "--abbrev=0", "--match=v*", "HEAD^"], cwd=ROOT, capture_output=True, text=True
    )
    source = tmp_path_factory.mktemp("earlier")
    archived = subprocess.run(["git", "archive", found.stdout.strip() or "HEAD^"], cwd=ROOT, stdout=-1, check=True)
    with tarfile.open(fileobj=io.BytesIO(archived.stdout)) as files:
        files.extractall(source, filter="data")
    version = source / "acp_tui/__init__.py"
    version.write_text(re.sub(r'(__version__ = )"[^"]+"', rf'\1"{EARLIER}"', version.read_text()))
    return build(tmp_path_factory.mktemp("earlier_dist"), source)[1]


@pytest.fixture(scope="module")
def needed(wheel: Path, earlier: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The wheels of all packages that either version needs."""
    folder = tmp_path_factory.mktemp("needed")
    for each in (wheel, earlier):
        run(sys.executable, "-m", "pip", "download", "--quiet", "--dest", folder, f"{each}[terminal]")
    return [each for each in folder.glob("*.whl") if not re.match(OURS, each.name)]


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with uv and pipx."""
    folder = tmp_path_factory.mktemp("tools")
    (folder / "uv").symlink_to(UV)
    run(UV, "tool", "install", "--quiet", "pipx", UV_TOOL_DIR=str(folder / "of_uv"), UV_TOOL_BIN_DIR=str(folder))
    return folder


@dataclass(frozen=True)
class User:
    """Someone with an empty home, whose packages come from one index."""

    home: Path
    environ: Mapping[str, str]

    def types(self, line: str) -> str:
        return run("bash", "-ec", line, cwd=self.home, environ=self.environ)

    def plays_the_demo(self, prompt: str) -> None:
        """On a terminal: the agent asks, edits, and runs the tests."""
        program = self.home / ".local/bin/acp-tui"
        demo = ("demo", "--speed", "0")
        with on_terminal(self.home, *demo, program=program, main=(), environ=self.environ, size=(110, 50)) as screen:
            screen.prompt(prompt)
            screen.wait_for("Edit durations.py")
            screen.insist("y", lambda: "All 8 tests pass" in screen.shown)
            screen.insist(CTRL_Q, lambda: screen.process.poll() is not None)
            assert screen.wait_for_end() == 0

    @property
    def left(self) -> set[str]:
        """The files at home that aren't an installer's, and whatever has our name."""
        files = {str(file.relative_to(self.home)) for file in self.home.rglob("*") if not file.is_dir()}
        return {file for file in files if not re.match(THEIRS, file) or re.search(OURS, file)}

    @property
    def programs(self) -> list[str]:
        """What still runs for this user."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get("HOME") == str(self.home):
                    found.append(process.name())
            except psutil.Error:
                continue
        return found


@pytest.fixture
def user(tmp_path: Path, index: Index, tools: Path) -> User:
    home, temporary, cache = (tmp_path / name for name in ("home", "tmp", "cache"))
    home.mkdir()
    temporary.mkdir()
    path = [home / ".local/bin", tools, Path(sys.base_prefix, "bin"), "/usr/bin", "/bin"]
    environ = {
        "HOME": str(home),
        "PATH": os.pathsep.join(map(str, path)),
        "TMPDIR": str(temporary),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "UV_DEFAULT_INDEX": index.url,
        "UV_CACHE_DIR": str(cache),
        "UV_PYTHON_DOWNLOADS": "never",
        "PIP_INDEX_URL": index.url,
        "PIP_CONFIG_FILE": os.devnull,
    }
    return User(home, environ)


def removal_as_documented() -> str:
    """The lines of the page on installing that leave nothing."""
    page = (ROOT / "acp_tui/docs/install.md").read_text()
    (block,) = (block for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) if "rm -rf" in block)
    return block.replace('"/tmp/', '"$TMPDIR/')


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_it_installs_upgrades_and_leaves_only_the_users_own_data(
    way: Way, user: User, index: Index, earlier: Path, wheel: Path, needed: list[Path]
) -> None:
    for each in (*needed, earlier):
        index.offer(each)
    user.types(way.install)
    assert user.types("acp-tui --version") == f"acp-tui {EARLIER}\n"
    settings = user.home / ".config/acp-tui/settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('# Mine.\n[appearance]\ntheme = "acp-light"\n')
    user.plays_the_demo("Fix the durations, please")

    index.offer(wheel)
    user.types(way.upgrade)
    assert user.types("acp-tui --version") == f"acp-tui {acp_tui.__version__}\n"
    (first,) = user.types("acp-tui sessions --all").splitlines()
    assert "Fix the" in user.types(f"acp-tui render {shlex.quote(first.split()[0])} -o talk.md && cat talk.md")
    assert "acp-light" in user.types("acp-tui settings | grep theme")
    assert "install acp-tui[terminal]" not in user.types("acp-tui doctor")
    user.plays_the_demo("And once more")
    assert len(user.types("acp-tui sessions --all").splitlines()) == 2

    user.types(way.uninstall)
    kept = user.left - {"talk.md"}
    assert {file for file in kept if not file.startswith((".config/acp-tui/", ".local/state/acp-tui/"))} == set()
    assert settings.read_text().startswith("# Mine.")
    assert [*Path(user.environ["TMPDIR"]).iterdir()] == []
    assert user.programs == []

    user.types(removal_as_documented())
    assert user.left == {"talk.md"}
