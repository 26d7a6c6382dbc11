"""The steps that put a question to the user, or to the client's own extensions, and go on along the answer's branch.

A client that does not offer what a question needs is told so in the conversation, and the turn goes on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from acp_tui.rpc import RequestFailed
from acp_tui.workbench.demo import script

if TYPE_CHECKING:
    from acp_tui.workbench.demo.turn import Ending, Turn


async def elicit(turn: Turn, step: script.Elicit) -> Ending:
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
    return await turn.play(branches.get(action, step.cancelled))


def _request(turn: Turn, step: script.Elicit) -> script.Wire:
    request: dict[str, Any] = turn.fill(step.question)
    if step.scope == "request":
        request["requestId"] = turn.request_id
    else:
        request["sessionId"] = turn.session.id
        if step.tool_call is not None:
            request["toolCallId"] = turn.call_id(step.tool_call)
    if request["mode"] == "url":
        request["elicitationId"] = _visit_id(turn, step.name)
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


async def call_extension(turn: Turn, step: script.CallExtension) -> Ending:
    """Send a request beyond the protocol; `{answer}` is its result, or why it was refused."""
    try:
        answer = await turn.client.call_extension(step.method, turn.fill(step.params))
    except RequestFailed as error:
        turn.learn({"answer": error.message})
        return await turn.play(step.refused)
    turn.learn({"answer": json.dumps(answer, ensure_ascii=False)})
    return await turn.play(step.answered)
