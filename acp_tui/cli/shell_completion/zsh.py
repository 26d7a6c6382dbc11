"""The script for zsh: to be sourced behind compinit, or to stand in fpath as `_acp-tui`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from acp_tui.cli.command_line import Command, Kind, Option, Value
from acp_tui.cli.shell_completion.offers import LISTED, named, options_of

SCRIPT: Final = r"""#compdef acp-tui
# zsh completion for acp-tui, made by `acp-tui completion zsh`

# The last argument says which names; those before it are how zsh wants them shown.
_acp_tui_names() {
    local -a names=(${(f)"$(acp-tui completion ${@[-1]} 2>/dev/null)"})
    compadd "${@[1,-2]}" -a names
}

_acp_tui_commands() {
    local -a commands=(
@NAMES@
    )
    _describe command commands "$@"
}

_acp_tui_first() {
    _alternative 'commands:command:_acp_tui_commands' @FIRST@
}

_acp_tui() {
    local command= separator=${words[(i)--]}
    if (( separator < CURRENT )); then
        # The agent's own command line.
        words=("${(@)words[separator + 1, -1]}")
        (( CURRENT -= separator ))
        _normal
        return
    fi
    if (( CURRENT > 2 )); then
        case ${words[2]} in
            @COMMANDS@)
                command=${words[2]}
                shift words
                (( CURRENT-- )) ;;
        esac
    fi
    case $command in
@CASES@
    esac
}

if [[ $funcstack[1] == _acp-tui ]]; then
    _acp_tui "$@"
else
    compdef _acp_tui acp-tui
fi
"""
ACTIONS: Final = {Kind.TEXT: " ", Kind.FOLDER: "_files -/", Kind.FILE: "_files"}


def script(commands: Sequence[Command[Any]]) -> str:
    """The whole of it."""
    nameless = next(command for command in commands if not command.name)
    first = f"agents:{nameless.word.name}:{_action(nameless.word)}" if nameless.word is not None else ""
    return (
        SCRIPT.replace("@NAMES@", "\n".join(f"        {_name(command)}" for command in named(commands)))
        .replace("@FIRST@", _quoted(first))
        .replace("@COMMANDS@", " | ".join(command.name for command in named(commands)))
        .replace("@CASES@", "\n".join(map(_case, commands)))
    ).rstrip()


def _name(command: Command[Any]) -> str:
    return _quoted(f"{command.name}:{command.about}")


def _case(command: Command[Any]) -> str:
    specs = [spec for option in options_of(command) for spec in _option(option)]
    if not command.name:
        specs.append(_quoted("1: :_acp_tui_first"))
    elif command.word is not None:
        specs.append(_quoted(f"1:{command.word.name}:{_action(command.word)}"))
    lines = " \\\n                ".join(["_arguments", *specs])
    return f"        {_quoted(command.name)})\n            {lines} ;;"


def _option(option: Option) -> Iterator[str]:
    """One specification for each flag, which shuts out the others."""
    about = option.about.replace("[", r"\[").replace("]", r"\]").replace(":", r"\:")
    for flag in option.flags:
        value = ""
        if option.value is not None:
            optional = ":" if option.value_when_bare is not None else ""
            value = f":{optional}{option.value.name}:{_action(option.value)}"
        takes = "=" if value and flag.startswith("--") else ""
        yield _quoted(f"({' '.join(option.flags)}){flag}{takes}[{about}]{value}")


def _action(value: Value) -> str:
    if value.choices:
        return f"({' '.join(value.choices)})"
    if value.kind in LISTED:
        return f"_acp_tui_names {LISTED[value.kind]}"
    return ACTIONS[value.kind]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
