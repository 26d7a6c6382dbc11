"""What was recorded of a session, in place of what its agent tells of it when it's loaded.

Agents tell less: not what the user answered and ran, some no tool calls, and attached files as the user's words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final, TypeAlias, TypeVar
from urllib.parse import unquote

from acp_tui.conversation.buffers import TextBuffer
from acp_tui.conversation.content import FILE_SCHEME, ResourceLink, TextResource
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Entry, EntryId, Message, OwnCommand, Question, ToolCallEntry
from acp_tui.conversation.facts import TurnSpent
from acp_tui.conversation.reducer import apply
from acp_tui.conversation.tool_calls import COMPLETED
from acp_tui.conversation.updates import ClientRemark, Disconnected

K = TypeVar("K")
Places: TypeAlias = Mapping[int | None, EntryId]
"""Where entries are now, by where they were."""
LESS_TOLD: Final = "The agent left out {} of the recorded prompts. To see all of them: acp-tui replay {}"
_LINES: Final = r"(?:#L\d+(?:-L\d+)?|:\d+)?"
"""What follows a file's name if only some of its lines are attached; OpenCode writes the first one."""
_TAG: Final = re.compile(r"<([\w-]++)[^<>]*+>")


def recall(loaded: Conversation, recorded: Conversation, session_id: str) -> None:
    """Show the turns that both know as they were recorded, in a conversation that nothing shows yet.

    A turn is a prompt and all up to the next one. What only the agent tells stays, and what only was recorded is left
    out, which a line says: the session was rewound, compacted, or continued elsewhere.
    """
    apply(recorded, Disconnected("", is_fault=False))  # nothing of it goes on
    told, sent = _turns(loaded.entries), _turns(recorded.entries)
    known = _known(
        [loaded.entries[turn.start] for turn in told[1:]], [recorded.entries[turn.start] for turn in sent[1:]]
    )
    entries, moved, again = loaded.entries.empty(), dict[int | None, EntryId](), dict[int | None, EntryId]()
    astray = _told_elsewhere(loaded.entries, told, recorded.entries, {at: sent[to] for at, to in known.items()})
    for number, whole_turn in enumerate(told):
        turn = [at for at in whole_turn if at not in astray]
        start, wanted = len(entries), list(sent[known[number]] if number in known else ())
        as_recorded = _Turn([recorded.entries[at] for at in wanted])
        places = [as_recorded.place_of(loaded.entries[at]) for at in turn]
        if None in places:  # the agent tells more: that stays, before what it never tells
            places = list(range(len(turn)))
            for at in turn:
                entries.append(as_recorded.completed(loaded.entries[at]))
            never = (at for at in wanted if isinstance(recorded.entries[at], Question | OwnCommand))
            wanted = sorted({*never, *(at for at in wanted if at in astray.values())})
        moved |= {at: EntryId(start + (place or 0)) for at, place in zip(turn, places, strict=True)}
        for at in wanted:
            again[at] = EntryId(len(entries))
            entries.append(recorded.entries[at])
    moved |= {at: again[place] for at, place in astray.items()}
    loaded.entries = entries
    loaded.is_fork = loaded.is_fork or recorded.is_fork
    _move(loaded, recorded, moved, again)
    if len(told) < len(sent) and (missing := _missing(loaded.entries, recorded.entries, sent[1:])):
        apply(loaded, ClientRemark(LESS_TOLD.format(missing, session_id)))


def _turns(entries: Sequence[Entry]) -> list[range]:
    """Where what was before the first prompt is, and each turn."""
    starts = [at for at, entry in enumerate(entries) if isinstance(entry, Message) and entry.role == "user"]
    return [range(*ends) for ends in pairwise((0, *starts, len(entries)))]


def _missing(told: Sequence[Entry], recorded: Sequence[Entry], turns: Sequence[range]) -> int:
    """How many of the recorded prompts the agent tells nowhere. Its commands aren't counted: many agents tell none."""
    known = Counter(_squeezed(told[turn.start]) for turn in _turns(told)[1:])
    sent = Counter(_squeezed(recorded[turn.start]) for turn in turns)
    words, missing = "\0".join((known - sent).elements()), 0  # without those told as they are, which may be thousands
    for prompt in (sent - known).elements():
        if prompt not in words and not prompt.startswith("/"):
            missing += 1
        words = words.replace(prompt, "", 1)
    return missing


def _told_elsewhere(
    loaded: Sequence[Entry], told: Sequence[range], recorded: Sequence[Entry], known: Mapping[int, range]
) -> dict[int, int]:
    """Where the tool calls were recorded that an agent tells in a wrong turn, as Gemini CLI does."""
    places = {entry.call.tool_call_id: at for turn in known.values() for at, entry in _calls(recorded, turn)}
    return {
        at: places[entry.call.tool_call_id]
        for number, turn in enumerate(told)
        for at, entry in _calls(loaded, turn)
        if entry.call.tool_call_id in places and places[entry.call.tool_call_id] not in known.get(number, ())
    }


def _calls(entries: Sequence[Entry], turn: range) -> Iterator[tuple[int, ToolCallEntry]]:
    for at in turn:
        if isinstance(entry := entries[at], ToolCallEntry):
            yield at, entry


def _known(told: Sequence[Entry], recorded: Sequence[Entry]) -> dict[int, int]:
    """Which of the recorded turns each told one is, in order; the longest runs of prompts count first."""
    sent = [_squeezed(prompt) for prompt in recorded]
    same = [
        next((one for one, prompt in zip(sent, recorded, strict=True) if one in words and _is_told(prompt, each)), None)
        for each, words in zip(told, map(_squeezed, told), strict=True)
    ]
    runs = SequenceMatcher(None, same, sent, autojunk=False).get_matching_blocks()
    known = {run.a + at: run.b + at for run in runs for at in range(1, run.size + 1)}
    return {0: 0, **known} if known.get(1) == 1 else known


def _is_told(sent: Entry, told: Entry) -> bool:
    """Whether an agent tells this prompt and no more words, except around it. It may leave out what was attached."""
    if not (isinstance(sent, Message) and isinstance(told, Message) and sent.role == told.role):
        return False
    attached = [part for part in sent.parts if isinstance(part, TextResource | ResourceLink)]
    texts = [part.text for part in attached if isinstance(part, TextResource)]
    whole = [part.uri.partition("#")[0] for part in attached]
    uris = [form for uri in whole for form in (uri, unquote(uri))]
    paths = [uri.removeprefix(FILE_SCHEME) for uri in uris]
    names = [*uris, *paths, *(path.rstrip("/").rpartition("/")[2] for path in paths)]
    words, rest = " ".join(sent.text.split()), " ".join(told.text.split())
    if rest.startswith(tuple(f"{words}@{uri}" for uri in uris)):
        return True  # Gemini CLI goes on with what it read there
    is_told = words in rest
    for each in (*texts, words):
        rest = rest.replace(" ".join(each.split()), "", 1)
    longest_first = sorted({" ".join(name.split()) for name in names if name}, key=len, reverse=True)
    any_name = "|".join(re.escape(name) + _LINES for name in longest_first)  # one may begin another
    rest = re.sub(f"(?<![</])(?:{any_name})", "", rest)  # not a tag's own name
    return is_told and re.search(r"\w", _outside_tags(rest)) is None


def _outside_tags(text: str) -> str:
    """Leave out tags and what is in them: agents put some around the user's words."""
    kept, at = list[str](), 0
    while (tag := _TAG.search(text, at)) and (end := text.find(f"</{tag[1]}>", tag.end())) >= 0:
        kept.append(text[at : tag.start()])
        at = end + len(f"</{tag[1]}>")
    return "".join((*kept, text[at:]))


def _squeezed(message: Entry) -> str:
    return "".join(message.text.split()) if isinstance(message, Message) else ""


class _Turn:
    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self._messages = [(at, one, _squeezed(one)) for at, one in enumerate(entries) if isinstance(one, Message)]
        self._whole = {(one.role, words): at for at, one, words in reversed(self._messages)}
        self._calls = {
            entry.call.tool_call_id: (at, entry) for at, entry in enumerate(entries) if isinstance(entry, ToolCallEntry)
        }

    def place_of(self, told: Entry) -> int | None:
        """Where it has what an agent tells; None if it doesn't have all of it."""
        match told:
            case ToolCallEntry(call):
                at, known = self._calls.get(call.tool_call_id, (None, told))
                return at if call.status != COMPLETED or known.call.status == COMPLETED else None
            case Message("user"):
                return 0 if self.entries and _is_told(self.entries[0], told) else None
            case Message(role):
                text = _squeezed(told)
                if (role, text) in self._whole and all(isinstance(part, TextBuffer) for part in told.parts):
                    return self._whole[role, text]
                same = [
                    each for each in self._messages if each[1].role == role and (each[2] in text or text in each[2])
                ]
                parts = [part for _, one, _ in same for part in one.parts]
                is_all = all(isinstance(part, TextBuffer) or part in parts for part in told.parts)
                return same[0][0] if same and is_all and text in "".join(words for *_, words in same) else None
        return self.entries.index(told) if told in self.entries else None

    def completed(self, told: Entry) -> Entry:
        """A prompt as it was sent, or a tool call with the user's decisions."""
        if isinstance(told, ToolCallEntry) and told.call.tool_call_id in self._calls:
            recorded = self._calls[told.call.tool_call_id][1]
            told.decisions, told.decided_on = recorded.decisions, recorded.decided_on
        is_prompt = isinstance(told, Message) and told.role == "user" and self.place_of(told) == 0
        return self.entries[0] if is_prompt else told


def _move(loaded: Conversation, recorded: Conversation, moved: Places, again: Places) -> None:
    """Tell where the entries are now that the agent told, and the recorded ones that are shown with what is theirs."""

    def now(places: Mapping[K, EntryId]) -> dict[K, EntryId]:
        return {key: moved[place] for key, place in places.items()}

    loaded.tool_call_entries = now(loaded.tool_call_entries)
    loaded.message_entries = now(loaded.message_entries)
    loaded.compaction_entries = now(loaded.compaction_entries)
    loaded.open_message = moved[loaded.open_message] if loaded.open_message is not None else None
    loaded.turn_start = moved[loaded.turn_start] if loaded.turn_start is not None else None
    loaded.last_prompt = moved.get(loaded.last_prompt, loaded.last_prompt)
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
            loaded.terminals |= {key: recorded.terminals[key] for key in recorded.terminals.keys() - loaded.terminals}
            subagent.conversation.terminals = loaded.terminals  # shared with the agent that it works for
            loaded.subagents[session_id] = replace(subagent, entry=again[subagent.entry])


def _moved_turns(turns: Sequence[TurnSpent], now: Places) -> list[TurnSpent]:
    """Those that end in these places."""
    return [
        replace(turn, start=now.get(turn.start), end=now[turn.end - 1] + 1) for turn in turns if turn.end - 1 in now
    ]
