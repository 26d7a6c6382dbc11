"""The titles, text, and times of one recording's sessions, so that it need not be read again. `index` stores them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, Final

from acp_tui.client.secrets.masking import masked_text
from acp_tui.client.transcript.events import Event, Frame, Header, OwnAction
from acp_tui.client.transcript.lines import MAX_S, Recording, mapping
from acp_tui.conversation.content import MAX_TITLE
from acp_tui.conversation.updates import Renamed
from acp_tui.protocol.roles import Quirks, quirks_of
from acp_tui.rpc import Direction
from acp_tui.values import dataclass

MAX_WORDS: Final = 32 << 10
"""Characters kept for searching, from the start, separately for the user's and the agent's text."""
_KIND: Final = re.compile(rb'\{"t":[\d.]+,"type":"(\w+)"')
_SAYS_NOTHING: Final = re.compile(
    rb'"sessionUpdate":\s*"(?!(?:agent_message_chunk|user_message_chunk|session_info_update|tool_call)")'
)
_NEW: Final = ("session/new", "session/fork")
MAX_AGENT_TITLE: Final = 40


@dataclass(slots=True)
class SessionPart:
    """One session, as far as this recording contains it."""

    session_id: str
    cwd: str
    continues: str
    """The session whose beginning earlier recordings may contain: itself, or what it was forked from; "" for none."""
    first_at: float
    last_at: float
    agent_title: str = ""
    """What the agent says it is."""
    title: str = ""
    """The agent's title for it."""
    first_words: str = ""
    """The first line of the first prompt."""
    prompts: int = 0
    asked: list[str] = field(default_factory=list)
    replied: list[str] = field(default_factory=list)
    is_named: bool = False
    """The title is the user's."""
    forked_from: str = ""
    """The ID of the session that it is a fork of."""
    message_id: Any = None
    """The agent's ID of the last message."""
    room_asked: int = MAX_WORDS
    room_replied: int = MAX_WORDS

    has_said: bool = False
    """Whether anything was said in it, not only in what it is a fork of."""

    @property
    def words(self) -> str:
        """The text to search. A secret that arrived in pieces is complete only here."""
        return masked_text("\n".join((self.title, "".join(self.asked), "".join(self.replied))))


class Digest:
    """Builds the parts while events are recorded or read."""

    def __init__(self, header: Header) -> None:
        self.parts: dict[str, SessionPart] = {}
        self.changed: set[str] = set()
        """Sessions whose list entry changed. The object that stores the digest clears the set."""
        self._quirks = Quirks()
        self._agent_title = ""
        self._start = _seconds(header.started_at)
        self._pending: dict[Any, tuple[str, Mapping[str, Any]]] = {}

    def see(self, event: Event, message: Any) -> None:
        if isinstance(event, OwnAction) and isinstance(event.update, Renamed):
            part = self.parts.get(event.session_id or "")
            if part is not None:
                part.title, part.is_named = _cut(masked_text(event.update.title)), True
                self.changed.add(part.session_id)
        if isinstance(event, Frame) and isinstance(message, dict):
            at = self._start + event.at
            if event.direction is Direction.OUT:
                self._went(message, at)
            elif message.get("method") == "session/request_permission":
                self._end_reply(self.parts.get(str(mapping(message.get("params")).get("sessionId"))))
            elif message.get("method") == "session/update":
                self._update(mapping(message.get("params")), at)
            elif "method" not in message:
                self._answered(message, at)

    def _went(self, message: Mapping[str, Any], at: float) -> None:
        method, params = message.get("method"), mapping(message.get("params"))
        if not isinstance(message.get("id"), int):
            return  # our requests have numbers as IDs
        if method in (*_NEW, "session/load", "session/resume"):
            self._pending[message.get("id")] = (method, params)
            if method not in _NEW:
                self._open(str(params.get("sessionId")), params, at, continues=str(params.get("sessionId")))
        elif method == "session/prompt":
            self._pending[message.get("id")] = (method, params)
            part = self.parts.get(str(params.get("sessionId")))
            self._end_reply(part)
            if part is not None:
                self._asked(part, _prompt_text(params), at)
                part.prompts += 1

    def _answered(self, message: Mapping[str, Any], at: float) -> None:
        request_id = message.get("id")
        method, params = self._pending.pop(request_id, ("", {})) if isinstance(request_id, int) else ("", {})
        result = mapping(message.get("result"))
        if "protocolVersion" in result:
            self._met(mapping(result.get("agentInfo", result.get("info"))))
        if method in _NEW:
            session_id = result.get("sessionId")
            if isinstance(session_id, str):
                self._open(session_id, params, at)
                if method == "session/fork":
                    self._go_on_below(str(params.get("sessionId")), self.parts[session_id])
        elif method == "session/prompt":
            part = self.parts.get(str(params.get("sessionId")))
            if part is not None:
                part.last_at = at
                self.changed.add(part.session_id)

    def _met(self, info: Mapping[str, Any]) -> None:
        name, title = info.get("name"), info.get("title")
        if isinstance(name, str):
            self._quirks = quirks_of(name)
        said = next((one.strip() for one in (title, name) if isinstance(one, str) and one.strip()), "")
        self._agent_title = _cut(masked_text(said), MAX_AGENT_TITLE)

    def _go_on_below(self, source_id: str, fork: SessionPart) -> None:
        """The fork has what was said before it in its source, here and in earlier recordings."""
        fork.forked_from, source = source_id, self.parts.get(source_id)
        fork.continues = source.continues if source is not None else source_id
        if source is not None:
            fork.title, fork.first_words, fork.prompts = source.title, source.first_words, source.prompts
            fork.asked, fork.replied = [*source.asked], [*source.replied]
            fork.room_asked, fork.room_replied = source.room_asked, source.room_replied

    def _open(self, session_id: str, params: Mapping[str, Any], at: float, *, continues: str = "") -> None:
        known = self.parts.get(session_id)
        if known is None:
            cwd = params.get("cwd")
            cwd = cwd if isinstance(cwd, str) else ""
            self.parts[session_id] = SessionPart(session_id, cwd, continues, at, at, self._agent_title)

    def _update(self, params: Mapping[str, Any], at: float) -> None:
        part = self.parts.get(str(params.get("sessionId")))
        update = mapping(params.get("update"))
        if part is None:
            return
        if update.get("sessionUpdate") in ("tool_call", "user_message_chunk"):
            self._end_reply(part)
        match update.get("sessionUpdate"):
            case "agent_message_chunk" if part.room_replied > 0:
                if update.get("messageId") != part.message_id:
                    self._end_reply(part)
                    part.message_id = update.get("messageId")
                text = _text(update.get("content"))[: part.room_replied]
                part.room_replied -= len(text)
                part.replied.append(text)
                part.has_said = True
            case "user_message_chunk" if not part.prompts:  # the history of a loaded session
                text = _text(update.get("content"))
                if not self._quirks.leaves_out(text):
                    self._asked(part, text, at)
            case "session_info_update" if isinstance(update.get("title"), str) and not part.is_named:
                part.title = _cut(masked_text(update["title"]))
                self.changed.add(part.session_id)

    def _end_reply(self, part: SessionPart | None) -> None:
        """What is said next is on a line of its own."""
        if part is not None and part.replied and part.replied[-1] != "\n":
            part.replied.append("\n")

    def _asked(self, part: SessionPart, text: str, at: float) -> None:
        first = next((line.strip() for line in text.splitlines() if line.strip()), "")
        part.first_words = part.first_words or _cut(masked_text(first))
        kept = text[: part.room_asked]
        part.room_asked -= len(kept)
        part.asked += [kept, "\n"]
        part.last_at, part.has_said = at, True
        self.changed.add(part.session_id)


def says_nothing(line: bytes) -> bool:
    """Whether a line of a recording has certainly nothing for a digest, without parsing it.

    Most bytes of a recording are tool calls and the output of terminals.
    """
    kind = _KIND.match(line)
    if kind is None:
        return False  # another program wrote it
    return _SAYS_NOTHING.search(line) is not None if kind[1] in (b"in", b"out") else kind[1] != b"renamed"


def digest_of(recording: Recording) -> Digest:
    digest = Digest(recording.header)
    for event, message in recording.with_messages(skip=says_nothing):
        digest.see(event, message)
    return digest


def _prompt_text(params: Mapping[str, Any]) -> str:
    blocks = params.get("prompt")
    return "\n".join(filter(None, map(_text, blocks))) if isinstance(blocks, list) else ""


def _text(block: Any) -> str:
    text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else None
    return text if isinstance(text, str) else ""


def _seconds(started_at: str) -> float:
    """The time in seconds; 0 for an invalid time, and for one whose recording would end outside the calendar."""
    try:
        start = datetime.fromisoformat(started_at).timestamp()
        datetime.fromtimestamp(start + MAX_S)
    except (ValueError, OverflowError, OSError):
        return 0.0
    return start


def _cut(title: str, most: int = MAX_TITLE) -> str:
    return title if len(title) <= most else f"{title[: most - 1]}…"
