"""What is told of a conversation beside what stands in it, and the file name that comes of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from acp_tui.conversation.visible import HIDDEN

MAX_NAME_CHARACTERS: Final = 48
"""Of a title in a file name, which may have 255 bytes: four for a character."""
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class ExportFacts:
    """Where a conversation took place, with whom, and when it was exported."""

    agent_title: str
    cwd: str
    session_id: str
    agent_version: str | None = None
    exported_at: str | None = None
    """ISO 8601; None: left out, so that two exports are equal."""
    title: str | None = None
    """None: the conversation's own."""

    @property
    def agent(self) -> str:
        """The agent's name and version."""
        return f"{self.agent_title} {self.agent_version}" if self.agent_version else self.agent_title


def default_name(facts: ExportFacts, suffix: str) -> str:
    """A file name such as "2026-11-21-fix-the-parser.md"; whatever the title is, it leads into no other folder."""
    date = _DATE.match(facts.exported_at or "")
    title = _words(facts.title or "") or _words(facts.agent_title) or "conversation"
    return "-".join(([date[0]] if date else []) + [title]) + suffix


def _words(text: str) -> str:
    """Its letters and digits, with a dash for all that stands between."""
    shown = "".join(char if char.isalnum() and char not in HIDDEN else " " for char in text.lower())
    return "-".join(shown.split())[:MAX_NAME_CHARACTERS].rstrip("-")
