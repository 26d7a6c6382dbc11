"""Rules of permission requests: when an agent asks, what it gives to choose, and that it obeys."""

from __future__ import annotations

from typing import Any, Final

from acp_tui.protocol.conformance.exchange import Answered, Asked, Event, Told
from acp_tui.protocol.conformance.rule import Judge, Rule, Severity, shown
from acp_tui.protocol.conformance.scene import CROSSING_S, Scene, as_object, objects
from acp_tui.protocol.conformance.tool_calls import ToolCallCheck
from acp_tui.protocol.v1 import methods
from acp_tui.rpc.pairing import Recent

NOT_AFTER_CANCEL: Final = Rule(
    "A-PERM-1",
    Severity.WARNING,
    "After a cancel no permission is asked for.",
    "Stop before the next step: the client can only answer cancelled.",
    "prompt-turn#cancellation",
    "R-CANC-4",
)
DISTINCT: Final = Rule(
    "A-PERM-2",
    Severity.ERROR,
    "The options of a request have ids of their own.",
    "Give each option another optionId: else nobody knows what was chosen.",
    "tool-calls#permission-options",
    "R-PERM-2",
)
REJECTABLE: Final = Rule(
    "A-PERM-3",
    Severity.NOTE,
    "One of the options is to reject this once.",
    "Offer reject_once: without it a user can only cancel the whole turn.",
    "tool-calls#permission-options",
    "R-PERM-7",
)
CHOICE: Final = Rule(
    "A-PERM-4",
    Severity.ERROR,
    "There is something to choose.",
    "Offer options: a request without any can only be cancelled.",
    "tool-calls#permission-options",
    "R-PERM-5",
)
REPORTED: Final = Rule(
    "A-PERM-5",
    Severity.NOTE,
    "The tool call was reported before its permission is asked for.",
    "Send tool_call first, with what it is about to do.",
    "tool-calls#requesting-permission",
    "R-ORD-3",
)
TELLING: Final = Rule(
    "A-PERM-6",
    Severity.NOTE,
    "A request says what it is for.",
    "Send a title, or report the tool call before: a user who knows only an id cannot decide.",
    "tool-calls#requesting-permission",
    "R-PERM-8",
)
IN_TURN: Final = Rule(
    "A-PERM-7",
    Severity.WARNING,
    "Permission is asked for in a turn.",
    "Ask before you answer session/prompt.",
    "prompt-turn",
    "R-ORD-3",
)
OBEYED: Final = Rule(
    "A-PERM-8",
    Severity.WARNING,
    "A tool call that was rejected does not complete.",
    "Report it as failed, also where the refusal is what the model gets as its result.",
    "tool-calls#requesting-permission",
    "R-PERM-4",
)
RULES: Final = (NOT_AFTER_CANCEL, DISTINCT, REJECTABLE, CHOICE, REPORTED, TELLING, IN_TURN, OBEYED)


class PermissionCheck:
    """Looks at each request, and at what becomes of the rejected calls."""

    def __init__(self, judge: Judge, scene: Scene, tool_calls: ToolCallCheck) -> None:
        self._judge = judge
        self._scene = scene
        self._tool_calls = tool_calls
        self._rejected: Recent[tuple[str, str], int] = Recent()
        """By session and call: the frame of the answer."""

    def see(self, event: Event) -> None:
        """A message passes."""
        match event:
            case Asked(is_agents=True, method=methods.SESSION_REQUEST_PERMISSION):
                self._look_at_options(objects(event.params.get("options")))
                self._look_at_time(event)
                self._look_at_subject(event.params)
            case Answered(is_agents=False, request=request) if (
                request.method == methods.SESSION_REQUEST_PERMISSION
            ):
                self._take_note(event)
            case Told(is_agents=True, method=methods.SESSION_UPDATE, params=params):
                self._look_at_outcome(params)

    def finish(self) -> None:
        """Nothing is left to say."""

    def _look_at_options(self, options: list[dict[str, Any]]) -> None:
        self._judge.check(CHOICE, bool(options), "there are no options")
        if not options:
            return
        ids = [str(option.get("optionId")) for option in options]
        self._judge.check(DISTINCT, len(set(ids)) == len(ids), f"the ids are {', '.join(ids)[:200]}")
        kinds = [str(option.get("kind")) for option in options]
        self._judge.check(REJECTABLE, "reject_once" in kinds, f"the kinds are {', '.join(kinds)[:200]}")

    def _look_at_time(self, request: Asked) -> None:
        session = self._scene.session(request.params)
        if session is None:
            return
        turn = session.turn
        self._judge.check(IN_TURN, turn is not None, "no turn is running")
        if turn is None or turn.cancelled_at is None:
            return
        late_s = request.at_s - turn.cancelled_at
        if late_s > CROSSING_S:
            text = f"it was asked {late_s:.1f} s after the cancel"
            self._judge.check(NOT_AFTER_CANCEL, False, text, turn.cancelled_in)

    def _look_at_subject(self, params: dict[str, Any]) -> None:
        call = as_object(params.get("toolCall"))
        key = (str(params.get("sessionId")), str(call.get("toolCallId")))
        is_reported = self._tool_calls.calls.may_know(key)
        self._judge.check(REPORTED, is_reported, f"{shown(key[1])} was not reported")
        text = f"of {shown(key[1])} nothing is known"
        self._judge.check(TELLING, is_reported or bool(call.get("title")), text)

    def _take_note(self, answer: Answered) -> None:
        params, outcome = answer.request.params, as_object(as_object(answer.result).get("outcome"))
        chosen = next(
            (
                option
                for option in objects(params.get("options"))
                if option.get("optionId") == outcome.get("optionId")
            ),
            {},
        )
        if str(chosen.get("kind")).startswith("reject"):
            call_id = str(as_object(params.get("toolCall")).get("toolCallId"))
            self._rejected[str(params.get("sessionId")), call_id] = answer.index

    def _look_at_outcome(self, params: dict[str, Any]) -> None:
        update = as_object(params.get("update"))
        key = (str(params.get("sessionId")), str(update.get("toolCallId")))
        if key in self._rejected and update.get("status") in ("completed", "failed"):
            is_obeyed = update["status"] == "failed"
            self._judge.check(OBEYED, is_obeyed, f"{shown(key[1])} has completed", self._rejected.pop(key))
