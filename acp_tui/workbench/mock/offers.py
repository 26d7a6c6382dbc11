"""What a client offers, and which questions of the recorded agent's need it: none is asked that nobody offers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from acp_tui.rpc.messages import Request
from acp_tui.workbench.mock.script import Step

TERMINAL: Final = "terminal/"
FILES: Final = {"fs/read_text_file": ("fs", "readTextFile"), "fs/write_text_file": ("fs", "writeTextFile")}


def no_longer_asked(steps: Iterable[Step], then: Any, now: Any) -> Iterator[tuple[Step, str]]:
    """The agent's questions that a client which says `now` at `initialize` does not offer to answer, with the offer.

    What the recorded client did not offer either was asked all the same, and is.
    """
    for step in steps:
        if step.is_ours and isinstance(step.message, Request):
            path = _needs(step.message)
            if path and _offers(then, path) and not _offers(now, path):
                yield step, ".".join(path)


def _needs(question: Request) -> tuple[str, ...]:
    if question.method.startswith(TERMINAL):
        return ("terminal",)
    if question.method == "elicitation/create":
        mode = question.params.get("mode") if isinstance(question.params, dict) else None
        return ("elicitation", mode if isinstance(mode, str) else "form")
    return FILES.get(question.method, ())


def _offers(params: Any, path: tuple[str, ...]) -> bool:
    value = params.get("clientCapabilities") if isinstance(params, dict) else None
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value is not None and value is not False
