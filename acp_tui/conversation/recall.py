"""What was recorded of a session, in place of what its agent tells of it when it's loaded.

Agents tell less: not what the user answered and ran, some no tool calls, and attached files as the user's words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final, TypeAlias, TypeVar

from acp_tui.conversation.buffers import TextBuffer
from acp_tui.conversation.content import FILE_SCHEME, ResourceLink, TextResource
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Entry, EntryId, Message, OwnCommand, Question, ToolCallEntry
from acp_tui.conversation.facts import TurnSpent
from acp_tui.conversation.reducer import apply
from acp_tui.conversation.tool_calls import COMPLETED
from acp_tui.conversation.updates import Disconnected

K = TypeVar("K")
Places: TypeAlias = Mapping[int | None, EntryId]
"""Where entries are now, by where they were."""
_TAGGED: Final = re.compile(r"<([\w-]+)[^>]*>.*?</\1>", re.DOTALL)
"""What agents put around the user's words."""


def recall(loaded: Conversation, recorded: Conversation) -> None:
    """Show the turns that both know as they were recorded, in a conversation that nothing shows yet.

    A turn is a prompt and all up to the next one. What only the agent tells stays, and what only was recorded is left
    out: the session was rewound, compacted, or continued elsewhere.
    """
    apply(recorded, Disconnected(""))  # nothing of it goes on
    told, sent = _turns(loaded.entries), _turns(recorded.entries)
    known = _known(
        [loaded.entries[turn.start] for turn in told[1:]], [recorded.entries[turn.start] for turn in sent[1:]]
    )
    entries, moved, again = loaded.entries.empty(), dict[int | None, EntryId](), dict[int | None, EntryId]()
    for number, turn in enumerate(told):
        start, wanted = len(entries), list(sent[known[number]] if number in known else ())
        shown, as_recorded = loaded.entries[turn.start : turn.stop], [recorded.entries[at] for at in wanted]
        places = _places(shown, as_recorded)
        if places is None:  # the agent tells more: that stays, before what it never tells
            places = list(range(len(turn)))
            for entry in shown:
                entries.append(_completed(entry, as_recorded))
            wanted = [at for at in wanted if isinstance(recorded.entries[at], Question | OwnCommand)]
        moved |= {at: EntryId(start + place) for at, place in zip(turn, places, strict=True)}
        for at in wanted:
            again[at] = EntryId(len(entries))
            entries.append(recorded.entries[at])
    loaded.entries = entries
    _move(loaded, recorded, moved, again)


def _turns(entries: Sequence[Entry]) -> list[range]:
    """Where what was before the first prompt is, and each turn."""
    starts = [at for at, entry in enumerate(entries) if isinstance(entry, Message) and entry.role == "user"]
    return [range(*ends) for ends in pairwise((0, *starts, len(entries)))]


def _known(told: Sequence[Entry], recorded: Sequence[Entry]) -> dict[int, int]:
    """Which of the recorded turns each told one is, in order; the longest runs of prompts count first."""
    sent = [_squeezed(prompt) for prompt in recorded]
    same = [next((sent[at] for at, one in enumerate(recorded) if _is_told(one, prompt)), None) for prompt in told]
    runs = SequenceMatcher(None, same, sent, autojunk=False).get_matching_blocks()
    known = {run.a + at: run.b + at for run in runs for at in range(1, run.size + 1)}
    return {0: 0, **known} if known.get(1) == 1 else known


def _is_told(sent: Entry, told: Entry) -> bool:
    """Whether an agent tells this prompt and no more words, except around it. It may leave out what was attached."""
    if not isinstance(sent, Message) or sent.role != "user":
        return False
    words, rest, attached, names = _squeezed(sent), _squeezed(told), list[str](), list[str]()
    for part in sent.parts:
        if isinstance(part, TextResource | ResourceLink):
            names += [part.uri, part.uri.removeprefix(FILE_SCHEME), part.uri.rpartition("/")[2]]
        if isinstance(part, TextResource):
            attached.append("".join(part.text.split()))
    for each in (*attached, words, *names):
        rest = rest.replace(each, "", 1)
    return words in _squeezed(told) and re.search(r"\w", _TAGGED.sub("", rest)) is None


def _squeezed(message: Entry) -> str:
    return "".join(message.text.split()) if isinstance(message, Message) else ""


def _places(told: Sequence[Entry], recorded: Sequence[Entry]) -> list[int] | None:
    """Where the recorded turn has each entry that the agent tells; None if it doesn't have all of them."""
    places = list[int]()
    for entry in told:
        same = [at for at, each in enumerate(recorded) if _is_same(each, entry)]
        if not same or not _have_all([recorded[at] for at in same], entry):
            return None
        places.append(same[0])
    return places


def _is_same(recorded: Entry, told: Entry) -> bool:
    """Whether both are the same, or parts of one message."""
    match recorded, told:
        case Message(role), Message(other) if role == other:
            return _squeezed(recorded) in _squeezed(told) or _squeezed(told) in _squeezed(recorded)
        case ToolCallEntry(call), ToolCallEntry(other):
            return call.tool_call_id == other.tool_call_id
    return recorded == told


def _have_all(same: Sequence[Entry], told: Entry) -> bool:
    """Whether these entries, which are the same, have all that is told."""
    match told:
        case ToolCallEntry(call):
            ends = [each.call.status for each in same if isinstance(each, ToolCallEntry)]
            return call.status != COMPLETED or COMPLETED in ends
        case Message("user"):
            return _is_told(same[0], told)
        case Message():
            parts = [part for each in same if isinstance(each, Message) for part in each.parts]
            is_all = all(isinstance(part, TextBuffer) or part in parts for part in told.parts)
            return is_all and _squeezed(told) in "".join(map(_squeezed, same))
    return True


def _completed(told: Entry, recorded: Sequence[Entry]) -> Entry:
    """A prompt as it was sent, and a tool call with the user's decisions."""
    for each in recorded:
        if isinstance(told, ToolCallEntry) and isinstance(each, ToolCallEntry) and _is_same(each, told):
            told.decisions = each.decisions
        if isinstance(told, Message) and told.role == "user" and _is_told(each, told):
            return each
    return told


def _move(loaded: Conversation, recorded: Conversation, moved: Places, again: Places) -> None:
    """Tell where the entries are now that the agent told, and the recorded ones that are shown with what is theirs."""

    def now(places: Mapping[K, EntryId]) -> dict[K, EntryId]:
        return {key: moved[place] for key, place in places.items()}

    loaded.tool_call_entries = now(loaded.tool_call_entries)
    loaded.message_entries = now(loaded.message_entries)
    loaded.compaction_entries = now(loaded.compaction_entries)
    loaded.open_message = moved[loaded.open_message] if loaded.open_message is not None else None
    loaded.turn_start = moved[loaded.turn_start] if loaded.turn_start is not None else None
    loaded.turns = _moved_turns(loaded.turns, moved) or _moved_turns(recorded.turns, again)
    shown_by = {key: {moved[at] for at in places} for key, places in loaded.terminal_entries.items()}
    for terminal_id, places in recorded.terminal_entries.items():
        if shown := {again[at] for at in places if at in again}:
            loaded.terminals[terminal_id] = replace(recorded.terminals[terminal_id], has_exited=True, is_waiting=False)
            shown_by[terminal_id] = shown_by.get(terminal_id, set()) | shown
    loaded.terminal_entries = {key: tuple(sorted(places)) for key, places in shown_by.items()}
    for subagent in loaded.subagents.values():
        subagent.entry = moved[subagent.entry]
    for session_id, subagent in recorded.subagents.items():
        if subagent.entry in again and session_id not in loaded.subagents:
            subagent.conversation.terminals = loaded.terminals  # shared with the agent that it works for
            loaded.subagents[session_id] = replace(subagent, entry=again[subagent.entry])


def _moved_turns(turns: Sequence[TurnSpent], now: Places) -> list[TurnSpent]:
    """Those that end in these places."""
    return [
        replace(turn, start=now.get(turn.start), end=now[turn.end - 1] + 1) for turn in turns if turn.end - 1 in now
    ]
