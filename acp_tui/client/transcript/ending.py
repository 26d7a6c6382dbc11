"""The end of a long recording, without the parts of messages and tool calls that its end doesn't show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from acp_tui.client.transcript.events import Event, OwnAction
from acp_tui.client.transcript.lines import Recording
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.updates import ClientRemark

READ_IN_FULL: Final = 16 << 20
"""So many of the last bytes."""
UNREAD: Final = ClientRemark("What came before is still being read. It's here once you have returned to the end.")
ENOUGH: Final = 200
"""Entries. Each takes a row, and no screen has more."""

_NAMED: Final = re.compile(rb'"(?:toolCallId|tool_call_id|messageId|parentToolUseId)": ?"([^"]*)')
_NOWHERE: Final = b"\n\n"
"""Not in any line."""
_PARENT: Final = b'"parentToolUseId"'
_SAID: Final = b'"agent_message_chunk"'
_CHUNKS: Final = (_SAID, b'"agent_thought_chunk"')
_CALLS: Final = (b'"tool_call"', b'"tool_call_update"')


def events_for_end(recording: Recording, near_end: int = READ_IN_FULL) -> Iterator[Event]:
    """The events that the end may depend on, with all in so many last bytes. Sessions that lack others get `UNREAD`."""
    left_out = _LeftOut(recording, near_end)
    for event, _ in recording.with_messages(left_out):
        if left_out.is_over:
            yield from left_out.tell(event.at)
        yield event
    yield from left_out.tell(0.0)


def is_enough(shown: Conversation, entries: int = ENOUGH) -> bool:
    """Whether so many of the last entries, and the questions, are those of a full reading."""
    # The entry after `UNREAD` may lack its beginning, and a call that was asked about earlier what was said of it.
    asked = [shown.tool_call_entries[request.tool_call_id] for request in shown.permissions.values()]
    first = len(shown.entries) - entries
    return UNREAD not in islice(reversed(shown.entries), entries + 1) and all(at >= first for at in asked)


class _LeftOut:
    """Tells for each line whether the end doesn't depend on it.

    Leaves out pieces of messages and of tool calls that no line near the end names.
    """

    def __init__(self, recording: Recording, near_end: int) -> None:
        self._sessions: set[bytes] = set()
        """Those of lines that were left out."""
        self._ahead, last = recording.last(near_end)
        """Bytes that aren't near the end."""
        self._named = set(_NAMED.findall(last))
        self._has_subagents = _PARENT in last
        is_spaced = last.count(b'"sessionUpdate": ') > last.count(b'"sessionUpdate":"')
        self._colon = b'": "' if is_spaced else b'":"'
        """As the agent writes it."""
        self._kind = b'"sessionUpdate' + self._colon
        self._session = b""
        """That of the last update."""
        self._field = _NOWHERE
        """The same as it is written; none with a backslash."""
        self._is_heard = False
        """Whether its agent has said something since then, so that it doesn't repeat the prompt anymore."""

    @property
    def is_over(self) -> bool:
        return self._ahead < 0

    def tell(self, at: float) -> Iterator[OwnAction]:
        """Tell the sessions, once."""
        sessions, self._sessions = self._sessions, set()
        for session in sessions:
            yield OwnAction(at, SessionId(session.decode("utf-8", "replace")), UNREAD)

    def __call__(self, line: bytes) -> bool:
        self._ahead -= len(line)
        if self._ahead < 0:
            return False
        kind_at = line.find(self._kind) + len(self._kind) - 1
        if line.startswith(_CHUNKS, kind_at):
            name = self._text_in(line, b'"messageId')
            is_left_out = self._is_of_last(line) and self._is_heard and b"[MODE_UPDATE]" not in line
            if not self._is_heard:
                self._is_heard = line.startswith(_SAID, kind_at) and b'"text%b"' % self._colon not in line
        elif line.startswith(_CALLS, kind_at):
            name = self._text_in(line, b'"toolCallId')
            is_left_out = self._is_of_last(line) and name is not None
        else:
            self._is_heard = False
            return False
        if not is_left_out or name in self._named or (self._has_subagents and _PARENT in line):
            return False
        self._sessions.add(self._session)
        return True

    def _is_of_last(self, line: bytes) -> bool:
        """Whether it's in the session of the last update. If it isn't, the next one may be."""
        if self._field in line:
            return True
        self._session = self._text_in(line, b'"sessionId') or b""
        self._field = _NOWHERE if b"\\" in self._session else b'"sessionId%b%b"' % (self._colon, self._session)
        self._is_heard = False
        return False

    def _text_in(self, line: bytes, name: bytes) -> bytes | None:
        """The text with this name, up to the next quote, as it is written; None if there is none."""
        begin = name + self._colon
        at = line.find(begin)
        return None if at < 0 else line[at + len(begin) : line.find(b'"', at + len(begin))]
