"""`acp-tui exec` until its agent is started: the command, the settings, and the prompt. `exec` runs the turn."""

from __future__ import annotations

import os
import select
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

from acp_tui.cli import ExitCode
from acp_tui.cli.arguments import Args, options_of, taken_as_id
from acp_tui.cli.command import UsageError
from acp_tui.cli.output import say
from acp_tui.cli.prerequisites import ExitOnError, command_of, notes_of, sandbox_plan, settings_in
from acp_tui.cli.terminal import ready_to_run
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.starting import end_early, start_early
from acp_tui.client.settings.location import settings_file
from acp_tui.client.settings.mcp import servers_at_start
from acp_tui.conversation.facts import SessionId

STDIN_LIMIT_S: Final = 3.0
"""A pipe silent for this long isn't meant for us: scripts and services leave theirs open."""


def run(args: Args) -> int:
    if args.raw and args.format != "ndjson":
        raise UsageError("--raw adds lines to --format ndjson, so it needs that")
    args.allow_unasked = _kinds_in(args.allow_unasked)
    command, args.session_id, args.cwd = _chosen(args)
    read, command = settings_in(args.cwd), ready_to_run(command)
    for note in notes_of(read):
        say(note)
    given = args.agent.argv if args.agent is not None else ()
    flag = next((word for word in given if word in ("-p", "--prompt")), "")
    if args.prompt is None and sys.stdin.isatty() and flag:
        raise UsageError(f"{flag} went to the agent, since it follows --; put {flag} before --")
    prompt = _read_prompt(args.prompt)
    if not prompt.strip():
        advice = taken_as_id(args.resume) if args.resume else "write it before any --, or pipe one in"
        say(f"the prompt is empty; {advice}")
        return ExitCode.USAGE

    servers_at_start(settings_file())  # before any agent can write there
    # It starts while everything else is loaded.
    start_early(command, command.cwd or args.cwd, sandbox_plan(command, read.settings))
    try:
        from acp_tui.cli.exec import take_turn

        return take_turn(command, prompt, read.settings, args)
    finally:
        end_early()


def _chosen(args: Args) -> tuple[AgentCommand, SessionId | None, Path]:
    """Return the agent, the session to continue, and its folder.

    The session is the one that the user names, or the last one that was recorded in the folder; None for a new one. Its
    agent is the recorded one if the user names none, and runs in the sandbox of then unless the user names another. A
    session that isn't recorded, such as that of an earlier turn, is named by its whole ID; without an ID and a
    recording, it's "".
    """
    command = command_of(args.agent, args.resume) if args.agent is not None else None
    if args.resume is None and command is not None:
        return command, None, args.cwd
    from acp_tui.cli.sessions import NoSuchSession, continued  # most turns begin a session

    with ExitOnError(None):
        try:
            agent, past = continued(command, args.resume, args.cwd, args.sandbox or "")
        except NoSuchSession as error:
            if command is not None:  # none was recorded; its agent may know it
                return command, SessionId(args.resume), args.cwd
            if error.hint:  # it isn't recorded
                error.hint += "\n  another one needs its agent: acp-tui exec AGENT PROMPT --resume ID"
            raise
        return replace(agent, options=options_of(args)), past.session_id, past.cwd


def _kinds_in(text: str | None) -> frozenset[str]:
    """Return what the agent may do without asking. Raises UsageError."""
    kinds = frozenset(word.strip() for word in text.split(",")) if text is not None else frozenset()
    if unknown := kinds - {"write", "run"}:
        raise UsageError(
            f"--allow-unasked takes write, run, or write,run, not {', '.join(sorted(unknown)) or 'nothing'}"
        )
    return kinds


def _read_prompt(given: str | None) -> str:
    """Return `given` followed by what stdin holds, if it's a pipe or file; without one, all of stdin."""
    if given is None:
        if sys.stdin.isatty():
            sys.stderr.write("Type your prompt, then press Ctrl+D:\n")
        return _read_stdin()
    piped = _read_stdin() if _has_input() else ""
    return f"{given}\n\n{piped}" if piped.strip() else given


def _has_input() -> bool:
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):  # closed or missing
        return False
    if stat.S_ISREG(mode):
        return True
    if not stat.S_ISFIFO(mode):  # a terminal, /dev/null, a service's socket
        return False
    if select.select([sys.stdin], [], [], STDIN_LIMIT_S)[0]:
        return True
    say(f"nothing on stdin after {STDIN_LIMIT_S:g} s, so it is ignored (to skip the wait: < /dev/null)")
    return False


def _read_stdin() -> str:
    return sys.stdin.buffer.read().decode("utf-8", "replace")
