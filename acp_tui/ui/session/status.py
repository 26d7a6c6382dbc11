"""Describes a conversation's state for the status line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from acp_tui.client.settings.settings import STATUS_PARTS, StatusPart
from acp_tui.conversation.conversation import Conversation, TurnTime
from acp_tui.conversation.entries import Message, ToolCallEntry
from acp_tui.conversation.facts import BooleanOption, ConfigOption, TurnPhase, Usage
from acp_tui.conversation.tool_calls import ToolCall
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.wording import clock, duration, money, short_count, value_name

if TYPE_CHECKING:
    from acp_tui.client.sessions.session import Attendance

SILENCE_S: Final = 30
"""After this much silence, the user is told how long the agent has been silent."""
QUESTION_TOOLS: Final = frozenset(
    ("question", "ask_user", "ask_user_question", "askuserquestion", "ask_question", "ask_followup_question", "clarify")
)
"""Tools of agents with which they ask the user."""
ENDS: Final = {"end_turn": "done in", "cancelled": "canceled after"} | dict.fromkeys(
    ("max_tokens", "max_turn_requests", "refusal"), "ended after"
)


def state_of(conversation: Conversation) -> str:
    """One of the status line's states."""
    if not conversation.is_connected:
        return "lost"
    if conversation.turn is TurnPhase.CANCELLING:
        return "cancelling"
    if conversation.is_asking:
        return "waiting"
    return "ready" if conversation.is_idle else "working"


def facts_of(
    conversation: Conversation,
    parts: Sequence[StatusPart] = STATUS_PARTS,
    *,
    changes: str = "",
    command: str = "",
    host: Sequence[str] = (),
) -> tuple[str, ...]:
    """These parts of the status line in this order, without those of which there is nothing to say.

    `changes` is what the list of changes says, `command` what the user's command printed, and `host` what there is to
    say of the session's host. The rest is what the agent reported last.
    """
    shown = [fact for part in parts for fact in _part(conversation, part, changes, command, host)]
    return tuple(map(make_visible_line, shown))


def _part(
    conversation: Conversation, part: StatusPart, changes: str, command: str, host: Sequence[str]
) -> Iterator[str]:
    match part:
        case "mode" | "model":
            told = (one for one in conversation.options if one.category == part or (part == "mode" and _is_left(one)))
            alike = groupby(sorted(told, key=lambda one: one.category == part), _label)
            yield from (f"{label}: {', '.join(map(value_name, each))}" for label, each in alike)
        case "tokens":
            if conversation.usage is not None:
                yield _usage(conversation.usage)
        case "background":
            if behind := len(conversation.background):
                yield f"{behind} in the background"
        case "pages":
            # The agent may never report that a page is done. A command of the palette dismisses it.
            for visit in conversation.visits.values():
                yield f"page open: {urlsplit(visit.url).hostname or visit.url}"
        case "changes":
            if changes:
                yield changes
        case "command":
            if command:
                yield command
        case "host":
            yield from host


def attendance_words(attendance: Attendance) -> str:
    """That a host keeps the session, how many others are attached, and whether we only watch."""
    number = len(attendance.others)
    others = [f"{number} other{'s' * (number > 1)}"] if number else []
    watching = [f"{len(attendance.watchers)} watching"] if attendance.watchers else []
    return ", ".join(["read-only" if attendance.is_read_only else "hosted", *others, *watching])


def _is_left(option: ConfigOption) -> bool:
    """Whether it is another kind of mode, such as a `collaboration_mode`, and no longer at its first value."""
    choices = () if isinstance(option, BooleanOption) else option.choices[:1]
    return (option.category or "").endswith("_mode") and any(option.value != first.value for first in choices)


def _label(option: ConfigOption) -> str:
    return option.name if isinstance(option, BooleanOption) else (option.category or "").rpartition("_")[2]


def _usage(usage: Usage) -> str:
    used = short_count(usage.used)
    if usage.size:  # in the unit of the size: 101/200k reads as 101k of 200k
        used = f"{max(usage.used / 1000, 0.1):.1f}k" if 0 < usage.used < 1000 <= usage.size else used
    text = f"{used}/{short_count(usage.size)}" if usage.size else used
    if usage.cost_amount is None:
        return text
    return f"{text} {money(usage.cost_amount, usage.cost_currency)}"


def unheard_question(conversation: Conversation) -> ToolCall | None:
    """Return the call with which the agent asks the user something without a request to the client; None if none does.

    Kilo and others have tools that ask in their own interface; through the protocol, they wait for ever.
    """
    if conversation.turn is not TurnPhase.RUNNING or conversation.is_asking:
        return None
    match conversation.entries[-1] if conversation.entries else None:
        case ToolCallEntry(call=call) if not call.is_settled:
            names = {(call.name or "").lower(), call.title.strip().lower()}
            return call if names & QUESTION_TOOLS or question_in(call) else None
        case _:
            return None


def question_in(call: ToolCall) -> str:
    """Return the question among a tool's input; "" if there is none."""
    said = call.raw_input
    listed = said.get("questions") if isinstance(said, dict) else None
    first = listed[0] if isinstance(listed, list) and listed else said
    question = first.get("question") if isinstance(first, dict) else None
    return question if isinstance(question, str) else ""


class Work:
    """How long a session's turn takes, and what its agent is doing, as far as a view has seen it."""

    def __init__(self, conversation: Conversation, clock: Callable[[], float]) -> None:
        """`clock` returns seconds."""
        self._conversation = conversation
        self._clock = clock
        self._time = TurnTime()
        self._heard = clock()

    def note_change(self) -> None:
        """Note that the agent or the user has just done something."""
        self._heard = self._clock()
        self._time.note_change(self._conversation, self._heard)

    @property
    def ended(self) -> str:
        """How the last turn ended, its duration, and its tokens; "" if it wasn't seen."""
        if self._time.of_last is None:
            return ""
        how = ENDS.get(self._conversation.last_stop_reason or "", "failed after")
        usage = self._conversation.turn_usage
        spent = f" · {short_count(usage.total)} tokens" if usage is not None and usage.total else ""
        return f"{how} {duration(self._time.of_last)}{spent}"

    @property
    def cost(self) -> str:
        """What the last turn cost; "" if the agent doesn't say."""
        cost, usage = self._conversation.turn_cost, self._conversation.usage
        return money(cost, usage.cost_currency) if cost and usage is not None else ""

    @property
    def unheard(self) -> ToolCall | None:
        """What `unheard_question` returns, once the agent is silent."""
        return unheard_question(self._conversation) if self.silence else None

    @property
    def took_s(self) -> float:
        """How long the turn has taken so far, without the time that the user is asked."""
        return self._time.so_far(self._clock())

    @property
    def silent_s(self) -> float:
        """How long nothing has happened."""
        return self._clock() - self._heard

    @property
    def silence(self) -> str:
        """How long the agent has been silent; "" if it hasn't."""
        return f"silent for {clock(self.silent_s)}" if self.silent_s >= SILENCE_S else ""

    @property
    def activity(self) -> str:
        """What the agent is doing, judging by the last entry; "" if it doesn't tell, or writes, which is seen."""
        match self._conversation.entries[-1] if self._conversation.entries else None:
            case Message(role="thought"):
                return "thinking"
            case ToolCallEntry(call=call) if not call.is_settled:
                return make_visible_line(call.shown_title)
            case _:
                return ""


def doing(conversation: Conversation) -> str:
    """What the agent is doing: its permission request, or the current step of its plan, or its last tool call."""
    asked = next(iter(conversation.permissions.values()), None)
    if asked is not None:
        return make_visible_line(conversation.tool_call(asked.tool_call_id).call.shown_title)
    if conversation.is_idle:
        return ""
    steps = conversation.plan.steps if conversation.plan is not None else ()
    step = next((step for step in steps if step.status == "in_progress"), None)
    if step is not None:
        return make_visible_line(step.content)
    last = next((entry for entry in reversed(conversation.entries) if isinstance(entry, ToolCallEntry)), None)
    return make_visible_line(last.call.shown_title) if last is not None else ""
