"""What only the client knows of a session, put back into what its agent tells of it when it's loaded.

Agents don't tell again what the user answered to forms and permission requests, and which commands the user ran.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias, TypeVar

from acp_tui.conversation.content import TextResource
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Entry, EntryId, Message, OwnCommand, Question, ToolCallEntry

K = TypeVar("K")
Key: TypeAlias = tuple[str, str] | None
"""What two entries have in common that tell the same; None for entries that only we have."""


def recall(loaded: Conversation, recorded: Conversation) -> None:
    """Add the user's answers and commands to a conversation that nothing shows yet.

    Each comes behind the same prompt, message, or tool call as in the recording, or before the first prompt; those of
    prompts that the agent doesn't tell are left out.
    """
    keys, behind, at = list(map(_key, loaded.entries)), dict[int, list[Entry]](), -1
    is_told, has_begun, first = False, False, list[Entry]()
    for entry in recorded.entries:
        if isinstance(entry, ToolCallEntry) and entry.decisions:
            _decide(loaded, entry)
        if isinstance(entry, Question) or (isinstance(entry, OwnCommand) and _has_ended(recorded, entry)):
            (behind.setdefault(at, []) if is_told else first).append(entry)
        elif isinstance(entry, Message) and entry.role == "user":
            found = _find(keys, _key(entry), at + 1, is_prompt=True)
            is_told = found is not None
            if found is not None:
                _tell_as_sent(loaded, EntryId(found), entry)
                if not has_begun:
                    behind[found - 1] = first
                at = found
            has_begun = True
        elif is_told and (found := _find(keys, _key(entry), at + 1, is_prompt=False)) is not None:
            at = found
    if any(behind.values()):
        _insert(loaded, behind)
        for entry in (entry for entries in behind.values() for entry in entries if isinstance(entry, OwnCommand)):
            loaded.terminals[entry.terminal_id] = recorded.terminals[entry.terminal_id]


def _key(entry: Entry) -> Key:
    match entry:
        case Message(role=role):
            return (role, entry.text.strip())
        case ToolCallEntry(call):
            return ("call", call.tool_call_id)
    return None


def _find(keys: list[Key], wanted: Key, start: int, *, is_prompt: bool) -> int | None:
    """Where it comes from `start` on: a prompt anywhere, perhaps with more around it; the rest before the next one."""
    for at in range(start, len(keys)) if wanted is not None else ():
        key = keys[at]
        if key == wanted or (is_prompt and key is not None and wanted and key[0] == "user" and wanted[1] in key[1]):
            return at
        if not is_prompt and key is not None and key[0] == "user":
            return None
    return None


def _tell_as_sent(loaded: Conversation, at: EntryId, sent: Message) -> None:
    """Show a prompt as it was sent if the agent tells what was attached to it, such as a file, as the user's words."""
    told = loaded.entries[at]
    attached = [part.text.strip() for part in sent.parts if isinstance(part, TextResource)]
    if attached and isinstance(told, Message) and all(text in told.text for text in attached):
        told = loaded.entries.changing(at)
        assert isinstance(told, Message)
        told.parts = list(sent.parts)


def _decide(loaded: Conversation, recorded: ToolCallEntry) -> None:
    at = loaded.tool_call_entries.get(recorded.call.tool_call_id)
    entry = loaded.entries.changing(at) if at is not None else None
    if isinstance(entry, ToolCallEntry) and not entry.decisions:
        entry.decisions = recorded.decisions


def _has_ended(recorded: Conversation, command: OwnCommand) -> bool:
    terminal = recorded.terminals.get(command.terminal_id)
    return terminal is not None and terminal.has_exited


def _insert(loaded: Conversation, behind: Mapping[int, list[Entry]]) -> None:
    """Insert entries behind those at these places, and tell where the others are now."""
    entries, moved = loaded.entries.empty(), list[EntryId]()
    commands: dict[OwnCommand, EntryId] = {}
    for at in range(-1, len(loaded.entries)):
        if at >= 0:
            moved.append(EntryId(len(entries)))
            entries.append(loaded.entries[at])
        for added in behind.get(at, ()):
            if isinstance(added, OwnCommand):
                commands[added] = EntryId(len(entries))
            entries.append(added)

    def now(places: Mapping[K, EntryId]) -> dict[K, EntryId]:
        return {key: moved[place] for key, place in places.items()}

    loaded.entries = entries
    loaded.tool_call_entries = now(loaded.tool_call_entries)
    loaded.message_entries = now(loaded.message_entries)
    loaded.compaction_entries = now(loaded.compaction_entries)
    shown_by = {key: tuple(moved[place] for place in places) for key, places in loaded.terminal_entries.items()}
    loaded.terminal_entries = shown_by | {command.terminal_id: (at,) for command, at in commands.items()}
    for subagent in loaded.subagents.values():
        subagent.entry = moved[subagent.entry]
    ends = [*moved, EntryId(len(entries))]
    loaded.turns = [
        replace(turn, end=ends[turn.end], start=moved[turn.start] if turn.start is not None else None)
        for turn in loaded.turns
    ]
    loaded.open_message = moved[loaded.open_message] if loaded.open_message is not None else None
    loaded.turn_start = moved[loaded.turn_start] if loaded.turn_start is not None else None
