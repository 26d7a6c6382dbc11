"""The column beside the conversation: plans, changed files, and facts, in sections that fold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.message import Message
from textual.strip import Strip

from acp_tui.client.changes import ChangedPath
from acp_tui.conversation.facts import Plan, SessionId
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.visible.confusables import make_visible_path
from acp_tui.ui.changes.changed_files import count_words, cut_left, note_in_place_of_counts
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import MOVING, bindings_of
from acp_tui.ui.conversation.subagents import GLYPHS, state_style
from acp_tui.ui.kit.line_view import LineView
from acp_tui.ui.kit.row_list import aligned
from acp_tui.ui.kit.themes import palette_for
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import Span, cut, cut_at_word, pack, width_cells, wrap
from acp_tui.ui.session.plan_view import step_lines
from acp_tui.values import dataclass

INDENT: Final = 2
MIN_LABEL_CELLS: Final = 9
MIN_ASIDE_CELLS: Final = 3
MAX_FILES: Final = 200
"""Too many to read at the side. F5 lists all."""


class SidebarSection(Enum):
    """A section of the sidebar. The value is its heading."""

    PLAN = "Plan"
    SUBAGENTS = "Subagents"
    CHANGES = "Changed files"
    SESSION = "Session"


@dataclass(frozen=True, slots=True)
class SubagentRow:
    session_id: SessionId
    name: str
    state: str
    """From `subagent_state`."""
    spent: str = ""


@dataclass(frozen=True, slots=True)
class SidebarState:
    """Everything the sidebar shows. Equal states look the same."""

    plans: tuple[Plan, ...] = ()
    changes: tuple[ChangedPath, ...] = ()
    """The newest first."""
    summary: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    """Labels and values."""
    subagents: tuple[SubagentRow, ...] = ()

    @property
    def sections(self) -> tuple[SidebarSection, ...]:
        """Those that say something."""
        said = (self.plans, self.subagents, self.changes, self.facts)
        return tuple(each for each, has_any in zip(SidebarSection, said, strict=True) if has_any)

    def part(self, section: SidebarSection) -> tuple[object, ...]:
        match section:
            case SidebarSection.PLAN:
                return self.plans
            case SidebarSection.SUBAGENTS:
                return self.subagents
            case SidebarSection.CHANGES:
                return (self.summary, self.changes)
            case SidebarSection.SESSION:
                return self.facts


Target: TypeAlias = SidebarSection | ChangedPath | SubagentRow


class SidebarLine(NamedTuple):
    strip: Strip
    target: Target | None = None
    """What the line stands for, if it can be chosen; for a heading, its section."""


def section_lines(
    section: SidebarSection, state: SidebarState, width: int, palette: Palette, *, is_folded: bool
) -> list[SidebarLine]:
    """The heading of a section and, unless it is folded, its content."""
    lines = [SidebarLine(_heading(section, state, width, palette, is_folded=is_folded), section)]
    if is_folded:
        return lines
    match section:
        case SidebarSection.PLAN:
            return [*lines, *map(SidebarLine, _plans(state.plans, width, palette))]
        case SidebarSection.SUBAGENTS:
            return [*lines, *(SidebarLine(_subagent(row, width, palette), row) for row in state.subagents)]
        case SidebarSection.CHANGES:
            return [*lines, *_files(state, width, palette)]
        case SidebarSection.SESSION:
            return [*lines, *map(SidebarLine, _facts(state.facts, width, palette))]


def _heading(section: SidebarSection, state: SidebarState, width: int, palette: Palette, *, is_folded: bool) -> Strip:
    asides = {
        SidebarSection.PLAN: ", ".join(f"{plan.completed}/{len(plan.steps)}" for plan in state.plans),
        SidebarSection.SUBAGENTS: _count(state.subagents),
        SidebarSection.CHANGES: state.summary,
        SidebarSection.SESSION: "",
    }
    start = cut(f"{'▸' if is_folded else '▾'} {section.value}", width)
    room = width - width_cells(start) - 1
    aside = cut_at_word(asides[section], room) if room >= MIN_ASIDE_CELLS else ""
    gap = " " * (width - width_cells(start) - width_cells(aside))
    return Strip([Segment(start, palette.strong), Segment(gap), Segment(aside, palette.muted)])


def _count(subagents: Sequence[SubagentRow]) -> str:
    running = sum(row.state in ("running", "needs you") for row in subagents)
    return f"{running} of {len(subagents)} running" if running else str(len(subagents))


def _subagent(row: SubagentRow, width: int, palette: Palette) -> Strip:
    mark = Segment(f"{' ' * INDENT}{GLYPHS[row.state]} ", state_style(row.state, palette))
    room = width - mark.cell_length
    aside = f" {row.spent}" if width_cells(row.spent) < room // 2 and row.spent else ""
    name = cut_at_word(row.name, max(room - width_cells(aside), 2))
    return Strip([mark, Segment(name, palette.text), Segment(aside, palette.muted)])


def _indented(spans: Sequence[Span], width: int, head: Segment) -> Iterator[Strip]:
    """The text after its head, with wrapped lines aligned to its start."""
    for row, line in enumerate(wrap(spans, width - head.cell_length)):
        yield Strip([head if row == 0 else Segment(" " * head.cell_length), *line])


def _plans(plans: Sequence[Plan], width: int, palette: Palette) -> Iterator[Strip]:
    for number, plan in enumerate(plans):
        if number:
            yield Strip([])
        yield from step_lines(plan, width, palette)


def _files(state: SidebarState, width: int, palette: Palette) -> Iterator[SidebarLine]:
    for change in islice(state.changes, MAX_FILES):
        yield SidebarLine(_file(change, width, palette), change)
    more = len(state.changes) - MAX_FILES
    if more > 0:
        yield SidebarLine(Strip([Segment(f"{' ' * INDENT}and {more:,} more", palette.muted)]))


def _file(change: ChangedPath, width: int, palette: Palette) -> Strip:
    """The number of added and removed lines, or a note if they aren't counted, and the end of the path."""
    segments = [Segment(" " * INDENT)]
    note = note_in_place_of_counts(change)
    if note:
        style = palette.warning if change.before_unknown is not None else palette.muted
        segments.append(Segment(cut_at_word(note, max(width // 3, 8)) + " ", style))
    else:
        for word, style in zip(count_words(change), (palette.success, palette.error), strict=True):
            segments += [Segment(f"{word} ", style)] * bool(word)
    room = width - sum(segment.cell_length for segment in segments)
    style = palette.text + Style(strike=True) if change.kind == "deleted" else palette.text
    segments.append(Segment(cut_left(make_visible_path(change.path), max(room, 2)), style))
    return Strip(segments)


def _facts(facts: Sequence[tuple[str, str]], width: int, palette: Palette) -> Iterator[Strip]:
    labels = aligned([f"{cut_at_word(make_visible_line(label), width // 2):<{MIN_LABEL_CELLS}}" for label, _ in facts])
    for label, (_, value) in zip(labels, facts, strict=True):
        head = Segment(f"{' ' * INDENT}{label}  ", palette.muted)
        for part in _parts_of_path(make_visible_line(value), width - head.cell_length):
            yield from _indented([(part, palette.text)], width, head)
            head = Segment(" " * head.cell_length)


def _parts_of_path(text: str, width: int) -> list[str]:
    """Break a path after slashes, so that its names stay whole; other texts aren't broken."""
    lines = [""]
    for name in re.findall("[^/]*/?", text) if " " not in text else [text]:
        if lines[-1] and width_cells(lines[-1] + name) > width:
            lines.append("")
        lines[-1] += name
    return lines


KEYS: Final = "{toggle_entry} opens or folds; {sidebar} hides; {focus_prompt} back to the prompt"
GAP: Final = SidebarLine(Strip([]))

SIDEBAR_FROM_COLUMNS: Final = 150
"""From this width on, the sidebar is shown by default."""


class Sidebar(LineView, can_focus=True):
    """The sidebar. With the focus, it has a cursor on a heading, a subagent, or a file."""

    FOCUS_ON_CLICK = False
    DEFAULT_CSS = "Sidebar { dock: right; height: 100%; }"

    PLACE: Final = "sidebar"
    BINDINGS = bindings_of(*MOVING, place=PLACE)

    class FileChosen(Message):
        """Posted when the user wants to see how this file has changed."""

        def __init__(self, path: str) -> None:
            super().__init__()
            self.path = path

    class SubagentChosen(Message):
        """Posted when the user wants to see this subagent's conversation."""

        def __init__(self, session_id: SessionId) -> None:
            super().__init__()
            self.session_id = session_id

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self._state = SidebarState()
        self._folded: set[SidebarSection] = set()
        self.cursor: Target = SidebarSection.PLAN
        self._drawn: dict[SidebarSection, list[SidebarLine]] = {}
        """Sections drawn for the current width and theme. Missing ones are drawn when the lines are assembled."""
        self._lines: list[SidebarLine] = []

    # What it shows

    def show(self, state: SidebarState) -> None:
        """Show this state from now on. Unchanged sections aren't drawn again."""
        before, self._state = self._state, state
        changed = [section for section in SidebarSection if state.part(section) != before.part(section)]
        if changed:
            self._draw(*changed)

    def toggle(self, section: SidebarSection) -> None:
        self._folded ^= {section}
        self._draw(section)

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self._draw()

    @on(events.Resize)
    def redraw(self) -> None:
        self._draw(*SidebarSection)

    def _draw(self, *sections: SidebarSection) -> None:
        """Draw these sections again, and assemble all lines."""
        for section in sections:
            self._drawn.pop(section, None)
        width = self.scrollable_content_region.width
        if width < 4:
            return  # before the first layout
        lines: list[SidebarLine] = []
        for section in self._state.sections:
            if section not in self._drawn:
                palette = palette_for(self.app.current_theme)
                self._drawn[section] = section_lines(
                    section, self._state, width, palette, is_folded=section in self._folded
                )
            lines += [*self._drawn[section], GAP]
        self._lines = [*lines, *self._key_lines(width)]
        self.count_lines(len(self._lines))
        self._keep_cursor()

    def _key_lines(self, width: int) -> list[SidebarLine]:
        if not self.has_focus:
            return []
        style = palette_for(self.app.current_theme).muted
        lines = pack(keys_in_force(self).hint(KEYS).split("; "), width)
        return [SidebarLine(strip) for line in lines for strip in wrap([(line, style)], width)]

    def draw_line(self, line: int, width: int) -> Strip:
        return self._lines[line].strip

    def is_at_cursor(self, line: int) -> bool:
        return self.has_focus and self._lines[line].target == self.cursor

    # Actions

    @property
    def _targets(self) -> list[Target]:
        return [line.target for line in self._lines if line.target is not None]

    def _keep_cursor(self) -> None:
        """Keep the cursor on a file that changes again. If the file is gone, move the cursor to the heading."""
        match self.cursor:
            case ChangedPath(path=path):
                files = (each for each in self._targets if isinstance(each, ChangedPath))
                self.cursor = next((each for each in files if each.path == path), SidebarSection.CHANGES)
            case SubagentRow(session_id=session_id):
                rows = (each for each in self._targets if isinstance(each, SubagentRow))
                self.cursor = next((each for each in rows if each.session_id == session_id), SidebarSection.SUBAGENTS)
        is_idle = isinstance(self.cursor, SidebarSection) and not self.has_focus
        if (targets := self._targets) and (is_idle or self.cursor not in targets):
            self.cursor = targets[0]

    def action_move(self, step: int) -> None:
        """Move the cursor by so many rows that can be chosen."""
        targets = self._targets
        if self.cursor not in targets:
            return  # it isn't laid out yet
        at = targets.index(self.cursor) + step
        self.cursor = targets[max(0, min(at, len(targets) - 1))]
        row = next(row for row, line in enumerate(self._lines) if line.target == self.cursor)
        # Below the last of them there may be more lines to read.
        last = len(self._lines) - 1 if self.cursor == targets[-1] else row
        self.reveal(range(row, last + 1))
        self.refresh()

    def action_go_to_end(self, direction: int) -> None:
        self.action_move(direction * len(self._targets))

    def action_choose(self) -> None:
        """Fold or unfold the section, review the file, or show the subagent's conversation."""
        match self.cursor:
            case SidebarSection():
                self.toggle(self.cursor)
            case SubagentRow(session_id=session_id):
                self.post_message(self.SubagentChosen(session_id))
            case ChangedPath(path=path):
                self.post_message(self.FileChosen(path))

    def on_click(self, event: events.Click) -> None:
        """Choose what was clicked. The focus stays where it is."""
        line = self.clicked_line(event)
        target = self._lines[line].target if line is not None else None
        if target is not None:
            self.cursor = target
            self.action_choose()
