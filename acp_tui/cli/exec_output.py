"""What `acp-tui exec` prints, and where: the base of its formats, text, lines of JSON, and stdout and stderr."""

from __future__ import annotations

import errno
import json
import os
import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from acp_tui.cli import ExitCode, discard_output
from acp_tui.cli.output import error_text
from acp_tui.client.errors import ClientError
from acp_tui.client.export.facts import ExportFacts
from acp_tui.client.export.jsonl import ChangedLines, ascii_line, header, plain, without_nulls
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.session import Session
from acp_tui.conversation import content, entries, tool_calls, tool_text, updates, wording
from acp_tui.conversation.buffers import TextBuffer
from acp_tui.conversation.conversation import Change, Conversation
from acp_tui.conversation.visible import make_visible_line
from acp_tui.rpc import Direction


def stopping() -> list[signal.Signals]:
    """Return the signals that stop us, except those ignored from the start (`nohup`, a script's `&`)."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    return [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]


class OutputFormat:
    """A format for printing a turn. Our messages and errors go to stderr in all of them."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams

    def tap(self, direction: Direction, frame: bytes) -> None:
        """Handle a raw frame on the connection."""

    def begin(self, session: Session, agent: Agent) -> None:
        """Begin the output of a session that is open."""

    def change(self, conversation: Conversation, change: Change) -> None:
        """Print what is new or changed."""

    def say(self, text: str) -> None:
        """Print a message of ours to the user, in one line."""
        self._streams.err(f"· {text}\n")

    def fail(self, error: ClientError) -> None:
        """Print why the turn couldn't start or finish, with its cause and what to do."""
        self._streams.err(f"{error_text(error)}\n")

    def finish(self, session: Session | None, code: ExitCode) -> None:
        """End the output after the turn."""


MAX_QUOTED: Final = 60
"""Characters of the line from which on a message was replaced."""


class TextOutput(OutputFormat):
    """Prints the agent's messages on stdout as they arrive, and tool calls, failures, and our messages on stderr."""

    def __init__(self, streams: Streams) -> None:
        super().__init__(streams)
        self._is_one_place = os.path.sameopenfile(sys.stdout.fileno(), sys.stderr.fileno())
        self._shown: dict[entries.EntryId, int] = {}
        """How many characters of each message are printed."""
        self._held: tuple[entries.EntryId, entries.Message, str] | None = None
        """A message that was replaced, and what is printed of it. It isn't final before another entry or the end."""
        self._parts: dict[entries.EntryId, list[TextBuffer | content.ContentBlock]] = {}
        """The parts of each message. A different list means that the message was replaced."""
        self._last: entries.EntryId | None = None
        self._ends_line = True
        self._said_of_tools: dict[entries.EntryId, str] = {}

    def change(self, conversation: Conversation, change: Change) -> None:
        for entry_id in change.entries:
            self._show(entry_id, conversation.entries[entry_id])

    def _show(self, entry_id: entries.EntryId, entry: entries.Entry) -> None:
        if self._held is not None and self._held[0] != entry_id:
            self._print_held()
        match entry:
            case entries.Message(role="agent"):
                self._show_message(entry_id, entry)
            case entries.ToolCallEntry():
                self._show_tool(entry_id, entry)
            case entries.TurnEnd(stop_reason):
                self.say(make_visible_line(wording.stop_words(stop_reason)))
            case updates.ClientRemark(text):
                self.say(make_visible_line(text))
            case _:
                pass

    def _show_message(self, entry_id: entries.EntryId, message: entries.Message) -> None:
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

    def _show_tool(self, entry_id: entries.EntryId, entry: entries.ToolCallEntry) -> None:
        """Print what changed, except for a call that the agent only prepares, or announces again for its question."""
        call, said = entry.call, self._said_of_tools.get(entry_id)
        if entry.is_rejected and call.status != tool_calls.FAILED:
            return  # its question said so
        if call.status == tool_calls.PENDING and (said is not None or call.raw_input == {}):
            return
        line = f"{make_visible_line(entry.status_words):<11} {_title(call)}"
        if call.status == tool_calls.FAILED and (why := tool_text.failure_words(call)):
            line = f"{line}: {why}"
        if said != line:
            self._said_of_tools[entry_id] = line
            self.say(line)

    def say(self, text: str) -> None:
        """Print on stderr, starting a new line if stdout and stderr are the same terminal."""
        if not self._ends_line and self._is_one_place:
            self._streams.err("\n")
            self._ends_line = True
        super().say(text)

    def finish(self, session: Session | None, code: ExitCode) -> None:
        self._print_held()
        if not self._ends_line:
            self._streams.out("\n")


def _title(call: tool_calls.ToolCall) -> str:
    subject = tool_text.subject_of(call, {})
    title = tool_text.visible_title(call)
    return title if subject is None else f"{title}: {subject.visible}"


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
            with _left_by_signals():
                sys.stdout.write(text)
                sys.stdout.flush()
        except OSError as error:
            # Otherwise, buffered output would be written at exit and cause another error.
            discard_output(sys.stdout)
            if error.errno != errno.ECANCELED:
                self._on_lost(error)


@contextmanager
def _left_by_signals() -> Iterator[None]:
    """Have a signal leave a write for which nothing reads stdout, so that the event loop hears of the signal."""
    before = {number: signal.signal(number, _leave_write) for number in stopping()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave_write(*_: object) -> None:
    if not select.select((), (sys.stdout,), (), 0)[1]:
        raise OSError(errno.ECANCELED, "nothing reads it")


def _write_err(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


class NdjsonOutput(OutputFormat):
    """Prints each change of the conversation as a line of JSON, in the shape of an export, and a result at the end."""

    def __init__(self, streams: Streams, agent: str, cwd: Path, *, is_raw: bool) -> None:
        """With `is_raw`, print each frame of the agent's, too, before what it changes."""
        super().__init__(streams)
        self._facts = ExportFacts(agent, str(cwd), "")
        self._is_raw = is_raw
        self._lines: ChangedLines | None = None
        self._error: dict[str, Any] | None = None

    def tap(self, direction: Direction, frame: bytes) -> None:
        if not self._is_raw or direction is not Direction.IN:
            return
        text = frame.decode("utf-8", "replace")
        try:
            self._print({"type": "frame", "frame": json.loads(text)})
        except ValueError:
            self._print({"type": "frame", "frame": text})

    def _print(self, value: dict[str, Any]) -> None:
        self._streams.out(f"{ascii_line(value)}\n")

    def begin(self, session: Session, agent: Agent) -> None:
        version = agent.identity.version if agent.identity is not None else None
        self._facts = ExportFacts(
            agent.title, str(session.cwd), session.session_id, version, sandbox=agent.sandbox_name
        )
        self._print(header(self._facts, session.conversation.title))
        self._lines = ChangedLines(session.conversation)

    def change(self, conversation: Conversation, change: Change) -> None:
        assert self._lines is not None
        for line in self._lines.of(change):
            self._streams.out(f"{line}\n")

    def fail(self, error: ClientError) -> None:
        super().fail(error)
        told = {"kind": type(error).__name__, "message": str(error), "detail": error.detail or None, "said": error.said}
        self._error = without_nulls(told)

    def finish(self, session: Session | None, code: ExitCode) -> None:
        if self._lines is None:
            self._print(header(self._facts))
        result: dict[str, Any] = {"exit_code": int(code), "error": self._error}
        if session is not None:
            said = session.conversation
            result["stop_reason"], result["turn"] = said.last_stop_reason, said.turns[-1] if said.turns else None
            result["usage"], result["tokens"] = said.usage, said.spent
        self._print({"type": "result", **plain(without_nulls(result))})
