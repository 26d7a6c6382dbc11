"""`acp-tui help`: prints help for a command, the page of a topic, or the man page."""

from __future__ import annotations

import sys
from io import StringIO
from typing import Final

from acp_tui.cli.arguments import Given, WrongUse, nearest
from acp_tui.cli.command_table import COMMANDS, command_named
from acp_tui.cli.exit_codes import ExitCode
from acp_tui.cli.help_text import columns, help_of, man_page, overview
from acp_tui.docs import for_terminals, markdown_of, topics

MOST_COLUMNS: Final = 100


def run(given: Given) -> int:
    """Print it; returns the exit status."""
    print(man_page() if given.format == "man" else _text(given.word), end="")
    return ExitCode.DONE


def _text(name: str | None) -> str:
    if name is None:
        return overview()
    if name in topics():
        return _page(name)
    if command := command_named(name):
        return help_of(command)
    near = nearest(name, (*topics(), *(each.name for each in COMMANDS)))
    advice = f"did you mean {near}?" if near else f"topics: {', '.join(topics())}"
    raise WrongUse(f"no command or topic is called {name}; {advice}")


def _page(topic: str) -> str:
    """A page laid out for the terminal; for a pipe, as Markdown."""
    if not sys.stdout.isatty():
        return markdown_of(topic)
    # They take a tenth of a second, which the help of a command need not.
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(file=StringIO(), width=columns(MOST_COLUMNS), color_system=None, legacy_windows=False)
    with console.capture() as laid_out:
        console.print(Markdown(for_terminals(topic), hyperlinks=False))
    return "\n".join(line.rstrip() for line in laid_out.get().splitlines()) + "\n"
