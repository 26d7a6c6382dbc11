"""An agent that writes and runs without ever asking, as users meet it: in `exec` and in lines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from support.agents import scripted_argv
from support.terminals import line_terminal
from support.waiting import LIMIT_S

NEVER_ASKS: Final = """
def does(number, method, **params):
    send(id=number, method=method, params={"sessionId": "s1", **params})
    while "method" in (response := read()):
        pass
    say(method + ": " + response.get("error", {"message": "done"})["message"] + "\\n")
    return response.get("result")

handshake()
opened = expect("session/new")
folder = opened["params"]["cwd"]
answer(opened, sessionId="s1")
while True:
    prompt = expect("session/prompt")
    does(1, "fs/write_text_file", path=folder + "/written.txt", content="unasked\\n")
    made = does(2, "terminal/create", command="touch", args=["made.txt"])
    if made:
        does(3, "terminal/wait_for_exit", **made)
    end(prompt)
"""


def run_exec(folder: Path, *options: str, script: str = NEVER_ASKS) -> subprocess.CompletedProcess[str]:
    """`exec` without a terminal."""
    argv = [sys.executable, "-m", "acp_tui", "exec", "-p", "go", *options, "--", *scripted_argv(script)]
    return subprocess.run(
        argv,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
        start_new_session=True,
    )


def done_in(folder: Path) -> set[str]:
    """What the agent has done there."""
    return {name for name in ("written.txt", "made.txt") if (folder / name).exists()}


@pytest.mark.parametrize(
    ("options", "done"),
    [
        ((), set()),
        (("--allow-unasked", "write"), {"written.txt"}),
        (("--allow-unasked", "run"), {"made.txt"}),
        (("--allow-unasked", "write,run"), {"written.txt", "made.txt"}),
    ],
)
def test_exec_without_a_terminal_does_nothing_unasked_unless_it_is_told_to(
    tmp_path: Path, options: tuple[str, ...], done: set[str]
) -> None:
    run = run_exec(tmp_path, *options)
    assert done_in(tmp_path) == done
    assert run.returncode == (0 if len(done) == 2 else 5), run.stderr
    for kind, name, method in (("write", "written.txt", "fs/write_text_file"), ("run", "made.txt", "terminal/create")):
        if name in done:
            assert f"{method}: done" in run.stdout
        else:
            assert (
                f"there is no terminal to ask on; it can ask, or the user can let it with --allow-unasked {kind}"
                in (run.stdout)
            )
            assert f"the agent didn't ask for permission (to let it: --allow-unasked {kind})" in run.stderr


@pytest.mark.parametrize(("setting", "done"), [("on", {"written.txt", "made.txt"}), ("ask", set())])
def test_the_option_changes_no_other_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, done: set[str]
) -> None:
    config, project = tmp_path / "config", tmp_path / "project"
    (config / "acp-tui").mkdir(parents=True)
    project.mkdir()
    (config / "acp-tui/settings.toml").write_text(f"[workspace]\nwrite = '{setting}'\nterminals = '{setting}'\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config))
    run_exec(project, *(("--allow-unasked", "write,run") if setting == "ask" else ()))
    assert done_in(project) == done


def test_what_is_always_asked_about_is_refused_whatever_the_option_says(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    outside = NEVER_ASKS.replace('folder + "/written.txt"', 'folder + "/../written.txt"').replace(
        'args=["made.txt"]', 'args=["made.txt"], env=[{"name": "LD_PRELOAD", "value": "./x.so"}]'
    )
    run = run_exec(project, "--allow-unasked", "write,run", script=outside)
    assert (run.returncode, done_in(tmp_path), done_in(project)) == (5, set(), set())


@pytest.mark.parametrize("kinds", ["", "all", "write,", "write run"])
def test_the_option_takes_nothing_else(tmp_path: Path, kinds: str) -> None:
    run = run_exec(tmp_path, "--allow-unasked", kinds)
    assert run.returncode == 2
    assert "--allow-unasked takes write, run, or write,run" in run.stderr


@pytest.mark.parametrize(
    ("answers", "done"),
    [
        (("n", "n", "n", "n"), [set(), set()]),
        (("y", "y", "n", "n"), [{"written.txt", "made.txt"}, set()]),
        (("a", "n", "n"), [{"written.txt"}, {"written.txt"}]),
        (("4", "a"), [{"made.txt"}, {"made.txt"}]),
    ],
)
def test_lines_ask_and_do_exactly_what_the_answer_says(
    tmp_path: Path, answers: tuple[str, ...], done: list[set[str]]
) -> None:
    """Two turns; each writes and runs the same."""
    left = list(answers)
    with line_terminal("--plain", "--", *scripted_argv(NEVER_ASKS), cwd=tmp_path) as terminal:
        for number, expected in enumerate(done):
            terminal.shows("\nyou: " if number else "you: ")
            terminal.type("go\n")
            asks = 2 if number == 0 else len(answers) - 2
            for _ in range(min(asks, len(left))):
                terminal.shows("and didn't ask for permission.")
                terminal.shows("\nYour choice")
                terminal.type(left.pop(0) + "\n")
            terminal.shows("terminal/")
            if "made.txt" in expected:
                terminal.shows("terminal/wait_for_exit: done")
            assert done_in(tmp_path) == expected
            for name in expected:
                (tmp_path / name).unlink()
        terminal.shows("\nyou: ")
        terminal.type("\x04")
        assert terminal.end() == 0
    assert left == []
