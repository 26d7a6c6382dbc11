"""What a test of an agent fails with; each says what failed, on what, and what to do.

AgentFailure (an AssertionError)
├── AgentNotStarted     no such command, or it cannot be executed
├── AgentGone           it ended, or broke the protocol so that nothing more can be understood
├── RequestRefused      it answered with an error; `code` is its code
│   └── LoginNeeded     it wants a login first (-32000)
├── NotOffered          it did not offer in the handshake what the test wants of it
├── TimedOut            it has not answered in time
├── Unanswered          it asked for something that the test says nothing of
└── NotAsked            it did not ask for what the test expects it to ask
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from acp_tui.client.errors import (
    AgentLost,
    AgentRefused,
    AgentStartFailed,
    AuthenticationRequired,
    ClientError,
    Unsupported,
)
from acp_tui.conversation.content import Text
from acp_tui.conversation.tool_calls import FAILED, BlockContent, ToolCall, changed_paths
from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.protocol import AUTH_REQUIRED
from acp_tui.protocol.conformance import Frame
from acp_tui.rpc import Direction


class AgentFailure(AssertionError):
    """`what` is the sentence; `str()` of it adds what to do, and what was seen."""

    def __init__(self, what: str, *, advice: str = "", seen: str = "") -> None:
        super().__init__("\n\n".join(part for part in (what, advice, seen) if part))
        self.what = what


class AgentNotStarted(AgentFailure):
    """There is no process."""


class AgentGone(AgentFailure):
    """There is no process any more, or nothing that could be talked to."""


class RequestRefused(AgentFailure):
    """A request was answered with an error."""

    code: int = 0
    """Of JSON-RPC, or of the protocol."""


class LoginNeeded(RequestRefused):
    """A request was refused until somebody logs in."""


class NotOffered(AgentFailure):
    """Nothing was sent: the agent's capabilities do not name it."""


class TimedOut(AgentFailure):
    """The limit of the call has passed."""


class Unanswered(AgentFailure):
    """A permission or an elicitation was asked for and no answer was given to the kit; nothing was allowed."""


class NotAsked(AgentFailure):
    """An expected question did not come."""


for _failure in (AgentFailure, *AgentFailure.__subclasses__(), LoginNeeded):
    _failure.__module__ = "acp_tui.testing"  # where tests have it from; pytest prints it before each message


def failure_of(error: ClientError, *, during: str, seen: str = "") -> AgentFailure:
    """What the client's error is to a test, which wanted something of the agent when it came."""
    what, advice = f"{error} (during {during})", error.hint[:1].upper() + error.hint[1:]
    match error:
        case AuthenticationRequired():
            return _refused(LoginNeeded(what, advice=_ways_to_log_in(error), seen=seen), AUTH_REQUIRED)
        case AgentRefused():
            told = "\n".join(part for part in (f"Code {error.code}.", error.detail, advice) if part)
            return _refused(RequestRefused(what, advice=told, seen=seen), error.code)
        case AgentStartFailed():
            return AgentNotStarted(what, advice=advice)  # there is nothing to be seen
        case AgentLost():
            return AgentGone(what, advice=advice, seen=seen)
        case Unsupported():
            advice = "The agent must advertise it first: in its answer to initialize, or with the session."
            return NotOffered(what, advice=advice, seen=seen)
        case _:
            return AgentFailure(what, advice=advice, seen=seen)


def _refused(refused: RequestRefused, code: int) -> RequestRefused:
    refused.code = code
    return refused


def _ways_to_log_in(error: AuthenticationRequired) -> str:
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
"""A long id, of which the beginning says enough."""
REASON_CELLS: Final = 160
ARROWS: Final = {Direction.IN: "<-", Direction.OUT: "->"}
JUNK: Final = "[stdout] "
"""How the client's log marks what came on stdout and is no message."""


def frames_text(frames: Sequence[Frame], workspace: Path, *, heading: str = "Frames") -> str:
    """The last of these frames, a line each, shortened to what matters."""
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
    """What it said on stdout that is no message."""
    return [line.removeprefix(JUNK) for line in log if line.startswith(JUNK)]


def stderr_text(stderr: str) -> str:
    """The last of what the agent said on stderr; "" where it said nothing."""
    return f"Its stderr:\n{quoted(stderr, SHOWN_LOG_LINES)}" if stderr.strip() else ""


def recording_text(recording: Path) -> str:
    """Where to look on."""
    return f"To view it: acp-tui replay {shlex.quote(str(recording))}"


def calls_text(calls: Iterable[ToolCall]) -> str:
    """Tool calls, a line each."""
    return "\n".join(f"  {call_line(call)}" for call in calls) or "  none"


def call_line(call: ToolCall) -> str:
    """A tool call: its title, kind, status, where, and why it failed."""
    paths = ", ".join(make_visible_line(path) for path in paths_of(call))
    where = f", at {paths}" if paths else ""
    reason = f": {_reason(call)}" if call.status == FAILED else ""
    line = make_visible_line(f"{call.shown_title!r}: kind {call.kind!r}, status {call.status!r}")
    return line + where + make_visible_line(reason)


def _reason(call: ToolCall) -> str:
    """What it says of its failure."""
    blocks = (item.block for item in call.content if isinstance(item, BlockContent))
    said = " ".join(block.text for block in blocks if isinstance(block, Text)) or "it doesn't say why"
    return said if len(said) <= REASON_CELLS else f"{said[:REASON_CELLS]}…"


def paths_of(call: ToolCall) -> list[str]:
    """The files that a call names, in its locations and its diffs."""
    diffs = changed_paths(call.content)
    return list(dict.fromkeys([*(location.path for location in call.locations), *diffs]))


def quoted(text: str, most_lines: int = SHOWN_TEXT_LINES) -> str:
    """The last of a text of the agent's, indented; what is empty is said to be."""
    lines = make_visible(text).rstrip("\n").split("\n") if text else ["(nothing)"]
    left_out = ["…"] if len(lines) > most_lines else []
    return "\n".join(f"  {line}" for line in [*left_out, *lines[-most_lines:]])
