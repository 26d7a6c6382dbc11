"""`acp-tui exec`: runs one turn without a screen, and prints it as text or as lines of JSON.

The agent's words go to stdout, everything else to stderr. The exit status is the outcome.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from acp_tui.cli import OF_STOP_REASON, ExitCode, code_of, weightiest
from acp_tui.cli.arguments import Args
from acp_tui.cli.output import error_text
from acp_tui.cli.permissions import PermissionPrompter
from acp_tui.cli.terminal import Headless, SlowStart, say_left_out, say_sandbox
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import ClientError
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.consent import HEADLESS
from acp_tui.client.sessions.driver import FrontEndLink, SessionDriver, additions_for, choose, start_agent
from acp_tui.client.sessions.hub import SessionHub, open_hub
from acp_tui.client.sessions.session import Session
from acp_tui.client.settings.settings import RecordingSettings, Settings
from acp_tui.client.transcript.frame_log import update_params
from acp_tui.conversation.buffers import TextBuffer
from acp_tui.conversation.content import ContentBlock, Text
from acp_tui.conversation.conversation import Change
from acp_tui.conversation.entries import Entry, EntryId, Failure, Message, ToolCallEntry, TurnEnd
from acp_tui.conversation.facts import Fact, SessionId
from acp_tui.conversation.tool_calls import ToolCall
from acp_tui.conversation.tool_text import subject_of, visible_title
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.wording import stop_words
from acp_tui.protocol.failures import error_data
from acp_tui.rpc import Direction


class OutputFormat:
    """A format for printing a turn. Our messages and errors go to stderr in all of them."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams

    def tap(self, direction: Direction, frame: bytes) -> None:
        """Handle a raw frame on the connection."""

    def show(self, entry_id: EntryId, entry: Entry) -> None:
        """Print an entry that is new or changed."""

    def say(self, text: str) -> None:
        """Print a message of ours to the user, in one line."""
        self._streams.err(f"· {text}\n")

    def fail(self, error: ClientError) -> None:
        """Print why the turn couldn't start or finish, with its cause and what to do."""
        self._streams.err(f"{error_text(error)}\n")

    def finish(self, session: Session | None, code: ExitCode, sandbox: str = "") -> None:
        """End the output after the turn of an agent in this sandbox; "" for none."""


MAX_QUOTED: Final = 60
"""Characters of the line from which on a message was replaced."""


class TextOutput(OutputFormat):
    """Prints the agent's messages on stdout as they arrive, and tool calls, failures, and our messages on stderr."""

    def __init__(self, streams: Streams) -> None:
        super().__init__(streams)
        self._is_one_place = os.path.sameopenfile(sys.stdout.fileno(), sys.stderr.fileno())
        self._shown: dict[EntryId, int] = {}
        """How many characters of each message are printed."""
        self._held: tuple[EntryId, Message, str] | None = None
        """A message that was replaced, and what is printed of it. It isn't final before another entry or the end."""
        self._parts: dict[EntryId, list[TextBuffer | ContentBlock]] = {}
        """The parts of each message. A different list means that the message was replaced."""
        self._last: EntryId | None = None
        self._ends_line = True
        self._said_of_tools: dict[EntryId, str] = {}

    def show(self, entry_id: EntryId, entry: Entry) -> None:
        if self._held is not None and self._held[0] != entry_id:
            self._print_held()
        match entry:
            case Message(role="agent"):
                self._show_message(entry_id, entry)
            case ToolCallEntry(call):
                self._show_tool(entry_id, f"{make_visible_line(call.status):<11} {_title(call)}")
            case TurnEnd(stop_reason):
                self.say(make_visible_line(stop_words(stop_reason)))
            case _:
                pass

    def _show_message(self, entry_id: EntryId, message: Message) -> None:
        buffers = [part for part in message.parts if isinstance(part, TextBuffer)]
        length = sum(buffer.length for buffer in buffers)
        shown = self._shown.get(entry_id, 0)
        before = self._parts.setdefault(entry_id, message.parts)
        if before is not message.parts and self._held is None:
            self._parts[entry_id] = message.parts
            said = "".join(part.text for part in before if isinstance(part, TextBuffer))[:shown]
            if not message.text.startswith(said):
                self._held = (entry_id, message, said)
        if self._held is not None:
            self._held = (entry_id, message, self._held[2])
            return
        new = buffers[-1].since(buffers[-1].length - (length - shown)) if len(buffers) == 1 else message.text[shown:]
        if not new:
            return
        self._shown[entry_id] = length
        if self._last is not None and self._last != entry_id:
            new = new.lstrip("\n")  # we print the empty line between messages
            if not new:
                return
            new = ("\n" if self._ends_line else "\n\n") + new
        self._last = entry_id
        self._ends_line = new.endswith("\n")
        self._streams.out(new)

    def _print_held(self) -> None:
        """Print the message that was replaced from the first line on that differs from what is printed, and say so."""
        if self._held is None:
            return
        (entry_id, message, said), self._held = self._held, None
        self._parts[entry_id], self._shown[entry_id] = message.parts, len(message.text)
        before, now = (text.rstrip().split("\n") for text in (said, message.text))
        same = next((at for at, (old, new) in enumerate(zip(before, now, strict=False)) if old != new), None)
        same = min(len(before), len(now)) if same is None else same
        if before == now:
            return
        lines = now[same:]
        if same < len(before):
            was = make_visible_line(before[same])[:MAX_QUOTED]
            lines = [f"[{'replaced' if ''.join(lines) else 'taken back'} from “{was}” on]", *lines]
        self._last = entry_id
        self._streams.out("\n" * (not self._ends_line) + "\n".join(lines))
        self._ends_line = False

    def _show_tool(self, entry_id: EntryId, line: str) -> None:
        if self._said_of_tools.get(entry_id) != line:
            self._said_of_tools[entry_id] = line
            self.say(line)

    def say(self, text: str) -> None:
        """Print on stderr, starting a new line if stdout and stderr are the same terminal."""
        if not self._ends_line and self._is_one_place:
            self._streams.err("\n")
            self._ends_line = True
        super().say(text)

    def finish(self, session: Session | None, code: ExitCode, sandbox: str = "") -> None:
        self._print_held()
        if not self._ends_line:
            self._streams.out("\n")


def _title(call: ToolCall) -> str:
    subject = subject_of(call, {})
    title = visible_title(call)
    return title if subject is None else f"{title}: {subject.visible}"


def _cost(session: Session | None) -> dict[str, Any] | None:
    usage = session.conversation.usage if session is not None else None
    if usage is None or usage.cost_amount is None:
        return None
    return {"amount": usage.cost_amount, "currency": usage.cost_currency}


def _turn(session: Session | None) -> dict[str, Any] | None:
    """Return what the turn used as reported by the agent, without what earlier turns of a resumed session did."""
    turns = session.conversation.turns if session is not None else []
    if not turns or (turns[-1].usage is None and turns[-1].cost is None):
        return None
    last = turns[-1]
    cost = None if last.cost is None else {"amount": last.cost, "currency": last.currency}
    return {"usage": asdict(last.usage) if last.usage is not None else None, "cost": cost}


class NdjsonOutput(OutputFormat):
    """Prints the params of every session/update as received, one per line, and a result object at the end."""

    def __init__(self, streams: Streams) -> None:
        super().__init__(streams)
        self._error: dict[str, Any] | None = None

    def tap(self, direction: Direction, frame: bytes) -> None:
        """Print the params of an update."""
        params = update_params(direction, frame)
        if params is not None:
            self._print(params)

    def _print(self, value: Any) -> None:
        # ASCII only: control characters for a terminal are escaped, and a program still reads the agent's original
        # text.
        self._streams.out(json.dumps(value, separators=(",", ":")) + "\n")

    def fail(self, error: ClientError) -> None:
        super().fail(error)
        said = error_data(None, error.said) or {}
        self._error = {"kind": type(error).__name__, "message": str(error), "detail": error.detail, **said}

    def finish(self, session: Session | None, code: ExitCode, sandbox: str = "") -> None:
        self._print(
            {
                "sessionId": session.session_id if session else None,
                "stopReason": session.conversation.last_stop_reason if session else None,
                "usage": asdict(spent) if (spent := session and session.conversation.spent) else None,
                "cost": _cost(session),
                "turn": _turn(session),
                "sandbox": sandbox or None,
                "exitCode": int(code),
                "error": self._error,
            }
        )


class Streams:
    """Writes to stdout and stderr, so that output can be held back while the user answers a question."""

    def __init__(self, on_lost: Callable[[OSError], None], *, holds_stdout: bool = True) -> None:
        """`on_lost` is called if stdout's reader closed it (`| head`) or its disk is full.

        With `holds_stdout` False, a program reads stdout and gets everything immediately.
        """
        self._on_lost = on_lost
        self._holds_stdout = holds_stdout
        self._is_held = False
        self._waiting: list[tuple[Callable[[str], None], str]] = []

    def out(self, text: str) -> None:
        """Write to stdout. If that fails, report it once and drop the rest."""
        if self._is_held and self._holds_stdout:
            self._waiting.append((self._write_out, text))
        else:
            self._write_out(text)

    def err(self, text: str) -> None:
        if self._is_held:
            self._waiting.append((_write_err, text))
        else:
            _write_err(text)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold back output within the block, and write it in order at the end."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
            waiting, self._waiting = self._waiting, []
            for write, text in waiting:
                write(text)

    def _write_out(self, text: str) -> None:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except OSError as error:
            # Otherwise, buffered output would be written at exit and cause another error.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self._on_lost(error)


def _write_err(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


NOT_KEPT: Final = RecordingSettings(keep=False)
"""A turn in a script is recorded only on request."""
FAILED: Final = {ExitCode.ERROR, ExitCode.REFUSED}
LAST_WORDS: Final = 5
"""How many lines of an agent's stderr to show."""
CANCEL_GRACE_S: Final = 10.0
"""How long a canceled turn may take to end before the agent is ended. A second Ctrl+C ends it immediately."""


def take_turn(command: AgentCommand, prompt: str, settings: Settings, args: Args) -> int:
    async def run() -> int:
        return await _Turn(command, prompt, settings, args).run()

    return anyio.run(run)


def _signals() -> list[signal.Signals]:
    """Return the signals that stop us, except those ignored from the start (`nohup`, a script's `&`)."""
    stopping = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    return [number for number in stopping if signal.getsignal(number) is not signal.SIG_IGN]


def _code_of(stop_reason: str | None) -> ExitCode:
    """Return the exit status for a stop reason; None means that it was unreadable."""
    return ExitCode.AGENT_LOST if stop_reason is None else OF_STOP_REASON.get(stop_reason, ExitCode.ERROR)


class _Turn:
    def __init__(self, command: AgentCommand, prompt: str, settings: Settings, args: Args) -> None:
        self._command = command
        self._settings = settings
        self._given = args
        self._continued: SessionId | None = args.session_id
        """The session to continue."""
        self._cwd: Path = command.cwd or args.cwd
        self._prompt = prompt
        is_text = args.format == "text"
        self._streams = Streams(self._stop_without_stdout, holds_stdout=is_text or sys.stdout.isatty())
        self._output: OutputFormat = TextOutput(self._streams) if is_text else NdjsonOutput(self._streams)
        self._codes: set[ExitCode] = set()
        self._agent: Agent | None = None
        """The agent, once it has answered."""
        self._session: Session | None = None
        self._prompter: PermissionPrompter | None = None
        self._tasks: TaskGroup
        self._scope = anyio.CancelScope()
        self._has_lost_stdout = False

    async def run(self) -> int:
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            with anyio.open_signal_receiver(*_signals()) as signals:
                tasks.start_soon(self._watch_signals, signals)
                with self._scope:
                    await self._with_agent()
                if self._scope.cancelled_caught:
                    self._codes.add(ExitCode.CANCELLED)
                tasks.cancel_scope.cancel()
        if self._has_lost_stdout:
            self._codes -= {ExitCode.CANCELLED}  # nobody canceled: the reader has all it wants, or it's an error
        code = weightiest(self._codes)
        self._output.finish(self._session, code, self._agent.sandbox_name if self._agent is not None else "")
        return code

    async def _watch_signals(self, signals: AsyncIterator[signal.Signals]) -> None:
        async for _ in signals:
            self._codes.add(ExitCode.CANCELLED)
            self._stop()

    def _stop_without_stdout(self, error: OSError) -> None:
        self._has_lost_stdout = True
        if not isinstance(error, BrokenPipeError):
            self._codes.add(ExitCode.ERROR)
            self._output.fail(ClientError(f"can't write to stdout: {error.strerror}"))
        self._stop()

    def _stop(self) -> None:
        """Cancel with the protocol first. The second time, or after a timeout, end the agent."""
        if self._session is None or self._scope.deadline != math.inf:
            self._scope.cancel()
            return
        self._output.say("canceling")
        self._scope.deadline = anyio.current_time() + CANCEL_GRACE_S
        self._session.cancel()

    async def _with_agent(self) -> None:
        async with open_hub() as hub:
            try:
                with SlowStart(self._tasks, self._command.name, self._output.say) as start:
                    self._session = await self._open_session(hub, start)
                await self._take_turn(self._session)
            except ClientError as error:
                self._codes.add(code_of(error))
                self._output.fail(error)
            if self._agent is not None and self._codes & FAILED:
                self._say_last_words(self._agent)

    def _say_last_words(self, agent: Agent) -> None:
        """Print the end of the agent's stderr, which may explain a failure."""
        for line in list(agent.log)[-LAST_WORDS:]:
            self._output.say(f"agent stderr: {make_visible_line(line)}")

    async def _open_session(self, hub: SessionHub, start: SlowStart) -> Session:
        say, settings = self._output.say, self._settings
        agent = self._agent = await start_agent(
            hub,
            self._command,
            self._cwd,
            settings,
            HEADLESS,
            say,
            recordings=NOT_KEPT,
            record=self._given.record,
            on_phase=start.note,
            tap=self._output.tap,
            unasked=self._given.allow_unasked,
        )
        say_sandbox(agent, say)
        front = Headless(say)
        added = await additions_for(agent, self._cwd, settings.workspace.additional_directories, front)
        say_left_out(added, say)
        driver = SessionDriver(FrontEndLink(agent, added), front.log_in, self._cwd)
        if self._continued is None:
            return await driver.begin()
        session = await driver.open(self._continued, self._cwd, lambda _: None)
        await choose(session, self._command.options)
        return session

    async def _take_turn(self, session: Session) -> None:
        self._prompter = PermissionPrompter(session, self._tasks, self._output.say, self._streams.held)
        session.subscribe(self._on_change)
        # What the agent said while the session was opening, but not what an earlier run had.
        earlier = len(session.conversation.entries) if self._continued is not None else 0
        self._on_change(Change(tuple(map(EntryId, range(earlier, len(session.conversation.entries))))))
        try:
            await session.send_prompt([Text(self._prompt)])
        finally:
            if self._prompter.has_rejected:
                self._codes.add(ExitCode.PERMISSION_REJECTED)
        conversation = session.conversation
        self._codes.add(_code_of(conversation.last_stop_reason))
        if conversation.last_stop_reason is None and isinstance(failure := conversation.entries[-1], Failure):
            self._output.say(failure.message)  # the agent's other errors are raised

    def _on_change(self, change: Change) -> None:
        assert self._session is not None
        assert self._prompter is not None
        conversation = self._session.conversation
        for entry_id in change.entries:
            entry = conversation.entries[entry_id]
            self._output.show(entry_id, entry)
            if isinstance(entry, ToolCallEntry):
                self._prompter.note_decisions(entry)
        if Fact.PERMISSIONS in change.facts:
            self._prompter.check_requests()
