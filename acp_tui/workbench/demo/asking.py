"""The steps that ask the client: files, permissions, terminals, questions to the user, extensions.

Each returns the branch that the answer chooses. What the client does not offer is said, and the turn goes on.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import anyio

from acp_tui.rpc import ErrorCode, RequestFailed, RpcError
from acp_tui.workbench.demo import script
from acp_tui.workbench.demo.turn import Outcome, Turn

CREATE_S: Final = 5.0
CLEANUP_S: Final = 1.0


async def read(turn: Turn, step: script.Read) -> Outcome:
    """Read a file; what it holds is remembered for the diffs that follow."""
    path = turn.path(turn.fill(step.path))
    call = _begin(turn, step.id, f"Read {step.path}", "read", locations=[{"path": path}])
    if not turn.client.can_read:
        _refuse(turn, call, f"The client offers no reading of files, so `{step.path}` was not read.")
        return None
    try:
        text = await turn.client.read_text_file(turn.session.id, path, step.line, step.limit)
    except RequestFailed as error:
        _refuse(
            turn,
            call,
            f"`{step.path}` could not be read: {_why(error)}.",
            silent=bool(step.missing),
        )
        return step.missing
    turn.session.files_read[path] = text
    language = path.rpartition(".")[2]
    _settle(turn, call, "completed", content=[_text(f"```{language}\n{text}\n```")])
    return None


async def write(turn: Turn, step: script.Write) -> None:
    """Write a file."""
    path, content = turn.path(turn.fill(step.path)), turn.fill(step.content)
    call = _begin(turn, step.id, f"Write {step.path}", "edit", locations=[{"path": path}])
    if not turn.client.can_write:
        _refuse(turn, call, f"The client offers no writing of files, so `{step.path}` was not written.")
        return
    try:
        await turn.client.write_text_file(turn.session.id, path, content)
    except RequestFailed as error:
        _refuse(turn, call, f"`{step.path}` could not be written: {_why(error)}.")
        return
    turn.session.files_read[path] = content
    _settle(turn, call, "completed")


async def ask(turn: Turn, step: script.Permission) -> Outcome:
    """Ask for permission; the kind of the chosen option decides the branch."""
    tool_call, options = turn.tool_call(step.patch), turn.fill(step.options)
    try:
        chosen = await turn.client.request_permission(turn.session.id, tool_call, options)
    except RequestFailed as error:
        _refuse(turn, tool_call["toolCallId"], f"The client could not ask for permission: {error.message}.")
        return step.rejected
    if chosen is None:
        return "cancelled"
    kinds = {option["optionId"]: option["kind"] for option in options}
    if kinds.get(chosen, "reject_once").startswith("allow"):
        _settle(turn, tool_call["toolCallId"], "in_progress")
        return step.allowed
    _settle(turn, tool_call["toolCallId"], "failed")
    return step.rejected


async def run(turn: Turn, step: script.Run) -> Outcome:
    """Run a command to its end in a terminal that is shown live."""
    command, args = turn.fill(step.command), turn.fill(step.args)
    line = shlex.join([command, *args])
    call = _begin(turn, step.id, turn.fill(step.title) or line, "execute", rawInput={"command": line})
    if not turn.client.can_run:
        _refuse(turn, call, f"The client offers no terminal, so `{line}` was not run.")
        return None
    try:
        exit_code = await _run_in_terminal(turn, step, call, command, args)
    except RequestFailed as error:
        _refuse(turn, call, f"`{line}` could not be run: {_why(error)}.")
        return step.failed
    return step.succeeded if _succeeded(step, exit_code) else step.failed


async def _run_in_terminal(
    turn: Turn, step: script.Run, call: str, command: str, args: list[str]
) -> int | None:
    session_id, client = turn.session.id, turn.client
    terminal_id = await _create_terminal(turn, step, command, args)
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


async def _create_terminal(turn: Turn, step: script.Run, command: str, args: list[str]) -> str:
    env, cwd = turn.fill(step.env), turn.path(turn.fill(step.cwd or ""))
    try:
        # Shielded: a terminal whose id is never learnt could not be released.
        with anyio.fail_after(CREATE_S, shield=True):
            return await turn.client.create_terminal(
                turn.session.id, command, args, env, cwd, step.output_limit_bytes
            )
    except TimeoutError as error:
        message = f"the client made no terminal within {CREATE_S:g} s"
        raise RequestFailed(ErrorCode.INTERNAL_ERROR, message) from error


async def _end_terminal(turn: Turn, terminal_id: str, *, kill: bool) -> None:
    # Bounded: the connection itself may be what ended.
    with anyio.move_on_after(CLEANUP_S, shield=True), suppress(RpcError):
        if kill:
            await turn.client.kill_terminal(turn.session.id, terminal_id)
        await turn.client.release_terminal(turn.session.id, terminal_id)


def _begin(turn: Turn, name: str | None, title: str, kind: str, **fields: Any) -> str:
    """Say that a tool call runs now, and announce it where the scenario has not; its id."""
    known = turn.is_known(name)
    call = turn.call_id(name)
    if known:
        _settle(turn, call, "in_progress")
    else:
        announced = {"toolCallId": call, "title": title, "kind": kind, "status": "in_progress"} | fields
        turn.send({"sessionUpdate": "tool_call"} | announced)
    return call


def _settle(turn: Turn, call: str, status: str, **fields: Any) -> None:
    update = {"sessionUpdate": "tool_call_update", "toolCallId": call, "status": status}
    turn.send(update | fields)


def _refuse(turn: Turn, call: str, why: str, *, silent: bool = False) -> None:
    """A tool call that came to nothing: why stands in it, and in the conversation unless the scenario has its words."""
    _settle(turn, call, "failed", content=[_text(why)])
    if not silent:
        turn.say(f"*{why}*\n\n")


def _text(text: str) -> script.Wire:
    return {"type": "content", "content": {"type": "text", "text": text}}


def _why(error: RequestFailed) -> str:
    """The client's reason, for the middle of a sentence."""
    return error.message.removesuffix(".")


async def elicit(turn: Turn, step: script.Elicit) -> Outcome:
    """Show a form or ask to visit a page; what a form was filled in with is `{answer.FIELD}` from then on."""
    is_form = step.question["mode"] == "form"
    if not (turn.client.takes_forms if is_form else turn.client.takes_pages):
        turn.lack(
            "forms" if is_form else "pages to visit", f"“{turn.fill(step.question['message'])}” was not asked"
        )
        return None
    try:
        action, content = await turn.client.elicit(_request(turn, step))
    except RequestFailed as error:
        turn.say(f"*The client could not ask: {error.message}.*\n\n")
        return None
    if action == "accept" and is_form:
        turn.learn(_answers(step.question["requestedSchema"], content))
    branches = {"accept": step.accepted, "decline": step.declined}
    return branches.get(action, step.cancelled)


def _request(turn: Turn, step: script.Elicit) -> script.Wire:
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


def _visit_id(turn: Turn, name: str | None) -> str:
    # The completion names no session, so the id does.
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


def complete(turn: Turn, name: str) -> None:
    """Say that a page is done with; to a client that shows none there is nothing to say."""
    if turn.client.takes_pages:
        turn.client.complete_elicitation(_visit_id(turn, name))


async def call_extension(turn: Turn, step: script.CallExtension) -> Outcome:
    """Send a request beyond the protocol; `{answer}` is its result, or why it was refused."""
    try:
        answer = await turn.client.call_extension(step.method, turn.fill(step.params))
    except RequestFailed as error:
        turn.learn({"answer": error.message})
        return step.refused
    turn.learn({"answer": json.dumps(answer, ensure_ascii=False)})
    return step.answered
