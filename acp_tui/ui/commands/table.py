"""The one table of what a user can do by key: bindings, command palette, help and `[keys]` are made from it.

Which keys are in force, where the user has chosen others, is `keymap`'s.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from textual.binding import Binding

from acp_tui.ui.commands.command import Command
from acp_tui.ui.commands.inspector_table import INSPECTOR_COMMANDS
from acp_tui.ui.commands.replay_table import REPLAY_COMMANDS
from acp_tui.ui.commands.widget_table import WIDGET_COMMANDS

OURS: Final = "acp:"
"""Before the name of a slash command it means ours, whatever the agent's are called."""

COMMANDS: Final = (
    *WIDGET_COMMANDS,
    *INSPECTOR_COMMANDS,
    *REPLAY_COMMANDS,
    # With a session
    Command("next_mode", "Next mode of the agent", "where it has modes", "shift+tab", "do('next_mode')"),
    Command(
        "find",
        "Find in the conversation",
        "",
        "f9,ctrl+shift+f",
        "do('find')",
        has_priority=True,
        slash="find",
        slash_argument="words",
    ),
    Command(
        "send_queued_now",
        "Send the next queued prompt now",
        "it interrupts the turn",
        "",
        "do('send_queued_now')",
    ),
    Command("prompt_above", "Go to the prompt above", "", "ctrl+up", "do('to_prompt', -1)"),
    Command("prompt_below", "Go to the prompt below", "", "ctrl+down", "do('to_prompt', 1)"),
    Command("follow", "Go to the end of the conversation", "and follow it", "ctrl+end", "do('follow')"),
    Command(
        "toggle_all",
        "Unfold or fold everything",
        "diffs, output, thoughts, raw input",
        "ctrl+o",
        "do('toggle_all')",
        has_priority=True,
    ),
    Command(
        "toggle_plan",
        "Unfold or fold the plan",
        "where the agent has one",
        "ctrl+t",
        "do('toggle_plan')",
        has_priority=True,
    ),
    Command(
        "sidebar",
        "Show the sidebar, go to it, hide it",
        "plan, changed files, facts of the session",
        "alt+s",
        "do('turn_sidebar')",
        has_priority=True,
        slash="sidebar",
    ),
    Command(
        "choose_option",
        "Change a setting of the session",
        "mode, model, what the agent has",
        "f2",
        "do('choose_option')",
        has_priority=True,
        slash="options",
    ),
    Command(
        "choose_model",
        "Change the model",
        "where the agent offers several",
        action="do('choose_value', 'model')",
        slash="model",
    ),
    Command(
        "choose_mode",
        "Change the mode",
        "where the agent has modes",
        action="do('choose_value', 'mode')",
        slash="mode",
    ),
    Command(
        "choose_session",
        "Open, delete or begin a session",
        "as the agent lists them",
        "f3",
        "do('choose_session')",
        has_priority=True,
        slash="sessions",
    ),
    Command(
        "show_agent",
        "Show what this agent offers and lacks",
        "with its command and its log",
        "f4",
        "do('show_agent')",
        has_priority=True,
        slash="agent",
    ),
    Command(
        "show_mcp",
        "Show the MCP servers of the session",
        "and what was left out, and why",
        action="do('show_mcp')",
        slash="mcp",
    ),
    Command(
        "show_changes",
        "Show what has changed in the workspace",
        "since the start, whoever did it; review, revert",
        "f5",
        "do('show_changes')",
        has_priority=True,
        slash="changes",
    ),
    Command(
        "begin_session",
        "Begin another session",
        "of this agent, in a new tab",
        "ctrl+n",
        "do('begin_session')",
        has_priority=True,
        slash="new",
    ),
    Command(
        "choose_agent",
        "Start another agent",
        "in a new tab",
        "alt+a",
        "app.choose_agent",
        has_priority=True,
        slash="agents",
    ),
    Command(
        "next_tab",
        "Go to the next tab",
        "Alt+1 to Alt+9 go to one by its number",
        "ctrl+pagedown",
        "app.step_tab(1)",
        has_priority=True,
        works_above_questions=True,
    ),
    Command(
        "previous_tab",
        "Go to the tab before",
        "",
        "ctrl+pageup",
        "app.step_tab(-1)",
        has_priority=True,
        works_above_questions=True,
    ),
    *(
        Command(
            f"tab_{number}",
            f"Go to tab {number}",
            "",
            f"alt+{number}",
            f"app.go_to_tab({number})",
            has_priority=True,
            works_above_questions=True,
        )
        for number in range(1, 10)
    ),
    Command(
        "next_needing",
        "Go to the next tab that needs you",
        "else to one that has failed or is done",
        "alt+n",
        "app.next_needing",
        has_priority=True,
        works_above_questions=True,
    ),
    Command(
        "board",
        "Show all tabs",
        "what each is about, and how it stands",
        "f10",
        "app.show_board",
        has_priority=True,
        slash="tabs",
    ),
    Command(
        "close_tab",
        "Close the tab",
        "and its session in the agent; of the last tab, begin another session",
        "alt+w",
        "app.close_tab",
        has_priority=True,
        works_above_questions=True,
        slash="close",
    ),
    Command(
        "restart",
        "Start the agent again",
        "and go on with the session, as far as the agent remembers it",
        "alt+r",
        "do('restart')",
        has_priority=True,
        works_above_questions=True,
        slash="restart",
    ),
    Command(
        "take_over",
        "Type into a running command",
        "passwords, prompts, a pager",
        "f6",
        "do('take_over')",
        has_priority=True,
    ),
    Command(
        "interrupt_terminal",
        "Press Ctrl+C in a running command",
        "as from its keyboard",
        "f7",
        "do('interrupt_terminal')",
        has_priority=True,
    ),
    Command(
        "end_terminal",
        "End a running command",
        "the agent sees that it was ended",
        "f8",
        "do('end_terminal')",
        has_priority=True,
    ),
    Command(
        "inspect",
        "Inspect what passes between acp-tui and the agent",
        "every frame, and the rules that are broken",
        "alt+i",
        "app.inspect",
        has_priority=True,
        slash="inspect",
    ),
    Command(
        "copy_reply",
        "Copy the agent's last reply",
        "as the agent wrote it",
        action="do('copy_reply')",
        slash="copy",
    ),
    Command(
        "copy_code",
        "Copy a piece of code",
        "of the agent's last reply that has any",
        action="do('copy_code')",
    ),
    Command(
        "export",
        "Write the conversation to a file",
        ".md, .html or .jsonl",
        action="do('export')",
        slash="export",
        slash_argument="file",
    ),
    Command(
        "dismiss_visits",
        "Be done with the pages you opened for the agent",
        "where the agent does not say that they are dealt with",
        action="do('dismiss_visits')",
    ),
    Command("log_out", "Log out of the agent", "where the agent offers it", action="do('log_out')"),
    Command(
        "interrupt",
        "Copy the selection, clear the draft, or cancel the turn",
        "the first that applies",
        "ctrl+c",
        "do('interrupt')",
        has_priority=True,
        works_above_questions=True,
    ),
    Command(
        "settings",
        "Change the settings",
        "and see what is wrong in them",
        "f12,ctrl+comma",
        "app.show_settings",
        has_priority=True,
        slash="settings",
    ),
    Command(
        "help",
        "Help for where you are",
        "? outside of the prompt",
        "f1,question_mark",
        "do('help')",
        has_priority=True,
        slash="help",
    ),
    # Everywhere
    Command(
        "command_palette",
        "Every command",
        "searchable",
        "ctrl+p",
        "app.command_palette",
        "app",
        has_priority=True,
    ),
    Command(
        "change_theme",
        "Change the theme",
        "each is shown as you move to it",
        action="app.choose_theme",
        where="app",
        slash="theme",
    ),
    Command(
        "screenshot",
        "Save a picture of the screen",
        "as .svg, in the folder where acp-tui was started",
        action="app.screenshot",
        where="app",
    ),
    Command(
        "quit",
        "Quit",
        "ends the agent and everything it runs",
        "ctrl+q",
        "app.quit",
        "app",
        has_priority=True,
        works_above_questions=True,
        slash="quit",
    ),
)


def slash_action(text: str, taken: Collection[str]) -> str | None:
    """The action for what was written in the prompt; None where it is none of ours, or the agent has taken its name.

    `/find WORDS` and `/export FILE` take along what is behind them. `/acp:name` is ours even where the agent has
    a `/name`.
    """
    written, _, rest = text.removeprefix("/").strip().partition(" ")
    name = written.removeprefix(OURS)
    if not name or written in taken:
        return None
    for command in COMMANDS:
        if command.slash == name and command.action:
            if not command.slash_argument:
                return command.action
            return f"{command.action.removesuffix(')')}, {rest.strip()!r})"
    return None


def bindings() -> list[Binding]:
    """The bindings of the session screen. What can be typed is bound by the keymap, outside of the prompt only."""
    return [
        Binding(keys, command.action, command.title, show=False, priority=command.has_priority, id=command.id)
        for command in COMMANDS
        if command.where in ("session", "app") and (keys := _untyped(command))
    ]


def _untyped(command: Command) -> str:
    return ",".join(key for key in command.keys.split(",") if key != "question_mark")
