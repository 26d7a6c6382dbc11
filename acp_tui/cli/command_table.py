"""The command line as plain data: every command, what it takes, and the function that runs it.

The parser, the help and the shells' completion read this table; it loads no command.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple


class Kind(Enum):
    """What a value is: how it is read, and what a shell offers for it."""

    TEXT = "text"
    NUMBER = "number"
    """From 0 on."""
    SIZE = "size"
    """Columns and rows, as in 120x40."""
    AGENT = "agent"
    SCENARIO = "scenario"
    SOURCE = "source"
    """A recording, or a scenario as demo:NAME."""
    FILE = "file"
    NEW_FILE = "new file"
    """It must not exist, and its folder must."""
    FOLDER = "folder"


# Named tuples: every start waits for these classes, and a dataclass takes five times as long to make.


class Value(NamedTuple):
    """What is given to an option, or as the one word that a command takes."""

    name: str
    """As the help has it; not shown where there are choices."""
    kind: Kind = Kind.TEXT
    choices: tuple[str, ...] = ()
    """All that is allowed; empty: anything."""
    is_closed: bool = True
    """False: the choices are only what is offered; the command knows what is allowed."""

    @property
    def shown(self) -> str:
        """How it stands in a usage line."""
        return "|".join(self.choices) or self.name


class Option(NamedTuple):
    """One option; without a value it is a switch."""

    flags: tuple[str, ...]
    """The long one first: its name is that of what is given."""
    about: str
    value: Value | None = None
    default: object = None
    value_when_bare: str | None = None
    """What counts where the value is left out; None: it cannot be."""
    is_repeated: bool = False
    """It may be given several times; what is given is a list, None where there is none."""
    is_required: bool = False

    @property
    def shown(self) -> str:
        """The flags and the value, as the help has them."""
        flags = ", ".join(self.flags)
        if self.value is None:
            return flags
        return f"{flags} {self.value.shown if self.value_when_bare is None else f'[{self.value.shown}]'}"


class Command(NamedTuple):
    """One command; the one without a name runs where none is named."""

    name: str
    about: str
    runs: str
    """The function that does it, as `module:function`, where a lone module means its `run`.

    It takes what was given, gives the exit status, and raises WrongUse for what does not go together.
    """
    word: Value | None = None
    wants: str = ""
    """What is said to be missing without the word or a required option; "": the word may be left out."""
    options: tuple[Option, ...] = ()
    notes: str = ""
    """Stands below the options in the help of the command."""

    @property
    def takes_agent(self) -> bool:
        """Then `-- COMMAND` may stand instead of the word."""
        return self.word is not None and self.word.kind is Kind.AGENT

    @property
    def shown(self) -> str:
        """The name and the word, as the help has them."""
        if self.word is None:
            return self.name
        return f"{self.name} {self.word.name if self.wants else f'[{self.word.name}]'}".strip()


SHELLS: Final = ("bash", "zsh", "fish")
DOCTORS_PROMPT: Final = "Reply with the one word: ready. Use no tools."

_AGENT = Value("AGENT", Kind.AGENT)
_WANTS_AGENT = "an agent: a known name, or -- COMMAND"
_SOURCE = Value("SOURCE", Kind.SOURCE)
_REPORT_FORMAT = Option(
    ("--format",), "a report to read, or JSON", Value("FORMAT", choices=("text", "json")), "text"
)
_CWD = Option(("--cwd",), "the folder to work in (default: this one)", Value("DIR", Kind.FOLDER), ".")
_RECORDING = (
    Option(
        ("--record",), "record all that passes between acp-tui and the agent", Value("FILE", Kind.NEW_FILE)
    ),
    Option(("--record-raw",), "leave secrets in that recording"),
)
_PLAIN = Option(("--plain",), "lines, not a screen: for screen readers, TERM=dumb")
_RESUME = Option(
    ("--resume",), "go on with the last session here, or with this one", Value("ID"), value_when_bare=""
)
_RUN_OPTIONS = (_CWD, _RESUME, _PLAIN, *_RECORDING)
_SESSIONS_NOTES = """\
WORDS are looked for in titles, prompts and replies; several go in quotes. ID is
a session's id, or how it begins. FILE ends in .md, .html or .jsonl.
"""
_MARKDOWN = Option(("--markdown",), "as a Markdown table")
_REDACT_NOTES = """\
Names, addresses, home folders, keys and tokens are replaced by texts of the
same length, the same one wherever they stand. GLOB is as in src/*.py, .env or
secrets/**; a file's contents become lines of the same length. It ends with 0,
or with 1 when nothing was written.
"""
_MOCK_NOTES = """\
SOURCE is a recording, demo:NAME or a scenario's .toml file. What the client
does otherwise than in the recording is said on stderr, with the frame and its
time: acp-tui replay SOURCE --until 12.5s shows that moment. Prompts may have
other words; only kinds, fields and their order count.

It ends with 0 when the client goes, with 1 when it departs with --strict, on a
timeout or when the recording was cut off, with 2 on a wrong command line, and
as the recorded agent did where that one died.
"""
_EXEC_NOTES = """\
It ends with 0 when the turn is done, 1 on an error, 2 on a wrong command
line, 3 refused by the agent, 4 limit reached, 5 a permission was rejected,
6 login needed, 7 the agent died or broke the protocol, 126/127 the command
cannot be run / is not found, 130 cancelled.
"""
_DOCTOR_NOTES = """\
Secrets are left out of the report, so that it can be shown to others. It ends
with 0 when all is ready, 1 when something is wrong, 6 when the agent wants a
login, 7 when it died or broke the protocol, 126/127 when its command cannot
be run / is not found.
"""
_SOURCE_NOTE = """\
SOURCE is a recording, or demo:NAME: the scripted agent plays that scenario first.
"""
_MOMENTS = """\
A moment is a number of events (120), a time (12.5s, 1:05), or "question": when
a permission is asked for first.
"""
_MAX_WAIT = Option(("--max-wait",), "no pause is longer than so many seconds", Value("S", Kind.NUMBER), 2.0)
_CHECK_NOTES = """\
The agent works in a temporary folder, and nothing that it asks for is allowed.
It ends with 0 when no rule of severity error is broken, 1 when one is, 6 when
the agent wants a login, 7 when it died or went silent, 126/127 when its
command cannot be run / is not found.
"""
_COMPLETION_NOTES = """\
  bash  eval "$(acp-tui completion bash)"     in ~/.bashrc
  zsh   eval "$(acp-tui completion zsh)"      in ~/.zshrc, behind compinit
  fish  acp-tui completion fish | source     in ~/.config/fish/config.fish

agents and scenarios print the names that these scripts ask for.
"""

COMMANDS: Final[tuple[Command, ...]] = (
    Command("", "work with an agent", "acp_tui.cli.work", _AGENT, options=_RUN_OPTIONS),
    Command(
        "run",
        'work with an agent, also with one called "exec"',
        "acp_tui.cli.work",
        _AGENT,
        _WANTS_AGENT,
        _RUN_OPTIONS,
    ),
    Command(
        "exec",
        "do one turn without a screen",
        "acp_tui.cli.exec",
        _AGENT,
        wants=_WANTS_AGENT,
        options=(
            _CWD,
            Option(("--prompt", "-p"), "what to ask for (default: it is read from stdin)", Value("TEXT")),
            Option(
                ("--format",),
                "the agent's message, or all its updates as JSON lines",
                Value("FORMAT", choices=("text", "ndjson")),
                "text",
            ),
            *_RECORDING,
        ),
        notes=_EXEC_NOTES,
    ),
    Command(
        "sessions",
        "list the sessions that were recorded, or export one",
        "acp_tui.cli.sessions",
        Value("WORDS"),
        options=(
            _CWD,
            Option(("--all",), "of all folders"),
            Option(("--json",), "as JSON"),
            Option(("--export",), "write this session to FILE: --export ID FILE", Value("ID")),
        ),
        notes=_SESSIONS_NOTES,
    ),
    Command(
        "agents",
        "list the agents that can run here",
        "acp_tui.cli.agents",
        options=(
            Option(("--update",), "fetch the agent registry first"),
            Option(("--json",), "as JSON"),
            Option(("--verbose",), "all there is to say of each, and what is wrong in the registry"),
        ),
    ),
    Command(
        "demo",
        "try acp-tui with a scripted agent",
        "acp_tui.cli.work:demo",
        Value("SCENARIO", Kind.SCENARIO),
        options=(
            Option(("--list",), "say which scenarios there are"),
            Option(("--speed",), "how many times as fast; 0: without waiting", Value("X", Kind.NUMBER), 1.0),
            _PLAIN,
        ),
    ),
    Command(
        "replay",
        "show a recording: no agent, no file is touched",
        "acp_tui.cli.replay",
        _SOURCE,
        wants="a recording or demo:NAME: acp-tui replay FILE",
        options=(
            Option(("--speed",), "how many times as fast; 0: without waiting", Value("X", Kind.NUMBER), 1.0),
            _MAX_WAIT,
            Option(("--until",), "where to pause", Value("MOMENT")),
            Option(("--follow",), "begin at the end, and show what is being recorded"),
        ),
        notes=_SOURCE_NOTE + _MOMENTS,
    ),
    Command(
        "inspect",
        "show the frames of a recording, and the rules they break",
        "acp_tui.cli.replay:inspect",
        _SOURCE,
        wants="a recording or demo:NAME: acp-tui inspect FILE",
        notes=_SOURCE_NOTE,
    ),
    Command(
        "render",
        "make a picture, text or film of a recording",
        "acp_tui.cli.render",
        _SOURCE,
        wants="a recording or demo:NAME, and a file to write: acp-tui render FILE -o FILE.svg",
        options=(
            Option(
                ("--output", "-o"),
                "to write: .svg .txt .png .html .md .cast",
                Value("FILE", Kind.FILE),
                is_required=True,
            ),
            Option(("--at",), "which moment (default: the end)", Value("MOMENT")),
            Option(("--at-text",), "the moment when this was said first", Value("TEXT")),
            Option(("--size",), "of the screen (default: 120x40)", Value("CxR", Kind.SIZE), (120, 40)),
            Option(("--theme",), "acp-dark, acp-light, ... (default: acp-dark)", Value("THEME"), ""),
            Option(("--scroll",), "which end is in view", Value("END", choices=("top", "bottom")), "bottom"),
            Option(
                ("--answer",),
                "what the demo's user chooses",
                Value("KIND", choices=("allow_once", "reject_once")),
                "allow_once",
            ),
            Option(("--prompt",), "what the demo's user asks for", Value("TEXT")),
            Option(("--speed",), "how many times as fast a .cast is", Value("X", Kind.NUMBER), 1.0),
            _MAX_WAIT,
        ),
        notes=f"SOURCE is a recording, or demo:NAME for what the scripted agent plays.\n{_MOMENTS}",
    ),
    Command(
        "redact",
        "make a recording that can be given away",
        "acp_tui.cli.redact",
        Value("FILE", Kind.FILE),
        wants="a recording and a file to write: acp-tui redact FILE -o FILE",
        options=(
            Option(
                ("--output", "-o"),
                "the file to write; it must not exist",
                Value("FILE", Kind.NEW_FILE),
                is_required=True,
            ),
            Option(("--secret",), "a text to replace as well", Value("TEXT"), is_repeated=True),
            Option(("--drop-contents",), "leave out what these files hold", Value("GLOB"), is_repeated=True),
            Option(("--keep-contents",), "leave out what all others hold", Value("GLOB"), is_repeated=True),
            Option(("--drop-media",), "leave out images and sounds"),
        ),
        notes=_REDACT_NOTES,
    ),
    Command(
        "mock",
        "be the agent of a recording or a scenario, for any client",
        "acp_tui.cli.mock",
        _SOURCE,
        wants="a recording or a scenario: acp-tui mock FILE",
        options=(
            Option(
                ("--speed",),
                "how many times as fast; 0: without waiting (default: 1)",
                Value("X", Kind.NUMBER),
                1.0,
            ),
            Option(("--strict",), "end at the first thing that the client does otherwise"),
            Option(("--timeout",), "end when the client says or reads nothing", Value("S", Kind.NUMBER)),
            Option(("--login",), "log in on this terminal, as some scenarios want it"),
        ),
        notes=_MOCK_NOTES,
    ),
    Command(
        "doctor",
        "say whether this machine and an agent are ready",
        "acp_tui.cli.doctor",
        _AGENT,
        options=(
            _CWD,
            Option(
                ("--turn",),
                "try a turn; what it asks for is rejected",
                Value("PROMPT"),
                value_when_bare=DOCTORS_PROMPT,
            ),
            _REPORT_FORMAT,
        ),
        notes=_DOCTOR_NOTES,
    ),
    Command(
        "check",
        "say which rules of the protocol an agent breaks",
        "acp_tui.cli.check",
        _AGENT,
        options=(
            Option(("--prompt", "-p"), "what to ask for (default: about a file)", Value("TEXT")),
            Option(("--timeout",), "for each step", Value("SECONDS", Kind.NUMBER), 120.0),
            _REPORT_FORMAT,
            Option(("--rules",), "list the rules instead"),
            *_RECORDING,
        ),
        notes=_CHECK_NOTES,
    ),
    Command(
        "settings",
        "print all settings, and what holds here",
        "acp_tui.cli.reference:print_settings",
        options=(_CWD, _MARKDOWN),
    ),
    Command(
        "keys", "print all commands, and their keys", "acp_tui.cli.reference:print_keys", options=(_MARKDOWN,)
    ),
    Command(
        "completion",
        "print a script that completes this command line",
        "acp_tui.cli.completion",
        Value("SHELL", choices=SHELLS, is_closed=False),
        wants="a shell: bash, zsh or fish",
        notes=_COMPLETION_NOTES,
    ),
)
"""A new command is a row here, and a module that runs it."""
