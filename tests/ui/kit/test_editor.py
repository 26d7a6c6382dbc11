"""How each editor is given the file and line, and the message if none can be started."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from textual.app import App, SuspendNotSupported

from acp_tui.client.desktop import editor_command, wanted_editor
from acp_tui.ui.kit.desktop import edit

FILE = Path("/project/a b.py")


@pytest.mark.parametrize(
    ("wanted", "command"),
    [
        ("vi", ["vi", "+7", "/project/a b.py"]),
        ("/usr/bin/nvim -u 'my rc'", ["/usr/bin/nvim", "-u", "my rc", "+7", "/project/a b.py"]),
        ("nano", ["nano", "+7", "/project/a b.py"]),
        ("emacs -nw", ["emacs", "-nw", "+7", "/project/a b.py"]),
        ("micro", ["micro", "+7", "/project/a b.py"]),
        ("hx", ["hx", "/project/a b.py:7"]),
        ("helix", ["helix", "/project/a b.py:7"]),
        ("code --wait", ["code", "--wait", "--goto", "/project/a b.py:7"]),
        ("my-editor", ["my-editor", "/project/a b.py"]),
    ],
)
def test_each_editor_is_told_the_line_in_its_own_way(wanted: str, command: list[str]) -> None:
    assert editor_command(wanted, FILE, 7) == command


@pytest.mark.parametrize("line", [None, 0, -5])
@pytest.mark.parametrize("wanted", ["vim", "hx", "code"])
def test_what_is_no_line_is_left_out(wanted: str, line: int | None) -> None:
    assert editor_command(wanted, FILE, line) == [wanted, str(FILE)]


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({"VISUAL": "code -w", "EDITOR": "vi"}, "code -w"),
        ({"VISUAL": " ", "EDITOR": "vi"}, "vi"),
        ({"EDITOR": "  "}, ""),
        ({}, ""),
    ],
)
def test_visual_goes_before_editor_and_a_blank_one_is_none(environ: dict[str, str], wanted: str) -> None:
    assert wanted_editor(environ) == wanted


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        ("", "No editor found: set $EDITOR"),
        ("no-such-editor", "no-such-editor couldn't be started: "),
        ("'unclosed", "'unclosed couldn't be started: "),
        ("sh -c 'exit 3'", "sh -c 'exit 3' ended with status 3."),
        ("true", ""),
    ],
)
def test_what_went_wrong_is_said(wanted: str, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", wanted)
    monkeypatch.delenv("EDITOR", raising=False)
    app: App[Any] = App()
    monkeypatch.setattr(app, "suspend", nullcontext)
    said = edit(app, FILE)
    assert said.startswith(problem)
    assert bool(said) is bool(problem)


def test_a_terminal_that_cannot_be_given_away_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise SuspendNotSupported("not in this terminal")

    monkeypatch.setenv("VISUAL", "true")
    app: App[Any] = App()
    monkeypatch.setattr(app, "suspend", refuse)
    assert edit(app, FILE) == "true couldn't be started: not in this terminal"
