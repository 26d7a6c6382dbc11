"""Facts that aren't entries: of a session, such as plan, options, usage; of an agent, its sessions, logins, servers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, field, replace
from enum import Enum, auto
from pathlib import Path
from typing import Final, Literal, NewType, TypeAlias

from acp_tui.conversation.content import Meta
from acp_tui.conversation.tool_calls import ToolCallId
from acp_tui.values import dataclass

SessionId = NewType("SessionId", str)
RequestKey = NewType("RequestKey", int)
"""Identifies a waiting request of the agent within this client; not the ID on the wire."""
REJECTIONS: Final = ("reject_once", "reject_always")
"""The kinds of option that reject; no other kind does, whatever its name."""
WHY_ACTS_ITSELF: Final = "acp-tui can't confine this agent: you only decide what it asks about."
"""What the first question of such an agent says."""
_BY_HARM: Final = ("reject_once", "reject_always", "allow_once")
"""Kinds from least to most harmful. An unknown kind counts as `allow_always`, the most harmful."""
_ORDER: Final = ("allow_once", "allow_always", *REJECTIONS)


class Fact(Enum):
    """The facts a change can touch, so that a view only redraws what changed."""

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


class TurnPhase(Enum):
    IDLE = auto()
    RUNNING = auto()
    CANCELLING = auto()
    """The agent was told to stop; the turn ends only when the agent says so."""


@dataclass(frozen=True, slots=True)
class ErrorFacts:
    """What an agent says of its error besides the message and the cause; None and () for what it doesn't say."""

    reason: str | None = None
    scope: str | None = None
    correlation_id: str | None = None
    retry_after_s: float | None = None
    """After how many seconds another try makes sense."""
    retry_at: float | None = None
    """When that is, in seconds since the epoch."""
    auth_methods: tuple[str, ...] = ()
    """The IDs of login methods that help."""

    def heard(self, now: float | None) -> ErrorFacts:
        """Return the facts with both times, as far as the time they were heard at is known."""
        after, at = self.retry_after_s, self.retry_at
        if now is None or (after is None) == (at is None):
            return self
        if after is not None:
            return replace(self, retry_at=now + after)
        return replace(self, retry_after_s=max(0.0, (at or 0.0) - now))


@dataclass(frozen=True, slots=True)
class PlanStep:
    content: str
    priority: str = "medium"
    status: str = "pending"
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    steps: tuple[PlanStep, ...]

    @property
    def completed(self) -> int:
        return sum(step.status == "completed" for step in self.steps)

    @property
    def current(self) -> PlanStep | None:
        """The step in progress, or the first one not completed; None if all are done."""
        waiting = [step for step in self.steps if step.status != "completed"]
        return next((step for step in waiting if step.status == "in_progress"), waiting[0] if waiting else None)


@dataclass(frozen=True, slots=True)
class OfferedCommand:
    name: str
    description: str
    hint: str | None = None
    """What to type after the name; None if the command takes no argument."""
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    value: str
    name: str
    description: str | None = None
    group: str | None = None
    """The name of its group; None if the choices aren't grouped."""


CAUTIONS: Final = {
    "no questions": {
        *("bypass", "bypasspermissions", "yolo", "fullaccess", "agentfullaccess", "autopilot", "autoapprove")
    },
    "fewer questions": {"acceptedits", "autoedit", "auto", "autoreview", "workspacewrite"},
}
"""What to say of modes in which agents ask less, and the letters of their IDs and names.

They are those of Claude, Codex, Copilot, Gemini, Qwen, and Vibe.
"""


@dataclass(frozen=True, slots=True)
class SelectOption:
    """A session option with a list of values, such as mode, model, or effort."""

    option_id: str
    name: str
    value: str
    choices: tuple[Choice, ...]
    category: str | None = None
    description: str | None = None
    source: str = "config"
    """The part of the protocol it comes from, which decides how to set it: "config", "mode", or the legacy "model"."""

    def caution(self, choice: Choice) -> str:
        """Return what the user should know of a mode in which the agent asks less; "" for another or an unknown one."""
        if self.category != "mode":
            return ""
        names = (choice.value.rpartition("#")[2], choice.name)  # some IDs are URLs
        letters = {"".join(filter(str.isalpha, name.lower())) for name in names}
        return next((words for words, modes in CAUTIONS.items() if modes & letters), "")


@dataclass(frozen=True, slots=True)
class BooleanOption:
    option_id: str
    name: str
    value: bool
    category: str | None = None
    description: str | None = None


ConfigOption: TypeAlias = SelectOption | BooleanOption


def mode_of(options: Iterable[ConfigOption]) -> SelectOption | None:
    """Return the option that is the session's mode; None if the agent has no modes."""
    return next((one for one in options if isinstance(one, SelectOption) and one.category == "mode"), None)


@dataclass(frozen=True, slots=True)
class Usage:
    """Context and cost as last reported by the agent."""

    used: int
    """Tokens."""
    size: int
    """Tokens; may be 0, or less than `used`."""
    cost_amount: float | None = None
    cost_currency: str | None = None
    """An ISO code or the agent's own unit ("credits")."""


@dataclass(frozen=True, slots=True)
class TurnUsage:
    """Tokens that a turn used; None for what the agent doesn't count."""

    total: int
    input: int
    output: int
    thought: int | None = None
    cached_read: int | None = None
    cached_write: int | None = None

    def plus(self, other: TurnUsage) -> TurnUsage:
        pairs = zip(astuple(self), astuple(other), strict=True)
        return TurnUsage(*(one if two is None else (one or 0) + two for one, two in pairs))


@dataclass(frozen=True, slots=True)
class TurnSpent:
    """A turn that ended, and what it used, as far as the agent told."""

    end: int
    """How many entries there were when it ended."""
    usage: TurnUsage | None = None
    cost: float | None = None
    """How much the session's cost grew."""
    currency: str | None = None
    start: int | None = None
    """The entry that began it; None if it began elsewhere."""
    stop_reason: str | None = None
    """None if it failed."""


@dataclass(frozen=True, slots=True)
class BackgroundWork:
    """Something that goes on beside the turn, with its ID."""

    kind: str
    """terminal, tool_call, subagent, or an unknown one."""
    reference: str
    """The ID of the work; "" if the kind is unknown."""


@dataclass(frozen=True, slots=True)
class PermissionOption:
    """One of the answers the agent offers. The kind is a hint; the ID is what goes back."""

    option_id: str
    name: str
    kind: str
    meta: Meta | None = None
    is_ours: bool = False
    """Whether the name is acp-tui's, as `PermissionRequest.answers` says."""

    @property
    def is_rejection(self) -> bool:
        return self.kind in REJECTIONS

    @property
    def counts_as(self) -> str:
        """The kind; `allow_always` for one the protocol doesn't define."""
        return self.kind if self.kind in _ORDER else "allow_always"


@dataclass(frozen=True, slots=True)
class AskedCommand:
    line: str
    cwd: str


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    key: RequestKey
    tool_call_id: ToolCallId
    options: tuple[PermissionOption, ...]
    meta: Meta | None = None
    note: str | None = None
    """What the user should know besides the request itself."""
    title: str | None = None
    """The question, if the agent words it separately from the tool call."""
    description: str | None = None
    """The agent's reason for asking."""
    command: AskedCommand | None = None
    """The command to run, if the question is about one."""
    more: Meta | None = None
    """What else the agent says about the subject, in fields that acp-tui doesn't know."""
    is_alone: bool = False
    """The agent reports no tool call except this question, so the answer settles it."""
    is_ours: bool = False
    """Whether acp-tui asks, so that the options have its names."""

    @property
    def answers(self) -> tuple[PermissionOption, ...]:
        """The options as offered to the user: sorted by kind, and within a kind in the agent's order.

        The agent only receives an ID. If several kinds share an ID, the option counts as the most harmful of them.
        """
        worst: dict[str, PermissionOption] = {}
        for option in self.options:
            known = worst.setdefault(option.option_id, option)
            if _harm(option) > _harm(known):
                worst[option.option_id] = option
        answers = (replace(option, kind=worst[option.option_id].kind, is_ours=self.is_ours) for option in self.options)
        return tuple(sorted(answers, key=lambda option: _ORDER.index(option.counts_as)))

    @property
    def rejection_once(self) -> PermissionOption | None:
        """The option that rejects only this request; None if the agent doesn't offer it."""
        return next((option for option in self.answers if option.kind == "reject_once"), None)

    @property
    def rejection(self) -> PermissionOption | None:
        """The option that rejects only this request, or else one that rejects always; None if neither is offered."""
        return next((option for option in self.answers if option.is_rejection), None)


def _harm(option: PermissionOption) -> int:
    return _BY_HARM.index(option.kind) if option.kind in _BY_HARM else len(_BY_HARM)


@dataclass(frozen=True, slots=True)
class SessionStatus:
    """What the agent says of a session when asked, at that moment."""

    is_open: bool
    """Whether it has the session in memory, for whichever of its clients."""
    state: str | None = None
    """running, idle, requires_action, unknown, or another one, which counts as busy. None isn't idle."""

    @property
    def in_words(self) -> str:
        """A word or two for the user; "" for a session that is only saved."""
        if not self.is_open:
            return ""
        known = {"running": "working", "idle": "idle", "requires_action": "needs you", "unknown": "in memory"}
        return "in memory" if self.state is None else known.get(self.state, "busy")


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session as its agent lists it, whether open here or not."""

    session_id: SessionId
    cwd: Path
    title: str | None = None
    updated_at: str | None = None
    """ISO 8601, as sent by the agent."""
    additional_directories: tuple[Path, ...] = ()
    status: SessionStatus | None = None
    """What the agent says of it, once it was asked."""


@dataclass(frozen=True, slots=True)
class SessionPage:
    """One page of an agent's list of sessions. An empty page isn't necessarily the last."""

    sessions: tuple[SessionSummary, ...]
    next_cursor: str | None = None
    """The cursor for requesting the next page, verbatim; None if this is the last page."""


@dataclass(frozen=True, slots=True)
class Account:
    """A login or key that an agent has, in words for the user: none of them is an ID."""

    label: str
    name: str | None = None
    email: str | None = None
    organization: str | None = None
    is_active: bool | None = None
    """Whether the agent uses it; None if it doesn't say."""

    @property
    def in_words(self) -> str:
        whose = ", ".join(map(_short, filter(None, (self.name, self.email, self.organization))))
        return _short(self.label) + (f" ({whose})" if whose else "")


SHOWN_CHARACTERS: Final = 80
"""How much of each part of an account is shown."""
SHOWN_ACCOUNTS: Final = 5


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


@dataclass(frozen=True, slots=True)
class AuthStatus:
    """Whether the agent works without a login, and with which accounts."""

    state: str
    """"authenticated", "unauthenticated", "not_required"; anything else counts as unknown."""
    accounts: tuple[Account, ...] = ()

    @property
    def nameless(self) -> AuthStatus:
        """The same without whose accounts they are."""
        accounts = (Account(account.label, is_active=account.is_active) for account in self.accounts)
        return AuthStatus(self.state, tuple(accounts))

    @property
    def in_words(self) -> str:
        """One line for the user, of untrusted but bounded text. Accounts that are in use come first."""
        words = {"authenticated": "yes", "unauthenticated": "no", "not_required": "not needed"}
        ordered = sorted(self.accounts, key=lambda account: account.is_active is not True)
        told = [account.in_words + " in use" * (account.is_active is True) for account in ordered[:SHOWN_ACCOUNTS]]
        more = [f"{len(ordered) - len(told)} more"] if len(ordered) > len(told) else []
        return ": ".join(filter(None, (words.get(self.state, "unknown"), "; ".join([*told, *more]))))


@dataclass(frozen=True, slots=True)
class AuthMethod:
    method_id: str
    name: str
    description: str | None = None
    kind: Literal["agent", "terminal"] = "agent"
    """"agent": the agent does it itself when asked. "terminal": the user does it in a terminal of its own."""
    args: tuple[str, ...] = ()
    """Appended to the agent's own arguments; only for "terminal"."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to the agent's own environment; only for "terminal"."""
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class ProviderRoute:
    api_type: str
    """Which API it has, such as `anthropic`."""
    base_url: str


@dataclass(frozen=True, slots=True)
class Provider:
    provider_id: str
    supported: tuple[str, ...]
    """The kinds of API that it can be set to."""
    is_required: bool
    """Whether it can't be disabled."""
    route: ProviderRoute | None
    """None if it's disabled."""


Pairs: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values, in the order they were declared."""
HttpKind: TypeAlias = Literal["http", "sse"]


@dataclass(frozen=True, slots=True)
class StdioServer:
    """An MCP server that is a program to start."""

    name: str
    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Pairs = field(default=(), repr=False)
    runs_here: bool = False
    """Whether acp-tui starts it, instead of the agent."""


@dataclass(frozen=True, slots=True)
class HttpServer:
    """An MCP server that already runs, over streamable HTTP or server-sent events."""

    kind: HttpKind
    name: str
    url: str = field(repr=False)
    headers: Pairs = field(default=(), repr=False)
