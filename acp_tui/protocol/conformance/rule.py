"""What a rule, a frame and a finding are; which rules there are is said beside their checks."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any, Final

from pydantic_core import from_json

from acp_tui.rpc import Direction
from acp_tui.values import dataclass

SPECIFICATION: Final = "https://agentclientprotocol.com/protocol/"


class Severity(Enum):
    """How much it matters, the worst first."""

    ERROR = "error"
    """The specification forbids it, or clients fail by it."""
    WARNING = "warning"
    """Most clients bear it; some will not, or their users will wonder."""
    NOTE = "note"
    """Good to know; it may be meant."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What an agent has to do, in one sentence."""

    rule_id: str
    """`A-` (the agent's duty; of version 2 `A2-`), the matter, a number; it never gets another meaning."""
    severity: Severity
    sentence: str
    advice: str
    """What to do about it."""
    page: str
    """Of the specification."""
    requirement: str = ""
    """The client's requirement of which this is the other side; "" where there is none."""

    @property
    def reference(self) -> str:
        """Where to read on."""
        return SPECIFICATION + (self.page if self.page.startswith("v2/") else f"v1/{self.page}")


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule was broken. The text may hold what an agent said: who shows it makes it visible."""

    rule: Rule
    text: str
    """What happened."""
    frames: tuple[int, ...]
    """Which frames broke it, counted from 0 over both directions; the last one showed it."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A line of the connection, without its line end."""

    direction: Direction
    """Seen from the client: IN is the agent's."""
    at_s: float
    """Seconds, from any point on."""
    raw: bytes

    def value(self) -> Any:
        """The JSON value. Raises ValueError."""
        return read_json(self.raw)


def read_json(raw: bytes) -> Any:
    """The value, read as leniently as a client does. Raises ValueError."""
    try:
        return from_json(raw, allow_inf_nan=False)
    except ValueError:
        pass  # half of a surrogate pair, a byte order mark, invalid UTF-8: clients bear them
    try:
        return json.loads(raw.decode("utf-8-sig", "replace"), parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


class Judge:
    """Takes note of which rules were looked at and what broke them."""

    def __init__(self) -> None:
        self.looked_at: set[str] = set()
        self.frame: int | None = None
        """The one that is looked at; None: the connection is over."""
        self._findings: list[Finding] = []

    def check(self, rule: Rule, holds: bool, text: str, *earlier: int) -> None:
        """The rule was looked at; where it does not hold, `text` says what happened, begun in the `earlier` frames."""
        self.looked_at.add(rule.rule_id)
        if not holds:
            frames = earlier if self.frame is None else (*earlier, self.frame)
            self._findings.append(Finding(rule, text, frames))

    def taken(self) -> tuple[Finding, ...]:
        """What was found since the last time."""
        found, self._findings = tuple(self._findings), []
        return found


def shown(value: Any) -> str:
    """A value of an agent within a sentence."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
