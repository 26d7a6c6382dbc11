"""The prompts that wait for the turn to end, right above the prompt: the next ones in a line each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.content import Content
from textual.widgets import Static

MAX_SHOWN: Final = 3


class QueueLines(Static):
    """Hidden while nothing waits."""

    DEFAULT_CSS = "QueueLines { display: none; height: auto; max-height: 5; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id, markup=False)
        self._shown: tuple[tuple[str, ...], bool] = ((), False)

    def show(self, texts: Sequence[str], *, is_held: bool) -> None:
        """Show these from now on. Plain text: whoever makes it has made it visible."""
        shown = (tuple(texts), is_held)
        if shown == self._shown:
            return
        self._shown = shown
        self.display = bool(texts)
        if texts:
            self._draw()

    def on_resize(self) -> None:
        """Cut for the new width."""
        if self.display:
            self._draw()

    def _draw(self) -> None:
        texts, is_held = self._shown
        what = "held back: Enter in an empty prompt sends the next" if is_held else "sent after this turn"
        lines = [
            Content.styled(f"{len(texts)} queued, {what} · Alt+↑ takes the last back", "$foreground-muted")
        ]
        for text in texts[:MAX_SHOWN]:
            line = Content(f"  › {' '.join(text.split())}")
            lines.append(line.truncate(max(self.content_size.width, 4), ellipsis=True))
        if len(texts) > MAX_SHOWN:
            lines.append(Content.styled(f"    and {len(texts) - MAX_SHOWN} more", "$foreground-muted"))
        self.update(Content("\n").join(lines))
