"""The command line as plain data: every command, its options, and the function that runs it.

The parser, the help, the man page, and shell completion read this table. It loads no commands. `workbench` has its own
rows, which are here only as long as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from acp_tui.cli.command import (
    AGENT,
    CHOOSING,
    LOOK_BACK,
    PROTOCOL,
    RECORDING,
    SANDBOX,
    SOURCE,
    SOURCE_NOTE,
    SPEED,
    SYSTEM_PROMPT,
    WORDS,
    CliCommand,
    Late,
    Option,
    Value,
    ValueKind,
    output_format,
)

try:
    from acp_tui.workbench.command_table import COMMANDS as _FOR_AUTHORS
except ModuleNotFoundError as error:
    if error.name != "acp_tui.workbench":
        raise
    _FOR_AUTHORS = ()

if TYPE_CHECKING:
    import acp_tui.cli.agents
    import acp_tui.cli.attach
    import acp_tui.cli.completion
    import acp_tui.cli.doctor
    import acp_tui.cli.exec_start
    import acp_tui.cli.host
    import acp_tui.cli.hosts
    import acp_tui.cli.reference
    import acp_tui.cli.replay
    import acp_tui.cli.schemas
    import acp_tui.cli.sessions
    import acp_tui.cli.start
else:
    acp_tui = Late("acp_tui")

SCHEMAS: Final = ("agents", "check", "demo", "doctor", "exec", "hosts", "keys", "rules", "sessions", "settings")
SHELLS: Final = ("bash", "zsh", "fish")
DOCTORS_PROMPT: Final = "Reply with the one word: ready. Use no tools."

_NEEDS_AGENT = "an agent: a name, or -- COMMAND"
_AGENT_NAME = Value("NAME", ValueKind.AGENT)
_SESSION = Value("ID", ValueKind.SESSION)
_HOST = Value("NAME", ValueKind.HOST)
_FILE = Value("FILE", ValueKind.FILE)
_SECONDS = Value("S", ValueKind.NUMBER)
_CWD = Option(("--cwd",), "the folder to work in (default: this one)", Value("DIR", ValueKind.FOLDER), ".")
_PLAIN = Option(("--plain",), "print lines instead of drawing a screen")
_RESUME = Option(("--resume",), "reopen this folder's last session, or the one named", _SESSION, value_when_bare="")
_CONTINUE = Option(
    ("--resume",), "continue the agent's last session in this folder, or the one named", _SESSION, value_when_bare=""
)
_WORKTREE = Option(("--worktree",), "work in a new git worktree of the folder", Value("NAME"), value_when_bare="")
_RUN_OPTIONS = (_CWD, _WORKTREE, _RESUME, _PLAIN, *CHOOSING, SYSTEM_PROMPT, SANDBOX, PROTOCOL, *RECORDING)
_MAX_WAIT = Option(("--max-wait",), "shorten pauses to this many seconds (default: 2)", _SECONDS, 2.0)
_SESSIONS_NOTES = """\
WORDS searches titles, prompts, and replies.

  acp-tui --resume ID           continues one
  acp-tui render ID -o FILE.md  writes one to a file
"""
_HOST_NOTES = """\
A host listens on a Unix socket that only you can use, and ends with its last
session. With --resume ID, the agent may be left out: it's the recorded one.
Over TCP, a client sends a token, from a file that only you can read or from
ACP_TUI_HOST_TOKEN. Beyond this machine, TLS is required.
"""
_ATTACH_NOTES = """\
ID is a host's name, or a session's ID or the beginning of one. You can leave
it out if there is only one session. wss://HOST:PORT attaches to a host on
another machine, with its token in ACP_TUI_HOST_TOKEN; if it has several
sessions, wss://HOST:PORT#ID names one.
"""
_EXEC_NOTES = """\
Exits with 0 when the turn is done, 1 on an error, 2 on a usage error, 3 if the agent refused, 4 if it reached a \
limit, 5 if a permission was rejected, 6 if it needs a login, 7 if the agent died or broke the protocol, 126 or 127 \
if its command can't be run or found, and 130 if the turn was canceled.
"""
_DOCTOR_NOTES = """\
The report leaves out secrets, so you can paste it into an issue.

Exits with 0 when everything is ready, 1 when something is wrong, 6 if the agent needs a login, 7 if it died or broke \
the protocol, and 126 or 127 if its command can't be run or found.
"""
_MOMENTS = """\
MOMENT is a number of events (120), a time (12.5s, 1:05), or "question": the first permission request.
"""
_COMPLETION_NOTES = """\
Add the line of your shell to ~/.bashrc, to ~/.zshrc after compinit, or to config.fish.
"""

_WORK: Final = "Work with an agent"
_LOOK_UP: Final = "Look things up"

COMMANDS: Final[tuple[CliCommand, ...]] = (
    CliCommand(
        "",
        "work with an agent",
        acp_tui.cli.start.run,
        AGENT,
        options=_RUN_OPTIONS,
        examples=('acp-tui claude "Fix the tests"', 'acp-tui "Fix it" -- npx -y @google/gemini-cli --acp'),
        takes_prompt=True,
        group=_WORK,
    ),
    CliCommand(
        "run",
        "work with an agent, even one named like a command",
        acp_tui.cli.start.run,
        AGENT,
        _NEEDS_AGENT,
        _RUN_OPTIONS,
        examples=("acp-tui run claude --sandbox", 'acp-tui run check "Say hello"'),
        takes_prompt=True,
        group=_WORK,
    ),
    CliCommand(
        "exec",
        "run one turn without a screen",
        acp_tui.cli.exec_start.run,
        AGENT,
        takes_prompt=True,
        needs=_NEEDS_AGENT,
        options=(
            _CWD,
            Option(("--prompt", "-p"), "the prompt (default: read stdin)", Value("TEXT")),
            output_format("text", "ndjson", about="the agent's message, or everything that happens as lines of JSON"),
            Option(("--raw",), "with ndjson, also print each message of the agent's as received"),
            Option(
                ("--allow-unasked",),
                "allow what it does in the folder through acp-tui without asking: write, run, or write,run",
                Value("KINDS", choices=("write", "run", "write,run"), is_closed=False),
            ),
            _CONTINUE,
            *CHOOSING,
            SYSTEM_PROMPT,
            SANDBOX,
            PROTOCOL,
            *RECORDING,
        ),
        examples=(
            'acp-tui exec claude "What does this project do?"',
            'acp-tui exec claude "And its tests?" --resume',
            'git diff | acp-tui exec gemini -p "Review this change"',
        ),
        notes=_EXEC_NOTES,
        group=_WORK,
    ),
    CliCommand(
        "host",
        "keep an agent running in the background",
        acp_tui.cli.host.run,
        AGENT,
        options=(
            _CWD,
            _CONTINUE,
            SYSTEM_PROMPT,
            SANDBOX,
            Option(("--stop",), "stop the host with this name, or all hosts", _HOST, value_when_bare=""),
            Option(("--listen",), "listen on TCP, too; clients need a token", Value("HOST:PORT")),
            Option(("--tls-cert",), "the certificate, in PEM format", _FILE),
            Option(("--tls-key",), "the certificate's key", _FILE),
            Option(("--foreground",), "stay in the foreground"),
        ),
        examples=("acp-tui host claude", "acp-tui host --stop claude"),
        notes=_HOST_NOTES,
        group=_WORK,
    ),
    CliCommand(
        "attach",
        "show a session that a host keeps",
        acp_tui.cli.attach.run,
        Value("ID", ValueKind.HOSTED),
        options=(_CWD, _PLAIN, Option(("--read-only",), "only watch: you can't prompt, answer, or change anything")),
        examples=("acp-tui attach", "acp-tui attach claude --read-only"),
        notes=_ATTACH_NOTES,
        group=_WORK,
    ),
    CliCommand(
        "hosts",
        "list the sessions that hosts keep",
        acp_tui.cli.hosts.run,
        options=(
            Option(
                ("--share",),
                "print how others can watch the sessions of this host, or of all, with a QR code",
                _HOST,
                value_when_bare="",
            ),
            Option(
                ("--revoke",),
                "replace the tokens of this host, or of all, and disconnect who used them",
                _HOST,
                value_when_bare="",
            ),
            output_format("text", "json"),
        ),
        examples=("acp-tui hosts --format json", "acp-tui hosts --share claude"),
        group=_WORK,
    ),
    CliCommand(
        "agents",
        "list the agents you can run",
        acp_tui.cli.agents.run,
        options=(
            Option(
                ("--update",),
                "fetch the agent registry first; or install the newest version of this agent, which asks",
                _AGENT_NAME,
                value_when_bare="",
            ),
            Option(("--remove",), "remove an agent that acp-tui has installed", _AGENT_NAME),
            output_format("text", "json"),
        ),
        examples=("acp-tui agents", "acp-tui agents --update gemini"),
        group=_WORK,
    ),
    CliCommand(
        "demo",
        "try acp-tui with a scripted agent",
        acp_tui.cli.start.demo,
        Value("SCENARIO", ValueKind.SCENARIO),
        options=(
            Option(("--list",), "list the scenarios"),
            output_format("text", "json", about="how to print that list"),
            SPEED,
            _PLAIN,
            *CHOOSING,
            SANDBOX,
            PROTOCOL,
        ),
        takes_prompt=True,
        examples=("acp-tui demo", 'acp-tui demo "Fix the tests"', "acp-tui demo permissions --speed 2"),
        group=_WORK,
    ),
    CliCommand(
        "sessions",
        "list recorded sessions",
        acp_tui.cli.sessions.run,
        WORDS,
        options=(
            _CWD,
            Option(("--all",), "include every folder"),
            output_format("text", "json"),
        ),
        examples=("acp-tui sessions", "acp-tui sessions parser bug --all"),
        notes=_SESSIONS_NOTES,
        group=LOOK_BACK,
    ),
    CliCommand(
        "replay",
        "play back a recording",
        acp_tui.cli.replay.run,
        SOURCE,
        needs="a recording or demo:NAME: acp-tui replay FILE; to list yours: acp-tui sessions",
        options=(SPEED, _MAX_WAIT, Option(("--until",), "where to pause", Value("MOMENT"))),
        examples=("acp-tui replay demo:coding", "acp-tui replay run.jsonl --speed 4 --until question"),
        notes=SOURCE_NOTE + _MOMENTS,
        group=LOOK_BACK,
    ),
    CliCommand(
        "render",
        "turn a session into Markdown, JSON, or a picture",
        acp_tui.cli.replay.write_rendering,
        SOURCE,
        needs="what to render: acp-tui render ID -o FILE.md (-o - prints the screen); to list yours: acp-tui sessions",
        options=(
            Option(
                ("--output", "-o"),
                "a new file: all that was said (.md, .jsonl), or the screen (.svg, .txt; - prints that)",
                _FILE,
                is_required=True,
            ),
            Option(("--at",), "which moment (default: the end)", Value("MOMENT")),
            Option(("--at-text",), "the moment this text first appeared", Value("TEXT")),
            Option(
                ("--size",), "columns and rows of the screen (default: 120x40)", Value("CxR", ValueKind.SIZE), (120, 40)
            ),
            Option(("--theme",), "acp-dark, acp-light, ... (default: acp-dark)", Value("THEME"), ""),
            Option(("--prompt",), "what the demo's user asks for", Value("TEXT")),
        ),
        examples=(
            "acp-tui render 0199 -o talk.md",
            "acp-tui render run.jsonl --at 1:05 -o moment.svg",
            "acp-tui render demo:coding -o demo.svg",
        ),
        notes=SOURCE_NOTE + _MOMENTS,
        group=LOOK_BACK,
    ),
    *_FOR_AUTHORS,
    CliCommand(
        "doctor",
        "check that this machine and an agent are ready",
        acp_tui.cli.doctor.run,
        AGENT,
        options=(
            _CWD,
            Option(
                ("--turn",),
                "try a turn; permission requests are rejected",
                Value("PROMPT"),
                value_when_bare=DOCTORS_PROMPT,
            ),
            SANDBOX,
            PROTOCOL,
            output_format("text", "json"),
        ),
        examples=("acp-tui doctor", "acp-tui doctor claude --turn"),
        notes=_DOCTOR_NOTES,
        group=_LOOK_UP,
    ),
    CliCommand(
        "settings",
        "show every setting and its value, or those that match",
        acp_tui.cli.reference.print_settings,
        WORDS,
        options=(_CWD, output_format("text", "json")),
        examples=("acp-tui settings theme", "acp-tui settings --format json"),
        group=_LOOK_UP,
    ),
    CliCommand(
        "keys",
        "show every key and what it does, or those that match",
        acp_tui.cli.reference.print_keys,
        WORDS,
        options=(
            Option(("--all",), "also those that few need; other formats always have all"),
            output_format("text", "json"),
        ),
        examples=("acp-tui keys fold", "acp-tui keys --all"),
        group=_LOOK_UP,
    ),
    CliCommand(
        "schema",
        "print the JSON Schema of a command's output",
        acp_tui.cli.schemas.run,
        Value("COMMAND", choices=SCHEMAS, is_closed=False),
        examples=("acp-tui schema", "acp-tui schema exec"),
        group=_LOOK_UP,
    ),
    CliCommand(
        "completion",
        "print a shell completion script",
        acp_tui.cli.completion.run,
        Value("SHELL", choices=SHELLS, is_closed=False),
        needs="a shell: bash, zsh, or fish",
        examples=(
            'eval "$(acp-tui completion bash)"',
            'eval "$(acp-tui completion zsh)"',
            "acp-tui completion fish | source",
        ),
        notes=_COMPLETION_NOTES,
        group=_LOOK_UP,
    ),
    CliCommand(
        "help",
        "show help for a command or topic",
        acp_tui.cli.reference.print_help,
        Value("TOPIC", ValueKind.TOPIC),
        options=(output_format("text", "man", about="text, or the man page"),),
        examples=("acp-tui help permissions", "acp-tui help --format man | man -l -"),
        group=_LOOK_UP,
    ),
)
"""To add a command, add a row here and a module that runs it."""

ALWAYS: Final = (Option(("--help", "-h"), "show help"), Option(("--version", "-V"), "show the version"))
"""The options of every command."""
NAMELESS: Final = next(command for command in COMMANDS if not command.name)


def command_named(name: str) -> CliCommand | None:
    return next((command for command in COMMANDS if name and command.name == name), None)


def split_command(words: Sequence[str]) -> tuple[CliCommand, list[str]]:
    """Return the command and the other words. Its name is the first word that isn't an option or an option's value."""
    for at, word in enumerate(words):
        if word.startswith("-") or (at and words[at - 1] in _FLAGS_WITH_VALUE):
            continue
        command = command_named(word)
        return (NAMELESS, list(words)) if command is None else (command, [*words[:at], *words[at + 1 :]])
    return NAMELESS, list(words)


_FLAGS_WITH_VALUE: Final = frozenset(
    flag
    for command in COMMANDS
    for option in command.options
    if option.value and not option.is_joined
    for flag in option.flags
)
