"""`acp-tui mock`: plays a demo scenario as an agent, on this process's stdin and stdout."""

from __future__ import annotations

from acp_tui.cli.arguments import Args
from acp_tui.demo.agent import main as play


def run(args: Args) -> int:
    """Serve one client. Returns the exit status."""
    return play([args.word.removeprefix("demo:"), "--speed", f"{args.speed:g}", *(["--login"] if args.login else [])])
