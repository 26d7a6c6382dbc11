"""The part of the app that shows toasts: each once, however often it is said; what they say is others' matter."""

from __future__ import annotations

from textual.app import App
from textual.notifications import SeverityLevel

from acp_tui.ui.textual_internals import forget_toasts


class ToastingApp(App[None]):
    """Shows a word to the user in the place of the same one from before, instead of a pile of them."""

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Say this for a while, from now on where it is being said already."""
        forget_toasts(self, (title, message))
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=markup)
