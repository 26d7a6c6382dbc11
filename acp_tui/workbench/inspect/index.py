"""What each line is, and what is known of all lines, in columns of a few bytes: 25 MB for a million. Keeps no line."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, Final, Generic, NamedTuple, TypeVar

from acp_tui.client.transcript.frame_log import Kind, Line
from acp_tui.protocol.conformance.rule import read_json
from acp_tui.values import dataclass

MAX_NAME: Final = 120
"""Characters of a method, a kind or a session that are kept."""


class Form(Enum):
    """What a line is."""

    REQUEST = "request"
    RESPONSE = "response"
    NOTIFICATION = "notification"
    JUNK = "junk"
    """No message, where one should be."""
    TEXT = "text"
    """Of stderr, or a note."""


class Entry(NamedTuple):
    """What is kept of a line."""

    at_s: float
    kind: Kind
    form: Form
    size: int
    """Bytes."""
    method: str = ""
    """Of a response it is not known here."""
    update: str = ""
    """The kind of a session/update."""
    session: str = ""
    key: int = 0
    """Of a request and its answer the same, but for a chance of one in 2^61."""
    is_error: bool = False


def read_entry(line: Line) -> Entry:
    """It raises nothing, whatever stands there."""
    at_s, kind, data = line
    if kind in (Kind.STDERR, Kind.NOTE):
        return Entry(at_s, kind, Form.TEXT, len(data))
    try:
        value = read_json(data)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        return Entry(at_s, kind, Form.JUNK, len(data), is_error=kind is Kind.IN)
    return _read_message(line, value)


def _read_message(line: Line, value: dict[str, Any]) -> Entry:
    at_s, kind, data = line
    method = value.get("method")
    if isinstance(method, str):
        params = as_object(value.get("params"))
        form = Form.REQUEST if "id" in value else Form.NOTIFICATION
        update = _name(as_object(params.get("update")).get("sessionUpdate"))
        key = key_of(value) if "id" in value else 0
        return Entry(at_s, kind, form, len(data), _name(method), update, _name(params.get("sessionId")), key)
    if "result" in value or "error" in value:
        session = _name(as_object(value.get("result")).get("sessionId"))
        is_error = value.get("error") is not None
        return Entry(
            at_s,
            kind,
            Form.RESPONSE,
            len(data),
            session=session,
            key=key_of(value),
            is_error=is_error,
        )
    return Entry(at_s, kind, Form.JUNK, len(data), is_error=kind is Kind.IN)


def key_of(message: dict[str, Any]) -> int:
    """Its id as a number: 1 and "1" are two."""
    request_id = message.get("id")
    return hash((type(request_id).__name__, repr(request_id)))


def as_object(value: Any) -> dict[str, Any]:
    """The object, an empty one for what is none."""
    return value if isinstance(value, dict) else {}


def _name(value: Any) -> str:
    return value[:MAX_NAME] if isinstance(value, str) else ""


MAX_CHARACTERS: Final = 300
_NAMED: Final = (
    *("title", "status", "state", "message", "command", "path", "cwd", "mode", "modeId", "currentModeId"),
    *("configId", "value", "methodId", "stopReason", "uri", "optionId", "action", "outcome"),
)
_COUNTED: Final = ("entries", "availableCommands", "configOptions", "options", "sessions", "mcpServers")


@dataclass(frozen=True, slots=True)
class Glimpse:
    """The text may hold what an agent said: who shows it makes it visible."""

    about: str = ""
    request_id: str = ""
    """As JSON has it; "" where there is none."""


def glimpse(line: Line) -> Glimpse:
    """A look at the line; raises nothing, whatever stands there."""
    try:
        message = read_json(line.data)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        return Glimpse(line.data[: 4 * MAX_CHARACTERS].decode("utf-8", "replace")[:MAX_CHARACTERS])
    request_id = json.dumps(message["id"], ensure_ascii=False)[:40] if "id" in message else ""
    parts = filter(None, _parts(message))
    return Glimpse(" · ".join(parts)[:MAX_CHARACTERS], request_id)


def _parts(message: dict[str, Any]) -> Iterator[str]:
    error = message.get("error")
    if error is not None:
        fields = as_object(error)
        yield f"error {fields.get('code', '')}: {fields.get('message', error)}"
        return
    params = as_object(message.get("params") if "method" in message else message.get("result"))
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
    """How the first text in there begins."""
    blocks = content if isinstance(content, list) else [content]
    for block in blocks:
        fields = as_object(block)
        if isinstance(fields.get("text"), str):
            return str(fields["text"])[:MAX_CHARACTERS]
        if isinstance(fields.get("content"), dict):
            return _text(fields["content"])
    return content[:MAX_CHARACTERS] if isinstance(content, str) else ""


MAX_NAMES: Final = 10_000
"""Different methods, kinds or sessions that are told apart."""
MAX_OPEN: Final = 10_000
"""Requests that wait for an answer."""
BLOCK: Final = 4_096
"""So many lines are forgotten at once."""
KINDS: Final = tuple(Kind)
FORMS: Final = tuple(Form)
ERROR: Final = 1
FOUND: Final = 2
OPEN: Final = 4
FLAGS: Final = 8
"""So many values they can have together."""
_NONE: Final = 0xFFFF_FFFF

T = TypeVar("T")


class Label(NamedTuple):
    """What a message is about; empty for what is none."""

    method: str = ""
    update: str = ""
    """The kind of a session/update."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line as the list shows it."""

    position: int
    at_s: float
    kind: Kind
    form: Form
    label: Label
    """Of a response: what was asked."""
    session: str
    size: int
    """Bytes."""
    partner: int | None
    """The answer to a request, the request of an answer."""
    took_s: float | None
    """From the request to its answer; None as long as there is none."""
    is_error: bool
    has_findings: bool
    """A rule of the protocol is broken here."""


class Columns(NamedTuple):
    """A stretch of the index, copied, for a thread."""

    start: int
    kinds: Sequence[int]
    forms: Sequence[int]
    labels: Sequence[int]
    sessions: Sequence[int]
    flags: Sequence[int]


class Register(Generic[T]):
    """Numbers for values that come again and again; number 0 is that of nothing, and of all that come too late."""

    def __init__(self, nothing: T) -> None:
        self.values = [nothing]
        self.counts = [0]
        """How often each came."""
        self._numbers = {nothing: 0}

    def note(self, value: T) -> int:
        """The value came once more; gives its number."""
        number = self._numbers.get(value)
        if number is None:
            if len(self.values) >= MAX_NAMES:
                return 0
            number = self._numbers[value] = len(self.values)
            self.values.append(value)
            self.counts.append(0)
        self.counts[number] += 1
        return number


class FrameIndex:
    """Grows at its end; changed and read on the event loop only."""

    def __init__(self, first: int = 0) -> None:
        self.first = first
        """The oldest line that is known."""
        self.labels = Register(Label())
        self.sessions = Register("")
        self._at = array("d")
        self._kind, self._form, self._flags = array("B"), array("B"), array("B")
        self._label, self._session = array("H"), array("H")
        self._size, self._partner = array("I"), array("I")
        self._open: OrderedDict[tuple[Kind, int], int] = OrderedDict()
        """Requests without an answer, by who is to answer; the oldest first."""

    @property
    def end(self) -> int:
        """Behind the last line."""
        return self.first + len(self._at)

    @property
    def last_at_s(self) -> float:
        """When the last line came."""
        return self._at[-1] if self._at else 0.0

    @property
    def waiting(self) -> int:
        """How many requests have no answer."""
        return len(self._open)

    @property
    def foremost(self) -> int | None:
        """The oldest of the agent's requests that wait, for which somebody waits here; else of the client's."""
        of_agent = (position for (kind, _), position in self._open.items() if kind is Kind.OUT)
        return next(of_agent, next(iter(self._open.values()), None))

    def add(self, entries: Iterable[Entry]) -> list[int]:
        """Lines that came behind the last one; gives which requests were answered by them."""
        answered = []
        for entry in entries:
            if entry.form is Form.REQUEST:
                self._wait_for_answer(entry)
            request = self._open.pop((entry.kind, entry.key), -1) if entry.form is Form.RESPONSE else -1
            if request < self.first:
                self._append(entry, None)
            else:
                self._append(self._told_by_request(entry, request), request)
                self._partner[request - self.first] = self.end - 1
                self._flags[request - self.first] &= ~OPEN
                answered.append(request)
        return answered

    def _wait_for_answer(self, entry: Entry) -> None:
        answering = Kind.OUT if entry.kind is Kind.IN else Kind.IN
        self._open.pop((answering, entry.key), None)  # the same id again: it is the newest now
        self._open[answering, entry.key] = self.end
        if len(self._open) > MAX_OPEN:
            self._open.popitem(last=False)

    def _told_by_request(self, entry: Entry, request: int) -> Entry:
        """An answer with what only its request says."""
        asked = self.row(request)
        return entry._replace(
            method=asked.label.method,
            update=asked.label.update,
            session=entry.session or asked.session,
        )

    def _append(self, entry: Entry, partner: int | None) -> None:
        at_s, kind, form, size, method, update, session, _, is_error = entry
        self._at.append(max(at_s, self.last_at_s))
        self._kind.append(KINDS.index(kind))
        self._form.append(FORMS.index(form))
        self._flags.append(ERROR * is_error | OPEN * (form is Form.REQUEST))
        self._label.append(self.labels.note(Label(method, update)))
        self._session.append(self.sessions.note(session))
        self._size.append(min(size, _NONE))
        self._partner.append(_NONE if partner is None else partner)

    def drop_before(self, position: int) -> bool:
        """Forget what is older, as soon as that is worth it; says whether it was."""
        count = min(position - self.first, len(self._at))
        if count < BLOCK:
            return False
        self.first += count
        columns: tuple[array[Any], ...] = (
            self._at,
            self._kind,
            self._form,
            self._flags,
            self._label,
            self._session,
            self._size,
            self._partner,
        )
        for column in columns:
            del column[:count]
        while self._open and next(iter(self._open.values())) < self.first:
            self._open.popitem(last=False)
        return True

    def mark_found(self, position: int) -> None:
        """A rule is broken there."""
        if self.first <= position < self.end:
            self._flags[position - self.first] |= FOUND

    # What is known

    def row(self, position: int) -> Row:
        """One line, of those that are known."""
        at = position - self.first
        partner = None if self._partner[at] == _NONE else self._partner[at]
        return Row(
            position=position,
            at_s=self._at[at],
            kind=KINDS[self._kind[at]],
            form=FORMS[self._form[at]],
            label=self.labels.values[self._label[at]],
            session=self.sessions.values[self._session[at]],
            size=self._size[at],
            partner=partner,
            took_s=self._took_s(at, partner),
            is_error=bool(self._flags[at] & ERROR),
            has_findings=bool(self._flags[at] & FOUND),
        )

    def _took_s(self, at: int, partner: int | None) -> float | None:
        if partner is None or partner < self.first:
            return None
        return abs(self._at[partner - self.first] - self._at[at])

    def position_at(self, seconds: float) -> int:
        """The first line that came no earlier."""
        return self.first + bisect_left(self._at, seconds)

    def columns(self, start: int, stop: int) -> Columns:
        """What a search has to know of these lines."""
        part = slice(start - self.first, stop - self.first)
        return Columns(
            start,
            self._kind[part],
            self._form[part],
            self._label[part],
            self._session[part],
            self._flags[part],
        )
