"""Reads the desktop's clipboard by the system's own tools. What is done with what is there is others' business."""

from acp_tui.client.clipboard.reading import (
    ClipboardText,
    Content,
    NothingToPaste,
    Picture,
    read_clipboard,
)

__all__ = ["ClipboardText", "Content", "NothingToPaste", "Picture", "read_clipboard"]
