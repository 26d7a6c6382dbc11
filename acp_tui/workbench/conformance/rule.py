"""Rules, frames, and findings. `rules.toml` has the rules; the checks name them by ID."""

from __future__ import annotations

import json
import tomllib
from enum import Enum
from pathlib import Path
from typing import Any, Final

from pydantic_core import from_json

from acp_tui.rpc import Direction
from acp_tui.values import dataclass

SPECIFICATION: Final = "https://agentclientprotocol.com/protocol/"


class Severity(Enum):
    """How much a broken rule matters, the worst first."""

    ERROR = "error"
    """The specification forbids it, or clients fail because of it."""
    WARNING = "warning"
    """Most clients tolerate it; others fail, or confuse their users."""
    NOTE = "note"
    """Good to know; it may be intended."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What an agent must do, in one sentence."""

    rule_id: str
    """`A-` (`A2-` for version 2), the subject, and a number. Its meaning never changes."""
    severity: Severity
    sentence: str
    advice: str
    page: str
    """The page in the specification."""

    @property
    def reference(self) -> str:
        return SPECIFICATION + (self.page if self.page.startswith("v2/") else f"v1/{self.page}")


def _read_rules() -> dict[str, Rule]:
    table = tomllib.loads(Path(__file__).with_name("rules.toml").read_text("utf-8"))
    return {rule_id: Rule(rule_id, Severity(row.pop("severity")), **row) for rule_id, row in table.items()}


RULES: Final = _read_rules()
"""By ID; in order, from single lines to the end of the agent."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken rule. The text may quote the agent, so make it visible before showing it."""

    rule: Rule
    text: str
    frames: tuple[int, ...]
    """The numbers of the frames that broke it, in both directions. The last one revealed it."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A line of the connection, without its line end."""

    direction: Direction
    """As seen from the client: IN comes from the agent."""
    at_s: float
    """Seconds from any starting point."""
    raw: bytes

    def value(self) -> Any:
        """Return the JSON value. Raises ValueError."""
        return read_json(self.raw)


def read_json(raw: bytes) -> Any:
    """Read JSON as leniently as clients do. Raises ValueError."""
    try:
        return from_json(raw, allow_inf_nan=False)
    except ValueError:
        pass  # half a surrogate pair, a byte order mark, invalid UTF-8: clients tolerate them
    try:
        return json.loads(raw.decode("utf-8-sig", "replace"), parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} isn't valid JSON")


ARROWS: Final = {Direction.IN: "<-", Direction.OUT: "->"}


class Judge:
    """Records which rules were checked and what broke them. Call it for each check."""

    def __init__(self) -> None:
        self.looked_at: set[str] = set()
        self.frame: int | None = None
        """The current frame; None after the connection ended."""
        self._findings: list[Finding] = []

    def __call__(self, rule_id: str, holds: bool, text: str, *earlier: int) -> None:
        """Record a check. If it doesn't hold, `text` says what happened, starting in the `earlier` frames."""
        rule = RULES[rule_id]
        self.looked_at.add(rule_id)
        if not holds:
            frames = earlier if self.frame is None else (*earlier, self.frame)
            self._findings.append(Finding(rule, text, frames))

    def taken(self) -> tuple[Finding, ...]:
        found, self._findings = tuple(self._findings), []
        return found


def shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
