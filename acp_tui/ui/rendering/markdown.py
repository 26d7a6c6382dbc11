"""One Markdown message: its source and its lines.

When text arrives, only the open block at the end is parsed again, so a chunk costs the same in a message of any length.
"""

from __future__ import annotations

from acp_tui.conversation.visible.text import VisibleStream
from acp_tui.ui.rendering.markdown_stream import MarkdownStream, References
from acp_tui.ui.rendering.palette import PLAIN, Palette
from acp_tui.ui.rendering.wrapping import MIN_WIDTH, Rows


class MarkdownRenderer:
    """One message, from its first chunk until after its end."""

    def __init__(self, text: str = "", *, skips: bool = False) -> None:
        """With `skips`, what comes faster than it can be read is drawn when it comes into view (`Rows.measure`)."""
        self._skips = skips
        self._chunks: list[str] = []
        self._unread: list[str] = []  # not passed to the stream yet
        self._visible = VisibleStream()
        self._finished = False
        self._changed = False
        self._lacks_end = False
        """Whether the open end of the stream's text isn't drawn yet."""
        self._width = 0
        self._palette = PLAIN
        self._stream: MarkdownStream | None = None
        self.append(text)

    @property
    def source(self) -> str:
        """All text so far, as it's shown: misleading characters are replaced."""
        return "".join(self._chunks)

    def append(self, text: str) -> None:
        """Add text at the end, to be read when lines are requested. Reopens a finished message."""
        if not text:
            return
        if self._finished:
            self._finished = False
            self.release()
        self._add(self._visible.append(text))

    def finish(self) -> None:
        """Mark the message as complete: show what was held back, and resolve links in all of it."""
        if not self._finished:
            self._finished = True
            self._add(self._visible.finish())

    def lines(self, width: int, palette: Palette) -> Rows:
        """Return the message in lines of at most `width` cells, at natural length. Only code blocks fill the width.

        Returns the same object each time, updated in place, unless everything is drawn again: for another width or
        palette, and at `finish` if the message defines links.
        """
        stream = self._settled(width, palette)
        if self._lacks_end:
            self._lacks_end = False
            stream.draw_open(finished=self._finished)
        return stream.rows

    def settle(self, width: int, palette: Palette) -> None:
        """Draw the finished part of what was added. The open end is left to `lines`."""
        self._settled(width, palette)

    def _settled(self, width: int, palette: Palette) -> MarkdownStream:
        width = max(width, MIN_WIDTH)
        if width != self._width or (palette is not self._palette and palette != self._palette):
            self.release()
            # In other colors, what is measured keeps its height.
            skips = self._skips and width != self._width
            self._width, self._palette = width, palette
            self._stream = self._start({}, skips)
        if self._stream is None:
            self._stream = self._start({})
        if self._changed:
            self._stream = self._update(self._stream)
        return self._stream

    @property
    def rows(self) -> Rows:
        """The lines as they were last drawn; none before that."""
        return Rows() if self._stream is None else self._stream.rows

    def line_count(self, width: int) -> int:
        """The number of lines at `width`, drawn in the last palette used."""
        return len(self.lines(width, self._palette))

    def release(self) -> None:
        """Free the memory of everything drawn. The next `lines` draws it again from the source."""
        self._stream = None

    def _add(self, visible: str) -> None:
        self._chunks.append(visible)
        self._unread.append(visible)
        self._changed = True

    def _start(self, references: References, skips: bool = False) -> MarkdownStream:
        """Start a stream that still has the whole source to read."""
        self._chunks = [self.source]
        self._unread = [*self._chunks]
        self._changed = True
        return MarkdownStream(self._width, self._palette, references, skips=skips)

    def _update(self, stream: MarkdownStream) -> MarkdownStream:
        """Pass the unread text to the stream. A complete message with link definitions is read twice."""
        self._feed(stream)
        if self._finished and stream.references:
            stream = self._start(stream.references)
            self._feed(stream)
        return stream

    def _feed(self, stream: MarkdownStream) -> None:
        stream.settle("".join(self._unread), finished=self._finished)
        stream.skips = self._skips
        self._unread.clear()
        self._changed, self._lacks_end = False, True
