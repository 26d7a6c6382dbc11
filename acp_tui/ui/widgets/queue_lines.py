"""What waits right above the prompt: output that goes along with the next one, and prompts until the turn ends."""

from __future__ import annotations

from typing import Final, NamedTuple

from textual.content import Content
from textual.widgets import Static

MAX_SHOWN: Final = 3


class Waiting(NamedTuple):
    """What there is to show. Plain text: whoever makes it has made it visible."""

    texts: tuple[str, ...] = ()
    """Prompts, the next one first."""
    is_held: bool = False
    """They are sent only when the user says so."""
    outputs: tuple[str, ...] = ()
    """Commands of which the next prompt takes the output along."""


class QueueLines(Static):
    """Hidden while nothing waits."""

    DEFAULT_CSS = "QueueLines { display: none; height: auto; max-height: 6; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id, markup=False)
        self._shown = Waiting()

    def show(self, waiting: Waiting) -> None:
        """Show this from now on."""
        if waiting == self._shown:
            return
        self._shown = waiting
        self.display = bool(waiting.texts or waiting.outputs)
        if self.display:
            self._draw()

    def on_resize(self) -> None:
        """Cut for the new width."""
        if self.display:
            self._draw()

    def _draw(self) -> None:
        lines = [Content.styled(text, "$foreground-muted") for text in self._output_lines()]
        lines += self._queue_lines()
        width = max(self.content_size.width, 4)
        self.update(Content("\n").join(line.truncate(width, ellipsis=True) for line in lines))

    def _output_lines(self) -> list[str]:
        outputs = self._shown.outputs
        if not outputs:
            return []
        what = f"output of `{outputs[-1]}`" if len(outputs) == 1 else f"output of {len(outputs)} commands"
        return [f"+ {what} goes along next · Backspace in an empty prompt: not"]

    def _queue_lines(self) -> list[Content]:
        texts = self._shown.texts
        if not texts:
            return []
        what = (
            "held back: Enter in an empty prompt sends the next"
            if self._shown.is_held
            else "sent after this turn"
        )
        head = f"{len(texts)} queued, {what} · Alt+↑ takes the last back"
        lines = [Content.styled(head, "$foreground-muted")]
        lines += [Content(f"  › {' '.join(text.split())}") for text in texts[:MAX_SHOWN]]
        if len(texts) > MAX_SHOWN:
            lines.append(Content.styled(f"    and {len(texts) - MAX_SHOWN} more", "$foreground-muted"))
        return lines
