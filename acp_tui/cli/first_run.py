"""Asks on the terminal before a package is downloaded and run for the first time; where there is none, nothing runs."""

from __future__ import annotations

from dataclasses import replace

import anyio

from acp_tui.cli.exec_terminal import Terminal, open_terminal
from acp_tui.cli.saying import say
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.consent import agree, consent_file, is_agreed, what_runs
from acp_tui.client.agents.recent import note_used, recent_agents, recent_file
from acp_tui.client.errors import SettingsError
from acp_tui.conversation.visible import make_visible_line


def ready_to_run(command: AgentCommand) -> AgentCommand | None:
    """The command once the user has agreed to it, now or before; None where it must not run, the reason being said.

    What a known agent runs is said before its first run, and what follows from where it runs each time.
    """
    agreed = command if command.package is None else _agreed_to(command)
    if agreed is None or not command.is_listed:
        return agreed
    if command.package is None and command.name not in recent_agents(recent_file()):
        say(f"{command.name} runs: {command.line}")
    if command.place_note:
        say(f"{command.name} {command.place_note}")
    note_used(command.name, recent_file())
    return agreed


def _agreed_to(command: AgentCommand) -> AgentCommand | None:
    if is_agreed(command, consent_file()):
        return replace(command, package=None)
    terminal = open_terminal()
    if terminal is None:
        say(
            f"{command.name} needs your consent before it first runs, and there is no terminal to ask on.\n"
            f"  Run it once on a terminal: acp-tui {command.name}\n"
            f"  or give the command itself: acp-tui exec -- {command.line}"
        )
        return None
    try:
        return _ask(terminal, command)
    finally:
        terminal.close()


def _ask(terminal: Terminal, command: AgentCommand) -> AgentCommand | None:
    facts = "\n".join(f"  {make_visible_line(line)}" for line in what_runs(command))
    terminal.show(f"Run {make_visible_line(command.name)} for the first time?\n{facts}\n[y/N] ")
    terminal.forget_typed()
    answer = anyio.run(terminal.read_line) or ""
    if answer.lower() not in ("y", "yes"):
        say(f"{command.name} was not started: you did not agree")
        return None
    try:
        agree(command, consent_file())
    except SettingsError as error:
        say(f"{error}; {error.hint}")
    return replace(command, package=None)
