"""The plan in one line above the prompt, and whole when it is opened; it reads no more of a session than its plans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.strip import Strip

from acp_tui.conversation.facts import Plan, PlanStep
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.kit.line_window import StripView
from acp_tui.ui.kit.row_list import cut
from acp_tui.ui.kit.themes import palette_for
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import Span, wrap

STEP_GLYPHS: Final = {"completed": "✓", "in_progress": "◐", "pending": "○"}
PRIORITIES: Final = ("high", "low")
"""Those that are told; the third is what a step has anyway."""
INDENT: Final = 4
MOST_ROWS: Final = 12
MOST_OF_SCREEN: Final = 0.5


class PlanView(StripView, can_focus=True):
    """Shows nothing without a plan, one line with one, all steps when opened; folds away when all is done."""

    DEFAULT_CSS = "PlanView { height: auto; display: none; }"

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(place="plan")

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self._plans: Sequence[Plan] = ()
        self._is_open = False
        self._is_settled = False

    def show_plans(self, plans: Sequence[Plan], *, is_settled: bool = False) -> None:
        """Show these from now on; where the turn is over and all of them done, only when they are opened again."""
        plans = tuple(sorted(plans, key=_rank))
        if plans == self._plans and is_settled == self._is_settled:
            return
        was_done = self._is_done
        self._plans, self._is_settled = plans, is_settled
        self._is_open = self._is_open and (was_done or not self._is_done)
        self._draw()

    @property
    def _is_done(self) -> bool:
        return self._is_settled and all(plan.current is None for plan in self._plans)

    def on_mount(self) -> None:
        """Draw again in other colours."""
        self.watch(self.app, "theme", self._draw, init=False)

    def on_resize(self) -> None:
        """Draw for the new width."""
        self._draw()

    def _draw(self) -> None:
        self.display = bool(self._plans) and (self._is_open or not self._is_done)
        if not self.display:
            return
        width = self.content_size.width or self.app.size.width  # the first layout is still to come
        lines = list(self._lines(width, palette_for(self.app.current_theme)))
        most = min(MOST_ROWS, int(self.app.size.height * MOST_OF_SCREEN))
        self.show(lines, min(len(lines), most))

    def _lines(self, width: int, palette: Palette) -> Iterator[Strip]:
        """All lines as they are to be shown now."""
        if not self._is_open:
            yield _head("▸ ", self._plans[0], width, palette, others=len(self._plans) - 1)
            return
        width -= 1  # a scroll bar may come
        for marker, plan in zip(["▾ ", *["  "] * len(self._plans)], self._plans, strict=False):
            yield _head(marker, plan, width, palette)
            for step in plan.steps:
                yield from _step(step, width, palette)

    def action_toggle_plan(self) -> None:
        """Show all steps or one line."""
        self._is_open = not self._is_open
        self._draw()

    def action_read(self, lines: int) -> None:
        """Scroll by so many lines, where there are more than there is room for."""
        self.scroll_relative(y=lines, animate=False, force=True)

    def action_page(self, direction: int) -> None:
        """Scroll by a page, up for -1 and down for 1."""
        self.page(direction)

    def on_click(self, event: events.Click) -> None:
        """As the key does."""
        self.action_toggle_plan()


def _rank(plan: Plan) -> int:
    """Those worked on come first, then those to come, then those done."""
    statuses = {step.status for step in plan.steps}
    return 0 if "in_progress" in statuses else 1 if plan.current is not None else 2


def _head(marker: str, plan: Plan, width: int, palette: Palette, *, others: int = 0) -> Strip:
    """How far the plan is, and its current step as far as there is room."""
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


def step_spans(step: PlanStep, style: Style, palette: Palette) -> list[Span]:
    """What is to be done and, where it is not as urgent as any other step, "high" or "low" behind it."""
    # A blank that does not break: the word does not stand on a line of its own.
    mark = [(f"\u00a0·\u00a0{step.priority}", palette.warning if step.priority == "high" else palette.muted)]
    return [(make_visible_line(step.content), style), *(mark if step.priority in PRIORITIES else ())]


def _step(step: PlanStep, width: int, palette: Palette) -> Iterator[Strip]:
    """A step, and below its text what does not fit into one line."""
    styles = {"completed": palette.muted, "in_progress": palette.accent}
    style = styles.get(step.status, palette.text)
    text = step_spans(step, style, palette)
    before = f"  {STEP_GLYPHS.get(step.status, '?')} "
    for line in wrap(text, width - INDENT):
        yield Strip([Segment(before, style), *line], INDENT + line.cell_length)
        before = " " * INDENT
