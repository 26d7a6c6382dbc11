"""Answers requests that the recording does not have, or not so often; those that it has are `agent`'s."""

from __future__ import annotations

from typing import Any, cast

from acp_tui.rpc import ErrorCode, RequestFailed
from acp_tui.rpc.messages import Request, Result, write_failure, write_result
from acp_tui.workbench.mock.mapping import Mapping
from acp_tui.workbench.mock.progress import Progress
from acp_tui.workbench.mock.script import NEW, OPENERS, PROMPT, Step, session_of


class Surprises:
    """Of one client."""

    def __init__(self, progress: Progress, mapping: Mapping) -> None:
        self._progress = progress
        self._mapping = mapping
        self._sessions = 0
        """How many were made up."""

    def answer(self, request: Request) -> tuple[Step | None, str, bytes]:
        """The step that it is like, what to say of it, and the answer."""
        before = self._last_like(request)
        if request.method == PROMPT:
            return before, *self._refuse(request, before)
        if request.method == NEW and before is not None and before.answer is not None:
            return before, *self._open_another(request, before.answer)
        if before is not None and before.answer is not None:
            what = f"{request.method} came again, and is answered as then"
            return before, what, self._mapping.response(before.answer.data, request.id)
        error = RequestFailed(
            ErrorCode.METHOD_NOT_FOUND,
            f"Method not found: {request.method}",
            {"details": "the recording does not have it"},
        )
        return None, f"{request.method} is not in the recording", write_failure(request.id, error)

    def _last_like(self, request: Request) -> Step | None:
        """Of those that came: the same method, in the same session."""
        session = None if request.method in OPENERS else session_of(request.params)
        for step in reversed([*self._progress.came]):
            is_there = session is None or self._mapping.name("sessionId", step.session) == session
            if isinstance(step.message, Request) and step.method == request.method and is_there:
                return step
        return None

    def _refuse(self, request: Request, before: Step | None) -> tuple[str, bytes]:
        what = "came once more than in the recording" if before else "came, and is not in the recording"
        so = f"{PROMPT} {what}, so it ends with refusal (session {session_of(request.params)!r})"
        return so, write_result(request.id, {"stopReason": "refusal"})

    def _open_another(self, request: Request, answer: Step) -> tuple[str, bytes]:
        """A session of its own; what was recorded of the first one is said there, unless that has begun."""
        value = answer.message.value if isinstance(answer.message, Result) else None
        first = session_of(value)
        if first is None:
            return f"{NEW} came again, and is answered as then", self._mapping.response(
                answer.data, request.id
            )
        self._sessions += 1
        another = f"{first}-{self._sessions + 1}"
        has_begun = any(step.method == PROMPT and step.session == first for step in self._progress.came)
        if not has_begun:
            self._mapping.learn_name("sessionId", first, another)
        gets = "a session without turns" if has_begun else "the session of then under another name"
        opened = write_result(request.id, {**cast(dict[str, Any], value), "sessionId": another})
        return f"{NEW} came again, and opens {gets}, {another!r}", opened
