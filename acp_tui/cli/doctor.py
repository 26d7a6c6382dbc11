"""`acp-tui doctor`: tells whether this machine and an agent are ready, in a report that can be shown to others.

The JSON form is one object: `version` (1), `ready`, `status` (the exit status) and `findings`, in the order of the
report. Each has `about` ("machine", "terminal" or "agent"), `topic`, `verdict` ("ok", "note" or "wrong"), `text`,
`hint` ("" where there is nothing to do) and `lines` (a list; what was said there). New keys may come in any version.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import anyio

from acp_tui.cli.exec_workplace import mcp_servers
from acp_tui.cli.exit_codes import ExitCode
from acp_tui.cli.failures import code_of
from acp_tui.cli.report_text import Clean, cleaning, wrapped
from acp_tui.cli.terminal_check import look_at_terminal
from acp_tui.client import settings
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.doctor import AgentCheck, Finding, Verdict, look_at_machine, note
from acp_tui.client.errors import ClientError, SettingsError
from acp_tui.client.sessions.policy import policy_of
from acp_tui.ui.terminal_colours import has_unicode

Section: TypeAlias = tuple[str, Sequence[Finding]]
"""What it is about, and what was found."""

MARKS: Final = {Verdict.OK: "✓", Verdict.NOTE: "!", Verdict.WRONG: "✗"}
ASCII_MARKS: Final = {Verdict.OK: "ok", Verdict.NOTE: "! ", Verdict.WRONG: "XX"}
TOPIC_CELLS: Final = 11


def run_doctor(command: AgentCommand | None, cwd: Path, prompt: str | None, output_format: str) -> int:
    """Look at everything and print it; returns the exit status. `prompt` None: no turn is taken."""
    sections: list[Section] = [
        ("machine", tuple(look_at_machine(os.environ, _unusable))),
        ("terminal", tuple(look_at_terminal(os.environ))),
    ]
    failure = None
    if command is not None:
        findings, failure = anyio.run(_examine, command, cwd, prompt)
        sections.append(("agent", findings))
    is_ready = all(finding.verdict is not Verdict.WRONG for _, findings in sections for finding in findings)
    code = ExitCode.DONE if is_ready else code_of(failure) or ExitCode.ERROR
    clean = cleaning(command.env if command is not None else {})
    text = _as_json(sections, code, clean) if output_format == "json" else _as_text(sections, is_ready, clean)
    print(text)
    return code


def _unusable(read: settings.Settings) -> Sequence[str]:
    """Themes and keys that are not there: only the screen knows."""
    from acp_tui.ui.settings_app import SettingsApp  # it loads Textual

    return SettingsApp(Path(), settings.Settings(), (), None).use_settings(read)


async def _examine(
    command: AgentCommand, cwd: Path, prompt: str | None
) -> tuple[Sequence[Finding], ClientError | None]:
    try:
        read = settings.read_settings(settings.settings_file()).settings
    except SettingsError:
        read = settings.Settings()  # what is wrong is told where the machine is
    notes: list[str] = []
    check = AgentCheck(
        command,
        cwd,
        policy_of(read).for_agent(command),
        lambda capabilities: mcp_servers(capabilities, cwd, notes.append),
    )
    await check.run(prompt)
    return (*check.findings, *(note("Settings", each) for each in notes)), check.failure


def _as_json(sections: Sequence[Section], code: ExitCode, clean: Clean) -> str:
    findings = [
        {
            "about": about,
            "topic": finding.topic,
            "verdict": finding.verdict.value,
            "text": clean(finding.text),
            "hint": clean(finding.hint),
            "lines": [clean(line) for line in finding.lines],
        }
        for about, found in sections
        for finding in found
    ]
    report = {"version": 1, "ready": code is ExitCode.DONE, "status": int(code), "findings": findings}
    return json.dumps(report, ensure_ascii=True, indent=2)


def _as_text(sections: Sequence[Section], is_ready: bool, clean: Clean) -> str:
    marks = MARKS if has_unicode(os.environ) else ASCII_MARKS
    lines: list[str] = []
    for about, findings in sections:
        lines += [f"{about.capitalize()}", *_lines(findings, marks, clean), ""]
    lines.append("Ready." if is_ready else f"Not ready: see {marks[Verdict.WRONG].strip()} above.")
    return "\n".join(lines)


def _lines(findings: Sequence[Finding], marks: dict[Verdict, str], clean: Clean) -> Iterator[str]:
    for finding in findings:
        before = f"  {marks[finding.verdict]} {finding.topic:<{TOPIC_CELLS}} "
        behind = " " * len(before)
        yield wrapped(clean(finding.text), before, behind)
        yield from (wrapped(clean(line), behind, behind) for line in finding.hint.splitlines())
        yield from (f"{behind}| {clean(line)}" for line in finding.lines)
