"""What an agent gets of the user's machine through one session: files and terminals. `access` asks first."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from shlex import join, quote
from typing import TYPE_CHECKING, Final

from anyio import Lock, to_thread

from acp_tui.client.errors import CommandFailed
from acp_tui.client.loading_variables import loading_warnings
from acp_tui.client.permissions.command_search import commands_in
from acp_tui.client.sessions.access import WHY_LATER, Access, Grant, Policy, StandingRules, Wish
from acp_tui.client.settings.location import own_folders
from acp_tui.client.terminals import Terminals
from acp_tui.client.terminals.pty import TerminalError, TerminalsClosed, UnknownTerminal
from acp_tui.client.workspace import Workspace
from acp_tui.client.workspace.errors import InvalidPath, NotFound, WorkspaceError
from acp_tui.client.workspace.runs_later import STAYS_EXECUTABLE, is_executable, why_it_runs_later
from acp_tui.conversation.content import Text, TextResource
from acp_tui.conversation.tool_calls import BlockContent, TerminalId, TextDiff, ToolCallContent
from acp_tui.conversation.updates import (
    CommandRun,
    SessionUpdate,
    TerminalExited,
    TerminalOpened,
    TerminalOutput,
    TerminalResized,
    TerminalWaiting,
)
from acp_tui.protocol import RESOURCE_NOT_FOUND
from acp_tui.protocol.roles import ExitStatus, TerminalSnapshot
from acp_tui.rpc import ErrorCode, RequestFailed
from acp_tui.values import dataclass

if TYPE_CHECKING:
    # Loaded when an agent first touches a file or a terminal.
    from acp_tui.client.agents.command import Quirks
    from acp_tui.client.terminals import ExitStatus as TimedExit
    from acp_tui.client.workspace import Location

log = logging.getLogger(__name__)


def as_refusal(error: Exception) -> RequestFailed:
    """The error response for `error`; its message says what failed, on what."""
    match error:
        case RequestFailed():
            return error
        case NotFound():
            return RequestFailed(RESOURCE_NOT_FOUND, str(error))
        case InvalidPath() | UnknownTerminal():
            return RequestFailed(ErrorCode.INVALID_PARAMS, str(error))
        case WorkspaceError() | TerminalError():
            return RequestFailed(ErrorCode.INTERNAL_ERROR, str(error))
        case _:
            log.error("a request of the agent failed", exc_info=error)
            return RequestFailed(ErrorCode.INTERNAL_ERROR, f"Internal error: {error}")


@contextmanager
def refusals() -> Iterator[None]:
    """What goes wrong inside is raised as the error response for it: the boundary between our errors and the wire's."""
    try:
        yield
    except Exception as error:
        raise as_refusal(error) from error


@dataclass(frozen=True, slots=True)
class Offered:
    """A command of which the next prompt takes the output along."""

    line: str
    terminal_id: TerminalId
    number: int
    """Counts the session's own commands, from 1."""


class OwnCommands:
    """Nobody is asked about them: the user typed them."""

    def __init__(self, machine: Machine, apply: Callable[[SessionUpdate], None]) -> None:
        self._machine = machine
        self._apply = apply
        self._offered: list[Offered] = []
        self._numbers = count(1)

    @property
    def offered(self) -> Sequence[Offered]:
        """The oldest first."""
        return tuple(self._offered)

    async def run(self, line: str) -> None:
        """Start a shell line; it shows in the conversation. Raises CommandFailed."""
        try:
            terminal_id = await self._machine.run_own(line)
        except TerminalError as error:
            raise CommandFailed(str(error)) from error
        self._apply(CommandRun(line, terminal_id))
        self._offered.append(Offered(line, terminal_id, next(self._numbers)))

    def drop_last(self) -> Offered | None:
        """The next prompt is not to take the last one's output along."""
        return self._offered.pop() if self._offered else None

    def take(self) -> tuple[TextResource, ...]:
        """What the next prompt takes along: each command with what it has printed so far and how it ended."""
        offered, self._offered = self._offered, []
        return tuple(self._resource(one) for one in offered)

    def _resource(self, one: Offered) -> TextResource:
        snapshot = self._machine.output_of_own(one.terminal_id)
        status = snapshot.exit_status
        if status is None:
            end = "(still running)"
        else:
            end = f"(exit {status.exit_code})" if status.signal is None else f"(ended by {status.signal})"
        cut = "(the beginning is omitted)\n" if snapshot.truncated else ""
        text = f"$ {one.line}\n{cut}{snapshot.output.rstrip()}\n{end}\n"
        # Not by the terminal's id: what the command prints from now on is between it and the user.
        return TextResource(f"terminal:{one.number}", text, "text/plain")


MAX_COMPARED_FILES: Final = 8
"""Of one call: the card must not wait for more."""
MAX_COMPARED_BYTES: Final = 1024 * 1024


class Machine:
    """Serves a session's agent and its user. Refusals are raised as the error response for the agent."""

    def __init__(
        self,
        cwd: Path,
        additional_directories: Sequence[Path],
        quirks: Quirks,
        policy: Policy,
        rules: StandingRules,
        access: Access,
        apply: Callable[[SessionUpdate], None],
        until_room: Callable[[], Awaitable[None]],
    ) -> None:
        """`until_room` waits while the agent has not read what it got before."""
        self.terminal_size = (120, 30)
        """Columns and rows of the terminals that are opened from now on."""
        self._roots = (cwd, *additional_directories)
        self._quirks = quirks
        self._policy = policy
        self._rules = rules
        self._access = access
        self._apply = apply
        self._until_room = until_room
        # An agent that asks for forty large files and reads no answer gets one of them into memory.
        self._one_read_at_a_time = Lock()
        self._files = _workspace_of(self._roots)
        self._terminals: Terminals | None = None
        self._agents: set[TerminalId] = set()
        """The terminals that the agent has opened; those of the user are none of its business."""
        self._is_closed = False

    # Files

    async def read_text_file(self, path: str, line: int | None, limit: int | None) -> str:
        """A text file, or `limit` lines of it from the 1-based `line` on."""
        with refusals():
            files = self._open_files()
            place = await files.locate(path)
            wish = Wish(
                "read", f"Read {path}", path, await self._rules.against_read(path), raw_input={"path": path}
            )
            async with self._access.leave(wish, self._policy.read, place):
                try:
                    async with self._one_read_at_a_time:
                        await self._until_room()
                        self._require_same(files)
                        return await files.read_text_file(path, line, limit, allowed_at=place.path)
                except NotFound:
                    if self._quirks.missing_file_reads_empty:
                        return ""
                    raise

    async def write_text_file(self, path: str, content: str) -> None:
        """Write a text file, whole."""
        with refusals():
            files = self._open_files()
            place = await files.locate(path)
            why = await to_thread.run_sync(_why_asked_always, path, place.path, abandon_on_cancel=True)
            is_asked = self._policy.write is Grant.ASK or not place.inside or bool(why)
            shown = await self._change(path, content, place) if is_asked else ()
            rule = await self._rules.against_write(path)
            wish = Wish("edit", f"Write {path}", path, rule, shown, why=why)
            async with self._access.leave(wish, self._policy.write, place):
                self._require_same(files)
                await files.write_text_file(path, content, allowed_at=place.path)

    async def _change(self, path: str, content: str, place: Location) -> tuple[ToolCallContent, ...]:
        """What a write would do to the file; for the user's eyes, the agent gets none of it."""
        try:
            before = await self._files.read_text_file(path, allowed_at=place.path)
        except NotFound:
            return (TextDiff(path, content),)
        except WorkspaceError as error:
            unknown = Text(f"the current content can't be shown: {error}")
            return (BlockContent(unknown), TextDiff(path, content))
        return (TextDiff(path, content, before),)

    async def doubts_about(self, diffs: Sequence[TextDiff]) -> list[str]:
        """Where a file of the workspace is not as the agent shows it, in sentences; of the first few files, read whole.

        Only the user is told. A file that cannot be read, is not there, or is too long raises no doubt.
        """
        if not diffs or self._is_closed:
            return []

        files = _workspace_of(self._roots, max_read_bytes=MAX_COMPARED_BYTES)
        doubts = []
        for diff in diffs[:MAX_COMPARED_FILES]:
            with suppress(WorkspaceError):
                async with self._one_read_at_a_time:
                    doubts.append(_doubt_about(diff, await files.read_text_file(diff.path)))
        return [doubt for doubt in dict.fromkeys(doubts) if doubt]

    def _open_files(self) -> Workspace:
        if self._is_closed:
            raise RequestFailed(ErrorCode.INVALID_PARAMS, "The session is closed")
        return self._files

    def _require_same(self, files: Workspace) -> None:
        """What was asked for, maybe long ago, was asked for in these directories."""
        if self._open_files() is not files:
            raise RequestFailed(ErrorCode.INVALID_PARAMS, "The session now works in other folders")

    # Terminals

    async def create_terminal(
        self,
        command: str,
        args: Sequence[str],
        env: Sequence[tuple[str, str]],
        cwd: str | None,
        output_limit_bytes: int | None,
    ) -> TerminalId:
        """Start a command on a PTY and show it."""
        directory = str(self._roots[0]) if cwd is None else cwd
        with refusals():
            files = self._open_files()
            # The folder and the programs that are asked about are those that are used, however long the answer takes.
            async with files.hold(directory) as held:
                order = await self._open_terminals().order(command, args, env, held.location.path, held.fd)
                # What is set for a command belongs to what it does.
                line = " ".join([*(f"{name}={quote(value)}" for name, value in env), _line(command, args)])
                rule, why = await self._rules.against_command(command, args, directory, env)
                wish = Wish(
                    "execute",
                    f"Run {line}",
                    directory,
                    rule,
                    raw_input={"command": line, "cwd": directory},
                    why=why,
                    warnings=loading_warnings([name for name, _ in env], _line(command, args)),
                )
                async with self._access.leave(wish, self._policy.terminals, held.location):
                    self._require_same(files)
                    await files.require_held(directory, held)
                    limit = self._policy.output_limit_bytes
                    limit = limit if output_limit_bytes is None else output_limit_bytes
                    created = await self._ready_terminals(command).start(order, limit)
                    terminal_id = self._opened(created, [command, *args], order.cwd)
                    self._agents.add(terminal_id)
                    return terminal_id

    async def run_own(self, line: str) -> TerminalId:
        """Run a shell line of the user's; nobody is asked. Raises TerminalError."""
        limit = self._policy.output_limit_bytes
        created = await self._ready_terminals(line).create(line, (), (), self._roots[0], limit)
        return self._opened(created, [line], self._roots[0])

    def _ready_terminals(self, command: str) -> Terminals:
        if self._is_closed:
            raise TerminalsClosed(command)
        terminals = self._open_terminals()
        terminals.size = self.terminal_size
        return terminals

    def _opened(self, created: str, words: Sequence[str], directory: Path) -> TerminalId:
        terminal_id = TerminalId(created)
        columns, rows = self.terminal_size
        self._apply(TerminalOpened(terminal_id, " ".join(words), str(directory), True, columns, rows))
        return terminal_id

    def terminal_output(self, terminal_id: TerminalId) -> TerminalSnapshot:
        """What a terminal of this session printed so far."""
        with refusals():
            return self._terminals_with(terminal_id).output(terminal_id)

    def output_of_own(self, terminal_id: TerminalId) -> TerminalSnapshot:
        """What a command of the user's printed so far."""
        return self._open_terminals().output(terminal_id)

    async def wait_for_terminal_exit(self, terminal_id: TerminalId) -> ExitStatus:
        """Wait until a terminal's command has ended."""
        with refusals():
            return await self._terminals_with(terminal_id).wait_for_exit(terminal_id)

    async def kill_terminal(self, terminal_id: TerminalId) -> None:
        """End a terminal's command; the terminal stays."""
        with refusals():
            await self._terminals_with(terminal_id).kill(terminal_id)

    async def release_terminal(self, terminal_id: TerminalId) -> None:
        """End a terminal's command and forget the terminal; what it printed stays in the conversation."""
        with refusals():
            await self._terminals_with(terminal_id).release(terminal_id)

    def _terminals_with(self, terminal_id: TerminalId) -> Terminals:
        """Raises UnknownTerminal for one that the agent has not opened."""
        if terminal_id not in self._agents:
            raise UnknownTerminal(terminal_id)
        return self._open_terminals()

    def _open_terminals(self) -> Terminals:
        if self._terminals is None:
            self._terminals = Terminals(
                self._roots[0],
                on_output=self._on_terminal_output,
                on_exit=self._on_terminal_exit,
                on_waiting=self._on_terminal_waiting,
                commands_in=commands_in,
            )
        return self._terminals

    def _on_terminal_output(self, terminal_id: str, data: bytes) -> None:
        self._apply(TerminalOutput(TerminalId(terminal_id), data))

    def _on_terminal_exit(self, terminal_id: str, status: TimedExit) -> None:
        self._apply(TerminalExited(TerminalId(terminal_id), status.exit_code, status.signal, status.seconds))

    def _on_terminal_waiting(self, terminal_id: str, is_waiting: bool) -> None:
        self._apply(TerminalWaiting(TerminalId(terminal_id), is_waiting))

    # Terminals in the user's hands

    def type_into(self, terminal_id: TerminalId, data: bytes) -> bool:
        """Type into a terminal; False where there is none of ours of that id, or no longer.

        Raises TerminalInputFull where the program reads nothing, and much waits for it: then this was dropped.
        """
        with suppress(UnknownTerminal):
            self._open_terminals().write(terminal_id, data)
            return True
        return False

    def interrupt(self, terminal_id: TerminalId) -> bool:
        """Press Ctrl+C in a terminal; False as for `type_into`.

        The terminal makes SIGINT of it for whoever is in the foreground, unless the program reads its keys itself: then
        it means what it means there, as it would from any keyboard.
        """
        with suppress(UnknownTerminal):
            self._open_terminals().interrupt(terminal_id)
            return True
        return False

    def resize_terminal(self, terminal_id: TerminalId, columns: int, rows: int) -> bool:
        """Give a terminal of ours another size; False where no program is told, since the terminal was released.

        Also then it is shown in that size from now on.
        """
        is_told = False
        with suppress(UnknownTerminal):
            self._open_terminals().resize(terminal_id, columns, rows)
            is_told = True
        self._apply(TerminalResized(terminal_id, columns, rows))
        return is_told

    async def end_terminal(self, terminal_id: TerminalId) -> bool:
        """End a terminal's command, as `kill_terminal` does for the agent; False as for `type_into`."""
        with suppress(UnknownTerminal):
            await self._open_terminals().kill(terminal_id)
            return True
        return False

    # Its place and its end

    def move(self, cwd: Path, additional_directories: Sequence[Path]) -> None:
        """Serve other directories from now on."""
        self._roots = (cwd, *additional_directories)
        self._files = _workspace_of(self._roots)

    def close(self) -> None:
        """Serve nothing new."""
        self._is_closed = True

    async def aclose(self) -> None:
        """End what runs here for the session."""
        self.close()
        if self._terminals is not None:
            await self._terminals.close()


def _workspace_of(roots: Sequence[Path], **limits: int) -> Workspace:
    """Links in the roots are followed now: one that is swapped later leads nowhere else."""
    return Workspace(roots, private=own_folders(), **limits)


def _doubt_about(diff: TextDiff, text: str) -> str:
    """What the file's text says against the old text of a diff, which may be a part of the file; "" for nothing."""
    old, now = (_compared(each) for each in (diff.old_text or "", text))
    if old:
        return "" if old in now else f"The agent shows old text that isn't in the file: {diff.path}"
    return f"The agent shows this file as new, but it exists: {diff.path}" if now else ""


def _compared(text: str) -> str:
    """Agents and disks disagree about marks and line endings, which change nothing of what one reads."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").strip()


def _why_asked_always(asked: str, leads_to: Path) -> str:
    """Why writing this file is asked about whatever the settings, in sentences; "" for most files."""
    reason = why_it_runs_later(asked, leads_to)
    if reason is None:
        return ""
    why = WHY_LATER.format(reason=reason)
    return f"{why} {STAYS_EXECUTABLE}" if is_executable(leads_to) else why


def _line(command: str, args: Sequence[str]) -> str:
    return join([command, *args]) if args else command
