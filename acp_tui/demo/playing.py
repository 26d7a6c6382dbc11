"""Plays the steps of a turn in order, with faults. Malformed messages bypass the peer, which wouldn't send them.

A step that asks the client returns the branch that the answer chooses. If the client lacks a capability, the agent says
so and continues the turn.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, assert_never

import anyio

from acp_tui.demo import script
from acp_tui.demo.session import DemoTurn, Ending, Outcome
from acp_tui.rpc import ErrorCode, RequestFailed, RpcError


async def play(turn: DemoTurn, steps: Sequence[script.Step]) -> Ending:
    """Play steps in order until one ends the turn."""
    for step in steps:
        ending = await _play(turn, step)
        if ending is not None:
            return ending
    return None


async def _play(turn: DemoTurn, step: script.Step) -> Ending:
    outcome = await _played(turn, step)
    return await play(turn, outcome) if isinstance(outcome, tuple) else outcome


async def _played(turn: DemoTurn, step: script.Step) -> Outcome:
    match step:
        case script.Say(update="user_message_chunk") if turn.is_echoed:
            pass  # a chunk would be appended to the echoed message
        case script.Say():
            await turn.stream(step)
        case script.Tool():
            turn.send({"sessionUpdate": step.update} | turn.tool_call(step))
        case script.Read():
            return await read(turn, step)
        case script.Write():
            await write(turn, step)
        case script.Permission():
            return await ask(turn, step)
        case script.Run():
            return await run(turn, step)
        case script.Elicit():
            return await elicit(turn, step)
        case script.Complete(name):
            complete(turn, name)
        case script.CallExtension():
            return await call_extension(turn, step)
        case script.NotifyExtension(method, params):
            turn.client.peer.notify(method, turn.fill(params))
        case script.SendNotice(fields):
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
        case script.StartSubagent():
            return await _subagent(turn, step)
        case script.Stop(reason):
            return reason
        case script.PrintStderr(text):
            sys.stderr.write(turn.fill(text) + "\n")
            sys.stderr.flush()
        case script.Fault():
            return await FAULTS[step.kind](turn, step)
        case _:
            assert_never(step)
    return None


async def _play_together(turn: DemoTurn, steps: Sequence[script.Step]) -> Ending:
    endings: list[Ending] = [None] * len(steps)

    async def play(index: int, step: script.Step) -> None:
        endings[index] = await _play(turn, step)

    async with anyio.create_task_group() as tasks:
        for index, step in enumerate(steps):
            tasks.start_soon(play, index, step)
    return next((ending for ending in endings if ending is not None), None)


async def _subagent(turn: DemoTurn, step: script.StartSubagent) -> Ending:
    """Report a subagent, play its steps in its own session, and report its end, which doesn't end the turn."""
    if not turn.client.takes_subagents:
        turn.lack("subagents", f"“{step.title}” ran without one")
        return await play(turn, step.does)
    work = turn.of_subagent(turn.session.begin_subagent())

    def tell(state: Mapping[str, Any], **more: Any) -> None:
        update = {"sessionUpdate": "subagent_update", "sessionId": work.session.id, "state": state}
        turn.send(update | turn.fill(more))

    described: dict[str, Any] = {} if step.description is None else {"description": step.description}
    offered: dict[str, Any] = {"capabilities": {"cancel": {}}} if step.cancel else {}
    tell({"state": "running"}, title=step.title, **described, **offered)
    work.session.cancel_turn = work.cancel
    reason = "cancelled"
    try:
        with work.scope:
            ending = await play(work, step.does)
            reason = "refusal" if isinstance(ending, RequestFailed) else ending or "end_turn"
    finally:
        work.session.cancel_turn = None
        count = {"totalTokens": 20 * work.spoken, "inputTokens": 14 * work.spoken, "outputTokens": 6 * work.spoken}
        tell({"state": "idle", "stopReason": reason, "usage": count})
    return None


def _notify(turn: DemoTurn, fields: script.Wire) -> None:
    if turn.client.takes_notices:
        # Bypass the session's history: a notice isn't part of it.
        turn.client.update(turn.session.id, {"sessionUpdate": "notice"} | turn.fill(fields))
    else:
        turn.lack("notices", f"“{fields['title']}” wasn't shown")


async def _compact(turn: DemoTurn, step: script.Compact) -> None:
    if not turn.client.takes_compaction:
        turn.lack("compaction", "the context was shortened without telling you")
        return
    named = {"compactionId": turn.id_of("compaction", None)}
    update = {"sessionUpdate": "compaction_update"} | named
    turn.send(update | {"status": "in_progress"})
    chunk = {"sessionUpdate": "compaction_summary_chunk"} | named
    await turn.stream_text(chunk, turn.fill(step.summary), 1, step.chunk_s)
    ending = {"status": "failed", "error": step.error} if step.error else {"status": "completed"}
    turn.send(update | ending)


def _switch_mode(turn: DemoTurn, mode_id: str) -> None:
    turn.session.set_mode(mode_id)
    turn.send({"sessionUpdate": "current_mode_update", "currentModeId": mode_id})


def _change_config(turn: DemoTurn, values: Mapping[str, str | bool]) -> None:
    for option_id, value in values.items():
        turn.session.set_option(option_id, value)
    options = turn.session.config_options()
    turn.send({"sessionUpdate": "config_option_update", "configOptions": options})


AUTH_REQUIRED: Final = -32000
FLOOD_FLUSH: Final = 64
JUNK: Final = ("npm warn deprecated left-pad@1.3.0: use String.prototype.padStart()", "[]", "null", "{not json")


async def _auth_required(turn: DemoTurn, fault: script.Fault) -> Ending:
    """Answer the prompt as if the login had expired."""
    return RequestFailed(AUTH_REQUIRED, "Authentication required")


async def _bad_frame(turn: DemoTurn, fault: script.Fault) -> Ending:
    """Send one line as given; by default, a notification of the wrong shape."""
    default = json.dumps(_notification(turn, {"sessionUpdate": "agent_message_chunk", "content": 5}))
    await turn.client.send_raw(str(fault.parameters.get("frame", default)).encode())
    return None


async def _error(turn: DemoTurn, fault: script.Fault) -> Ending:
    parameters = fault.parameters
    details = parameters.get("details")
    return RequestFailed(
        parameters.get("code", int(ErrorCode.INTERNAL_ERROR)),
        parameters.get("message", "Internal error"),
        None if details is None else {"details": details},
    )


async def _exit(turn: DemoTurn, fault: script.Fault) -> Ending:
    """Exit immediately like a crash, without cleanup."""
    await turn.client.peer.flush()
    sys.stderr.write(turn.fill(fault.parameters.get("last_words", "")))
    sys.stderr.flush()
    os._exit(fault.parameters.get("code", 1))


async def _flood(turn: DemoTurn, fault: script.Fault) -> Ending:
    """Send many chunks as fast as the client reads them."""
    text = fault.parameters.get("text", "word **word** `code`\n")
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    for number in range(1, fault.parameters.get("count", 10_000) + 1):
        turn.send(chunk)
        if number % FLOOD_FLUSH == 0:
            await turn.client.peer.flush()
    await turn.client.peer.flush()
    return None


async def _hang(turn: DemoTurn, fault: script.Fault) -> Ending:
    """Hang. With `deaf`, ignore cancellation too."""
    turn.deaf = fault.parameters.get("deaf", False)
    await anyio.sleep_forever()
    return None


async def _huge_line(turn: DemoTurn, fault: script.Fault) -> Ending:
    """Send a chunk of many bytes as one line, which is legal."""
    size = fault.parameters.get("bytes", 1 << 20)
    line = "All of this is one line of the protocol. "
    text = (line * (size // len(line) + 1))[:size]
    turn.send({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})
    await turn.client.peer.flush()
    return None


async def _junk(turn: DemoTurn, fault: script.Fault) -> Ending:
    """Print lines on stdout that aren't messages."""
    for line in fault.parameters.get("lines", JUNK):
        await turn.client.send_raw(str(line).encode())
    return None


async def _late_update(turn: DemoTurn, fault: script.Fault) -> Ending:
    """Keep steps to play after the turn is answered."""
    turn.late += fault.late
    return None


async def _unknown_update(turn: DemoTurn, fault: script.Fault) -> Ending:
    """Send an update of a kind that no protocol version defines."""
    update = fault.parameters.get("update", {"sessionUpdate": "telepathy", "strength": 9})
    await turn.client.send_raw(json.dumps(_notification(turn, update)).encode())
    return None


def _notification(turn: DemoTurn, update: Mapping[str, Any]) -> dict[str, Any]:
    params = {"sessionId": turn.session.id, "update": update}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


FAULTS: Final[dict[str, Callable[[DemoTurn, script.Fault], Awaitable[Ending]]]] = {
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


CREATE_S: Final = 5.0
CLEANUP_S: Final = 1.0


async def read(turn: DemoTurn, step: script.Read) -> Outcome:
    """Read a file, and remember its content for diffs that follow."""
    path = turn.path(turn.fill(step.path))
    call = _begin(turn, step.id, f"Read {step.path}", "read", locations=[{"path": path}])
    if not turn.client.can_read:
        _refuse(turn, call, f"The client can't read files, so `{step.path}` wasn't read.")
        return None
    try:
        text = await turn.client.read_text_file(turn.session.id, path, step.line, step.limit)
    except RequestFailed as error:
        _refuse(turn, call, f"`{step.path}` couldn't be read: {_why(error)}.", silent=bool(step.missing))
        return step.missing
    turn.session.files_read[path] = text
    language = path.rpartition(".")[2]
    _settle(turn, call, "completed", content=[_text(f"```{language}\n{text}\n```")])
    return None


async def write(turn: DemoTurn, step: script.Write) -> None:
    path, content = turn.path(turn.fill(step.path)), turn.fill(step.content)
    call = _begin(turn, step.id, f"Write {step.path}", "edit", locations=[{"path": path}])
    if not turn.client.can_write:
        _refuse(turn, call, f"The client can't write files, so `{step.path}` wasn't written.")
        return
    try:
        await turn.client.write_text_file(turn.session.id, path, content)
    except RequestFailed as error:
        _refuse(turn, call, f"`{step.path}` couldn't be written: {_why(error)}.")
        return
    turn.session.files_read[path] = content
    _settle(turn, call, "completed")


async def ask(turn: DemoTurn, step: script.Permission) -> Outcome:
    """Ask for permission. The kind of the chosen option decides the branch."""
    tool_call, options = turn.tool_call(step.tool), turn.fill(step.options)
    try:
        chosen = await turn.client.request_permission(turn.session.id, tool_call, options)
    except RequestFailed as error:
        _refuse(turn, tool_call["toolCallId"], f"The client couldn't ask for permission: {error.message}.")
        return step.rejected
    if chosen is None:
        return "cancelled"
    kinds = {option["optionId"]: option["kind"] for option in options}
    if kinds.get(chosen, "reject_once").startswith("allow"):
        _settle(turn, tool_call["toolCallId"], "in_progress")
        return step.allowed
    _settle(turn, tool_call["toolCallId"], "failed")
    return step.rejected


async def run(turn: DemoTurn, step: script.Run) -> Outcome:
    """Run a command to its end in a terminal shown live."""
    argv = turn.fill((step.command, *step.args))
    line = shlex.join(argv)
    call = _begin(turn, step.id, turn.fill(step.title) or line, "execute", rawInput={"command": line})
    if not turn.client.can_run:
        _refuse(turn, call, f"The client has no terminal, so `{line}` wasn't run.")
        return None
    try:
        exit_code = await _run_in_terminal(turn, step, call, argv)
    except RequestFailed as error:
        _refuse(turn, call, f"`{line}` couldn't be run: {_why(error)}.")
        return step.failed
    return step.succeeded if _succeeded(step, exit_code) else step.failed


async def _run_in_terminal(turn: DemoTurn, step: script.Run, call: str, argv: list[str]) -> int | None:
    session_id, client = turn.session.id, turn.client
    terminal_id = await _create_terminal(turn, step, argv)
    ended = False
    try:
        _settle(turn, call, "in_progress", content=[{"type": "terminal", "terminalId": terminal_id}])
        if step.kill_after_s is not None:
            await turn.pace.wait(step.kill_after_s)
            await client.kill_terminal(session_id, terminal_id)
        exit_code = await client.wait_for_terminal_exit(session_id, terminal_id)
        ended = True
        output = await client.terminal_output(session_id, terminal_id)
    finally:
        await _end_terminal(turn, terminal_id, kill=not ended)
    status = "completed" if _succeeded(step, exit_code) else "failed"
    _settle(turn, call, status, rawOutput={"exitCode": exit_code, "outputCharacters": len(output)})
    return exit_code


def _succeeded(step: script.Run, exit_code: int | None) -> bool:
    return exit_code == 0 or step.kill_after_s is not None


async def _create_terminal(turn: DemoTurn, step: script.Run, argv: list[str]) -> str:
    env, cwd = turn.fill(step.env), turn.path(turn.fill(step.cwd or ""))
    try:
        # Shielded: a terminal with an unknown ID couldn't be released.
        with anyio.fail_after(CREATE_S, shield=True):
            return await turn.client.create_terminal(turn.session.id, argv, env, cwd, step.output_limit_bytes)
    except TimeoutError as error:
        message = f"the client made no terminal within {CREATE_S:g} s"
        raise RequestFailed(ErrorCode.INTERNAL_ERROR, message) from error


async def _end_terminal(turn: DemoTurn, terminal_id: str, *, kill: bool) -> None:
    # With a time limit, because the connection may be gone.
    with anyio.move_on_after(CLEANUP_S, shield=True), suppress(RpcError):
        if kill:
            await turn.client.kill_terminal(turn.session.id, terminal_id)
        await turn.client.release_terminal(turn.session.id, terminal_id)


def _begin(turn: DemoTurn, name: str | None, title: str, kind: str, **fields: Any) -> str:
    """Report that a tool call is running, announcing it if necessary; return its ID."""
    known = turn.is_known(name)
    call = turn.call_id(name)
    if known:
        _settle(turn, call, "in_progress")
    else:
        announced = {"toolCallId": call, "title": title, "kind": kind, "status": "in_progress"} | fields
        turn.send({"sessionUpdate": "tool_call"} | announced)
    return call


def _settle(turn: DemoTurn, call: str, status: str, **fields: Any) -> None:
    update = {"sessionUpdate": "tool_call_update", "toolCallId": call, "status": status}
    turn.send(update | fields)


def _refuse(turn: DemoTurn, call: str, why: str, *, silent: bool = False) -> None:
    """Fail a tool call with a reason, which is also said in the conversation unless `silent`."""
    _settle(turn, call, "failed", content=[_text(why)])
    if not silent:
        turn.say(f"*{why}*\n\n")


def _text(text: str) -> script.Wire:
    return {"type": "content", "content": {"type": "text", "text": text}}


def _why(error: RequestFailed) -> str:
    """The client's reason, to embed in a sentence."""
    return error.message.removesuffix(".")


async def elicit(turn: DemoTurn, step: script.Elicit) -> Outcome:
    """Show a form or ask to visit a page. The values of a form become `{answer.FIELD}`."""
    is_form = step.question["mode"] == "form"
    if not (turn.client.takes_forms if is_form else turn.client.takes_pages):
        turn.lack("forms" if is_form else "pages to visit", f"“{turn.fill(step.question['message'])}” wasn't asked")
        return None
    try:
        action, content = await turn.client.elicit(_request(turn, step))
    except RequestFailed as error:
        turn.say(f"*The client couldn't ask: {error.message}.*\n\n")
        return None
    if action == "accept" and is_form:
        turn.learn(_answers(step.question["requestedSchema"], content))
    branches = {"accept": step.accepted, "decline": step.declined}
    return branches.get(action, step.cancelled)


def _request(turn: DemoTurn, step: script.Elicit) -> script.Wire:
    request: dict[str, Any] = turn.fill(step.question)
    if step.scope == "request" and turn.request_id is not None:
        request["requestId"] = turn.request_id
    else:
        request["sessionId"] = turn.session.id
        if step.tool_call is not None:
            request["toolCallId"] = turn.call_id(step.tool_call)
    if request["mode"] == "url":
        request["elicitationId"] = _visit_id(turn, step.id)
    return request


def _visit_id(turn: DemoTurn, name: str | None) -> str:
    # The completion names no session, so the ID must.
    return f"{turn.session.id}-{turn.id_of('visit', name)}"


def _answers(schema: script.Wire, content: Mapping[str, Any]) -> dict[str, str]:
    return {f"answer.{name}": _in_words(content.get(name)) for name in schema["properties"]}


def _in_words(value: Any) -> str:
    match value:
        case None | "" | []:
            return "none"
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(str, value))
        case _:
            return str(value)


def complete(turn: DemoTurn, name: str) -> None:
    if turn.client.takes_pages:
        turn.client.complete_elicitation(_visit_id(turn, name))


async def call_extension(turn: DemoTurn, step: script.CallExtension) -> Outcome:
    """Send an extension request. `{answer}` becomes its result, or why it was refused."""
    try:
        answer: Any = await turn.client.peer.request(step.method, turn.fill(step.params))
    except RequestFailed as error:
        turn.learn({"answer": error.message})
        return step.refused
    turn.learn({"answer": json.dumps(answer, ensure_ascii=False)})
    return step.answered
