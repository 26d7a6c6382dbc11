"""Rules of a prompt turn: that it ends, how, and what may still come then."""

from __future__ import annotations

from typing import Final

from acp_tui.protocol.conformance.exchange import Answered, Event, Told
from acp_tui.protocol.conformance.rule import Judge, Rule, Severity, shown
from acp_tui.protocol.conformance.scene import CROSSING_S, Scene, Turn, as_object
from acp_tui.protocol.v1 import methods
from acp_tui.rpc import ErrorCode

ANSWERED: Final = Rule(
    "A-TURN-1",
    Severity.ERROR,
    "Every prompt is answered, with the reason why the turn ended.",
    "Answer session/prompt in any case: until then the client takes no other prompt.",
    "prompt-turn#4-check-for-completion",
    "R-PROMPT-1",
)
CANCELLED: Final = Rule(
    "A-TURN-2",
    Severity.ERROR,
    "A turn that was cancelled ends with the stop reason cancelled.",
    "Catch what aborted work raises, and answer with cancelled: anything else is shown as a failure.",
    "prompt-turn#cancellation",
    "R-CANC-7",
)
NOT_CANCELLED: Final = Rule(
    "A-TURN-3",
    Severity.WARNING,
    "Only the client cancels a turn.",
    "End it with end_turn or refusal, and say what was the matter.",
    "prompt-turn#stop-reasons",
    "R-PROMPT-6",
)
IN_TURN: Final = Rule(
    "A-TURN-4",
    Severity.NOTE,
    "Messages and tool calls of a turn come before its end.",
    "Send what is left before you answer session/prompt.",
    "prompt-turn",
    "R-PROMPT-10",
)
SUCCEEDS: Final = Rule(
    "A-TURN-5",
    Severity.NOTE,
    "A prompt is answered with a stop reason, not with an error.",
    "Errors are for what is wrong with the request; let the user read the rest in a message.",
    "prompt-turn",
    "R-PROMPT-8",
)
HEARD: Final = Rule(
    "A-TURN-6",
    Severity.NOTE,
    "In a turn that ends by itself the agent says or does something.",
    "Send the reply as agent_message_chunk: the answer to session/prompt has no text.",
    "prompt-turn#3-agent-reports-output",
    "R-UPD-3",
)
PROMPTLY: Final = Rule(
    "A-TURN-7",
    Severity.WARNING,
    "A turn that is cancelled ends soon.",
    "Stop the model and the tools at once, and answer the prompt.",
    "prompt-turn#cancellation",
    "R-CANC-7",
)
RULES: Final = (ANSWERED, CANCELLED, NOT_CANCELLED, IN_TURN, SUCCEEDS, HEARD, PROMPTLY)

OF_A_TURN: Final = frozenset(
    {"agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"}
)
SOON_S: Final = 5.0


class TurnCheck:
    """Follows each session's turn."""

    def __init__(self, judge: Judge, scene: Scene) -> None:
        self._judge = judge
        self._scene = scene
        self._active: set[int] = set()
        """The frames of the open prompts of which something was heard."""

    def see(self, event: Event) -> None:
        """A message passes."""
        if isinstance(event, Told) and event.is_agents and event.method == methods.SESSION_UPDATE:
            self._look_at_update(event)
        elif (
            isinstance(event, Answered) and event.is_agents and event.request.method == methods.SESSION_PROMPT
        ):
            self._look_at_end(event)

    def finish(self) -> None:
        """Nothing comes any more."""
        for session in self._scene.sessions.values():
            if session.turn is not None:
                text = "a prompt was never answered"
                self._judge.check(ANSWERED, False, text, session.turn.prompt.index)

    def _look_at_update(self, told: Told) -> None:
        kind = as_object(told.params.get("update")).get("sessionUpdate")
        session = self._scene.session(told.params)
        if session is None or not isinstance(kind, str) or kind not in OF_A_TURN:
            return
        if session.turn is not None:
            self._active.add(session.turn.prompt.index)
            self._judge.check(IN_TURN, True, "")
        elif session.reopening is None and session.loaded_in is None:
            self._judge.check(IN_TURN, False, f"{kind} came when no turn was running")

    def _look_at_end(self, answer: Answered) -> None:
        session = self._scene.session(answer.request.params)
        turn = session.turn if session is not None else None
        if turn is None or turn.prompt is not answer.request:
            return
        self._judge.check(ANSWERED, True, "")
        if turn.cancelled_at is not None:
            self._look_at_cancelled(turn, turn.cancelled_at, answer)
        elif answer.error is not None:
            text = f"the prompt was answered with {shown(answer.error)}"
            self._judge.check(SUCCEEDS, False, text, answer.request.index)
        else:
            self._look_at_reason(turn, as_object(answer.result).get("stopReason"))
        self._active.discard(turn.prompt.index)

    def _look_at_cancelled(self, turn: Turn, cancelled_at: float, answer: Answered) -> None:
        reason, took_s = as_object(answer.result).get("stopReason"), answer.at_s - cancelled_at
        frames = (turn.prompt.index, turn.cancelled_in)
        self._judge.check(PROMPTLY, took_s <= SOON_S, f"it ended after {took_s:.1f} s", *frames)
        if turn.is_given_up and answer.code == ErrorCode.REQUEST_CANCELLED:
            return
        if answer.error is not None:
            text = f"it was answered with {shown(answer.error)}"
            self._judge.check(CANCELLED, False, text, *frames)
        elif reason == "cancelled" or took_s > CROSSING_S:
            text = f"it ended with {shown(reason)} {took_s:.1f} s after the cancel"
            self._judge.check(CANCELLED, reason == "cancelled", text, *frames)

    def _look_at_reason(self, turn: Turn, reason: object) -> None:
        begin = turn.prompt.index
        self._judge.check(SUCCEEDS, True, "")
        self._judge.check(
            NOT_CANCELLED, reason != "cancelled", "a turn ended as cancelled, and nobody did", begin
        )
        if reason == "end_turn":
            self._judge.check(HEARD, begin in self._active, "a turn went by without a word", begin)
