"""How each editor is given the file and line, and the message if none can be started."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.app import App, SuspendNotSupported

from acp_tui.client import desktop
from acp_tui.client.desktop import NO_EDITOR, editor_command, wanted_editor
from acp_tui.ui.kit.desktop import edit, edit_text, lent_terminal

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
        ({"EDITOR": "  "}, "vi"),
        ({}, "vi"),
    ],
)
def test_visual_goes_before_editor_and_vi_is_for_who_has_set_none(
    environ: dict[str, str], wanted: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "vi").touch(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert wanted_editor(environ) == wanted


PROBLEMS = [
    ("no-such-editor", "no-such-editor isn't on PATH: set $VISUAL."),
    ("./no-such-editor", "./no-such-editor couldn't edit it: "),
    ("/", "/ couldn't edit it: "),
    ("unreadable", "unreadable couldn't edit it: "),
    ("''", "'' couldn't edit it: "),
    ("'unclosed", "'unclosed couldn't edit it: "),
    ("sh -c 'exit 3'", "sh -c 'exit 3' ended with status 3."),
    ("sh -c 'echo more >>$0'", ""),
]


class Terminal:
    """What an app lends as Textual's does: it's taken back only if no exception comes out of the context."""

    is_lent = False

    @contextmanager
    def suspend(self) -> Iterator[None]:
        self.is_lent = True
        yield
        self.is_lent = False


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Terminal:
    (tmp_path / "unreadable").write_bytes(b"\x7fELF no program")
    (tmp_path / "unreadable").chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("EDITOR", raising=False)
    return Terminal()


@pytest.mark.parametrize(("wanted", "problem"), PROBLEMS)
async def test_what_went_wrong_is_said_and_the_app_has_its_terminal_again(
    wanted: str, problem: str, terminal: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("VISUAL", wanted)
    app: App[Any] = App()
    monkeypatch.setattr(app, "suspend", terminal.suspend)
    of_file = await edit(app, tmp_path / "a b.py")
    text, of_text = await edit_text(app, "a draft")
    for said in (of_file, of_text):
        assert said.startswith(problem)
        assert bool(said) is bool(problem)
    assert (text, terminal.is_lent) == ("a draft" if problem else "a draftmore", False)


async def test_without_an_editor_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in {"VISUAL": "", "EDITOR": "", "PATH": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    app: App[Any] = App()
    assert (await edit_text(app, "a draft"))[1] == await edit(app, FILE) == NO_EDITOR


@pytest.mark.parametrize(
    ("wanted", "command"),
    [
        ("code", "code --wait"),
        ("/opt/cursor --reuse-window", "/opt/cursor --wait --reuse-window"),
        ("zed -w", "zed -w"),
        ("subl -n --wait", "subl -n --wait"),
        ("kate", "kate --block"),
        ("kate -b", "kate -b"),
        ("gvim", "gvim -f"),
        ("vim", "vim"),
    ],
)
async def test_an_editor_with_a_window_is_told_to_wait_until_the_draft_is_saved(
    wanted: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", wanted)
    ran: list[str] = []

    async def save(command: list[str]) -> int:
        ran[:] = command
        Path(command[-1]).write_text("saved\n")
        return 0

    assert await desktop.edit_text("a draft", save) == ("saved", "")
    assert ran[:-1] == command.split()


async def test_an_editor_that_did_not_wait_is_named_and_the_draft_is_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "my-window --new")
    now = 10.0
    monkeypatch.setattr("time.monotonic", lambda: now)

    async def look(for_s: float) -> int:
        nonlocal now
        now += for_s
        return 0

    text, problem = await desktop.edit_text("a draft", lambda _: look(0.5))
    assert (text, problem.partition(":")[0]) == ("a draft", "my-window --new returned at once")
    assert await desktop.edit_text("a draft", lambda _: look(5)) == ("a draft", "")


def test_whatever_ends_its_use_the_app_has_its_terminal_again(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    app: App[Any] = App()
    monkeypatch.setattr(app, "suspend", terminal.suspend)
    with pytest.raises(KeyboardInterrupt), lent_terminal(app):
        raise KeyboardInterrupt
    assert not terminal.is_lent


async def test_a_terminal_that_cannot_be_given_away_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise SuspendNotSupported("not in this terminal")

    monkeypatch.setenv("VISUAL", "true")
    app: App[Any] = App()
    monkeypatch.setattr(app, "suspend", refuse)
    assert await edit(app, FILE) == "true couldn't edit it: not in this terminal."
