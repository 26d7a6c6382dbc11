"""The plan in one line above the prompt, and whole when it is opened."""

from __future__ import annotations

from typing import ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from acp_tui.conversation.facts import Plan, PlanStep
from acp_tui.conversation.visible import make_visible_line

STEP_GLYPHS: Final = {"completed": "✓", "in_progress": "◐", "pending": "○"}
STEP_STYLES: Final = {"completed": "$foreground-muted", "in_progress": "$accent", "pending": "$foreground"}
PRIORITY_MARKS: Final = {"high": " !", "low": " ↓"}


class PlanLine(Static, can_focus=True):
    """Shows nothing without a plan, one line with one, all steps when opened; folds away when all is done."""

    DEFAULT_CSS = """
    PlanLine {
        height: auto;
        max-height: 12;
        display: none;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    PlanLine.-open { text-wrap: wrap; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,enter", "toggle_plan", "Fold or unfold", show=False)
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id, markup=False)
        self._plan: Plan | None = None
        self._is_open = False
        self._is_settled = False

    def show(self, plan: Plan | None, *, is_settled: bool = False) -> None:
        """Show this plan from now on; where the turn is over and all of it done, only when it is opened."""
        if plan is self._plan and is_settled == self._is_settled:
            return
        self._plan, self._is_settled = plan, is_settled
        self._draw()

    def _draw(self) -> None:
        plan = self._plan
        is_done = plan is not None and plan.current is None and self._is_settled
        self.display = plan is not None and (self._is_open or not is_done)
        if plan is None:
            return
        current = plan.current
        if current is None:
            summary = Content.styled("all steps are done", "$text-success")
        else:
            summary = Content(make_visible_line(current.content))
        head = Content.assemble(
            ("▾ " if self._is_open else "▸ ", "$foreground-muted"),
            ("Plan ", "bold"),
            (f"{plan.completed}/{len(plan.steps)}  ", "$foreground-muted"),
            summary,
        )
        lines = [head, *(map(_step, plan.steps) if self._is_open else ())]
        self.update(Content("\n").join(lines))

    def action_toggle_plan(self) -> None:
        """Show all steps or one line."""
        self._is_open = not self._is_open
        self.set_class(self._is_open, "-open")
        self._draw()

    def on_click(self, event: events.Click) -> None:
        """As the key does."""
        self.action_toggle_plan()


def _step(step: PlanStep) -> Content:
    style = STEP_STYLES.get(step.status, "$foreground")
    glyph = STEP_GLYPHS.get(step.status, "?")
    mark = PRIORITY_MARKS.get(step.priority, "")
    return Content.assemble(
        (f"  {glyph} ", style), (make_visible_line(step.content), style), (mark, "$foreground-muted")
    )
