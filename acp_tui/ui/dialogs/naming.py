"""Asks for the name of a session, or of the file to write a conversation to. `client.export` does the writing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

from textual import on
from textual.widget import Widget
from textual.widgets import Input, Static

from acp_tui.client.errors import ClientError
from acp_tui.client.save_content import FileExists
from acp_tui.client.sessions.marks import MAX_NAME
from acp_tui.ui.kit.dialog import Dialog, shown
from acp_tui.ui.textual_gaps.internals import take_waiting_keys


class NameDialog(Dialog[str | None]):
    """Returns the name without extra whitespace; None if the user closes the dialog or leaves the name blank."""

    def __init__(self, name: str, before: Widget | None = None) -> None:
        """Keys that wait in `before`, which had the focus, are behind the one that opens the dialog."""
        self._before = before
        self._field = Input(name, id="name", max_length=MAX_NAME)
        super().__init__("Rename the session", "Enter rename · {dialog_close} close", self._field)

    def on_mount(self) -> None:
        """Take the keyboard, and the keys that came until now, all at once: the next key must not overtake them."""
        waiting = [key for one in (self._before, self) if one is not None for key in take_waiting_keys(one)]
        self.set_focus(self._field)
        for key in waiting:
            self._field.post_message(key)

    @on(Input.Submitted)
    def _take_name(self, event: Input.Submitted) -> None:
        self.dismiss(" ".join(event.value.split()) or None)


Write: TypeAlias = Callable[[Path, bool], Awaitable[None]]
"""Writes the file. Replaces an existing one only if told to. Raises ClientError."""


class ExportDialog(Dialog[Path | None]):
    """Returns the file that was written, or None."""

    def __init__(self, folder: Path, name: str, write: Write, *, is_chosen: bool = False) -> None:
        """`name` is the suggestion, written at once if `is_chosen`. The user's input is relative to `folder`."""
        self._folder = folder
        self._proposed = name
        self.write = write
        self._is_chosen = is_chosen
        self._tried: str | None = None
        self._to_replace: Path | None = None
        self._said = Static(classes="dialog-warning", markup=False)
        self._said.display = False
        keys = "Enter write · .md or .jsonl chooses the format · {dialog_close} close"
        super().__init__("Write the conversation to a file", keys, Input(name, id="file"), self._said)

    async def on_mount(self) -> None:
        if self._is_chosen:
            await self._try(self._proposed)

    @on(Input.Submitted)
    async def _take_path(self, event: Input.Submitted) -> None:
        """Write the file. An existing file is replaced only after a second Enter."""
        await self._try(event.value)

    async def _try(self, name: str) -> None:
        self._tried = name
        if name.lstrip().startswith("/export "):
            self._say("Write only the file, without /export.")
            return
        path = self._folder / Path(name).expanduser()
        try:
            await self.write(path, path == self._to_replace)
        except ClientError as error:
            exists = isinstance(error, FileExists)
            self._to_replace = path if exists else None
            self._say("\n".join(filter(None, (str(error), "Enter again replaces it" if exists else error.hint))))
        else:
            self.dismiss(path)

    @on(Input.Changed)
    def _forget_what_was_tried(self, event: Input.Changed) -> None:
        if event.value == self._tried:
            return
        self._to_replace = None
        self._said.display = False

    def _say(self, text: str) -> None:
        self._said.update(shown(text, "$text-warning"))
        self._said.display = True
