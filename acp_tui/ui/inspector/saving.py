"""Asks where frames are to be written, and says whether with secrets; how that is done, `workbench.inspect` knows."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from anyio import to_thread
from textual.app import ComposeResult
from textual.widgets import Input, Static

from acp_tui.client.export import FileExists
from acp_tui.ui.dialogs.export import ExportDialog, Write
from acp_tui.ui.kit.frame import Frame, shown_line
from acp_tui.workbench.inspect.inspection import Detail, Inspection
from acp_tui.workbench.inspect.source import FileIsThere, save_frames, save_json

MASKED = "Known secrets are masked. Look at it before you give it away."
RAW = "SECRETS ARE KEPT, since R was pressed."


class SaveDialog(ExportDialog):
    """Gives the file that was written, or None."""

    def __init__(self, folder: Path, name: str, write: Write, *, what: str, is_raw: bool) -> None:
        super().__init__(folder, name, write)
        self._what = what
        self._is_raw = is_raw

    def compose(self) -> ComposeResult:
        """The file, whether with secrets, and what is wrong."""
        self._said.display = False
        about = shown_line(RAW if self._is_raw else MASKED, "$text-error" if self._is_raw else "")
        title = shown_line(f"Write {self._what} to a file")
        yield Frame(
            title,
            "Enter write · Esc close",
            Input(self._proposed, id="file"),
            Static(about, markup=False),
            self._said,
        )


def save_one(detail: Detail, *, is_raw: bool, folder: Path) -> SaveDialog:
    """A dialog that writes one frame."""

    async def write(path: Path, is_replaced: bool) -> None:
        try:
            await to_thread.run_sync(partial(save_json, path, detail.line, overwrite=is_replaced))
        except FileIsThere as error:
            raise FileExists(path) from error

    name = f"frame-{detail.row.position}.json"
    return SaveDialog(folder, name, write, what=f"frame #{detail.row.position}", is_raw=is_raw)


def save_all(inspection: Inspection, *, folder: Path) -> SaveDialog:
    """A dialog that writes all frames that are shown, as a recording."""
    is_raw, header = inspection.is_raw, inspection.source.header

    async def write(path: Path, is_replaced: bool) -> None:
        try:
            await save_frames(
                path,
                header,
                inspection.shown_lines(),
                is_raw=is_raw and header.is_raw,
                overwrite=is_replaced,
            )
        except FileIsThere as error:
            raise FileExists(path) from error

    return SaveDialog(folder, "frames.jsonl", write, what=f"{inspection.count:,} frames", is_raw=is_raw)
