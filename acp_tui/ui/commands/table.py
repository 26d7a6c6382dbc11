"""The table of everything the user can do by key. Bindings, palette, help, and `[keys]` are made from it."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Final

from textual.binding import Binding, BindingType

from acp_tui.ui.commands.command import Command, Place, own

try:
    from acp_tui.workbench.key_table import INSPECTOR
except ModuleNotFoundError as error:
    if error.name != "acp_tui.workbench":
        raise
    INSPECTOR = ()


_anywhere: Final = partial(Command, has_priority=True)
_above: Final = partial(Command, has_priority=True, works_above_questions=True)


def _replay(id_: str, keys: str, action: str, title: str, about: str = "") -> Command:
    return Command(id_, keys, None, title, about, "replay", screen_action=action)


# One row per command; with one argument per line, the table would be hard to read.
# fmt: off
REPLAY_COMMANDS: Final = (
    _replay("replay_play", "space", "toggle_playing", "Play or pause"),
    _replay("replay_next", "right", "step(1)", "Next event"),
    _replay("replay_previous", "left", "step(-1)", "Previous event"),
    _replay("replay_prompt_below", "right_square_bracket", "to_prompt(1)", "Next prompt"),
    _replay("replay_prompt_above", "left_square_bracket", "to_prompt(-1)", "Previous prompt"),
    _replay("replay_faster", "plus,equals_sign", "change_speed(1)", "Faster"),
    _replay("replay_slower", "minus", "change_speed(-1)", "Slower"),
    _replay("replay_start", "home", "to_start", "To the beginning"),
    _replay("replay_end", "end", "to_end", "To the end"),
    _replay("replay_next_session", "tab", "next_session(1)", "Next session", "of the recording"),
    _replay("replay_previous_session", "shift+tab", "next_session(-1)", "Previous session"),
    _replay("replay_about", "i", "tell_about", "About the recording", "what it contains, and problems in it"),
    _replay("replay_leave", "q,escape", "app.quit", "Quit"),
    _replay("find", "f9", "find", "Find in the conversation"),
    _replay("follow", "ctrl+end", "follow", "Go to the end of the conversation", "and follow it"),
    _replay("toggle_all", "ctrl+o", "toggle_all", "Unfold or fold everything"),
    _replay("toggle_plan", "ctrl+t", "toggle_plan", "Unfold or fold the plan"),
    _replay("interrupt", "ctrl+c", "copy", "Copy the selection"),
)

def _of_a_tab() -> tuple[Command, ...]:
    """A function: in a module's own lambdas, mypy can't tell the types of decorated methods of what imports it."""
    return (
        Command("edit_queue", "alt+down", lambda do, _: do.edit_queue(), "Go to the queued prompts",
                "edit, remove, or move them", when=lambda do: do.has_queued),
        Command("search_history", "ctrl+r", lambda do, _: do.search_history(), "Search earlier prompts",
                "of this project, or of all", has_priority=True, typed="history", keys_wait=True),
        Command("next_mode", "shift+tab", lambda do, _: do.tab.agent.next_mode(), "Next agent mode",
                "skips those in which it asks less", where="prompt", when=lambda do: do.offers("mode")),
        _anywhere("find", "f9", lambda do, words: do.find(words), "Find in the conversation",
                  typed="find [WORDS]", when=lambda do: do.was_said, keys_wait=True),
        _anywhere("send_again", "alt+g", lambda do, _: do.send_again(), "Send the prompt again whose turn failed",
                  "once the agent's time for that has come", typed="again", when=lambda do: do.has_failed),
        Command("send_later", "", lambda do, words: do.send_later(words), "Send a prompt later",
                "in 20m, at 14:30, at reset, or every 10m", typed="later WHEN PROMPT [until COMMAND]",
                when=lambda do: do.tab.session is not None),
        Command("prompt_above", "ctrl+up", lambda do, _: do.in_view(lambda view: view.action_to_prompt(-1)),
                "Go to the prompt above", when=lambda do: do.was_said),
        Command("prompt_below", "ctrl+down", lambda do, _: do.in_view(lambda view: view.action_to_prompt(1)),
                "Go to the prompt below", when=lambda do: do.was_said),
        Command("go_to_start", "ctrl+home", lambda do, _: do.in_view(lambda view: view.action_go_to_end(-1)),
                "Go to the beginning of the conversation", when=lambda do: do.was_said),
        Command("follow", "ctrl+end", lambda do, _: do.in_view(lambda view: view.action_follow()),
                "Go to the end of the conversation", "and follow it", when=lambda do: do.was_said),
        _anywhere("toggle_all", "ctrl+o", lambda do, _: do.in_view(lambda view: view.toggle_all()),
                  "Unfold or fold everything", "diffs, output, thoughts, input", when=lambda do: do.was_said),
        _anywhere("toggle_plan", "ctrl+t", lambda do, _: do.toggle_plan(), "Unfold or fold the plan",
                  "if the agent has one", when=lambda do: bool(do.said.plans)),
        _anywhere("sidebar", "alt+s", lambda do, _: do.tab.sidebar.turn(), "Show the sidebar, go to it, hide it",
                  "plan, changed files, session details", typed="sidebar", when=lambda do: do.tab.session is not None),
        _anywhere("choose_option", "f2", lambda do, words: do.tab.agent.choose_option(words),
                  "Change mode, model, or another option", "what the agent offers for the session", typed="options",
                  shortcuts=(("mode [NAME]", "Change the mode; /mode NAME does it at once"),
                             ("model [NAME]", "Change the model; /model NAME does it at once")),
                  when=lambda do: bool(do.said.options)),
        _anywhere("choose_session", "f3", lambda do, _: do.choose_session(), "Sessions",
                  "that need you, work, are open, hosted, or earlier: answer, open, rename, pin, remove one",
                  typed="sessions", aliases="resume", keys_wait=True),
        Command("rename_session", "", lambda do, name: do.rename_session(name), "Rename the session",
                "in the agent too, if it supports titles", typed="rename [NAME]",
                when=lambda do: do.tab.session is not None),
        _anywhere("show_agent", "f4", lambda do, _: do.tab.agent.show_agent(), "Show what this agent can do",
                  "with its command and log", typed="agent", when=lambda do: not do.tab.link.is_lost),
        Command("show_mcp", "", lambda do, _: do.tab.agent.show_mcp(), "Show the session's MCP servers",
                "and which were skipped, and why", typed="mcp", when=lambda do: not do.tab.link.is_lost),
        _anywhere("show_changes", "f5", lambda do, _: do.show_changes(), "Show what has changed in the workspace",
                  "since the start, by any program; review and revert", typed="changes",
                  aliases="diff", when=lambda do: do.tab.changes is not None),
        _anywhere("begin_session", "ctrl+n", lambda do, _: do.begin_session(), "Start another session",
                  "with this agent, in a new tab", typed="new", aliases="clear", when=lambda do: do.tab.link.can_start,
                  keys_wait=True),
        Command("go_back", "", lambda do, shortcut: do.go_back(shortcut), "Go back to a prompt",
                "edit, fork, hand over, undo; Esc Esc, too",
                shortcuts=(
                    ("undo", "Go back to a prompt: put the files back"),
                    ("fork", "Go back to a prompt: go on in a fork"),
                    ("handover", "Go back to a prompt: go on with another agent"),
                ),
                when=lambda do: do.was_said),
        Command("begin_in_worktree", "", lambda do, name: do.begin_in_worktree(name),
                "Start a session in a new git worktree", "in a new tab", typed="worktree [NAME]",
                when=lambda do: do.tab.link.can_start),
        Command("several", "", lambda do, prompt: do.several.begin(prompt), "Send a prompt to several agents",
                "each in a git worktree of its own", typed="several PROMPT", when=lambda do: do.tab.link.can_start),
        Command("compare", "", lambda do, line: do.several.compare(line), "Compare the worktrees",
                "what changed, and how your command ends", typed="compare [COMMAND]",
                when=lambda do: do.has_tabs),
        _anywhere("choose_agent", "alt+a", lambda do, _: do.tab.app.choose_agent(do.tab), "Start another agent",
                  "in a new tab", typed="agents"),
        _above("next_tab", "ctrl+pagedown", lambda do, _: do.tab.app.tabs.step(1), "Go to the next tab",
               when=lambda do: do.has_tabs, keys_wait=True),
        _above("previous_tab", "ctrl+pageup", lambda do, _: do.tab.app.tabs.step(-1), "Go to the previous tab",
               when=lambda do: do.has_tabs, keys_wait=True),
        _above("go_to_tab", ",".join(f"alt+{number}" for number in range(1, 10)),
               lambda do, number: do.tab.app.tabs.go_to_number(int(number)), "Go to a tab by its number",
               when=lambda do: False, keys_wait=True, is_numbered=True),
        _above("next_needing", "alt+n", lambda do, _: do.next_needing(), "Go to the next tab that needs you",
               "or one that failed or is done", when=lambda do: do.has_tabs, keys_wait=True),
        _above("close_tab", "alt+w", lambda do, _: do.tab.app.run_worker(do.tab.app.close_tab(do.tab)), "Close the tab",
               "and its session; the last tab gets a new session", typed="close"),
        _above("detach", "alt+q", lambda do, _: do.tab.app.detach(do.tab), "Detach from the session",
               "it keeps running in its host; acp-tui attach reopens it", typed="detach",
               when=lambda do: do.tab.link.is_hosted or do.tab.app.can_leave),
        Command("move_into_host", "", lambda do, _: do.tab.app.move_into_host(do.tab), "Move the sessions into a host",
                "and attach to this one", typed="host",
                when=lambda do: do.tab.app.can_leave and not do.tab.link.is_hosted),
        _above("restart", "alt+r", lambda do, _: do.restart(), "Restart the agent",
               "and continue the session from what it remembers", typed="restart",
               when=lambda do: do.tab.link.can_start),
        _anywhere("take_over", "f6", lambda do, _: do.terminals.take_over(), "Type into a running command",
                  "passwords, questions, a pager", when=lambda do: do.runs_command),
        _anywhere("end_terminal", "f8", lambda do, _: do.terminals.stop(), "Stop a running command",
                  "as Ctrl+C does; pressed again, it ends it", when=lambda do: do.runs_command),
        _anywhere("inspect", "alt+i", lambda do, _: do.tab.app.inspect(do.tab),
                  "Inspect the messages between acp-tui and the agent", "every frame, and broken rules",
                  typed="inspect", when=lambda do: do.tab.link.starting is not None or not do.tab.link.is_lost),
        Command("copy_reply", "", lambda do, _: do.entries.copy_reply(), "Copy the agent's last reply",
                "or the message at the cursor", typed="copy", when=lambda do: bool(do.said.last_reply)),
        Command("export", "", lambda do, file: do.entries.export(file), "Write the conversation to a file",
                ".md or .jsonl", typed="export [FILE]", when=lambda do: do.was_said),
        Command("dismiss_visits", "", lambda do, _: do.dismiss_visits(), "Clear the pages you opened for the agent",
                "once you're done there", when=lambda do: bool(do.said.visits)),
        Command("log_in", "", lambda do, _: do.tab.agent.log_in_again(), "Log in to the agent", "in one of its ways",
                typed="login", when=lambda do: do.has_agent(lambda agent: agent.auth_methods)),
        Command("log_out", "", lambda do, _: do.tab.agent.log_out(), "Log out of the agent", "if the agent offers it",
                typed="logout", when=lambda do: do.has_agent(lambda agent: agent.capabilities.logout)),
        Command("choose_provider", "", lambda do, _: do.choose_provider(), "Choose who serves the models",
                "if the agent offers it", typed="providers",
                when=lambda do: do.has_agent(lambda agent: agent.capabilities.providers)),
        _above("interrupt", "ctrl+c", lambda do, _: do.interrupt(),
               "Copy, clear the draft, cancel the turn, stop a command, quit",
               "the first that applies; it quits when pressed twice",
               when=lambda do: do.was_said),
        _anywhere("settings", "f12", lambda do, _: do.tab.app.show_settings(), "Change the settings",
                  "and see problems in them", typed="settings", aliases="config"),
        # In the conversation
        Command("edit_location", "ctrl+e", lambda do, _: do.entries.edit_location(),
                "Open a tool call's file in your editor", "at its line", where="conversation",
                when=lambda do: do.has_locations),
        Command("save_attached", "ctrl+s", lambda do, _: do.entries.save_attached(),
                "Save what the agent attached", where="conversation", when=lambda do: do.has_attached),
        Command("stop_one", "delete", lambda do, _: do.entries.stop_one(), "Stop one tool call, command, or subagent",
                "the turn continues", where="conversation", when=lambda do: do.can_stop),
        # Without default keys: for the vim preset, or for the user's own keys
        Command("next_match_here", "", lambda do, _: do.in_view(lambda view: view.action_find(1)), "Next match",
                "while you search", where="conversation"),
        Command("previous_match_here", "", lambda do, _: do.in_view(lambda view: view.action_find(-1)),
                "Previous match", "while you search", where="conversation"),
    )


COMMANDS: Final = (
    # In the prompt
    own("prompt", "send", "enter", "send", "Send the prompt", "queues it while the agent works"),
    own("prompt", "steer", "alt+t", "send(True)", "Send the prompt into the running turn",
        "if the agent supports it; otherwise queues it"),
    own("prompt", "new_line", "ctrl+j,shift+enter,alt+enter", "newline", "New line",
        "with Enter only if the terminal has Kitty's keyboard protocol (in tmux: set -s extended-keys always)"),
    own("prompt", "cancel", "escape", "cancel", "Close what is open, or cancel the turn",
        "your draft stays"),
    own("prompt", "leave_prompt", "tab", "screen.leave_prompt", "Go to the agent's question, or to the conversation",
        "or to the recent sessions"),
    own("prompt", "shell", "", "", "Run a command of your own", "Backspace removes its output", fixed_characters="!"),
    own("prompt", "attach", "", "", "Attach a file to the prompt", "@file, @file:10-20, @folder/, @image.png",
        fixed_characters="@"),
    own("prompt", "pull_back", "alt+up", "screen.pull_back", "Take back the last queued prompt",
        "to edit or delete it"),
    own("prompt", "walk_history", "", "", "Earlier prompts of this project", "from the first or last line",
        fixed_characters="↑ ↓"),
    own("queue", "list_choose", "enter", "edit", "Back to the draft", "to change it"),
    own("queue", "queue_send_now", "alt+enter,alt+t", "send_now", "Send it now", "it interrupts the turn"),
    own("queue", "queue_remove", "delete,backspace", "remove", "Remove it", "doesn't send it"),
    own("queue", "queue_earlier", "alt+up", "send_earlier(-1)", "Send it earlier"),
    own("queue", "queue_later", "alt+down", "send_earlier(1)", "Send it later"),
    own("queue", "dialog_close", "escape,ctrl+c", "close", "Back to the prompt"),
    own("history", "search_history", "ctrl+r", "move(-1)", "Older prompt", has_priority=True),
    own("history", "history_choose", "enter,tab", "choose", "Put it into the draft", "doesn't send it",
        has_priority=True),
    own("history", "history_projects", "shift+tab", "toggle_all", "All projects, or this one", has_priority=True),
    own("history", "dialog_close", "escape,ctrl+c", "close", "Close the search", "your draft is unchanged"),
    own("prompt", "edit_draft", "ctrl+g", "edit_draft", "Open the draft in your editor",
        "$VISUAL, $EDITOR, or vi"),
    own("prompt", "paste", "ctrl+v,alt+v", "screen.paste", "Paste from the clipboard", "text, or a picture"),
    own("prompt", "open_paste", "alt+o", "open_paste", "Unfold a pasted text, or fold it",
        "the only one, or the one at the cursor; or click it"),
    own("prompt", "line_start", "ctrl+a", "line_start", "Go to the line's start"),
    own("prompt", "line_end", "ctrl+e", "line_end", "Go to the line's end"),
    own("prompt", "word_left", "alt+b,alt+left", "cursor_word_left", "Previous word"),
    own("prompt", "word_right", "alt+f,alt+right", "cursor_word_right", "Next word"),
    own("prompt", "kill_line_end", "ctrl+k", "kill_line_end", "Kill to the line's end"),
    own("prompt", "kill_line_start", "ctrl+u,super+backspace", "kill_line_start", "Kill to the line's start"),
    own("prompt", "kill_to_blank", "ctrl+w", "kill_blanks_left", "Kill back to the space"),
    own("prompt", "kill_word_left", "alt+backspace,ctrl+backspace", "kill_word_left", "Kill the previous word"),
    own("prompt", "kill_word_right", "alt+d,ctrl+delete", "kill_word_right", "Kill the next word"),
    own("prompt", "undo", "ctrl+z,super+z", "undo", "Undo"),
    own("prompt", "redo", "ctrl+y,ctrl+shift+z", "redo", "Redo, or yank what you killed"),
    own("prompt", "redraw", "ctrl+l", "redraw", "Redraw the screen"),
    own("prompt", "delete_or_quit", "ctrl+d", "delete_right_or_quit", "Delete, or quit if the prompt is empty"),
    # On the permission card, and on its full screen
    own("card", "answer", "", "answer('{}')", "Answer with that option", "these keys are fixed",
        fixed_characters="1-9"),
    own("card", "answer_by_kind", "", "answer('{}')", "Allow once, allow always, reject once",
        "if an option does that; these keys are fixed", fixed_characters="y a n"),
    own("card", "field_before", "shift+tab", "choose_before", "Go to the conversation",
        "on the full screen, to the option before"),
    own("card", "next_field", "tab", "choose(1)", "Next option"),
    own("card", "confirm", "enter", "confirm", "Answer with what is chosen"),
    own("card", "review", "f", "review", "See the request full screen"),
    own("card", "raw", "r", "toggle_raw", "Show or hide raw input"),
    own("card", "reject_and_say_why", "w", "reject_and_say_why", "Reject and say why",
        "Enter sends both; the reason goes as your next prompt"),
    own("card", "leave_question", "escape", "leave", "Leave the question open", "back to the prompt"),
    # On a form, or the question whether to open a page
    own("question", "answer", "", "number({})", "Answer with that choice, or open the page",
        "in a form of several fields, choose", fixed_characters="1-9"),
    own("question", "decline", "", "decline", "Decline", "outside of the fields; these keys are fixed",
        fixed_characters="0"),
    own("question", "next_field", "tab", "go(1)", "Go to the next field, or button"),
    own("question", "field_before", "shift+tab", "go(-1)", "Previous field, or the conversation"),
    own("question", "confirm", "enter", "confirm", "Answer with what is chosen"),
    own("question", "send_form", "ctrl+s", "send", "Send the form", "like Enter on the last field"),
    own("question", "copy", "c", "copy", "Copy it", "the page's address"),
    own("question", "leave_question", "escape", "leave", "Leave the question open", "back to the prompt"),
    own("choices", "choice_choose", "space", "choose", "Choose it, or not"),
    own("choices", "confirm", "enter", "finish", "Choose and continue"),
    own("choices", "choice_clear", "backspace,delete", "clear", "Choose nothing"),
    own("choices", "answer", "", "number({})", "Choose that one", fixed_characters="1-9"),
    own("review", "leave_review", "escape,f,q", "dismiss", "Back to the card"),
    # In the conversation
    own("conversation", "toggle_entry", "space,enter", "toggle_entry", "Fold or unfold an entry, or the plan"),
    own("conversation", "select_all", "ctrl+a", "select_all", "Select everything"),
    own("conversation", "focus_prompt", "escape", "leave_subagent", "Back from a subagent",
        "Enter on its entry shows what it says"),
    # In the plan, and while searching
    own("plan", "toggle_entry", "space,enter", "toggle_plan", "Fold or unfold an entry, or the plan"),
    # In an empty session
    own("welcome", "list_choose", "enter", "choose", "Open the session"),
    own("welcome", "answer", "", "number({})", "Open that session", fixed_characters="1-9"),
    own("find", "next_match", "down,enter", "step(1)", "Next match", has_priority=True),
    own("find", "previous_match", "up,shift+enter", "step(-1)", "Previous match", has_priority=True),
    own("find", "dialog_close", "escape,ctrl+c", "close", "Close the search"),
    # In a terminal
    own("terminal", "leave_terminal", "ctrl+right_square_bracket", "", "Take the keyboard back",
        "all other keys go to the program"),
    # In the sidebar
    own("sidebar", "toggle_entry", "space,enter", "choose", "Fold a section, review a file, or show a subagent"),
    # In dialogs
    own("dialog", "dialog_close", "escape,ctrl+c", "close", "Close it, or go back"),
    own("page", "page_close", "q", "close", "Close it"),
    own("list", "list_choose", "enter", "choose", "Choose"),
    own("list", "dialog_close", "escape,ctrl+c", "clear_search", "Clear the search, or close it"),
    own("ask", "ask_yes", "", "answer(True)", "Yes", fixed_characters="y"),
    own("ask", "ask_no", "", "answer(False)", "No", fixed_characters="n"),
    own("ask", "confirm", "enter", "press_button", "Answer with what is chosen"),
    own("ask", "ask_other", "left,right", "app.focus_next", "Other answer"),
    own("sessions", "sessions_answer", "tab", "answer", "Go to the question"),
    own("sessions", "close_tab", "alt+w", "close_tab", "Close the tab", has_priority=True),
    own("sessions", "sessions_up", "alt+up", "move(-1)", "Move the tab up", has_priority=True),
    own("sessions", "sessions_down", "alt+down", "move(1)", "Move the tab down", has_priority=True),
    own("sessions", "begin_session", "ctrl+n", "new", "New session", has_priority=True),
    own("sessions", "sessions_rename", "ctrl+t", "change('rename')", "Rename it", has_priority=True),
    own("sessions", "sessions_pin", "ctrl+o", "change('pin')", "Pin or unpin it", has_priority=True),
    own("sessions", "sessions_remove", "ctrl+x", "change('remove')", "Remove it from the list, or bring it back",
        has_priority=True),
    own("sessions", "sessions_folders", "ctrl+f", "switch_folders", "All projects, or this one", has_priority=True),
    own("sessions", "reload", "f5", "retry", "Read it again"),
    own("prompts", "next_field", "tab", "choose(1)", "Next way to go on", has_priority=True),
    own("prompts", "field_before", "shift+tab", "choose(-1)", "Way before", has_priority=True),
    own("agents", "answer", "", "number({})", "Choose by its number", fixed_characters="1-9"),
    own("agents", "reload", "f5", "update", "Read it again", "fetches the registry"),
    own("agents", "agents_copy", "ctrl+y", "copy", "Copy the command"),
    own("agents", "agents_worktree", "tab", "switch_worktree", "In a worktree, or here", has_priority=True),
    own("several", "choice_choose", "space", "count(1)", "Choose it", "once more each time"),
    own("several", "choice_clear", "backspace,delete", "count(-1)", "Don't choose it", "once fewer each time"),
    own("comparison", "show_changes", "f5", "review", "Review the changes"),
    own("comparison", "comparison_choose", "ctrl+o", "choose", "Choose one, and decide on the others",
        "copy its changes, keep or delete it"),
    own("agent", "page_close", "q", "close", "Close it"),
    own("agent", "copy", "c", "copy", "Copy it", "as text"),
    own("agent", "agent_forget", "f", "forget", "Forget what may be done without asking"),
    own("changes", "revert", "x", "revert", "Revert the hunk or file at the cursor"),
    own("changes", "undo_revert", "u", "undo", "Undo the last revert"),
    own("changes", "changes_copy_back", "b", "copy_back", "Copy the file from the worktree",
        "to the folder that the worktree came from"),
    own("changes", "reload", "f5", "rescan", "Read it again"),
    own("diff", "revert", "x", "revert_hunk", "Revert the hunk or file at the cursor"),
    own("diff", "revert_file", "X", "revert_file", "Revert the whole file"),
    own("diff", "undo_revert", "u", "undo", "Undo the last revert"),
    own("diff", "diff_earlier", "o", "toggle_earlier", "What was shown before, or the current state"),
    own("diff", "reload", "f5", "reload", "Read it again"),
    own("diff", "diff_edit", "e", "edit", "Open it in the editor"),
    own("settings", "setting_reset", "ctrl+r", "reset", "Use the default", has_priority=True),
    own("settings", "settings_file", "ctrl+o", "open_file", "Open the file in the editor", has_priority=True),
    own("settings", "settings_notes", "ctrl+n", "show_notes", "Show the problems", has_priority=True),
    own("setting", "setting_save", "ctrl+s,alt+enter", "accept", "Write it", has_priority=True),
    own("setting", "setting_reset", "ctrl+r", "reset", "Use the default", has_priority=True),
    # Where there is more than fits: these come last, since a key's own meaning in a place goes first
    own("reading", "next_change", "j", "go_to_change(1)", "Next change"),
    own("reading", "previous_change", "k", "go_to_change(-1)", "Previous change"),
    own("reading", "next_file", "right_square_bracket", "go_to_file(1)", "Next file", "then the next request"),
    own("reading", "previous_file", "left_square_bracket", "go_to_file(-1)", "Previous file", "then another request"),
    own("reading", "diff_columns", "s", "toggle_columns", "One column or two"),
    own("reading", "diff_context", "c", "toggle_context", "The whole file, or the changes"),
    own("reading", "comment", "m", "comment", "Comment on lines of a diff, for your next prompt",
        "first it selects a line"),
    own("reading", "select_up", "shift+up", "select(-1)", "Select the line above, too"),
    own("reading", "select_down", "shift+down", "select(1)", "Select the line below, too"),
    own("reading", "read_on", "space", "page(1)", "Page down"),
    own("moving", "move_up", "up", "move(-1)", "Move or scroll up"),
    own("moving", "move_down", "down", "move(1)", "Move or scroll down"),
    own("moving", "page_up", "pageup", "page(-1)", "Scroll a page up"),
    own("moving", "page_down", "pagedown", "page(1)", "Scroll a page down"),
    own("moving", "to_start", "home,ctrl+home", "go_to_end(-1)", "To the beginning"),
    own("moving", "to_end", "end,ctrl+end", "go_to_end(1)", "To the end"),
    *INSPECTOR,
    *REPLAY_COMMANDS,
    own("replay", "replay_toggle_entry", "enter", "toggle_entry", "Fold or unfold an entry"),
    own("session", "focus_prompt", "escape", "focus_prompt", "Back to the prompt"),
    own("session", "focus_next", "tab", "focus_next", "Go to the question, or back to the prompt"),
    # Of a tab
    *(row for row in _of_a_tab() if row.id != "inspect" or INSPECTOR),
    # Everywhere
    Command("help", "f1,question_mark", None, "Help and keys where you are", "? where you aren't writing", typed="help",
            screen_action="app.help", where="app", has_priority=True),
    Command("command_palette", "ctrl+p", None, "Every command", "searchable", screen_action="app.command_palette",
            where="app", has_priority=True),
    Command("change_theme", "", None, "Change the theme", "previews each as you move",
            shortcuts=(("theme [NAME]", "Change the theme; /theme NAME does it at once"),),
            screen_action="app.choose_theme()", where="app", has_priority=True),
    Command("screenshot", "", None, "Save a picture of the screen", "as an .svg file",
            screen_action="app.screenshot", where="app", has_priority=True),
    Command("quit", "ctrl+q", None, "Quit", "stops the agent and everything it runs", typed="quit", aliases="exit",
            works_above_questions=True, screen_action="app.quit", where="app", has_priority=True),
)
# fmt: on

OURS: Final = "acp:"
"""This prefix of a slash command selects ours, even if the agent has one of the same name."""


def slash_action(text: str, taken: Collection[str]) -> str | None:
    """The action for a slash command; None if it isn't ours, or the agent has a command of that name.

    It is "" if words follow a command that takes none. `/find WORDS` and `/export FILE` pass on what follows them.
    `/acp:name` is ours even if the agent has a `/name`.
    """
    written, _, rest = text.removeprefix("/").strip().partition(" ")
    name = written.removeprefix(OURS)
    if not name or written in taken:
        return None
    for command in COMMANDS:
        if name in (*command.slashes, *command.aliases.split()) and command.action:
            words, argument = rest.strip(), command.slash_argument(name)
            if words and not argument:
                return ""
            if name in command.shortcut_names:
                words = f"{name} {words}".strip()
            elif not argument:
                return command.action
            before = command.action.removesuffix(")")
            return f"{before}{'' if before.endswith('(') else ', '}{words!r})"
    return None


BASIC: Final = frozenset(
    {
        *("send", "new_line", "cancel", "shell", "attach", "walk_history", "search_history", "leave_prompt"),
        *("pull_back", "edit_draft", "paste", "undo", "answer", "answer_by_kind", "confirm", "review"),
        *("reject_and_say_why", "decline", "send_form", "toggle_entry", "move_up", "move_down", "page_up", "page_down"),
        *("focus_prompt", "next_mode", "find", "toggle_all", "sidebar", "choose_option"),
        *("choose_session", "show_changes", "go_back", "show_agent", "begin_session", "choose_agent", "go_to_tab"),
        *("next_needing", "close_tab", "restart", "take_over", "inspect", "copy_reply", "export", "interrupt"),
        *("settings", "help", "command_palette", "change_theme", "quit"),
    }
)
"""What a newcomer needs, by ID: help, the palette, and `acp-tui keys` begin with these."""
FIRST: Final = ("choose_session", "choose_option", "choose_agent", "begin_in_worktree")
LATER: Final = ("send_again", "take_over", "edit_queue", "show_changes", "go_back", "copy_reply")
"""What fits the moment, by ID: before the first prompt, and later. The palette begins with those that are possible."""
STEPS: Final = ("move_up", "move_down")
PAGES: Final = ("page_up", "page_down")
ENDS: Final = ("to_start", "to_end")
MOVING: Final = (*STEPS, *PAGES, *ENDS)
READING: Final = tuple(command.id for command in COMMANDS if command.where == "reading")


def bindings_of(
    *ids: str, at: Place | None = None, place: Place | None = None, has_priority: bool = False
) -> list[BindingType]:
    """A widget's bindings: for these commands, as they are `at` a place if several have them, and for a `place`.

    Raises ValueError for a command of several places without `at`: what its key does elsewhere would be bound, too.
    """
    named = [row for row in COMMANDS if row.id in ids and at in (None, row.where) and row.widget_action]
    if len({row.id for row in named}) < len(named):
        raise ValueError(f"{ids} are commands of several places: say `at` which")
    rows = [row for row in COMMANDS if row.widget_action and (row.where == place or row in named)]
    keys = [
        Binding(
            row.keys, row.widget_action, row.title, show=False, priority=has_priority or row.has_priority, id=row.id
        )
        for row in rows
        if row.keys
    ]
    typed = [
        Binding(character, row.widget_action.format(character), row.title, show=False, priority=row.has_priority)
        for row in rows
        for character in row.fixed_characters.replace("1-9", "1 2 3 4 5 6 7 8 9").split()
    ]
    return [*keys, *typed]


def bindings() -> list[Binding]:
    """The bindings of the session screen. Printable keys are bound by the keymap, outside of the prompt only."""
    return [
        Binding(key, command.action_by(key), command.title, show=False, priority=command.has_priority, id=command.id)
        for command in COMMANDS
        if command.where in ("session", "app") and command.keys
        for key in command.keys.split(",")
        if key != "question_mark"
    ]
