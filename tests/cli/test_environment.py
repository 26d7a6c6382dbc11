"""Starting in a poor environment: no home, nowhere to write, a tiny terminal, or an unusable one.

Each start is a real process on its own terminal.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pyte
import pytest

from acp_tui.cli.main import find_home, forget_coerced_locale
from acp_tui.cli.prerequisites import notes_of, reason_not_to_draw
from acp_tui.client.settings.reader import SettingsRead
from acp_tui.client.settings.settings import SessionSettings, Settings
from support.terminals import TerminalProcess, process_on_terminal

QUIT = "\x11"
HAS_FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


class DrawnTerminal(TerminalProcess):
    """A terminal that can be drawn on."""

    def __init__(self, process: subprocess.Popen[bytes], fd: int, size: tuple[int, int]) -> None:
        super().__init__(process, fd)
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def rows(self) -> list[str]:
        """What the screen shows."""
        return [row.rstrip() for row in self._screen.display]

    def shows(self, text: str) -> None:
        """Wait until the screen shows this."""
        self.until(lambda: any(text in row for row in self.rows))

    def read(self) -> bytes:
        """The next output, drawn."""
        data = super().read()
        self._stream.feed(data)
        return data


@contextmanager
def started(
    *argv: str, env: Mapping[str, str | None], cwd: Path, size: tuple[int, int] = (80, 24)
) -> Iterator[DrawnTerminal]:
    """acp-tui on a terminal of this size; None removes a variable."""
    usual = {"TERM": "xterm-256color", "HOME": str(cwd)}
    environ = {name: value for name, value in {**usual, **env}.items() if value is not None}
    with process_on_terminal(argv, environ, cwd, size, terminal=partial(DrawnTerminal, size=size)) as terminal:
        yield terminal


def demo_runs(terminal: DrawnTerminal, until: str = "demo") -> None:
    """The demo starts this far, then quits on request; what it showed can still be read."""
    terminal.shows(until)
    terminal.type(QUIT)
    assert terminal.end() == 0


@pytest.mark.parametrize("term", ["dumb", None])
def test_a_terminal_that_cannot_be_drawn_on_is_refused_with_what_to_do(tmp_path: Path, term: str | None) -> None:
    with started("replay", "demo:coding", env={"TERM": term}, cwd=tmp_path) as terminal:
        assert terminal.end() == 2
    said = terminal.said.decode()
    assert "TERM" in said
    assert "acp-tui exec" in said
    assert "\x1b" not in said


def test_exec_needs_no_such_terminal(tmp_path: Path) -> None:
    with started("exec", "--prompt", "hi", "--", "no-such-agent", env={"TERM": "dumb"}, cwd=tmp_path) as terminal:
        assert terminal.end() == 127


def test_without_a_home_that_of_the_user_is_taken(tmp_path: Path) -> None:
    with started("demo", env={"HOME": None, "XDG_STATE_HOME": str(tmp_path)}, cwd=tmp_path) as terminal:
        demo_runs(terminal)
    assert not (tmp_path / "~").exists()


def test_what_cannot_be_kept_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    nowhere = str(tmp_path / "file" / "folder")  # for root, too, whom no mode keeps out
    env = {"XDG_STATE_HOME": nowhere, "XDG_CACHE_HOME": nowhere}
    with started("demo", env=env, cwd=tmp_path) as terminal:
        demo_runs(terminal)


def test_settings_that_cannot_be_read_stop_the_start_since_they_may_refuse(tmp_path: Path) -> None:
    config = tmp_path / "config"
    (config / "acp-tui" / "settings.toml").mkdir(parents=True)
    with started("demo", env={"XDG_CONFIG_HOME": str(config)}, cwd=tmp_path) as terminal:
        assert terminal.end() == 2
    assert b"settings.toml can't be read" in terminal.said


def test_in_a_locale_without_unicode_all_that_is_drawn_is_ascii(tmp_path: Path) -> None:
    with started("demo", env={"LANG": "C"}, cwd=tmp_path) as terminal:
        demo_runs(terminal)
        assert all(row.isascii() for row in terminal.rows)
    assert terminal.said.isascii()


def test_a_terminal_of_a_few_cells_is_drawn_on(tmp_path: Path) -> None:
    with started("demo", env={}, cwd=tmp_path, size=(20, 5)) as terminal:
        demo_runs(terminal, until="╭─")


# The pieces


def test_a_home_that_is_set_stays() -> None:
    environ = {"HOME": "/home/ada"}
    find_home(environ)
    assert environ == {"HOME": "/home/ada"}


@pytest.mark.parametrize("home", [None, "", "relative"])
def test_a_user_of_whom_the_system_knows_nothing_has_the_root(
    home: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 987654)
    environ = {} if home is None else {"HOME": home}
    find_home(environ)
    assert environ == {"HOME": "/"}


@pytest.mark.parametrize(
    ("environ", "left"),
    [
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, {"LANG": "C"}),
        ({"LANG": "C", "LC_CTYPE": "de_DE.UTF-8"}, {"LANG": "C", "LC_CTYPE": "de_DE.UTF-8"}),
        ({"LC_CTYPE": "C.UTF-8"}, {"LC_CTYPE": "C.UTF-8"}),
    ],
)
def test_the_locale_that_python_puts_in_the_place_of_c_is_taken_back(
    environ: dict[str, str], left: dict[str, str]
) -> None:
    forget_coerced_locale(environ)
    assert environ == left


def test_terminals_that_can_be_drawn_on_are() -> None:
    assert reason_not_to_draw({"TERM": "linux"}) == ""
    assert "TERM isn't set" in reason_not_to_draw({})


@pytest.mark.parametrize("is_missing", [True, False])
def test_whoever_wants_sessions_in_hosts_is_told_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, is_missing: bool
) -> None:
    if is_missing:
        monkeypatch.setitem(sys.modules, "websockets", None)
    told = notes_of(SettingsRead(Settings(sessions=SessionSettings(host="ask"))))
    assert any("acp-tui host tells how to get it" in note for note in told) == is_missing
    assert notes_of(SettingsRead(Settings())) == ()


# Streams that take nothing, or aren't there


@pytest.mark.parametrize("where", [">&-", pytest.param(">/dev/full", marks=HAS_FULL)])
@pytest.mark.parametrize("command", ["keys", "agents", "settings", "help", "--help", "--version"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_what_takes_no_output_is_named(command: str, where: str, unbuffered: str, tmp_path: Path) -> None:
    status, err = _redirected(f"{command} {where}", tmp_path, PYTHONUNBUFFERED=unbuffered)
    assert status == 1
    assert err.startswith("acp-tui: can't write to stdout: ")
    assert "internal error" not in err


@pytest.mark.parametrize("command", ["--version", "keys", "agents"])
def test_commands_need_neither_stdin_nor_stderr(command: str, tmp_path: Path) -> None:
    assert _redirected(f"{command} <&- >/dev/null 2>&-", tmp_path) == (0, "")


def _redirected(command: str, home: Path, **environ: str) -> tuple[int, str]:
    line = f"exec {sys.executable} -P -m acp_tui {command}"
    environ["HOME"] = str(home)
    ended = subprocess.run(["sh", "-c", line], env=environ, stderr=subprocess.PIPE, text=True, check=False)
    return ended.returncode, ended.stderr
