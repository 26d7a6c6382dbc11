"""In which ways two messages differ that matter to an agent: what kind of answer it got, and which fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from acp_tui.rpc.messages import Failure, Request, Result
from acp_tui.workbench.mock.script import Step

CANCELLED: Final = "cancelled"
_AT_WILL: Final = frozenset({
    "_meta", "clientInfo", "clientCapabilities", "additionalDirectories", "messageId", "cursor",
    "exitStatus", "exitCode", "signal",
})  # fmt: skip
"""What the protocol lets a client leave out; of its capabilities those count that are used."""


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


def differences(recorded: Any, live: Any) -> Iterator[str]:
    """Clauses on the fields that an object had in the recording and now has not, or has as something else."""
    if not isinstance(recorded, dict) or not isinstance(live, dict):
        return
    for key, value in recorded.items():
        now = live.get(key)
        if value in (None, [], {}) or (now is None and key in _AT_WILL):
            continue
        if now is None:
            yield f'has no "{key}" now'
        elif _kind(value) != _kind(now):
            yield f'has {_kind(now)} as "{key}" now, and had {_kind(value)}'
        elif key == "protocolVersion" and value != now:
            yield f'has "{key}" {now} now, and had {value}'


def _kind(value: Any) -> str:
    match value:
        case bool():
            return "a boolean"
        case str():
            return "a text"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case _:
            return "an object"
