"""One Markdown message: its source and its lines.

Only the open block at the end is parsed again when text arrives, so a chunk costs the same in a message of any length.
"""

from __future__ import annotations

from acp_tui.conversation.visible.text import VisibleStream
from acp_tui.ui.rendering.markdown_stream import MarkdownStream, References
from acp_tui.ui.rendering.palette import PLAIN, Palette
from acp_tui.ui.rendering.wrapping import MIN_WIDTH, Rows


class MarkdownRenderer:
    """One message, from its first chunk to its end and after."""

    def __init__(self, text: str = "") -> None:
        self._chunks: list[str] = []
        self._unread: list[str] = []  # what the stream has not been given
        self._visible = VisibleStream()
        self._finished = False
        self._changed = False
        self._lacks_end = False
        """Of what was given to the stream, the open end is not drawn."""
        self._width = 0
        self._palette = PLAIN
        self._stream: MarkdownStream | None = None
        self.append(text)

    @property
    def source(self) -> str:
        """All text so far, as it is shown: what would mislead a reader is replaced."""
        return "".join(self._chunks)

    def append(self, text: str) -> None:
        """Add text at the end; it is read when lines are asked for. A finished message is open again."""
        if not text:
            return
        if self._finished:
            self._finished = False
            self.release()
        self._add(self._visible.append(text))

    def finish(self) -> None:
        """Say that the message is complete: what was held back is shown, and links are resolved over all of it."""
        if not self._finished:
            self._finished = True
            self._add(self._visible.finish())

    def lines(self, width: int, palette: Palette) -> Rows:
        """The message in lines of at most `width` cells, each of its natural length; only code blocks fill the width.

        The same object comes back each time, brought up to date in place, unless everything is drawn anew: for
        another width or palette, and at `finish` where the message defines links.
        """
        stream = self._settled(width, palette)
        if self._lacks_end:
            self._lacks_end = False
            stream.draw_open(finished=self._finished)
        return stream.rows

    def settle(self, width: int, palette: Palette) -> None:
        """Draw what is finished of what was added; the open end is left to `lines`."""
        self._settled(width, palette)

    def _settled(self, width: int, palette: Palette) -> MarkdownStream:
        width = max(width, MIN_WIDTH)
        if width != self._width or (palette is not self._palette and palette != self._palette):
            self.release()
            self._width, self._palette = width, palette
        if self._stream is None:
            self._stream = self._start({})
        if self._changed:
            self._stream = self._update(self._stream)
        return self._stream

    def line_count(self, width: int) -> int:
        """How many lines there are at `width`; they are drawn in the palette that was used last."""
        return len(self.lines(width, self._palette))

    def release(self) -> None:
        """Give back the memory of everything drawn; the next `lines` draws it again from the source."""
        self._stream = None

    def _add(self, visible: str) -> None:
        self._chunks.append(visible)
        self._unread.append(visible)
        self._changed = True

    def _start(self, references: References) -> MarkdownStream:
        """A stream that has all of the source still to read."""
        self._chunks = [self.source]
        self._unread = [*self._chunks]
        self._changed = True
        return MarkdownStream(self._width, self._palette, references)

    def _update(self, stream: MarkdownStream) -> MarkdownStream:
        """Give the stream what is unread; a complete message with link definitions is read twice."""
        self._feed(stream)
        if self._finished and stream.references:
            stream = self._start(stream.references)
            self._feed(stream)
        return stream

    def _feed(self, stream: MarkdownStream) -> None:
        stream.settle("".join(self._unread), finished=self._finished)
        self._unread.clear()
        self._changed, self._lacks_end = False, True
