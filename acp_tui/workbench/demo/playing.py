"""Plays the steps of a turn in order, with faults; malformed messages bypass the peer, which would not send them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, assert_never

import anyio

from acp_tui.rpc import ErrorCode, RequestFailed
from acp_tui.workbench.demo import asking, script
from acp_tui.workbench.demo.turn import Ending, Outcome, Turn


async def play(turn: Turn, steps: Sequence[script.Step]) -> Ending:
    """Play steps one after the other, until one ends the turn."""
    for step in steps:
        ending = await _play(turn, step)
        if ending is not None:
            return ending
    return None


async def _play(turn: Turn, step: script.Step) -> Ending:
    outcome = await _played(turn, step)
    return await play(turn, outcome) if isinstance(outcome, tuple) else outcome


async def _played(turn: Turn, step: script.Step) -> Outcome:
    match step:
        case script.Say(update="user_message_chunk") if turn.is_echoed:
            pass  # a piece would be added to what was said
        case script.Say():
            await turn.stream(step)
        case script.Block(block):
            turn.send({"sessionUpdate": "agent_message_chunk", "content": turn.fill(block)})
        case script.Plan(entries):
            turn.send({"sessionUpdate": "plan", "entries": turn.fill(entries)})
        case script.Tool(patch):
            turn.send({"sessionUpdate": "tool_call"} | turn.tool_call(patch))
        case script.Update(patch):
            turn.send({"sessionUpdate": "tool_call_update"} | turn.tool_call(patch))
        case script.Read():
            return await asking.read(turn, step)
        case script.Write():
            await asking.write(turn, step)
        case script.Permission():
            return await asking.ask(turn, step)
        case script.Run():
            return await asking.run(turn, step)
        case script.Elicit():
            return await asking.elicit(turn, step)
        case script.Complete(name):
            asking.complete(turn, name)
        case script.CallExtension():
            return await asking.call_extension(turn, step)
        case script.NotifyExtension(method, params):
            turn.client.notify_extension(method, turn.fill(params))
        case script.Notice(fields):
            _notify(turn, fields)
        case script.Compact():
            await _compact(turn, step)
        case script.Wait(seconds):
            await turn.pace.wait(seconds)
        case script.SendUpdate(update):
            turn.send(turn.fill(update))
        case script.SwitchMode(mode_id):
            _switch_mode(turn, mode_id)
        case script.ChangeConfig(values):
            _change_config(turn, values)
        case script.Together(steps):
            return await _play_together(turn, steps)
        case script.Stop(reason):
            return reason
        case script.Stderr(text):
            sys.stderr.write(turn.fill(text) + "\n")
            sys.stderr.flush()
        case script.Fault():
            return await FAULTS[step.kind](turn, step)
        case _:
            assert_never(step)
    return None


async def _play_together(turn: Turn, steps: Sequence[script.Step]) -> Ending:
    endings: list[Ending] = [None] * len(steps)

    async def play(index: int, step: script.Step) -> None:
        endings[index] = await _play(turn, step)

    async with anyio.create_task_group() as tasks:
        for index, step in enumerate(steps):
            tasks.start_soon(play, index, step)
    return next((ending for ending in endings if ending is not None), None)


def _notify(turn: Turn, fields: script.Wire) -> None:
    if turn.client.takes_notices:
        # Past the session's memory: a notice is no history.
        turn.client.update(turn.session.id, {"sessionUpdate": "notice"} | turn.fill(fields))
    else:
        turn.lack("notices", f"“{fields['title']}” was not shown")


async def _compact(turn: Turn, step: script.Compact) -> None:
    if not turn.client.takes_compaction:
        turn.lack("compaction", "the context was shortened in silence")
        return
    named = {"compactionId": turn.id_of("compaction", None)}
    update = {"sessionUpdate": "compaction_update"} | named
    turn.send(update | {"status": "in_progress"})
    chunk = {"sessionUpdate": "compaction_summary_chunk"} | named
    await turn.stream_text(chunk, turn.fill(step.summary), 1, step.chunk_s)
    ending = {"status": "failed", "error": step.error} if step.error else {"status": "completed"}
    turn.send(update | ending)


def _switch_mode(turn: Turn, mode_id: str) -> None:
    turn.session.set_mode(mode_id)
    turn.send({"sessionUpdate": "current_mode_update", "currentModeId": mode_id})


def _change_config(turn: Turn, values: Mapping[str, str | bool]) -> None:
    for option_id, value in values.items():
        turn.session.set_option(option_id, value)
    options = turn.session.config_options()
    turn.send({"sessionUpdate": "config_option_update", "configOptions": options})


AUTH_REQUIRED: Final = -32000
FLOOD_FLUSH: Final = 64
JUNK: Final = (
    "npm warn deprecated left-pad@1.3.0: use String.prototype.padStart()",
    "[]",
    "null",
    "{not json",
)


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
