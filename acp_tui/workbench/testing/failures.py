"""The failures of a test of an agent. Each says what failed, on what, and what to do.

AgentFailure (an AssertionError)
├── AgentNotStarted     there is no such command, or it can't be executed
├── AgentGone           it exited, or broke the protocol so that it can't be understood anymore
├── RequestRefused      it answered with an error; `code` is the error code
│   └── LoginNeeded     it requires a login first (-32000)
├── NotOffered          it doesn't have the capability that the test needs
├── TimedOut            it didn't answer in time
├── Unanswered          it asked for something that the test doesn't mention
└── NotAsked            it didn't ask for something that the test expects
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from acp_tui.client import errors
from acp_tui.conversation.tool_calls import FAILED, ToolCall, changed_paths
from acp_tui.conversation.tool_text import failure_words
from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.conversation.wording import NO_MESSAGE
from acp_tui.protocol import AUTH_REQUIRED
from acp_tui.workbench.conformance import Frame
from acp_tui.workbench.conformance.rule import ARROWS


class AgentFailure(AssertionError):
    """`what` is the sentence; `str()` adds what to do and what was observed."""

    def __init__(self, what: str, *, advice: str = "", seen: str = "") -> None:
        super().__init__("\n\n".join(part for part in (what, advice, seen) if part))
        self.what = what


class AgentNotStarted(AgentFailure):
    """The process didn't start."""


class AgentGone(AgentFailure):
    """The process exited, or can't be communicated with."""


class RequestRefused(AgentFailure):
    """A request was answered with an error."""

    code: int = 0
    """The error code of JSON-RPC or the protocol."""


class LoginNeeded(RequestRefused):
    """A request requires a login."""


class NotOffered(AgentFailure):
    """Nothing was sent, because the agent lacks the capability."""


class TimedOut(AgentFailure):
    """The call exceeded its time limit."""


class Unanswered(AgentFailure):
    """A permission or an elicitation was requested that the test doesn't answer. Nothing was allowed."""


class NotAsked(AgentFailure):
    """An expected question didn't come."""


for _failure in (AgentFailure, *AgentFailure.__subclasses__(), LoginNeeded):
    _failure.__module__ = "acp_tui.testing"  # where tests import them from; pytest prints it before messages


def failure_of(error: errors.ClientError, *, during: str, seen: str = "") -> AgentFailure:
    """Convert a client error during an action of the test to a failure."""
    what, advice = f"{error} (during {during})", error.hint[:1].upper() + error.hint[1:]
    match error:
        case errors.AuthenticationRequired():
            return _refused(LoginNeeded(what, advice=_ways_to_log_in(error), seen=seen), AUTH_REQUIRED)
        case errors.AgentRefused():
            told = "\n".join(part for part in (f"Code {error.code}.", error.detail, advice) if part)
            return _refused(RequestRefused(what, advice=told, seen=seen), error.code)
        case errors.AgentStartFailed():
            return AgentNotStarted(what, advice=advice)  # nothing was observed
        case errors.AgentLost():
            return AgentGone(what, advice=advice, seen=seen)
        case errors.Unsupported():
            advice = "The agent must advertise it first: in its answer to initialize, or with the session."
            return NotOffered(what, advice=advice, seen=seen)
        case _:
            return AgentFailure(what, advice=advice, seen=seen)


def _refused(refused: RequestRefused, code: int) -> RequestRefused:
    refused.code = code
    return refused


def _ways_to_log_in(error: errors.AuthenticationRequired) -> str:
    ways = [f"agent.authenticate({method.method_id!r})" for method in error.methods if method.kind == "agent"]
    if ways:
        return f"Log in first: {' or '.join(ways)}"
    return "It lists no login methods (authMethods); pass its credentials with acp_agent(..., env=...)"


SHOWN_FRAMES: Final = 12
SHOWN_LOG_LINES: Final = 15
SHOWN_TEXT_LINES: Final = 60
FRAME_CELLS: Final = 200
ENVELOPE: Final = re.compile(r'"jsonrpc": ?"2.0", ?')
SESSION: Final = re.compile(r'("sessionId": ?"[^"]{6})[^"]{6,}"')
"""A long ID, shortened to its beginning."""


def frames_text(frames: Sequence[Frame], workspace: Path, *, heading: str = "Frames") -> str:
    """The last of these frames, one per line, shortened to what matters."""
    if not frames:
        return f"{heading}: none"
    last = frames[-SHOWN_FRAMES:]
    count = f"{len(last)}" if len(last) == len(frames) else f"the last {len(last)} of {len(frames)}"
    lines = [_frame_line(frame, workspace) for frame in last]
    return "\n".join([f"{heading} (-> to the agent, <- from it), {count}:", *lines])


def _frame_line(frame: Frame, workspace: Path) -> str:
    text = make_visible_line(frame.raw[: 4 * FRAME_CELLS].decode("utf-8", "replace"))
    text = SESSION.sub(r'\1…"', ENVELOPE.sub("", text, count=1))
    text = text.replace(json.dumps(str(workspace))[1:-1], "<workspace>")
    shown = text if len(text) <= FRAME_CELLS else f"{text[:FRAME_CELLS]}…"
    return f"{frame.at_s:8.3f} {ARROWS[frame.direction]} {shown}"


def junk_in(log: Iterable[str]) -> list[str]:
    """The lines on stdout that aren't messages."""
    return [line.removeprefix(NO_MESSAGE) for line in log if line.startswith(NO_MESSAGE)]


def stderr_text(stderr: str) -> str:
    """The end of the agent's stderr; "" if it's empty."""
    return f"Its stderr:\n{quoted(stderr, SHOWN_LOG_LINES)}" if stderr.strip() else ""


def recording_text(recording: Path) -> str:
    return f"To view it: acp-tui replay {shlex.quote(str(recording))}"


def calls_text(calls: Iterable[ToolCall]) -> str:
    return "\n".join(f"  {call_line(call)}" for call in calls) or "  none"


def call_line(call: ToolCall) -> str:
    """A tool call: its title, kind, status, paths, and why it failed."""
    paths = ", ".join(make_visible_line(path) for path in paths_of(call))
    where = f", at {paths}" if paths else ""
    why = failure_words(call) or "it doesn't say why"
    reason = f": {why}" if call.status == FAILED else ""
    line = make_visible_line(f"{call.shown_title!r}: kind {call.kind!r}, status {call.status!r}")
    return line + where + make_visible_line(reason)


def paths_of(call: ToolCall) -> list[str]:
    diffs = changed_paths(call.content)
    return list(dict.fromkeys([*(location.path for location in call.locations), *diffs]))


def quoted(text: str, most_lines: int = SHOWN_TEXT_LINES) -> str:
    """The end of a text from the agent, indented. An empty text is shown as such."""
    lines = make_visible(text).rstrip("\n").split("\n") if text else ["(nothing)"]
    left_out = ["…"] if len(lines) > most_lines else []
    return "\n".join(f"  {line}" for line in [*left_out, *lines[-most_lines:]])
