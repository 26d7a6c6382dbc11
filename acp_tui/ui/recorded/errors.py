"""What can go wrong when a picture is made, said so that the user knows what to do."""

from __future__ import annotations

from acp_tui.client.errors import ClientError


class CannotRender(ClientError):
    """There will be no file."""
