"""Which commands can do anything in a tab as it stands: the palette offers no others. Keys work, or say why not."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from acp_tui.client.sessions.session import Session
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Entry, TerminalState
from acp_tui.conversation.facts import SelectOption
from acp_tui.ui.commands.command import Command
from acp_tui.ui.tab.entries import attached_to, last_code, last_reply, locations_of, stoppable_in
from acp_tui.ui.tab.host import TabHost

Condition: TypeAlias = Callable[[TabHost], bool]
_GO_TO: Final = re.compile(r"tab_(\d)")


def is_possible(command: Command, tab: TabHost) -> bool:
    """Whether the command would do anything now."""
    if number := _GO_TO.fullmatch(command.id):
        return 1 < len(tab.shell.tabs) >= int(number[1])
    condition = CONDITIONS.get(command.id)
    return condition is None or condition(tab)


def _of_session(condition: Callable[[Session], bool]) -> Condition:
    return lambda tab: tab.session is not None and condition(tab.session)


def _of_conversation(condition: Callable[[Conversation], bool]) -> Condition:
    return _of_session(lambda session: condition(session.conversation))


def _of_entries(found_in: Callable[[Entry], Sequence[object]]) -> Condition:
    return _of_conversation(lambda conversation: any(map(found_in, conversation.entries)))


def _has_agent(tab: TabHost) -> bool:
    return not tab.link.is_lost


def _can_start(tab: TabHost) -> bool:
    return tab.link.can_start


def _can_log_out(tab: TabHost) -> bool:
    agent = tab.link.agent
    return agent is not None and agent.lost is None and agent.capabilities.logout


def _can_fork(tab: TabHost) -> bool:
    agent = tab.link.agent
    return tab.session is not None and agent is not None and agent.capabilities.fork_session


def _offers(category: str) -> Condition:
    """Whether the agent has an option of this kind with anything to choose."""
    return _of_conversation(
        lambda conversation: any(
            isinstance(option, SelectOption) and option.category == category and len(option.choices) > 1
            for option in conversation.options
        )
    )


def _is_running(terminal: TerminalState) -> bool:
    return terminal.is_ours and not terminal.has_exited


def _has_tabs(tab: TabHost) -> bool:
    return len(tab.shell.tabs) > 1


_was_said: Final = _of_conversation(lambda conversation: not conversation.is_blank)
_runs_command: Final = _of_conversation(
    lambda conversation: any(map(_is_running, conversation.terminals.values()))
)

CONDITIONS: Final[Mapping[str, Condition]] = {
    **dict.fromkeys(
        ("find", "prompt_above", "prompt_below", "follow", "toggle_all", "export", "interrupt"), _was_said
    ),
    **dict.fromkeys(("take_over", "interrupt_terminal", "end_terminal"), _runs_command),
    **dict.fromkeys(("next_tab", "previous_tab", "next_needing"), _has_tabs),
    **dict.fromkeys(("show_agent", "show_mcp", "inspect"), _has_agent),
    **dict.fromkeys(("restart", "begin_session", "begin_in_worktree"), _can_start),
    "detach": lambda tab: tab.link.is_hosted,
    "log_out": _can_log_out,
    "next_mode": _offers("mode"),
    "choose_mode": _offers("mode"),
    "choose_model": _offers("model"),
    "choose_option": _of_conversation(lambda conversation: bool(conversation.options)),
    "toggle_plan": _of_conversation(lambda conversation: bool(conversation.plans)),
    "dismiss_visits": _of_conversation(lambda conversation: bool(conversation.visits)),
    "edit_location": _of_entries(locations_of),
    "save_attached": _of_entries(attached_to),
    "stop_one": _of_conversation(lambda conversation: bool(stoppable_in(conversation))),
    "copy_reply": _of_conversation(lambda conversation: bool(last_reply(conversation))),
    "copy_code": _of_conversation(lambda conversation: bool(last_code(conversation))),
    "edit_queue": _of_session(lambda session: bool(session.queue.prompts)),
    "fork_session": _can_fork,
    "hand_over": _was_said,
    "undo_turn": lambda tab: tab.changes is not None,
    "show_changes": lambda tab: tab.changes is not None,
    "sidebar": lambda tab: tab.session is not None,
}
