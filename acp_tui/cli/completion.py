"""`acp-tui completion`: what a shell offers for the typed words, and the script with which each shell asks.

At each Tab, a shell calls `acp-tui completion SHELL -- WORD...` with the words after `acp-tui`, the one before the
cursor last. The answer has one offer per line, after `:files` in addition to files; or it is `:folders`, or
`:behind N`: the last N words are a command line of their own, the agent's. The user waits for it, so it only loads the
command table. Users install the script themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from acp_tui.cli.command import CliCommand, Late, Option, UsageError, Value, ValueKind
from acp_tui.cli.commands import ALWAYS, COMMANDS, NAMELESS, SHELLS, command_named, split_command

if TYPE_CHECKING:
    import acp_tui.cli.hosts
    import acp_tui.cli.sessions
    import acp_tui.client.agents.catalogue
    import acp_tui.demo
    from acp_tui.cli.arguments import Args
else:
    acp_tui = Late("acp_tui")

PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+@-]*")
"""Shells expand what they're offered, so only plain names are offered."""
FILES: Final = ":files"
FOLDERS: Final = ":folders"
BEHIND: Final = ":behind"
BASH: Final = r"""# bash completion for acp-tui, made by `acp-tui completion bash`
_acp_tui() {
    local IFS=$'\n' current=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=($(acp-tui completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    [[ $current != "=" ]] || current=
    case ${COMPREPLY[0]} in
        :folders)
            compopt -o filenames 2>/dev/null
            COMPREPLY=($(compgen -d -- "$current")) ;;
        ":behind 1")
            COMPREPLY=($(compgen -c -- "$current")) ;;
        :*)
            compopt -o filenames 2>/dev/null
            COMPREPLY=($(compgen -f -- "$current") $(compgen -W "${COMPREPLY[*]:1}" -- "$current")) ;;
        *)
            COMPREPLY=($(compgen -W "${COMPREPLY[*]}" -- "$current")) ;;
    esac
}
complete -F _acp_tui acp-tui"""

ZSH: Final = r"""#compdef acp-tui
# zsh completion for acp-tui, made by `acp-tui completion zsh`
_acp_tui() {
    local -a offers=("${(@f)$(acp-tui completion zsh -- "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
    if [[ $offers[1] == :behind* ]]; then
        local count=${offers[1]#:behind }
        words=("${(@)words[CURRENT-count+1,-1]}")
        CURRENT=$count
        _normal
        return
    fi
    [[ $PREFIX != --*=* ]] || compset -P '*='
    case $offers[1] in
        :files)
            _files
            offers=("${(@)offers[2,-1]}")
            (( $#offers )) && _describe acp-tui offers ;;
        :folders) _files -/ ;;
        ?*) _describe acp-tui offers ;;
    esac
}
if [[ $funcstack[1] == _acp-tui ]]; then
    _acp_tui "$@"
else
    compdef _acp_tui acp-tui
fi"""

FISH: Final = r"""# fish completion for acp-tui, made by `acp-tui completion fish`
function __acp_tui
    set -l words (commandline -opc) (commandline -ct)
    set -l offers (acp-tui completion fish -- $words[2..-1] 2>/dev/null)
    switch "$offers[1]"
        case :files
            __fish_complete_path "$words[-1]"
            for offer in $offers[2..-1]
                echo $offer
            end
        case :folders
            __fish_complete_directories "$words[-1]"
        case ':behind *'
            set -l first (string replace ':behind ' - -- $offers[1])
            set -l behind (string escape -- $words[$first..-1])
            set behind[-1] $words[-1]
            complete -C "$behind"
        case '*'
            printf '%s\n' $offers
    end
end
complete -c acp-tui -f -a '(__acp_tui)'"""

SCRIPTS: Final = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def run(args: Args) -> int:
    if args.word not in SCRIPTS:
        raise UsageError(f"no completion for {args.word}: choose bash, zsh, or fish")
    print(SCRIPTS[args.word])
    return 0


def complete(shell: str, words: Sequence[str]) -> int:
    between = _BEFORE_ABOUT.get(shell)
    for value, about in offers(shell, words):
        print(f"{value}{between}{about}" if between and about else value)
    return 0


class Completion(NamedTuple):
    value: str
    about: str = ""


def offers(shell: str, words: Sequence[str]) -> Iterator[Completion]:
    """Yield the possible completions of the last word after `acp-tui`."""
    *before, current = words or ("",)
    if shell == "bash":  # it splits --option=value into three words
        before, current = [word for word in before if word != "="], "" if current == "=" else current
    if "--" in before:
        yield Completion(f"{BEHIND} {len(before) - before.index('--')}")
        return
    command, before = split_command(before)
    option = _option_of_value(command, before)
    flag, equals, _ = current.partition("=")
    if option is not None:
        yield from _of_value(option.value)
    elif equals and flag.startswith("--"):
        option = _with_flag(command, flag)
        start = f"{flag}=" if shell == "fish" else ""
        for offer in _of_value(option.value) if option is not None else ():
            yield offer if offer.value.startswith(":") else Completion(start + offer.value, offer.about)
    elif current.startswith("-"):
        for option in (*command.options, *ALWAYS):
            yield from (Completion(each, option.about) for each in option.flags)
    elif not _has_word(command, before):
        yield from _of_value(command.word)
        if command is NAMELESS:
            yield from (Completion(each.name, each.about) for each in COMMANDS if each.name)


def _with_flag(command: CliCommand, flag: str) -> Option | None:
    return next((option for option in command.options if flag in option.flags and option.value), None)


def _option_of_value(command: CliCommand, before: Sequence[str]) -> Option | None:
    option = None
    for word in before:
        option = None if option is not None else _with_flag(command, word)
    return option


def _has_word(command: CliCommand, before: Sequence[str]) -> bool:
    is_value = False
    for word in before:
        if not is_value and not word.startswith("-"):
            return True
        is_value = not is_value and _with_flag(command, word) is not None
    return False


def _of_value(value: Value | None) -> Iterator[Completion]:
    if value is None:
        return
    match value.kind:
        case _ if value.choices:
            yield from map(Completion, value.choices)
        case ValueKind.FILE | ValueKind.NEW_FILE:
            yield Completion(FILES)
        case ValueKind.RECORDING | ValueKind.SOURCE:
            yield Completion(FILES)
            yield from _plain_names(ValueKind.SESSION)
        case ValueKind.FOLDER:
            yield Completion(FOLDERS)
        case ValueKind.TOPIC:
            from acp_tui.docs import topics  # loaded on demand

            yield from (Completion(each.name, each.about) for each in COMMANDS if each.name)
            yield from (Completion(name, title) for name, title in topics().items() if not command_named(name))
        case _:
            yield from _plain_names(value.kind)


def _plain_names(kind: ValueKind) -> list[Completion]:
    return [Completion(name, about) for name, about in names_of(kind).items() if PLAIN_NAME.fullmatch(name)]


def names_of(kind: ValueKind) -> Mapping[str, str]:
    """Return the names of this kind that there are on this machine, and what each is."""
    match kind:
        case ValueKind.AGENT:
            agents = acp_tui.client.agents.catalogue.read_catalogue().agents
            return {agent.name: agent.title for agent in agents if agent.offer or not agent.obstacle}
        case ValueKind.SCENARIO:
            return dict.fromkeys(acp_tui.demo.names(), "")
        case ValueKind.SESSION:
            return acp_tui.cli.sessions.names()
        case ValueKind.HOST | ValueKind.HOSTED:
            return acp_tui.cli.hosts.names(with_sessions=kind is ValueKind.HOSTED)
        case _:
            return {}


_BEFORE_ABOUT: Final = {"zsh": ":", "fish": "\t"}
"""What is between a value and what it means, in shells that show that."""
assert set(SCRIPTS) == set(SHELLS)
