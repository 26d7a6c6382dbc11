"""A compact index of a recording's lines, 23 bytes for each. It doesn't store the lines."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, Final, NamedTuple

from acp_tui.client.transcript.frame_log import LineKind, LoggedLine
from acp_tui.protocol.conductor import SUCCESSORS, is_call
from acp_tui.rpc import Direction, Pairing
from acp_tui.values import dataclass
from acp_tui.workbench.conformance.connection_state import as_object
from acp_tui.workbench.conformance.rule import read_json

MAX_NAME: Final = 120
"""The maximum length of a stored method or kind."""


class MessageKind(Enum):
    REQUEST = "request"
    RESPONSE = "response"
    NOTIFICATION = "notification"
    JUNK = "junk"
    """Not a message, although it should be."""
    TEXT = "text"
    """Text on stderr, or a note."""


class IndexedLine(NamedTuple):
    at_s: float
    kind: LineKind
    form: MessageKind
    size: int
    """In bytes."""
    method: str = ""
    """Empty for a response, because only the request has it."""
    update: str = ""
    """The kind of a session/update."""
    request_id: Any = None
    is_error: bool = False


def read_entry(line: LoggedLine) -> IndexedLine:
    """Index a line. Never raises."""
    at_s, kind, data = line
    if kind in (LineKind.STDERR, LineKind.NOTE):
        return IndexedLine(at_s, kind, MessageKind.TEXT, len(data))
    try:
        value = read_json(data)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        return IndexedLine(at_s, kind, MessageKind.JUNK, len(data), is_error=kind is LineKind.IN)
    return _read_message(line, value)


def _read_message(line: LoggedLine, value: dict[str, Any]) -> IndexedLine:
    at_s, kind, data = line
    method, params = _call(value)
    if isinstance(method, str):
        form = MessageKind.REQUEST if "id" in value else MessageKind.NOTIFICATION
        update = _name(as_object(params.get("update")).get("sessionUpdate"))
        return IndexedLine(at_s, kind, form, len(data), _name(method), update, value.get("id"))
    if "result" in value or "error" in value:
        is_error = value.get("error") is not None
        answered = value.get("id")
        return IndexedLine(at_s, kind, MessageKind.RESPONSE, len(data), request_id=answered, is_error=is_error)
    return IndexedLine(at_s, kind, MessageKind.JUNK, len(data), is_error=kind is LineKind.IN)


def _call(message: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The method and params of a call. Both methods of one that is wrapped for a proxy, and the params inside."""
    method, params = message.get("method"), as_object(message.get("params"))
    if method in SUCCESSORS and is_call(params):
        return f"{method} {params['method']}", as_object(params.get("params"))
    return method, params


def _name(value: Any) -> str:
    return value[:MAX_NAME] if isinstance(value, str) else ""


MAX_CHARACTERS: Final = 300
_NAMED: Final = (
    *("title", "status", "state", "message", "command", "path", "cwd", "mode", "modeId", "currentModeId"),
    *("configId", "value", "methodId", "stopReason", "uri", "optionId", "action", "outcome"),
)
_COUNTED: Final = ("entries", "availableCommands", "configOptions", "options", "sessions", "mcpServers")


@dataclass(frozen=True, slots=True)
class LineSummary:
    """A summary of a line. May contain text from the agent that isn't made visible."""

    about: str = ""
    request_id: str = ""
    """In JSON; "" if there isn't one."""


def glimpse(line: LoggedLine) -> LineSummary:
    """Summarize a line. Never raises."""
    try:
        message = read_json(line.data)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        return LineSummary(line.data[: 4 * MAX_CHARACTERS].decode("utf-8", "replace")[:MAX_CHARACTERS])
    request_id = json.dumps(message["id"], ensure_ascii=False)[:40] if "id" in message else ""
    return LineSummary(" · ".join(filter(None, _parts(message)))[:MAX_CHARACTERS], request_id)


def _parts(message: dict[str, Any]) -> Iterator[str]:
    error = message.get("error")
    if error is not None:
        fields = as_object(error)
        yield f"error {fields.get('code', '')}: {fields.get('message', error)}"
        return
    params = _call(message)[1] if "method" in message else as_object(message.get("result"))
    yield from _of_object(params)
    for key in ("update", "toolCall", "outcome"):
        yield from _of_object(as_object(params.get(key)))


def _of_object(fields: dict[str, Any]) -> Iterator[str]:
    for key in _NAMED:
        value = fields.get(key) if key in fields else None
        if isinstance(value, str | int | float):
            yield str(value)[:MAX_CHARACTERS]
    if isinstance(fields.get("protocolVersion"), int):
        yield f"ACP {fields['protocolVersion']}"
    for key in ("content", "prompt"):
        yield _text(fields.get(key))
    for key in _COUNTED:
        if isinstance(fields.get(key), list):
            yield f"{len(fields[key])} {key}"
    if isinstance(info := fields.get("agentInfo", fields.get("info")), dict):
        yield f"{info.get('title') or info.get('name') or ''} {info.get('version') or ''}".strip()


def _text(content: Any) -> str:
    """The beginning of the first text in `content`."""
    blocks = content if isinstance(content, list) else [content]
    for block in blocks:
        fields = as_object(block)
        if isinstance(fields.get("text"), str):
            return str(fields["text"])[:MAX_CHARACTERS]
        if isinstance(fields.get("content"), dict):
            return _text(fields["content"])
    return content[:MAX_CHARACTERS] if isinstance(content, str) else ""


MAX_NAMES: Final = 10_000
"""The maximum number of different methods and kinds."""
MAX_OPEN: Final = 10_000
"""The maximum number of requests that wait for a response."""
BLOCK: Final = 4_096
"""The number of lines to forget at a time."""
KINDS: Final = tuple(LineKind)
FORMS: Final = tuple(MessageKind)
ERROR: Final = 1
FOUND: Final = 2
OPEN: Final = 4
FLAGS: Final = 8
"""The number of combinations of the flags."""
_NONE: Final = 0xFFFF_FFFF


class Label(NamedTuple):
    """What a message is about; empty for other lines."""

    method: str = ""
    update: str = ""
    """The kind of a session/update."""


@dataclass(frozen=True, slots=True)
class IndexRow:
    """A line as the list shows it."""

    position: int
    at_s: float
    kind: LineKind
    form: MessageKind
    label: Label
    size: int
    """In bytes."""
    partner: int | None
    """The position of a request's response, or of a response's request."""
    took_s: float | None
    """The time from request to response; None if there is no response yet."""
    is_error: bool
    has_findings: bool
    """Whether it breaks a rule of the protocol."""


class FrameIndex:
    """An index that grows at its end. Use it only on the event loop."""

    def __init__(self, first: int = 0) -> None:
        self.first = first
        """The oldest known line."""
        self._labels = [Label()]
        self._numbers = {Label(): 0}
        """Of the labels. Number 0 is also for all beyond the limit."""
        self._at = array("d")
        self._kind, self._form, self._flags = array("B"), array("B"), array("B")
        self._label, self._size, self._partner = array("H"), array("I"), array("I")
        self._open: Pairing[int] = Pairing(MAX_OPEN)

    @property
    def end(self) -> int:
        return self.first + len(self._at)

    @property
    def waiting(self) -> Sequence[int]:
        """Requests without a response: the agent's, which wait for the user, then the client's, oldest first."""
        every = (position for side in Direction for position in self._open.all_waiting(side))
        return [position for position in every if position >= self.first]

    def add(self, entries: Iterable[IndexedLine]) -> list[int]:
        """Append lines; return the requests that they answer."""
        answered = []
        for entry in entries:
            request = None
            if entry.form is MessageKind.REQUEST:
                self._open.ask(Direction(entry.kind.value), entry.request_id, self.end)
            elif entry.form is MessageKind.RESPONSE:
                request = self._open.answer(Direction(entry.kind.value), entry.request_id)
            if request is None or request < self.first:
                self._append(entry, None)
            else:
                asked = self.row(request).label  # only the request has it
                self._append(entry._replace(method=asked.method, update=asked.update), request)
                self._partner[request - self.first] = self.end - 1
                self._flags[request - self.first] &= ~OPEN
                answered.append(request)
        return answered

    def _append(self, entry: IndexedLine, partner: int | None) -> None:
        at_s, kind, form, size, method, update, _, is_error = entry
        label = Label(method, update)
        if label not in self._numbers and len(self._labels) < MAX_NAMES:
            self._numbers[label] = len(self._labels)
            self._labels.append(label)
        self._at.append(max(at_s, self._at[-1] if self._at else 0.0))
        self._kind.append(KINDS.index(kind))
        self._form.append(FORMS.index(form))
        self._flags.append(ERROR * is_error | OPEN * (form is MessageKind.REQUEST))
        self._label.append(self._numbers.get(label, 0))
        self._size.append(min(size, _NONE))
        self._partner.append(_NONE if partner is None else partner)

    def drop_before(self, position: int) -> bool:
        """Forget older lines, if there are enough of them; return whether it did."""
        count = min(position - self.first, len(self._at))
        if count < BLOCK:
            return False
        self.first += count
        del self._at[:count]
        for column in (self._kind, self._form, self._flags, self._label, self._size, self._partner):
            del column[:count]
        return True

    def mark_found(self, position: int) -> None:
        if self.first <= position < self.end:
            self._flags[position - self.first] |= FOUND

    # What is known

    def row(self, position: int) -> IndexRow:
        at = position - self.first
        partner = None if self._partner[at] == _NONE else self._partner[at]
        return IndexRow(
            position=position,
            at_s=self._at[at],
            kind=KINDS[self._kind[at]],
            form=FORMS[self._form[at]],
            label=self._labels[self._label[at]],
            size=self._size[at],
            partner=partner,
            took_s=None
            if partner is None or partner < self.first
            else abs(self._at[partner - self.first] - self._at[at]),
            is_error=bool(self._flags[at] & ERROR),
            has_findings=bool(self._flags[at] & FOUND),
        )

    def flags(self, start: int, stop: int) -> Sequence[int]:
        return self._flags[start - self.first : stop - self.first]
