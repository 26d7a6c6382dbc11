"""Images attached to a prompt, and the line that shows them. Other modules supply the images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widgets import Static

if TYPE_CHECKING:
    from acp_tui.client.sessions.prompt_queue import PastedImage

HINT: Final = "Backspace removes"


class ImageChips(Static):
    """One line with a chip for each image, which a click removes. Hidden if there are none."""

    DEFAULT_CSS = "ImageChips { display: none; height: auto; max-height: 3; }"

    class Removed(Message):
        """The user removed this image."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def show(self, images: Sequence[PastedImage]) -> None:
        self.display = bool(images)
        chips = [
            Content.styled(f" {_label(image)} × ", Style(bold=True) + Style.from_meta({"@click": f"remove({index})"}))
            for index, image in enumerate(images)
        ]
        self.update(Content(" ").join([*chips, Content.styled(HINT, "$foreground-muted")]))

    def action_remove(self, index: int) -> None:
        self.post_message(self.Removed(index))


def _label(image: PastedImage) -> str:
    size = len(image.data)
    return f"{image.name} {size / 1e6:.1f} MB" if size >= 1e6 else f"{image.name} {size / 1e3:.0f} KB"
