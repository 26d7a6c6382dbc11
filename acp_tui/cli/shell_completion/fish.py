"""The script for fish."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from acp_tui.cli.command_line import Command, Kind, Option, Value
from acp_tui.cli.shell_completion.offers import LISTED, named, options_of

HEAD: Final = """\
# fish completion for acp-tui, made by `acp-tui completion fish`

# Our command before the cursor: "" where no command of ours stands there, "behind --" behind that.
function __acp_tui_command
    set -l words (commandline -opc)
    if contains -- -- $words
        echo behind --
    else if set -q words[2]; and contains -- $words[2] @NAMES@
        echo $words[2]
    end
end

function __acp_tui_in
    set -l command (__acp_tui_command)
    test "$command" = "$argv[1]"
end

# Whether nothing but the command, and options, stands before the cursor.
function __acp_tui_is_first
    __acp_tui_in "$argv[1]"; or return
    set -l words (commandline -opc)
    set -e words[1]
    test -n "$argv[1]"; and set -e words[1]
    set -l takes_value @VALUES@
    set -l is_value no
    for word in $words
        if test $is_value = yes
            set is_value no
        else if contains -- $word $takes_value
            set is_value yes
        else if not string match -q -- '-*' $word
            return 1
        end
    end
    true
end

# The agent's own command line.
function __acp_tui_behind
    set -l words (commandline -opc)
    set -e words[1..(contains -i -- -- $words)]
    set -l current (commandline -ct)
    complete -C (string join ' ' -- (string escape -- $words) "$current")
end

complete -c acp-tui -f
complete -c acp-tui -n '__acp_tui_in "behind --"' -a '(__acp_tui_behind)'
"""


def script(commands: Sequence[Command[Any]]) -> str:
    """The whole of it, to be sourced."""
    values = (
        flag
        for command in commands
        for option in command.options
        if option.value is not None and option.value_when_bare is None
        for flag in option.flags
    )
    head = HEAD.replace("@NAMES@", " ".join(command.name for command in named(commands)))
    lines = [
        f"complete -c acp-tui -n '__acp_tui_is_first \"\"' -a {command.name} -d {_quoted(command.about)}"
        for command in named(commands)
    ]
    lines += [line for command in commands for line in _lines(command)]
    return "\n".join([head.replace("@VALUES@", " ".join(dict.fromkeys(values))), *lines])


def _lines(command: Command[Any]) -> Iterator[str]:
    name = command.name or '""'
    if command.word is not None:
        yield f"complete -c acp-tui -n '__acp_tui_is_first {name}'{_offer(command.word)}"
    for option in options_of(command):
        yield f"complete -c acp-tui -n '__acp_tui_in {name}'{_option(option)}"


def _option(option: Option) -> str:
    flags = "".join(
        f" -l {flag.removeprefix('--')}" if flag.startswith("--") else f" -s {flag.removeprefix('-')}"
        for flag in option.flags
    )
    value = ""
    if option.value is not None and option.value_when_bare is None:
        # -x would keep files away.
        needed = "-r" if option.value.kind is Kind.FILE else "-x"
        value = f" {needed}{_offer(option.value)}"
    return f"{flags} -d {_quoted(option.about)}{value}"


def _offer(value: Value) -> str:
    """What is offered; nothing for a free text."""
    if value.choices:
        return f" -a {_quoted(' '.join(value.choices))}"
    match value.kind:
        case Kind.TEXT:
            return ""
        case Kind.FILE:
            return " -F"
        case Kind.FOLDER:
            return " -a '(__fish_complete_directories)'"
        case kind:
            return f" -a '(acp-tui completion {LISTED[kind]} 2>/dev/null)'"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
