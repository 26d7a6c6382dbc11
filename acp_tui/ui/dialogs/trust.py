"""Questions before an agent starts: whether to use what a project provides, and whether to run a package."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from anyio import to_thread
from textual.app import App
from textual.content import Content

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.remembered import agree, consent_file, is_agreed, what_runs
from acp_tui.client.errors import SettingsError
from acp_tui.client.loading_variables import VariableRow, rows_of
from acp_tui.client.secrets.masking import masked_text
from acp_tui.client.secrets.names import is_secret_name
from acp_tui.client.settings.location import changed, value_at
from acp_tui.client.settings.mcp import Server
from acp_tui.client.settings.project_settings import ProjectSettings, layered
from acp_tui.client.settings.reader import SettingsRead
from acp_tui.client.settings.wording import set_value
from acp_tui.conversation.facts import Pairs, StdioServer
from acp_tui.conversation.wording import from_home
from acp_tui.ui.kit.dialog import shown_line
from acp_tui.ui.kit.question_screen import QuestionScreen

MASK: Final = "••••••"
_REFERENCE: Final = re.compile(r"(\$\{[A-Za-z_][A-Za-z0-9_]*(?:\}|:-\}?))")
"""A reference to a user's variable. It isn't a secret, and the user must see which variable would be passed on."""
_SCHEME: Final = re.compile(r"(?:Bearer|Basic|Token|Digest) ", re.IGNORECASE)
_TOKEN: Final = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9_\-+=]{16,}")


class TrustDialog(QuestionScreen):
    """Asks whether to trust a project's MCP servers."""

    ALLOWS = True

    def __init__(self, file: Path, servers: Sequence[Server]) -> None:
        """`file` is the project's file, `servers` its entries, as written."""
        told = Content.assemble(
            shown_line(from_home(file), "bold"),
            " lists these MCP servers. The agent would run their commands as you, with all your permissions.\n",
        )
        lines = [told, *(line for server in servers for line in _server_lines(server))]
        super().__init__("Trust this project's servers?", lines)


def _server_lines(server: Server) -> list[Content]:
    if isinstance(server, StdioServer):
        what, settings = shlex.join((server.command, *server.args)), _pairs(server.env, "=")
    else:
        what = f"over {server.kind}: {server.url}"
        settings = _pairs(tuple((name, _masked("secret", value)) for name, value in server.headers), ": ")
    head = Content.assemble(shown_line(server.name, "bold $text-accent"), "\n  ", shown_line(what))
    return [head, *settings, *map(_row, rows_of(server, os.environ))]


def _row(row: VariableRow) -> Content:
    style = "$text-warning" if row.is_warning else ""
    return Content.assemble("  ", shown_line(f"{'⚠ ' if row.is_warning else ''}{row.text}", style))


def _pairs(pairs: Pairs, sign: str) -> list[Content]:
    """Show variables that decide where a program comes from, such as PATH, but hide what looks like a secret."""
    return [
        Content.assemble("  ", shown_line(f"{name}{sign}{_masked(name, value)}", "$foreground-muted"))
        for name, value in pairs
    ]


def _masked(name: str, value: str) -> str:
    """The value with what looks like a secret masked, except for variable references."""
    if not (is_secret_name(name) or _TOKEN.fullmatch(value) or masked_text(value) != value):
        return value
    return "".join(
        piece if not piece or _REFERENCE.fullmatch(piece) or (at == 0 and _SCHEME.fullmatch(piece)) else MASK
        for at, piece in enumerate(_REFERENCE.split(value))
    )


class OpenTwiceQuestion(QuestionScreen):
    """Returns True if the user wants to open a session that is open elsewhere, as `told`."""

    def __init__(self, told: str) -> None:
        lines = [Content(told), Content(), Content("No: you only read the session's recording.")]
        super().__init__("Open it here, too?", lines, yes="Yes, open it")


class TrustSettingsDialog(QuestionScreen):
    """Asks whether to use a project's settings."""

    def __init__(self, project: ProjectSettings, user: SettingsRead) -> None:
        told = Content.assemble(
            shown_line(from_home(project.file), "bold"),
            " changes these settings here. A project can only restrict what agents may do, and"
            " choose how much of a conversation is shown.\n",
        )
        super().__init__("Use this project's settings?", [told, *_lines(project, user)])


def _lines(project: ProjectSettings, user: SettingsRead) -> Iterator[Content]:
    laid = layered(user, project)
    for key, _ in changed(user.settings, laid.settings):
        theirs, yours = (set_value(value_at(settings, key)) for settings in (laid.settings, user.settings))
        yield Content.assemble(
            (key, "bold $text-accent"),
            "\n  ",
            shown_line(theirs),
            "\n  ",
            shown_line(f"yours: {yours}", "$foreground-muted"),
        )
    for problem in laid.problems:
        yield shown_line(f"✗ {problem}", "$foreground-muted")


async def agreed_command(app: App[Any], command: AgentCommand) -> AgentCommand | None:
    """The command, if the user agrees to it or has agreed before; otherwise None. Await it in a worker."""
    if not await to_thread.run_sync(is_agreed, command, consent_file()):
        if not await app.push_screen_wait(FirstRunDialog(command)):
            return None
        try:
            await to_thread.run_sync(agree, command, consent_file())
        except SettingsError as error:
            app.notify(f"{error}; {error.hint}", severity="warning", markup=False)
    return replace(command, package=None, recorded_in=None)


class FirstRunDialog(QuestionScreen):
    """Returns True if the user agrees to the first run."""

    ALLOWS = True

    def __init__(self, command: AgentCommand) -> None:
        """`command` needs consent. Shows everything that would run."""
        question, about, line, *env = what_runs(command)
        told = [shown_line(about), Content(), shown_line(line, "bold")]
        told += [shown_line(each, "$foreground-muted") for each in env]
        told += [Content(), Content("You will be asked again if any of this changes.")]
        if command.recorded_in is not None:
            told += [Content("No: you only read the session's recording, and nothing runs.")]
        super().__init__(shown_line(question), told, yes="Yes, run it")
