"""The script for bash, from 3.2 (that of macOS) on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from acp_tui.cli.command_line import Command, Kind, Value
from acp_tui.cli.shell_completion.offers import LISTED, named, options_of, values_of

SCRIPT: Final = r"""# bash completion for acp-tui, made by `acp-tui completion bash`

_acp_tui_offer() {
    local IFS=$'\n'
    case $1 in
        folder)
            compopt -o filenames 2>/dev/null
            COMPREPLY=($(compgen -d -- "$2")) ;;
        file)
            compopt -o filenames 2>/dev/null
            COMPREPLY=($(compgen -f -- "$2")) ;;
        agents | scenarios)
            COMPREPLY=($(compgen -W "$(acp-tui completion "$1" 2>/dev/null)" -- "$2")) ;;
        *)
            COMPREPLY=($(compgen -W "${1// /$'\n'}" -- "$2")) ;;
    esac
}

# What stands behind an option of a command; nothing behind a switch.
_acp_tui_value() {
    value=
    case "$1 $2" in
@VALUES@
        *) return 1 ;;
    esac
}

_acp_tui() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local command= value= options= word= has_word= at=1
    COMPREPLY=()
    # --option=value comes as three words.
    if [[ $current == "=" ]]; then
        current=
    elif [[ $before == "=" ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if ((COMP_CWORD > 1)); then
        case ${COMP_WORDS[1]} in
            @NAMES@) command=${COMP_WORDS[1]} at=2 ;;
        esac
    fi
    for (( ; at < COMP_CWORD; at++)); do
        if [[ ${COMP_WORDS[at]} == "--" ]]; then
            # The agent's own command line: a program, then what may be its files.
            if ((at + 1 == COMP_CWORD)); then
                COMPREPLY=($(compgen -c -- "$current"))
            else
                _acp_tui_offer file "$current"
            fi
            return
        elif _acp_tui_value "$command" "${COMP_WORDS[at]}"; then
            ((at++))
            [[ ${COMP_WORDS[at]} == "=" ]] && ((at++))
        elif [[ ${COMP_WORDS[at]} != -* ]]; then
            has_word=yes
        fi
    done
    if _acp_tui_value "$command" "$before"; then
        [[ -n $value ]] && _acp_tui_offer "$value" "$current"
        return
    fi
    case $command in
@COMMANDS@
    esac
    if [[ $current == -* ]]; then
        _acp_tui_offer "$options" "$current"
    elif [[ -z $has_word && -n $word ]]; then
        _acp_tui_offer "$word" "$current"
        # Without a command, it may be one as well.
        [[ -n $command ]] || COMPREPLY+=($(compgen -W "@WORDS@" -- "$current"))
    fi
}

complete -F _acp_tui acp-tui
"""


def script(commands: Sequence[Command[Any]]) -> str:
    """The whole of it, to be sourced."""
    names = [command.name for command in named(commands)]
    return (
        SCRIPT.replace("@VALUES@", "\n".join(_value_cases(commands)))
        .replace("@COMMANDS@", "\n".join(map(_command_case, commands)))
        .replace("@NAMES@", " | ".join(names))
        .replace("@WORDS@", " ".join(names))
    ).rstrip()


def _value_cases(commands: Sequence[Command[Any]]) -> list[str]:
    return [
        f"        {_patterns(command.name, option.flags)}) value={_quoted(_offer(value))} ;;"
        for command in commands
        for option, value in values_of(command)
    ]


def _patterns(command: str, flags: Sequence[str]) -> str:
    return " | ".join(f'"{command} {flag}"' for flag in flags)


def _command_case(command: Command[Any]) -> str:
    options = " ".join(flag for option in options_of(command) for flag in option.flags)
    word = _offer(command.word) if command.word is not None else ""
    return f"        {_quoted(command.name)}) options={_quoted(options)} word={_quoted(word)} ;;"


def _offer(value: Value) -> str:
    """What `_acp_tui_offer` calls it, or else the words themselves; empty for a free text."""
    if value.choices:
        return " ".join(value.choices)
    return "" if value.kind is Kind.TEXT else LISTED.get(value.kind, value.kind.value)


def _quoted(text: str) -> str:
    return f'"{text}"'
