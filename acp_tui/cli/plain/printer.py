"""Prints a conversation's changes in lines: finished blocks of messages, tool calls at their start and end.

It reads the conversation and asks nothing. `tool_call_text` has the wording.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field, replace
from pathlib import Path
from typing import Final

from acp_tui.cli.plain import tool_call_text
from acp_tui.cli.plain.console import Outbox
from acp_tui.client.settings.settings import Settings
from acp_tui.conversation import buffers, content, entries, facts, tool_calls, tool_text, updates, wording
from acp_tui.conversation.conversation import Change, Conversation, SubagentState
from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.values import dataclass

STEP_WORDS: Final = {"completed": "done", "in_progress": "now", "pending": "to do"}
_FENCE: Final = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])?[ \t]*(`{3,}|~{3,})(.*)")


class Blocks:
    """Splits growing text into finished blocks: paragraphs, lists, fenced code.

    A block ends at a blank line or with its fence. Within a fence, blank lines don't end it.
    """

    def __init__(self) -> None:
        self._unread = ""
        """The unfinished line."""
        self._lines: list[str] = []
        self._fence = ""

    def add(self, text: str) -> Iterator[str]:
        """Add text. Yields the blocks it finishes."""
        *lines, self._unread = (self._unread + text).split("\n")
        for line in lines:
            yield from self._take(line)

    def rest(self) -> Iterator[str]:
        """Yield what is left when nothing more comes for now."""
        if self._unread:
            line, self._unread = self._unread, ""
            yield from self._take(line)
        yield from self._end()

    def _take(self, line: str) -> Iterator[str]:
        if not self._fence and not line.strip():
            yield from self._end()
            return
        self._lines.append(line)
        found = _FENCE.fullmatch(line.rstrip("\r"))
        if found is None:
            return
        marks, rest = found[1], found[2]
        if not self._fence:
            self._fence = "" if marks[0] == "`" and "`" in rest else marks
        elif marks.startswith(self._fence) and not rest.strip():
            self._fence = ""
            yield from self._end()

    def _end(self) -> Iterator[str]:
        if self._lines:
            block, self._lines = "\n".join(self._lines), []
            yield block


def spoken_blocks(text: str) -> Iterator[str]:
    """Yield the blocks of an agent's whole text as they are printed."""
    blocks = Blocks()
    yield from map(tool_call_text.theirs, (*blocks.add(text), *blocks.rest()))


@dataclass(slots=True)
class _PrintedMessage:
    """How much of a message has been printed."""

    is_typed_here: bool
    """Whether the user just typed it, so it needn't be printed."""
    part: int = 0
    """The current part, printed up to `characters`."""
    characters: int = 0
    parts: list[buffers.TextBuffer | content.ContentBlock] | None = None
    """The parts being printed. A different list means that the message was replaced."""
    blocks: Blocks = field(default_factory=Blocks)
    is_begun: bool = False
    """For a shortened thought: whether its first line has been printed."""


_ALWAYS_TOLD: Final = (entries.TurnEnd, entries.Failure, entries.OwnCommand, updates.Reconnected, updates.ClientRemark)


class ConversationPrinter:
    def __init__(self, conversation: Conversation, cwd: Path, outbox: Outbox, settings: Settings, title: str) -> None:
        """`title` is the agent's."""
        self._is_brief = settings.appearance.plain_detail == "answer"
        """Whether only the last message of a turn is printed, at its end."""
        self.is_typed_here = False
        """Whether prompts of now were typed here, so they needn't be printed."""
        self._agent = tool_call_text.label_of(title)
        self._cwd = str(cwd)
        self._conversation = conversation
        self._outbox = outbox
        self._shown = settings.conversation
        self._messages: dict[entries.EntryId, _PrintedMessage] = {}
        self._open: entries.EntryId | None = None
        """The message that may continue."""
        self._calls: dict[entries.EntryId, str] = {}
        """The last printed status of each call."""
        self._begun: tuple[entries.EntryId | None, int, str] = (None, 0, "")
        """The last call whose start was printed, how much had been by then, and as what."""
        self._asked: dict[tool_calls.ToolCallId, tuple[tool_calls.ToolCallContent, ...]] = {}
        """The content shown to the user with a call's permission request."""
        self._others: set[entries.EntryId] = set()
        self._subagents: dict[facts.SessionId, str] = {}
        self._plans: dict[str, facts.Plan] = {}
        self._has_new_plan = False
        self._options: dict[str, str] = {}
        self._notices = conversation.notice_count
        self._ended: set[tool_calls.TerminalId] = set()
        self._waiting: set[tool_calls.TerminalId] = set()

    def tell_all(self) -> None:
        """Print what was said before now."""
        self.note_options()
        every = tuple(map(entries.EntryId, range(len(self._conversation.entries))))
        self.tell(Change(every, (facts.Fact.PLAN, facts.Fact.NOTICES)))
        if self._conversation.is_idle:
            self.finish()

    def note_options(self) -> None:
        """Remember the current options, so that only later changes are printed."""
        self._options = {option.option_id: wording.value_name(option) for option in self._conversation.options}

    def tell(self, change: Change) -> None:
        for entry_id in change.entries:
            entry = self._conversation.entries[entry_id]
            if self._is_brief and isinstance(entry, entries.TurnEnd | entries.Failure):
                self.finish()
            if not self._is_brief or isinstance(entry, _ALWAYS_TOLD):
                self._tell_entry(entry_id, entry)
        if facts.Fact.OPTIONS in change.facts:
            self._tell_options()
        self._has_new_plan |= facts.Fact.PLAN in change.facts and not self._is_brief
        if self._open is None:
            self._tell_plans()
        if facts.Fact.NOTICES in change.facts and not self._is_brief:
            self._tell_notices()
        if change.terminal is not None:
            self._tell_terminal(change.terminal)

    def finish(self) -> None:
        """Print the rest of the last message, because nothing more comes for now."""
        if self._is_brief:
            self._tell_answer()
        self._finish_message()

    def _tell_answer(self) -> None:
        """Begin to print the last message of the turn, unless that is done."""
        every = self._conversation.entries
        for at in range(len(every) - 1, (self._conversation.turn_start or 0) - 1, -1):
            entry = every[at]
            if isinstance(entry, entries.Message) and entry.role == "agent" and entry.parts:
                if at not in self._messages:
                    self._tell_message(entries.EntryId(at), entry)
                return

    def _finish_message(self) -> None:
        if self._open is not None:
            entry_id, self._open = self._open, None
            message = self._conversation.entries[entry_id]
            assert isinstance(message, entries.Message)
            told = self._messages[entry_id]
            self._say_blocks(message, told, told.blocks.rest())
        self._tell_plans()

    # Entries

    def _tell_entry(self, entry_id: entries.EntryId, entry: entries.Entry) -> None:
        if self._open is not None and entry_id > self._open:  # a change of an earlier one breaks up no word
            self._finish_message()
        match entry:
            case entries.Message():
                self._tell_message(entry_id, entry)
            case entries.ToolCallEntry():
                self._tell_call(entry_id, entry)
            case entries.Compaction():
                self._others.add(entry_id)
                status = make_visible_line(entry.error or entry.status.replace("_", " "))
                self._say(f"the agent is compacting its context: {status}")
            case entries.Subagent(session_id):
                self._tell_subagent(self._conversation.subagents[facts.SessionId(session_id)])
            case _ if entry_id not in self._others:
                self._others.add(entry_id)
                self._say(_words(entry))

    def _tell_message(self, entry_id: entries.EntryId, message: entries.Message) -> None:
        if entry_id not in self._messages and message.role == "user":
            for note in message.notes:
                self._say(make_visible(note))
        is_known = entry_id in self._messages
        told = self._messages.setdefault(entry_id, _PrintedMessage(message.role == "user" and self.is_typed_here))
        all_news = list(_news(message, told))
        if is_known and not all_news:
            return
        if self._open != entry_id:
            self._finish_message()
        self._open = entry_id
        for news in all_news:
            if isinstance(news, str):
                self._say_blocks(message, told, told.blocks.add(news))
            else:
                self._say_blocks(message, told, told.blocks.rest())
                self._say_blocks(message, told, iter([tool_call_text.content_text(tool_calls.BlockContent(news))]))

    def _say_blocks(self, message: entries.Message, told: _PrintedMessage, blocks: Iterator[str]) -> None:
        for block in blocks:
            text = tool_call_text.theirs(block)
            if message.role == "thought":
                self._say_thought(told, text)
            elif message.role == "agent":
                self._outbox.put(f"\n{text}", self._agent)
            elif not told.is_typed_here:
                self._outbox.put(f"\n{text}", tool_call_text.YOU)

    def _say_thought(self, told: _PrintedMessage, text: str) -> None:
        if self._shown.thoughts == "open":
            self._outbox.put(tool_call_text.ours(text), tool_call_text.THOUGHT)
        elif not told.is_begun:
            told.is_begun = True
            self._outbox.put(text.partition("\n")[0], tool_call_text.THOUGHT)

    def _tell_call(self, entry_id: entries.EntryId, entry: entries.ToolCallEntry) -> None:
        call, told = entry.call, self._calls.get(entry_id)
        if call.status == told or (told is not None and call.status not in tool_calls.SETTLED):
            return
        if told is None and not call.title and call.status not in tool_calls.SETTLED:
            return  # many agents send the title a moment later
        self._calls[entry_id] = call.status
        about = tool_call_text.about(call, self._conversation.terminals)
        heading = tool_text.visible_title(call) + about + tool_call_text.place_of(call, self._cwd)
        if call.status not in tool_calls.SETTLED:
            self._outbox.put(f"{tool_call_text.TOOL}{heading}")
            self._begun = (entry_id, self._outbox.count, heading)
            return
        word = tool_call_text.STATUS_WORDS.get(call.status, make_visible_line(entry.status_words))
        is_named = self._begun == (entry_id, self._outbox.count, heading)
        self._outbox.put(word if is_named else f"{word}: {heading}")
        if call.kind not in self._shown.fold_kinds or call.status == tool_calls.FAILED:
            seen = self._asked.get(call.tool_call_id, ())
            # A copy, because a thread reads it.
            new = replace(call, content=tuple(item for item in call.content if item not in seen))
            self._outbox.put(lambda: tool_call_text.result_of(new, self._shown, self._cwd))

    def note_asked(self, call: tool_calls.ToolCall) -> None:
        """Remember the content of a call that the user was shown, so that it isn't printed again."""
        self._asked[call.tool_call_id] = call.content

    def _tell_subagent(self, subagent: SubagentState) -> None:
        """Print a subagent's state when it changes. Only the full-screen interface shows what it says."""
        state = wording.subagent_state(subagent)
        if self._subagents.get(subagent.session_id) != state and subagent.conversation.title:
            self._subagents[subagent.session_id] = state
            self._say(f"subagent {make_visible_line(subagent.conversation.title)}: {state}")

    def _say(self, text: str) -> None:
        self._outbox.put(tool_call_text.ours(text), tool_call_text.ACP_TUI)

    # Facts

    def _tell_plans(self) -> None:
        """Print what is new in the plans, between two messages."""
        if not self._has_new_plan:
            return
        self._has_new_plan = False
        for name, plan in self._conversation.plans.items():
            if self._plans.get(name) != plan:
                self._outbox.put(_plan_words(plan, self._plans.get(name)))
        self._plans = dict(self._conversation.plans)

    def _tell_options(self) -> None:
        before = self._options
        self.note_options()
        for option in self._conversation.options:
            if before.get(option.option_id) not in (None, self._options[option.option_id]):
                value = make_visible_line(self._options[option.option_id])
                self._say(f"{make_visible_line(option.name)} is now {value}")

    def _tell_notices(self) -> None:
        # Only the latest are kept, so new ones are counted from the end.
        new, self._notices = self._conversation.notice_count - self._notices, self._conversation.notice_count
        for notice in self._conversation.notices[-new:] if new > 0 else ():
            text = ": ".join(filter(None, (notice.severity, notice.title, notice.description)))
            self._say(make_visible(text))

    def _tell_terminal(self, terminal_id: tool_calls.TerminalId) -> None:
        """Print a terminal's output once, after its command ended: lines that arrive as you read distract."""
        state = self._conversation.terminals[terminal_id]
        shown_by = self._conversation.terminal_entries.get(terminal_id)
        entry = self._conversation.entries[shown_by[-1]] if shown_by is not None else None
        is_told = not self._is_brief or isinstance(entry, entries.OwnCommand)
        call = entry.call if isinstance(entry, entries.ToolCallEntry) else None
        if state.has_exited and is_told and terminal_id not in self._ended:
            self._ended.add(terminal_id)
            # Finished output doesn't change anymore.
            self._outbox.put(lambda: tool_call_text.output_of(state, self._shown, call))
        elif state.is_waiting and terminal_id not in self._waiting:
            self._say(f"waits for input: {tool_call_text.command_of(state)}\n/type TEXT sends it a line")
        if state.is_waiting:
            self._waiting.add(terminal_id)
        else:
            self._waiting.discard(terminal_id)


def _news(message: entries.Message, told: _PrintedMessage) -> Iterator[str | content.ContentBlock]:
    """Yield what is new in a message. Blocks the user doesn't see don't interrupt its last text."""
    if told.parts is not None and told.parts is not message.parts:  # a message that replaces it is printed again
        told.part = told.characters = 0
    told.parts = message.parts
    at = told.part
    while at < len(message.parts):
        part = message.parts[at]
        if isinstance(part, buffers.TextBuffer):
            new = part.since(told.characters if at == told.part else 0)
            told.part, told.characters = at, part.length
            if new:
                yield new
        elif content.is_for_user(part):
            told.part, told.characters = at + 1, 0
            yield part
        at += 1


def _words(entry: entries.Entry) -> str:
    match entry:
        case entries.TurnEnd(stop_reason):
            return make_visible_line(wording.stop_words(stop_reason))
        case entries.Failure(message, detail, stderr_tail, said):
            tail = wording.last_words(stderr_tail.strip("\r\n").split("\n"))
            return make_visible("\n".join(filter(None, (message, detail, *tail, *wording.error_words(said)))))
        case updates.Reconnected(forked_from=title) if title:
            return make_visible_line(wording.forked(title))
        case updates.Reconnected(remembers, _, why):
            knows = "knows" if remembers else "has no memory of"
            told = f"the agent restarted here; it {knows} the conversation above"
            return "\n".join(filter(None, (told, make_visible(why))))
        case updates.ClientRemark(text):
            return make_visible_line(text)
        case entries.Question():
            values = (make_visible_line(f"{each.label} {each.value}") for each in entry.values)
            return "\n".join([f"{wording.answer_words(entry)}: {make_visible_line(entry.message)}", *values])
        case entries.OwnCommand(line):
            return f"you run: {make_visible_line(line)}"
        case updates.UnknownUpdate(kind):
            return f"an update acp-tui doesn't know: {make_visible_line(kind)}"
        case _:
            raise AssertionError(f"{entry} is told as it changes")


def _plan_words(plan: facts.Plan, before: facts.Plan | None) -> str:
    """Return the steps that are new or have changed, or that all are done."""
    known = before.steps if before is not None else ()
    news = [step for step in plan.steps if step not in known]
    if news and plan.completed == len(plan.steps):
        return "plan: all steps are done"
    return tool_call_text.ours("plan: " + "\n".join(map(step_words, news))) if news else ""


def step_words(step: facts.PlanStep) -> str:
    priority = "" if step.priority == "medium" else f" ({step.priority} priority)"
    return make_visible_line(f"{STEP_WORDS.get(step.status, step.status)}: {step.content}{priority}")
