"""Draws the whole subject of a permission request: command, diffs, texts, and the raw report on request."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, field, fields, replace
from itertools import islice
from typing import Any, Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.client.loading_variables import call_warnings
from acp_tui.conversation import UNSET
from acp_tui.conversation.content import OWN_META, ContentBlock, Text, TextResource, UnknownBlock
from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.facts import PermissionRequest
from acp_tui.conversation.permission_requests import (
    MAX_FIELDS,
    ReportedField,
    is_outside,
    reported_fields,
    shown_state,
)
from acp_tui.conversation.tool_calls import (
    BlockContent,
    FileChange,
    TerminalContent,
    TerminalId,
    TextDiff,
    ToolCall,
    ToolCallContent,
    UnknownContent,
    changed_paths,
)
from acp_tui.conversation.tool_text import HERE, PROMPT, command_line, is_place, shown_location, shown_path
from acp_tui.conversation.visible import collapse_blanks, collapse_blanks_in_line, make_visible, make_visible_line
from acp_tui.conversation.visible.confusables import make_visible_command, make_visible_path
from acp_tui.conversation.visible.cutting import MAX_LINE, cut_characters, cut_shown, drawing_cost
from acp_tui.ui.conversation.blocks import block_label
from acp_tui.ui.conversation.drawing import Joined
from acp_tui.ui.rendering.diff import Comparisons, DiffLayout
from acp_tui.ui.rendering.diff_model import CONTEXT_LINES
from acp_tui.ui.rendering.diff_text import SIGNS
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.plain import TAB_CELLS, plain_lines
from acp_tui.ui.rendering.wrapping import Gutter, fold, wrap
from acp_tui.values import dataclass

NEXT_LINE: Final = "> "
"""Begins each further line of a command, so that a second command doesn't look like the end of the first."""
CONTINUATION: Final = "↪ "
"""Begins a row that continues the line above."""


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """A command as the agent reported it."""

    line: str
    """As a shell would read it. May have several lines."""
    cwd: str | None = None
    other_fields: tuple[str, ...] = ()
    """The names of the other reported fields."""


def reported_command(call: ToolCall) -> ShellCommand | None:
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
    return ShellCommand(line, cwd if isinstance(cwd, str) else None, tuple(key for key in raw if key not in read))


def asked_command(request: PermissionRequest, call: ToolCall) -> ShellCommand | None:
    """The command being requested: the one that the request names, or the one that the call reports."""
    reported = reported_command(call)
    if request.command is None:
        return reported
    line, cwd = request.command.line, request.command.cwd
    if reported is not None and reported.line == line and reported.cwd in (None, cwd):
        return replace(reported, cwd=cwd)
    others = tuple(call.raw_input) if isinstance(call.raw_input, Mapping) else ()
    return ShellCommand(line, cwd, others)


def command_lines(line: str, palette: Palette, width: int) -> list[Strip]:
    """A block with the whole command. Folding drops nothing."""
    style = palette.code_block
    room = max(width - len(PROMPT), 1)
    strips = []
    for number, text in enumerate(collapse_blanks(make_visible_command(line)).removesuffix("\n").split("\n")):
        text = text.expandtabs(TAB_CELLS)
        for index, part in enumerate(fold(text, room)):
            sign = CONTINUATION if index else NEXT_LINE if number else PROMPT
            strips.append(_row(sign, text[part.start : part.stop], room - part.cells, style, palette))
    return strips


def _row(sign: str, text: str, spare_cells: int, style: Style, palette: Palette) -> Strip:
    fill = " " * spare_cells
    return Strip([Segment(sign, style + palette.code_label), Segment(text + fill, style)])


class SeenRows:
    """Tracks which rows of a request were in view, for each way it was drawn. Reading one of them whole is enough."""

    def __init__(self) -> None:
        self._asked: tuple[object, ...] = ()
        self._rows: dict[Hashable, set[int]] = {}
        self.is_all_seen = False
        self.wanted = ""
        """The option that the user chose before everything was seen. Choosing it again counts."""
        self.again = ""
        """How to choose it again, such as "press 1 again"."""

    def begin(self, asked: tuple[object, ...]) -> None:
        """Start tracking `asked`. If it differs from before, nothing of it has been seen."""
        if asked != self._asked:
            self._asked, self._rows, self.is_all_seen, self.wanted = asked, {}, False, ""

    def note(self, way: Hashable, rows: range, count: int) -> None:
        """Record that `rows`, of `count` rows drawn in this way, are in view."""
        seen = self._rows.setdefault(way, set())
        seen.update(rows)
        self.is_all_seen = self.is_all_seen or len(seen) >= count

    def first_unseen(self, way: Hashable) -> int:
        """The first row that hasn't been in view, drawn in this way."""
        seen, row = self._rows.get(way, set()), 0
        while row in seen:
            row += 1
        return row


CHANGE_SIGNS: Final = tuple(f"{SIGNS[kind]} " for kind in ("added", "removed"))

MAX_IN_ROW: Final = 2_000
"""The maximum length of a value shown in the same row as its name."""
MAX_COST: Final = 200_000
"""What drawing all texts of a request together may cost, besides its diffs. Nobody reads more before answering."""
TOOL_KINDS: Final = frozenset(
    {"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"}
)


@dataclass(frozen=True, slots=True)
class ShownRequest:
    """A permission request with everything to show about it."""

    request: PermissionRequest
    call: ToolCall
    cwd: str = ""
    """The session's folder. Paths inside it are shown relative to it."""
    waiting: int = 1
    """How many requests are waiting, including this one."""
    terminals: Mapping[TerminalId, TerminalState] = field(default_factory=dict)

    @property
    def state(self) -> tuple[object, ...]:
        """Equal as long as the same should be shown."""
        return self.waiting, *shown_state(self.request, self.call, self.terminals)


@dataclass(frozen=True, slots=True)
class SubjectStyle:
    """How to draw the subject."""

    width: int
    """In cells."""
    palette: Palette
    layout: DiffLayout = "unified"
    shows_raw: bool = False
    context: int | None = CONTEXT_LINES
    """The number of unchanged lines around each change; None for the whole file."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The drawn subject."""

    lines: Sequence[Strip] = ()
    hunks: tuple[int, ...] = ()
    """The lines where changes begin."""
    is_whole: bool = True
    """Whether all diffs are compared. If not, draw it again soon."""
    raw: int | None = None
    """The line where the raw report begins, if it's shown."""
    left_out: int = 0
    """The number of characters that no line shows, because they are too many."""

    def below(self, lines: Sequence[Strip]) -> Subject:
        """Return a copy with these lines above it."""
        above = len(lines)
        hunks = tuple(above + row for row in self.hunks)
        raw = None if self.raw is None else above + self.raw
        return Subject(Joined(lines, self.lines), hunks, self.is_whole, raw, self.left_out)

    def first_changed(self, index: int) -> int:
        """The first added or removed line of the change with this index."""
        start, end = [*self.hunks, len(self.lines)][index : index + 2]
        return next((row for row in range(start, end) if _is_changed(self.lines[row])), start)


class SubjectDrawing:
    """Draws requests. Keeps comparisons, and which rows were in view, between calls."""

    def __init__(self) -> None:
        self._diffs = Comparisons()
        self.seen = SeenRows()
        """Shared by the card and the full screen, for the request drawn last."""

    def draw(self, asked: ShownRequest, look: SubjectStyle) -> Subject:
        """Draw everything the request would do, except diffs not compared yet and text marked as cut."""
        self.seen.begin(asked.state[1:])
        self._left_out = 0
        self._room = MAX_COST
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
            runs.append(_raw(asked, look))
        return Subject(Joined(*runs), tuple(hunks), is_whole, raw, self._left_out)

    def _runs(self, asked: ShownRequest, look: SubjectStyle) -> Iterator[tuple[Sequence[Strip], tuple[int, ...]]]:
        """The parts above the raw report, each with its lines where changes begin."""
        call = asked.call
        command = asked_command(asked.request, call)
        if command is not None:
            command = replace(command, line=cut_shown(command.line, self._room))
            self._room -= drawing_cost(command.line)
        self._left_out += sum(map(cut_characters, _lines_of(asked, command)))
        self._shown = _shown_texts(asked, command)
        self._as_above: list[str] = []
        yield _notes(asked, command, look), ()
        if command is not None:
            yield _command(command, look), ()
        for item in call.content:
            if isinstance(item, TextDiff):
                yield self._diff(item, asked.cwd, look)
            elif command is None or not _is_nameless_terminal(item, asked.terminals):
                yield self._content(item, asked.terminals, look), ()
        yield self._fields(asked, command, look), ()

    def _diff(self, diff: TextDiff, cwd: str, look: SubjectStyle) -> tuple[Sequence[Strip], tuple[int, ...]]:
        renderer = self._diffs.renderer(diff, cwd)
        if not renderer.is_ready:
            return renderer.waiting_lines(look.width, look.palette), ()
        lines = renderer.lines(look.width, look.palette, look.layout, look.context)
        self._left_out += renderer.cut_characters(look.context)
        self._shown |= renderer.visible_lines(look.context)
        first, *others = renderer.hunk_rows or (0,)
        # Show the first change with its file name, if that is near.
        return lines, (first if look.context is None else 0, *others)

    def _content(
        self, item: ToolCallContent, terminals: Mapping[TerminalId, TerminalState], look: SubjectStyle
    ) -> Sequence[Strip]:
        match item:
            case BlockContent(Text(text)):
                return self._text(text, look, look.palette.text)
            case BlockContent(TextResource(text=text) as block):
                label = plain_lines(block_label(block), look.width, look.palette.muted)
                return [*label, *self._text(text, look, look.palette.text)]
            case BlockContent(UnknownBlock(kind, raw)):
                unknown = f"[{make_visible_line(kind)}: a kind of content acp-tui doesn't know]"
                return [*wrap([(unknown, look.palette.warning)], look.width), *self._rows(raw, "content", look)]
            case BlockContent(block):
                label = plain_lines(block_label(block), look.width, look.palette.muted)
                return [*label, *self._rows(_other_facts(block), "", look)]
            case TerminalContent(terminal_id):
                return _terminal(terminals.get(terminal_id), look)
            case UnknownContent(kind, raw):
                unknown = f"[{make_visible_line(kind)}: a kind of content acp-tui doesn't know]"
                return [*wrap([(unknown, look.palette.warning)], look.width), *self._rows(raw, "content", look)]
            case FileChange():
                return wrap([(make_visible_path(item.words), look.palette.text)], look.width)
            case TextDiff():
                raise AssertionError("shown as the comparison above")

    def _fields(self, asked: ShownRequest, command: ShellCommand | None, look: SubjectStyle) -> list[Strip]:
        """The raw input and output not shown elsewhere, field by field."""
        call, palette = asked.call, look.palette
        lines: list[Strip] = []
        if more := {key: value for key, value in (asked.request.more or {}).items() if key != "_meta"}:
            lines += self._rows(more, "subject", look)
        if call.name and call.name not in call.shown_title:
            lines += self._rows(call.name, "tool", look)
        if call.kind not in TOOL_KINDS:
            lines += self._rows(call.kind, "kind", look)
        given = call.raw_input
        if command is not None and isinstance(given, Mapping):
            given = {key: value for key, value in given.items() if key in command.other_fields}
        if given is not UNSET and (command is None or given):
            lines += self._rows(given, "" if isinstance(given, Mapping) else "input", look)
        elif command is None and not call.content:
            lines += wrap([("the agent didn't say exactly what this does", palette.muted)], look.width)
        if call.raw_output is not UNSET:
            lines += self._rows(call.raw_output, "output", look)
        if self._as_above:
            names = make_visible_line(", ".join(self._as_above))
            lines += wrap([(f"as above: {names}", palette.muted)], look.width)
        if _metas(asked):
            lines += wrap([("press r to see what else is reported: _meta", palette.muted)], look.width)
        return lines

    def _rows(self, value: Any, name: str, look: SubjectStyle) -> list[Strip]:
        """A row for each field, or more if its text is long. Fields shown already get none."""
        fields = reported_fields(value, name)
        lines: list[Strip] = []
        for field_ in islice(fields, MAX_FIELDS):
            self._left_out += cut_characters(field_.name) + cut_characters(field_.text)
            if field_.text in self._shown.whole:
                if not is_place(field_.name):
                    self._as_above.append(field_.name)
            elif self._shown.has_lines(field_.text):
                self._as_above.append(field_.name)
            else:
                lines += self._row(field_, look)
        rest = list(fields)
        if rest:
            self._left_out += sum(len(name) + len(text) for name, text in rest)
            lines += wrap([(f"… {len(rest):,} more fields, not shown", look.palette.warning)], look.width)
        return lines

    def _row(self, given: ReportedField, look: SubjectStyle) -> list[Strip]:
        muted, width = look.palette.muted, look.width
        name = collapse_blanks_in_line(make_visible_line(given.name))
        self._room -= len(given.name)
        if "\n" not in given.text and len(given.text) <= min(MAX_IN_ROW, self._room):
            self._room -= len(given.text)
            text = collapse_blanks(make_visible_command(given.text).expandtabs(TAB_CELLS))
            return wrap([(f"{name}: ", muted), (text, look.palette.code)], width)
        # A line of the text must not look like another field.
        bar = Segment("│ ", muted)
        rows = self._text(given.text, replace(look, width=width - 2), look.palette.code)
        return [*wrap([(f"{name}:", muted)], width), *(Strip([bar, *row]) for row in rows)]

    def _text(self, text: str, look: SubjectStyle, style: Style) -> list[Strip]:
        """Draw a text from the agent, as far as there is room."""
        shown = cut_shown(text, max(self._room, 0))
        cut = 0 if shown == text else cut_characters(shown)
        visible = make_visible(shown[: len(text) - cut])
        self._room -= drawing_cost(shown)
        lines = plain_lines(collapse_blanks(visible), look.width, style)
        if cut:
            self._left_out += cut
            lines += wrap([(f"… {cut:,} more characters, not shown", look.palette.warning)], look.width)
        return lines


class _Shown:
    """The texts already shown on a card."""

    def __init__(self, whole: Iterable[str]) -> None:
        self.whole = set(whole)
        self._lines: set[str] = set()

    def __ior__(self, lines: Iterable[str]) -> _Shown:
        self._lines.update(lines)
        return self

    def has_lines(self, text: str) -> bool:
        """Whether a diff shows every line of this text, which has several lines or is a patch."""
        lines = text.rstrip("\n").split("\n")
        if not self._lines or (len(lines) < 2 and not text.endswith("\n")):
            return False
        return all(map(self._has, lines)) or all(map(self._has_of_patch, lines))

    def _has(self, line: str) -> bool:
        return not line.strip() or line in self._lines

    def _has_of_patch(self, line: str) -> bool:
        if _PATCH_HEAD.match(line) is not None:
            return all(word in self.whole or _PATCH_WORD.fullmatch(word) for word in line.split())
        return line[:1] in ("+", "-", " ", "") and self._has(line[1:])


_PATCH_HEAD: Final = re.compile(r"Index: |={20,}$|--- |\+\+\+ |@@ -[\d,]+ \+[\d,]+ @@$")
_PATCH_WORD: Final = re.compile(r"Index:|=+|---|\+\+\+|@@|[-+][\d,]+|/dev/null")


def _shown_texts(asked: ShownRequest, command: ShellCommand | None) -> _Shown:
    """The texts shown whole on the card: titles, commands, locations, and texts of one change or block."""
    call = asked.call
    whole = [call.shown_title, *(place.path for place in call.locations)]
    if command is not None:
        whole += [command.line, *([command.cwd] if command.cwd is not None else [])]
    for item in call.content:
        if isinstance(item, TextDiff):
            whole.append(item.path)
        elif isinstance(item, FileChange):
            whole += item.paths
        elif isinstance(item, BlockContent) and isinstance(item.block, Text):
            whole.append(item.block.text)
    return _Shown(text for text in whole if text)


def _lines_of(asked: ShownRequest, command: ShellCommand | None) -> Iterator[str]:
    """The short texts on the card, which may have been cut. A title whose text begins the command has lost nothing."""
    call, request = asked.call, asked.request
    line = "" if command is None else command.line
    yield from (title for title in (call.title, request.title or "") if title.strip("`$ ")[: MAX_LINE // 2] not in line)
    yield from (*(place.path for place in call.locations), *changed_paths(call.content))
    more = line, request.description, call.name, call.kind, command.cwd if command is not None else None
    yield from (text for text in more if text)
    for item in call.content:
        state = asked.terminals.get(item.terminal_id) if isinstance(item, TerminalContent) else None
        yield from (text for text in (state.command, state.cwd) if text) if state is not None else ()


def _other_facts(block: ContentBlock) -> dict[str, Any]:
    """The fields that a block's label leaves out, except its data, annotations, and meta."""
    label = block_label(block)
    left = ((each.name, getattr(block, each.name)) for each in fields(block) if each.name not in _NOT_READ)
    return {name: value for name, value in left if isinstance(value, str) and value not in label}


_NOT_READ: Final = frozenset({"data", "blob", "annotations", "meta"})


def _without_own(meta: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Remove the key that our own host adds to `_meta`, if it is exactly that."""
    ours = (meta or {}).get(OWN_META)
    is_number = isinstance(ours, dict) and ours.keys() == {"key"} and isinstance(ours["key"], int)
    return {name: value for name, value in (meta or {}).items() if name != OWN_META or not is_number}


def _metas(asked: ShownRequest) -> dict[str, Any]:
    """Data meant for programs: `_meta` of the request, of the call, and of its parts."""
    call = asked.call
    found = {"request": _without_own(asked.request.meta), "call": call.meta}
    found["subject"] = (asked.request.more or {}).get("_meta")
    found |= {f"locations[{at}]": place.meta for at, place in enumerate(call.locations)}
    for at, item in enumerate(call.content):
        if not isinstance(item, UnknownContent):
            found[f"content[{at}]"] = item.meta
        if isinstance(item, BlockContent):
            found[f"content[{at}].content"] = getattr(item.block, "meta", None)
            notes = getattr(item.block, "annotations", None)
            found[f"content[{at}].annotations"] = asdict(notes) if notes is not None else None
    return {name: meta for name, meta in found.items() if meta}


def _is_changed(line: Strip) -> bool:
    """Whether this is an added or removed line of a diff: the sign comes first, or right after the line numbers."""
    before: Segment | None = None
    for segment in line:
        if segment.text in CHANGE_SIGNS and (before is None or isinstance(before, Gutter)):
            return True
        before = segment
    return False


def changed_file(asked: ShownRequest) -> str:
    """The path of the first diff; "" if there isn't one."""
    paths = [item.path for item in asked.call.content if isinstance(item, TextDiff)]
    return make_visible_path(shown_path(paths[0], asked.cwd)) if paths else ""


def has_changes(call: ToolCall) -> bool:
    """Whether there is a diff to show."""
    return any(isinstance(item, TextDiff) for item in call.content)


def _notes(asked: ShownRequest, command: ShellCommand | None, look: SubjectStyle) -> list[Strip]:
    """What to know first: the client's note, where it happens, and paths outside the session's folder."""
    call, palette = asked.call, look.palette
    request = asked.request
    lines = [] if request.note is None else plain_lines(request.note, look.width, palette.warning)
    if request.title is not None and call.shown_title not in request.title and not request.is_alone:
        lines += wrap([(make_visible_line(call.shown_title), palette.strong)], look.width)
    if request.description is not None:
        lines += plain_lines(make_visible(request.description), look.width, palette.text)
    for warning in call_warnings(call):
        # The client's own note already names the warnings of its own question.
        if warning not in (asked.request.note or ""):
            lines += plain_lines(warning, look.width, palette.warning)
    diffs = changed_paths(call.content)
    for location in call.locations:
        if location.path not in diffs:
            place = make_visible_path(shown_location(location, asked.cwd))
            where = "in the session's folder" if place == HERE else f"at {place}"
            lines += wrap([(where, palette.muted)], look.width)
    paths = [*diffs, *(location.path for location in call.locations)]
    if command is not None and command.cwd is not None:
        paths.append(command.cwd)
    for path in dict.fromkeys(path for path in paths if is_outside(path, asked.cwd)):
        text = f"outside the session's folder: {make_visible_path(path)}"
        lines += wrap([(text, palette.warning)], look.width)
    return lines


def _command(command: ShellCommand, look: SubjectStyle) -> list[Strip]:
    lines = command_lines(command.line, look.palette, look.width)
    if command.cwd is not None:
        lines += wrap([(f"in {make_visible_path(command.cwd)}", look.palette.muted)], look.width)
    return lines


def _is_nameless_terminal(item: ToolCallContent, terminals: Mapping[TerminalId, TerminalState]) -> bool:
    """Whether it's a terminal of the agent's own that comes without a command. What runs there is the call's command.

    claude-agent-acp 0.23.1 sends one with each request to run a command.
    """
    state = terminals.get(item.terminal_id) if isinstance(item, TerminalContent) else None
    return state is not None and state.command is None


def _terminal(state: TerminalState | None, look: SubjectStyle) -> list[Strip]:
    """The command running in a terminal. Its output is in the conversation."""
    muted = look.palette.muted
    if state is None:
        return wrap([("[a terminal acp-tui doesn't know]", muted)], look.width)
    if state.command is None:
        return wrap([("[a terminal whose command isn't reported]", muted)], look.width)
    lines = [*wrap([("terminal", muted)], look.width), *command_lines(state.command, look.palette, look.width)]
    if state.cwd is not None:
        lines += wrap([(f"in {make_visible_path(state.cwd)}", muted)], look.width)
    return lines


def _raw(asked: ShownRequest, look: SubjectStyle) -> list[Strip]:
    lines: list[Strip] = []
    fields = [("input", asked.call.raw_input), ("output", asked.call.raw_output), ("_meta", _metas(asked) or UNSET)]
    for label, value in fields:
        if value is not UNSET:
            lines += wrap([(f"raw {label}:", look.palette.muted)], look.width)
            lines += _json(value, look)
    return lines or wrap([("the agent reports nothing else", look.palette.muted)], look.width)


def _json(value: Any, look: SubjectStyle) -> list[Strip]:
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    return plain_lines(cut_shown(text), look.width, look.palette.code)
