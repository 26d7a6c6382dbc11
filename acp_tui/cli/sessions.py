"""Recorded sessions: `acp-tui sessions` lists them; `--resume` continues one."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from acp_tui.cli import ExitCode
from acp_tui.cli.arguments import Args
from acp_tui.cli.output import print_json, say
from acp_tui.cli.prerequisites import ExitOnError
from acp_tui.client.agents.address import is_address
from acp_tui.client.agents.catalogue import recorded_agent
from acp_tui.client.agents.command import DEMO, AgentCommand
from acp_tui.client.errors import AgentNotFound, ClientError
from acp_tui.client.prompts.memory import DraftKey, PromptMemory
from acp_tui.client.sessions.marks import SessionMarks, sessions_of
from acp_tui.client.sessions.session_history import (
    LeftSession,
    PastSession,
    last_here,
    line_with,
    past_session,
    recorded_sessions,
    sandboxed_as_before,
    short_ids,
    warning_if_open,
)
from acp_tui.client.settings.location import state_folder
from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.terminals import emulator
from acp_tui.client.transcript.index import RecordedSession, SessionIndex
from acp_tui.client.transcript.recording_plan import recording_store
from acp_tui.client.worktrees import known_worktree
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.wording import from_home
from acp_tui.values import dataclass

MAX_NAMED: Final = 5
UNTITLED: Final = "(untitled)"
FORK: Final = "  (fork)"


def run(args: Args) -> int:
    return list_sessions(None if args.all else args.cwd, args.word, as_json=args.format == "json")


def list_sessions(cwd: Path | None, words: str, *, as_json: bool) -> int:
    """Print the sessions of a folder and its repository's other worktrees, or of all, that contain `words`."""
    index = recordings_index()
    with ExitOnError(ExitCode.ERROR):
        drafts = PromptMemory(state_folder()).places()
        found = [
            replace(past, has_draft=DraftKey(str(past.cwd), past.session_id) in drafts)
            for past in SessionMarks().marked(sessions_of(index, cwd, words))
        ]
        if as_json:
            print_json("sessions", found)
        elif found:
            rows = rows_of(index, found)
            margin = max(row.index(" ") for row in rows)
            for row, past in zip(rows, found, strict=True):
                print(row)  # with words, each recording is read for its line, and the first lines come at once
                with suppress(ClientError):
                    line = line_with(index, past.recorded, words) if words and past.recorded is not None else ""
                    if line and line != past.title:
                        print(make_visible_line(f"{'':<{margin}}  {line}"))
        else:
            none = what_is_elsewhere(index, cwd, words, "acp-tui", "sessions", *([words] if words else []), "--all")
            (say if words else print)(none)
    return ExitCode.ERROR if words and not found else ExitCode.DONE


def what_is_elsewhere(index: SessionIndex, cwd: Path | None, words: str, *again: str) -> str:
    """Say that there is none, and what shows those of other folders, among them the demo's. Raises ClientError."""
    elsewhere = recorded_sessions(index, None, words)
    found = f"No recorded session contains {words!r}" if words else "No session was recorded"
    where = f" in {cwd}" if cwd is not None else ""
    if cwd is None or not elsewhere:
        return make_visible_line(f"{found}{where}.")
    number = f"{len(elsewhere)} in other folders" if len(elsewhere) > 1 else "1 in another folder"
    note = " (the demo works in its own)" if any(past.agent == DEMO for past in elsewhere) else ""
    return make_visible_line(f"{found}{where}, but {number}{note}: {shlex.join(again)}")


def rows_of(index: SessionIndex, found: Sequence[PastSession]) -> list[str]:
    """Return a line for each: its ID, agent, time, folder if they are in several, and title. Raises ClientError."""
    short = short_ids(past.session_id for past in (*recorded_sessions(index, None), *found))
    ids = max(len(short[past.session_id]) for past in found)
    agents = max(len(make_visible_line(past.shown_agent)) for past in found)
    folders = [make_visible_line(from_home(past.cwd)) for past in found]
    width = max(map(len, folders)) if len(set(folders)) > 1 else 0
    rows = []
    for past, folder in zip(found, folders, strict=True):
        last = f"{datetime.fromtimestamp(past.last_at):%Y-%m-%d %H:%M}" if past.last_at is not None else past.told_time
        agent = make_visible_line(past.shown_agent)
        branch = f"  ({past.branch})" if past.branch else ""
        marks = FORK * past.is_fork + "  (archived)" * past.is_archived + "  (draft)" * past.has_draft
        place = f"  {folder:<{width}}" * bool(width)
        title = f"{past.title or UNTITLED}{marks}{branch}"
        row = f"{short[past.session_id]:<{ids}}  {agent:<{agents}}  {last:<16}{place}  {title}"
        rows.append(make_visible_line(row))
    return rows


def names() -> dict[str, str]:
    """Return the IDs of recorded sessions, as short as they can be typed, and what each is, for shell completion."""
    past = recorded_sessions(recordings_index(), None)
    short = short_ids(one.session_id for one in past)
    return {short[one.session_id]: make_visible_line(f"{one.shown_agent}: {one.title}") for one in past}


# --resume


class NoSuchSession(ClientError):
    """The requested session doesn't exist."""


@dataclass(frozen=True, slots=True)
class Resumed:
    past: PastSession
    index: SessionIndex
    command: AgentCommand | None
    """None to only read the session again, without running anything."""
    why: str = ""
    """Why it can only be read."""


def recordings_index() -> SessionIndex:
    return SessionIndex(recording_store(RecordingSettings()))


def find_resumed(
    wanted: str, cwd: Path, args: AgentCommand | None, sandbox: str = "", options: Sequence[tuple[str, str]] = ()
) -> Resumed:
    """Return the session with this ID, or the last one in the folder.

    If there is none, prints that and raises SystemExit.

    `args` is the agent the user named, and `sandbox` the sandbox; without it, the session keeps the one it had.
    `options` are chosen in it.
    """
    index = recordings_index()
    with ExitOnError():
        past = _named(index, wanted, cwd, args) if wanted else _last(index, cwd, args)
        (past,) = SessionMarks().marked([past])
        command, why = _command_of(past, args)
        if command is not None:
            command = replace(sandboxed_as_before(command, past, sandbox), options=tuple(options))
    return Resumed(past, index, command, why)


def continued(command: AgentCommand | None, wanted: str, cwd: Path, sandbox: str) -> tuple[AgentCommand, PastSession]:
    """Return the session with this ID, or the last one in the folder, and its agent in the session's sandbox.

    `command` is the agent if the user named one, and `sandbox` the sandbox. Raises ClientError if there is no such
    session, or it can't be continued.
    """
    index = recordings_index()
    past = _named(index, wanted, cwd, command) if wanted else _last(index, cwd, command)
    if not past.is_listed and past.why_not_again:
        raise NoSuchSession(f"{past.title or past.session_id}: {past.why_not_again}")
    agent = command or recorded_agent(past.agent, past.command, past.cwd)
    return sandboxed_as_before(agent, past, sandbox), past


def say_if_open_elsewhere(past: PastSession) -> None:
    """Warn on stderr, where nobody can be asked."""
    if told := warning_if_open(past.session_id, past.command, *past.agents):
        say(told)


def session_named(source: Path | str) -> RecordedSession | Path | str:
    """Return the session whose ID is or begins with `source`, unless that is a recording's file or a scenario."""
    if isinstance(source, str) or source.name != str(source) or source.suffix or source.exists():
        return source
    with ExitOnError():
        return _recorded(recordings_index(), source.name, f"there is no file {source}, and ")


def _recorded(index: SessionIndex, wanted: str, before: str = "") -> RecordedSession:
    if (found := index.find(wanted)) is not None:
        return found
    what = f"{before}no recorded session has an ID that starts with {wanted!r}"
    raise NoSuchSession(what, hint=_which_there_are(index))


def files_of(source: RecordedSession | Path) -> Sequence[Path]:
    """Return the recordings, the oldest first."""
    return [source] if isinstance(source, Path) else source.recordings


def _named(index: SessionIndex, wanted: str, cwd: Path, args: AgentCommand | None) -> PastSession:
    if args is None:
        return past_session(_recorded(index, wanted))
    found = index.find(wanted, lambda one: past_session(one).is_of(args))
    if found is None:  # the agent may know it from elsewhere
        return PastSession(args.name, SessionId(wanted), cwd, is_listed=True)
    past = past_session(found)
    if not past.is_of(args):
        raise ClientError(
            f"session {past.session_id} belongs to {past.shown_agent}, not {args.name}",
            hint=f"acp-tui --resume {shlex.quote(past.session_id)}",
        )
    return past


def _last(index: SessionIndex, cwd: Path, args: AgentCommand | None) -> PastSession:
    marks = SessionMarks()
    found = (past for past in recorded_sessions(index, cwd) if args is None or past.is_of(args))
    past = last_here(cwd, (past for past in found if not marks.of(past).is_archived))
    if past is not None:
        return past
    of_agent = f" with {args.name}" if args is not None else ""
    raise NoSuchSession(f"no session{of_agent} was recorded in {cwd}", hint=_which_there_are(index))


def _which_there_are(index: SessionIndex) -> str:
    past = recorded_sessions(index, None)
    if not past:
        return "nothing has been recorded yet"
    short = short_ids(one.session_id for one in past)
    lines = [f"{short[one.session_id]}  {one.title or UNTITLED} ({one.shown_agent})" for one in past[:MAX_NAMED]]
    return "\n  ".join(("the most recent ones:", *lines, "to list them all: acp-tui sessions --all"))


def _command_of(past: PastSession, args: AgentCommand | None) -> tuple[AgentCommand | None, str]:
    """Return what to run, or None and why the session can only be read. Raises ClientError."""
    why = "" if past.is_listed else past.why_not_again
    if not why:
        try:
            return args or recorded_agent(past.agent, past.command, past.cwd), ""
        except AgentNotFound as error:
            why = str(error)
    say(f"{past.title or past.session_id}: {why}; showing its recording")
    return None, why


# Ending


def say_what_is_left(left: Sequence[LeftSession], folders: Iterable[Path], *, had_terminals: bool) -> None:
    """After the screen is gone, say how to resume sessions and which worktrees are kept. Quitting asks nothing."""
    if had_terminals and not emulator.is_installed():
        say(emulator.PLAIN_TEXT_HINT)
    say_how_to_resume(*left)
    kept = {known for folder in folders if (known := known_worktree(folder)) is not None}
    if kept:
        say(
            "worktrees are kept; to copy one back or delete it, resume its session and close the tab (Alt+W); to"
            " delete one with its changes: git worktree remove --force FOLDER"
        )
    for root in sorted(worktree.root for worktree in kept):
        sys.stderr.write(f"  {make_visible_line(shlex.quote(root))}\n")


def say_how_to_resume(*left: LeftSession) -> None:
    if not left:
        return
    titles: dict[str, str] = {}
    with suppress(ClientError):
        found = reversed(recorded_sessions(recordings_index(), None))
        titles = {past.session_id: past.title and past.title + FORK * past.is_fork for past in found}
    short = short_ids({*titles, *(one.session_id for one in left)})
    for one in left:
        told = _how(one, short[one.session_id], is_recorded=one.session_id in titles)
        if told:
            title = (not one.host and titles.get(one.session_id)) or one.title or "Your draft"
            with suppress(OSError):  # the terminal may be gone
                sys.stderr.write(f"{make_visible_line(title)}\n  {make_visible_line(told)}\n")


def _how(left: LeftSession, short: str, *, is_recorded: bool) -> str:
    if left.draft_words:
        return left.draft_words
    if left.host in ("runs", "watched"):
        which = f"{left.agent}#{left.session_id}" if is_address(left.agent) else left.session_id
        option = "--read-only " if left.host == "watched" else ""
        return f"acp-tui attach {option}{shlex.quote(which)}    (still running)"
    if left.host:
        return f"acp-tui host --resume {shlex.quote(short)}" * is_recorded
    if is_recorded:
        note = f"    (read-only: {left.why_not})" if left.why_not else "    (with your draft)" * left.has_draft
        return f"acp-tui --resume {shlex.quote(short)}{note}"
    if not left.why_not and left.agent_is_listed:
        return f"acp-tui {left.agent} --resume {shlex.quote(left.session_id)}"
    return ""
