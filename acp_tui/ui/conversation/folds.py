"""Folds what is long: how much of each thing is shown, the first or last lines, and a line on what is hidden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.client.settings.tree import ConversationSettings
from acp_tui.conversation import QUIET_KINDS
from acp_tui.ui.rendering.palette import Palette
from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class Folds:
    """How much is shown until the user unfolds it."""

    kinds: frozenset[str] = frozenset(QUIET_KINDS)
    """Tool calls of these kinds show no content: it is for the agent."""
    diff_lines: int = 24
    text_lines: int = 6
    prompt_lines: int = 20
    terminal_lines: int = 12
    """The last ones."""
    are_thoughts_open: bool = False


AS_BY_DEFAULT: Final = Folds()


def folds_of(shown: ConversationSettings) -> Folds:
    """As the user has set it."""
    return Folds(
        kinds=frozenset(shown.fold_kinds),
        diff_lines=shown.diff_lines,
        text_lines=shown.text_lines,
        prompt_lines=shown.prompt_lines,
        terminal_lines=shown.terminal_lines,
        are_thoughts_open=shown.thoughts == "open",
    )


def folded(
    lines: Sequence[Strip], limit: int, palette: Palette, *, keep_end: bool = False
) -> list[Sequence[Strip]]:
    """The first (or last) `limit` lines and a line on what is hidden; all of them where that would hide just one."""
    hidden = len(lines) - limit
    if hidden <= 1:
        return [lines]
    unit = "lines" if limit == 0 else "more lines"
    note = [Strip([Segment(f"… {hidden} {unit} ", palette.muted)])]
    return [note, lines[hidden:]] if keep_end else [lines[:limit], note]
