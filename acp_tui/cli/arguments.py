"""Turns the command line into one request; starts nothing.

`COMMANDS` describes it all: the parser, the help and the shells' completion are made of that table.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, TypeAlias

from acp_tui import __version__
from acp_tui.cli.command_line import Command, Given, Kind, Option, Value, WrongUse, add_to
from acp_tui.cli.exit_codes import ExitCode
from acp_tui.cli.help_text import help_of, overview
from acp_tui.client.transcript.record_to import RecordTo

if TYPE_CHECKING:
    from acp_tui.ui.replaying.pace import Pace
    from acp_tui.ui.replaying.spot import Spot


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """Which agent: just one of the two is set."""

    name: str | None = None
    argv: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """Work with an agent on the screen, or line by line."""

    agent: AgentChoice
    cwd: Path
    record: RecordTo | None = None
    is_plain: bool = False


@dataclass(frozen=True, slots=True)
class ChooseAgent:
    """No agent was named: let the user choose one, where there is a terminal."""

    cwd: Path
    record: RecordTo | None = None


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on with a session of the past, on the screen."""

    session_id: str
    """Or how it begins; "": the last one of the folder."""
    agent: AgentChoice | None
    """None: the one that it was recorded with."""
    cwd: Path
    record: RecordTo | None = None


@dataclass(frozen=True, slots=True)
class ListSessions:
    """Say which sessions were recorded."""

    cwd: Path | None
    """None: in all folders."""
    words: str = ""
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class ExportSession:
    """Write a recorded session to a file."""

    session_id: str
    """Or how it begins."""
    file: Path


@dataclass(frozen=True, slots=True)
class ListAgents:
    """Say which agents there are."""

    update: bool = False
    """Fetch the registry first."""
    as_json: bool = False
    is_verbose: bool = False


@dataclass(frozen=True, slots=True)
class Exec:
    """One turn without a screen."""

    agent: AgentChoice
    cwd: Path
    prompt: str | None
    """None: from stdin."""
    format: str
    record: RecordTo | None = None


@dataclass(frozen=True, slots=True)
class Demo:
    """Play a scenario; None: the default one."""

    scenario: str | None
    speed: float
    is_plain: bool = False


@dataclass(frozen=True, slots=True)
class ListScenarios:
    """Say which scenarios there are."""


@dataclass(frozen=True, slots=True)
class Doctor:
    """Say whether this machine is ready, and the agent where one is named."""

    agent: AgentChoice | None
    cwd: Path
    prompt: str | None
    """What a turn is to be tried with; None: no turn."""
    format: str


@dataclass(frozen=True, slots=True)
class Check:
    """Say which rules of the protocol an agent breaks."""

    agent: AgentChoice
    prompt: str | None
    """None: a harmless one."""
    limit_s: float
    """For each step."""
    format: str
    record: RecordTo | None = None


@dataclass(frozen=True, slots=True)
class ListRules:
    """Say which rules there are."""

    format: str


@dataclass(frozen=True, slots=True)
class Completion:
    """Print what a shell needs: the script for it, or the names that the script asks for."""

    what: str


@dataclass(frozen=True, slots=True)
class ShowSettings:
    """Print all settings, with the values that hold in `cwd`."""

    cwd: Path
    as_markdown: bool


@dataclass(frozen=True, slots=True)
class ShowKeys:
    """Print all commands, with the keys in force."""

    as_markdown: bool


@dataclass(frozen=True, slots=True)
class Replay:
    """Show a recording on the screen."""

    file: Path
    pace: Pace
    until: Spot | None = None
    """Where to pause; None: at the end."""
    is_followed: bool = False


@dataclass(frozen=True, slots=True)
class Render:
    """Make a file of a moment of a recording, or of what the scripted agent plays."""

    source: Path | str
    """A recording, or the name of a scenario."""
    output: Path
    at: Spot | None = None
    """None: the end."""
    columns: int = 120
    rows: int = 40
    theme: str = ""
    is_at_top: bool = False
    answer: str = "allow_once"
    """How permissions that the scripted agent asks for are answered: an option's kind."""
    prompt: str | None = None
    """What the scripted agent is asked."""
    max_wait_s: float = 2.0
    """Of a film: no pause is longer."""


@dataclass(frozen=True, slots=True)
class Redact:
    """Make a recording that can be given away."""

    file: Path
    output: Path
    secrets: tuple[str, ...] = ()
    drop_contents: tuple[str, ...] = ()
    keep_contents: tuple[str, ...] | None = None
    """Where given, the contents of all other files are left out."""
    drops_media: bool = False


@dataclass(frozen=True, slots=True)
class Mock:
    """Be the agent of a recording or of a scenario, on stdin and stdout."""

    file: Path
    speed: float = 1.0
    is_strict: bool = False


Request: TypeAlias = (
    Run
    | ChooseAgent
    | Resume
    | ListSessions
    | ExportSession
    | ListAgents
    | Exec
    | Demo
    | ListScenarios
    | Doctor
    | ShowSettings
    | ShowKeys
    | Replay
    | Render
    | Redact
    | Mock
    | Completion
    | Check
    | ListRules
)


def _read_run(given: Given) -> Run | Resume:
    if given.resume is not None:
        return _read_resume(given)
    return Run(_agent(given, "run"), given.cwd, _record(given), given.plain)


def _read_resume(given: Given) -> Resume:
    if given.plain:
        raise WrongUse("--resume wants the screen, so it does not go with --plain")
    return Resume(given.resume, given.agent, given.cwd, _record(given))


def _read_sessions(given: Given) -> ListSessions | ExportSession:
    if given.export is None:
        return ListSessions(None if given.all else given.cwd, given.word or "", given.json)
    if given.word is None:
        raise WrongUse("--export wants a session and a file: acp-tui sessions --export ID FILE")
    return ExportSession(given.export, Path(given.word).absolute())


def _read_nameless(given: Given) -> Run | ChooseAgent | Resume:
    if given.resume is not None:
        return _read_resume(given)
    if given.agent is None:
        if given.plain:
            raise WrongUse("--plain wants an agent: acp-tui AGENT --plain; acp-tui agents lists them")
        return ChooseAgent(given.cwd, _record(given))
    return Run(given.agent, given.cwd, _record(given), given.plain)


def _read_agents(given: Given) -> ListAgents:
    return ListAgents(given.update, given.json, given.verbose)


def _read_exec(given: Given) -> Exec:
    return Exec(_agent(given, "exec"), given.cwd, given.prompt, given.format, _record(given))


def _read_demo(given: Given) -> Demo | ListScenarios:
    return ListScenarios() if given.list else Demo(given.word, given.speed, given.plain)


def _read_doctor(given: Given) -> Doctor:
    if given.agent is None and given.turn is not None:
        raise WrongUse("--turn wants an agent before it: acp-tui doctor AGENT --turn")
    return Doctor(given.agent, given.cwd, given.turn, given.format)


def _read_check(given: Given) -> Check | ListRules:
    if given.rules:
        return ListRules(given.format)
    if given.timeout <= 0:
        raise WrongUse("--timeout wants more than 0 seconds")
    return Check(_agent(given, "check"), given.prompt, given.timeout, given.format, _record(given))


def _read_settings(given: Given) -> ShowSettings:
    return ShowSettings(given.cwd, given.markdown)


def _read_keys(given: Given) -> ShowKeys:
    return ShowKeys(given.markdown)


def _read_completion(given: Given) -> Completion:
    if given.word is None:
        raise WrongUse("completion wants a shell: bash, zsh or fish")
    return Completion(given.word)


def _read_replay(given: Given) -> Replay:
    from acp_tui.ui.replaying.pace import Pace  # only for this

    if given.word is None:
        raise WrongUse("replay wants a recording: acp-tui replay FILE")
    pace = Pace(given.speed, given.max_wait)
    return Replay(Path(given.word), pace, _spot(given.until), given.follow)


def _read_render(given: Given) -> Render:
    from acp_tui.ui.replaying.spot import Spot

    if given.word is None or given.output is None:
        raise WrongUse(
            "render wants a recording or demo:NAME, and a file to write: acp-tui render FILE -o FILE.svg"
        )
    if given.at is not None and given.at_text is not None:
        raise WrongUse("--at and --at-text name two moments: one is enough")
    scheme, _, name = given.word.partition(":")
    columns, rows = given.size
    return Render(
        source=name if scheme == "demo" else Path(given.word),
        output=given.output,
        at=_spot(given.at) if given.at_text is None else Spot(text=given.at_text),
        columns=columns,
        rows=rows,
        theme=given.theme,
        is_at_top=given.scroll == "top",
        answer=given.answer,
        prompt=given.prompt,
        max_wait_s=given.max_wait,
    )


def _read_redact(given: Given) -> Redact:
    if given.word is None or given.output is None:
        raise WrongUse("redact wants a recording and a file to write: acp-tui redact FILE -o FILE")
    if given.keep_contents and given.drop_contents:
        raise WrongUse("--keep-contents leaves out all other files already: --drop-contents cannot add to it")
    if any(len(text) < MIN_SECRET for text in given.secret or ()):
        raise WrongUse(f"--secret wants {MIN_SECRET} characters at least: a shorter text stands everywhere")
    return Redact(
        Path(given.word),
        given.output,
        tuple(given.secret or ()),
        tuple(given.drop_contents or ()),
        tuple(given.keep_contents) if given.keep_contents else None,
        given.drop_media,
    )


def _read_mock(given: Given) -> Mock:
    if given.word is None:
        raise WrongUse("mock wants a recording or a scenario: acp-tui mock FILE")
    return Mock(Path(given.word), given.speed, given.strict)


def _spot(text: str | None) -> Spot | None:
    from acp_tui.ui.replaying.spot import read_spot

    try:
        return None if text is None else read_spot(text)
    except ValueError as error:
        raise WrongUse(str(error)) from error


def _size(text: str) -> tuple[int, int]:
    columns, _, rows = text.partition("x")
    if not (columns.isdecimal() and rows.isdecimal() and 0 < int(columns) <= 1000 and 0 < int(rows) <= 1000):
        raise argparse.ArgumentTypeError(f"{text} is no size: COLUMNSxROWS, as in 120x40")
    return int(columns), int(rows)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no number from 0 on")
    return seconds


def _record(given: Given) -> RecordTo | None:
    if given.record is None:
        if given.record_raw:
            raise WrongUse("--record-raw says how to record: name the file with --record")
        return None
    return RecordTo(given.record, given.record_raw)


def _agent(given: Given, command: str) -> AgentChoice:
    if not isinstance(given.agent, AgentChoice):
        raise WrongUse(f"{command} wants an agent: a known name, or -- COMMAND")
    return given.agent


def _directory(text: str) -> Path:
    try:
        path = Path(text).expanduser().absolute()
    except (RuntimeError, OSError) as error:  # the home of nobody; a folder that was deleted under us
        raise argparse.ArgumentTypeError(f"{text}: {error}") from error
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is not a folder")
    return path


def _new_file(text: str) -> Path:
    path = Path(text).absolute()
    if path.exists():
        raise argparse.ArgumentTypeError(f"{text} exists: recordings overwrite nothing")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}")
    return path


_AGENT = Value("AGENT", Kind.AGENT)
_CWD = Option(
    ("--cwd",), "the folder to work in (default: this one)", Value("DIR", Kind.FOLDER, reads=_directory), "."
)
_RECORDING = (
    Option(
        ("--record",),
        "record all that passes between acp-tui and the agent",
        Value("FILE", Kind.FILE, reads=_new_file),
    ),
    Option(("--record-raw",), "leave secrets in that recording"),
)
_PLAIN = Option(("--plain",), "lines, not a screen: for screen readers, TERM=dumb")
_RESUME = Option(
    ("--resume",),
    "go on with the last session here, or with this one",
    Value("ID"),
    value_when_bare="",
)
_RUN_OPTIONS = (_CWD, _RESUME, _PLAIN, *_RECORDING)
_SESSIONS_NOTES = """\
WORDS are looked for in titles, prompts and replies; several go in quotes. ID is
a session's id, or how it begins. FILE ends in .md, .html or .jsonl.
"""
_MARKDOWN = Option(("--markdown",), "as a Markdown table")
MIN_SECRET: Final = 4
_REDACT_NOTES = """\
Names, addresses, home folders, keys and tokens are replaced by texts of the
same length, the same one wherever they stand. GLOB is as in src/*.py, .env or
secrets/**; a file's contents become lines of the same length. It ends with 0,
or with 1 when nothing was written.
"""
_MOCK_NOTES = """\
What the client does otherwise than in the recording is said on stderr. It
ends with 0 when the client goes, with 1 at the first such thing with --strict.
"""
_EXEC_NOTES = """\
It ends with 0 when the turn is done, 1 on an error, 2 on a wrong command
line, 3 refused by the agent, 4 limit reached, 5 a permission was rejected,
6 login needed, 7 the agent died or broke the protocol, 126/127 the command
cannot be run / is not found, 130 cancelled.
"""

DOCTORS_PROMPT: Final = "Reply with the one word: ready. Use no tools."
_DOCTOR_NOTES = """\
Secrets are left out of the report, so that it can be shown to others. It ends
with 0 when all is ready, 1 when something is wrong, 6 when the agent wants a
login, 7 when it died or broke the protocol, 126/127 when its command cannot
be run / is not found.
"""
_MOMENTS = """\
A moment is a number of events (120), a time (12.5s, 1:05), or "question": when
a permission is asked for first.
"""
_MAX_WAIT = Option(
    ("--max-wait",), "no pause is longer than so many seconds", Value("S", reads=_seconds), 2.0
)
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

COMMANDS: Final[tuple[Command[Request], ...]] = (
    Command("", "work with an agent", _read_nameless, _AGENT, options=_RUN_OPTIONS),
    Command("run", 'work with an agent, also with one called "exec"', _read_run, _AGENT, True, _RUN_OPTIONS),
    Command(
        "exec",
        "do one turn without a screen",
        _read_exec,
        _AGENT,
        word_is_required=True,
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
        _read_sessions,
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
        _read_agents,
        options=(
            Option(("--update",), "fetch the agent registry first"),
            Option(("--json",), "as JSON"),
            Option(("--verbose",), "all there is to say of each, and what is wrong in the registry"),
        ),
    ),
    Command(
        "demo",
        "try acp-tui with a scripted agent",
        _read_demo,
        Value("SCENARIO", Kind.SCENARIO),
        options=(
            Option(("--list",), "say which scenarios there are"),
            Option(("--speed",), "how many times as fast; 0: without waiting", Value("X", reads=float), 1.0),
            _PLAIN,
        ),
    ),
    Command(
        "replay",
        "show a recording: no agent, no file is touched",
        _read_replay,
        Value("FILE", Kind.FILE),
        word_is_required=True,
        options=(
            Option(
                ("--speed",), "how many times as fast; 0: without waiting", Value("X", reads=_seconds), 1.0
            ),
            _MAX_WAIT,
            Option(("--until",), "where to pause", Value("MOMENT")),
            Option(("--follow",), "begin at the end, and show what is being recorded"),
        ),
        notes=_MOMENTS,
    ),
    Command(
        "render",
        "make a picture, text or film of a recording",
        _read_render,
        Value("SOURCE", Kind.FILE),
        word_is_required=True,
        options=(
            Option(
                ("--output", "-o"),
                "to write: .svg .txt .png .html .md .cast",
                Value("FILE", Kind.FILE, reads=Path),
            ),
            Option(("--at",), "which moment (default: the end)", Value("MOMENT")),
            Option(("--at-text",), "the moment when this was said first", Value("TEXT")),
            Option(("--size",), "of the screen (default: 120x40)", Value("CxR", reads=_size), (120, 40)),
            Option(("--theme",), "acp-dark, acp-light, ... (default: acp-dark)", Value("THEME"), ""),
            Option(("--scroll",), "which end is in view", Value("END", choices=("top", "bottom")), "bottom"),
            Option(
                ("--answer",),
                "what the demo's user chooses",
                Value("KIND", choices=("allow_once", "reject_once")),
                "allow_once",
            ),
            Option(("--prompt",), "what the demo's user asks for", Value("TEXT")),
            _MAX_WAIT,
        ),
        notes=f"SOURCE is a recording, or demo:NAME for what the scripted agent plays.\n{_MOMENTS}",
    ),
    Command(
        "redact",
        "make a recording that can be given away",
        _read_redact,
        Value("FILE", Kind.FILE),
        word_is_required=True,
        options=(
            Option(
                ("--output", "-o"),
                "the file to write; it must not exist",
                Value("FILE", Kind.FILE, reads=_new_file),
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
        "be the agent of a recording, for any client",
        _read_mock,
        Value("FILE", Kind.FILE),
        word_is_required=True,
        options=(
            Option(
                ("--speed",), "how many times as fast; 0: without waiting", Value("X", reads=_seconds), 1.0
            ),
            Option(("--strict",), "end at the first thing that the client does otherwise"),
        ),
        notes=_MOCK_NOTES,
    ),
    Command(
        "doctor",
        "say whether this machine and an agent are ready",
        _read_doctor,
        _AGENT,
        options=(
            _CWD,
            Option(
                ("--turn",),
                "try a turn; what it asks for is rejected",
                Value("PROMPT"),
                value_when_bare=DOCTORS_PROMPT,
            ),
            Option(
                ("--format",), "a report to read, or JSON", Value("FORMAT", choices=("text", "json")), "text"
            ),
        ),
        notes=_DOCTOR_NOTES,
    ),
    Command(
        "check",
        "say which rules of the protocol an agent breaks",
        _read_check,
        _AGENT,
        options=(
            Option(("--prompt", "-p"), "what to ask for (default: about a file)", Value("TEXT")),
            Option(("--timeout",), "for each step", Value("SECONDS", reads=_seconds), 120.0),
            Option(
                ("--format",), "a report to read, or JSON", Value("FORMAT", choices=("text", "json")), "text"
            ),
            Option(("--rules",), "list the rules instead"),
            *_RECORDING,
        ),
        notes=_CHECK_NOTES,
    ),
    Command(
        "settings",
        "print all settings, and what holds here",
        _read_settings,
        options=(_CWD, _MARKDOWN),
    ),
    Command("keys", "print all commands, and their keys", _read_keys, options=(_MARKDOWN,)),
    Command(
        "completion",
        "print a script that completes this command line",
        _read_completion,
        Value("SHELL", choices=("bash", "zsh", "fish", "agents", "scenarios")),
        word_is_required=True,
        notes=_COMPLETION_NOTES,
    ),
)
"""Every command in one place: a new one is a row here, and a case in `main`."""

_BY_NAME: Final = {command.name: command for command in COMMANDS}


class _Parser(argparse.ArgumentParser):
    """Prints the help that we make, and errors of one line."""

    def __init__(self, command: Command[Request]) -> None:
        super().__init__(prog="acp-tui", allow_abbrev=False)
        self._command = command
        self.add_argument("--version", action="version", version=f"acp-tui {__version__}")
        add_to(self, command)

    def format_help(self) -> str:
        return help_of(self._command) if self._command.name else overview(COMMANDS)

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"acp-tui: {message}\nacp-tui --help shows how to call it\n")
        raise SystemExit(ExitCode.USAGE)


def read_arguments(argv: Sequence[str]) -> Request:
    """The request that `argv` (without the program) stands for. Raises SystemExit for --help, --version and errors."""
    words, agent_argv = _split_off_command(argv)
    command, rest = _split_off_name(words)
    parser = _Parser(command)
    given = parser.parse_args(rest)
    try:
        if command.takes_agent:
            given.agent = _choice(given.word, agent_argv)
        elif agent_argv is not None:
            raise WrongUse(f"{command.name} takes no command behind --")
        return command.read(given)
    except WrongUse as error:
        parser.error(str(error))


def _split_off_command(argv: Sequence[str]) -> tuple[list[str], tuple[str, ...] | None]:
    """Everything behind the first `--` is the agent's, further `--` included; None where there is no `--`."""
    words = list(argv)
    if "--" not in words:
        return words, None
    at = words.index("--")
    return words[:at], tuple(words[at + 1 :])


def _split_off_name(words: list[str]) -> tuple[Command[Request], list[str]]:
    """Our command, of which the name can only be the first word, and the words without it."""
    if words and words[0] and words[0] in _BY_NAME:
        return _BY_NAME[words[0]], words[1:]
    return _BY_NAME[""], words


def _choice(name: str | None, argv: tuple[str, ...] | None) -> AgentChoice | None:
    if argv is None:
        return None if name is None else AgentChoice(name=name)
    if name is not None:
        raise WrongUse(f"an agent was named twice: {name}, and the command behind --")
    if not argv:
        raise WrongUse("there is no command behind --")
    return AgentChoice(argv=argv)
