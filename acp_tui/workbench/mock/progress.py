"""The progress through a recording: the next step, what the client has sent, and how names map.

Steps have the order of the recording. If the client keeps the agent waiting for a message (it's overdue), only what
depends on it waits further: the rest of the session for a prompt, a response, a cancellation, or the opening of a
session; and nothing for other requests. `UnexpectedRequests` answers requests that aren't in the
recording, or not as often.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, Final, cast

from acp_tui.demo.client_calls import at
from acp_tui.rpc import ErrorCode, RequestFailed, RequestId
from acp_tui.rpc.messages import Failure, Notification, Request, Result, write_failure, write_result
from acp_tui.workbench.mock.script import NEW, OPENERS, PROMPT, MockStep, session_of


class MockProgress:
    def __init__(self, steps: Sequence[MockStep]) -> None:
        self.came: dict[MockStep, RequestId] = {}
        """The recorded steps that the client has sent, with the current IDs of requests."""
        self._left_out: set[MockStep] = set()
        self._overdue: set[MockStep] = set()
        self._skipped: set[MockStep] = set()
        """Our responses whose request was missing when they were next."""
        self._lanes: dict[str | None, deque[MockStep]] = {}
        self._expected: dict[tuple[type, str], dict[MockStep, None]] = {}
        """The client's requests and notifications that haven't come, by kind and in order."""
        for step in steps:
            self._lanes.setdefault(step.lane, deque()).append(step)
            if not step.is_ours and isinstance(step.message, Request | Notification):
                self._expected.setdefault((type(step.message), step.method), {})[step] = None

    # What is next

    def next(self) -> MockStep | None:
        """The next step: ours to send, or the client's to wait for. None at the end."""
        while True:
            lanes = sorted(filter(None, self._lanes.values()), key=lambda lane: lane[0].place)
            waited_for: MockStep | None = None
            for lane in lanes:
                if self._is_past(lane[0]):
                    lane.popleft()
                    break
                if lane[0].is_ours:
                    return lane[0]
                waited_for = waited_for or lane[0]
                if lane[0] not in self._overdue:
                    return waited_for
            else:
                return waited_for

    def _is_past(self, step: MockStep) -> bool:
        if step in self._left_out or step in self.came:
            return True
        if not step.is_ours:
            return step in self._overdue and not _holds_its_session(step)
        if isinstance(step.message, Result | Failure) and step.answers is not None:
            if step.answers not in self.came:
                self._skipped.add(step)
            return step in self._skipped
        return False

    def pass_by(self, step: MockStep) -> None:
        self._lanes[step.lane].popleft()

    # What the client sends

    def expected(self, message: Request | Notification) -> Iterator[MockStep]:
        """The client's steps of this kind that haven't come."""
        return iter(self._expected.get((type(message), message.method), {}))

    def come(self, step: MockStep, request_id: RequestId = None) -> None:
        self.came[step] = request_id
        self._forget(step)

    def is_to_be_answered_now(self, request: MockStep) -> bool:
        """Whether to respond now: the response's turn has passed, or it would wait for a message not sent yet."""
        if request.answer is None or request.method in (PROMPT, *OPENERS):  # much may come before these responses
            return False
        return request.answer in self._skipped or any(self._unsaid_before(request))

    def _unsaid_before(self, request: MockStep) -> Iterator[bool]:
        for lane in self._lanes.values():
            for step in takewhile(lambda step: step.place < request.place, lane):
                yield not step.is_ours and not self._is_past(step)

    def missed_before(self, request: MockStep) -> list[MockStep]:
        """The requests and cancellations that should have come before it, except those of another session."""
        return [
            step
            for steps in self._expected.values()
            for step in takewhile(lambda step: step.place < request.place, steps)
            if step not in self._overdue and _is_tied(step, request)
        ]

    # What doesn't come

    def is_overdue(self, step: MockStep) -> bool:
        """Whether only dependent steps still wait for it."""
        return step in self._overdue

    def put_off(self, step: MockStep) -> None:
        """Mark a step as overdue. It may still come."""
        self._overdue.add(step)

    def leave_out(self, *steps: MockStep) -> None:
        """Skip these steps, and the responses to skipped requests."""
        for step in steps:
            self._left_out.update([step] if step.answer is None else [step, step.answer])
            self._forget(step)

    def is_left_out(self, step: MockStep) -> bool:
        return step in self._left_out

    def leave_out_rest(self, prompt: MockStep) -> None:
        """Skip the rest of a turn, including its end, except requests that the client may send at any time."""
        for step in self._lanes[prompt.lane]:
            if step.place <= prompt.place or step.message is None or _is_at_any_time(step):
                continue
            if step.method == PROMPT and step is not prompt.answer:
                break
            self.leave_out(step)
            if step is prompt.answer:
                break

    def _forget(self, step: MockStep) -> None:
        if isinstance(step.message, Request | Notification):
            self._expected.get((type(step.message), step.method), {}).pop(step, None)


def _is_tied(one: MockStep, other: MockStep) -> bool:
    """Whether the order of these requests matters, which it doesn't between two sessions."""
    return one.lane in (None, other.lane) or (one.method in OPENERS and other.method in OPENERS)


def _holds_its_session(step: MockStep) -> bool:
    return not isinstance(step.message, Request) or step.method in (PROMPT, *OPENERS)


def _is_at_any_time(step: MockStep) -> bool:
    """Whether it's a request of the client other than a prompt, or the response to one."""
    request = step if step.answers is None else step.answers
    return isinstance(request.message, Request) and not request.is_ours and request.method != PROMPT


class UnexpectedRequests:
    def __init__(self, progress: MockProgress, mapping: Mapping) -> None:
        self._progress = progress
        self._mapping = mapping
        self._sessions = 0
        """The number of additional sessions."""

    def answer(self, request: Request) -> tuple[MockStep | None, str, bytes]:
        """Return the similar recorded step, a description of the departure, and the response."""
        before = self._last_like(request)
        if request.method == PROMPT:
            return before, *self._refuse(request, before)
        if request.method == NEW and before is not None and before.answer is not None:
            return before, *self._open_another(request, before.answer)
        if before is not None and before.answer is not None:
            what = f"{request.method} came again, so it gets the recorded answer"
            return before, what, self._mapping.response(before.answer.data, request.id)
        error = RequestFailed(
            ErrorCode.METHOD_NOT_FOUND,
            f"Method not found: {request.method}",
            {"details": "the recording doesn't have it"},
        )
        return None, f"{request.method} isn't in the recording", write_failure(request.id, error)

    def _last_like(self, request: Request) -> MockStep | None:
        """The last request that came with the same method and in the same session."""
        session = None if request.method in OPENERS else session_of(request.params)
        for step in reversed([*self._progress.came]):
            is_there = session is None or self._mapping.name("sessionId", step.session) == session
            if isinstance(step.message, Request) and step.method == request.method and is_there:
                return step
        return None

    def _refuse(self, request: Request, before: MockStep | None) -> tuple[str, bytes]:
        what = "came once more than in the recording" if before else "came, but isn't in the recording"
        so = f"{PROMPT} {what}, so it ends with refusal (session {session_of(request.params)!r})"
        return so, write_result(request.id, {"stopReason": "refusal"})

    def _open_another(self, request: Request, answer: MockStep) -> tuple[str, bytes]:
        """Open an additional session. It plays the first one's recorded turns, unless those have begun."""
        value = answer.message.value if isinstance(answer.message, Result) else None
        first = session_of(value)
        if first is None:
            return f"{NEW} came again, so it gets the recorded answer", self._mapping.response(answer.data, request.id)
        self._sessions += 1
        another = f"{first}-{self._sessions + 1}"
        has_begun = any(step.method == PROMPT and step.session == first for step in self._progress.came)
        if not has_begun:
            self._mapping.learn_name("sessionId", first, another)
        gets = "a session without turns" if has_begun else "the recorded session under another id"
        opened = write_result(request.id, {**cast(dict[str, Any], value), "sessionId": another})
        return f"{NEW} came again, so it opens {gets}, {another!r}", opened


NAMED: Final = ("sessionId", "terminalId", "requestId")
"""The keys whose values are names."""


class Mapping:
    """Maps recorded names to live ones."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, type, Any], Any] = {}
        self._folders: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def learn(self, recorded: Any, live: Any) -> None:
        """Learn names from a recorded message and its live counterpart."""
        for key in NAMED:
            self.learn_name(key, at(recorded, key), at(live, key))
        before, now = at(recorded, "cwd"), at(live, "cwd")
        if isinstance(before, str) and isinstance(now, str) and before != now and before.strip("/"):
            self._folders[before.rstrip("/")] = now.rstrip("/")
            longest_first = sorted(map(re.escape, self._folders), key=len, reverse=True)
            self._pattern = re.compile(rf"(?<![\w.~-])(?:{'|'.join(longest_first)})(?![\w-]|\.\w)")

    def learn_name(self, key: str, recorded: Any, live: Any) -> None:
        if isinstance(recorded, str | int | float) and live is not None and recorded != live:
            self._names[key, type(recorded), recorded] = live

    def name(self, key: str, recorded: Any) -> Any:
        return self._names.get((key, type(recorded), recorded), recorded)

    def frame(self, data: bytes) -> bytes:
        """Map a recorded frame to live names. Unchanged frames stay the same to the byte."""
        if not self._names and not self._folders:
            return data
        value = _read(data)
        mapped = self._mapped(value)
        return data if _is_same(mapped, value) else _write(mapped)

    def response(self, data: bytes, request_id: RequestId) -> bytes:
        """Map a recorded response to a request with another ID."""
        value = _read(data)
        mapped = {**self._mapped(value), "id": request_id}
        return data if _is_same(mapped, value) else _write(mapped)

    def _mapped(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._in_folder(value)
        if isinstance(value, list):
            return [self._mapped(item) for item in value]
        if isinstance(value, dict):
            return {self._in_folder(key): self._named(key, item) for key, item in value.items()}
        return value

    def _named(self, key: str, item: Any) -> Any:
        if key in NAMED and isinstance(item, str | int | float):
            return self.name(key, item)
        return self._mapped(item)

    def _in_folder(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._folders[found[0]], text)


def _read(data: bytes) -> Any:
    """Parse leniently, like messages; return None for invalid data."""
    try:
        return json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None


def _write(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _is_same(one: Any, other: Any) -> bool:
    return one == other and type(one) is type(other) and _id_type(one) is _id_type(other)


def _id_type(value: Any) -> type:
    return type(value.get("id")) if isinstance(value, dict) else type(value)
