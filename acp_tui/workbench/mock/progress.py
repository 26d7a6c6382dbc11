"""How far a recording has been played: which step is next, and what of the client's has come; it says nothing itself.

The order is that of the recording. Where the client leaves the agent waiting for something (it is overdue), only what
depends on that waits on: the rest of its session for a prompt, an answer, a cancellation or the opening of a session,
nothing for any other request.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import takewhile

from acp_tui.rpc import RequestId
from acp_tui.rpc.messages import Failure, Notification, Request, Result
from acp_tui.workbench.mock.script import OPENERS, PROMPT, Step


class Progress:
    """Of one client through one recording."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.came: dict[Step, RequestId] = {}
        """What the client has said of what it said in the recording; requests with their ids of now."""
        self._left_out: set[Step] = set()
        self._overdue: set[Step] = set()
        self._skipped: set[Step] = set()
        """Our answers that had no request when they were next."""
        self._lanes: dict[str | None, deque[Step]] = {}
        self._expected: dict[tuple[type, str], dict[Step, None]] = {}
        """The client's requests and notifications that have not come, by kind and in order."""
        for step in steps:
            self._lanes.setdefault(step.lane, deque()).append(step)
            if not step.is_ours and isinstance(step.message, Request | Notification):
                self._expected.setdefault((type(step.message), step.method), {})[step] = None

    # What is next

    def next(self) -> Step | None:
        """The next step: ours to be said, or the client's to be waited for. None at the end."""
        while True:
            lanes = sorted(filter(None, self._lanes.values()), key=lambda lane: lane[0].place)
            waited_for: Step | None = None
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

    def _is_past(self, step: Step) -> bool:
        if step in self._left_out or step in self.came:
            return True
        if not step.is_ours:
            return step in self._overdue and not _holds_its_session(step)
        if isinstance(step.message, Result | Failure) and step.answers is not None:
            if step.answers not in self.came:
                self._skipped.add(step)
            return step in self._skipped
        return False

    def pass_by(self, step: Step) -> None:
        """It was said."""
        self._lanes[step.lane].popleft()

    # What the client says

    def expected(self, message: Request | Notification) -> Iterator[Step]:
        """The client's steps of this kind that have not come."""
        return iter(self._expected.get((type(message), message.method), {}))

    def come(self, step: Step, request_id: RequestId = None) -> None:
        """The client has said it."""
        self.came[step] = request_id
        self._forget(step)

    def is_to_be_answered_now(self, request: Step) -> bool:
        """Whether the place of its answer is past, or behind something that the client has not said yet."""
        if request.answer is None or request.method in (
            PROMPT,
            *OPENERS,
        ):  # much may come before those answers
            return False
        return request.answer in self._skipped or any(self._unsaid_before(request))

    def _unsaid_before(self, request: Step) -> Iterator[bool]:
        for lane in self._lanes.values():
            for step in takewhile(lambda step: step.place < request.place, lane):
                yield not step.is_ours and not self._is_past(step)

    def missed_before(self, request: Step) -> list[Step]:
        """The requests and cancellations that should have come before it, if it is not another session's."""
        return [
            step
            for steps in self._expected.values()
            for step in takewhile(lambda step: step.place < request.place, steps)
            if step not in self._overdue and _is_tied(step, request)
        ]

    # What does not come

    def is_overdue(self, step: Step) -> bool:
        """Whether nobody waits for it any more but what depends on it."""
        return step in self._overdue

    def put_off(self, step: Step) -> None:
        """It is overdue, and may still come."""
        self._overdue.add(step)

    def leave_out(self, *steps: Step) -> None:
        """They will neither come nor be said; of a question nor will its answer."""
        for step in steps:
            self._left_out.update([step] if step.answer is None else [step, step.answer])
            self._forget(step)

    def is_left_out(self, step: Step) -> bool:
        """Whether it will neither come nor be said."""
        return step in self._left_out

    def leave_out_rest(self, prompt: Step) -> None:
        """Leave out what is still to come of a turn, with its end; but no request that the client may make any time."""
        for step in self._lanes[prompt.lane]:
            if step.place <= prompt.place or step.message is None or _is_at_any_time(step):
                continue
            if step.method == PROMPT and step is not prompt.answer:
                break
            self.leave_out(step)
            if step is prompt.answer:
                break

    def _forget(self, step: Step) -> None:
        if isinstance(step.message, Request | Notification):
            self._expected.get((type(step.message), step.method), {}).pop(step, None)


def _is_tied(one: Step, other: Step) -> bool:
    """Whether these requests have an order, other than those of two sessions."""
    return one.lane in (None, other.lane) or (one.method in OPENERS and other.method in OPENERS)


def _holds_its_session(step: Step) -> bool:
    return not isinstance(step.message, Request) or step.method in (PROMPT, *OPENERS)


def _is_at_any_time(step: Step) -> bool:
    """A request of the client's that is no prompt, and the answer to it."""
    request = step if step.answers is None else step.answers
    return isinstance(request.message, Request) and not request.is_ours and request.method != PROMPT
