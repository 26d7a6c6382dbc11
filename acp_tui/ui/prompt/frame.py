"""The prompt with what stands around it: the pictures that go along. It knows nothing of sessions."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical

from acp_tui.ui.prompt.images import ImageChips
from acp_tui.ui.prompt.input import PromptInput


class PromptFrame(Vertical):
    """Holds the `PromptInput` with the id `prompt`."""

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield ImageChips()
        yield PromptInput(id="prompt")

    def on_prompt_input_images_changed(self, message: PromptInput.ImagesChanged) -> None:
        """Show them."""
        message.stop()
        self.query_one(ImageChips).show(message.images)

    def on_image_chips_removed(self, message: ImageChips.Removed) -> None:
        """Take it out, and go on writing."""
        message.stop()
        prompt = self.query_one(PromptInput)
        prompt.remove_image(message.index)
        prompt.focus()
