"""The part of the reducer that keeps what is known of terminals; entries that show them are not its matter."""

from __future__ import annotations

from itertools import islice
from typing import Final, TypeAlias

from acp_tui.conversation.conversation import NOTHING, Change, Conversation
from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.facts import Fact
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.updates import (
    TerminalExited,
    TerminalOpened,
    TerminalOutput,
    TerminalResized,
    TerminalWaiting,
)

KEPT_OF_EARLIER: Final = ((50, 16 << 10), (1_000, 0))
"""How many terminals came later, and how many bytes of such a one stay."""

TerminalUpdate: TypeAlias = (
    TerminalOpened | TerminalOutput | TerminalWaiting | TerminalExited | TerminalResized
)


def apply_terminal(conversation: Conversation, update: TerminalUpdate) -> Change:
    """Change what is known of one terminal."""
    if isinstance(update, TerminalResized):
        return _resize(conversation, update)
    state = conversation.terminals.get(update.terminal_id)
    if state is None:
        state = TerminalState(update.terminal_id, is_ours=False)
        conversation.terminals[update.terminal_id] = state
        _shrink_earlier(conversation)
    match update:
        case TerminalOutput():
            state.output.append(update.data)
        case TerminalOpened():
            state.command = update.command or state.command
            state.cwd = update.cwd or state.cwd
            state.is_ours = update.is_ours
            state.columns, state.rows = update.columns, update.rows
        case TerminalWaiting():
            state.is_waiting = update.is_waiting
        case TerminalExited():
            state.has_exited, state.is_waiting = True, False
            state.exit_code, state.signal, state.seconds = update.exit_code, update.signal, update.seconds
    return _change(conversation, update.terminal_id)


def _shrink_earlier(conversation: Conversation) -> None:
    """An agent may open any number of terminals: of those far back only the end is kept, at last nothing."""
    for behind, limit_bytes in KEPT_OF_EARLIER:
        for state in islice(reversed(conversation.terminals.values()), behind, behind + 1):
            state.output.shrink(limit_bytes)


def _resize(conversation: Conversation, update: TerminalResized) -> Change:
    """The size of an agent's own terminal is the agent's."""
    state = conversation.terminals.get(update.terminal_id)
    if state is None or not state.is_ours:
        return NOTHING
    state.columns, state.rows = update.columns, update.rows
    return _change(conversation, update.terminal_id)


def _change(conversation: Conversation, terminal_id: TerminalId) -> Change:
    entry_id = conversation.terminal_entries.get(terminal_id)
    return Change(() if entry_id is None else (entry_id,), (Fact.TERMINALS,), terminal_id)
