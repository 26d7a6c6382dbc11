"""What an export says besides the conversation, and how its file is called."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Final, Self

from acp_tui.conversation.visible import hidden_characters
from acp_tui.values import dataclass

MAX_NAME_CHARACTERS: Final = 48
"""Limit for a title in a file name. File names may have 255 bytes, and a character up to four."""
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class ExportFacts:
    """Where a conversation took place, with which agent, and when it was exported."""

    agent_title: str
    cwd: str
    session_id: str
    agent_version: str | None = None
    exported_at: str | None = None
    """ISO 8601; None to omit it, so that two exports are equal."""
    title: str | None = None
    """None for the conversation's own title."""
    sandbox: str = ""
    """The name of the sandbox that the agent ran in; "" for none."""

    @classmethod
    def now(
        cls,
        agent_title: str,
        cwd: Path,
        session_id: str,
        title: str | None,
        *,
        agent_version: str | None = None,
        sandbox: str = "",
    ) -> Self:
        exported_at = datetime.now().astimezone().isoformat(timespec="seconds")
        return cls(agent_title, str(cwd), session_id, agent_version, exported_at, title, sandbox)

    @property
    def agent(self) -> str:
        return f"{self.agent_title} {self.agent_version}" if self.agent_version else self.agent_title


def default_name(facts: ExportFacts, suffix: str) -> str:
    """A file name such as "2026-11-21-fix-the-parser.md". No title can make it lead to another folder."""
    date = _DATE.match(facts.exported_at or "")
    title = _words(facts.title or "") or _words(facts.agent_title) or "conversation"
    return "-".join(([date[0]] if date else []) + [title]) + suffix


def _words(text: str) -> str:
    """Its letters and digits, with dashes for everything in between."""
    hidden = hidden_characters()
    shown = "".join(char if char.isalnum() and char not in hidden else " " for char in text.lower())
    return "-".join(shown.split())[:MAX_NAME_CHARACTERS].rstrip("-")
