"""Draws what stands in the sidebar, section by section: plans, changed files, facts of the session.

What is folded, and what a row leads to when it is chosen, is the widget's business.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Final, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.client.changes import FileChange
from acp_tui.conversation.facts import Plan, PlanStep
from acp_tui.conversation.visible import make_visible_line, make_visible_path
from acp_tui.ui.drawings.changed_files import count_words, cut_left, note_in_place_of_counts
from acp_tui.ui.kit.row_list import cut
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import Span, width_cells, wrap
from acp_tui.ui.widgets.plan_view import STEP_GLYPHS, step_spans

INDENT: Final = 2
LABEL_CELLS: Final = 10
MIN_ASIDE_CELLS: Final = 3
MOST_FILES: Final = 200
"""Nobody reads more of them at the side: F5 lists all."""


class Section(Enum):
    """The value is its heading."""

    PLAN = "Plan"
    CHANGES = "Changed files"
    SESSION = "Session"


@dataclass(frozen=True, slots=True)
class SidebarState:
    """All that there is to show. Equal states look the same."""

    plans: tuple[Plan, ...] = ()
    changes: tuple[FileChange, ...] = ()
    """The newest first."""
    summary: str = ""
    """All changes in a few words."""
    facts: tuple[tuple[str, str], ...] = ()
    """What each is called, and what it is."""
    are_changes_known: bool = True

    @property
    def sections(self) -> tuple[Section, ...]:
        """From top to bottom; nothing is said of what is not known."""
        return tuple(each for each in Section if each is not Section.CHANGES or self.are_changes_known)

    def part(self, section: Section) -> tuple[object, ...]:
        """What of it a section shows."""
        match section:
            case Section.PLAN:
                return self.plans
            case Section.CHANGES:
                return (self.are_changes_known, self.summary, self.changes)
            case Section.SESSION:
                return self.facts


class Line(NamedTuple):
    """One line on the screen."""

    strip: Strip
    target: Section | FileChange | None = None
    """What it stands for, where it can be chosen: a heading its section."""


def section_lines(
    section: Section, state: SidebarState, width: int, palette: Palette, *, is_folded: bool
) -> list[Line]:
    """The heading of a section and, unless it is folded, what is in it."""
    lines = [Line(_heading(section, state, width, palette, is_folded=is_folded), section)]
    if is_folded:
        return lines
    match section:
        case Section.PLAN:
            return [*lines, *map(Line, _plans(state.plans, width, palette))]
        case Section.CHANGES:
            return [*lines, *_files(state, width, palette)]
        case Section.SESSION:
            return [*lines, *map(Line, _facts(state.facts, width, palette))]


def _heading(
    section: Section, state: SidebarState, width: int, palette: Palette, *, is_folded: bool
) -> Strip:
    """What the section is and, at the right, what it comes to."""
    asides = {
        Section.PLAN: ", ".join(f"{plan.completed}/{len(plan.steps)}" for plan in state.plans),
        Section.CHANGES: state.summary,
        Section.SESSION: "",
    }
    start = cut(f"{'▸' if is_folded else '▾'} {section.value}", width)
    room = width - width_cells(start) - 1
    aside = cut(asides[section], room) if room >= MIN_ASIDE_CELLS else ""
    gap = " " * (width - width_cells(start) - width_cells(aside))
    return Strip([Segment(start, palette.strong), Segment(gap), Segment(aside, palette.muted)])


def _indented(spans: Sequence[Span], width: int, head: Segment) -> Iterator[Strip]:
    """The text behind its head, and broken lines below where it begins."""
    for row, line in enumerate(wrap(spans, width - head.cell_length)):
        yield Strip([head if row == 0 else Segment(" " * head.cell_length), *line])


def _plans(plans: Sequence[Plan], width: int, palette: Palette) -> Iterator[Strip]:
    if not plans:
        yield from _indented([("none yet", palette.muted)], width, Segment(" " * INDENT))
    for number, plan in enumerate(plans):
        if number:
            yield Strip([])
        for step in plan.steps:
            yield from _step(step, width, palette)


def _step(step: PlanStep, width: int, palette: Palette) -> Iterator[Strip]:
    style = {"completed": palette.muted, "in_progress": palette.accent}.get(step.status, palette.text)
    spans = step_spans(step, style, palette)
    return _indented(spans, width, Segment(f"{' ' * INDENT}{STEP_GLYPHS.get(step.status, '?')} ", style))


def _files(state: SidebarState, width: int, palette: Palette) -> Iterator[Line]:
    if not state.changes:
        yield Line(Strip([Segment(f"{' ' * INDENT}none", palette.muted)]))
    for change in islice(state.changes, MOST_FILES):
        yield Line(_file(change, width, palette), change)
    more = len(state.changes) - MOST_FILES
    if more > 0:
        yield Line(Strip([Segment(f"{' ' * INDENT}and {more:,} more", palette.muted)]))


def _file(change: FileChange, width: int, palette: Palette) -> Strip:
    """How many lines are new and gone, and the end of the path; a word where they are not counted."""
    segments = [Segment(" " * INDENT)]
    note = note_in_place_of_counts(change)
    if note:
        style = palette.warning if change.before_unknown is not None else palette.muted
        segments.append(Segment(cut(note, max(width // 3, 8)) + " ", style))
    else:
        for word, style in zip(count_words(change), (palette.success, palette.error), strict=True):
            segments += [Segment(f"{word} ", style)] * bool(word)
    room = width - sum(segment.cell_length for segment in segments)
    style = palette.text + Style(strike=True) if change.kind == "deleted" else palette.text
    segments.append(Segment(cut_left(make_visible_path(change.path), max(room, 2)), style))
    return Strip(segments)


def _facts(facts: Sequence[tuple[str, str]], width: int, palette: Palette) -> Iterator[Strip]:
    for label, value in facts:
        head = f"{' ' * INDENT}{cut(make_visible_line(label), LABEL_CELLS):<{LABEL_CELLS}} "
        yield from _indented([(make_visible_line(value), palette.text)], width, Segment(head, palette.muted))
