"""What a turn without a screen prints, and where: text for people and pipes, or one JSON value a line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Protocol

from acp_tui.cli.exit_codes import ExitCode
from acp_tui.cli.saying import error_text
from acp_tui.client.errors import ClientError
from acp_tui.client.sessions.session import Session
from acp_tui.client.transcript.frame_log import update_params
from acp_tui.conversation.buffers import TextBuffer
from acp_tui.conversation.content import ContentBlock
from acp_tui.conversation.entries import Entry, EntryId, Failure, Message, ToolCallEntry, TurnEnd
from acp_tui.conversation.tool_calls import ToolCall
from acp_tui.conversation.tool_text import subject_of
from acp_tui.conversation.visible import make_visible_line
from acp_tui.rpc import Direction


class Output(Protocol):
    """A way to print a turn."""

    def tap(self, direction: Direction, frame: bytes) -> None:
        """A raw frame went over the connection."""

    def show(self, entry_id: EntryId, entry: Entry) -> None:
        """An entry is new or has changed."""

    def say(self, text: str) -> None:
        """A word of ours to the user."""

    def fail(self, error: ClientError) -> None:
        """The turn could not be taken, or not to its end."""

    def finish(self, session: Session | None, code: ExitCode) -> None:
        """The turn is over."""


class TextOutput:
    """The agent's messages on stdout as they come; tool calls, failures and words of ours on stderr."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._is_one_place = os.path.sameopenfile(sys.stdout.fileno(), sys.stderr.fileno())
        self._shown: dict[EntryId, int] = {}
        self._parts: dict[EntryId, list[TextBuffer | ContentBlock]] = {}
        """Of each message, by which one knows that another stands in its place."""
        self._last: EntryId | None = None
        self._ends_line = True
        self._said_of_tools: dict[EntryId, str] = {}

    def tap(self, direction: Direction, frame: bytes) -> None:
        """Frames are not printed."""

    def show(self, entry_id: EntryId, entry: Entry) -> None:
        """Print what is new in it."""
        match entry:
            case Message(role="agent"):
                self._show_message(entry_id, entry)
            case ToolCallEntry(call):
                self._show_tool(entry_id, f"{make_visible_line(call.status):<11} {_title(call)}")
            case TurnEnd(stop_reason):
                self.say(f"the turn ended: {make_visible_line(stop_reason)}")
            case Failure(message):
                self.say(message)
            case _:
                pass

    def _show_message(self, entry_id: EntryId, message: Message) -> None:
        buffers = [part for part in message.parts if isinstance(part, TextBuffer)]
        length = sum(buffer.length for buffer in buffers)
        shown = self._shown.get(entry_id, 0)
        before = self._parts.setdefault(entry_id, message.parts)
        if before is not message.parts:
            self._parts[entry_id] = message.parts
            said = "".join(part.text for part in before if isinstance(part, TextBuffer))[:shown]
            if not message.text.startswith(said):  # what is printed stays, and the new one stands below it
                shown, self._last = 0, EntryId(-1)
        new = (
            buffers[-1].since(buffers[-1].length - (length - shown))
            if len(buffers) == 1
            else message.text[shown:]
        )
        if not new:
            return
        self._shown[entry_id] = length
        if self._last is not None and self._last != entry_id:
            new = new.lstrip("\n")  # the empty line between two messages is ours
            if not new:
                return
            new = ("\n" if self._ends_line else "\n\n") + new
        self._last = entry_id
        self._ends_line = new.endswith("\n")
        self._streams.out(new)

    def _show_tool(self, entry_id: EntryId, line: str) -> None:
        if self._said_of_tools.get(entry_id) != line:
            self._said_of_tools[entry_id] = line
            self.say(line)

    def say(self, text: str) -> None:
        """One line on stderr, on a line of its own where both go to one place."""
        if not self._ends_line and self._is_one_place:
            self._streams.err("\n")
            self._ends_line = True
        self._streams.err(f"· {text}\n")

    def fail(self, error: ClientError) -> None:
        """The error with its cause and what to do, on stderr."""
        self._streams.err(f"{error_text(error)}\n")

    def finish(self, session: Session | None, code: ExitCode) -> None:
        """End the last line."""
        if not self._ends_line:
            self._streams.out("\n")


def _title(call: ToolCall) -> str:
    subject = subject_of(call, {})
    title = make_visible_line(call.shown_title)
    return title if subject is None else f"{title}: {subject.visible}"


class NdjsonOutput:
    """The params of every session/update as received, one a line, and one result object at the end."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._error: dict[str, Any] | None = None

    def tap(self, direction: Direction, frame: bytes) -> None:
        """Print the params of an update."""
        params = update_params(direction, frame)
        if params is not None:
            self._print(params)

    def _print(self, value: Any) -> None:
        # In ASCII: what a terminal would obey is escaped, and a program reads the text as the agent wrote it.
        self._streams.out(json.dumps(value, separators=(",", ":")) + "\n")

    def show(self, entry_id: EntryId, entry: Entry) -> None:
        """Entries are not printed: the updates that make them are."""

    def say(self, text: str) -> None:
        """One line on stderr."""
        self._streams.err(f"· {text}\n")

    def fail(self, error: ClientError) -> None:
        """Kept for the result object; also on stderr."""
        self._streams.err(f"{error_text(error)}\n")
        self._error = {"kind": type(error).__name__, "message": str(error), "detail": error.detail}

    def finish(self, session: Session | None, code: ExitCode) -> None:
        """The result object."""
        self._print(
            {
                "sessionId": session.session_id if session else None,
                "stopReason": session.conversation.last_stop_reason if session else None,
                "usage": asdict(spent) if (spent := session and session.conversation.spent) else None,
                "exitCode": int(code),
                "error": self._error,
            }
        )


class Streams:
    """Write to them through this, so that nothing appears behind a question which the user is about to answer."""

    def __init__(self, on_lost: Callable[[OSError], None], *, holds_stdout: bool = True) -> None:
        """`on_lost`: stdout's reader has closed it (`| head`), or its disk is full.

        `holds_stdout` False: a program reads stdout, and gets all of it at once.
        """
        self._on_lost = on_lost
        self._holds_stdout = holds_stdout
        self._is_held = False
        self._waiting: list[tuple[Callable[[str], None], str]] = []

    def out(self, text: str) -> None:
        """Write to stdout; where that fails, say so once and drop the rest."""
        if self._is_held and self._holds_stdout:
            self._waiting.append((self._write_out, text))
        else:
            self._write_out(text)

    def err(self, text: str) -> None:
        """Write to stderr."""
        if self._is_held:
            self._waiting.append((_write_err, text))
        else:
            _write_err(text)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep back what is written meanwhile; it comes at the end, in its order."""
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
            # What is still buffered would be written, and complained about, at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self._on_lost(error)


def _write_err(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
