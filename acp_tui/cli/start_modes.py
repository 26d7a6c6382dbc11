"""The less common modes (browser, `--resume`, `--worktree`, `--plain`) and printed lists; imported only when needed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from acp_tui.cli import ExitCode
from acp_tui.cli.agents import list_agents
from acp_tui.cli.arguments import Args, nearest, options_of, unquoted_prompt
from acp_tui.cli.command import UsageError
from acp_tui.cli.leaving import leavable
from acp_tui.cli.output import print_json, say
from acp_tui.cli.prerequisites import ExitOnError, command_of, notes_of, require_screen, settings_in_force, why_plain
from acp_tui.cli.screen import run_screen
from acp_tui.cli.sessions import find_resumed
from acp_tui.cli.terminal import agrees
from acp_tui.client.agents.command import DEMO
from acp_tui.client.sessions.session_history import warning_if_open
from acp_tui.client.worktrees import add_worktree, why_renamed
from acp_tui.demo import DEFAULT, names
from acp_tui.demo.scenario import ScenarioError, UnknownScenario, available, load


def run(args: Args, work_with: Callable[..., int]) -> int:
    """Work in a worktree, an earlier session, or line by line. Without a terminal, list the agents.

    `work_with` is the function in `start`.
    """
    if args.resume is not None:
        return _resume(args, work_with)
    if args.agent is not None:
        command, cwd, renamed = command_of(args.agent), args.cwd, ""
        if args.worktree is not None:
            if command.cwd is not None:
                where = "a project of its own" if command.name == DEMO else str(command.cwd)
                raise UsageError(f"{command.name} works in {where}, so it can't be used with --worktree")
            with ExitOnError(ExitCode.ERROR):
                worktree = asyncio.run(add_worktree(cwd, args.worktree))
            cwd, renamed = Path(worktree.folder), why_renamed(worktree, args.worktree)
        return work_with(command, cwd, args.record, is_plain=args.plain, prompt=args.prompt, notes=(renamed,))
    if args.worktree is not None:
        raise UsageError("--worktree needs an agent: acp-tui AGENT --worktree [NAME]")
    if args.plain:
        raise UsageError("--plain needs an agent: acp-tui AGENT --plain; to list them: acp-tui agents")
    return list_agents()


def _resume(args: Args, work_with: Callable[..., int]) -> int:
    command = command_of(args.agent, args.resume) if args.agent is not None else None
    read = settings_in_force()
    why = why_plain(read.settings, is_wanted=args.plain)
    if not why:
        require_screen("to read sessions without it: acp-tui sessions")
    found = find_resumed(args.resume, args.cwd, command, args.sandbox or "", options_of(args))
    past, command = found.past, found.command
    told = warning_if_open(past.session_id, past.command, *past.agents) if why else ""
    if why and (command is None or (told and not agrees(f"{told}\nOpen it here, too? "))):
        raise UsageError("without its agent, the session can only be read: acp-tui render ID -o FILE.md")
    if why and command is not None:
        chosen = command.options
        return work_with(
            command,
            past.cwd,
            args.record,
            is_plain=args.plain,
            prompt=args.prompt,
            opening=lambda sessions: sessions.open(past.session_id, past.cwd, chosen),
        )
    from acp_tui.ui.tab.reopening import Reopening  # not without the screen

    shell = leavable(read.settings.sessions)
    opening = Reopening(past, found.index, command.options if command is not None else (), found.why)
    return run_screen(
        command, past.cwd, read.settings, notes_of(read), args.record, opening, prompt=args.prompt, shell=shell
    )


# The demo


def demo(args: Args, play: Callable[[str, Args], int]) -> int:
    """List the demo's scenarios, or `play` one of the user's own, or the default one with the user's prompt."""
    if args.list:
        return _list_scenarios(args.format)
    if not _is_meant_as_scenario(args.word, is_alone=args.prompt is None):
        if args.prompt is not None:
            raise UsageError(unquoted_prompt(args.prompt))
        args.prompt = args.word
        return play(DEFAULT, args)
    try:
        load(args.word)  # before its agent fails because of it
    except UnknownScenario as error:
        say(f"{error}\n  to list the scenarios: acp-tui demo --list; to send a word: acp-tui demo {DEFAULT} WORD")
    except ScenarioError as error:
        say(str(error))
    else:
        return play(args.word, args)
    return ExitCode.USAGE


def _list_scenarios(form: str) -> int:
    scenarios = available()
    if form == "json":
        print_json("demo", [{"name": name, "description": text} for name, text in scenarios.items()])
        return ExitCode.DONE
    width = max(map(len, scenarios))
    for name, description in scenarios.items():
        print(f"{name:<{width}}  {description}")
    return ExitCode.DONE


def _is_meant_as_scenario(word: str, *, is_alone: bool) -> bool:
    is_name = " " not in word if is_alone else bool(nearest(word, names()))
    is_file = word.endswith(".toml") or os.path.exists(word)  # noqa: PTH110 - a Path raises for a name that is too long
    return is_file or (is_name and load(DEFAULT).matching(word) is None)
