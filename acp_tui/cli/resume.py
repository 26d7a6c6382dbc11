"""`--resume`: which session of the past is meant and what is run for it; and what can be resumed is said at the end.

Opening it is the screen's matter.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio

from acp_tui.cli.exec_terminal import open_terminal
from acp_tui.cli.exit_codes import ExitCode
from acp_tui.cli.saying import say, say_error
from acp_tui.client.agents.catalogue import find_agent
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentNotFound, ClientError
from acp_tui.client.sessions.recordings import recording_store
from acp_tui.client.sessions.session_history import (
    PastSession,
    past_session,
    recorded_sessions,
    short_ids,
)
from acp_tui.client.settings.tree import RecordingSettings
from acp_tui.client.transcript.index import SessionIndex
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.visible import make_visible_line

if TYPE_CHECKING:
    from acp_tui.ui.tab.reopening import LeftSession, Reopening

MOST_NAMED: Final = 5


class NoSuchSession(ClientError):
    """There is none that was meant."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """What `--resume` comes to."""

    opening: Reopening
    command: AgentCommand | None
    """None: nothing runs, the session is only read again."""
    cwd: Path


def recordings_index() -> SessionIndex:
    """The index of what this user has recorded."""
    return SessionIndex(recording_store(RecordingSettings()))


def find_resumed(wanted: str, cwd: Path, given: AgentCommand | None) -> Resumed | ExitCode:
    """The session of this id, or the last one of the folder; an exit status where there is none, which is said.

    `given` is the agent that the user names.
    """
    from acp_tui.ui.tab.reopening import Reopening

    index = recordings_index()
    try:
        past = _named(index, wanted, cwd, given) if wanted else _last(index, cwd, given)
        command = _command_of(past, given)
    except ClientError as error:
        say_error(error)
        return ExitCode.USAGE
    return Resumed(Reopening(past, index, by_agent=command is not None), command, past.cwd)


def find_session(index: SessionIndex, wanted: str) -> PastSession:
    """The recorded session whose id is this or begins so. Raises ClientError."""
    found = index.find(wanted)
    if found is None:
        raise NoSuchSession(
            f"no session that was recorded begins with {wanted!r}", hint=_which_there_are(index)
        )
    return past_session(found)


def _named(index: SessionIndex, wanted: str, cwd: Path, given: AgentCommand | None) -> PastSession:
    if given is None:
        return find_session(index, wanted)
    found = index.find(wanted)
    if found is None:  # the agent may know it from elsewhere
        return PastSession(given.name, SessionId(wanted), cwd, is_listed=True)
    past = past_session(found)
    if not past.is_of(given):
        raise NoSuchSession(
            f"session {past.session_id} is one of {past.agent}, not of {given.name}",
            hint=f"acp-tui --resume {shlex.quote(past.session_id)}",
        )
    return past


def _last(index: SessionIndex, cwd: Path, given: AgentCommand | None) -> PastSession:
    for past in recorded_sessions(index, cwd):
        if given is None or past.is_of(given):
            return past
    of_agent = f" with {given.name}" if given is not None else ""
    raise NoSuchSession(f"no session{of_agent} was recorded in {cwd}", hint=_which_there_are(index))


def _which_there_are(index: SessionIndex) -> str:
    past = recorded_sessions(index, None)
    if not past:
        return "nothing was recorded yet"
    short = short_ids(one.session_id for one in past)
    lines = [
        f"{short[one.session_id]}  {one.title or '(untitled)'} ({one.agent})" for one in past[:MOST_NAMED]
    ]
    return "\n  ".join(("the last ones are:", *lines, "acp-tui sessions --all lists all of them"))


def _command_of(past: PastSession, given: AgentCommand | None) -> AgentCommand | None:
    """What to run; None where the session can, or is to be, read only. Raises ClientError."""
    why = "" if past.is_listed else past.why_not_again
    if why:
        say(f"{past.title or past.session_id}: {why}; it is shown from its recording")
        return None
    if given is not None:
        return given
    try:
        return find_agent(past.agent).ready()
    except AgentNotFound as error:
        if past.command and not _is_known(past.agent):
            return _agreed(past)
        say(f"{error}; the session is shown from its recording")
        return None


def _is_known(agent: str) -> bool:
    """Whether that is a name, although the agent may not run here."""
    try:
        find_agent(agent)
    except AgentNotFound:
        return False
    return True


def _agreed(past: PastSession) -> AgentCommand | None:
    """The command as it was recorded, where the user wants it to run."""
    terminal = open_terminal()
    if terminal is None:
        return None
    line = make_visible_line(shlex.join(past.command))
    try:
        terminal.show(
            f"The session was made with this command, which stands in its recording:\n  {line}\n"
            f"Run it in {make_visible_line(str(past.cwd))}? Else the session is only read again. [y/N] "
        )
        terminal.forget_typed()
        answer = anyio.run(terminal.read_line) or ""
    finally:
        terminal.close()
    return AgentCommand(past.agent, past.command) if answer.lower() in ("y", "yes") else None


# At the end


def say_how_to_resume(left: Sequence[LeftSession]) -> None:
    """How each session that was left can be come back to, on the terminal."""
    if not left:
        return
    titles: dict[str, str] = {}
    with suppress(ClientError):
        titles = {
            past.session_id: past.title for past in reversed(recorded_sessions(recordings_index(), None))
        }
    short = short_ids({*titles, *(one.session_id for one in left)})
    for one in left:
        told = _how(one, short[one.session_id], is_recorded=one.session_id in titles)
        if told:
            title = titles.get(one.session_id) or one.title
            with suppress(OSError):  # the terminal may be gone
                sys.stderr.write(f"{make_visible_line(title)}\n  {make_visible_line(told)}\n")


def _how(left: LeftSession, short: str, *, is_recorded: bool) -> str:
    if is_recorded:
        note = "" if left.can_reopen else "    (re-read only: the agent cannot open it again)"
        return f"acp-tui --resume {shlex.quote(short)}{note}"
    if left.can_reopen and left.agent_is_listed:
        return f"acp-tui {left.agent} --resume {shlex.quote(left.session_id)}"
    return ""
