"""Draws what a permission request is about, whole: command, diffs, texts, and the raw report when it is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.conversation.content import Text, TextResource
from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.facts import PermissionRequest
from acp_tui.conversation.places import is_outside
from acp_tui.conversation.tool_calls import (
    BlockContent,
    TerminalContent,
    TerminalId,
    TextDiff,
    ToolCall,
    ToolCallContent,
    UnknownContent,
)
from acp_tui.conversation.unset import UNSET
from acp_tui.conversation.visible import make_visible_line, make_visible_path
from acp_tui.ui.drawings.blocks import block_label
from acp_tui.ui.drawings.diffs import Comparisons
from acp_tui.ui.drawings.drawing import Joined
from acp_tui.ui.drawings.places import HERE, shown_location, shown_path
from acp_tui.ui.drawings.shell_command import ShellCommand, command_lines, reported_command
from acp_tui.ui.rendering.diff import DiffLayout
from acp_tui.ui.rendering.diff_model import CONTEXT_LINES
from acp_tui.ui.rendering.diff_text import SIGNS
from acp_tui.ui.rendering.marks import Gutter
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.plain import plain_lines
from acp_tui.ui.rendering.wrapping import wrap

CHANGE_SIGNS: Final = tuple(f"{SIGNS[kind]} " for kind in ("added", "removed"))


@dataclass(frozen=True, slots=True)
class Asked:
    """A permission request with all that there is to show of it."""

    request: PermissionRequest
    call: ToolCall
    cwd: str = ""
    """The session's directory: paths inside it are shown relative to it."""
    waiting: int = 1
    """How many requests there are, this one counted."""
    terminals: Mapping[TerminalId, TerminalState] = field(default_factory=dict)

    @property
    def state(self) -> tuple[object, ...]:
        """Equal as long as the same is to be shown: calls and terminals change in place."""
        call = self.call
        shown = [item.terminal_id for item in call.content if isinstance(item, TerminalContent)]
        terminals = [self.terminals[name] for name in shown if name in self.terminals]
        reported = (
            call.shown_title,
            call.kind,
            call.content,
            call.locations,
            call.raw_input,
            call.raw_output,
        )
        return self.request, self.waiting, *reported, *((state.command, state.cwd) for state in terminals)


@dataclass(frozen=True, slots=True)
class Look:
    """How it is to be drawn."""

    width: int
    """Cells."""
    palette: Palette
    layout: DiffLayout = "unified"
    shows_raw: bool = False
    context: int | None = CONTEXT_LINES
    """Unchanged lines around a change, None for the whole file."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What was drawn."""

    lines: Sequence[Strip] = ()
    hunks: tuple[int, ...] = ()
    """In which lines the changes begin."""
    is_whole: bool = True
    """Whether all of it was compared; else it is to be drawn again, soon."""
    raw: int | None = None
    """In which line the raw report begins, where it is shown."""

    def below(self, lines: Sequence[Strip]) -> Subject:
        """The same with these lines above it."""
        above = len(lines)
        hunks = tuple(above + row for row in self.hunks)
        raw = None if self.raw is None else above + self.raw
        return Subject(Joined(lines, self.lines), hunks, self.is_whole, raw)

    def first_changed(self, index: int) -> int:
        """In which line of the change of that index something is new or gone."""
        start, end = [*self.hunks, len(self.lines)][index : index + 2]
        return next((row for row in range(start, end) if _is_changed(self.lines[row])), start)


class SubjectDrawing:
    """Draws requests, and keeps what was compared for the next time."""

    def __init__(self) -> None:
        self._diffs = Comparisons()

    def draw(self, asked: Asked, look: Look) -> Subject:
        """What would be done, and nothing of it left out but what is not compared yet or is said to be cut."""
        self._diffs.keep(item for item in asked.call.content if isinstance(item, TextDiff))
        is_whole = self._diffs.advance()
        runs: list[Sequence[Strip]] = []
        hunks: list[int] = []
        length = 0
        for lines, changes in self._runs(asked, look):
            runs.append(lines)
            hunks += [length + row for row in changes]
            length += len(lines)
        raw = None
        if look.shows_raw:
            raw = length
            runs.append(_raw(asked.call, look))
        return Subject(Joined(*runs), tuple(hunks), is_whole, raw)

    def _runs(self, asked: Asked, look: Look) -> Iterator[tuple[Sequence[Strip], tuple[int, ...]]]:
        """The parts above the raw report, each with the lines of it in which changes begin."""
        call = asked.call
        command = reported_command(call)
        yield _notes(asked, command, look), ()
        if command is not None:
            yield _command(command, look), ()
        for item in call.content:
            if isinstance(item, TextDiff):
                yield self._diff(item, asked.cwd, look)
            else:
                yield _content(item, asked.terminals, look), ()
        if command is None and not call.content and not look.shows_raw:
            yield _input(call, look), ()

    def _diff(self, diff: TextDiff, cwd: str, look: Look) -> tuple[Sequence[Strip], tuple[int, ...]]:
        renderer = self._diffs.renderer(diff, cwd)
        if not renderer.is_ready:
            return renderer.waiting_lines(look.width, look.palette), ()
        lines = renderer.lines(look.width, look.palette, look.layout, look.context)
        first, *others = renderer.hunk_rows or (0,)
        # The first change is shown with the name of its file, if that is near.
        return lines, (first if look.context is None else 0, *others)


def _is_changed(line: Strip) -> bool:
    """Whether this is a line of a diff with the sign of what is new or gone: it stands first or behind the numbers."""
    before: Segment | None = None
    for segment in line:
        if segment.text in CHANGE_SIGNS and (before is None or isinstance(before, Gutter)):
            return True
        before = segment
    return False


def changed_file(asked: Asked) -> str:
    """The path of the first diff, "" where there is none."""
    paths = [item.path for item in asked.call.content if isinstance(item, TextDiff)]
    return make_visible_path(shown_path(paths[0], asked.cwd)) if paths else ""


def has_changes(call: ToolCall) -> bool:
    """Whether there is a diff to look at."""
    return any(isinstance(item, TextDiff) for item in call.content)


def _notes(asked: Asked, command: ShellCommand | None, look: Look) -> list[Strip]:
    """What is to be known beforehand: the client's own note, where it happens, and what lies outside."""
    call, palette = asked.call, look.palette
    lines = [] if asked.request.note is None else plain_lines(asked.request.note, look.width, palette.warning)
    diffs = [item.path for item in call.content if isinstance(item, TextDiff)]
    for location in call.locations:
        if location.path not in diffs:
            place = make_visible_path(shown_location(location, asked.cwd))
            where = "in the session's folder" if place == HERE else f"at {place}"
            lines += wrap([(where, palette.muted)], look.width)
    paths = [*diffs, *(location.path for location in call.locations)]
    if command is not None and command.cwd is not None:
        paths.append(command.cwd)
    for path in dict.fromkeys(path for path in paths if is_outside(path, asked.cwd)):
        text = f"outside of the session's folder: {make_visible_path(path)}"
        lines += wrap([(text, palette.warning)], look.width)
    return lines


def _command(command: ShellCommand, look: Look) -> list[Strip]:
    lines = command_lines(command.line, look.palette, look.width)
    if command.cwd is not None:
        lines += wrap([(f"in {make_visible_path(command.cwd)}", look.palette.muted)], look.width)
    if command.other_fields and not look.shows_raw:
        names = make_visible_line(", ".join(command.other_fields))
        lines += wrap([(f"r shows what else is reported: {names}", look.palette.muted)], look.width)
    return lines


def _content(
    item: ToolCallContent, terminals: Mapping[TerminalId, TerminalState], look: Look
) -> Sequence[Strip]:
    match item:
        case BlockContent(Text(text)):
            return plain_lines(text, look.width, look.palette.text)
        case BlockContent(TextResource(text=text) as block):
            label = plain_lines(block_label(block), look.width, look.palette.muted)
            return [*label, *plain_lines(text, look.width, look.palette.text)]
        case BlockContent(block):
            return plain_lines(block_label(block), look.width, look.palette.muted)
        case TerminalContent(terminal_id):
            return _terminal(terminals.get(terminal_id), look)
        case UnknownContent(kind):
            unknown = f"[{make_visible_line(kind)}: a kind of content that acp-tui does not know]"
            return wrap([(unknown, look.palette.warning)], look.width)
        case TextDiff():
            raise AssertionError("drawn with what was compared")


def _terminal(state: TerminalState | None, look: Look) -> list[Strip]:
    """What runs in a terminal; its output stands in the conversation."""
    muted = look.palette.muted
    if state is None:
        return wrap([("[a terminal that acp-tui does not know]", muted)], look.width)
    if state.command is None:
        return wrap([("[a terminal, of which the command is not reported]", muted)], look.width)
    lines = [
        *wrap([("terminal", muted)], look.width),
        *command_lines(state.command, look.palette, look.width),
    ]
    if state.cwd is not None:
        lines += wrap([(f"in {make_visible_path(state.cwd)}", muted)], look.width)
    return lines


def _input(call: ToolCall, look: Look) -> list[Strip]:
    """All that is known of a call which shows nothing."""
    if call.raw_input is UNSET:
        text = "what it would do exactly is not reported by the agent"
        return wrap([(text, look.palette.muted)], look.width)
    return _json(call.raw_input, look)


def _raw(call: ToolCall, look: Look) -> list[Strip]:
    lines: list[Strip] = []
    for label, value in (("input", call.raw_input), ("output", call.raw_output)):
        if value is UNSET:
            lines += wrap([(f"raw {label}: not reported", look.palette.muted)], look.width)
        else:
            lines += wrap([(f"raw {label}:", look.palette.muted)], look.width)
            lines += _json(value, look)
    return lines


def _json(value: Any, look: Look) -> list[Strip]:
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    return plain_lines(text, look.width, look.palette.code)
