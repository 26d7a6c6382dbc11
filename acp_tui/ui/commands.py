"""The one table of what a user can do by key: bindings, command palette and help are made from it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from textual.binding import Binding


@dataclass(frozen=True, slots=True)
class Command:
    """Something the user can do from anywhere on the session screen."""

    key: str
    """As Textual spells it."""
    shown_key: str
    action: str
    """The action of the session screen, or "" where the key belongs to the widget that has the focus."""
    title: str
    help: str
    has_priority: bool = False
    """Works whatever has the focus."""
    slash: str = ""
    """What to write in the prompt for it, behind a slash."""


COMMANDS: Final = (
    Command("", "Enter", "", "Send the prompt", "in the prompt"),
    Command(
        "",
        "Ctrl+J",
        "",
        "New line",
        "Shift+Enter or Alt+Enter too, where the terminal tells them apart",
    ),
    Command(
        "",
        "Esc",
        "",
        "Close what is open, else cancel the turn",
        "from the prompt; what you have written stays",
    ),
    Command(
        "",
        "Tab",
        "",
        "Go to the permission card, else to the conversation",
        "Esc or Tab leads back to the prompt",
    ),
    Command("", "1-9", "", "Answer a permission request", "on the card; ↑ ↓ and Enter too"),
    Command(
        "",
        "f",
        "",
        "See a permission request full screen",
        "on the card; s there: side by side, n p: changes",
    ),
    Command("", "r", "", "See the raw input of a tool call", "on the card"),
    Command("", "w", "", "Reject and say why", "on the card; the reason goes as your next prompt"),
    Command(
        "", "!", "", "Run a command of your own", "its output goes with the next prompt; Backspace drops it"
    ),
    Command("", "@", "", "Attach a file to the prompt", "@file, @file:10-20, @folder/, @image.png"),
    Command("", "Alt+↑", "", "Take the last queued prompt back", "Enter while the agent works queues one"),
    Command("shift+tab", "Shift+Tab", "next_mode", "Next mode of the agent", "where the agent has modes"),
    Command(
        "ctrl+shift+f,f9",
        "F9",
        "find",
        "Find in the conversation",
        "Ctrl+Shift+F too, where the terminal tells it apart",
        True,
        "find",
    ),
    Command("ctrl+up", "Ctrl+↑", "to_prompt(-1)", "Go to the prompt above", "in the conversation's past"),
    Command("ctrl+down", "Ctrl+↓", "to_prompt(1)", "Go to the prompt below", "towards its end"),
    Command("", "PgUp PgDn", "", "Page through the conversation", "from the prompt too"),
    Command(
        "ctrl+end",
        "Ctrl+End",
        "follow",
        "Go to the end of the conversation",
        "End does it in the conversation",
    ),
    Command("", "↑ ↓ Space", "", "Move between entries, fold or unfold one", "in the conversation"),
    Command(
        "",
        "Ctrl+E",
        "edit_location",
        "Open a tool call's file in your editor",
        "in the conversation; at its line",
    ),
    Command(
        "",
        "Ctrl+S",
        "save_attached",
        "Save what the agent attached",
        "in the conversation; Ctrl+Y too",
    ),
    Command(
        "ctrl+o",
        "Ctrl+O",
        "toggle_all",
        "Unfold or fold everything",
        "diffs, output, thoughts, raw input",
        True,
    ),
    Command("ctrl+t", "Ctrl+T", "toggle_plan", "Unfold or fold the plan", "where the agent has one", True),
    Command(
        "f2",
        "F2",
        "choose_option",
        "Change a setting of the session",
        "mode, model, what the agent has",
        True,
        slash="options",
    ),
    Command(
        "f3",
        "F3",
        "choose_session",
        "Open, delete or begin a session",
        "as the agent lists them",
        True,
        slash="sessions",
    ),
    Command(
        "f4",
        "F4",
        "show_agent",
        "Show what this agent offers and lacks",
        "with its command and its log",
        True,
        slash="agent",
    ),
    Command(
        "f5",
        "F5",
        "show_changes",
        "Show what has changed in the workspace",
        "since the start, whoever did it; review, revert",
        True,
        slash="changes",
    ),
    Command(
        "ctrl+n", "Ctrl+N", "begin_session", "Begin another session", "this one stays open in the agent", True
    ),
    Command(
        "f6",
        "F6",
        "take_over",
        "Type into a running command",
        "passwords, prompts, a pager; Ctrl+] takes the keyboard back",
        True,
    ),
    Command(
        "f7", "F7", "interrupt_terminal", "Press Ctrl+C in a running command", "as from its keyboard", True
    ),
    Command("f8", "F8", "end_terminal", "End a running command", "the agent sees that it was ended", True),
    Command("", "Ctrl+P", "copy_reply", "Copy the agent's last reply", "as the agent wrote it", slash="copy"),
    Command("", "Ctrl+P", "copy_code", "Copy a piece of code", "of the agent's last reply that has any"),
    Command(
        "",
        "Ctrl+P",
        "export",
        "Write the conversation to a file",
        ".md, .html or .jsonl",
        slash="export",
    ),
    Command("", "Ctrl+P", "close_session", "Close the session", "in the agent, and begin another"),
    Command(
        "",
        "Ctrl+P",
        "dismiss_visits",
        "Be done with the pages you opened for the agent",
        "where the agent does not say that they are dealt with",
    ),
    Command("", "Ctrl+P", "log_out", "Log out of the agent", "where the agent offers it"),
    Command(
        "ctrl+c",
        "Ctrl+C",
        "interrupt",
        "Copy the selection, clear the draft, or cancel the turn",
        "the first that applies",
        True,
    ),
    Command(
        "",
        "Ctrl+P",
        "app.show_settings_notes",
        "Show what is wrong in the settings",
        "file, key, and what is allowed",
        slash="settings",
    ),
    Command("f1", "F1", "help", "Help", "this list", True, slash="help"),
    Command(
        "ctrl+q", "Ctrl+Q", "app.quit", "Quit", "ends the agent and everything it runs", True, slash="quit"
    ),
)


def slash_action(text: str, taken: Collection[str]) -> str | None:
    """The action for what was written in the prompt; None where it is none of ours, or the agent has taken its name.

    `/find WORDS` takes along what is behind it.
    """
    name, _, rest = text.removeprefix("/").strip().partition(" ")
    if not name or name in taken:
        return None
    for command in COMMANDS:
        if command.slash == name and command.action:
            return f"{command.action}({rest.strip()!r})" if name == "find" else command.action
    return None


def bindings() -> list[Binding]:
    """The bindings of the session screen."""
    return [
        Binding(command.key, command.action, command.title, show=False, priority=command.has_priority)
        for command in COMMANDS
        if command.key
    ]
