"""What an agent under test asked its user for, and what became of it, as plain values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from acp_tui.conversation.elicitation import Elicitation, Form, FormValues
from acp_tui.conversation.facts import PermissionOption
from acp_tui.conversation.tool_calls import ToolCall
from acp_tui.conversation.updates import ElicitationAction

Wanted: TypeAlias = str | re.Pattern[str] | None
"""A part of a text, or what is to be found in it; None: any text will do."""


def fits(wanted: Wanted, text: str) -> bool:
    """Whether this is the text that is wanted."""
    if wanted is None:
        return True
    return wanted in text if isinstance(wanted, str) else wanted.search(text) is not None


@dataclass(frozen=True, slots=True)
class AskedPermission:
    """A permission request."""

    session_id: str
    tool_call: ToolCall
    """As it was when the agent asked."""
    options: tuple[PermissionOption, ...]
    note: str | None = None
    """Why acp-tui asks, where it is not the agent that does."""
    chosen: PermissionOption | None = None
    """None: nothing was, the turn was cancelled."""

    @property
    def title(self) -> str:
        """What the user reads."""
        return self.tool_call.shown_title

    @property
    def answer(self) -> str | None:
        """The kind of the option that was chosen."""
        return None if self.chosen is None else self.chosen.kind


@dataclass(frozen=True, slots=True)
class AskedElicitation:
    """A form or a page that the user was shown."""

    session_id: str | None
    """None: it belongs to no session."""
    elicitation: Elicitation
    action: ElicitationAction
    values: FormValues | None = None

    @property
    def message(self) -> str:
        """What the user reads."""
        return self.elicitation.message

    @property
    def url(self) -> str | None:
        """The page; None for a form. Nobody has looked at it."""
        return None if isinstance(self.elicitation, Form) else self.elicitation.url
