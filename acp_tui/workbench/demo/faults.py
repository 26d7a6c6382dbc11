"""The ways in which the agent misbehaves on purpose, so that a client can be tried against each.

What breaks the protocol's form bypasses the peer, which would never send it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import anyio

from acp_tui.rpc import ErrorCode, RequestFailed
from acp_tui.workbench.demo import script
from acp_tui.workbench.demo.turn import Ending, Turn

AUTH_REQUIRED: Final = -32000
FLOOD_FLUSH: Final = 64
JUNK: Final = (
    "npm warn deprecated left-pad@1.3.0: use String.prototype.padStart()",
    "[]",
    "null",
    "{not json",
)


async def play(turn: Turn, fault: script.Fault) -> Ending:
    """Commit the fault; most let the turn go on."""
    return await FAULTS[fault.kind](turn, fault)


async def _auth_required(turn: Turn, fault: script.Fault) -> Ending:
    """Answer the prompt as if the login had expired."""
    return RequestFailed(AUTH_REQUIRED, "Authentication required")


async def _bad_frame(turn: Turn, fault: script.Fault) -> Ending:
    """Send one line as given: by default a notification of the wrong shape."""
    default = json.dumps(_notification(turn, {"sessionUpdate": "agent_message_chunk", "content": 5}))
    await turn.client.send_raw(str(fault.parameters.get("frame", default)).encode())
    return None


async def _error(turn: Turn, fault: script.Fault) -> Ending:
    """Answer the prompt with an error."""
    parameters = fault.parameters
    details = parameters.get("details")
    return RequestFailed(
        parameters.get("code", int(ErrorCode.INTERNAL_ERROR)),
        parameters.get("message", "Internal error"),
        None if details is None else {"details": details},
    )


async def _exit(turn: Turn, fault: script.Fault) -> Ending:
    """End the process at once, as a crash does: nothing is cleaned up."""
    await turn.client.flush()
    sys.stderr.write(turn.fill(fault.parameters.get("last_words", "")))
    sys.stderr.flush()
    os._exit(fault.parameters.get("code", 1))


async def _flood(turn: Turn, fault: script.Fault) -> Ending:
    """Send many chunks as fast as the client takes them."""
    text = fault.parameters.get("text", "word **word** `code`\n")
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    for number in range(1, fault.parameters.get("count", 10_000) + 1):
        turn.send(chunk)
        if number % FLOOD_FLUSH == 0:
            await turn.client.flush()
    await turn.client.flush()
    return None


async def _hang(turn: Turn, fault: script.Fault) -> Ending:
    """Do nothing any more; a deaf one does not hear the cancellation either."""
    turn.deaf = fault.parameters.get("deaf", False)
    await anyio.sleep_forever()
    return None


async def _huge_line(turn: Turn, fault: script.Fault) -> Ending:
    """Send a chunk of many bytes as one line, which is legal."""
    size = fault.parameters.get("bytes", 1 << 20)
    line = "All of this is one line of the protocol. "
    text = (line * (size // len(line) + 1))[:size]
    turn.send({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})
    await turn.client.flush()
    return None


async def _junk(turn: Turn, fault: script.Fault) -> Ending:
    """Print lines on stdout that are no messages."""
    for line in fault.parameters.get("lines", JUNK):
        await turn.client.send_raw(str(line).encode())
    return None


async def _late_update(turn: Turn, fault: script.Fault) -> Ending:
    """Leave steps to be played after the turn has been answered."""
    turn.late += fault.late
    return None


async def _unknown_update(turn: Turn, fault: script.Fault) -> Ending:
    """Send an update of a kind that no protocol version knows."""
    update = fault.parameters.get("update", {"sessionUpdate": "telepathy", "strength": 9})
    await turn.client.send_raw(json.dumps(_notification(turn, update)).encode())
    return None


def _notification(turn: Turn, update: Mapping[str, Any]) -> dict[str, Any]:
    params = {"sessionId": turn.session.id, "update": update}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


FAULTS: Final[dict[str, Callable[[Turn, script.Fault], Awaitable[Ending]]]] = {
    "auth_required": _auth_required,
    "bad_frame": _bad_frame,
    "error": _error,
    "exit": _exit,
    "flood": _flood,
    "hang": _hang,
    "huge_line": _huge_line,
    "junk": _junk,
    "late_update": _late_update,
    "unknown_update": _unknown_update,
}
