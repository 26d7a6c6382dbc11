"""Programs that start programs: what a command's arguments start, and when they don't reveal it.

The lists are data. `NOT_TOLD` stands for code for an interpreter, a shell's input, or an alias defined elsewhere. If in
doubt, this module reports one command too many, so that a rule asks rather than misses something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise, takewhile
from posixpath import basename
from typing import Final

from acp_tui.client.loading_variables import loading_effect
from acp_tui.client.permissions.shell_lines import ANY, ANY_PART, NOT_TOLD, Words, is_told

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)
_READ_FIRST: Final = re.compile(r"(?:GIT_CONFIG\w*|BASH_ENV|ZDOTDIR|BASH_FUNC_.*)\+?=.*|ENV=.*/.*", re.DOTALL)
_NUMBER: Final = re.compile(r"[\d.]+[smhd]?")
_RESERVED: Final = re.compile(r"[!{]|if|then|elif|else|do|while|until|coproc")
_EXTENSION: Final = re.compile(r"\.(?:exe|com|cmd|bat)\Z", re.IGNORECASE)

_SHELL: Final = re.compile("(ba|da|a|z|k|mk|fi|c|tc|r|o|y)?sh|pwsh|powershell|nu|elvish|xonsh")
_LINE_READER: Final = re.compile(rf"{_SHELL.pattern}|env|npx|script|su|runuser|sg")
"""Programs that take a command line in an option."""
_LINE_OPTION: Final = re.compile(r"(?:-[A-Za-z]*?[cS]|--(?:command|call|split-string)(?:=|\Z))(.*)", re.DOTALL)
_LINE_JOINER: Final = frozenset({"eval", "ssh", "watch", "parallel", "tmux", "hyperfine", "entr"})
"""Programs that join their arguments to a command line."""
_STARTER: Final = re.compile(
    "builtin|bunx|busybox|chroot|command|coproc|doas|env|exec|flock|ionice|nice|nohup|npx|parallel|setsid|ssh|stdbuf"
    "|strace|sudo|time|timeout|unbuffer|unshare|uvx|watch|xargs"
)
"""Programs that start the program named in their arguments."""
_STARTER_ANYWHERE: Final = re.compile(
    "docker|podman|nerdctl|kubectl|oc|lxc|wsl|vagrant|distrobox|toolbox|flatpak|bwrap|firejail|proot|fakeroot|nsenter"
    "|runuser|setpriv|systemd-run|ltrace|valgrind|perf|hyperfine|entr|tmux|screen|dbus-run-session|xvfb-run"
    "|start-stop-daemon|faketime|torsocks|proxychains4?|chrt|taskset|prlimit|tini|dumb-init|gosu|su-exec|runcon|pkexec"
    "|rlwrap|nix|nix-shell|direnv|mise|conda|mamba|micromamba|pixi|rye|hatch|op|doppler|dotenv|aws-vault|chamber|sg"
    "|socat|dbus-launch|gdb|lldb|expect|setarch|linux(32|64)|numactl|cgexec|daemonize|chpst|setuidgid|softlimit"
)
"""The same, for programs with more options and positions before it than we can know."""
_PLACE_FIRST: Final = frozenset({"chroot", "flock", "ssh"})
"""Programs whose first argument is a location."""
_START_COMMANDS: Final = {
    "bun": "x",
    "npm": "exec",
    "pdm": "run",
    "pipenv": "run",
    "pnpm": "exec",
    "poetry": "run",
    "uv": "run",
}
"""Programs with a subcommand that does so."""
_FIND_EXEC: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FILLED: Final = frozenset({"xargs", "parallel", "find", "fd", "fdfind"})
"""Programs that add arguments to what they start, or replace `{}` in them."""
_ALWAYS_NOT_TOLD: Final = frozenset({"at", "batch"})
_READS_INPUT_ALONE: Final = frozenset(
    {"su", "script", "newgrp", "sudo", "doas", "chroot", "unshare", "ssh", "parallel"}
)
"""Shells and similar programs, when their arguments name no command."""

_EDITORS: Final = "n?vim?|vimdiff|view|ex|ed|emacs|kak|hx|gdb|lldb"
_INTERPRETERS: Final = tuple(
    (re.compile(programs), re.compile(code, re.DOTALL))
    for programs, code in (
        (r"python[\d.]*w?|pypy[\d.]*|ipython[\d.]*", "-[A-Za-z]*c.*"),
        (r"perl[\d.]*", "-[A-Za-z0-9]*[eE].*"),
        (
            r"ruby[\d.]*|irb|lua(jit)?[\d.]*|osascript|julia|iex|elixir|erl|R|Rscript|groovy|jshell|scala|clojure|bb"
            r"|ghci?|runghc|guile|racket|sbcl|ocaml|swift|expect|tclsh[\d.]*|wish[\d.]*",
            r"-[A-Za-z]*[eEc].*|--(eval|execute|print).*|eval",
        ),
        (r"node|nodejs|bun|deno|tsx|ts-node", r"-(e|p|pe)|--(eval|print).*|eval"),
        (r"php[\d.]*", "-[rBRE].*"),
        (r"g?make", r"-E.*|--eval.*"),
        (_EDITORS, r"[-+].+"),
        (_SHELL.pattern, "-[A-Za-z]*s[A-Za-z]*"),  # their code is read as a line
    )
)
"""Programs that run a script, and their options for code."""
_FILE_OPTION: Final = re.compile(r"-[A-Za-z]*f|--(?:file|makefile)")
_FILE_IS_INPUT: Final = re.compile(rf"(?:-[A-Za-z]*f|--(?:file|makefile)=)(?:-|/dev/stdin|/dev/fd/.*|.*{ANY}.*)")
_TAKES_VALUE: Final = re.compile(r"[-+][A-Za-z]*[oOWXIrB]|--[a-z-]+")
_NEEDS_NO_SCRIPT: Final = re.compile(rf"g?make|{_EDITORS}")
_SAYS_AND_ENDS: Final = frozenset({"--version", "--help", "-V", "-v", "-h", "-version", "version", "help"})
_INPUT: Final = re.compile(r"-|/dev/(stdin|fd/.*)|/proc/self/fd/.*")
_CODE_OF_TOOLS: Final = (
    (re.compile("[gmn]?awk"), re.compile(r"system|\||@load|-f\s*-")),
    (re.compile("g?sed"), re.compile(r"(?:^|[;{}\n!\d$/,])\s*e(?:\s|$)|[^\w\s-][gpimIM\d]*e[gpimIM\d]*(?:[\s;}]|$)")),
)
"""Tools whose small languages can run a command, and what that looks like."""
_SETS_A_NAME: Final = {"hash": "-p", "enable": "-f", "bind": "-x", "complete": "-C"}
"""Shell builtins that give a program a name, or attach a command to an event."""

_GIT_COMMANDS: Final = """
add am annotate apply archive attributes backfill bisect blame branch bugreport bundle cat-file check-attr
check-ignore check-mailmap check-ref-format checkout checkout-index cherry cherry-pick citool clean clone column
commit commit-graph commit-tree config count-objects credential credential-cache credential-store daemon
describe diagnose diff diff-files diff-index diff-pairs diff-tree difftool fast-export fast-import fetch fetch-
pack filter-branch fmt-merge-msg for-each-ref format-patch fsck gc get-tar-commit-id grep gui hash-object help
history hook http-backend http-fetch http-push imap-send index-pack init init-db instaweb interpret-trailers
last-modified lfs log ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base merge-file
merge-index merge-one-file merge-tree mergetool mktag mktree multi-pack-index mv name-rev notes p4 pack-objects
pack-redundant pack-refs patch-id prune prune-packed pull push quiltimport range-diff read-tree rebase receive-
pack reflog refs remote repack replace replay repo request-pull rerere reset restore rev-list rev-parse revert
rm send-email send-pack shell shortlog show show-branch show-index show-ref sparse-checkout stage stash status
stripspace submodule subtree survey switch symbolic-ref tag unpack-file unpack-objects update-index update-ref
update-server-info upload-archive upload-pack var verify-commit verify-pack verify-tag version whatchanged
worktree write-tree
"""
_GIT_OWN: Final = frozenset(_GIT_COMMANDS.split())
"""No alias can have these names. Any other word may be one."""
_GIT_ALIAS: Final = re.compile(r"alias\.[^=]*", re.IGNORECASE)
_GIT_VALUES: Final = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path"})
"""Options of git followed by a value."""

_GIT_REPEATS: Final = frozenset({"foreach", "run"})
"""The command follows these words in `git submodule foreach` and `git bisect run`."""
_GIT_LINE_OPTION: Final = re.compile(
    r"-[xO](.*)|--(?:exec|extcmd|open-files-in-pager|upload-pack|receive-pack|[a-z]+-filter)(?:=(.*))?", re.DOTALL
)


def program_name(word: str) -> str:
    """The program's name without its folder and extension."""
    return _EXTENSION.sub("", basename(word))


def without_prefixes(words: Words) -> Words:
    """`words` starting at the program, without assignments and reserved words of the shell."""
    if words[:1] == ("function",):
        words = words[2:]
    for at, word in enumerate(words):
        if not (_RESERVED.fullmatch(word) or _ASSIGNMENT.match(word)):
            return words[at:]
    return ()


def sets_what_is_run(words: Words) -> bool:
    """Whether a variable is set that makes a shell or git read more than the line."""
    return any(map(_READ_FIRST.fullmatch, words))


def lines_within(all_words: Words, command: Words, targets: Words) -> Iterator[str]:
    """The lines that a command passes to a shell, in its arguments, on its input, or in variables set for it."""
    for word in all_words:
        assigned = _ASSIGNMENT.fullmatch(word)
        # A pager, an editor, what a shell runs first: their values are all command lines.
        if assigned and " " in assigned[2] and loading_effect(assigned[1]):
            yield assigned[2]
    if not command:
        return
    program, arguments = program_name(command[0]), command[1:]
    if _SHELL.fullmatch(program):
        yield from targets  # `<<< "..."`
    if program in _LINE_JOINER:
        yield " ".join(arguments)
        if program == "ssh":
            yield from (" ".join(arguments[at:]) for at in range(1, min(len(arguments), 8)))
    if program == "trap" and arguments:
        yield arguments[arguments[0] == "--" :][0] if len(arguments) > 1 else arguments[0]
    if program in ("alias", "parallel") or _STARTER_ANYWHERE.fullmatch(program):
        yield from (word.partition("=")[2] if program == "alias" else word for word in arguments if " " in word)
    if _LINE_READER.fullmatch(program):
        yield from _lines_of_options(program, arguments)
    if program == "git":
        yield from _lines_for_git(arguments)
        yield from (line[1:] if line[:1] == "!" else f"git {line}" for line in _git_aliases(arguments))


def _lines_of_options(program: str, arguments: Words) -> Iterator[str]:
    before = "env " if program == "env" else ""  # its line may begin with options and assignments
    is_awaited = False
    for word in arguments:
        if word.startswith("-"):
            option = _LINE_OPTION.fullmatch(word)
            is_awaited = is_awaited or option is not None
            if option and option[1]:
                yield before + option[1]
        elif is_awaited:
            yield before + word
            is_awaited = False


def _git_aliases(arguments: Words) -> Iterator[str]:
    """The commands of aliases that are given in an option or set for later."""
    for word, value in pairwise((*arguments, "")):
        name, equals, text = word.removeprefix("-c").partition("=")
        if _GIT_ALIAS.fullmatch(name):
            yield text if equals else value


def _lines_for_git(arguments: Words) -> Iterator[str]:
    """The lines that git passes to a shell: in options, in settings, and in subcommands that repeat a command."""
    for at, (word, value) in enumerate(pairwise((*arguments, ""))):
        option = _GIT_LINE_OPTION.fullmatch(word)
        if option:
            yield option[1] or option[2] or value
        elif word == "-c" or word.startswith("--config="):
            yield (value if word == "-c" else word).rpartition("=")[2]
        elif word in _GIT_REPEATS:
            yield from (" ".join(arguments[after:]) for after in range(at + 1, min(at + 4, len(arguments))))
        elif word == "for-each-repo":
            yield f"git {' '.join(each for each in arguments[at + 1 :] if not each.startswith('-'))}"
        elif word == "config":
            yield from (each for each in arguments[at + 1 :] if " " in each)


def started_by(program: str, arguments: Words) -> Iterator[Words]:
    """The programs named in a command's arguments, or NOT_TOLD if it runs something that they don't reveal."""
    program = program_name(program)
    if _runs_something_unread(program, arguments):
        yield NOT_TOLD
    if program == "find" or program.startswith("fd"):
        begins = _FIND_EXEC if program == "find" else ("-x", "-X", "--exec", "--exec-batch")
        yield from (_filled(program, arguments[at + 1 :]) for at, word in enumerate(arguments) if word in begins)
    if program.startswith("git-"):
        yield ("git", program.removeprefix("git-"), *arguments)
    if program == "git" and _git_command(arguments) not in _GIT_OWN:
        yield ("git", ANY)
    if _STARTER_ANYWHERE.fullmatch(program):
        yield from islice((arguments[at:] for at, word in enumerate(arguments) if word[:1] != "-"), 50)
    start_command = _START_COMMANDS.get(program)
    if start_command in arguments:
        arguments = arguments[arguments.index(start_command) + 1 :]
    elif not _STARTER.fullmatch(program):
        return
    arguments = _filled(program, arguments)
    while arguments:
        options = [*takewhile(_is_no_program, arguments)]
        yield (rest := arguments[len(options) :])
        if program in _PLACE_FIRST:
            yield rest[1:]
        # What follows an option may be its value, and then the program comes next.
        arguments = rest[1:] if options and options[-1].startswith("-") else ()


def _is_no_program(word: str) -> bool:
    return word.startswith("-") or bool(_ASSIGNMENT.match(word) or _NUMBER.fullmatch(word))


def _filled(program: str, arguments: Words) -> Words:
    """The arguments plus what the program inserts for placeholders and appends, marked as unknown."""
    if program not in _FILLED:
        return arguments
    places = {"{}"}
    for word, value in pairwise((*arguments, "")):
        if word in ("-I", "-J", "--replace"):
            places.add(value)
        elif word.startswith(("-I", "-J", "--replace=")):
            places.add(word.removeprefix("--replace=").removeprefix("-I").removeprefix("-J"))
    places.discard("")
    filled = (ANY + word if any(place in word for place in places) else word for word in arguments)
    return (*filled, ANY)


def _git_command(arguments: Words) -> str:
    """The first word that is neither an option nor an option's value; `--version` and the like if there isn't one."""
    is_value = False
    for word in arguments:
        if not is_value and (not word.startswith("-") or not is_told(word)):
            return word
        is_value = not is_value and word in _GIT_VALUES
    return "version"


def _runs_something_unread(program: str, arguments: Words) -> bool:
    if program in _ALWAYS_NOT_TOLD or _SETS_A_NAME.get(program) in arguments:
        return True
    if program == "crontab":
        return not any(word in ("-l", "-r") for word in arguments)
    if program in _READS_INPUT_ALONE:
        named = [word for word in arguments if not _is_no_program(word)]
        return len(named) <= (program in _PLACE_FIRST) and _SAYS_AND_ENDS.isdisjoint(arguments)
    if program in ("source", "."):
        return not arguments or _may_be_input(arguments[0])
    for tools, code in _CODE_OF_TOOLS:
        if tools.fullmatch(program):
            return any(code.search(word[:_MAX_CODE]) or len(word) > _MAX_CODE for word in arguments if word[:2] != "-e")
    return any(
        _interprets_unread(program, arguments, code) for programs, code in _INTERPRETERS if programs.fullmatch(program)
    )


_MAX_CODE: Final = 10_000
"""Characters of a tool's program to check."""


def _interprets_unread(program: str, arguments: Words, code: re.Pattern[str]) -> bool:
    """Whether an interpreter gets code in an option or on its input."""
    if any(_FILE_OPTION.fullmatch(word) and _may_be_input(value) for word, value in pairwise((*arguments, ""))):
        return True
    is_shell = _SHELL.fullmatch(program) is not None
    for at, word in enumerate(arguments):
        if code.fullmatch(word) or _INPUT.fullmatch(word) or _FILE_IS_INPUT.fullmatch(word):
            return True
        if is_shell and _LINE_OPTION.fullmatch(word):
            return False  # read as a line
        if word in ("-m", "--module"):
            return False
        if not word.startswith(("-", "+")):
            # The last word after such an option may be its value rather than a script.
            is_value = at > 0 and at + 1 == len(arguments) and not re.search("[./]", word)
            return _may_be_input(word) or (is_value and _TAKES_VALUE.fullmatch(arguments[at - 1]) is not None)
    return not _NEEDS_NO_SCRIPT.fullmatch(program) and _SAYS_AND_ENDS.isdisjoint(arguments)


def _may_be_input(word: str) -> bool:
    """Whether a file with this name may be the program's input, or a pipe."""
    return (
        _INPUT.fullmatch(word) is not None
        or ANY in word
        or (ANY_PART in word and "/" not in word.rpartition(ANY_PART)[2])
    )
