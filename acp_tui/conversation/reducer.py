"""The only code that changes a `Conversation`: `apply(conversation, update)` returns what the update changed.

The state is pure: no I/O, no clock, no randomness. Replaying the same updates gives an equal conversation.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import islice
from typing import Final, assert_never

from acp_tui.conversation import UNSET, entries, facts, or_else, tool_calls, updates
from acp_tui.conversation.buffers import ByteRing
from acp_tui.conversation.content import ContentBlock, Text, is_for_user, title_in_line
from acp_tui.conversation.conversation import (
    MAX_NOTICE_CHARACTERS,
    MAX_NOTICES,
    NOTHING,
    Change,
    Conversation,
    Echo,
    SubagentState,
)
from acp_tui.conversation.elicitation import UrlVisit
from acp_tui.conversation.value_outline import in_words
from acp_tui.conversation.visible.cutting import MAX_ITEMS, cut_characters, mark_of
from acp_tui.conversation.web_address import place_of

MODE_ANNOUNCEMENT: Final = "[MODE_UPDATE] "
IDLE: Final = "idle"
"""The only state in which the agent does nothing for the session."""
UNKNOWN: Final = "unknown"


def apply(conversation: Conversation, update: updates.SessionUpdate) -> Change:
    """Apply one update to `conversation`. Takes O(1) in the conversation's length, except at the end of a turn."""
    match update:
        case updates.MessageChunk() | updates.MessageReplaced():
            return _message(conversation, update)
        case updates.TerminalOutput():
            return apply_terminal(conversation, update)
        case updates.ToolCallReported(patch, begins):
            if (owner := conversation.subagent_calls.get(patch.tool_call_id)) is not None:
                return _subagent_said(conversation, updates.SubagentSaid(owner, update, is_of_call=True))
            return _mirrored(conversation, patch.tool_call_id, _report_tool_call(conversation, patch, begins=begins))
        case updates.SubagentReported():
            return _subagent_reported(conversation, update)
        case updates.SubagentSaid():
            return _subagent_said(conversation, update)
        case updates.ToolCallContentAdded(call_id, content):
            call = _call_of(conversation, call_id).call
            call.content = _cut_content((*call.content, *content))
            return Change((_show_terminals(conversation, call_id, content),))
        case updates.DiffsPlaced(call_id, parts):
            call = _call_of(conversation, call_id).call
            call.places = {part.item: part for part in parts}
            return Change((conversation.tool_call_entries[call_id],))
        case updates.PromptSent():
            return _prompt_sent(conversation, update)
        case updates.PromptJoined():
            conversation.open_message = None  # the agent's next chunk starts a new message
            return Change((_append(conversation, _prompt_message(update)),))
        case updates.PromptAccepted(message_id):
            return _prompt_accepted(conversation, message_id)
        case updates.PromptRefused(failure):
            return _prompt_refused(conversation, failure)
        case updates.StateReported():
            return _state_reported(conversation, update)
        case updates.CancelRequested():
            return _cancel_requested(conversation)
        case updates.TurnEnded(stop_reason):
            return _turn_ended(conversation, stop_reason, update.usage)
        case updates.TurnFailed():
            return _turn_failed(conversation, update)
        case updates.Disconnected():
            return _disconnected(conversation, update)
        case updates.Reconnected():
            return _reconnected(conversation, update)
        case updates.ClientRemark() | updates.UnknownUpdate():
            return Change((_append(conversation, update),))
        case updates.PermissionAsked() | updates.PermissionAnswered() | updates.PermissionNoted():
            return _permission(conversation, update)
        case updates.ElicitationAsked() | updates.ElicitationAnswered() | updates.ElicitationCompleted():
            return apply_elicitation(conversation, update)
        case updates.CommandRun(line, terminal_id):
            entry_id = _append(conversation, entries.OwnCommand(line, terminal_id))
            _show_terminal(conversation, terminal_id, entry_id)
            return Change((entry_id,), (facts.Fact.TERMINALS,), terminal_id)
        case (
            updates.TerminalOpened()
            | updates.TerminalExited()
            | updates.TerminalReported()
            | updates.TerminalWaiting()
            | updates.TerminalResized()
        ):
            return apply_terminal(conversation, update)
        case updates.CompactionChanged() | updates.CompactionChunk():
            return _compaction(conversation, update)
        case _:
            return Change(facts=(_fact(conversation, update),))


def _append(conversation: Conversation, entry: entries.Entry) -> entries.EntryId:
    conversation.entries.append(entry)
    conversation.open_message = None
    entry_id = entries.EntryId(len(conversation.entries) - 1)
    if conversation.is_idle and isinstance(entry, entries.Message) and entry.role == "user":
        conversation.has_old_plans = bool(conversation.plans)
        conversation.last_prompt = entry_id
        conversation.reopened.clear()
    return entry_id


# Messages


def _message(conversation: Conversation, said: updates.MessageUpdate) -> Change:
    if said.role == "user" and said.message_id is not None:
        if (echo := conversation.echoes.get(said.message_id)) is not None:
            return _own_message(conversation, echo, said)
        if conversation.unaccepted and ("user", said.message_id) not in conversation.message_entries:
            conversation.held.append(said)
            return NOTHING
    if isinstance(said, updates.MessageChunk):
        return _message_chunk(conversation, said)
    known = conversation.message_entries.get((said.role, said.message_id))
    is_loading = conversation.state is None and conversation.turn_start is None
    # Prompts have IDs of their own: with the same one, the history is told again.
    is_another = is_loading and said.role != "user" and _is_reused(conversation, said.role, said.message_id)
    if not said.blocks and (known is None or is_another):
        return NOTHING  # it only announces an ID; the message gets its place when it says something
    return _replace_message(conversation, said.role, said.message_id, said.blocks)


def _replace_message(
    conversation: Conversation, role: updates.Role, message_id: str, blocks: tuple[ContentBlock, ...]
) -> Change:
    entry_id = _message_of(conversation, role, message_id)
    conversation.reopened.add((role, message_id))
    conversation.entries.changing(entry_id, entries.Message).replace(blocks)
    return Change((entry_id,))


def _own_message(conversation: Conversation, echo: Echo, said: updates.MessageUpdate) -> Change:
    """Handle the agent's repetition of the user's prompt: keep the prompt as typed, unless the agent changed it."""
    if isinstance(said, updates.MessageReplaced):
        echo.matched = 0
    blocks = said.blocks if isinstance(said, updates.MessageReplaced) else (said.block,)
    text = "".join(block.text for block in blocks if isinstance(block, Text) and is_for_user(block))
    if echo.expected.startswith(text, echo.matched):
        echo.matched += len(text)
        return NOTHING
    del conversation.echoes[said.message_id or ""]
    before = (Text(echo.expected[: echo.matched]),) if echo.matched else ()
    return _replace_message(conversation, "user", said.message_id or "", (*before, *blocks))


def _message_chunk(conversation: Conversation, chunk: updates.MessageChunk) -> Change:
    if isinstance(chunk.block, Text) and not chunk.block.text:
        return NOTHING
    if chunk.role == "user" and conversation.echo is not None:
        return _user_chunk(conversation, conversation.echo, chunk)
    if chunk.role == "agent":
        conversation.echo = None
        if (change := _announced_mode(conversation, chunk)) is not None:
            return Change(facts=(_fact(conversation, change),))
    entry_id = _message_for(conversation, chunk)
    conversation.entries.changing(entry_id, entries.Message).append(chunk.block)
    return Change((entry_id,))


def _announced_mode(conversation: Conversation, chunk: updates.MessageChunk) -> updates.OptionChanged | None:
    """Return the mode a chunk announces, if the session offers it; None for an ordinary chunk.

    gemini-cli 0.61.0 doesn't send current_mode_update. When "Allow for this session" or the user changes its mode, it
    sends "[MODE_UPDATE] autoEdit" in a separate chunk.
    """
    text = chunk.block.text if isinstance(chunk.block, Text) else ""
    if not text.startswith(MODE_ANNOUNCEMENT) or chunk.message_id is not None:
        return None
    wanted = text.removeprefix(MODE_ANNOUNCEMENT)
    for option in conversation.options:
        match option:
            case facts.SelectOption(source="mode", choices=choices) if wanted in [each.value for each in choices]:
                return updates.OptionChanged(option.option_id, wanted, option.source)
    return None


def _message_for(conversation: Conversation, chunk: updates.MessageChunk) -> entries.EntryId:
    """Return the entry for a chunk: the one with its ID, or the open one of its role, or a new one (R-MSG-1..3)."""
    if chunk.message_id is not None:
        if _is_reused(conversation, chunk.role, chunk.message_id):
            del conversation.message_entries[chunk.role, chunk.message_id]
        return _message_of(conversation, chunk.role, chunk.message_id)
    if conversation.open_message is not None:
        entry = conversation.entries[conversation.open_message]
        if isinstance(entry, entries.Message) and entry.role == chunk.role:
            return conversation.open_message
    opened = _append(conversation, entries.Message(chunk.role))
    conversation.open_message = opened
    return opened


def _is_reused(conversation: Conversation, role: updates.Role, message_id: str) -> bool:
    """Whether the ID was that of a message of an earlier turn: agents pass on those that each process counts anew.

    Without it, an answer would stand above its prompt. In version 2, a message may change later, which is told first.
    """
    known = conversation.message_entries.get((role, message_id))
    if known is None or (role, message_id) in conversation.reopened:
        return False
    if role == "user":  # a loaded session's prompts begin its turns
        return conversation.is_idle and conversation.state is None and known < len(conversation.entries) - 1
    return known < conversation.last_prompt


def _message_of(conversation: Conversation, role: updates.Role, message_id: str) -> entries.EntryId:
    conversation.open_message = None
    known = conversation.message_entries.get((role, message_id))
    if known is None:
        known = _append(conversation, entries.Message(role, message_id))
        conversation.message_entries[role, message_id] = known
    return known


def _user_chunk(conversation: Conversation, echo: Echo, chunk: updates.MessageChunk) -> Change:
    """Swallow what repeats the user's prompt. Show anything else, preceded by the text swallowed by mistake."""
    if not isinstance(chunk.block, Text):
        return NOTHING
    text = chunk.block.text
    if echo.expected.startswith(text, echo.matched):
        echo.matched += len(text)
        return NOTHING
    swallowed = echo.expected[: echo.matched] if echo.matched < len(echo.expected) else ""
    conversation.echo = None
    return _message_chunk(
        conversation, updates.MessageChunk("user", replace(chunk.block, text=swallowed + text), chunk.message_id)
    )


# Turns


NOT_TAKEN_UP: Final = "The agent didn't take it up."
"""The note on a prompt sent during a turn."""


def _prompt_message(prompt: updates.PromptSent | updates.PromptJoined) -> entries.Message:
    message = entries.Message("user", notes=prompt.notes, is_sent=True)
    for block in prompt.blocks:
        message.append(block)
    return message


def _prompt_sent(conversation: Conversation, prompt: updates.PromptSent) -> Change:
    message = _prompt_message(prompt)
    entry_id = _append(conversation, message)
    if prompt.awaits_id:
        conversation.unaccepted.append(entry_id)
        if not conversation.is_idle:
            conversation.joining.add(entry_id)
            conversation.has_run, conversation.idle_report = False, None
            return Change((entry_id,), (facts.Fact.TURN,))
    else:
        conversation.echo = Echo(message.text)
    _begin_turn(conversation, entry_id)
    had_plans = bool(conversation.plans)
    conversation.plans = {plan_id: plan for plan_id, plan in conversation.plans.items() if plan.current is not None}
    return Change((entry_id,), (facts.Fact.TURN, facts.Fact.PLAN) if had_plans else (facts.Fact.TURN,))


def _begin_turn(conversation: Conversation, start: entries.EntryId) -> None:
    conversation.turn = facts.TurnPhase.RUNNING
    usage, is_first = conversation.usage, conversation.turn_start is None and start == 0
    told = usage.cost_amount if usage is not None else None
    conversation.cost_before = 0.0 if told is None and is_first else told
    conversation.turn_start = start
    conversation.last_stop_reason = None
    conversation.has_run, conversation.idle_report = False, None


def _prompt_accepted(conversation: Conversation, message_id: str) -> Change:
    if not conversation.unaccepted:
        return NOTHING
    entry_id = conversation.unaccepted.pop(0)
    entry = conversation.entries.changing(entry_id, entries.Message)
    entry.message_id = message_id
    conversation.message_entries["user", message_id] = entry_id
    conversation.echoes[message_id] = Echo(entry.text)
    if conversation.state not in (None, IDLE, UNKNOWN):
        conversation.has_run = True  # the agent was busy with something else and continues with this prompt
    told = _release_held(conversation)
    ended = _end_if_over(conversation)
    return Change((entry_id, *told, *ended.entries), ended.facts)


def _prompt_refused(conversation: Conversation, failure: updates.TurnFailed | None) -> Change:
    joined = conversation.unaccepted[-1] if conversation.unaccepted else None
    if joined not in conversation.joining:
        if failure is not None:
            return _turn_failed(conversation, failure)
        return _turn_ended(conversation, "cancelled", None)
    conversation.unaccepted.pop()
    entry = conversation.entries.changing(joined, entries.Message)
    entry.notes = (*entry.notes, NOT_TAKEN_UP)
    conversation.has_run = True  # for the previous prompt
    ended = _end_if_over(conversation)
    return Change((joined, *ended.entries), (facts.Fact.TURN,))


def _release_held(conversation: Conversation) -> tuple[entries.EntryId, ...]:
    held, conversation.held = conversation.held, []
    return tuple(dict.fromkeys(entry for said in held for entry in _message(conversation, said).entries))


# If the agent reports states, a turn ends with an idle that comes after both the acceptance of the prompt and a state
# other than idle, in either order (ACP v2 draft, prompt lifecycle).


def _state_reported(conversation: Conversation, report: updates.StateReported) -> Change:
    conversation.state = report.state
    conversation.background = or_else(report.background, conversation.background)
    if report.state == UNKNOWN:  # the agent can't tell: neither work nor the end of it
        return Change(facts=(facts.Fact.TURN,))
    if report.state != IDLE:
        if conversation.is_idle:  # the agent started working on its own
            _begin_turn(conversation, entries.EntryId(len(conversation.entries)))
        if conversation.idle_report is not None:  # a turn had ended, and another prompt was waiting
            _count(conversation, conversation.idle_report.usage)
        conversation.has_run, conversation.idle_report = True, None
        return Change(facts=(facts.Fact.TURN,))
    if conversation.is_idle:
        return Change(facts=(facts.Fact.TURN,))  # a snapshot: its details about the turn were reported before
    conversation.idle_report = report
    ended = _end_if_over(conversation)
    return Change(ended.entries, (facts.Fact.TURN,))


def _end_if_over(conversation: Conversation) -> Change:
    report = conversation.idle_report
    has_worked = conversation.has_run or conversation.turn is facts.TurnPhase.CANCELLING
    if report is None or conversation.unaccepted or not has_worked:
        return NOTHING
    if report.failure is not None:
        return _turn_failed(conversation, report.failure)
    return _turn_ended(conversation, report.stop_reason or "end_turn", report.usage)


def _cancel_requested(conversation: Conversation) -> Change:
    """Mark the turn as canceling until the agent ends it; its unfinished calls count as canceled now (R-CANC-2)."""
    if conversation.turn is not facts.TurnPhase.RUNNING:
        return NOTHING
    conversation.turn = facts.TurnPhase.CANCELLING
    return Change(_settle_calls_of_turn(conversation, tool_calls.CANCELLED), (facts.Fact.TURN,))


def _turn_ended(conversation: Conversation, stop_reason: str, usage: facts.TurnUsage | None) -> Change:
    _count(conversation, usage)
    if stop_reason == "cancelled":
        touched = _settle_calls_of_turn(conversation, tool_calls.CANCELLED)
    else:
        # Those whose end the agent didn't tell, except for subagents. It includes what waits for the user: whether its
        # question is canceled before or after that makes no difference.
        calls, subagents = _unsettled_calls_of_turn(conversation), conversation.subagents
        untold = {call_id for call_id in calls if facts.SessionId(call_id) not in subagents}
        touched = _settle_calls(conversation, tool_calls.UNFINISHED, untold)
    if stop_reason != "end_turn":
        touched = (*touched, _append(conversation, entries.TurnEnd(stop_reason)))
    return _end_turn(conversation, touched, stop_reason)


def _count(conversation: Conversation, usage: facts.TurnUsage | None) -> None:
    conversation.turn_usage = usage
    if usage is not None:
        conversation.spent = usage if conversation.spent is None else conversation.spent.plus(usage)


def _turn_failed(conversation: Conversation, failed: updates.TurnFailed) -> Change:
    conversation.turn_usage = None
    touched = _settle_calls_of_turn(conversation, tool_calls.FAILED)
    failure = entries.Failure(in_words(failed.message), failed.detail, said=failed.said)
    return _end_turn(conversation, (*touched, _append(conversation, failure)), None)


def _end_turn(conversation: Conversation, touched: tuple[entries.EntryId, ...], stop_reason: str | None) -> Change:
    conversation.unaccepted.clear()
    conversation.joining.clear()
    touched = (*touched, *_release_held(conversation))
    start = None if conversation.is_idle else conversation.turn_start
    conversation.turn = facts.TurnPhase.IDLE
    conversation.last_stop_reason = stop_reason
    conversation.open_message = None
    conversation.echo = None
    ended = facts.TurnSpent(len(conversation.entries), start=start, stop_reason=stop_reason)
    conversation.turns.append(_with_spent(conversation, ended))
    return Change(touched, (facts.Fact.TURN,))


def _with_spent(conversation: Conversation, turn: facts.TurnSpent) -> facts.TurnSpent:
    usage = conversation.usage
    currency = usage.cost_currency if usage is not None else None
    return replace(turn, usage=conversation.turn_usage, cost=conversation.turn_cost, currency=currency)


def _disconnected(conversation: Conversation, update: updates.Disconnected) -> Change:
    if not conversation.is_connected and not update.is_again:
        return NOTHING
    conversation.is_connected = False
    status = tool_calls.FAILED if update.is_fault else tool_calls.UNFINISHED
    let_go = _let_go(conversation, status, None if update.reason else tool_calls.UNFINISHED)
    if not update.reason:
        return let_go
    failure = entries.Failure(update.reason, stderr_tail=update.stderr_tail)
    why = failure if update.is_fault else updates.ClientRemark(update.reason)
    return Change((*let_go.entries, _append(conversation, why)), let_go.facts)


def _reconnected(conversation: Conversation, update: updates.Reconnected) -> Change:
    if update.is_loaded:  # a loaded session starts a new conversation, without anything from the old process
        return Change((_append(conversation, update),))
    let_go = _let_go(conversation)
    conversation.is_connected = True
    conversation.is_fork = conversation.is_fork or bool(update.forked_from)
    if update.is_same:
        return Change((*let_go.entries, _append(conversation, update)), let_go.facts)
    # Earlier IDs are free again: the new process may reuse them for something else.
    conversation.tool_call_entries.clear()
    conversation.message_entries.clear()
    conversation.compaction_entries.clear()
    conversation.subagent_calls.clear()
    conversation.echoes.clear()
    conversation.state, conversation.background = None, ()
    conversation.plans.clear()
    conversation.options = conversation.commands = ()
    conversation.usage = conversation.cost_before = None
    about = (*let_go.facts, facts.Fact.PLAN, facts.Fact.COMMANDS, facts.Fact.OPTIONS, facts.Fact.USAGE)
    return Change((*let_go.entries, _append(conversation, update)), about)


def _let_go(
    conversation: Conversation, status: str = tool_calls.FAILED, stop_reason: str | None = tool_calls.UNFINISHED
) -> Change:
    """Clear everything that waits for the agent: the turn, questions, and unfinished calls, which get this status.

    What was said of the turn would read as a whole answer without a `stop_reason`, or an entry that tells why it ended.
    """
    asked = dict.fromkeys(request.tool_call_id for request in conversation.permissions.values())
    for call_id in asked:
        _changing_call(conversation, call_id).waiting = 0
    conversation.permissions.clear()
    forgotten = forget_elicitations(conversation)
    settled = _settle_calls(conversation, status, conversation.unsettled_calls)
    waited = tuple(conversation.tool_call_entries[call_id] for call_id in asked)
    if not conversation.is_idle:
        conversation.turn_usage = None  # it's that of the turn before
        told = () if stop_reason is None else (_append(conversation, entries.TurnEnd(stop_reason)),)
        settled = _end_turn(conversation, (*settled, *told), stop_reason).entries
    conversation.open_message = conversation.echo = None
    at_work = [each for each in conversation.subagents.values() if not each.conversation.is_idle]
    for subagent in at_work:
        _let_go(subagent.conversation, status, stop_reason)
    settled = (*settled, *(subagent.entry for subagent in at_work))
    about = (facts.Fact.TURN, facts.Fact.CONNECTION, facts.Fact.PERMISSIONS, *forgotten.facts)
    return Change(tuple(dict.fromkeys((*waited, *settled))), about)


def _settle_calls_of_turn(conversation: Conversation, status: str) -> tuple[entries.EntryId, ...]:
    return _settle_calls(conversation, status, _unsettled_calls_of_turn(conversation))


def _unsettled_calls_of_turn(conversation: Conversation) -> set[tool_calls.ToolCallId]:
    """Calls of earlier turns may still run in the background."""
    places, start = conversation.tool_call_entries, conversation.turn_start or 0
    behind = _calls_behind(conversation)
    return {call_id for call_id in conversation.unsettled_calls if places[call_id] >= start and call_id not in behind}


def _calls_behind(conversation: Conversation) -> set[str]:
    """Those that run in the background."""
    return {work.reference for work in conversation.background if work.kind == "tool_call"}


def _awaits_nothing(conversation: Conversation, call_id: tool_calls.ToolCallId) -> bool:
    """Whether no question and no end of a turn will settle the call, and the agent didn't say that it goes on."""
    is_of_turn = conversation.tool_call_entries[call_id] >= (conversation.turn_start or 0)
    return (
        call_id in conversation.unsettled_calls
        and not conversation.tool_call(call_id).waiting
        and (conversation.is_idle or not is_of_turn)
        and call_id not in _calls_behind(conversation)
        and facts.SessionId(call_id) not in conversation.subagents
    )


def _settle_calls(
    conversation: Conversation, status: str, call_ids: AbstractSet[tool_calls.ToolCallId]
) -> tuple[entries.EntryId, ...]:
    touched = []
    for call_id in sorted(call_ids):
        _changing_call(conversation, call_id).call.status = status
        touched.append(conversation.tool_call_entries[call_id])
        if (subagent := _mirror_call(conversation, call_id)) is not None:
            touched.append(subagent.entry)
    conversation.unsettled_calls = conversation.unsettled_calls - call_ids
    return tuple(touched)


# Tool calls and permissions


def _changing_call(conversation: Conversation, call_id: tool_calls.ToolCallId) -> entries.ToolCallEntry:
    return conversation.entries.changing(conversation.tool_call_entries[call_id], entries.ToolCallEntry)


def _call_of(conversation: Conversation, call_id: tool_calls.ToolCallId) -> entries.ToolCallEntry:
    """Return the entry of a call for changing; creates one for an unknown call (R-TOOL-3, R-TOOL-4)."""
    if call_id not in conversation.tool_call_entries:
        entry_id = _append(conversation, entries.ToolCallEntry(tool_calls.ToolCall(call_id)))
        conversation.tool_call_entries[call_id] = entry_id
        conversation.unsettled_calls.add(call_id)
    return _changing_call(conversation, call_id)


def _cut_content(content: tuple[tool_calls.ToolCallContent, ...]) -> tuple[tool_calls.ToolCallContent, ...]:
    """Return the first items and a mark for the rest, with what an earlier cut took."""
    if len(content) <= MAX_ITEMS + 1:  # the last one may be a mark
        return content
    lost = sum(map(_characters, content[MAX_ITEMS:]))
    return (*content[:MAX_ITEMS], tool_calls.BlockContent(Text(mark_of(lost))))


def _characters(item: tool_calls.ToolCallContent) -> int:
    marked = (
        isinstance(item, tool_calls.BlockContent) and isinstance(item.block, Text) and cut_characters(item.block.text)
    )
    return marked or len(str(item))


def _is_over(conversation: Conversation, call_id: tool_calls.ToolCallId) -> bool:
    """Whether the call is settled and of an earlier turn. Some agents then use its ID for another."""
    at = conversation.tool_call_entries.get(call_id)
    if at is None or (entry := conversation.tool_call(call_id)).waiting or not entry.call.is_settled:
        return False
    later = islice(reversed(conversation.entries), len(conversation.entries) - at)
    is_prompt = (isinstance(each, entries.Message) and each.role == "user" for each in later)
    return at < (conversation.turn_start or 0) or any(is_prompt)


def _report_tool_call(conversation: Conversation, patch: tool_calls.ToolCallPatch, *, begins: bool) -> entries.EntryId:
    """Create or change a call. An update may come first, and a second `tool_call` changes the first of its turn."""
    call_id = patch.tool_call_id
    if begins and _is_over(conversation, call_id):
        del conversation.tool_call_entries[call_id]
    call = _call_of(conversation, call_id).call
    was_canceled = conversation.turn is facts.TurnPhase.CANCELLING and call.status == tool_calls.CANCELLED
    call.apply(patch)
    if was_canceled and call.status == tool_calls.FAILED:  # that is how the agent tells the user's own cancel
        call.status = tool_calls.CANCELLED
    call.content = _cut_content(call.content)
    if call.is_settled:
        conversation.unsettled_calls.discard(call_id)
    else:
        conversation.unsettled_calls.add(call_id)
    return _show_terminals(conversation, call_id, () if patch.content is UNSET else patch.content)


def _show_terminals(
    conversation: Conversation, call_id: tool_calls.ToolCallId, content: tuple[tool_calls.ToolCallContent, ...]
) -> entries.EntryId:
    entry_id = conversation.tool_call_entries[call_id]
    for item in content:
        if isinstance(item, tool_calls.TerminalContent):
            _show_terminal(conversation, item.terminal_id, entry_id)
    return entry_id


def _show_terminal(conversation: Conversation, terminal_id: tool_calls.TerminalId, entry_id: entries.EntryId) -> None:
    shown = conversation.terminal_entries.get(terminal_id, ())
    if entry_id not in shown:
        conversation.terminal_entries[terminal_id] = (*shown, entry_id)


def _permission(conversation: Conversation, update: updates.PermissionUpdate) -> Change:
    if isinstance(update, updates.PermissionAsked):
        entry_id = _report_tool_call(conversation, update.patch, begins=True)
        request = update.request
        if request.tool_call_id in conversation.subagent_calls:
            request = replace(request, is_alone=True)  # the subagent's conversation shows the outcome
        conversation.permissions[request.key] = request
        _changing_call(conversation, request.tool_call_id).waiting += 1
        return Change((entry_id,), (facts.Fact.PERMISSIONS,))
    asked = conversation.permissions.get(update.key)
    if asked is None:
        return NOTHING
    if isinstance(update, updates.PermissionNoted):
        conversation.permissions[update.key] = replace(asked, note=update.note or None)
        return Change(facts=(facts.Fact.PERMISSIONS,))
    del conversation.permissions[update.key]
    option = next((option for option in asked.answers if option.option_id == update.option_id), None)
    entry = _changing_call(conversation, asked.tool_call_id)
    name, kind = (option.name, option.kind) if option else (None, None)
    entry.waiting -= 1
    if update.is_passed_on:
        return Change((conversation.tool_call_entries[asked.tool_call_id],), (facts.Fact.PERMISSIONS,))
    decision = entries.Decision(name, kind, update.at, update.rule, update.is_withdrawn, asked.is_ours)
    entry.decisions = (*entry.decisions, decision)
    entry.decided_on = tuple(item for item in entry.call.shown_content if isinstance(item, tool_calls.TextDiff))
    if asked.is_alone and (not entry.call.is_settled or entry.call.status == tool_calls.UNFINISHED):
        is_allowed = option is not None and not option.is_rejection
        _settle_calls(conversation, tool_calls.COMPLETED if is_allowed else tool_calls.CANCELLED, {asked.tool_call_id})
    elif (option is None or option.is_rejection) and _awaits_nothing(conversation, asked.tool_call_id):
        is_canceled = option is None and not update.is_withdrawn
        status = tool_calls.CANCELLED if is_canceled else tool_calls.UNFINISHED
        _settle_calls(conversation, status, {asked.tool_call_id})
    return Change((conversation.tool_call_entries[asked.tool_call_id],), (facts.Fact.PERMISSIONS,))


# Subagents


def _subagent_of(conversation: Conversation, session_id: facts.SessionId) -> SubagentState:
    """Return the state of a subagent; adds an unknown one at the end of the conversation."""
    state = conversation.subagents.get(session_id)
    if state is None:
        entry_id = _append(conversation, entries.Subagent(session_id))
        said = Conversation(conversation.entries.empty(), terminals=conversation.terminals)
        state = conversation.subagents[session_id] = SubagentState(session_id, entry_id, said)
    return state


def _subagent_reported(conversation: Conversation, report: updates.SubagentReported) -> Change:
    subagent = _subagent_of(conversation, report.session_id)
    subagent.conversation.title = or_else(report.title, subagent.conversation.title)
    subagent.description = or_else(report.description, subagent.description)
    subagent.is_cancellable = or_else(report.is_cancellable, subagent.is_cancellable)
    changed = Change()
    if isinstance(report.state, updates.StateReported):
        changed = apply(subagent.conversation, report.state)
    elif report.state is None:
        subagent.conversation.state = None
    return _in_subagent(subagent, Change(changed.entries, (*changed.facts, facts.Fact.INFO)))


def _subagent_said(conversation: Conversation, said: updates.SubagentSaid) -> Change:
    is_new = said.session_id not in conversation.subagents
    subagent = _subagent_of(conversation, said.session_id)
    if said.is_of_call:
        if is_new:
            apply(subagent.conversation, updates.StateReported("running"))
            _mirror_call(conversation, tool_calls.ToolCallId(said.session_id))
        if isinstance(said.update, updates.ToolCallReported):
            conversation.subagent_calls[said.update.patch.tool_call_id] = said.session_id
    changed = apply(subagent.conversation, said.update)
    about = (*changed.facts, facts.Fact.INFO) if is_new else changed.facts
    return _in_subagent(subagent, changed._replace(facts=about))


def _in_subagent(subagent: SubagentState, changed: Change) -> Change:
    """Translate a change in a subagent's conversation into a change of its parent's conversation."""
    about = (facts.Fact.SUBAGENTS,) if changed.facts else ()
    return Change((subagent.entry,), about, changed.terminal, (subagent.session_id, changed))


def _mirrored(conversation: Conversation, call_id: tool_calls.ToolCallId, entry_id: entries.EntryId) -> Change:
    """Return the change of a tool call, including the subagent that does its work."""
    subagent = _mirror_call(conversation, call_id) if conversation.subagents else None
    if subagent is None:
        return Change((entry_id,))
    return Change((entry_id, subagent.entry), (facts.Fact.SUBAGENTS,), subagent=(subagent.session_id, Change()))


def _mirror_call(conversation: Conversation, call_id: tool_calls.ToolCallId) -> SubagentState | None:
    """Copy a tool call's title and end to its subagent, if the subagent has no session of its own."""
    subagent = conversation.subagents.get(facts.SessionId(call_id))
    if subagent is None or call_id not in conversation.tool_call_entries:
        return None
    call = conversation.tool_call(call_id).call
    subagent.conversation.title = call.title or subagent.conversation.title
    if call.is_settled and call.status != tool_calls.UNFINISHED and not subagent.conversation.is_idle:
        reasons = {tool_calls.COMPLETED: "end_turn", tool_calls.CANCELLED: "cancelled"}
        reason = reasons.get(call.status)
        if reason is None:
            apply(subagent.conversation, updates.TurnFailed("its tool call has failed"))
        else:
            apply(subagent.conversation, updates.TurnEnded(reason))
    return subagent


def _compaction(conversation: Conversation, update: updates.CompactionUpdate) -> Change:
    entry_id = conversation.compaction_entries.get(update.compaction_id)
    if entry_id is None:
        entry_id = _append(conversation, entries.Compaction(update.compaction_id))
        conversation.compaction_entries[update.compaction_id] = entry_id
    entry = conversation.entries.changing(entry_id, entries.Compaction)
    if isinstance(update, updates.CompactionChunk):
        entry.summary.append(update.block)
    else:
        entry.status = or_else(update.status, entry.status)
        entry.error = or_else(update.error, entry.error)
        entry.summary = entry.summary if update.summary is UNSET else list(update.summary)
    return Change((entry_id,))


# Facts


def _fact(conversation: Conversation, update: updates.FactUpdate) -> facts.Fact:
    match update:
        case updates.PlanReplaced(steps, plan_id):
            conversation.open_message = None
            if steps:
                conversation.plans[plan_id] = facts.Plan(steps)
                conversation.has_old_plans = False
            else:
                conversation.plans.pop(plan_id, None)
            return facts.Fact.PLAN
        case updates.CommandsReplaced(commands):
            conversation.commands = commands
            return facts.Fact.COMMANDS
        case updates.OptionsReplaced(options):
            conversation.options = options
            return facts.Fact.OPTIONS
        case updates.OptionChanged():
            conversation.options = tuple(_with_value(option, update) for option in conversation.options)
            return facts.Fact.OPTIONS
        case updates.InfoChanged(title, updated_at):
            if not conversation.is_named:
                told = title_in_line(title) if isinstance(title, str) else title
                conversation.title = or_else(told, conversation.title)
            conversation.updated_at = or_else(updated_at, conversation.updated_at)
            return facts.Fact.INFO
        case updates.Renamed(title):
            conversation.title, conversation.is_named = title, True
            return facts.Fact.INFO
        case updates.UsageReported(usage):
            before = conversation.usage
            if update.keeps_cost and before is not None:
                usage = replace(usage, cost_amount=before.cost_amount, cost_currency=before.cost_currency)
            conversation.usage = usage
            if conversation.turns and conversation.is_idle:  # the agent counted after the turn's end
                conversation.turns[-1] = _with_spent(conversation, conversation.turns[-1])
            return facts.Fact.USAGE
        case updates.NoticeShown(severity, title, description):
            most = MAX_NOTICE_CHARACTERS
            kept = updates.NoticeShown(severity[:most], title[:most], description and description[:most])
            conversation.notices.append(kept)
            del conversation.notices[:-MAX_NOTICES]
            conversation.notice_count += 1
            return facts.Fact.NOTICES
        case _:
            assert_never(update)


def _with_value(option: facts.ConfigOption, change: updates.OptionChanged) -> facts.ConfigOption:
    if option.option_id != change.option_id:
        return option
    match option:
        case facts.SelectOption() if option.source == change.source and isinstance(change.value, str):
            return replace(option, value=change.value)
        case facts.BooleanOption() if isinstance(change.value, bool):
            return replace(option, value=change.value)
        case _:
            return option


# Terminals


KEPT_OF_EARLIER: Final = ((50, 16 << 10), (1_000, 0))
"""How many terminals were opened after a terminal, and how many bytes of its output stay then."""


def apply_terminal(conversation: Conversation, update: updates.TerminalUpdate) -> Change:
    if isinstance(update, updates.TerminalResized):
        return _resize(conversation, update)
    state = conversation.terminals.get(update.terminal_id)
    if state is None:
        state = entries.TerminalState(update.terminal_id, is_ours=False)
        conversation.terminals[update.terminal_id] = state
        _shrink_earlier(conversation)
    match update:
        case updates.TerminalOutput():
            state.output.append(update.data)
        case updates.TerminalOpened():
            state.command = update.command or state.command
            state.cwd = update.cwd or state.cwd
            state.is_ours = update.is_ours
            state.columns, state.rows = update.columns, update.rows
        case updates.TerminalReported():
            _report_terminal(state, update)
        case updates.TerminalWaiting():
            state.is_waiting = update.is_waiting
        case updates.TerminalExited():
            state.has_exited, state.is_waiting = True, False
            state.exit_code, state.signal, state.seconds = update.exit_code, update.signal, update.seconds
    return _change(conversation, update.terminal_id)


def _report_terminal(state: entries.TerminalState, report: updates.TerminalReported) -> None:
    state.command = or_else(report.command, state.command)
    state.cwd = or_else(report.cwd, state.cwd)
    state.is_cancellable = or_else(report.is_cancellable, state.is_cancellable)
    state.columns, state.rows = or_else(report.size, (state.columns, state.rows))
    if report.output is not UNSET:
        state.output = ByteRing(state.output.limit_bytes)  # a new object, so that views notice
        state.output.append(report.output)
    if report.exit is not UNSET:
        ended = report.exit or updates.TerminalExit()
        state.has_exited = report.exit is not None
        state.exit_code, state.signal = ended.exit_code, ended.signal


def _shrink_earlier(conversation: Conversation) -> None:
    """Shrink the output of earlier terminals, first to its end and then to nothing: an agent may open any number."""
    for behind, limit_bytes in KEPT_OF_EARLIER:
        for state in islice(reversed(conversation.terminals.values()), behind, behind + 1):
            state.output.shrink(limit_bytes)


def _resize(conversation: Conversation, update: updates.TerminalResized) -> Change:
    """Resize one of our terminals. The agent decides on the size of its own."""
    state = conversation.terminals.get(update.terminal_id)
    if state is None or not state.is_ours:
        return NOTHING
    state.columns, state.rows = update.columns, update.rows
    return _change(conversation, update.terminal_id)


def _change(conversation: Conversation, terminal_id: tool_calls.TerminalId) -> Change:
    return Change(conversation.terminal_entries.get(terminal_id, ()), (facts.Fact.TERMINALS,), terminal_id)


# Questions


CHANGED: Final = Change(facts=(facts.Fact.ELICITATIONS,))


def apply_elicitation(conversation: Conversation, update: updates.ElicitationUpdate) -> Change:
    """Apply an update about a form or page. Ignores unknown and already answered ones."""
    match update:
        case updates.ElicitationAsked(elicitation):
            conversation.elicitations[elicitation.key] = elicitation
            return CHANGED
        case updates.ElicitationAnswered():
            return _answered(conversation, update)
        case updates.ElicitationCompleted(elicitation_id):
            return _completed(conversation, elicitation_id)


def forget_elicitations(conversation: Conversation) -> Change:
    """Drop all forms and pages: the agent is gone, so no answers or completions will follow."""
    if not conversation.elicitations and not conversation.visits:
        return NOTHING
    conversation.elicitations.clear()
    conversation.visits.clear()
    return CHANGED


def _answered(conversation: Conversation, update: updates.ElicitationAnswered) -> Change:
    """Add the answer to the conversation.

    A page that the user agreed to visit stays visible, unless it's already done (R-ELIC-11).
    """
    elicitation = conversation.elicitations.pop(update.key, None)
    if elicitation is None:
        return NOTHING
    if update.action == "accept" and isinstance(elicitation, UrlVisit) and not elicitation.is_complete:
        conversation.visits[elicitation.elicitation_id] = elicitation
    url = place_of(elicitation.url) if isinstance(elicitation, UrlVisit) else None
    conversation.entries.append(entries.Question(elicitation.message, update.action, url, update.values, update.at))
    conversation.open_message = None  # the agent's next chunk responds to this answer
    return Change((entries.EntryId(len(conversation.entries) - 1),), CHANGED.facts)


def _completed(conversation: Conversation, elicitation_id: str) -> Change:
    """Mark a page as done. If the user hasn't agreed yet, the question stays and says there's nothing left to do."""
    pages = (each for each in conversation.elicitations.values() if isinstance(each, UrlVisit))
    waiting = [each for each in pages if each.elicitation_id == elicitation_id and not each.is_complete]
    for visit in waiting:
        conversation.elicitations[visit.key] = replace(visit, is_complete=True)
    visited = conversation.visits.pop(elicitation_id, None)
    return CHANGED if waiting or visited is not None else NOTHING
