"""The one description of the command line: the parser, the help and the shells' completion are made of it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from acp_tui.cli.command_line import Command, Kind, Option, Value
from acp_tui.cli.request_readers import (
    SHELLS,
    directory_of,
    new_file_of,
    read_agents,
    read_check,
    read_completion,
    read_demo,
    read_doctor,
    read_exec,
    read_inspect,
    read_keys,
    read_mock,
    read_nameless,
    read_redact,
    read_render,
    read_replay,
    read_run,
    read_sessions,
    read_settings,
    seconds_of,
    size_of,
)
from acp_tui.cli.requests import Request

_AGENT = Value("AGENT", Kind.AGENT)
_CWD = Option(
    ("--cwd",),
    "the folder to work in (default: this one)",
    Value("DIR", Kind.FOLDER, reads=directory_of),
    ".",
)
_RECORDING = (
    Option(
        ("--record",),
        "record all that passes between acp-tui and the agent",
        Value("FILE", Kind.FILE, reads=new_file_of),
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

DOCTORS_PROMPT: Final = "Reply with the one word: ready. Use no tools."
_DOCTOR_NOTES = """\
Secrets are left out of the report, so that it can be shown to others. It ends
with 0 when all is ready, 1 when something is wrong, 6 when the agent wants a
login, 7 when it died or broke the protocol, 126/127 when its command cannot
be run / is not found.
"""
_SOURCE = """\
SOURCE is a recording, or demo:NAME: the scripted agent plays that scenario first.
"""
_MOMENTS = """\
A moment is a number of events (120), a time (12.5s, 1:05), or "question": when
a permission is asked for first.
"""
_MAX_WAIT = Option(
    ("--max-wait",), "no pause is longer than so many seconds", Value("S", reads=seconds_of), 2.0
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
    Command("", "work with an agent", read_nameless, _AGENT, options=_RUN_OPTIONS),
    Command("run", 'work with an agent, also with one called "exec"', read_run, _AGENT, True, _RUN_OPTIONS),
    Command(
        "exec",
        "do one turn without a screen",
        read_exec,
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
        read_sessions,
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
        read_agents,
        options=(
            Option(("--update",), "fetch the agent registry first"),
            Option(("--json",), "as JSON"),
            Option(("--verbose",), "all there is to say of each, and what is wrong in the registry"),
        ),
    ),
    Command(
        "demo",
        "try acp-tui with a scripted agent",
        read_demo,
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
        read_replay,
        Value("SOURCE", Kind.FILE),
        word_is_required=True,
        options=(
            Option(
                ("--speed",), "how many times as fast; 0: without waiting", Value("X", reads=seconds_of), 1.0
            ),
            _MAX_WAIT,
            Option(("--until",), "where to pause", Value("MOMENT")),
            Option(("--follow",), "begin at the end, and show what is being recorded"),
        ),
        notes=_SOURCE + _MOMENTS,
    ),
    Command(
        "inspect",
        "show the frames of a recording, and the rules they break",
        read_inspect,
        Value("SOURCE", Kind.FILE),
        word_is_required=True,
        notes=_SOURCE,
    ),
    Command(
        "render",
        "make a picture, text or film of a recording",
        read_render,
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
            Option(("--size",), "of the screen (default: 120x40)", Value("CxR", reads=size_of), (120, 40)),
            Option(("--theme",), "acp-dark, acp-light, ... (default: acp-dark)", Value("THEME"), ""),
            Option(("--scroll",), "which end is in view", Value("END", choices=("top", "bottom")), "bottom"),
            Option(
                ("--answer",),
                "what the demo's user chooses",
                Value("KIND", choices=("allow_once", "reject_once")),
                "allow_once",
            ),
            Option(("--prompt",), "what the demo's user asks for", Value("TEXT")),
            Option(("--speed",), "how many times as fast a .cast is", Value("X", reads=seconds_of), 1.0),
            _MAX_WAIT,
        ),
        notes=f"SOURCE is a recording, or demo:NAME for what the scripted agent plays.\n{_MOMENTS}",
    ),
    Command(
        "redact",
        "make a recording that can be given away",
        read_redact,
        Value("FILE", Kind.FILE),
        word_is_required=True,
        options=(
            Option(
                ("--output", "-o"),
                "the file to write; it must not exist",
                Value("FILE", Kind.FILE, reads=new_file_of),
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
        read_mock,
        Value("SOURCE", Kind.FILE),
        word_is_required=True,
        options=(
            Option(
                ("--speed",),
                "how many times as fast; 0: without waiting (default: 1)",
                Value("X", reads=seconds_of),
                1.0,
            ),
            Option(("--strict",), "end at the first thing that the client does otherwise"),
            Option(("--timeout",), "end when the client says or reads nothing", Value("S", reads=seconds_of)),
            Option(("--login",), "log in on this terminal, as some scenarios want it"),
        ),
        notes=_MOCK_NOTES,
    ),
    Command(
        "doctor",
        "say whether this machine and an agent are ready",
        read_doctor,
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
        read_check,
        _AGENT,
        options=(
            Option(("--prompt", "-p"), "what to ask for (default: about a file)", Value("TEXT")),
            Option(("--timeout",), "for each step", Value("SECONDS", reads=seconds_of), 120.0),
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
        read_settings,
        options=(_CWD, _MARKDOWN),
    ),
    Command("keys", "print all commands, and their keys", read_keys, options=(_MARKDOWN,)),
    Command(
        "completion",
        "print a script that completes this command line",
        read_completion,
        Value("SHELL", choices=SHELLS, is_closed=False),
        word_is_required=True,
        notes=_COMPLETION_NOTES,
    ),
)
"""Every command in one place: a new one is a row here, and a case in `main`."""
