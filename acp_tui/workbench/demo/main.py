"""`python -m acp_tui.demo [SCENARIO] [--speed X]` plays a scenario on stdin and stdout; `--login` logs in to it."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from pathlib import Path

import anyio

from acp_tui.workbench.demo.agent import DemoAgent
from acp_tui.workbench.demo.client_calls import StdioStream
from acp_tui.workbench.demo.scenario import DEFAULT, ScenarioError, UnknownScenario, available, load

EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


def main(argv: list[str] | None = None) -> int:
    """Serve one client; the exit status."""
    arguments = _parser().parse_args(argv)
    if arguments.login:
        return _log_in()
    try:
        scenario = load(arguments.scenario)
    except ScenarioError as error:
        sys.stderr.write(_explained(error))
        return EXIT_USAGE
    logged_in = scenario.auth.required and _take_login()
    run = secrets.token_hex(3) if arguments.own_ids else ""
    agent = DemoAgent(scenario, speed=arguments.speed, logged_in=logged_in, run=run)
    try:
        anyio.run(_serve, agent)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    return 0


async def _serve(agent: DemoAgent) -> None:
    await agent.serve(StdioStream())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m acp_tui.demo", description="A scripted ACP agent on stdin and stdout."
    )
    parser.add_argument(
        "scenario", nargs="?", default=DEFAULT, help="a shipped scenario, or the path of a .toml file"
    )
    parser.add_argument(
        "--speed", type=_speed, default=1.0, help="2 is twice as fast, 0 knows no delays (default: 1)"
    )
    parser.add_argument(
        "--own-ids",
        action="store_true",
        help="give sessions ids that no other run gives (default: demo-1, ...)",
    )
    parser.add_argument(
        "--login", action="store_true", help="log in on this terminal, for the agent that is started next"
    )
    return parser


def _speed(text: str) -> float:
    speed = float(text)
    if not 0 <= speed < float("inf"):
        raise ValueError
    return speed


def _explained(error: ScenarioError) -> str:
    lines = [str(error)]
    if isinstance(error, UnknownScenario):
        shipped = available()
        width = max(map(len, shipped))
        lines += ["", *(f"  {name:<{width}}  {description}" for name, description in shipped.items())]
    return "\n".join(lines) + "\n"


# The login in a terminal leaves a mark, a file of the program that starts both: it holds for its next agent, once.


def _log_in() -> int:
    """Ask on the terminal; the exit status: 0 where something was entered."""
    sys.stdout.write("The demo asks for a login. Enter any name, or nothing to give up.\n\nName: ")
    sys.stdout.flush()
    name = sys.stdin.readline().strip()
    if not name:
        sys.stdout.write("No name, no login.\n")
        return 1
    _login_mark().unlink(missing_ok=True)
    # Made anew: what somebody else put at a path that can be guessed is not written to.
    os.close(os.open(_login_mark(), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    sys.stdout.write(f"Hello, {name}: you are logged in.\n")
    return 0


def _take_login() -> bool:
    """Whether somebody has logged in since an agent was started last."""
    try:
        is_ours = _login_mark().lstat().st_uid == os.getuid()
        _login_mark().unlink()
    except OSError:
        return False
    return is_ours


def _login_mark() -> Path:
    return Path(os.environ.get("TMPDIR", "/tmp")) / f"acp-tui-demo-login-{os.getuid()}-{os.getppid()}"
