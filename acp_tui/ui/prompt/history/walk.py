"""Where one is among past prompts while walking through them. It draws nothing and reads no file."""

from __future__ import annotations

from collections.abc import Sequence


class Walk:
    """From the draft to ever older prompts and back. What is changed on the way is there when one comes by again."""

    def __init__(self, draft: str, past: Sequence[str]) -> None:
        """`past` is the latest first."""
        self._texts = [draft, *past]
        self._at = 0

    @property
    def text(self) -> str:
        """What stands where one is, as it was when one came by last."""
        return self._texts[self._at]

    def step(self, text: str, step: int) -> bool:
        """Go so many prompts into the past (or back, below 0), leaving `text` here; False where it ends."""
        to = self._at + step
        if not 0 <= to < len(self._texts):
            return False
        self._texts[self._at] = text
        self._at = to
        return True

    def go_to(self, text: str) -> None:
        """Go to this prompt; where it is not among them, as to one of another project, it comes behind the draft."""
        if text not in self._texts[1:]:
            self._texts.insert(1, text)
        self._at = self._texts.index(text, 1)
