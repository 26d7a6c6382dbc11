"""The room's commands of the command line. `acp_tui.cli.commands` takes these rows in, if the room is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from acp_tui.cli import command

if TYPE_CHECKING:
    import acp_tui.workbench.cli.check
    import acp_tui.workbench.cli.inspect
    import acp_tui.workbench.cli.mock
    import acp_tui.workbench.cli.redact
else:
    acp_tui = command.Late("acp_tui")

_REDACT_NOTES = """\
FILE is a recording, or a recorded session's ID.

Names, addresses, home folders, keys, and tokens become text of the same length, the same text everywhere.

Exits with 0, or with 1 if nothing was written.
"""
_CHECK_NOTES = """\
The agent works in a temporary folder, and nothing it asks for is allowed.

Exits with 0 when it breaks no rule of severity error, 1 when it does, 6 if it needs a login, 7 if it died or went \
silent, and 126 or 127 if its command can't be run or found.
"""

_BUILD: Final = "Build an agent or a client"

COMMANDS: tuple[command.CliCommand, ...] = (
    command.CliCommand(
        "redact",
        "make a recording you can share",
        acp_tui.workbench.cli.redact.run,
        command.Value("FILE", command.ValueKind.RECORDING),
        needs="a recording: acp-tui redact FILE -o FILE",
        options=(
            command.Option(
                ("--output", "-o"),
                "the file to write; it must not exist",
                command.Value("FILE", command.ValueKind.NEW_FILE),
                is_required=True,
            ),
            command.Option(("--secret",), "also replace this text", command.Value("TEXT"), is_repeated=True),
            command.Option(("--drop-media",), "drop images and sounds"),
        ),
        examples=(
            "acp-tui redact run.jsonl -o public.jsonl",
            'acp-tui redact 0199 -o public.jsonl --secret "Project X"',
        ),
        notes=_REDACT_NOTES,
        group=command.LOOK_BACK,
    ),
    command.CliCommand(
        "check",
        "find the protocol rules an agent breaks",
        acp_tui.workbench.cli.check.run,
        command.AGENT,
        options=(
            command.Option(("--prompt", "-p"), "the prompt (default: about a file)", command.Value("TEXT")),
            command.Option(
                ("--timeout",),
                "seconds for each step (default: 120)",
                command.Value("S", command.ValueKind.NUMBER),
                120.0,
            ),
            command.SANDBOX,
            command.PROTOCOL,
            command.output_format("text", "json"),
            command.Option(("--rules",), "list the rules instead"),
            *command.RECORDING,
        ),
        examples=("acp-tui check claude", "acp-tui check --format json -- my-agent --acp"),
        notes=_CHECK_NOTES,
        group=_BUILD,
    ),
    command.CliCommand(
        "inspect",
        "browse a recording's frames and the rules they break",
        acp_tui.workbench.cli.inspect.run,
        command.SOURCE,
        needs="a recording or demo:NAME: acp-tui inspect FILE; to list yours: acp-tui sessions",
        examples=("acp-tui inspect run.jsonl", "acp-tui inspect demo:coding"),
        notes=command.SOURCE_NOTE,
        group=_BUILD,
    ),
    command.CliCommand(
        "mock",
        "play a demo scenario as an agent, for any client",
        acp_tui.workbench.cli.mock.run,
        command.Value("SCENARIO", command.ValueKind.SCENARIO),
        needs="a scenario, or its .toml file: acp-tui mock coding; to list them: acp-tui demo --list",
        options=(command.SPEED, command.Option(("--login",), "log in on this terminal, for scenarios that need it")),
        examples=("acp-tui mock coding", "acp-tui mock failures --speed 0"),
        group=_BUILD,
    ),
)
