"""What a command is, and where its keys count; which commands there are is said in `commands`."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from acp_tui.values import dataclass

Place: TypeAlias = Literal[
    "app",
    "session",
    "prompt",
    "queue",
    "history",
    "conversation",
    "plan",
    "welcome",
    "card",
    "question",
    "review",
    "find",
    "terminal",
    "sidebar",
    "inspector",
    "frames",
    "frame",
    "replay",
]
"""Where a command's keys count: everywhere, on the session's screen, or where the focus is."""

PLACES: Final[dict[Place, str]] = {
    "prompt": "In the prompt",
    "queue": "In the queued prompts",
    "history": "While you search earlier prompts",
    "card": "On the permission card",
    "question": "On an agent's form or page",
    "review": "In a permission request on the full screen",
    "conversation": "In the conversation",
    "plan": "In the plan",
    "welcome": "In the recent sessions of an empty session",
    "find": "While you search",
    "terminal": "While a terminal has the keyboard",
    "sidebar": "In the sidebar",
    "inspector": "In the inspector",
    "frames": "In its list of frames",
    "frame": "In a frame",
    "replay": "In a replay",
    "session": "With a session",
    "app": "Everywhere",
}
"""Their headings, in the order in which help shows them."""


@dataclass(frozen=True, slots=True)
class Command:
    """Something the user can do."""

    id: str
    """Its name in `[keys]`; it never changes."""
    title: str
    help: str
    keys: str = ""
    """As Textual spells them, separated by commas; the first is the one that is shown."""
    action: str = ""
    """The action of the screen that it counts on; "" where only a widget can do it."""
    own: str = ""
    """The action of the widget that has the focus."""
    where: Place = "session"
    has_priority: bool = False
    """Works whatever has the focus."""
    slash: str = ""
    """What to write in the prompt for it, behind a slash."""
    slash_argument: str = ""
    """What may follow that; "" where nothing does."""
    typed: str = ""
    """What is typed for it: characters that cannot be chosen, and so no keys."""
    works_above_questions: bool = False
    """Works while a form or another question of the agent's is open, too: none may keep the user from it."""
    like: str = ""
    """The command of a session that this one is elsewhere: a key that the user chose for that one counts here too."""
