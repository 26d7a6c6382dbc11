"""What kind of answer a client gave, so that it can be told whether the agent would have gone on as it did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from acp_tui.mock.script import Step
from acp_tui.rpc.messages import Failure, Request, Result

CANCELLED = "cancelled"


def kind_of(question: Step, answer: Result | Failure) -> str:
    """In a word: the action, whether it allows or rejects, or whether there is a result at all."""
    if isinstance(answer, Failure):
        return "an error"
    value = answer.value if isinstance(answer.value, dict) else {}
    if question.method == "session/request_permission":
        return _outcome(question, value.get("outcome"))
    if question.method == "elicitation/create":
        return str(value.get("action"))
    return "a result"


def _outcome(question: Step, outcome: Any) -> str:
    if not isinstance(outcome, dict):
        return "no outcome"
    if outcome.get("outcome") != "selected":
        return str(outcome.get("outcome"))
    params = question.message.params if isinstance(question.message, Request) else {}
    options = params.get("options") if isinstance(params, dict) else None
    for option in options if isinstance(options, list) else ():
        if isinstance(option, dict) and option.get("optionId") == outcome.get("optionId"):
            return str(option.get("kind")).partition("_")[0]
    return "an option that was not offered"


def lacking(recorded: Any, live: Any) -> Iterator[str]:
    """The fields that an object had in the recording and now has not."""
    if isinstance(recorded, dict) and isinstance(live, dict):
        yield from (
            key for key in recorded if key not in live and key != "_meta" and recorded[key] is not None
        )
