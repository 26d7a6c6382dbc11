"""The plan: one line above the prompt, or all steps when unfolded. It reads nothing but plans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.strip import Strip

from acp_tui.conversation.facts import Plan, PlanStep
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.commands.table import PAGES, STEPS, bindings_of
from acp_tui.ui.kit.line_view import StripView
from acp_tui.ui.kit.themes import palette_for
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import Span, cut, wrap

STEP_GLYPHS: Final = {"completed": "✓", "in_progress": "◐", "pending": "○"}
PRIORITIES: Final = ("high", "low")
"""The priorities that are shown; the third one is the default."""
INDENT: Final = 4
MAX_ROWS: Final = 12
MAX_SCREEN_SHARE: Final = 0.5


class PlanView(StripView, can_focus=True):
    """Shows nothing without a plan, one line with a plan, all steps when unfolded. Hides when it's past."""

    DEFAULT_CSS = "PlanView { height: auto; display: none; }"

    PLACE: Final = "plan"
    BINDINGS = bindings_of(*STEPS, *PAGES, place=PLACE)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self._plans: Sequence[Plan] = ()
        self._is_open = False
        self._is_past = False

    def show_plans(self, plans: Sequence[Plan], *, is_past: bool) -> None:
        """Show these plans from now on. Those that are past are hidden until they are unfolded."""
        plans = tuple(sorted(plans, key=_rank))
        if plans == self._plans and is_past == self._is_past:
            return
        self._is_open = self._is_open and (self._is_past or not is_past)
        self._plans, self._is_past = plans, is_past
        self.redraw()

    @on(events.Resize)
    def redraw(self) -> None:
        self.display = bool(self._plans) and (self._is_open or not self._is_past)
        if not self.display:
            return
        width = self.content_size.width or self.app.size.width  # before the first layout
        lines = list(self._lines(width, palette_for(self.app.current_theme)))
        most = min(MAX_ROWS, int(self.app.size.height * MAX_SCREEN_SHARE))
        self.show(lines, min(len(lines), most))

    def _lines(self, width: int, palette: Palette) -> Iterator[Strip]:
        if not self._is_open:
            yield _head("▸ ", self._plans[0], width, palette, others=len(self._plans) - 1)
            return
        width -= 1  # minus the scroll bar
        for marker, plan in zip(["▾ ", *["  "] * len(self._plans)], self._plans, strict=False):
            yield _head(marker, plan, width, palette)
            yield from step_lines(plan, width, palette)

    @on(events.Click)
    def action_toggle_plan(self) -> None:
        self._is_open = not self._is_open
        self.redraw()

    def action_move(self, lines: int) -> None:
        self.scroll_relative(y=lines, animate=False, force=True)


def _rank(plan: Plan) -> int:
    """The order of plans: those in progress, then those to come, then those done."""
    statuses = {step.status for step in plan.steps}
    return 0 if "in_progress" in statuses else 1 if plan.current is not None else 2


def _head(marker: str, plan: Plan, width: int, palette: Palette, *, others: int = 0) -> Strip:
    """The progress of the plan, and as much of its current step as fits."""
    count = f"{plan.completed}/{len(plan.steps)}"
    more = f" · {others} more plan{'s' if others > 1 else ''}" if others else ""
    current = plan.current
    summary = "all steps are done" if current is None else make_visible_line(current.content)
    room = width - len(f"{marker}Plan {count}{more}  ")
    return Strip(
        [
            Segment(marker, palette.muted),
            Segment("Plan ", palette.strong),
            Segment(f"{count}{more}  ", palette.muted),
            Segment(cut(summary, max(room, 2)), palette.success if current is None else palette.text),
        ]
    )


def step_lines(plan: Plan, width: int, palette: Palette) -> Iterator[Strip]:
    """The steps of a plan, each wrapped below its text."""
    for step in plan.steps:
        style = {"completed": palette.muted, "in_progress": palette.accent}.get(step.status, palette.text)
        before = f"  {STEP_GLYPHS.get(step.status, '?')} "
        for line in wrap(_spans(step, style, palette), width - INDENT):
            yield Strip([Segment(before, style), *line], INDENT + line.cell_length)
            before = " " * INDENT


def _spans(step: PlanStep, style: Style, palette: Palette) -> list[Span]:
    """The step's text, followed by its priority if that is "high" or "low"."""
    # A non-breaking space, so that the priority isn't on a line of its own.
    mark = [(f"\u00a0·\u00a0{step.priority}", palette.warning if step.priority == "high" else palette.muted)]
    return [(make_visible_line(step.content), style), *(mark if step.priority in PRIORITIES else ())]
