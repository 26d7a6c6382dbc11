"""Generates the help: the overview, a command's help, and the man page.

It reads the command table, and loads neither the parser nor any command.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

import acp_tui
from acp_tui.cli.command import CliCommand, Option
from acp_tui.cli.commands import ALWAYS, COMMANDS, NAMELESS
from acp_tui.docs import topics

MAX_COLUMNS: Final = 100
MIN_COLUMNS: Final = 40
MIN_ROOM: Final = 28
"""The least columns for a description next to a name. With fewer, it goes below."""
AGENT: Final = "AGENT is a name from `acp-tui agents`, or -- and any command that speaks ACP on its stdio."


def overview() -> str:
    usage = f"usage: acp-tui {NAMELESS.shown} [OPTIONS]\n       acp-tui COMMAND [OPTIONS]\n"
    width = max(len(command.name) for command in COMMANDS)
    parts = [usage]
    for group, commands in _groups():
        rows = [(command.name or "AGENT", command.about) for command in commands]
        parts.append(f"{group}:\n{table(rows, width)}")
    parts.append(f"Options:\n{_options(NAMELESS)}")
    more = f"Topics: {', '.join(topics())}.\n\nFor more on a command or topic: acp-tui help NAME\n"
    return "\n".join((*parts, _paragraphs(AGENT), _examples(NAMELESS), _paragraphs(more)))


def help_of(command: CliCommand) -> str:
    usage = f"usage: acp-tui {command.shown} [OPTIONS]\n"
    agent = _paragraphs(AGENT) if command.takes_agent else ""
    about, notes = _paragraphs(_sentence(command.about)), _paragraphs(command.notes)
    return "\n".join(part for part in (usage, about, _options(command), agent, notes, _examples(command)) if part)


def _options(command: CliCommand) -> str:
    rows = [(option.shown, option.about) for option in (*command.options, *ALWAYS)]
    return table(rows, max(len(name) for name, _ in rows))


def _examples(command: CliCommand) -> str:
    return "Examples:\n" + "".join(f"  {line}\n" for line in command.examples)


def _groups() -> Iterator[tuple[str, Iterable[CliCommand]]]:
    return groupby(COMMANDS, lambda command: command.group)


def _sentence(about: str) -> str:
    return f"{about[:1].upper()}{about[1:]}."


def columns() -> int:
    return max(MIN_COLUMNS, min(shutil.get_terminal_size().columns, MAX_COLUMNS)) - 1


def _paragraphs(text: str) -> str:
    """Wrap text to the terminal, except indented lines."""
    wrapped = (
        part.rstrip()
        if part.startswith(" ")
        else textwrap.fill(part, columns(), break_on_hyphens=False, break_long_words=False)
        for part in text.split("\n\n")
    )
    return "".join(f"{part}\n" for part in "\n\n".join(wrapped).rstrip().splitlines())


def table(rows: Sequence[tuple[str, str]], width: int) -> str:
    """Return names with their descriptions next to them, or below if a name is wider or there's too little room."""
    is_narrow = columns() - width - 4 < MIN_ROOM
    margin = " " * (6 if is_narrow else width + 4)
    lines = []
    for name, about in rows:
        text = textwrap.fill(about, columns(), initial_indent=margin, subsequent_indent=margin)
        is_below = is_narrow or len(name) > width
        lines.append(f"  {name}\n{text}" if is_below else f"  {name:<{width}}  {text[len(margin) :]}")
    return "".join(f"{line}\n" for line in lines)


# The man page


def man_page() -> str:
    """Return the page `acp-tui.1` for man(7)."""
    parts = [
        f'.TH ACP\\-TUI 1 "" "acp\\-tui {acp_tui.__version__}"',
        ".SH NAME",
        r"acp\-tui \- a terminal client for coding agents that speak the Agent Client Protocol",
        ".SH SYNOPSIS",
        ".B acp\\-tui\n[\\fIAGENT\\fR] [\\fIPROMPT\\fR] [\\fIOPTIONS\\fR]\n.br",
        ".B acp\\-tui\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]",
        ".SH DESCRIPTION",
        _roff(AGENT),
        *map(_roff_option, ALWAYS),
    ]
    for group, commands in _groups():
        parts.append(f".SH {_roff(group.upper())}")
        for command in commands:
            parts += [f".SS {_roff(f'acp-tui {command.shown}')}", _roff(_sentence(command.about))]
            parts += map(_roff_option, command.options)
            parts += (_roff_note(note) for note in command.notes.rstrip().split("\n\n") if note)
            parts.append(_roff_note("\n".join(f"  {line}" for line in command.examples)))
    parts += [".SH SEE ALSO", _roff(f"acp-tui help TOPIC, where TOPIC is one of {', '.join(topics())}.")]
    return "\n".join(parts) + "\n"


def _roff_option(option: Option) -> str:
    return f".TP\n.B {_roff(option.shown)}\n{_roff(_sentence(option.about))}"


def _roff_note(note: str) -> str:
    if note.startswith(" "):
        return f".PP\n.nf\n{_roff(note)}\n.fi"
    return f".PP\n{_roff(note)}"


def _roff(text: str) -> str:
    """Escape text for man(7), so that nothing in it is a macro or an escape."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in plain.splitlines())
