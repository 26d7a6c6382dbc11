"""`acp-tui doctor`: reports whether this machine and an agent are ready, in a form you can share."""

from __future__ import annotations

import os
import re
import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import anyio

from acp_tui.cli import ExitCode, code_of
from acp_tui.cli.arguments import Args
from acp_tui.cli.command import UsageError
from acp_tui.cli.output import Clean, make_cleaner, print_json, wrapped
from acp_tui.cli.prerequisites import command_of, reason_not_to_draw
from acp_tui.cli.terminal import Headless, ready_to_run, say_left_out
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.configured_agents import config_file, read_configured_agents
from acp_tui.client.desktop import ANSWER, QUESTION, SURE_QUESTION, UNANSWERED_S, cell_size, draws_sixel, lag_s
from acp_tui.client.doctor import AgentCheck, CheckResult, Verdict, check_machine, note, ok, printed, wrong
from acp_tui.client.errors import ClientError, SettingsError
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.consent import policy_of
from acp_tui.client.sessions.driver import additions_for
from acp_tui.client.settings.location import settings_file
from acp_tui.client.settings.mcp import Server, servers_at_start
from acp_tui.client.settings.reader import read_settings
from acp_tui.client.settings.settings import Settings
from acp_tui.ui.commands.keymap import keymap_of
from acp_tui.ui.conversation.images import Way, way_for
from acp_tui.ui.kit.terminal_colors import FENCE, MUTE, exchange, has_unicode
from acp_tui.ui.kit.themes import theme_notes

Section: TypeAlias = tuple[str, Sequence[CheckResult]]
"""A subject and its findings."""

MARKS: Final = {Verdict.OK: "✓", Verdict.NOTE: "!", Verdict.WRONG: "✗"}
ASCII_MARKS: Final = {Verdict.OK: "ok", Verdict.NOTE: "! ", Verdict.WRONG: "XX"}
TOPIC_CELLS: Final = 11
MIN_SIZE: Final = (40, 12)
"""Below this size, cards and lists show little of their contents."""
KITTY_QUERY: Final = "\x1b[?u" + SURE_QUESTION
"""Asks which keys can be told apart (Kitty's protocol)."""
KITTY_ANSWER: Final = re.compile(rb"\x1b\[\?\d+u")
ANSWER_LIMIT_S: Final = 1.0
TRUE_COLOR: Final = ("truecolor", "24bit")
"""Values of COLORTERM."""
PICTURES: Final[Mapping[Way, str]] = {
    "kitty": "sharp (kitty's protocol)",
    "sixel": "sharp (sixel)",
    "blocks": "as colored blocks",
    "off": "only named: the terminal has too few colors",
}


def run(args: Args) -> int:
    """Check everything and print the report. Returns the exit status."""
    if args.agent is None and args.turn is not None:
        raise UsageError("--turn needs an agent before it: acp-tui doctor AGENT --turn")
    command = ready_to_run(command_of(args.agent)) if args.agent is not None else None
    sections: list[Section] = [
        ("machine", tuple(check_machine(os.environ, partial(_unusable, has_agent=command is not None)))),
        ("terminal", tuple(_look_at_terminal(os.environ))),
    ]
    failure = None
    if command is not None:
        findings, failure = anyio.run(_examine, command, command.cwd or args.cwd, args.turn)
        sections.append(("agent", findings))
    is_ready = all(finding.verdict is not Verdict.WRONG for _, findings in sections for finding in findings)
    code = ExitCode.DONE if is_ready else code_of(failure) or ExitCode.ERROR
    clean = make_cleaner(command.env if command is not None else {})
    if args.format == "json":
        print_json("doctor", {"ready": is_ready, "status": int(code), "findings": list(_as_json(sections, clean))})
    else:
        print(_as_text(sections, is_ready, clean))
    return code


def _unusable(read: Settings, *, has_agent: bool) -> Iterator[str]:
    """Yield what only others check: themes, keys, the user's agents, and MCP servers, if no agent's session does."""
    yield from theme_notes(read.appearance.theme)
    yield from keymap_of(read.keys).notes
    for said in read_configured_agents(config_file(), os.environ).notes:
        yield said.partition("\n")[0]
    if not has_agent:
        servers = servers_at_start(settings_file())
        yield from (each.reason for each in servers.skipped)
        yield from servers.warnings


async def _examine(
    command: AgentCommand, cwd: Path, prompt: str | None
) -> tuple[Sequence[CheckResult], ClientError | None]:
    try:
        read = read_settings(settings_file()).settings
    except SettingsError:
        read = Settings()  # the report about the machine shows what is invalid
    notes: list[str] = []

    async def servers(agent: Agent) -> Sequence[Server]:
        added = await additions_for(agent, cwd, (), Headless(notes.append))
        say_left_out(added, notes.append)
        return added.servers

    check = AgentCheck(command, cwd, policy_of(read).for_agent(command), servers)
    await check.run(prompt)
    return (*check.findings, *(note("Settings", each) for each in notes)), check.failure


def _as_json(sections: Sequence[Section], clean: Clean) -> Iterator[dict[str, object]]:
    for about, found in sections:
        for finding in found:
            yield {
                "about": about,
                "topic": finding.topic,
                "verdict": finding.verdict,
                "text": clean(finding.text),
                "hint": clean(finding.hint),
                "lines": [clean(line) for line in finding.lines],
            }


def _as_text(sections: Sequence[Section], is_ready: bool, clean: Clean) -> str:
    marks = MARKS if has_unicode(os.environ) else ASCII_MARKS
    lines: list[str] = []
    for about, findings in sections:
        lines += [f"{about.capitalize()}", *_lines(findings, marks, clean), ""]
    lines.append("Ready." if is_ready else f"Not ready: see {marks[Verdict.WRONG].strip()} above.")
    return "\n".join(lines)


def _lines(findings: Sequence[CheckResult], marks: dict[Verdict, str], clean: Clean) -> Iterator[str]:
    for finding in findings:
        before = f"  {marks[finding.verdict]} {finding.topic:<{TOPIC_CELLS}} "
        behind = " " * len(before)
        yield wrapped(clean(finding.text), before, behind)
        yield from (wrapped(clean(line), behind, behind) for line in finding.hint.splitlines())
        yield from (f"{behind}| {clean(line)}" for line in finding.lines)


# The terminal: what it is, and what works there. Nothing is drawn.


def _look_at_terminal(environ: Mapping[str, str]) -> Iterator[CheckResult]:
    """Yield what the terminal is and can do, as far as it reports that.

    May take a second, because it asks the terminal.
    """
    yield _terminal(environ)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        yield note("Screen", "not a terminal")
    else:
        yield _size()
        yield _keys(environ)
        yield from _answers(environ)
    yield _colors(environ)
    yield _letters(environ)
    if environ.get("TMUX"):
        yield from _tmux()


def _terminal(environ: Mapping[str, str]) -> CheckResult:
    reason, _, hint = reason_not_to_draw(environ).partition("\n  ")
    if reason:
        return wrong("Terminal", reason, hint)
    term = environ.get("TERM", "")
    where = " over SSH" if environ.get("SSH_CONNECTION") else ""
    return ok("Terminal", f"{environ.get('TERM_PROGRAM') or term} (TERM={term}){where}")


def _size() -> CheckResult:
    columns, rows = os.get_terminal_size(sys.stderr.fileno())
    text = f"{columns}x{rows}"
    if columns < MIN_SIZE[0] or rows < MIN_SIZE[1]:
        return note("Size", f"{text}: it works, but {MIN_SIZE[0]}x{MIN_SIZE[1]} or more is easier to read")
    return ok("Size", text)


def _colors(environ: Mapping[str, str]) -> CheckResult:
    if environ.get("NO_COLOR"):
        return ok("Colors", "none, because NO_COLOR is set")
    if environ.get("COLORTERM") in TRUE_COLOR:
        return ok("Colors", "16 million")
    count = "256" if "256" in environ.get("TERM", "") else "16"
    return ok("Colors", f"{count}; if it has more, set COLORTERM=truecolor")


def _letters(environ: Mapping[str, str]) -> CheckResult:
    if has_unicode(environ):
        return ok("Letters", "UTF-8")
    return note(
        "Letters", "ASCII only, because of the locale", "for more, set LANG=C.UTF-8 or your own locale in UTF-8"
    )


def _keys(environ: Mapping[str, str]) -> CheckResult:
    if environ.get("TERM", "") in MUTE:
        return note("Keys", "not asked")
    if KITTY_ANSWER.search(_answer_to(KITTY_QUERY)):
        return ok("Keys", "all reported, including Shift+Enter (kitty's protocol)")
    return note("Keys", "Shift+Enter may look like Enter here: Ctrl+J makes a new line everywhere")


def _answers(environ: Mapping[str, str]) -> Iterator[CheckResult]:
    """What follows from the answers to the questions that the screen asks, too."""
    answer = _answer_to(QUESTION + SURE_QUESTION) if environ.get("TERM", "") not in MUTE else b""
    found = FENCE.search(answer)
    sure = found[0].decode() if found else ""
    later_s = lag_s(sure) if ANSWER.encode() in answer else UNANSWERED_S
    words = f"the terminal doesn't say when it has shown one, so allowing takes {later_s:g} s longer"
    soon = ok("Questions", "the terminal says when it has shown one, so answers count soon after")
    yield note("Questions", words) if later_s else soon
    colors = (
        "truecolor" if environ.get("COLORTERM") in TRUE_COLOR else "256" if "256" in environ.get("TERM", "") else None
    )
    way = way_for("auto", environ, colors if not environ.get("NO_COLOR") else None)
    if way == "sixel" and not (draws_sixel(sure) and cell_size(sys.stderr.fileno())):
        way = "blocks"
    yield ok("Pictures", PICTURES[way])


def _answer_to(query: str) -> bytes:
    """Return the terminal's answer. Leaves no unread input, shows nothing, and leaves the terminal's mode as it was."""
    terminal = sys.stdin.fileno()
    try:
        mode = termios.tcgetattr(terminal)
    except termios.error:
        return b""
    try:
        return exchange(terminal, sys.stderr.fileno(), ANSWER_LIMIT_S, query=query.encode())
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, mode)


def _tmux() -> Iterator[CheckResult]:
    passthrough = printed("tmux", "show-options", "-gv", "allow-passthrough")
    if passthrough in ("on", "all"):
        yield ok("tmux", "passes sequences on (allow-passthrough)")
    else:
        hint = "tmux set -g allow-passthrough on"
        yield note("tmux", "keeps pictures and notifications from the outer terminal", hint)
    if printed("tmux", "show-options", "-gv", "focus-events") != "on":
        yield note("tmux", "doesn't report focus, so acp-tui sends no notifications", "tmux set -g focus-events on")
