"""The command line as plain data: every command, its options, and the function that runs it.

The parser, the help, the man page, and shell completion read this table. It loads no commands.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final, NamedTuple


class UsageError(Exception):
    """An invalid command line. The message explains it in one line."""


class Kind(Enum):
    """What a value is: how to parse it, and what a shell offers for it."""

    TEXT = "text"
    NUMBER = "number"
    """0 or more."""
    SIZE = "size"
    """Columns and rows, as in 120x40."""
    AGENT = "agent"
    SCENARIO = "scenario"
    SOURCE = "source"
    """A recording, or a scenario as demo:NAME."""
    FILE = "file"
    NEW_FILE = "new file"
    """The file must not exist, and its folder must."""
    FOLDER = "folder"
    TOPIC = "topic"
    """A page of `acp_tui/docs`, or a command."""


# Named tuples, because every start creates these classes, and a dataclass takes five times as long.


class Value(NamedTuple):
    """The value of an option, or the one word that a command takes."""

    name: str
    """The name shown in the help if there are no choices."""
    kind: Kind = Kind.TEXT
    choices: tuple[str, ...] = ()
    """All allowed values; empty to allow anything."""
    is_closed: bool = True
    """If False, the choices are only suggestions, and the command checks the value."""

    @property
    def shown(self) -> str:
        """Its form in a usage line."""
        return "|".join(self.choices) or self.name


class Option(NamedTuple):
    """One option. Without a value, it's a switch."""

    flags: tuple[str, ...]
    """The long flag first; its name is the name of the parsed value."""
    about: str
    value: Value | None = None
    default: object = None
    value_when_bare: str | None = None
    """The value if it's omitted; None if it's required."""
    is_repeated: bool = False
    """Whether it can be repeated. The parsed value is then a list, or None if it isn't given."""
    is_required: bool = False

    @property
    def shown(self) -> str:
        flags = ", ".join(self.flags)
        if self.value is None:
            return flags
        return f"{flags} {self.value.shown if self.value_when_bare is None else f'[{self.value.shown}]'}"


class Command(NamedTuple):
    """One command. The one without a name is the default."""

    name: str
    about: str
    runs: str
    """The function to run, as `module:function`; a module alone means its `run`.

    It takes the parsed values and returns the exit status. It raises UsageError for values that don't go together.
    """
    word: Value | None = None
    needs: str = ""
    """What the error names if the word or a required option is missing; "" if the word is optional."""
    options: tuple[Option, ...] = ()
    notes: str = ""
    """Paragraphs after the options in the command's help. Indented lines aren't wrapped."""
    group: str = ""
    """The heading under which the overview lists it."""

    @property
    def takes_agent(self) -> bool:
        """Whether `-- COMMAND` can replace the word."""
        return self.word is not None and self.word.kind is Kind.AGENT

    @property
    def shown(self) -> str:
        if self.word is None:
            return self.name
        return f"{self.name} {self.word.name if self.needs else f'[{self.word.name}]'}".strip()


SHELLS: Final = ("bash", "zsh", "fish")
DOCTORS_PROMPT: Final = "Reply with the one word: ready. Use no tools."

_AGENT = Value("AGENT", Kind.AGENT)
_NEEDS_AGENT = "an agent: a name, or -- COMMAND"
_SOURCE = Value("SOURCE", Kind.SOURCE)


def _format(*choices: str, about: str = "how to print it") -> Option:
    return Option(("--format",), about, Value("FORMAT", choices=choices), choices[0])


_CWD = Option(("--cwd",), "the folder to work in (default: this one)", Value("DIR", Kind.FOLDER), ".")
_PROTOCOL = Option(("--protocol",), "speak only this version of ACP", Value("VERSION", choices=("1", "2")))
_PROTOCOL_OF_DEMO = Option(
    ("--protocol",), "speak this version of ACP (default: 1)", Value("VERSION", choices=("1", "2")), "1"
)
_RECORDING = (
    Option(("--record",), "record everything sent and received", Value("FILE", Kind.NEW_FILE)),
    Option(("--record-raw",), "keep secrets in that recording"),
)
_PLAIN = Option(("--plain",), "print lines instead of drawing a screen")
_WEB = Option(("--web",), "show it in a browser on this machine", Value("PORT", Kind.NUMBER), value_when_bare="0")
_RESUME = Option(("--resume",), "reopen this folder's last session, or the one named", Value("ID"), value_when_bare="")
_WORKTREE = Option(("--worktree",), "work in a new git worktree of the folder", Value("NAME"), value_when_bare="")
_RUN_OPTIONS = (_CWD, _WORKTREE, _RESUME, _PLAIN, _WEB, _PROTOCOL, *_RECORDING)
_SPEED = Option(("--speed",), "times as fast; 0 doesn't wait (default: 1)", Value("X", Kind.NUMBER), 1.0)
_MAX_WAIT = Option(("--max-wait",), "shorten pauses to this many seconds (default: 2)", Value("S", Kind.NUMBER), 2.0)
_SESSIONS_NOTES = """\
WORDS searches titles, prompts, and replies; quote more than one. ID is a session's ID or the beginning of one. FILE \
ends in .md, .html, or .jsonl.
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
_REDACT_NOTES = """\
FILE is a recording, or a recorded session's ID.

Names, addresses, home folders, keys, and tokens become text of the same length, the same text everywhere. GLOB is a \
pattern such as src/*.py, .env, or secrets/**; a dropped file's contents become lines of the same length.

Exits with 0, or with 1 if nothing was written.
"""
_MOCK_NOTES = """\
SOURCE is a recording, demo:NAME, or a scenario's .toml file. When the client does something that isn't in the \
recording, stderr says what, with the frame and its time. To see that moment: acp-tui replay SOURCE --until 12.5s. \
Prompts may differ in wording; only kinds, fields, and order count.

Exits with 0 when the client disconnects; 1 when it departs from the recording with --strict, on a timeout, or when \
the recording is incomplete; 2 on a usage error; and as the recorded agent did if that one died.
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
_SOURCE_NOTE = "SOURCE is a recording, a recorded session's ID, or demo:NAME to play that scenario first.\n\n"
_MOMENTS = """\
MOMENT is a number of events (120), a time (12.5s, 1:05), or "question": the first permission request.
"""
_CHECK_NOTES = """\
The agent works in a temporary folder, and nothing it asks for is allowed.

Exits with 0 when it breaks no rule of severity error, 1 when it does, 6 if it needs a login, 7 if it died or went \
silent, and 126 or 127 if its command can't be run or found.
"""
_COMPLETION_NOTES = """\
Add a line to ~/.bashrc, to ~/.zshrc after compinit, or to config.fish:

  eval "$(acp-tui completion bash)"
  eval "$(acp-tui completion zsh)"
  acp-tui completion fish | source

The scripts call `acp-tui completion agents` and `acp-tui completion scenarios` to complete names.
"""

_WORK: Final = "Work with an agent"
_LOOK_BACK: Final = "Look back"
_BUILD: Final = "Build an agent or a client"
_LOOK_UP: Final = "Look things up"

COMMANDS: Final[tuple[Command, ...]] = (
    Command("", "work with an agent", "acp_tui.cli.work", _AGENT, options=_RUN_OPTIONS, group=_WORK),
    Command(
        "run",
        "work with an agent, even one named like a command",
        "acp_tui.cli.work",
        _AGENT,
        _NEEDS_AGENT,
        _RUN_OPTIONS,
        group=_WORK,
    ),
    Command(
        "exec",
        "run one turn without a screen",
        "acp_tui.cli.one_turn",
        _AGENT,
        needs=_NEEDS_AGENT,
        options=(
            _CWD,
            Option(("--prompt", "-p"), "the prompt (default: read stdin)", Value("TEXT")),
            _format("text", "ndjson", about="the agent's message, or every update as a line of JSON"),
            Option(
                ("--allow-unasked",),
                "let the agent do this in the folder without asking: write, run, or write,run",
                Value("KINDS", choices=("write", "run", "write,run"), is_closed=False),
            ),
            _PROTOCOL,
            *_RECORDING,
        ),
        notes=_EXEC_NOTES,
        group=_WORK,
    ),
    Command(
        "host",
        "keep an agent running in the background",
        "acp_tui.cli.host",
        _AGENT,
        options=(
            _CWD,
            Option(
                ("--resume",),
                "continue the agent's last session in this folder, or the one named",
                Value("ID"),
                value_when_bare="",
            ),
            Option(("--stop",), "stop the host with this name, or all hosts", Value("NAME"), value_when_bare=""),
            Option(("--listen",), "listen on TCP, too; clients need a token", Value("HOST:PORT")),
            Option(("--tls-cert",), "the certificate, in PEM format", Value("FILE", Kind.FILE)),
            Option(("--tls-key",), "the certificate's key", Value("FILE", Kind.FILE)),
            Option(("--foreground",), "stay in the foreground"),
        ),
        notes=_HOST_NOTES,
        group=_WORK,
    ),
    Command(
        "attach",
        "show a session that a host keeps",
        "acp_tui.cli.attach",
        Value("ID"),
        options=(_CWD, Option(("--read-only",), "only watch: you can't prompt, answer, or change anything")),
        notes=_ATTACH_NOTES,
        group=_WORK,
    ),
    Command(
        "hosts",
        "list the sessions that hosts keep",
        "acp_tui.cli.attach:list_hosts",
        options=(
            Option(
                ("--share",),
                "print how others can watch the sessions of this host, or of all, with a QR code",
                Value("NAME"),
                value_when_bare="",
            ),
            Option(
                ("--revoke",),
                "replace the tokens of this host, or of all, and disconnect who used them",
                Value("NAME"),
                value_when_bare="",
            ),
            _format("text", "json"),
        ),
        group=_WORK,
    ),
    Command(
        "agents",
        "list the agents you can run",
        "acp_tui.cli.agents",
        options=(
            Option(("--update",), "fetch the agent registry first"),
            Option(("--verbose",), "show every detail, and problems in the registry"),
            _format("text", "json"),
        ),
        group=_WORK,
    ),
    Command(
        "demo",
        "try acp-tui with a scripted agent",
        "acp_tui.cli.work:demo",
        Value("SCENARIO", Kind.SCENARIO),
        options=(
            Option(("--list",), "list the scenarios"),
            _format("text", "json", about="how to print that list"),
            _SPEED,
            _PLAIN,
            _WEB,
            _PROTOCOL_OF_DEMO,
        ),
        group=_WORK,
    ),
    Command(
        "sessions",
        "list recorded sessions, or export one",
        "acp_tui.cli.sessions",
        Value("WORDS"),
        options=(
            _CWD,
            Option(("--all",), "include every folder"),
            Option(("--export",), "write a session to FILE: --export ID FILE", Value("ID")),
            _format("text", "json"),
        ),
        notes=_SESSIONS_NOTES,
        group=_LOOK_BACK,
    ),
    Command(
        "replay",
        "play back a recording",
        "acp_tui.cli.replay",
        _SOURCE,
        needs="a recording or demo:NAME: acp-tui replay FILE; to list yours: acp-tui sessions",
        options=(
            _SPEED,
            _MAX_WAIT,
            Option(("--until",), "where to pause", Value("MOMENT")),
            Option(("--follow",), "start at the end and show what is being recorded"),
        ),
        notes=_SOURCE_NOTE + _MOMENTS,
        group=_LOOK_BACK,
    ),
    Command(
        "render",
        "turn a recording into a picture, text, or animation",
        "acp_tui.cli.replay:write_rendering",
        _SOURCE,
        needs="a recording or demo:NAME, and a file to write: acp-tui render FILE -o FILE.svg",
        options=(
            Option(
                ("--output", "-o"),
                "write a .svg, .txt, .png, .html, .md, or .cast file",
                Value("FILE", Kind.FILE),
                is_required=True,
            ),
            Option(("--animate",), "make an .svg that plays the recording"),
            Option(("--at",), "which moment, or where an animation ends (default: the end)", Value("MOMENT")),
            Option(("--at-text",), "the moment this text first appeared", Value("TEXT")),
            Option(("--size",), "columns and rows of the screen (default: 120x40)", Value("CxR", Kind.SIZE), (120, 40)),
            Option(("--theme",), "acp-dark, acp-light, ... (default: acp-dark)", Value("THEME"), ""),
            Option(("--scroll",), "which end is in view", Value("END", choices=("top", "bottom")), "bottom"),
            Option(
                ("--answer",),
                "what the demo's user chooses",
                Value("KIND", choices=("allow_once", "reject_once")),
                "allow_once",
            ),
            Option(("--prompt",), "what the demo's user asks for", Value("TEXT")),
            Option(("--speed",), "times as fast, for an animation (default: 1)", Value("X", Kind.NUMBER), 1.0),
            _MAX_WAIT,
        ),
        notes=_SOURCE_NOTE + _MOMENTS,
        group=_LOOK_BACK,
    ),
    Command(
        "redact",
        "make a recording you can share",
        "acp_tui.cli.redact",
        Value("FILE", Kind.FILE),
        needs="a recording and a file to write: acp-tui redact FILE -o FILE",
        options=(
            Option(
                ("--output", "-o"),
                "the file to write; it must not exist",
                Value("FILE", Kind.NEW_FILE),
                is_required=True,
            ),
            Option(("--secret",), "also replace this text", Value("TEXT"), is_repeated=True),
            Option(("--drop-contents",), "drop the contents of these files", Value("GLOB"), is_repeated=True),
            Option(("--keep-contents",), "drop the contents of all other files", Value("GLOB"), is_repeated=True),
            Option(("--drop-media",), "drop images and sounds"),
        ),
        notes=_REDACT_NOTES,
        group=_LOOK_BACK,
    ),
    Command(
        "check",
        "find the protocol rules an agent breaks",
        "acp_tui.cli.check",
        _AGENT,
        options=(
            Option(("--prompt", "-p"), "the prompt (default: about a file)", Value("TEXT")),
            Option(("--timeout",), "seconds for each step (default: 120)", Value("S", Kind.NUMBER), 120.0),
            _PROTOCOL,
            _format("text", "json"),
            Option(("--rules",), "list the rules instead"),
            *_RECORDING,
        ),
        notes=_CHECK_NOTES,
        group=_BUILD,
    ),
    Command(
        "inspect",
        "browse a recording's frames and the rules they break",
        "acp_tui.cli.replay:inspect",
        _SOURCE,
        needs="a recording or demo:NAME: acp-tui inspect FILE; to list yours: acp-tui sessions",
        notes=_SOURCE_NOTE,
        group=_BUILD,
    ),
    Command(
        "mock",
        "play a recording or scenario as an agent, for any client",
        "acp_tui.cli.mock",
        _SOURCE,
        needs="a recording or a scenario: acp-tui mock FILE",
        options=(
            _SPEED,
            Option(("--strict",), "stop when the client departs from the recording"),
            Option(("--timeout",), "stop when the client sends or reads nothing this long", Value("S", Kind.NUMBER)),
            Option(("--login",), "log in on this terminal, for scenarios that need it"),
        ),
        notes=_MOCK_NOTES,
        group=_BUILD,
    ),
    Command(
        "doctor",
        "check that this machine and an agent are ready",
        "acp_tui.cli.doctor",
        _AGENT,
        options=(
            _CWD,
            Option(
                ("--turn",),
                "try a turn; permission requests are rejected",
                Value("PROMPT"),
                value_when_bare=DOCTORS_PROMPT,
            ),
            _PROTOCOL,
            _format("text", "json"),
        ),
        notes=_DOCTOR_NOTES,
        group=_LOOK_UP,
    ),
    Command(
        "settings",
        "show every setting and its value",
        "acp_tui.cli.reference:print_settings",
        options=(_CWD, _format("text", "json", "markdown")),
        group=_LOOK_UP,
    ),
    Command(
        "keys",
        "show every key and what it does",
        "acp_tui.cli.reference:print_keys",
        options=(_format("text", "json", "markdown"),),
        group=_LOOK_UP,
    ),
    Command(
        "completion",
        "print a shell completion script",
        "acp_tui.cli.completion",
        Value("SHELL", choices=SHELLS, is_closed=False),
        needs="a shell: bash, zsh, or fish",
        notes=_COMPLETION_NOTES,
        group=_LOOK_UP,
    ),
    Command(
        "help",
        "show help for a command or topic",
        "acp_tui.cli.reference:print_help",
        Value("TOPIC", Kind.TOPIC),
        options=(_format("text", "man", about="text, or the man page"),),
        group=_LOOK_UP,
    ),
)
"""To add a command, add a row here and a module that runs it."""

ALWAYS: Final = (Option(("--help", "-h"), "show help"), Option(("--version", "-V"), "show the version"))
"""The options of every command."""
NAMELESS: Final = next(command for command in COMMANDS if not command.name)


def command_named(name: str) -> Command | None:
    return next((command for command in COMMANDS if name and command.name == name), None)


def split_command(words: Sequence[str]) -> tuple[Command, list[str]]:
    """Return the command and the other words. Its name is the first word that isn't an option or an option's value."""
    for at, word in enumerate(words):
        if word.startswith("-") or (at and words[at - 1] in _FLAGS_WITH_VALUE):
            continue
        command = command_named(word)
        return (NAMELESS, list(words)) if command is None else (command, [*words[:at], *words[at + 1 :]])
    return NAMELESS, list(words)


_FLAGS_WITH_VALUE: Final = frozenset(
    flag for command in COMMANDS for option in command.options if option.value for flag in option.flags
)
