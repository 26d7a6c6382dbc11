"""The one way to the terminal for text: stdout and stderr as streams that make visible whatever is written to them.

Control sequences of our own do not come this way: they are constants, written to the descriptor. What Textual draws
does not either; `conversation.visible` is applied where a drawing is made.
"""

from __future__ import annotations

import io
import locale
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO, cast

if TYPE_CHECKING:
    from acp_tui.conversation.visible.stream import VisibleStream


class VisibleOutput(io.TextIOBase):
    """A text stream in front of another one. It has no `buffer`: no byte passes unseen.

    Half of a character or of a line end waits for the next piece, even if the stream is flushed in between.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._visible: VisibleStream | None = None

    def write(self, text: str) -> int:
        """Write `text` in its visible form; what the encoding has no letter for becomes a question mark."""
        if self._visible is None:
            # Most runs draw a screen and print nothing: the first frame should not wait for this.
            from acp_tui.conversation.visible.stream import VisibleStream

            self._visible = VisibleStream()
        self._put(self._visible.append(text))
        return len(text)

    def finish(self) -> None:
        """Write what waited for its other half."""
        if self._visible is not None:
            self._put(self._visible.finish())

    def _put(self, text: str) -> None:
        if text:
            self._stream.write(text.encode(self.encoding, "replace").decode(self.encoding))

    def flush(self) -> None:
        """Hand on what the stream below has buffered."""
        self._stream.flush()

    def fileno(self) -> int:
        """The descriptor of the stream below."""
        return self._stream.fileno()

    def isatty(self) -> bool:
        """Whether it leads to a terminal."""
        return self._stream.isatty()

    def writable(self) -> bool:
        """It is."""
        return True

    # `input` hands its prompt to readline only if these are strings.

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Of the stream below."""
        return self._stream.encoding or "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        """Nothing is left that an encoder could stumble over."""
        return "replace"


@contextmanager
def visible_output() -> Iterator[None]:
    """Within the block `sys.stdout` and `sys.stderr` are such streams.

    So is whatever Python itself prints there: tracebacks, warnings, what is logged without a handler.
    """
    before = sys.stdout, sys.stderr
    ours = [None if stream is None else VisibleOutput(stream) for stream in before]
    sys.stdout, sys.stderr = cast(list[TextIO], ours)
    try:
        yield
    finally:
        for stream in ours:
            if stream is not None:
                with suppress(OSError, ValueError):  # closed; nobody reads on
                    stream.finish()
        sys.stdout, sys.stderr = before


def terminal_bytes(text: str) -> bytes:
    """`text` in its visible form, for a terminal that is neither stdout nor stderr."""
    from acp_tui.conversation.visible import make_visible

    return make_visible(text).encode(locale.getpreferredencoding(do_setlocale=False), "replace")
