"""The client works without the room for authors of agents: a copy whose `workbench` was deleted, run for real."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from support.waiting import LIMIT_S

ROOT: Final = Path(__file__).parents[1]
ITS_COMMANDS: Final = ("check", "inspect", "mock", "redact")
IMPORTS: Final = """
import importlib, pkgutil, acp_tui
print(acp_tui.__file__)
for module in pkgutil.walk_packages(acp_tui.__path__, "acp_tui."):
    if module.name != "acp_tui.testing" and not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""
WORK_AS_EVER: Final = (
    "tests/cli/test_exec_outcomes.py",
    "tests/cli/test_help.py",
    "tests/ui/commands/test_keymap.py",
    "tests/ui/tab/test_tabs.py",
)
Run: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a client without the room."""
    folder = tmp_path_factory.mktemp("client")
    for name in ("acp_tui", "styles"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.rmtree(folder / "acp_tui" / "workbench")
    return folder


@pytest.fixture
def python(client: Path, tmp_path: Path) -> Run:
    """Runs Python with this client, in an empty folder if no other is named."""

    def run(*words: str, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        return subprocess.run(
            [sys.executable, "-P", *words],
            cwd=cwd,
            env={**environ, "PYTHONPATH": str(client)},
            capture_output=True,
            text=True,
            timeout=LIMIT_S * 4,
            check=False,
        )

    return run


def test_every_other_module_loads(python: Run, client: Path) -> None:
    ran = python("-c", IMPORTS)
    assert (ran.returncode, ran.stdout) == (0, f"{client / 'acp_tui' / '__init__.py'}\n"), ran.stderr


def test_the_help_lists_what_is_there(python: Run) -> None:
    ran = python("-m", "acp_tui", "--help")
    assert ran.returncode == 0
    assert "  exec " in ran.stdout
    assert [name for name in ITS_COMMANDS if f"\n  {name} " in ran.stdout] == []


def test_no_key_opens_the_inspector(python: Run) -> None:
    ran = python("-m", "acp_tui", "keys")
    assert ran.returncode == 0
    assert "command_palette" in ran.stdout
    assert "inspect" not in ran.stdout


def test_a_turn_of_the_demo_runs(python: Run) -> None:
    agent = (sys.executable, "-P", "-m", "acp_tui.demo", "markdown", "--speed", "0")
    ran = python("-m", "acp_tui", "exec", "--prompt", "Hi", "--", *agent)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("# Heading one")


def test_a_scenario_becomes_a_picture_of_the_screen(python: Run, tmp_path: Path) -> None:
    ran = python("-m", "acp_tui", "render", "demo:markdown", "-o", "seen.txt")
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "seen.txt").stat().st_size > 0


@pytest.mark.parametrize("table", ["command_table", "key_table"])
def test_a_broken_import_in_the_room_is_an_error(python: Run, client: Path, table: str) -> None:
    room = client / "acp_tui" / "workbench"
    room.mkdir()
    try:
        for name in ("__init__", "command_table", "key_table"):
            (room / f"{name}.py").write_text(
                "import no_such_module\n" if name == table else "COMMANDS = INSPECTOR = ()\n"
            )
        ran = python("-m", "acp_tui", "keys")
    finally:
        shutil.rmtree(room)
    assert ran.returncode != 0
    assert "no_such_module" in ran.stderr


def test_tests_of_the_command_line_the_keys_and_the_tabs_pass(python: Run) -> None:
    without = ("-p", "no:acp_tui", "-p", "no:cacheprovider")  # the first one is the room's
    ran = python("-m", "pytest", "-n0", *without, *WORK_AS_EVER, cwd=ROOT)
    assert ran.returncode == 0, ran.stdout + ran.stderr
