"""One module opens all files that contain conversations; others that open one for writing are listed with a reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parent.parent
PACKAGE: Final = ROOT / "acp_tui"

DOOR: Final = "client/private_files.py"
OTHERS: Final = {
    "cli/__init__.py: os.O_WRONLY": "the null device",
    "cli/terminal.py: os.O_RDWR": "the terminal itself",
    "cli/main.py: os.O_WRONLY": "the null device",
    "cli/main.py: open": "the same, as a standard stream",
    "cli/replay.py: TemporaryDirectory": "0700 under any umask; what is in it goes with it",
    "client/temporary.py: mkdtemp": "the demo's project, and the temporary files of a sandbox: 0700, and ours",
    "client/spill.py: TemporaryFile": "it has no name, and 0600",
    "client/safe_git.py: TemporaryFile": "the same",
    "client/changes/tree.py: os.O_CREAT": "the user's own files in the workspace, with the modes that they had",
    "client/changes/tree.py: os.O_WRONLY": "the same",
    "client/changes/tree.py: mkdir": "the same",
    "client/worktrees.py: mkdir": "the folders of a new worktree, with the modes that git gives them",
    "client/worktrees.py: TemporaryDirectory": "0700 under any umask; what is in it goes with it",
    "client/worktrees.py: write_bytes": "within that",
    "ui/textual_gaps/driver.py: os.O_WRONLY": "the null device",
    "workbench/check/examination.py: TemporaryDirectory": "the folder that an agent is tried in",
    "workbench/check/examination.py: mkdir": "within it",
    "workbench/check/examination.py: write_text": "within it",
    "client/transcript/index.py: sqlite3.connect": "the door has opened it; SQLite gives its mode to the others",
    "client/workspace/workspace.py: os.O_CREAT": "what an agent writes in the workspace, as an editor would",
    "client/workspace/workspace.py: os.O_WRONLY": "the same",
    "client/workspace/workspace.py: mkdir": "the same",
    "client/agents/archive.py: TemporaryFile": "it has no name, and 0600",
    "client/agents/archive.py: ZipFile": "it is read",
    "client/agents/archive.py: open": "what an agent's archive holds, which is no conversation",
    "client/agents/archive.py: mkdir": "the same",
    "client/agents/installing.py: TemporaryDirectory": "0700 under any umask; what is in it goes with it",
    "client/agents/demo_agent.py: mkdir": "the demo's project, which is no conversation",
    "client/agents/demo_agent.py: write_bytes": "the same",
    "client/agents/terminal_login.py: os.O_RDWR": "the terminal itself",
    "client/sandbox/box.py: mkdir": "an agent's own folders, with 0700, and the folder of git's hooks, as git makes it",
    "client/sandbox/box.py: open": "a setting of git's that changes nothing",
    "client/sandbox/box.py: touch": "the same",
    "client/sandbox/proof.py: os.O_RDWR": "the null device",
    "demo/agent.py: os.O_CREAT": "an empty mark of the demo agent, which shares no client code; 0600",
    "demo/agent.py: os.O_WRONLY": "the same",
    "demo/version_two.py: write_text": "what a scenario writes, as any agent does",
    "demo/version_two.py: mkdir": "the same",
    "workbench/testing/picture.py: TemporaryDirectory": "0700 under any umask; what is in it goes with it",
    "workbench/testing/plugin.py: mkdir": "with 0700, in pytest's own folder",
    "workbench/testing/session.py: mkdir": "the files that a test gives to its agent",
    "workbench/testing/session.py: write_bytes": "the same",
    "client/desktop.py: TemporaryDirectory": "0700 under any umask; what is in it goes with it",
    "ui/replay/demo_recording.py: TemporaryDirectory": "the same",
    "ui/replay/render.py: TemporaryDirectory": "the same",
}
"""Where, and with which function; and why that contains no conversation, or none others can read."""

_CALLS: Final = frozenset(
    {
        *("write_text", "write_bytes", "touch", "mkdir", "makedirs", "mknod", "mkfifo", "mkdtemp", "mkstemp"),
        *(
            "NamedTemporaryFile",
            "TemporaryFile",
            "SpooledTemporaryFile",
            "TemporaryDirectory",
            "copyfile",
            "copy2",
        ),
        *(
            "copytree",
            "copymode",
            "FileHandler",
            "RotatingFileHandler",
            "ZipFile",
            "save_screenshot",
            "deliver_text",
        ),
        *("deliver_binary", "make_archive", "extractall"),
    }
)
_FLAGS: Final = frozenset({"O_CREAT", "O_WRONLY", "O_RDWR", "O_TMPFILE"})


def _ways(tree: ast.AST) -> Iterator[str]:
    """The functions with which a module opens files for writing, or makes folders."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _FLAGS:
            yield f"os.{node.attr}"
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in _CALLS:
            yield name
        if name == "connect" and ast.unparse(node.func) == "sqlite3.connect":
            yield "sqlite3.connect"
        if name == "open" and _may_write(node):
            yield "open"


def _may_write(call: ast.Call) -> bool:
    """A mode that isn't a literal may be any. `Path.open` takes it first, `open` after the name."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if owner is not None and ast.unparse(owner) in ("os", "Image", "webbrowser"):
        return False  # with flags, which are checked; reads; opens a page
    modes = [word.value for word in call.keywords if word.arg == "mode"] or call.args[owner is None :][:1]
    if not modes:
        return False
    mode = modes[0]
    if not isinstance(mode, ast.Constant):
        return owner is None
    return isinstance(mode.value, str) and bool(set(mode.value) & set("wax+"))


@cache
def _found() -> set[str]:
    found = set()
    for file in sorted(PACKAGE.rglob("*.py")):
        name = str(file.relative_to(PACKAGE))
        if name != DOOR:
            found |= {f"{name}: {way}" for way in _ways(ast.parse(file.read_text("utf-8")))}
    return found


def test_nothing_opens_a_file_for_writing_but_the_one_door_and_what_is_listed() -> None:
    assert _found() - OTHERS.keys() == set(), "open it by acp_tui.client.private_files, or say in OTHERS why not"


def test_nothing_is_listed_that_is_not_there() -> None:
    assert OTHERS.keys() - _found() == set()


@pytest.mark.parametrize(
    "code",
    [
        "open(x, 'w')",
        "open(x, mode='a')",
        "open(x, wanted)",
        "path.open('xb')",
        "path.open(mode='r+')",
        "os.open(x, os.O_CREAT)",
        "path.write_text('')",
        "os.makedirs(x)",
        "tempfile.mkstemp()",
        "NamedTemporaryFile()",
        "sqlite3.connect(x)",
        "logging.FileHandler(x)",
    ],
)
def test_another_way_would_be_found(code: str) -> None:
    assert [*_ways(ast.parse(code))]


@pytest.mark.parametrize("code", ["open(x)", "open(x, 'rb')", "path.open()", "path.open('rb')", "tabs.open(make)"])
def test_what_only_reads_is_let_be(code: str) -> None:
    assert not [*_ways(ast.parse(code))]
