"""Converts a painted screen to text."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip

from acp_tui.client.errors import ClientError


class CannotRender(ClientError):
    """Rendering failed."""


def text_of(strips: Sequence[Strip]) -> str:
    return "".join(f"{strip.text.rstrip()}\n" for strip in strips)
