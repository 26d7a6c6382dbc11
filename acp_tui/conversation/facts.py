"""Facts of a session that are not entries of its conversation: plan, commands, options, usage, permissions, name."""

from __future__ import annotations

from dataclasses import astuple, replace
from enum import Enum, auto
from pathlib import Path
from typing import Final, NewType, TypeAlias

from acp_tui.conversation.content import Meta
from acp_tui.conversation.tool_calls import ToolCallId
from acp_tui.values import dataclass

SessionId = NewType("SessionId", str)
RequestKey = NewType("RequestKey", int)
"""Names a parked request of the agent inside this client; not the id on the wire."""
REJECTIONS: Final = ("reject_once", "reject_always")
"""The kinds of option that refuse; no other kind does, whatever it is called."""
_BY_HARM: Final = ("reject_once", "reject_always", "allow_once")
"""Of two kinds the later does more; a kind beyond them counts as `allow_always`."""
_ORDER: Final = ("allow_once", "allow_always", *REJECTIONS)


class Fact(Enum):
    """Which facts a change has touched, so that only what shows them draws again."""

    TURN = auto()
    PLAN = auto()
    COMMANDS = auto()
    OPTIONS = auto()
    INFO = auto()
    USAGE = auto()
    PERMISSIONS = auto()
    ELICITATIONS = auto()
    TERMINALS = auto()
    NOTICES = auto()
    SUBAGENTS = auto()
    CONNECTION = auto()


class Turn(Enum):
    """Where the session stands."""

    IDLE = auto()
    RUNNING = auto()
    CANCELLING = auto()
    """The agent was told to stop; the turn is over only when it says so."""


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One entry of a plan."""

    content: str
    priority: str = "medium"
    status: str = "pending"
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan as last reported, whole."""

    steps: tuple[PlanStep, ...]

    @property
    def completed(self) -> int:
        """How many steps are done."""
        return sum(step.status == "completed" for step in self.steps)

    @property
    def current(self) -> PlanStep | None:
        """The step being worked on, else the first one not done, else None."""
        waiting = [step for step in self.steps if step.status != "completed"]
        return next(
            (step for step in waiting if step.status == "in_progress"), waiting[0] if waiting else None
        )


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command of the agent."""

    name: str
    description: str
    hint: str | None = None
    """What to type after it; None: it takes no argument."""
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a select option."""

    value: str
    name: str
    description: str | None = None
    group: str | None = None
    """The name of its group; None: the option's choices are flat."""


@dataclass(frozen=True, slots=True)
class SelectOption:
    """A setting of the session with a list of values: mode, model, effort, ..."""

    option_id: str
    name: str
    value: str
    choices: tuple[Choice, ...]
    category: str | None = None
    description: str | None = None
    source: str = "config"
    """Which part of the protocol carries it and so how it is set: "config", "mode", or the legacy "model"."""


@dataclass(frozen=True, slots=True)
class BooleanOption:
    """A setting of the session that is on or off."""

    option_id: str
    name: str
    value: bool
    category: str | None = None
    description: str | None = None


ConfigOption: TypeAlias = SelectOption | BooleanOption


@dataclass(frozen=True, slots=True)
class Usage:
    """Context and cost as the agent reported them last."""

    used: int
    """Tokens."""
    size: int
    """Tokens; may be 0, and less than `used`."""
    cost_amount: float | None = None
    cost_currency: str | None = None
    """An ISO code or the agent's own unit ("credits")."""


@dataclass(frozen=True, slots=True)
class TurnUsage:
    """Tokens that one turn has used; None where the agent does not count them."""

    total: int
    input: int
    output: int
    thought: int | None = None
    cached_read: int | None = None
    cached_write: int | None = None

    def plus(self, other: TurnUsage) -> TurnUsage:
        """Both together."""
        pairs = zip(astuple(self), astuple(other), strict=True)
        return TurnUsage(*(one if two is None else (one or 0) + two for one, two in pairs))


@dataclass(frozen=True, slots=True)
class BackgroundWork:
    """Something that goes on beside the turn, and is known by its id."""

    kind: str
    """terminal, tool_call, subagent, or one we do not know."""
    reference: str
    """The id of what it is; "" where the kind is not known."""


@dataclass(frozen=True, slots=True)
class PermissionOption:
    """One of the answers the agent offers; the kind is a hint, the id is what goes back."""

    option_id: str
    name: str
    kind: str
    meta: Meta | None = None

    @property
    def is_rejection(self) -> bool:
        """True for the kinds that refuse."""
        return self.kind in REJECTIONS

    @property
    def counts_as(self) -> str:
        """The kind, or `allow_always` for one that the protocol does not name."""
        return self.kind if self.kind in _ORDER else "allow_always"


@dataclass(frozen=True, slots=True)
class AskedCommand:
    """The command that a permission is asked for."""

    line: str
    cwd: str


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """A question of the agent that waits for the user."""

    key: RequestKey
    tool_call_id: ToolCallId
    options: tuple[PermissionOption, ...]
    meta: Meta | None = None
    note: str | None = None
    """What the user is to know beside it."""
    title: str | None = None
    """What is asked, where the agent says it for the question itself."""
    description: str | None = None
    """Why it is asked, in the agent's words."""
    command: AskedCommand | None = None
    """What would be run, where the question is about a command."""
    is_alone: bool = False
    """The agent tells of no tool call but this question: with the answer it is settled."""

    @property
    def answers(self) -> tuple[PermissionOption, ...]:
        """The options as they are offered to the user: sorted by kind, those of one kind in the agent's order.

        The agent hears an id, so an id that stands for several kinds does the most that any of them does.
        """
        worst: dict[str, PermissionOption] = {}
        for option in self.options:
            known = worst.setdefault(option.option_id, option)
            if _harm(option) > _harm(known):
                worst[option.option_id] = option
        answers = (replace(option, kind=worst[option.option_id].kind) for option in self.options)
        return tuple(sorted(answers, key=lambda option: _ORDER.index(option.counts_as)))

    @property
    def rejection_once(self) -> PermissionOption | None:
        """The option that rejects this and decides nothing else; None where the agent does not offer it."""
        return next((option for option in self.answers if option.kind == "reject_once"), None)

    @property
    def rejection(self) -> PermissionOption | None:
        """The option that rejects just this, else one that rejects for good; None where neither is offered."""
        return next((option for option in self.answers if option.is_rejection), None)


def _harm(option: PermissionOption) -> int:
    return _BY_HARM.index(option.kind) if option.kind in _BY_HARM else len(_BY_HARM)


@dataclass(frozen=True, slots=True)
class Notice:
    """A word from the agent for now, not for history."""

    severity: str
    title: str
    description: str | None = None


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session as its agent lists it; it may be open here or not."""

    session_id: SessionId
    cwd: Path
    title: str | None = None
    updated_at: str | None = None
    """ISO 8601, as the agent wrote it."""
    additional_directories: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionPage:
    """A piece of an agent's list of sessions; an empty one need not be the last."""

    sessions: tuple[SessionSummary, ...]
    next_cursor: str | None = None
    """What to ask for the next page with, as it is; None: there is no next page."""
