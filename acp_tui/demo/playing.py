"""Plays the steps of a turn in order, with faults. Malformed messages bypass the peer, which wouldn't send them.

A step that asks the client returns the branch that the answer chooses. If the client lacks a capability, the agent says
so and continues the turn.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import anyio

from acp_tui.demo.script import Step, Wire
from acp_tui.demo.turn import CHUNK_S, DemoTurn, Ending, Outcome
from acp_tui.rpc import ErrorCode, RequestFailed, RpcError

TEXTS: Final = {"say": "agent_message_chunk", "think": "agent_thought_chunk", "user": "user_message_chunk"}
"""The updates that stream the texts of these steps."""
UPDATES: Final[dict[str, Callable[[Any], Wire]]] = {
    "block": lambda block: {"sessionUpdate": "agent_message_chunk", "content": block},
    "plan": lambda entries: {"sessionUpdate": "plan", "entries": entries},
    "usage": lambda usage: {"sessionUpdate": "usage_update", **usage},
    "title": lambda title: {"sessionUpdate": "session_info_update", "title": title},
    "info": lambda info: {"sessionUpdate": "session_info_update", **info},
    "commands": lambda commands: {"sessionUpdate": "available_commands_update", "availableCommands": commands},
}
"""The steps that send one update with fixed content."""


async def play(turn: DemoTurn, steps: Sequence[Step]) -> Ending:
    """Play steps in order until one ends the turn."""
    for step in steps:
        ending = await _play(turn, step)
        if ending is not None:
            return ending
    return None


async def _play(turn: DemoTurn, step: Step) -> Ending:
    outcome = await _played(turn, step)
    return await play(turn, outcome) if isinstance(outcome, tuple) else outcome


async def _played(turn: DemoTurn, step: Step) -> Outcome:
    match step.kind:
        case "user" if turn.is_echoed:
            pass  # a chunk would be appended to the echoed message
        case "say" | "think" | "user":
            await _stream(turn, step)
        case "tool":
            turn.send({"sessionUpdate": "tool_call"} | turn.tool_call(step.value))
        case "update":
            turn.send({"sessionUpdate": "tool_call_update"} | turn.tool_call(step.value))
        case "read":
            return await read(turn, step)
        case "write":
            await write(turn, step)
        case "permission":
            return await ask(turn, step)
        case "run":
            return await run(turn, step)
        case "form" | "visit":
            return await elicit(turn, step)
        case "complete":
            complete(turn, step.value)
        case "request":
            return await call_extension(turn, step)
        case "notify":
            turn.client.peer.notify(step.value["method"], turn.fill(step.value["params"]))
        case "notice":
            if turn.client.takes_notices:
                # Bypass the session's history: a notice isn't part of it.
                turn.client.update(turn.session.id, {"sessionUpdate": "notice"} | turn.fill(step.value))
            else:
                turn.lack("notices", f"“{step.value['title']}” wasn't shown")
        case "compact":
            await _compact(turn, step.value)
        case "wait_s":
            await turn.pace.wait(step.value)
        case "mode":
            turn.session.set_mode(step.value)
            turn.send({"sessionUpdate": "current_mode_update", "currentModeId": step.value})
        case "config":
            for option_id, value in step.value.items():
                turn.session.set_option(option_id, value)
            turn.send({"sessionUpdate": "config_option_update", "configOptions": turn.session.config_options()})
        case "together":
            return await _play_together(turn, step.value)
        case "subagent":
            return await _subagent(turn, step)
        case "stop":
            return str(step.value)
        case "stderr":
            sys.stderr.write(turn.fill(step.value) + "\n")
            sys.stderr.flush()
        case "fault":
            return await _misbehave(turn, step)
        case _:
            turn.send(turn.fill(UPDATES[step.kind](step.value)))
    return None


async def _stream(turn: DemoTurn, step: Step) -> None:
    update = {"sessionUpdate": TEXTS[step.kind]}
    if (name := step.get("id")) is not None:
        update["messageId"] = turn.id_of("message", name)
    await turn.stream(update, turn.fill(step.value), step.get("repeat", 1), step.get("chunk_s", CHUNK_S))


async def _play_together(turn: DemoTurn, steps: Sequence[Step]) -> Ending:
    endings: list[Ending] = [None] * len(steps)

    async def play(index: int, step: Step) -> None:
        endings[index] = await _play(turn, step)

    async with anyio.create_task_group() as tasks:
        for index, step in enumerate(steps):
            tasks.start_soon(play, index, step)
    return next((ending for ending in endings if ending is not None), None)


async def _subagent(turn: DemoTurn, step: Step) -> Ending:
    """Report a subagent, play its steps in its own session, and report its end, which doesn't end the turn."""
    title, steps = step.value["title"], step.branch("does")
    if not turn.client.takes_subagents:
        turn.lack("subagents", f"“{title}” ran without one")
        return await play(turn, steps)
    work = turn.of_subagent(turn.session.begin_subagent())

    def tell(state: Mapping[str, Any], **more: Any) -> None:
        turn.send({"sessionUpdate": "subagent_update", "sessionId": work.session.id, "state": state} | turn.fill(more))

    described = {key: text for key, text in step.value.items() if key in ("title", "description")}
    offered: dict[str, Any] = {"capabilities": {"cancel": {}}} if step.value.get("cancel") else {}
    tell({"state": "running"}, **described, **offered)
    work.session.cancel_turn = work.cancel
    reason = "cancelled"
    try:
        with work.scope:
            ending = await play(work, steps)
            reason = "refusal" if isinstance(ending, RequestFailed) else ending or "end_turn"
    finally:
        work.session.cancel_turn = None
        count = {"totalTokens": 20 * work.spoken, "inputTokens": 14 * work.spoken, "outputTokens": 6 * work.spoken}
        tell({"state": "idle", "stopReason": reason, "usage": count})
    return None


async def _compact(turn: DemoTurn, fields: Wire) -> None:
    if not turn.client.takes_compaction:
        turn.lack("compaction", "the context was shortened without telling you")
        return
    named = {"compactionId": turn.id_of("compaction", None)}
    update = {"sessionUpdate": "compaction_update"} | named
    turn.send(update | {"status": "in_progress"})
    chunk = {"sessionUpdate": "compaction_summary_chunk"} | named
    await turn.stream(chunk, turn.fill(fields["summary"]), chunk_s=fields.get("chunk_s", CHUNK_S))
    error = fields.get("error")
    ending = {"status": "failed", "error": error} if error else {"status": "completed"}
    turn.send(update | ending)


AUTH_REQUIRED: Final = -32000
FLOOD_FLUSH: Final = 64
JUNK: Final = ("npm warn deprecated left-pad@1.3.0: use String.prototype.padStart()", "[]", "null", "{not json")


async def _misbehave(turn: DemoTurn, fault: Step) -> Ending:
    match fault.value:
        case "auth_required":
            return RequestFailed(AUTH_REQUIRED, "Authentication required")
        case "bad_frame":
            default = json.dumps(_notification(turn, {"sessionUpdate": "agent_message_chunk", "content": 5}))
            await turn.client.send_raw(str(fault.get("frame", default)).encode())
        case "error":
            code, message = fault.get("code", int(ErrorCode.INTERNAL_ERROR)), fault.get("message", "Internal error")
            details = fault.get("details")
            return RequestFailed(code, message, None if details is None else {"details": details})
        case "exit":
            await turn.client.peer.flush()
            sys.stderr.write(turn.fill(fault.get("last_words", "")))
            sys.stderr.flush()
            os._exit(fault.get("code", 1))
        case "flood":
            for number in range(1, fault.get("count", 10_000) + 1):
                turn.say(fault.get("text", "word **word** `code`\n"))
                if number % FLOOD_FLUSH == 0:
                    await turn.client.peer.flush()
            await turn.client.peer.flush()
        case "hang":
            turn.deaf = fault.get("deaf", False)
            await anyio.sleep_forever()
        case "huge_line":
            size, line = fault.get("bytes", 1 << 20), "All of this is one line of the protocol. "
            turn.say((line * (size // len(line) + 1))[:size])
            await turn.client.peer.flush()
        case "junk":
            for line in fault.get("lines", JUNK):
                await turn.client.send_raw(str(line).encode())
        case "late_update":
            turn.late += fault.branch("late")
        case "unknown_update":
            update = fault.get("update", {"sessionUpdate": "telepathy", "strength": 9})
            await turn.client.send_raw(json.dumps(_notification(turn, update)).encode())
        case kind:
            raise AssertionError(kind)
    return None


def _notification(turn: DemoTurn, update: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": turn.session.id, "update": update}}


CREATE_S: Final = 600.0
"""The client may ask its user first, who may read for a while."""
CLEANUP_S: Final = 1.0


async def read(turn: DemoTurn, step: Step) -> Outcome:
    """Read a file, and remember its content for diffs that follow."""
    asked = step.value
    name, path = asked["path"], turn.path(turn.fill(asked["path"]))
    call = _begin(turn, asked.get("id"), f"Read {name}", "read", locations=[{"path": path}])
    if not turn.client.can_read:
        _refuse(turn, call, f"The client can't read files, so `{name}` wasn't read.")
        return None
    try:
        text = await turn.client.read_text_file(turn.session, path, asked.get("line"), asked.get("limit"))
    except RequestFailed as error:
        missing = step.branch("missing")
        _refuse(turn, call, f"`{name}` couldn't be read: {_why(error)}.", silent=bool(missing))
        return missing
    turn.session.files_read[path] = text
    language = path.rpartition(".")[2]
    _settle(turn, call, "completed", content=[_text(f"```{language}\n{text}\n```")])
    return None


async def write(turn: DemoTurn, step: Step) -> None:
    name, content = step.value["path"], turn.fill(step.value["content"])
    path = turn.path(turn.fill(name))
    call = _begin(turn, step.value.get("id"), f"Write {name}", "edit", locations=[{"path": path}])
    if not turn.client.can_write:
        _refuse(turn, call, f"The client can't write files, so `{name}` wasn't written.")
        return
    try:
        await turn.client.write_text_file(turn.session, path, content)
    except RequestFailed as error:
        _refuse(turn, call, f"`{name}` couldn't be written: {_why(error)}.")
        return
    turn.session.files_read[path] = content
    _settle(turn, call, "completed")


USUAL_OPTIONS: Final[tuple[Wire, ...]] = (
    {"optionId": "allow", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "always", "name": "Allow always", "kind": "allow_always"},
    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
)


async def ask(turn: DemoTurn, step: Step) -> Outcome:
    """Ask for permission. The kind of the chosen option decides the branch."""
    tool_call = turn.tool_call(step.value)
    options = tool_call.pop("options", USUAL_OPTIONS)
    try:
        chosen = await turn.client.request_permission(turn.session, tool_call, options)
    except RequestFailed as error:
        _refuse(turn, tool_call["toolCallId"], f"The client couldn't ask for permission: {error.message}.")
        return step.branch("rejected")
    if chosen is None:
        return "cancelled"
    kinds = {option["optionId"]: option["kind"] for option in options}
    if kinds.get(chosen, "reject_once").startswith("allow"):
        _settle(turn, tool_call["toolCallId"], "in_progress")
        return step.branch("allowed")
    _settle(turn, tool_call["toolCallId"], "failed")
    return step.branch("rejected")


async def run(turn: DemoTurn, step: Step) -> Outcome:
    """Run a command to its end in a terminal shown live."""
    fields = step.value
    argv = turn.fill((fields["command"], *fields.get("args", ())))
    line = shlex.join(argv)
    call = _begin(turn, fields.get("id"), turn.fill(fields.get("title")) or line, "execute", rawInput={"command": line})
    if not turn.client.can_run:
        _refuse(turn, call, f"The client has no terminal, so `{line}` wasn't run.")
        return None
    try:
        exit_code = await _run_in_terminal(turn, fields, call, argv)
    except RequestFailed as error:
        _refuse(turn, call, f"`{line}` couldn't be run: {_why(error)}.")
        return step.branch("failed")
    return step.branch("succeeded" if _succeeded(fields, exit_code) else "failed")


async def _run_in_terminal(turn: DemoTurn, fields: Wire, call: str, argv: list[str]) -> int | None:
    session, client = turn.session, turn.client
    terminal_id = await _create_terminal(turn, fields, argv)
    ended = False
    try:
        _settle(turn, call, "in_progress", content=[{"type": "terminal", "terminalId": terminal_id}])
        if (kill_after_s := fields.get("kill_after_s")) is not None:
            await turn.pace.wait(kill_after_s)
            await client.kill_terminal(session, terminal_id)
        exit_code = await client.wait_for_terminal_exit(session, terminal_id)
        ended = True
        output = await client.terminal_output(session, terminal_id)
    finally:
        # With a time limit, because the connection may be gone.
        with anyio.move_on_after(CLEANUP_S, shield=True), suppress(RpcError):
            if not ended:
                await turn.client.kill_terminal(turn.session, terminal_id)
            await turn.client.release_terminal(turn.session, terminal_id)
    status = "completed" if _succeeded(fields, exit_code) else "failed"
    _settle(turn, call, status, rawOutput={"exitCode": exit_code, "outputCharacters": len(output)})
    return exit_code


def _succeeded(fields: Wire, exit_code: int | None) -> bool:
    return exit_code == 0 or "kill_after_s" in fields  # then being killed is what is wanted


async def _create_terminal(turn: DemoTurn, fields: Wire, argv: list[str]) -> str:
    env = {name: value for name, value in turn.fill(fields.get("env", {})).items() if value}  # clients show it
    cwd = turn.path(turn.fill(fields.get("cwd", "")))
    limit_bytes = fields.get("output_limit_bytes")
    try:
        # Shielded: a terminal with an unknown ID couldn't be released.
        with anyio.fail_after(CREATE_S, shield=True):
            return await turn.client.create_terminal(turn.session, argv, env, cwd, limit_bytes)
    except TimeoutError as error:
        message = f"the client made no terminal within {CREATE_S:g} s"
        raise RequestFailed(ErrorCode.INTERNAL_ERROR, message) from error


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
    turn.send({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": status} | fields)


def _refuse(turn: DemoTurn, call: str, why: str, *, silent: bool = False) -> None:
    """Fail a tool call with a reason, which is also said in the conversation unless `silent`."""
    _settle(turn, call, "failed", content=[_text(why)])
    if not silent:
        turn.say(f"*{why}*\n\n")


def _text(text: str) -> Wire:
    return {"type": "content", "content": {"type": "text", "text": text}}


def _why(error: RequestFailed) -> str:
    """The client's reason, to embed in a sentence."""
    return error.message.removesuffix(".")


async def elicit(turn: DemoTurn, step: Step) -> Outcome:
    """Show a form or ask to visit a page. The values of a form become `{answer.FIELD}`."""
    is_form, question = step.kind == "form", step.value["question"]
    if not (turn.client.takes_forms if is_form else turn.client.takes_pages):
        turn.lack("forms" if is_form else "pages to visit", f"“{turn.fill(question['message'])}” wasn't asked")
        return None
    try:
        action, content = await turn.client.elicit(turn.session, _request(turn, step.value))
    except RequestFailed as error:
        turn.say(f"*The client couldn't ask: {error.message}.*\n\n")
        return None
    if action == "accept" and is_form:
        turn.learn(
            {f"answer.{name}": _in_words(content.get(name)) for name in question["requestedSchema"]["properties"]}
        )
    return step.branch({"accept": "accepted", "decline": "declined"}.get(action, "cancelled"))


def _request(turn: DemoTurn, asked: Wire) -> Wire:
    request: dict[str, Any] = turn.fill(asked["question"])
    if asked.get("scope") == "request" and turn.request_id is not None:
        request["requestId"] = turn.request_id
    else:
        request["sessionId"] = turn.session.id
        if "tool_call" in asked:
            request["toolCallId"] = turn.call_id(asked["tool_call"])
    if request["mode"] == "url":
        request["elicitationId"] = _visit_id(turn, asked.get("id"))
    return request


def _visit_id(turn: DemoTurn, name: str | None) -> str:
    # The completion names no session, so the ID must.
    return f"{turn.session.id}-{turn.id_of('visit', name)}"


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
        turn.client.peer.notify("elicitation/complete", {"elicitationId": _visit_id(turn, name)})


async def call_extension(turn: DemoTurn, step: Step) -> Outcome:
    """Send an extension request. `{answer}` becomes its result, or why it was refused."""
    try:
        answer: Any = await turn.client.peer.request(step.value["method"], turn.fill(step.value["params"]))
    except RequestFailed as error:
        turn.learn({"answer": error.message})
        return step.branch("refused")
    turn.learn({"answer": json.dumps(answer, ensure_ascii=False)})
    return step.branch("answered")
