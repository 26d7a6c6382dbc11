"""The table of everything you can do by key: bindings, palette, help and `[keys]` are made from it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from textual.binding import Binding, BindingType

from acp_tui.ui.commands.command import Command, Place


def _replay_table_command(
    id_: str, keys: str, action: str, title: str, about: str = "", like: str = ""
) -> Command:
    return Command(f"replay_{id_}", title, about, keys, action, where="replay", like=like)


REPLAY_COMMANDS: Final = (
    _replay_table_command("play", "space", "toggle_playing", "Play or pause"),
    _replay_table_command(
        "next", "right,full_stop", "step(1)", "To the next event", "that changes something"
    ),
    _replay_table_command(
        "previous", "left,comma", "step(-1)", "To the event before", "that changed something"
    ),
    _replay_table_command("prompt_below", "n", "to_prompt(1)", "To the next prompt", "of the user"),
    _replay_table_command("prompt_above", "p", "to_prompt(-1)", "To the prompt before"),
    _replay_table_command("faster", "plus,equals_sign", "change_speed(1)", "Faster"),
    _replay_table_command("slower", "minus", "change_speed(-1)", "Slower"),
    _replay_table_command("start", "home", "to_start", "To the beginning"),
    _replay_table_command("end", "end", "to_end", "To the end"),
    _replay_table_command("next_session", "tab", "next_session(1)", "The next session", "of the recording"),
    _replay_table_command("previous_session", "shift+tab", "next_session(-1)", "The session before"),
    _replay_table_command(
        "find",
        "slash,f9,ctrl+shift+f",
        "find",
        "Find in the conversation",
        "as far as it is played",
        like="find",
    ),
    _replay_table_command("page_up", "pageup", "page(-1)", "Page up"),
    _replay_table_command("page_down", "pagedown", "page(1)", "Page down"),
    _replay_table_command(
        "follow",
        "ctrl+end",
        "follow",
        "To the end of the conversation",
        "and follow it",
        like="follow",
    ),
    _replay_table_command(
        "toggle_all",
        "ctrl+o",
        "toggle_all",
        "Unfold or fold everything",
        "one entry: Enter, or a click",
        like="toggle_all",
    ),
    _replay_table_command(
        "toggle_plan", "ctrl+t", "toggle_plan", "Unfold or fold the plan", like="toggle_plan"
    ),
    _replay_table_command("copy", "ctrl+c", "copy", "Copy the selection", like="interrupt"),
    _replay_table_command(
        "about", "i", "tell_about", "About the recording", "what it contains, and problems in it"
    ),
    _replay_table_command("help", "f1,question_mark", "help", "Help", like="help"),
    _replay_table_command("leave", "q,escape", "app.quit", "Quit"),
)


WIDGET_COMMANDS: Final = (
    # In the prompt
    Command("send", "Send the prompt", "queues it while the agent works", "enter", where="prompt"),
    Command(
        "steer",
        "Send the prompt into the running turn",
        "if the agent supports it; otherwise queues it",
        "alt+t",
        where="prompt",
    ),
    Command(
        "new_line",
        "New line",
        "",
        "ctrl+j,shift+enter,alt+enter",
        where="prompt",
    ),
    Command(
        "cancel",
        "Close what is open, or cancel the turn",
        "your draft stays",
        "escape",
        where="prompt",
    ),
    Command(
        "leave_prompt",
        "Go to the agent's question, or to the conversation",
        "or to the recent sessions",
        "tab",
        where="prompt",
    ),
    Command("shell", "Run a command of your own", "Backspace removes its output", typed="!", where="prompt"),
    Command(
        "attach",
        "Attach a file to the prompt",
        "@file, @file:10-20, @folder/, @image.png",
        typed="@",
        where="prompt",
    ),
    Command(
        "pull_back", "Take back the last queued prompt", "to edit or delete it", "alt+up", where="prompt"
    ),
    Command(
        "edit_queue", "Go to the queued prompts", "edit, remove, or move them", "alt+down", "do('edit_queue')"
    ),
    Command(
        "walk_history",
        "Earlier prompts of this project",
        "from the first or last line",
        typed="↑ ↓",
        where="prompt",
    ),
    Command(
        "search_history",
        "Search earlier prompts",
        "of this project, or of all",
        "ctrl+r",
        "do('search_history')",
        slash="history",
    ),
    Command("queue_above", "Prompt above", "", "up", where="queue"),
    Command("queue_below", "Prompt below", "", "down", where="queue"),
    Command("queue_edit", "Back to the draft", "to change it", "enter", where="queue"),
    Command("queue_send_now", "Send it now", "it interrupts the turn", "alt+enter,ctrl+enter", where="queue"),
    Command("queue_remove", "Remove it", "doesn't send it", "delete,backspace", where="queue"),
    Command("queue_earlier", "Send it earlier", "", "alt+up,shift+up", where="queue"),
    Command("queue_later", "Send it later", "", "alt+down,shift+down", where="queue"),
    Command("history_older", "Older prompt", "", "ctrl+r,up", where="history"),
    Command("history_newer", "Newer prompt", "", "down", where="history"),
    Command("history_page_up", "A page older", "", "pageup", where="history"),
    Command("history_page_down", "A page newer", "", "pagedown", where="history"),
    Command("history_choose", "Put it into the draft", "doesn't send it", "enter,tab", where="history"),
    Command("history_projects", "All projects, or this one", "", "shift+tab", where="history"),
    Command("history_close", "Close the search", "your draft is unchanged", "escape", where="history"),
    Command("prompt_page_up", "Page up in the conversation", "", "pageup", where="prompt"),
    Command("prompt_page_down", "Page down in the conversation", "", "pagedown", where="prompt"),
    Command("edit_draft", "Open the draft in your editor", "$VISUAL or $EDITOR", "ctrl+g", where="prompt"),
    Command(
        "paste", "Paste from the clipboard", "text, or a picture", "ctrl+v,alt+v,super+v", where="prompt"
    ),
    Command(
        "open_paste",
        "Unfold a pasted text",
        "the only one, or the one at the cursor; or click it",
        "alt+o",
        where="prompt",
    ),
    Command("line_start", "Go to the line's start", "", "ctrl+a", where="prompt"),
    Command("line_end", "Go to the line's end", "", "ctrl+e", where="prompt"),
    Command("word_left", "Word back", "", "alt+b,alt+left", where="prompt"),
    Command("word_right", "Word on", "", "alt+f,alt+right", where="prompt"),
    Command("kill_line_end", "Kill to the line's end", "", "ctrl+k", where="prompt"),
    Command("kill_line_start", "Kill to the line's start", "", "ctrl+u,super+backspace", where="prompt"),
    Command("kill_to_blank", "Kill back to the space", "", "ctrl+w", where="prompt"),
    Command("kill_word_left", "Kill the previous word", "", "alt+backspace,ctrl+backspace", where="prompt"),
    Command("kill_word_right", "Kill the next word", "", "alt+d,alt+delete,ctrl+delete", where="prompt"),
    Command("yank", "Yank what you last killed or cleared", "", "ctrl+y", where="prompt"),
    Command("undo", "Undo", "", "ctrl+underscore,ctrl+z,super+z", where="prompt"),
    Command("redo", "Redo", "", "ctrl+shift+z,alt+underscore,alt+z", where="prompt"),
    Command("redraw", "Redraw the screen", "", "ctrl+l", where="prompt"),
    Command("delete_or_quit", "Delete, or quit where the prompt is empty", "", "ctrl+d", where="prompt"),
    # On the permission card, and on its full screen
    Command("answer", "Answer with that option", "these keys are fixed", typed="1-9", where="card"),
    Command(
        "answer_by_kind",
        "Allow once, allow always, reject once",
        "if an option does that; these keys are fixed",
        typed="y a n",
        where="card",
    ),
    Command("option_above", "Option above", "", "up", where="card"),
    Command("option_below", "Option below", "", "down", where="card"),
    Command("confirm", "Answer with the chosen option", "", "enter", where="card"),
    Command("review", "See the request full screen", "", "f", where="card"),
    Command("raw", "Show or hide raw input", "", "r", where="card"),
    Command(
        "reject_and_say_why",
        "Reject and say why",
        "Enter sends both; the reason goes as your next prompt",
        "w",
        where="card",
    ),
    Command("card_page_up", "Page up", "", "pageup", where="card"),
    Command("card_page_down", "Page down", "", "pagedown,space", where="card"),
    Command(
        "leave_card", "Back to the prompt", "the request stays open", "escape,tab,shift+tab", where="card"
    ),
    # On a form, or the question whether to visit a page
    Command(
        "question_answer",
        "Answer with that choice, or open the page",
        "in a form of several fields, choose",
        typed="1-9",
        where="question",
    ),
    Command("decline", "Decline", "outside of the fields; these keys are fixed", typed="0", where="question"),
    Command("next_field", "Go to the next field, or button", "", "tab", where="question"),
    Command("field_before", "Previous field, or back to the prompt", "", "shift+tab", where="question"),
    Command("send_form", "Send the form", "like Enter on the last field", "ctrl+enter", where="question"),
    Command("copy_address", "Copy the page's address", "", "c", where="question"),
    Command("leave_question", "Back to the prompt", "the question stays open", "escape", where="question"),
    Command("review_answer", "Answer with that option", "these keys are fixed", typed="1-9", where="review"),
    Command(
        "review_answer_by_kind",
        "Allow once, allow always, reject once",
        "if an option does that; these keys are fixed",
        typed="y a n",
        where="review",
    ),
    Command("review_option_next", "Next option", "", "tab", where="review"),
    Command("review_option_before", "Option before", "", "shift+tab", where="review"),
    Command("review_confirm", "Answer with the chosen option", "", "enter", where="review"),
    Command("review_raw", "Show or hide raw input", "", "r", where="review"),
    Command("review_reject", "Reject and say why", "", "w", where="review"),
    Command("review_up", "Line up", "", "up", where="review"),
    Command("review_down", "Line down", "", "down", where="review"),
    Command("review_page_up", "Page up", "", "pageup", where="review"),
    Command("review_page_down", "Page down", "", "pagedown,space", where="review"),
    Command("review_top", "To the beginning", "", "home", where="review"),
    Command("review_end", "To the end", "", "end", where="review"),
    Command("review_next_change", "Next change", "", "j", where="review"),
    Command("review_change_before", "Change before", "", "k", where="review"),
    Command("review_columns", "One column or two", "", "s", where="review"),
    Command("review_context", "The whole file, or the changes", "", "c", where="review"),
    Command("leave_review", "Back to the card", "", "escape,f", where="review"),
    # In the conversation
    Command("entry_above", "Entry above", "", "up", where="conversation"),
    Command("entry_below", "Entry below", "", "down", where="conversation"),
    Command("toggle_entry", "Fold or unfold an entry", "", "space,enter", where="conversation"),
    Command("page_up", "Page up", "", "pageup", where="conversation"),
    Command("page_down", "Page down", "", "pagedown", where="conversation"),
    Command("top", "Go to the beginning", "", "home", where="conversation"),
    Command("end", "Go to the end", "", "end", where="conversation"),
    Command("select_all", "Select everything", "", "ctrl+a", where="conversation"),
    Command(
        "edit_location",
        "Open a tool call's file in your editor",
        "at its line",
        "ctrl+e",
        "do('edit_location')",
        "conversation",
    ),
    Command(
        "save_attached",
        "Save what the agent attached",
        "",
        "ctrl+s,ctrl+y",
        "do('save_attached')",
        "conversation",
    ),
    Command(
        "stop_one",
        "Stop one tool call, command, or subagent",
        "the turn goes on",
        "delete",
        "do('stop_one')",
        "conversation",
    ),
    Command(
        "leave_subagent",
        "Back from a subagent",
        "Enter on its entry shows what it says",
        "escape",
        where="conversation",
    ),
    # In the plan, and while searching
    Command("fold_plan", "Fold or unfold the plan", "", "space,enter", where="plan"),
    Command("plan_up", "Line up", "", "up", where="plan"),
    Command("plan_down", "Line down", "", "down", where="plan"),
    Command("plan_page_up", "Page up", "", "pageup", where="plan"),
    Command("plan_page_down", "Page down", "", "pagedown", where="plan"),
    # In an empty session
    Command("recent_above", "Session above", "", "up", where="welcome"),
    Command("recent_below", "Session below", "", "down", where="welcome"),
    Command("recent_open", "Open the session", "1-9 open one by its number", "enter", where="welcome"),
    Command("next_match", "Next match", "", "down,enter", where="find"),
    Command("previous_match", "Previous match", "", "up,shift+enter", where="find"),
    Command("end_search", "Close the search", "", "escape", where="find"),
    # In a terminal
    Command(
        "leave_terminal",
        "Take the keyboard back",
        "all other keys go to the program",
        "ctrl+right_square_bracket",
        where="terminal",
    ),
    # In the sidebar
    Command("sidebar_up", "Row above", "", "up", where="sidebar"),
    Command("sidebar_down", "Row below", "", "down", where="sidebar"),
    Command("sidebar_first", "First row", "", "home", where="sidebar"),
    Command("sidebar_last", "Last row", "", "end", where="sidebar"),
    Command("sidebar_page_up", "Page up", "", "pageup", where="sidebar"),
    Command("sidebar_page_down", "Page down", "", "pagedown", where="sidebar"),
    Command(
        "sidebar_choose",
        "Fold a section, review a file, or show a subagent",
        "",
        "enter,space",
        where="sidebar",
    ),
)


def _command(where: Place, id_: str, keys: str, title: str, about: str = "", like: str = "") -> Command:
    return Command(f"inspect_{id_}", title, about, keys, where=where, like=like)


INSPECTOR_COMMANDS: Final = (
    _command("inspector", "find", "slash,ctrl+f", "Find text", "in the frames shown", "find"),
    _command("inspector", "next", "n", "Next match"),
    _command("inspector", "previous", "N", "Previous match"),
    _command(
        "inspector", "filter", "f", "Show only some frames", 'method:prompt -kind:chunk is:error "words"'
    ),
    _command("inspector", "choose", "F", "Choose what to show", "from its methods, kinds, and sessions"),
    _command("inspector", "alike", "equals_sign", "Show only frames like this one"),
    _command("inspector", "unlike", "minus", "Hide frames like this one"),
    _command("inspector", "unanswered", "o", "Only unanswered requests, or everything"),
    _command("inspector", "errors", "e", "Only errors, or everything"),
    _command("inspector", "lint", "l", "Only broken rules, or everything", "the rules that `check` uses"),
    _command("inspector", "direction", "d", "One direction, or both", "the agent's, the client's, stderr"),
    _command("inspector", "all", "x", "Show everything"),
    _command("inspector", "go_to", "g", "Go to a time or a number", "120, 12.5s or 1:05"),
    _command("inspector", "partner", "p", "Go to the answer, or to the request"),
    _command("inspector", "copy", "c", "Copy the frame", "as one line"),
    _command("inspector", "copy_pretty", "C", "Copy the frame, indented"),
    _command("inspector", "save", "w", "Write the frame to a file"),
    _command("inspector", "save_all", "W", "Write all frames shown to a file", "a recording"),
    _command("inspector", "raw", "R", "Show and keep secrets, or mask them", "in copies and files too"),
    _command("inspector", "other", "tab,shift+tab", "To the list, or to the frame"),
    _command("inspector", "leave", "escape,q", "Close"),
    _command("inspector", "help", "f1,question_mark", "Help", like="help"),
    _command("frames", "up", "up,k", "Frame above"),
    _command("frames", "down", "down,j", "Frame below"),
    _command("frames", "page_up", "pageup", "Page up"),
    _command("frames", "page_down", "pagedown,space", "Page down"),
    _command("frames", "top", "home", "To the beginning"),
    _command("frames", "end", "end", "To the end", "and follow it"),
    _command("frames", "open", "enter,right", "Into the frame"),
    _command("frame", "line_up", "up,k", "Line up"),
    _command("frame", "line_down", "down,j", "Line down"),
    _command("frame", "lines_up", "pageup", "Page up"),
    _command("frame", "lines_down", "pagedown", "Page down"),
    _command("frame", "first_line", "home", "To the beginning"),
    _command("frame", "last_line", "end", "To the end"),
    _command("frame", "fold", "left", "Fold, or go to its parent"),
    _command("frame", "unfold", "right", "Unfold"),
    _command("frame", "turn", "enter,space", "Fold or unfold"),
    _command("frame", "fold_all", "z", "Fold or unfold everything"),
)


OURS: Final = "acp:"
"""Before the name of a slash command it means ours, whatever the agent's are called."""

COMMANDS: Final = (
    *WIDGET_COMMANDS,
    *INSPECTOR_COMMANDS,
    *REPLAY_COMMANDS,
    # With a session
    Command("next_mode", "Next agent mode", "if it has modes", "shift+tab", "do('next_mode')"),
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
        "if the agent has one",
        "ctrl+t",
        "do('toggle_plan')",
        has_priority=True,
    ),
    Command(
        "sidebar",
        "Show the sidebar, go to it, hide it",
        "plan, changed files, session details",
        "alt+s",
        "do('turn_sidebar')",
        has_priority=True,
        slash="sidebar",
    ),
    Command(
        "choose_option",
        "Change a setting of the session",
        "mode, model, and what else the agent offers",
        "f2",
        "do('choose_option')",
        has_priority=True,
        slash="options",
    ),
    Command(
        "choose_model",
        "Change the model",
        "if the agent offers several",
        action="do('choose_value', 'model')",
        slash="model",
    ),
    Command(
        "choose_mode",
        "Change the mode",
        "if the agent has modes",
        action="do('choose_value', 'mode')",
        slash="mode",
    ),
    Command(
        "choose_session",
        "Open, rename, pin, archive, delete or begin a session",
        "those of the agent, and those that were recorded",
        "f3",
        "do('choose_session')",
        has_priority=True,
        slash="sessions",
    ),
    Command(
        "rename_session",
        "Rename the session",
        "in its agent too, where that takes titles",
        action="do('rename_session')",
        slash="rename",
        slash_argument="name",
    ),
    Command(
        "show_agent",
        "Show what this agent can do",
        "with its command and log",
        "f4",
        "do('show_agent')",
        has_priority=True,
        slash="agent",
    ),
    Command(
        "show_mcp",
        "Show the session's MCP servers",
        "and which were skipped, and why",
        action="do('show_mcp')",
        slash="mcp",
    ),
    Command(
        "show_changes",
        "Show what has changed in the workspace",
        "since the start, by anyone; review and revert",
        "f5",
        "do('show_changes')",
        has_priority=True,
        slash="changes",
    ),
    Command(
        "undo_turn",
        "Undo a turn",
        "review the changes since a prompt, and revert them",
        action="do('undo_turn')",
        slash="undo",
    ),
    Command(
        "begin_session",
        "Start another session",
        "with this agent, in a new tab",
        "ctrl+n",
        "do('begin_session')",
        has_priority=True,
        slash="new",
    ),
    Command(
        "fork_session",
        "Fork the session",
        "continue in a new tab; this session stays as it is",
        action="do('fork_session')",
        slash="fork",
    ),
    Command(
        "hand_over",
        "Continue with another agent",
        "in a new tab, with a draft that sums up this session",
        action="do('hand_over')",
        slash="handover",
    ),
    Command(
        "begin_in_worktree",
        "Start a session in a new git worktree",
        "of this folder, in a new tab",
        action="do('begin_in_worktree')",
        slash="worktree",
        slash_argument="name",
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
        "Go to the previous tab",
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
        "or one that failed or is done",
        "alt+n",
        "app.next_needing",
        has_priority=True,
        works_above_questions=True,
    ),
    Command(
        "board",
        "Show all tabs",
        "their titles and states, and what runs in hosts",
        "f10",
        "app.show_board",
        has_priority=True,
        slash="tabs",
    ),
    Command(
        "close_tab",
        "Close the tab",
        "and its session; the last tab gets a new session",
        "alt+w",
        "app.close_tab",
        has_priority=True,
        works_above_questions=True,
        slash="close",
    ),
    Command(
        "detach",
        "Detach from the session",
        "it keeps running in its host; acp-tui attach reopens it",
        "alt+q",
        "app.detach",
        has_priority=True,
        works_above_questions=True,
        slash="detach",
    ),
    Command(
        "restart",
        "Restart the agent",
        "and continue the session, as far as the agent remembers it",
        "alt+r",
        "do('restart')",
        has_priority=True,
        works_above_questions=True,
        slash="restart",
    ),
    Command(
        "take_over",
        "Type into a running command",
        "passwords, questions, a pager",
        "f6",
        "do('take_over')",
        has_priority=True,
    ),
    Command(
        "interrupt_terminal",
        "Press Ctrl+C in a running command",
        "as if typed there",
        "f7",
        "do('interrupt_terminal')",
        has_priority=True,
    ),
    Command(
        "end_terminal",
        "End a running command",
        "the agent sees that it ended",
        "f8",
        "do('end_terminal')",
        has_priority=True,
    ),
    Command(
        "inspect",
        "Inspect the messages between acp-tui and the agent",
        "every frame, and broken rules",
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
        "from the agent's last reply that has any",
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
        "Clear the pages you opened for the agent",
        "if the agent doesn't report that they are done",
        action="do('dismiss_visits')",
    ),
    Command("log_out", "Log out of the agent", "if the agent offers it", action="do('log_out')"),
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
        "and see problems in them",
        "f12,ctrl+comma",
        "app.show_settings",
        has_priority=True,
        slash="settings",
    ),
    Command(
        "help",
        "Help for where you are",
        "? outside the prompt",
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
        "previews each as you move",
        action="app.choose_theme",
        where="app",
        slash="theme",
    ),
    Command(
        "screenshot",
        "Save a picture of the screen",
        "an .svg in the folder acp-tui was started in",
        action="app.screenshot",
        where="app",
    ),
    Command(
        "quit",
        "Quit",
        "stops the agent and everything it runs",
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


_WIDGETS_OWN: Final = {command.id: command for command in (*WIDGET_COMMANDS, *INSPECTOR_COMMANDS)}


def bindings_of(has_priority: bool = False, /, **actions: str) -> list[BindingType]:
    """The bindings of a widget: its action for each command of its own, by the command's id."""
    return [
        Binding(command.keys, action, command.title, show=False, priority=has_priority, id=id_)
        for id_, action in actions.items()
        for command in (_WIDGETS_OWN[id_],)
    ]


def bindings() -> list[Binding]:
    """The bindings of the session screen. What can be typed is bound by the keymap, outside of the prompt only."""
    return [
        Binding(keys, command.action, command.title, show=False, priority=command.has_priority, id=command.id)
        for command in COMMANDS
        if command.where in ("session", "app") and (keys := _untyped(command))
    ]


def _untyped(command: Command) -> str:
    return ",".join(key for key in command.keys.split(",") if key != "question_mark")
