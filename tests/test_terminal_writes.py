"""Text reaches the terminal only through `sys.stdout` and `sys.stderr`, which `cli.main` has replaced.

Any other way is found here, and is either a listed exception or a mistake.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

PACKAGE: Final = Path(__file__).parents[1] / "acp_tui"

ALLOWED: Final = {
    "__main__.py": {"sys.stdout": "a constant: the version"},
    "cli/output.py": {"os.write": "a constant clears the line"},
    "cli/terminal.py": {"os.write": "/dev/tty, made visible", "/dev/tty": "the same"},
    "cli/plain/console.py": {
        "os.write": "a pipe that wakes the main thread, and a constant that rings",
        "input": "its prompt is made visible",
    },
    "cli/reference.py": {"rich.console": "draws into a string, which is printed"},
    "client/line_comments.py": {"os.fdopen": "a file that is read"},
    "client/spill.py": {"os.pwrite": "a file"},
    "client/agents/archive.py": {
        "sys.stderr": "a program of its own, whose stderr is a pipe to acp-tui",
        "sys.stdout": "the same",
    },
    "client/agents/process.py": {"os.write": "a pipe to the agent"},
    "client/agents/starting.py": {"os.fdopen": "pipes to and from the agent"},
    "client/agents/terminal_login.py": {
        "os.write": "to /dev/tty, what a login prints, which has the terminal to itself; and its keys",
        "/dev/tty": "the same",
    },
    "client/changes/tree.py": {"os.write": "a file"},
    "client/processes/keeper.py": {
        "os.fdopen": "files that are read",
        "os.write": "a socket to acp-tui, and a pipe to the process that forked it",
    },
    "client/sandbox/proof.py": {"os.fdopen": "a pipe that is read"},
    "client/prompts/history.py": {"os.write": "a file"},
    "client/private_files.py": {"os.fdopen": "a file"},
    "client/settings/trust.py": {"os.fdopen": "a file that is read"},
    "client/terminals/pty.py": {
        "os.write": "the keys of a command's own terminal",
        "/dev/tty": "a name that is compared",
    },
    "client/workspace/workspace.py": {"os.fdopen": "a file", "os.write": "a file"},
    "demo/agent.py": {
        "sys.stderr": "of an agent",
        "sys.stdout": "of a login: constants, and a name that the user typed",
    },
    "demo/programs.py": {"sys.stdout": "of a command that the agent runs"},
    "demo/client_calls.py": {"os.write": "the protocol, to a client"},
    "demo/playing.py": {"sys.stderr": "of an agent"},
    "ui/base/app.py": {"rich.console": "writes to sys.stderr"},
    "ui/kit/desktop.py": {"os.write": "a constant, while an editor has the terminal"},
    "ui/textual_gaps/driver.py": {"os.write": "what Textual draws: drawings are made of visible text"},
    "ui/textual_gaps/shown_rows.py": {"rich.console": "Textual's, for the text of its strips"},
    "ui/rendering/sixel.py": {"rich.console": "the same"},
    "ui/kit/themes.py": {"rich.console": "asked for colors"},
    "ui/kit/terminal_colors.py": {"os.write": "a constant asks the terminal"},
}
"""For each file, what could bypass them, and where it writes instead."""

SUSPECTS: Final = {
    *("os.write", "os.writev", "os.pwrite", "os.fdopen", "os.sendfile", "os.system"),
    *("sys.__stdout__", "sys.__stderr__", "sys.stdout.buffer", "sys.stderr.buffer"),
    *("logging.StreamHandler", "logging.FileHandler", "logging.basicConfig", "faulthandler"),
}
HARMLESS: Final = frozenset({"isatty", "fileno", "encoding"})
"""What code outside the command line may ask of a stream."""


def _name_of(node: ast.expr) -> str:
    match node:
        case ast.Name(name):
            return name
        case ast.Attribute(value, name):
            return f"{_name_of(value)}.{name}"
    return ""


def _ways_past(source: str, *, is_command_line: bool) -> Iterator[str]:
    """The code that writes, or could write, to a terminal in another way."""
    tree = ast.parse(source)
    asked = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in HARMLESS and isinstance(node.value, ast.Attribute)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Attribute() | ast.Name():
                name = _name_of(node)
                is_ours = is_command_line or node in asked
                if name in SUSPECTS or (name in ("sys.stdout", "sys.stderr", "print") and not is_ours):
                    yield name
            case ast.Call(ast.Name("input")):
                yield "input"
            case ast.ImportFrom("rich.console", names) if any(each.name == "Console" for each in names):
                yield "rich.console"
            case ast.ImportFrom("rich", names) if any(each.name == "console" for each in names):
                yield "rich.console"
            case ast.ImportFrom(module, names) if module in ("os", "sys", "logging"):
                yield from (f"{module}.{each.name}" for each in names if f"{module}.{each.name}" in SUSPECTS)
                yield from (f"sys.{each.name}" for each in names if each.name in ("stdout", "stderr"))
            case ast.Constant("/dev/tty" | "/dev/stdout" | "/dev/stderr" | "/dev/console"):
                yield str(node.value)


def _found() -> dict[str, set[str]]:
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        name = file.relative_to(PACKAGE).as_posix()
        ways = set(_ways_past(file.read_text("utf-8"), is_command_line="cli/" in name))
        if ways:
            found[name] = ways
    return found


def test_nothing_writes_to_the_terminal_past_the_one_way() -> None:
    found = _found()
    new = {name: ways - ALLOWED.get(name, {}).keys() for name, ways in found.items()}
    assert {name: ways for name, ways in new.items() if ways} == {}
    gone = {name: ways.keys() - found.get(name, set()) for name, ways in ALLOWED.items()}
    assert {name: ways for name, ways in gone.items() if ways} == {}, "these exceptions are needed no more"


@pytest.mark.parametrize(
    "source",
    [
        "import os; os.write(1, b'x')",
        "from os import write",
        "import sys; sys.stdout.buffer.write(b'x')",
        "import sys; print('x', file=sys.__stderr__)",
        "open('/dev/tty', 'w')",
        "import logging; logging.StreamHandler()",
        "from rich.console import Console; Console().print('x')",
        "from rich import console; console.Console().print('x')",
        "input('x')",
    ],
)
def test_a_way_past_it_is_found_in_the_command_line_as_well(source: str) -> None:
    assert list(_ways_past(source, is_command_line=True))


@pytest.mark.parametrize("source", ["print('x')", "import sys; sys.stderr.write('x')", "from sys import stdout"])
def test_the_rest_of_the_program_prints_nothing(source: str) -> None:
    assert list(_ways_past(source, is_command_line=False))
