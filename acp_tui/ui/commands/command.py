"""Defines a command, and the places where its keys work. The commands themselves are in `table`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from acp_tui.values import dataclass

if TYPE_CHECKING:
    from acp_tui.ui.tab.actions import Actions

Run: TypeAlias = "Callable[[Actions, str], object]"
"""Gets what follows the slash command; "" if nothing does. A coroutine waits for the user."""
Condition: TypeAlias = "Callable[[Actions], bool]"

Place: TypeAlias = (
    Literal["app", "session", "moving", "reading"]
    | Literal["prompt", "queue", "history", "conversation", "plan", "welcome", "find", "terminal", "sidebar"]
    | Literal["card", "question", "choices", "review", "changes", "diff", "replay", "inspector", "query", "frames"]
    | Literal["sessions", "prompts", "agents", "several", "comparison", "agent", "settings", "setting"]
    | Literal["dialog", "page", "list", "ask"]
)
"""Where a command's keys work: everywhere, on the session's screen, or in the focused widget."""

PLACES: Final[dict[Place, str]] = {
    "prompt": "In the prompt",
    "queue": "In the queued prompts",
    "history": "While you search earlier prompts",
    "card": "On the permission card",
    "question": "On an agent's form or page",
    "choices": "In a form's list of choices",
    "review": "In a permission request on the full screen",
    "conversation": "In the conversation",
    "plan": "In the plan",
    "welcome": "In the recent sessions of an empty session",
    "find": "While you search",
    "terminal": "While a terminal has the keyboard",
    "sidebar": "In the sidebar",
    "sessions": "In the list of sessions",
    "prompts": "While you go back to a prompt",
    "agents": "In the list of agents",
    "several": "While you choose several agents",
    "comparison": "While you compare worktrees",
    "agent": "In what an agent can do",
    "changes": "In the list of changes",
    "diff": "In a changed file",
    "settings": "In the settings",
    "setting": "While you change a setting",
    "dialog": "In every dialog",
    "page": "In a dialog with text",
    "list": "In a list of a dialog",
    "ask": "On a question with yes and no",
    "inspector": "In the inspector",
    "query": "While you search in it",
    "frames": "In its list of frames",
    "replay": "In a replay",
    "reading": "In a diff or a text",
    "moving": "In every list and text",
    "session": "With a session",
    "app": "Everywhere",
}
"""The headings of the places, in the order of the help."""


@dataclass(frozen=True, slots=True)
class Command:
    """Something the user can do."""

    id: str
    """Its name in `[keys]`. It never changes. A command that other places have, too, has a row for each."""
    keys: str
    """Textual's names, separated by commas. The first key is the one that is shown."""
    run: Run | None
    """What a command of a tab does; None for others, which have an action."""
    title: str
    help: str = ""
    where: Place = "session"
    when: Condition = lambda do: True
    """Whether the command of a tab would do anything now: the palette offers it only then."""
    keys_wait: bool = False
    """Whether the next keys wait until it has run, because they go to what it shows."""
    screen_action: str = ""
    own_action: str = ""
    """The action of the focused widget, if only that can do it."""
    has_priority: bool = False
    """Whether it works whatever has the focus."""
    typed: str = ""
    """The slash command for it, without the slash, and what may follow that."""
    shortcuts: tuple[tuple[str, str], ...] = ()
    """Other slash commands for it, written like `typed`, each with what it does. Its action gets what was written."""
    aliases: str = ""
    """What slash commands for it are called elsewhere, separated by spaces. They work, but aren't listed."""
    fixed_characters: str = ""
    """Fixed characters to type for it. They aren't keys, so the user can't change them."""
    works_above_questions: bool = False
    """Whether it also works while the agent asks something: no form or other question may block it."""
    is_numbered: bool = False
    """Whether its keys end with digits, which tell it a number."""

    @property
    def action(self) -> str:
        """The action of the screen; "" if only a widget can do it."""
        return self.screen_action if self.run is None else f"do({self.id!r})"

    def action_by(self, key: str) -> str:
        return f"do({self.id!r}, {key[-1]!r})" if self.is_numbered else self.action

    @property
    def widget_action(self) -> str:
        return f"screen.{self.action}" if self.where in ("conversation", "prompt") and self.run else self.own_action

    @property
    def slash(self) -> str:
        return self.typed.partition(" ")[0]

    @property
    def slashes(self) -> Mapping[str, str]:
        all_of_them = ((self.typed, self.title), *self.shortcuts)
        return {typed.partition(" ")[0]: title for typed, title in all_of_them if typed}

    def slash_argument(self, slash: str) -> str:
        """What may follow this slash command, perhaps one by its name elsewhere; "" if nothing."""
        return self.shortcut_names.get(slash, self.typed.partition(" ")[2])

    @property
    def shortcut_names(self) -> Mapping[str, str]:
        """The names of `shortcuts`, each with what may follow it."""
        return {name: argument for name, _, argument in (typed.partition(" ") for typed, _ in self.shortcuts)}


def own(
    where: Place,
    id_: str,
    keys: str,
    widget_action: str,
    title: str,
    about: str = "",
    *,
    fixed_characters: str = "",
    has_priority: bool = False,
) -> Command:
    """A command of the widget itself, or of its screen. Without an action, the widget handles the key itself.

    `{}` in the action of fixed characters stands for the one that was typed.
    """
    return Command(
        id_,
        keys,
        None,
        title,
        about,
        where,
        own_action=widget_action,
        has_priority=has_priority,
        fixed_characters=fixed_characters,
    )
