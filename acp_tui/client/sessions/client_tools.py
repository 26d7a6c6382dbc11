"""The files and terminals of the user's machine that an agent gets through one session. `consent` asks first."""

from __future__ import annotations

import logging
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from shlex import join, quote
from typing import TYPE_CHECKING, Final

from anyio import Lock, to_thread

from acp_tui.client.errors import ClientError
from acp_tui.client.loading_variables import loading_warnings
from acp_tui.client.sessions.allowances import AllowedRun
from acp_tui.client.sessions.consent import WHY_LATER, AccessRequest, Consent, Grant, Outdated, Policy, Rules
from acp_tui.client.sessions.diff_checks import MAX_COMPARED_BYTES, Comparison, compare
from acp_tui.client.settings.location import own_folders
from acp_tui.client.terminals.pty import CLOSED, TerminalError, TerminalSpawnFailed, UnknownTerminal
from acp_tui.client.terminals.terminals import Terminals
from acp_tui.client.workspace import errors
from acp_tui.client.workspace.runs_later import STAYS_EXECUTABLE, why_it_runs_later
from acp_tui.client.workspace.workspace import Workspace
from acp_tui.conversation import updates
from acp_tui.conversation.content import COMMAND_SCHEME, Text, TextResource
from acp_tui.conversation.tool_calls import BlockContent, TerminalId, TextDiff, ToolCall, ToolCallContent
from acp_tui.conversation.tool_text import shown_path
from acp_tui.conversation.wording import how_ended
from acp_tui.protocol import RESOURCE_NOT_FOUND
from acp_tui.protocol.roles import Quirks, TerminalSnapshot
from acp_tui.rpc import ErrorCode, RequestFailed
from acp_tui.values import dataclass

if TYPE_CHECKING:
    # Loaded when an agent first uses a file or a terminal.
    from acp_tui.client.sandbox.sandbox import Sandbox
    from acp_tui.client.terminals.terminals import Terminal
    from acp_tui.client.workspace.containment import ContainedPath
    from acp_tui.client.workspace.workspace import PlaceState

log = logging.getLogger(__name__)


def as_refusal(error: Exception) -> RequestFailed:
    """The error response for `error`. Its message says what failed, and on which file or command."""
    match error:
        case RequestFailed():
            return error
        case errors.NotFound():
            return RequestFailed(RESOURCE_NOT_FOUND, str(error))
        case errors.InvalidPath() | UnknownTerminal():
            return RequestFailed(ErrorCode.INVALID_PARAMS, str(error))
        case errors.WorkspaceError() | TerminalError():
            return RequestFailed(ErrorCode.INTERNAL_ERROR, str(error))
        case _:
            log.error("a request of the agent failed", exc_info=error)
            return RequestFailed(ErrorCode.INTERNAL_ERROR, f"Internal error: {error}")


@contextmanager
def refusals() -> Iterator[None]:
    """Raise errors from the block as error responses. This is the boundary between our errors and the wire's."""
    try:
        yield
    except Exception as error:
        raise as_refusal(error) from error


@dataclass(frozen=True, slots=True)
class OfferedOutput:
    """A command whose output is added to the next prompt."""

    line: str
    terminal_id: TerminalId
    number: int
    """Number of the command among the session's own commands, from 1."""
    terminal: Terminal

    def told(self, most: int = sys.maxsize) -> str:
        """Its output so far, at most this many characters from its end, and how it ended."""
        snapshot = self.terminal.output()
        output, status = snapshot.output.rstrip(), snapshot.exit_status
        end = "(still running)" if status is None else f"({how_ended(status.exit_code, status.signal)})"
        cut = "(the beginning is omitted)\n" if snapshot.truncated or len(output) > most else ""
        return f"$ {self.line}\n{cut}{output[-most:]}\n{end}\n"


class OwnCommands:
    """Commands the user runs. They don't need permission, because the user typed them."""

    def __init__(self, tools: ClientTools, apply: Callable[[updates.SessionUpdate], None]) -> None:
        self._tools = tools
        self._apply = apply
        self._offered: list[OfferedOutput] = []
        self._numbers = count(1)

    @property
    def offered(self) -> Sequence[OfferedOutput]:
        return tuple(self._offered)

    async def run(self, line: str) -> None:
        """Start a shell command line and show it in the conversation. Raises ClientError."""
        try:
            terminal_id = await self._tools.run_own(line)
        except TerminalError as error:
            raise ClientError(str(error)) from error
        self._apply(updates.CommandRun(line, terminal_id))
        terminal = self._tools.own_terminal(terminal_id)
        self._offered.append(OfferedOutput(line, terminal_id, next(self._numbers), terminal))

    async def run_to_end(self, line: str) -> updates.TerminalExit:
        """Run a command line to its end. If it succeeds, its output isn't for the agent."""
        await self.run(line)
        one = self._offered[-1]
        status = await one.terminal.wait_for_exit()
        if status.exit_code == 0:
            self.drop(one.terminal_id)
        return status

    def drop(self, terminal_id: TerminalId) -> None:
        """Don't add the output of this command to the next prompt."""
        self._offered = [one for one in self._offered if one.terminal_id != terminal_id]

    def take(self) -> tuple[TextResource, ...]:
        """The attachments for the next prompt: each command with its output so far and how it ended."""
        offered, self._offered = self._offered, []
        # The URI doesn't contain the terminal's ID, because later output is only for the user.
        return tuple(TextResource(f"{COMMAND_SCHEME}{one.number}", one.told(), "text/plain") for one in offered)


MAX_ROUNDS: Final = 100
"""How often a write begins anew because its file changes all the time."""
WHY_AGAIN: Final = "The file changed while you decided, so acp-tui asks again: {what}."


@dataclass(frozen=True, slots=True)
class _BeforeWrite:
    """What a write would change, as the user is shown it."""

    place: ContainedPath
    state: PlaceState | None
    """None if the user isn't asked."""
    reason: str | None
    """What may run the file later; None if nothing is known to."""

    @property
    def why(self) -> str:
        """Why writing it needs permission whatever the settings say, in sentences; "" for most files."""
        if self.reason is None:
            return ""
        why = WHY_LATER.format(reason=self.reason)
        return f"{why} {STAYS_EXECUTABLE}" if self.state is not None and self.state.is_executable else why

    def change(self, path: str, content: str) -> tuple[ToolCallContent, ...]:
        """What a write would change in the file, for the user only; the agent doesn't get it."""
        if self.state is None:
            return ()
        diff = TextDiff(path, content, self.state.text)
        if self.state.problem is None:
            return (diff,)
        return (BlockContent(Text(f"the current content can't be shown: {self.state.problem}")), diff)

    def is_done(self, before: _BeforeWrite, content: str) -> bool:
        """Whether the file, of which something else was shown before, has this content now."""
        if self.state is None or self.state.problem is not None:
            return False
        return self.place.path == before.place.path and self.state.text == content

    def differences(self, before: _BeforeWrite | None) -> tuple[str, ...]:
        """What is different from what an earlier question showed, as a sentence; empty if there was none."""
        if before is None or before.state is None or self.state is None:
            return ()
        found = [*self.state.differences(before.state)]
        if self.place.path != before.place.path:
            found.insert(0, f"its path now leads to {self.place.path}")
        return (WHY_AGAIN.format(what=", and ".join(found) or "it is now as it was before"),)


class ClientTools:
    """Serves a session's agent and its user. Refusals are raised as error responses for the agent."""

    def __init__(
        self,
        cwd: Path,
        additional_directories: Sequence[Path],
        quirks: Quirks,
        policy: Policy,
        rules: Rules,
        consent: Consent,
        apply: Callable[[updates.SessionUpdate], None],
        until_room: Callable[[], Awaitable[None]],
        sandbox: Sandbox | None = None,
    ) -> None:
        """`until_room` waits while the agent hasn't read what it was sent. `sandbox` is for its commands, too."""
        self.terminal_size = (120, 30)
        """Columns and rows of terminals opened from now on."""
        self.before_write: Callable[[Sequence[str]], Awaitable[None]] | None = None
        """Called with the path of each file just before it's written."""
        self._quirks = quirks
        self._policy = policy
        self._rules = rules
        self._consent = consent
        self._apply = apply
        self._until_room = until_room
        self._sandbox = sandbox
        # If an agent requests many large files and reads no answers, only one of them is in memory.
        self._one_read_at_a_time = Lock()
        # Apart from that, because an agent that reads no answers would hold up what the card says about its diffs.
        self._one_comparison_at_a_time = Lock()
        self._files = self._serve((cwd, *additional_directories))
        self._terminals: Terminals | None = None
        self._agents: set[TerminalId] = set()
        """The terminals the agent opened. It can't use the user's terminals."""
        self._is_closed = False

    # Files

    async def read_text_file(self, path: str, line: int | None, limit: int | None) -> str:
        with refusals():
            files = self._open_files()
            place = await files.locate(path)
            rule = await self._rules.against_read(path, place.path)
            is_out = self._is_out_of_sandbox(place, write=False)
            request = AccessRequest(
                "read", f"Read {self._shown(path)}", path, rule, raw_input={"path": path}, is_out_of_sandbox=is_out
            )
            async with self._consent.permit(request, self._policy.read, place):
                try:
                    async with self._one_read_at_a_time:
                        await self._until_room()
                        self._require_same(files)
                        return await files.read_text_file(path, line, limit, allowed_at=place.path)
                except errors.NotFound:
                    if self._quirks.missing_file_reads_empty:
                        return ""
                    raise

    async def write_text_file(self, path: str, content: str) -> None:
        """Write a whole text file. If the user is asked, only over exactly what the question showed."""
        with refusals():
            files, shown = self._open_files(), None
            for _ in range(MAX_ROUNDS):
                with suppress(errors.PathChanged, Outdated):
                    before, shown = shown, await self._before_write(files, path)
                    if before is not None and shown.is_done(before, content):
                        return
                    rule = await self._rules.against_write(path, shown.place.path)
                    request = AccessRequest(
                        "edit",
                        f"Write {self._shown(path)}",
                        path,
                        rule,
                        shown.change(path, content),
                        why=shown.why,
                        warnings=shown.differences(before),
                        is_out_of_sandbox=self._is_out_of_sandbox(shown.place, write=True),
                    )
                    async with self._consent.permit(request, self._policy.write, shown.place):
                        self._require_same(files)
                        if self.before_write is not None:
                            await self.before_write([str(shown.place.path)])
                        try:
                            await files.write_text_file(path, content, allowed_at=shown.place.path, shown=shown.state)
                        except errors.PathChanged as error:
                            raise Outdated from error
                    return
            raise errors.PathChanged(path)

    async def _before_write(self, files: Workspace, path: str) -> _BeforeWrite:
        """What there is now. Raises WorkspaceError."""
        place = await files.locate(path)
        reason = await to_thread.run_sync(why_it_runs_later, path, place.path, self._roots, abandon_on_cancel=True)
        is_out = self._is_out_of_sandbox(place, write=True)
        is_asked = self._policy.write is not Grant.ON or not place.inside or reason is not None or is_out
        state = await files.state_of(path, allowed_at=place.path) if is_asked else None
        return _BeforeWrite(place, state, reason)

    def _shown(self, path: str) -> str:
        return shown_path(path, str(self._roots[0]))

    def _is_out_of_sandbox(self, place: ContainedPath, *, write: bool) -> bool:
        return self._sandbox is not None and not self._sandbox.box.allows(place.path, write=write)

    async def compare(self, call: ToolCall) -> Comparison:
        """Compare what a call shows with the files.

        Reads the first few files completely, and waits for nothing that the agent can hold up: what takes too long
        counts as not compared.
        """
        if self._is_closed:
            return Comparison()
        files = Workspace(self._roots, private=own_folders(), max_read_bytes=MAX_COMPARED_BYTES)
        return await compare(call, self._roots[0], files, self._one_comparison_at_a_time)

    async def place_of(self, path: str) -> Path | None:
        """Where a path leads, which may be relative to the session's folder; None if no agent may use that place."""
        with suppress(errors.WorkspaceError):
            return (await self._files.locate(str(self._roots[0] / path))).path
        return None

    def _open_files(self) -> Workspace:
        if self._is_closed:
            raise RequestFailed(ErrorCode.INVALID_PARAMS, "The session is closed")
        return self._files

    def _require_same(self, files: Workspace) -> None:
        """Raise an error if the directories changed since the user was asked, which may be long ago."""
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
        directory = str(self._roots[0]) if cwd is None else cwd
        with refusals():
            files = self._open_files()
            # Use exactly the folder and programs that the user was asked about, however long the answer takes.
            async with files.hold(directory) as held:
                if self._sandbox is not None and not self._sandbox.box.holds(held.location.path):
                    raise RequestFailed(
                        ErrorCode.INVALID_PARAMS, f"The sandbox {self._sandbox.name} has no folder {directory}"
                    )
                terminals = self._open_terminals()
                plan = await terminals.plan(command, args, env, held.location.path, held.fd, self._sandbox)
                # Environment variables affect what a command does, so the question shows them.
                line = " ".join([*(f"{name}={quote(value)}" for name, value in env), _line(command, args)])
                rule, why = await self._rules.against_command(command, args, directory, env)
                place = str(held.location.path)
                if rule is None and place != directory:  # a link, which may have led elsewhere just now
                    rule, why_there = await self._rules.against_command(command, args, place, env)
                    why = why or why_there
                request = AccessRequest(
                    "execute",
                    f"Run {line}",
                    directory,
                    rule,
                    raw_input={"command": line, "cwd": directory},
                    why=why,
                    warnings=loading_warnings([name for name, _ in env], _line(command, args)),
                    run=AllowedRun(command, tuple(args), tuple(name for name, _ in env)),
                )
                async with self._consent.permit(request, self._policy.terminals, held.location):
                    self._require_same(files)
                    await files.require_held(directory, held)
                    created = await self._ready_terminals(command).start(plan, output_limit_bytes)
                    terminal_id = self._opened(created, [command, *args], plan.cwd)
                    self._agents.add(terminal_id)
                    return terminal_id

    async def run_own(self, line: str) -> TerminalId:
        """Run a shell command line of the user's without asking. Raises TerminalError."""
        created = await self._ready_terminals(line).create(line, (), (), self._roots[0])
        return self._opened(created, [line], self._roots[0])

    def _ready_terminals(self, command: str) -> Terminals:
        if self._is_closed:
            raise TerminalSpawnFailed(command, CLOSED)
        terminals = self._open_terminals()
        terminals.size = self.terminal_size
        return terminals

    def _opened(self, created: str, words: Sequence[str], directory: Path) -> TerminalId:
        terminal_id = TerminalId(created)
        columns, rows = self.terminal_size
        self._apply(updates.TerminalOpened(terminal_id, " ".join(words), str(directory), True, columns, rows))
        return terminal_id

    def terminal_output(self, terminal_id: TerminalId) -> TerminalSnapshot:
        with refusals():
            return self._terminals_with(terminal_id).get(terminal_id).output()

    def own_terminal(self, terminal_id: TerminalId) -> Terminal:
        """The terminal of a command of the user's."""
        return self._open_terminals().get(terminal_id)

    async def wait_for_terminal_exit(self, terminal_id: TerminalId) -> updates.TerminalExit:
        with refusals():
            return await self._terminals_with(terminal_id).get(terminal_id).wait_for_exit()

    async def kill_terminal(self, terminal_id: TerminalId) -> None:
        with refusals():
            await self._terminals_with(terminal_id).get(terminal_id).kill()

    async def release_terminal(self, terminal_id: TerminalId) -> None:
        """End a terminal's command and forget the terminal. Its output stays in the conversation."""
        with refusals():
            await self._terminals_with(terminal_id).release(terminal_id)

    def _terminals_with(self, terminal_id: TerminalId) -> Terminals:
        """Raises UnknownTerminal if the agent didn't open this terminal."""
        if terminal_id not in self._agents:
            raise UnknownTerminal(terminal_id)
        return self._open_terminals()

    def _open_terminals(self) -> Terminals:
        if self._terminals is None:
            self._terminals = Terminals(
                self._roots[0],
                on_output=lambda name, data: self._apply(updates.TerminalOutput(TerminalId(name), data)),
                on_exit=self._on_terminal_exit,
                on_waiting=lambda name, waits: self._apply(updates.TerminalWaiting(TerminalId(name), waits)),
            )
        return self._terminals

    def _on_terminal_exit(self, terminal_id: str, status: updates.TerminalExit) -> None:
        self._apply(updates.TerminalExited(TerminalId(terminal_id), status.exit_code, status.signal, status.seconds))

    # The user's input to terminals

    def type_into(self, terminal_id: TerminalId, data: bytes) -> bool:
        """Type into a terminal. False if we have no terminal with that ID, or no longer have it.

        Raises TerminalInputFull, and drops `data`, if too much input waits because the program reads nothing.
        """
        with suppress(UnknownTerminal):
            self._open_terminals().get(terminal_id).write(data)
            return True
        return False

    def interrupt(self, terminal_id: TerminalId) -> bool:
        """Press Ctrl+C in a terminal. False as for `type_into`.

        The terminal sends SIGINT to the foreground process. A program that reads keys itself handles the key, as from
        any keyboard.
        """
        with suppress(UnknownTerminal):
            self._open_terminals().get(terminal_id).interrupt()
            return True
        return False

    def resize_terminal(self, terminal_id: TerminalId, columns: int, rows: int) -> bool:
        """Resize one of our terminals. False if no program is told because the terminal was released.

        Either way, the terminal is shown in that size from now on.
        """
        is_told = False
        with suppress(UnknownTerminal):
            self._open_terminals().get(terminal_id).resize(columns, rows)
            is_told = True
        self._apply(updates.TerminalResized(terminal_id, columns, rows))
        return is_told

    async def end_terminal(self, terminal_id: TerminalId) -> bool:
        """End a terminal's command, as `kill_terminal` does for the agent. False as for `type_into`."""
        with suppress(UnknownTerminal):
            await self._open_terminals().get(terminal_id).kill()
            return True
        return False

    # Directories and closing

    def move(self, cwd: Path, additional_directories: Sequence[Path]) -> None:
        self._files = self._serve((cwd, *additional_directories))

    def _serve(self, roots: Sequence[Path]) -> Workspace:
        self._roots = roots
        files = Workspace(roots, private=own_folders())
        # What is opened is below these directories, even if a link on the way to one of them leads elsewhere later.
        self._rules.roots = (*roots, *files.roots)
        return files

    def close(self) -> None:
        self._is_closed = True

    async def aclose(self) -> None:
        self.close()
        if self._terminals is not None:
            await self._terminals.close()


def _line(command: str, args: Sequence[str]) -> str:
    return join([command, *args]) if args else command
