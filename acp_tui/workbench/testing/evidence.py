"""What stands below a failure: the frames, what the agent said beside them, and where it is all recorded. As text."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from acp_tui.conversation.content import Text
from acp_tui.conversation.tool_calls import FAILED, BlockContent, TextDiff, ToolCall
from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.protocol.conformance import Frame
from acp_tui.rpc import Direction

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
    return f"To look at it: acp-tui replay {shlex.quote(str(recording))}"


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
    said = " ".join(block.text for block in blocks if isinstance(block, Text)) or "it does not say why"
    return said if len(said) <= REASON_CELLS else f"{said[:REASON_CELLS]}…"


def paths_of(call: ToolCall) -> list[str]:
    """The files that a call names, in its locations and its diffs."""
    diffs = [item.path for item in call.content if isinstance(item, TextDiff)]
    return list(dict.fromkeys([*(location.path for location in call.locations), *diffs]))


def quoted(text: str, most_lines: int = SHOWN_TEXT_LINES) -> str:
    """The last of a text of the agent's, indented; what is empty is said to be."""
    lines = make_visible(text).rstrip("\n").split("\n") if text else ["(nothing)"]
    left_out = ["…"] if len(lines) > most_lines else []
    return "\n".join(f"  {line}" for line in [*left_out, *lines[-most_lines:]])
