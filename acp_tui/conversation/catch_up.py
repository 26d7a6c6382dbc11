"""Retells a conversation: as updates that fold into an equal one, or as the first prompt for another agent.

Only the result is retold, not its history: a message of a thousand chunks becomes one update. The user edits the
prompt before sending it. Quotes of an agent are marked as such, so none of them pass for the user's words.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice
from typing import Final, NamedTuple, assert_never

from acp_tui.conversation import UNSET, entries, facts, updates
from acp_tui.conversation.buffers import TextBuffer
from acp_tui.conversation.content import ContentBlock, Text
from acp_tui.conversation.conversation import Conversation, Echo, SubagentState
from acp_tui.conversation.elicitation import Form, UrlVisit
from acp_tui.conversation.reducer import IDLE
from acp_tui.conversation.tool_calls import IN_PROGRESS, UNFINISHED, ToolCall, ToolCallPatch
from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.conversation.web_address import place_of

_BREAK = updates.PlanReplaced(())
"""Without a plan to clear, it only ends the message that chunks without an ID join."""


def retold(conversation: Conversation) -> Iterator[updates.SessionUpdate]:
    """Yield the updates in order, without waiting questions and notices.

    The conversation must not change while you iterate.
    """
    return _Retelling(conversation).everything()


class _Retelling:
    def __init__(self, conversation: Conversation) -> None:
        self._of = conversation
        self._keys = map(facts.RequestKey, count(-1, -1))  # keys from 1 on belong to waiting questions
        self._turns = deque(conversation.turns)
        """The turns whose end isn't told yet."""
        self._running = None if conversation.is_idle else conversation.turn_start
        """The entry that began the turn that runs."""
        self._begun: int | None = None
        """The entry that began the turn, while one runs as told."""
        self._cost: float | None = None
        """The session's cost, as told."""
        self._costs_before = dict(_costs_before(conversation, self._running))
        """Its cost when a turn began, by the entry that began it."""

    def everything(self) -> Iterator[updates.SessionUpdate]:
        conversation = self._of
        for state in conversation.terminals.values():
            yield from _terminal(state)
        last: entries.Entry | None = None
        for at, entry in enumerate(conversation.entries):
            yield from self._end_turns(at)
            if _would_join(last, entry):
                yield _BREAK
            if at == conversation.open_message:
                yield from self._plans()
            yield from self._begin_turn(at, entry)
            yield from self._entry(entries.EntryId(at), entry)
            last = entry
        yield from self._end_turns(len(conversation.entries))
        yield from self._begin_turn(len(conversation.entries))
        if conversation.open_message is None:
            yield _BREAK
            yield from self._plans()
        yield from self._facts()

    def _begin_turn(self, at: int, entry: entries.Entry | None = None) -> Iterator[updates.SessionUpdate]:
        """Tell the cost before a turn that begins at this entry, and its beginning if the entry isn't its prompt."""
        turn = self._turns[0] if self._turns else None
        if at != self._running and (turn is None or turn.start != at):
            return
        self._begun, before = at, self._costs_before.get(at)
        if before != self._cost and (at or before):  # before it begins, a session costs nothing
            yield self._costs(before)
        if not (isinstance(entry, entries.Message) and self._is_sent(at, entry)):
            yield updates.StateReported("running")

    def _end_turns(self, count: int) -> Iterator[updates.SessionUpdate]:
        """Tell the end of the turns that ended when there were `count` entries, unless an entry tells it."""
        while self._turns and self._turns[0].end <= count:
            if self._turns[0].start == count:  # it has no entries
                yield from self._begin_turn(count)
            self._begun = None
            if self._turns[0].stop_reason == "end_turn":
                yield from self._end_turn("end_turn")
            else:
                self._turns.popleft()

    def _is_end_of_turn(self, at: entries.EntryId) -> bool:
        """Whether a failure ended the turn. Otherwise the agent was gone."""
        turn = self._turns[0] if self._turns else facts.TurnSpent(0, stop_reason="")
        is_within = self._begun is not None and turn.start == self._begun
        return turn.stop_reason is None and (turn.end == at + 1 or is_within)

    def _end_turn(self, stop_reason: str) -> Iterator[updates.SessionUpdate]:
        turn = self._turns.popleft() if self._turns else facts.TurnSpent(0)
        if turn.cost and self._turns:  # the last turn's cost follows from the last report
            yield self._costs((self._costs_before.get(turn.start) or 0.0) + turn.cost)
        yield updates.TurnEnded(stop_reason, usage=turn.usage)

    def _went_on(self, start: int, end: int) -> Iterator[updates.SessionUpdate]:
        """Tell which calls of a canceled turn were reported again after it: their turn ended later."""
        for entry in islice(self._of.entries, start, end):
            if isinstance(entry, entries.ToolCallEntry) and entry.call.status == UNFINISHED:
                yield updates.ToolCallReported(ToolCallPatch(entry.call.tool_call_id, status=IN_PROGRESS))

    def _costs(self, amount: float | None) -> updates.SessionUpdate:
        """The session's cost; `_facts` tells the rest of its usage."""
        self._cost = amount
        return updates.UsageReported(
            facts.Usage(0, 0, amount, self._of.usage.cost_currency if self._of.usage is not None else None)
        )

    def _plans(self) -> Iterator[updates.SessionUpdate]:
        for plan_id, plan in self._of.plans.items():
            yield updates.PlanReplaced(plan.steps, plan_id)

    def _facts(self) -> Iterator[updates.SessionUpdate]:
        conversation = self._of
        if conversation.state is not None and (conversation.state == IDLE or not conversation.is_idle):
            if conversation.has_run and not conversation.is_idle:
                yield updates.StateReported("running")
            yield updates.StateReported(conversation.state, background=conversation.background)
        if conversation.turn is facts.TurnPhase.CANCELLING:
            yield updates.CancelRequested()
        # The end of a turn settled its calls as retold, but some continued.
        for call_id in sorted(conversation.unsettled_calls):
            status = conversation.tool_call(call_id).call.status
            yield updates.ToolCallReported(ToolCallPatch(call_id, status=status))
        if conversation.options:
            yield updates.OptionsReplaced(conversation.options)
        if conversation.commands:
            yield updates.CommandsReplaced(conversation.commands)
        if conversation.title is not None or conversation.updated_at is not None:
            yield updates.InfoChanged(conversation.title, conversation.updated_at)
        if conversation.is_named:
            yield updates.Renamed(conversation.title or "")
        if conversation.usage is not None:
            yield updates.UsageReported(conversation.usage)

    def _entry(self, at: entries.EntryId, entry: entries.Entry) -> Iterator[updates.SessionUpdate]:
        match entry:
            case entries.Message():
                yield from self._message(at, entry)
            case entries.ToolCallEntry(call, decisions):
                yield updates.ToolCallReported(patch_of(call), begins=True)
                decided_on = ToolCallPatch(call.tool_call_id, content=entry.decided_on)
                for decision in decisions:
                    key, name = next(self._keys), decision.option_name
                    option = facts.PermissionOption("answer", name or "", decision.option_kind or "")
                    request = facts.PermissionRequest(key, call.tool_call_id, (option,), is_ours=decision.is_ours)
                    yield updates.PermissionAsked(request, decided_on)
                    chosen = None if name is None else option.option_id
                    yield updates.PermissionAnswered(key, chosen, decision.at, decision.rule, decision.is_withdrawn)
                if decisions:
                    yield updates.ToolCallReported(ToolCallPatch(call.tool_call_id, content=call.content))
                if call.places:
                    yield updates.DiffsPlaced(call.tool_call_id, tuple(call.places.values()))
            case entries.Question():
                yield from self._question(entry)
            case entries.OwnCommand(line, terminal_id):
                yield updates.CommandRun(line, terminal_id)
            case entries.Compaction(compaction_id, status, summary, error):
                yield updates.CompactionChanged(
                    compaction_id, status, tuple(summary), UNSET if error is None else error
                )
            case entries.Subagent(session_id):
                yield from _subagent(self._of.subagents[facts.SessionId(session_id)])
            case entries.TurnEnd(stop_reason):
                start = (self._turns[0].start or 0) if self._turns else 0
                yield from self._end_turn(stop_reason)
                if stop_reason == "cancelled":
                    yield from self._went_on(start, at)
            case entries.Failure(message, detail, stderr_tail, said):
                if detail is None and said is None and not self._is_end_of_turn(at):
                    yield updates.Disconnected(message, stderr_tail)
                else:
                    yield updates.TurnFailed(message, detail, said=said)
            case updates.Reconnected():
                self._cost = None
                yield entry
            case updates.ClientRemark() | updates.UnknownUpdate():
                yield entry
            case _:
                assert_never(entry)

    def _message(self, at: entries.EntryId, message: entries.Message) -> Iterator[updates.SessionUpdate]:
        conversation, message_id = self._of, message.message_id
        blocks = blocks_of(message)
        if not self._is_sent(at, message):
            yield from (updates.MessageChunk(message.role, block, message_id) for block in blocks)
            if message_id is not None and not blocks:  # the agent has emptied it
                if message.role == "user":
                    yield updates.MessageReplaced(message.role, message_id, (Text(""),))
                else:  # it begins with a chunk, perhaps under an ID of an earlier turn
                    yield updates.MessageChunk(message.role, Text("-"), message_id)
                yield updates.MessageReplaced(message.role, message_id, ())
            return
        echo = conversation.echoes.get(message_id or "")
        is_changed = message_id is not None and echo is None and bool(message.text)  # or its ID is free again
        if message_id is not None or at in conversation.unaccepted:
            yield updates.PromptSent(() if is_changed else blocks, message.notes, awaits_id=True)
            if self._begun == self._running and conversation.state == IDLE and not conversation.has_run:
                yield updates.StateReported(IDLE)  # since before it was accepted
        elif at == self._begun:
            yield updates.PromptSent(blocks, message.notes)
            echo = conversation.echo if at == self._running else None
            if echo is None:  # what comes then is no echo
                echo = Echo(message.text, len(message.text))
        else:
            yield updates.PromptJoined(blocks, message.notes)
        if message_id is not None:
            yield updates.PromptAccepted(message_id)
            if is_changed:
                yield updates.MessageReplaced("user", message_id, blocks)
        if echo is not None and echo.matched:
            yield updates.MessageChunk("user", Text(echo.expected[: echo.matched]), message_id)

    def _is_sent(self, at: int, message: entries.Message) -> bool:
        """Whether the user sent it here, and no chunk joins it. With an ID it belongs to a turn."""
        is_sent = message.is_sent and at != self._of.open_message
        return is_sent and (message.message_id is None or self._begun is not None)

    def _question(self, question: entries.Question) -> Iterator[updates.SessionUpdate]:
        key = next(self._keys)
        if question.url is None:
            yield updates.ElicitationAsked(Form(key, question.message, ()))
            yield updates.ElicitationAnswered(key, question.action, question.at, question.values)
            return
        open_visits = (
            visit
            for visit in self._of.visits.values()
            if visit.message == question.message and place_of(visit.url) == question.url
        )
        visit = next(open_visits, None) if question.action == "accept" else None
        known_id, url = (visit.elicitation_id, visit.url) if visit else (f"{key}", question.url)
        yield updates.ElicitationAsked(UrlVisit(key, question.message, known_id, url))
        yield updates.ElicitationAnswered(key, question.action, question.at, question.values)
        if visit is None:
            yield updates.ElicitationCompleted(known_id)


def _costs_before(conversation: Conversation, running: int | None) -> Iterator[tuple[int | None, float | None]]:
    cost, *earlier = conversation.cost_before, *reversed(conversation.turns)
    yield conversation.turn_start, cost
    for turn in earlier if running is not None else earlier[1:]:
        cost = None if turn.cost is None else (turn.cost if cost is None else cost) - turn.cost
        yield turn.start, cost


def _subagent(state: SubagentState) -> Iterator[updates.SessionUpdate]:
    """Yield what an agent can report of a subagent. Its terminals are retold with those of the parent."""
    said, session_id = state.conversation, state.session_id
    begun = updates.StateReported("running") if said.entries or not said.is_idle else UNSET
    yield updates.SubagentReported(session_id, said.title, state.description, begun, state.is_cancellable)
    for update in retold(said):
        match update:
            case (
                updates.MessageChunk()
                | updates.ToolCallReported()
                | updates.PlanReplaced()
                | updates.UsageReported()
                | updates.CompactionChanged()
                | updates.SubagentReported()
                | updates.SubagentSaid()
            ):
                yield updates.SubagentSaid(session_id, update)
    if said.is_idle and begun is not UNSET:
        ended = updates.StateReported("idle", said.last_stop_reason, usage=said.spent)
        yield updates.SubagentReported(session_id, state=ended)


def _would_join(last: entries.Entry | None, entry: entries.Entry) -> bool:
    """Whether chunks of `entry`, which has no ID, would join the previous message."""
    return (
        isinstance(entry, entries.Message)
        and isinstance(last, entries.Message)
        and entry.role == last.role
        and entry.message_id is None
        and last.message_id is None
    )


def blocks_of(message: entries.Message) -> tuple[ContentBlock, ...]:
    return tuple(Text(part.text) if isinstance(part, TextBuffer) else part for part in message.parts)


def patch_of(call: ToolCall) -> ToolCallPatch:
    """Return everything known about a call as one report."""
    return ToolCallPatch(
        call.tool_call_id,
        call.title,
        call.kind,
        UNSET if call.status == UNFINISHED else call.status,  # the end of its turn says so again
        call.content,
        call.locations,
        call.raw_input,
        call.raw_output,
        UNSET if call.name is None else call.name,
        call.is_cancellable or UNSET,
        meta=call.meta or None,
    )


def _terminal(state: entries.TerminalState) -> Iterator[updates.SessionUpdate]:
    yield updates.TerminalOpened(state.terminal_id, state.command, state.cwd, state.is_ours, state.columns, state.rows)
    if printed := state.output.read():
        yield updates.TerminalOutput(state.terminal_id, printed)
    if state.is_waiting:
        yield updates.TerminalWaiting(state.terminal_id, True)
    if state.has_exited:
        yield updates.TerminalExited(state.terminal_id, state.exit_code, state.signal, state.seconds)
    if state.is_cancellable:
        yield updates.TerminalReported(state.terminal_id, is_cancellable=True)


MAX_CHARACTERS: Final = 12_000
"""The limit for all turns together. The earliest are left out first."""
MAX_PROMPT_CHARACTERS: Final = 1_500
MAX_ANSWER_CHARACTERS: Final = 2_500
MAX_FILES: Final = 50

_BEGINNING: Final = (
    "Continue work that was begun in another session, in this folder. Read the files before you change them."
)
_MARKS: Final = {"completed": "x", "in_progress": "~"}


class _Exchange(NamedTuple):
    prompt: str
    answer: str


def digest(conversation: Conversation, changed_files: Sequence[str], until: entries.EntryId | None = None) -> str:
    """Summarize the conversation in Markdown, limited to about `MAX_CHARACTERS` plus a list of files.

    With `until`, include only what was said before that prompt. What to do now comes after it.
    """
    parts = [_BEGINNING]
    exchanges, left_out = _latest(list(_exchanges(conversation.entries[:until])))
    if left_out:
        parts.append(f"({left_out} earlier prompts are left out.)")
    for exchange in exchanges:
        parts.append(f"## I asked\n\n{exchange.prompt}")
        if exchange.answer:
            quoted = "\n".join(f"> {line}".rstrip() for line in exchange.answer.split("\n"))
            parts.append(f"## The agent answered\n\n{quoted}")
    if changed_files:
        names = [f"- {make_visible_line(name)}" for name in changed_files[:MAX_FILES]]
        more = len(changed_files) - MAX_FILES
        parts.append("\n".join(["## Files changed", "", *names, *([f"- and {more} more"] if more > 0 else [])]))
    if until is None:
        parts += (_plan(plan) for plan in conversation.plans.values() if plan.steps)
    return "\n\n".join([*parts, "## Now\n\n"])


def _exchanges(told: Iterable[entries.Entry]) -> Iterator[_Exchange]:
    """Yield each prompt with the last message of its answer, which says most about the outcome."""
    prompt, answer = "", ""
    for entry in told:
        if not isinstance(entry, entries.Message):
            continue
        if entry.role == "user":
            if prompt:
                yield _Exchange(prompt, answer)
            prompt, answer = _shortened(entry.text, MAX_PROMPT_CHARACTERS), ""
        elif entry.role == "agent" and entry.text.strip():
            answer = _shortened(entry.text, MAX_ANSWER_CHARACTERS)
    if prompt:
        yield _Exchange(prompt, answer)


def _latest(exchanges: Sequence[_Exchange]) -> tuple[Sequence[_Exchange], int]:
    """Return the last exchanges that fit, and how many don't."""
    room, first = MAX_CHARACTERS, len(exchanges)
    for exchange in reversed(exchanges):
        room -= len(exchange.prompt) + len(exchange.answer)
        if room < 0:
            break
        first -= 1
    return exchanges[first:], first


def _shortened(text: str, limit: int) -> str:
    """Return visible text cut to its beginning, which says what it's about, and its end, which has the outcome."""
    text = make_visible(text.strip())
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half].rstrip()}\n\n[…]\n\n{text[-half:].lstrip()}"


def _plan(plan: facts.Plan) -> str:
    steps = (f"- [{_MARKS.get(step.status, ' ')}] {make_visible_line(step.content)}" for step in plan.steps)
    return "\n".join(["## Plan", "", *steps])
