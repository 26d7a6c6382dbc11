"""Reads single facts out of raw frames, for whoever taps a connection."""

from __future__ import annotations

from typing import Any

from acp_tui.rpc import Direction
from acp_tui.rpc.messages import Notification, read_message


def update_params(direction: Direction, frame: bytes) -> Any | None:
    """The params of a session/update that came in, as they were sent; None for any other frame."""
    if direction is not Direction.IN or b"session/update" not in frame:
        return None
    message = read_message(frame)
    if isinstance(message, Notification) and message.method == "session/update":
        return message.params
    return None
