"""Makes text visible that comes by pieces, as `make_visible` would make the whole; it keeps no text."""

from __future__ import annotations

import re
from typing import Final

from acp_tui.conversation.visible.text import make_visible

_HALF: Final = re.compile("[\r\u200d\ud800-\udbff]\\Z")
"""Half of a line end, of a character or of two joined, whose other half may be in the next piece."""
_CONTEXT: Final = 16
"""Characters before a piece that tell whether what it begins with belongs there."""


class VisibleStream:
    """One text, from its first piece to its end."""

    def __init__(self) -> None:
        self._held = ""
        self._before = ""

    def append(self, text: str) -> str:
        """What is to be shown of one more piece; half of something is held back until the rest comes."""
        text = self._held + text
        half = _HALF.search(text)
        self._held = half.group() if half else ""
        return self._visible(text[: len(text) - len(self._held)])

    def finish(self) -> str:
        """What was held back, since nothing more comes."""
        held, self._held = self._held, ""
        return self._visible(held)

    def _visible(self, text: str) -> str:
        visible = make_visible(text, self._before)
        self._before = (self._before + text)[-_CONTEXT:]
        return visible
