"""The app of `acp-tui inspect`: no hub, no agent; it looks as the settings say."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from acp_tui.client.settings.tree import Settings
from acp_tui.ui.base.app import BaseApp
from acp_tui.ui.inspector.screen import InspectorScreen
from acp_tui.ui.kit.memory import keep_what_is_loaded
from acp_tui.workbench.inspect.inspection import Inspection


class InspectApp(BaseApp):
    """Shows one recording, frame by frame."""

    TITLE = "acp-tui inspect"

    def __init__(
        self,
        inspection: Inspection,
        file: Path,
        *,
        settings: Settings | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        """`notes` is what is wrong in the settings."""
        super().__init__(settings, notes)
        self._make_screen = partial(InspectorScreen, inspection, file.name, folder=Path.cwd(), grows=file)

    def on_mount(self) -> None:
        """Say what is wrong in the settings, briefly."""
        self.tell_notes(self._notes)
        self.call_after_refresh(keep_what_is_loaded)

    def get_default_screen(self) -> InspectorScreen:
        """The inspector."""
        return self._make_screen()
