"""What a permission request tells, part by part: the card draws the parts, and `exec` and plain mode print them.

Each fact is told once. All texts are visible and bounded, except those of diffs, which each front end compares itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, field
from functools import lru_cache
from itertools import islice
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from acp_tui.conversation import KINDS, UNSET, tool_calls
from acp_tui.conversation.content import OWN_META
from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.facts import PermissionRequest
from acp_tui.conversation.permission_requests import is_outside, shown_state
from acp_tui.conversation.tool_text import HERE, command_line, described, shown_location, shown_path, visible_title
from acp_tui.conversation.value_outline import MAX_FIELDS, Labels, reported_fields
from acp_tui.conversation.visible import collapse_blanks, collapse_blanks_in_line, make_visible, make_visible_line
from acp_tui.conversation.visible.confusables import make_visible_command, make_visible_path
from acp_tui.conversation.visible.cutting import MAX_LINE, cut_characters, cut_shown, drawing_cost
from acp_tui.values import dataclass


class Bounds(NamedTuple):
    """How much to tell of a request, besides its diffs."""

    most: int
    """Of all texts together."""
    most_of_value: int
    """Of each reported value."""
    cost: Callable[[str], int] = drawing_cost
    """What a text costs."""
    cut: Callable[[str, int], str] = cut_shown
    """Cuts a text to a cost, with a mark."""


ON_SCREEN: Final = Bounds(200_000, 200_000)
"""Nobody reads more before answering."""
VERBS: Final = {"read": "Read", "edit": "Edit", "delete": "Delete", "move": "Move"}
"""What a call does whose title is only a path, by its kind."""
MAX_PURPOSE: Final = 200
"""A longer description has its own place, below the command."""
REASON_LABELS: Final = ("reason: ", "justification: ")
"""Of the fields in which agents say why they ask."""
MAX_REASON: Final = 120
"""A longer reason would push what is asked out of a small card, so it has its place below."""
MAX_META: Final = 200
"""Shorter texts in `_meta` without spaces are names and numbers for programs."""
MAX_COUNTED: Final = 20_000
"""Fields that aren't shown are counted up to this number: a message may have a million, which takes seconds."""
MAX_IN_ROW: Final = 2_000
"""The maximum length of a value shown in the same row as its name."""


@dataclass(frozen=True, slots=True)
class ShownRequest:
    request: PermissionRequest
    call: tool_calls.ToolCall
    cwd: str = ""
    """The session's folder. Paths inside it are shown relative to it."""
    waiting: int = 1
    """How many requests are waiting, including this one."""
    number: int = 1
    """Which one of them it is, from the oldest on."""
    terminals: Mapping[tool_calls.TerminalId, TerminalState] = field(default_factory=dict)

    @property
    def state(self) -> tuple[object, ...]:
        """Equal as long as the same should be shown."""
        place = self.number, self.waiting
        return place, self.call.shown_content, *shown_state(self.request, self.call, self.terminals)

    @property
    def place(self) -> str:
        """Its number among the requests that wait; "" if it's the only one."""
        return f"{self.number} of {self.waiting}" if self.waiting > 1 else ""

    @property
    def title(self) -> str:
        """What the agent asks, in one visible line; in our words if the command below says all of it."""
        command, asks = _asked_command(self.request, self.call), self.request.title
        title = self.call.shown_title if asks is None else asks
        if command is not None and (what_for := _what_for(title, command.line, self.call)) is not None:
            return "Run a command" + (f": {collapse_blanks_in_line(make_visible_line(what_for))}" if what_for else "")
        if asks is not None:
            return collapse_blanks_in_line(make_visible_line(asks))
        paths = (*tool_calls.changed_paths(self.call.content), *(location.path for location in self.call.locations))
        if self.call.kind in VERBS and title in paths:
            return f"{VERBS[self.call.kind]} {make_visible_path(shown_path(title, self.cwd))}"
        return visible_title(self.call)


# The parts


class Heading(NamedTuple):
    """What the agent asks."""

    text: str


class Remark(NamedTuple):
    """A fact in words."""

    text: str
    tone: Literal["note", "plain", "strong", "muted", "warning"] = "muted"
    """A note is the client's own word on the request."""


class CommandToRun(NamedTuple):
    lines: Sequence[str]
    cwd: str | None


class Passage(NamedTuple):
    """A text of the agent's, which may have several lines."""

    text: str
    label: str = ""
    """Names the field it's in, such as `edits:`; "" if the text is the content."""


class Row(NamedTuple):
    """A reported field with a short value, or the name of what holds several."""

    label: str
    """Indented, such as `  - path: `."""
    text: str = ""


RequestPart: TypeAlias = Heading | Remark | CommandToRun | Passage | Row | tool_calls.TextDiff


class _ShellCommand(NamedTuple):
    line: str
    """As a shell would read it. May have several lines."""
    cwd: str | None
    other_fields: Sequence[str]
    """The names of the other reported fields."""


class RequestOutline:
    def __init__(self, asked: ShownRequest, warnings: Iterable[str], bounds: Bounds = ON_SCREEN) -> None:
        """`warnings` are the client's, about the call."""
        self.left_out = 0
        """The number of characters that no part has so far, because they are too many."""
        self.metas = _metas(asked)
        """Data meant for programs, by where it is: `_meta` of the request, of the call, and of its parts."""
        self._asked = asked
        self._warnings = warnings
        self._bounds = bounds
        self._room = bounds.most
        self._shown = _Shown()

    @property
    def says_more(self) -> bool:
        """Whether there is text for people in `metas`, or much of something else."""
        return any(len(each.text) > MAX_META or " " in each.text.strip() for each in reported_fields(self.metas))

    def note_lines(self, lines: Iterable[str]) -> None:
        """Note that the last diff shows these lines. A field with the same lines isn't told again."""
        self._shown.lines.update(lines)

    def parts(self) -> Iterator[RequestPart]:
        """Yield the parts from top to bottom."""
        asked, call = self._asked, self._asked.call
        command = _asked_command(asked.request, call)
        if command is not None:
            command = command._replace(line=self._bounds.cut(command.line, self._room))
            self._room -= self._bounds.cost(command.line)
        yield from self._head(command)
        if command is not None:
            yield self._command(command.line, command.cwd)
        for item in call.shown_content:
            match item:
                case tool_calls.TextDiff():
                    yield item
                case tool_calls.TerminalContent(terminal_id):
                    yield from self._terminal(asked.terminals.get(terminal_id), command)
                case _:
                    yield from self._content(item)
        yield from self._fields(command)

    def _note(self, *texts: str | None) -> None:
        """Note that these texts are told, as far as they aren't cut."""
        for text in filter(None, texts):
            self.left_out += cut_characters(text)
            self._shown.whole.add(text)

    def _head(self, command: _ShellCommand | None) -> Iterator[RequestPart]:
        """What to know first: the client's note, where it happens, and paths outside the session's folder."""
        request, call, cwd = self._asked.request, self._asked.call, self._asked.cwd
        line = "" if command is None else command.line
        if (what_for := _said(call, "description")) and what_for in self._asked.title:
            self._note(what_for)
        for title in (call.shown_title, request.title or ""):
            if title.strip("`$ ")[: MAX_LINE // 2] not in line:  # otherwise, the command has what it may have lost
                self._note(title)
        self._note(request.description)
        if request.note is not None:
            yield Remark(make_visible(request.note), "note")
        yield Heading(self._asked.title)
        is_told = call.shown_title in (request.title or "") or call.shown_title in (line, f"`{line}`")
        changed = tool_calls.changed_paths(call.content)
        located = [each for each in call.locations if each.path not in (*changed, command and command.cwd)]
        places = [make_visible_path(shown_location(each, cwd)) for each in located]
        if request.title is not None and not is_told and not request.is_alone:
            title = visible_title(call)
            if call.kind in VERBS and len(places) == 1 and places[0] != HERE and places[0] not in title:
                title = f"{title}: {places.pop()}"
            yield Remark(title, "strong")
        if request.description is not None:
            yield Remark(_visible(request.description), "plain")
        for label in REASON_LABELS:
            reason = _said(call, label[:-2])
            if 0 < len(reason) <= MAX_REASON and reason not in f"{self._asked.title}\n{request.description}":
                yield Row(label, _visible(reason))
                self._note(reason)
        for warning in self._warnings:
            # The client's own note already names the warnings of its own question.
            if warning not in (request.note or ""):
                yield Remark(make_visible(warning), "warning")
        self._note(
            *changed, *(shown_path(path, cwd) for path in changed), *(location.path for location in call.locations)
        )
        yield from (Remark("in the session's folder" if place == HERE else f"at {place}") for place in places)
        given = call.raw_input.get("cwd") if isinstance(call.raw_input, Mapping) else None
        folders = (given, command.cwd if command is not None else None)
        paths = [*changed, *(location.path for location in call.locations), *(each for each in folders if each)]
        for path in dict.fromkeys(path for path in paths if isinstance(path, str) and is_outside(path, cwd)):
            yield Remark(f"outside the session's folder: {make_visible_path(path)}", "warning")

    def _content(self, item: tool_calls.ToolCallContent) -> Iterator[RequestPart]:
        assert isinstance(item, tool_calls.BlockContent | tool_calls.FileChange | tool_calls.UnknownContent)
        said = described(item)
        if said.label:
            tone: Literal["plain", "muted", "warning"] = "muted" if said.is_known else "warning"
            yield Remark(said.label, "plain" if isinstance(item, tool_calls.FileChange) else tone)
        if said.text is not None:
            self._shown.whole.add(said.text)
            yield from self._text(said.text)
        if said.facts is not UNSET:
            yield from self._values("" if said.is_known else "content", said.facts)

    def _command(self, line: str, cwd: str | None) -> CommandToRun:
        self._note(line, cwd)
        lines = _visible(line).removesuffix("\n").split("\n")
        return CommandToRun(lines, make_visible_path(cwd) if cwd is not None else None)

    def _terminal(self, state: TerminalState | None, command: _ShellCommand | None) -> Iterator[RequestPart]:
        """The command running in a terminal, unless it's the one above. Its output is in the conversation."""
        if state is None:
            yield Remark("[the agent shows a terminal that it hasn't opened]")
        elif state.command is not None:
            if command is None or state.command != command.line or state.cwd not in (None, command.cwd):
                yield Remark("terminal")
                yield self._command(state.command, state.cwd)
        elif command is None:
            # Otherwise, what runs there is the call's command: claude-agent-acp 0.23.1 sends a terminal without a
            # command with each request to run one.
            yield Remark("[a terminal whose command isn't reported]")

    def _fields(self, command: _ShellCommand | None) -> Iterator[RequestPart]:
        """The reported values that no part has yet, field by field."""
        call = self._asked.call
        if more := {key: value for key, value in (self._asked.request.more or {}).items() if key != "_meta"}:
            yield from self._values("subject", more)
        if call.untold_name:
            yield from self._values("tool", call.untold_name)
        if call.kind not in KINDS:
            yield from self._values("kind", call.kind)
        given = call.raw_input
        if command is not None and isinstance(given, Mapping):
            given = {key: value for key, value in given.items() if key in command.other_fields}
        if given is not UNSET and (command is None or given):
            values = {text for _, text in islice(reported_fields(given), MAX_FIELDS)}
            for item in call.content:  # of a change that the agent also reports, the texts in one line of its diff
                if isinstance(item, tool_calls.TextDiff) and {item.old_text, item.new_text} <= values:
                    self._shown.whole |= {item.old_text or "", item.new_text} & self._shown.lines
            yield from self._values("" if isinstance(given, Mapping) else "input", given)
        elif command is None and not call.content:
            yield Remark("the agent didn't say exactly what this does")
        if call.raw_output is not UNSET:
            yield from self._values("output", call.raw_output)

    def _values(self, name: str, value: Any) -> Iterator[RequestPart]:
        """Each field of a value that isn't told yet."""
        spared = max(self._room - self._bounds.most_of_value, 0)
        self._room -= spared
        fields, labels = reported_fields(value, name), Labels()
        for each in islice(fields, MAX_FIELDS):
            self.left_out += sum(cut_characters(str(step)) for step in each.path[-1:]) + cut_characters(each.text)
            if each.text not in self._shown.whole and not self._shown.has_lines(each.text):
                *above, label = labels.lines(each.path)
                self._room -= sum(map(len, (*above, label)))
                yield from map(Row, above)
                yield from self._field(label, each.text)
        if rest := list(islice(fields, MAX_COUNTED)):
            self.left_out += sum(len(str(path[-1:])) + len(text) for path, text in rest)
            count = f"{len(rest):,}" if next(fields, None) is None else f"over {len(rest):,}"
            yield Remark(f"… {count} more fields, not shown", "warning")
        self._room += spared

    def _field(self, label: str, text: str) -> Iterator[RequestPart]:
        if "\n" not in text and len(text) <= min(MAX_IN_ROW, self._room):
            self._room -= len(text)
            yield Row(label, _visible(text))
        else:
            yield from self._text(text, label.rstrip())

    def _text(self, text: str, label: str = "") -> Iterator[RequestPart]:
        """A text from the agent, as far as there is room."""
        shown = self._bounds.cut(text, max(self._room, 0))
        cut = 0 if shown == text else cut_characters(shown)
        if not cut:
            self.left_out += cut_characters(text)  # a mark for items that were cut
        visible = _visible(shown[: len(text) - cut])
        self._room -= self._bounds.cost(shown)
        yield Passage(visible, label)
        if cut:
            self.left_out += cut
            yield Remark(f"… {cut:,} more characters, not shown", "warning")


@lru_cache(maxsize=4)  # a long text is drawn a few times in a row
def _visible(text: str) -> str:
    return collapse_blanks(make_visible_command(text))


# Commands


def _reported_command(call: tool_calls.ToolCall) -> _ShellCommand | None:
    """Return the command in the raw input of an `execute` call; None if there isn't one or it isn't understood."""
    raw = call.raw_input
    if call.kind != "execute" or not isinstance(raw, Mapping):
        return None
    line, read = command_line(raw)
    if not line.strip():
        return None
    cwd = raw.get("cwd")
    if isinstance(cwd, str):
        read |= {"cwd"}
    return _ShellCommand(line, cwd if isinstance(cwd, str) else None, tuple(key for key in raw if key not in read))


def _said(call: tool_calls.ToolCall, name: str) -> str:
    """What the agent says in this field, such as what a command is for, in one line; "" if it doesn't say."""
    said = call.raw_input.get(name) if isinstance(call.raw_input, Mapping) else None
    return said if isinstance(said, str) and 0 < len(said) <= MAX_PURPOSE and "\n" not in said else ""


def _what_for(title: str, line: str, call: tool_calls.ToolCall) -> str | None:
    """What a command is for, if the title is only the command, maybe with that in parentheses; None if it isn't."""
    bare = title if title == line else title.strip().removeprefix("Run ").removesuffix("?")
    if bare in (line, f"`{line}`"):
        return _said(call, "description")
    said = bare.removeprefix(f"{line} (")
    return said[:-1] if said != bare and said.endswith(")") and len(said) <= MAX_PURPOSE else None


def _asked_command(request: PermissionRequest, call: tool_calls.ToolCall) -> _ShellCommand | None:
    """Return the command that the request names, or the one that the call reports."""
    reported = _reported_command(call)
    if request.command is None:
        return reported
    line, cwd = request.command.line, request.command.cwd
    if reported is not None and reported.line == line and reported.cwd in (None, cwd):
        return reported._replace(cwd=cwd)
    others = tuple(call.raw_input) if isinstance(call.raw_input, Mapping) else ()
    return _ShellCommand(line, cwd, others)


# What is told already, and what is lost


class _Shown:
    """The texts that a request tells already."""

    def __init__(self) -> None:
        self.whole: set[str] = set()
        self.lines: set[str] = set()
        """The lines of diffs."""

    def has_lines(self, text: str) -> bool:
        """Whether a diff shows every line of this text, which has several lines or is a patch."""
        lines = text.rstrip("\n").split("\n")
        has_end = len(lines) > 1 or text.endswith("\n")
        return has_end and (all(map(self._has, lines)) or all(map(self._has_of_patch, lines)))

    def _has(self, line: str) -> bool:
        return line in self.lines or (not line.strip() and bool(self.lines))

    def _has_of_patch(self, line: str) -> bool:
        if _PATCH_HEAD.match(line) is not None:
            return all(word in self.whole or _PATCH_WORD.fullmatch(word) for word in line.split())
        return line[:1] in ("+", "-", " ", "") and self._has(line[1:])


_PATCH_HEAD: Final = re.compile(r"Index: |={20,}$|--- |\+\+\+ |@@ -[\d,]+ \+[\d,]+ @@$")
_PATCH_WORD: Final = re.compile(r"Index:|=+|---|\+\+\+|@@|[-+][\d,]+|/dev/null")


def _metas(asked: ShownRequest) -> dict[str, Any]:
    call = asked.call
    found = {"request": _without_own(asked.request.meta), "call": call.meta}
    found["subject"] = (asked.request.more or {}).get("_meta")
    found |= {f"locations[{at}]": place.meta for at, place in enumerate(call.locations)}
    for at, item in enumerate(call.content):
        if not isinstance(item, tool_calls.UnknownContent):
            found[f"content[{at}]"] = item.meta
        if isinstance(item, tool_calls.BlockContent):
            found[f"content[{at}].content"] = getattr(item.block, "meta", None)
            notes = getattr(item.block, "annotations", None)
            found[f"content[{at}].annotations"] = asdict(notes) if notes is not None else None
    return {name: meta for name, meta in found.items() if meta}


def _without_own(meta: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Remove the key that our own host adds to `_meta`, if it is exactly that."""
    ours = (meta or {}).get(OWN_META)
    is_number = isinstance(ours, dict) and ours.keys() == {"key"} and isinstance(ours["key"], int)
    return {name: value for name, value in (meta or {}).items() if name != OWN_META or not is_number}
