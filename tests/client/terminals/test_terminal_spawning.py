"""How a command starts: its terminal, environment, folder, and signals, and the error if it can't start."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
import pytest

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.starting import start_of
from acp_tui.client.terminals.pty import TerminalSpawnFailed
from support.waiting import LIMIT_S

if TYPE_CHECKING:
    from tests.client.terminals.conftest import Session

HAS_PROC = Path("/proc/self/fd").exists()


async def python(session: Session, code: str) -> str:
    return (await session.run(sys.executable, "-I", "-S", "-c", code)).output


async def test_the_pty_is_the_controlling_terminal(session: Session) -> None:
    assert (await session.run("/bin/sh", "-c", "echo hello > /dev/tty")).output == "hello\n"


async def test_the_command_leads_a_session_and_is_in_the_foreground(session: Session) -> None:
    code = (
        "import ctypes, os\n"
        "tcgetsid = ctypes.CDLL(None).tcgetsid(0)\n"
        "print([os.getpid() == number for number in (os.getsid(0), os.getpgid(0), os.tcgetpgrp(0), tcgetsid)])"
    )
    assert await python(session, code) == "[True, True, True, True]\n"


async def test_all_three_streams_are_the_terminal(session: Session) -> None:
    assert await python(session, "import os; print([os.isatty(fd) for fd in (0, 1, 2)])") == "[True, True, True]\n"


async def test_the_window_size_is_set_before_the_command_looks(session: Session) -> None:
    assert (await session.run("stty", "size")).output == "30 120\n"


@pytest.mark.skipif(not HAS_PROC, reason="lists what /proc shows")
async def test_no_file_descriptor_of_ours_reaches_the_command(session: Session) -> None:
    with (session.cwd / "inheritable").open("wb") as file:
        os.set_inheritable(file.fileno(), True)
        listing = await python(session, "import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))")
    assert listing == "[0, 1, 2, 3]\n"  # the last one lists


async def test_signals_do_what_they_do_by_default(session: Session) -> None:
    code = (
        "from signal import *\n"
        "print([getsignal(n) is SIG_DFL for n in (SIGHUP, SIGTERM, SIGQUIT)], pthread_sigmask(SIG_BLOCK, []))"
    )
    assert await python(session, code) == "[True, True, True] set()\n"
    # Python itself ignores SIGPIPE, so another program has to be asked: `yes` ends quietly, or says so.
    assert (await session.run("/bin/sh", "-c", "yes | head -n 1")).output == "y\n"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="there are no eager tasks before Python 3.12")
async def test_a_command_starts_where_tasks_start_eagerly(session: Session) -> None:
    """As on the screen: Textual has it so."""
    loop = asyncio.get_running_loop()
    loop.set_task_factory(asyncio.eager_task_factory)
    try:
        assert (await session.run("echo", "hello")).output == "hello\n"
    finally:
        loop.set_task_factory(None)


async def test_a_typed_interrupt_ends_the_command(session: Session) -> None:
    terminal_id = await session.shell("echo ready; exec sleep 1000")
    await session.until_heard(terminal_id, b"ready")
    session.terminals.get(terminal_id).write(b"\x03")
    with anyio.fail_after(LIMIT_S):
        assert (await session.terminals.get(terminal_id).wait_for_exit()).signal == "SIGINT"


async def test_commands_start_in_the_sessions_directory_or_in_the_one_given(session: Session, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    assert (await session.run("pwd", "-P")).output == f"{tmp_path.resolve()}\n"
    assert (await session.run("pwd", "-P", cwd=tmp_path / "inner")).output == f"{tmp_path.resolve()}/inner\n"


@pytest.fixture
async def run_env(monkeypatch: pytest.MonkeyPatch, session: Session) -> Session:
    base = {
        "PATH": os.environ["PATH"],
        "TERM": "dumb",
        "COLUMNS": "1",
        "LINES": "2",
        "PAGER": "less",
        "KEPT": "yes",
    }
    monkeypatch.setattr("acp_tui.client.terminals.terminals.inherited", lambda: base)
    return session


async def test_the_environment_is_the_inherited_one_suited_to_our_terminal(run_env: Session) -> None:
    lines = set((await run_env.run("env")).output.splitlines())
    path = f"PATH={os.environ['PATH']}"
    assert lines == {path, "KEPT=yes", "TERM=xterm-256color", "PAGER=cat", "GIT_PAGER=cat"}


async def test_what_opens_a_host_is_handed_to_no_agent_and_no_command(
    monkeypatch: pytest.MonkeyPatch, session: Session, tmp_path: Path
) -> None:
    """An agent in a container could use it to attach, and answer its own questions."""
    monkeypatch.setenv("ACP_TUI_HOST_TOKEN", "s3cret")
    printed = (await session.run("env")).output
    assert "PATH=" in printed
    assert "s3cret" not in printed
    assert "s3cret" not in start_of(AgentCommand("agent", ("agent",)), tmp_path).env.values()


async def test_the_agents_environment_wins(run_env: Session) -> None:
    wishes = [("TERM", "vt100"), ("KEPT", "no"), ("EMPTY", ""), ("PAGER", "more"), ("COLUMNS", "77")]
    lines = (await run_env.run("env", env=wishes)).output.splitlines()
    assert {f"{name}={value}" for name, value in wishes} <= set(lines)


async def test_programs_are_looked_up_on_the_commands_own_path(session: Session, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "only-here"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho found\n")
    program.chmod(0o755)
    assert (await session.run("only-here", env=[("PATH", str(program.parent))])).output == "found\n"


async def test_a_plain_program_name_runs_directly(session: Session) -> None:
    assert (await session.run("true", env=[("SHELL", "/nonexistent")])).exit_status is not None


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("echo hi | wc -c | tr -d ' '", "3\n"),
        ("cd / && pwd", "/\n"),
        ("echo $((6 * 7))", "42\n"),
        ("x=5; echo $x", "5\n"),
        ("no-such-program-at-all 2>/dev/null || echo fallback", "fallback\n"),
        ("echo " + "long" * 200, "long" * 200 + "\n"),
    ],
)
async def test_a_shell_line_without_arguments_goes_through_the_shell(session: Session, line: str, output: str) -> None:
    assert (await session.run(line, env=[("SHELL", "/bin/sh")])).output == output


async def test_the_users_shell_runs_shell_lines(session: Session, tmp_path: Path) -> None:
    shell = tmp_path / "my-shell"
    shell.write_text('#!/bin/sh\necho "mine: $1 $2"\n')
    shell.chmod(0o755)
    assert (await session.run("a && b", env=[("SHELL", str(shell))])).output == "mine: -c a && b\n"


@pytest.mark.parametrize("shell", ["", "/nonexistent/shell"])
async def test_sh_runs_shell_lines_where_the_users_shell_cannot(session: Session, shell: str) -> None:
    assert (await session.run("echo a; echo b", env=[("SHELL", shell)])).output == "a\nb\n"


async def test_a_program_with_a_space_in_its_name_is_not_taken_for_a_shell_line(
    session: Session, tmp_path: Path
) -> None:
    program = tmp_path / "my program"
    program.write_text("#!/bin/sh\necho ran\n")
    program.chmod(0o755)
    assert (await session.run(str(program))).output == "ran\n"


async def test_arguments_are_never_read_by_a_shell(session: Session) -> None:
    assert (await session.run("printf", "%s|", "a b", "$HOME", "*", "", "ü\n")).output == "a b|$HOME|*||ü\n|"


async def test_large_arguments_and_environments_arrive(session: Session) -> None:
    arguments = ["x" * 100_000] * 3
    snapshot = await session.run(
        "/bin/sh", "-c", "echo $# ${#1} ${#BIG}", "-", *arguments, env=[("BIG", "y" * 100_000)]
    )
    assert snapshot.output == "3 100000 100000\n"


async def test_a_missing_program_is_an_error_with_its_reason(session: Session) -> None:
    for arguments in (["--flag"], []):
        with pytest.raises(TerminalSpawnFailed, match="'no-such-program': No such file or directory"):
            await session.run("no-such-program", *arguments)


async def test_a_file_that_is_not_executable_is_an_error_with_its_reason(session: Session, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("hello")
    with pytest.raises(TerminalSpawnFailed, match="Permission denied"):
        await session.run("./notes")


async def test_a_file_of_no_executable_format_is_an_error_with_its_reason(session: Session, tmp_path: Path) -> None:
    (tmp_path / "junk").write_bytes(b"\0junk")
    (tmp_path / "junk").chmod(0o755)
    with pytest.raises(TerminalSpawnFailed, match=r"(?i)exec format error"):
        await session.run("./junk")


async def test_a_missing_working_directory_is_an_error_that_names_it(session: Session, tmp_path: Path) -> None:
    with pytest.raises(TerminalSpawnFailed, match=r"'true': working directory '.*/gone': No such file"):
        await session.run("true", cwd=tmp_path / "gone")


@pytest.mark.parametrize(
    ("env", "reason"),
    [([("A=B", "c")], "illegal"), ([("A", "x\0y")], "null"), ([("A", "\ud800")], "surrogates")],
)
async def test_an_environment_that_cannot_be_is_an_error(
    session: Session, env: list[tuple[str, str]], reason: str
) -> None:
    with pytest.raises(TerminalSpawnFailed, match=reason):
        await session.run("true", env=env)


@pytest.mark.skipif(not HAS_PROC, reason="counts what /proc shows")
async def test_failures_and_cancellations_leave_nothing_behind(session: Session) -> None:
    def left_behind() -> tuple[int, str]:
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
        return len(list(Path("/proc/self/fd").iterdir())), children

    before = left_behind()
    for _ in range(5):
        with pytest.raises(TerminalSpawnFailed):
            await session.run("no-such-program")
    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(session.shell, "sleep 1000")
        await anyio.lowlevel.checkpoint()  # the launchers are running
        tasks.cancel_scope.cancel()
    with anyio.fail_after(LIMIT_S):
        while left_behind() != before:
            await anyio.lowlevel.checkpoint()
    assert session.exits == []
