"""The part of the command table that belongs to widgets: what a key does where the focus is.

The keys are also the widgets' own bindings: a test holds the two against each other.
"""

from __future__ import annotations

from typing import Final

from acp_tui.ui.commands.command import Command

WIDGET_COMMANDS: Final = (
    # In the prompt
    Command("send", "Send the prompt", "queues it while the agent works", "enter", where="prompt"),
    Command(
        "new_line",
        "New line",
        "",
        "ctrl+j,shift+enter,alt+enter",
        where="prompt",
    ),
    Command(
        "cancel",
        "Close what is open, else cancel the turn",
        "what you have written stays",
        "escape",
        where="prompt",
    ),
    Command(
        "leave_prompt",
        "Go to what the agent asks, else to the conversation",
        "or to the recent sessions",
        "tab",
        where="prompt",
    ),
    Command(
        "shell", "Run a command of your own", "Backspace drops its output again", typed="!", where="prompt"
    ),
    Command(
        "attach",
        "Attach a file to the prompt",
        "@file, @file:10-20, @folder/, @image.png",
        typed="@",
        where="prompt",
    ),
    Command(
        "pull_back", "Take the last queued prompt back", "to change or to drop it", "alt+up", where="prompt"
    ),
    Command(
        "edit_queue", "Go to the queued prompts", "edit, remove, move them", "alt+down", "do('edit_queue')"
    ),
    Command(
        "walk_history",
        "Earlier prompts of this project",
        "from the first and last line",
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
    Command("queue_edit", "Back into the draft", "to change it", "enter", where="queue"),
    Command("queue_send_now", "Send it now", "it interrupts the turn", "alt+enter,ctrl+enter", where="queue"),
    Command("queue_remove", "Remove it", "it is not sent", "delete,backspace", where="queue"),
    Command("queue_earlier", "Send it earlier", "", "alt+up,shift+up", where="queue"),
    Command("queue_later", "Send it later", "", "alt+down,shift+down", where="queue"),
    Command("history_older", "Older prompt", "", "ctrl+r,up", where="history"),
    Command("history_newer", "Newer prompt", "", "down", where="history"),
    Command("history_page_up", "A page older", "", "pageup", where="history"),
    Command("history_page_down", "A page newer", "", "pagedown", where="history"),
    Command("history_choose", "Put it into the draft", "it is not sent", "enter,tab", where="history"),
    Command("history_projects", "All projects, or this one", "", "shift+tab", where="history"),
    Command("history_close", "Close the search", "the draft is as it was", "escape", where="history"),
    Command("prompt_page_up", "Page up in the conversation", "", "pageup", where="prompt"),
    Command("prompt_page_down", "Page down in the conversation", "", "pagedown", where="prompt"),
    Command(
        "edit_draft", "Open the draft in your editor", "as $VISUAL or $EDITOR says", "ctrl+g", where="prompt"
    ),
    Command(
        "paste", "Paste from the clipboard", "text, or a picture", "ctrl+v,alt+v,super+v", where="prompt"
    ),
    Command(
        "open_paste",
        "Open a long paste in its place",
        "the only one, or that beside the cursor; a click too",
        "alt+o",
        where="prompt",
    ),
    Command("line_start", "Go to the line's start", "", "ctrl+a", where="prompt"),
    Command("line_end", "Go to the line's end", "", "ctrl+e", where="prompt"),
    Command("word_left", "Word back", "", "alt+b,alt+left", where="prompt"),
    Command("word_right", "Word on", "", "alt+f,alt+right", where="prompt"),
    Command("kill_line_end", "Kill to the line's end", "", "ctrl+k", where="prompt"),
    Command("kill_line_start", "Kill to the line's start", "", "ctrl+u,super+backspace", where="prompt"),
    Command("kill_to_blank", "Kill to the blank before", "", "ctrl+w", where="prompt"),
    Command("kill_word_left", "Kill the word before", "", "alt+backspace,ctrl+backspace", where="prompt"),
    Command("kill_word_right", "Kill the word behind", "", "alt+d,alt+delete,ctrl+delete", where="prompt"),
    Command("yank", "Yank what was killed, or cleared, last", "", "ctrl+y", where="prompt"),
    Command("undo", "Undo", "", "ctrl+underscore,ctrl+z,super+z", where="prompt"),
    Command("redo", "Redo", "", "ctrl+shift+z,alt+underscore,alt+z", where="prompt"),
    Command("redraw", "Draw the screen anew", "", "ctrl+l", where="prompt"),
    Command("delete_or_quit", "Delete, or quit where the prompt is empty", "", "ctrl+d", where="prompt"),
    # On the permission card, and on its full screen
    Command("answer", "Answer with that option", "these keys are fixed", typed="1-9", where="card"),
    Command(
        "answer_by_kind",
        "Allow once, allow always, reject once",
        "where one option does; these keys are fixed",
        typed="y a n",
        where="card",
    ),
    Command("option_above", "Option above", "", "up", where="card"),
    Command("option_below", "Option below", "", "down", where="card"),
    Command("confirm", "Answer with the chosen option", "", "enter", where="card"),
    Command("review", "See the request full screen", "", "f", where="card"),
    Command("raw", "Show or hide the raw input", "", "r", where="card"),
    Command(
        "reject_and_say_why",
        "Reject and say why",
        "Enter sends both; the reason goes as your next prompt",
        "w",
        where="card",
    ),
    Command("card_page_up", "Page up", "", "pageup", where="card"),
    Command("card_page_down", "Page down", "", "pagedown,space", where="card"),
    Command("leave_card", "Back to the prompt", "the request stays", "escape,tab,shift+tab", where="card"),
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
    Command("field_before", "Field before, or back to the prompt", "", "shift+tab", where="question"),
    Command("send_form", "Send the form", "as Enter on the last field", "ctrl+enter", where="question"),
    Command("copy_address", "Copy the page's address", "", "c", where="question"),
    Command("leave_question", "Back to the prompt", "the question stays", "escape", where="question"),
    Command("review_answer", "Answer with that option", "these keys are fixed", typed="1-9", where="review"),
    Command(
        "review_answer_by_kind",
        "Allow once, allow always, reject once",
        "where one option does; these keys are fixed",
        typed="y a n",
        where="review",
    ),
    Command("review_option_next", "Next option", "", "tab", where="review"),
    Command("review_option_before", "Option before", "", "shift+tab", where="review"),
    Command("review_confirm", "Answer with the chosen option", "", "enter", where="review"),
    Command("review_raw", "Show or hide the raw input", "", "r", where="review"),
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
    Command("sidebar_choose", "Fold a section, or review a file", "", "enter,space", where="sidebar"),
)
