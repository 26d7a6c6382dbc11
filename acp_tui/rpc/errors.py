"""What can go wrong between two peers.

RpcError
├── RequestFailed     the other side answered with an error; raised in a handler, it is the answer
└── ConnectionLost    nothing more will come: end of stream, broken pipe
    ├── FrameTooLarge     a line over the ceiling; the stream cannot be trusted to resume
    └── AnswersUnread     the other side does not read what it is sent
"""

from __future__ import annotations

from typing import Any


class RpcError(Exception):
    """Anything that goes wrong in this package."""


class RequestFailed(RpcError):
    """An error response, received or to be sent."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    @property
    def detail(self) -> str | None:
        """The cause in the sender's words, where `data` carries one."""
        if isinstance(self.data, str):
            return self.data
        if isinstance(self.data, dict):
            found = (self.data.get(key) for key in ("details", "message", "reason", "error"))
            return next((text for text in found if isinstance(text, str) and text), None)
        return None


class ConnectionLost(RpcError):
    """The other side is gone; every pending request fails with this."""


class FrameTooLarge(ConnectionLost):
    """A line grew over the ceiling without an end."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"a message of more than {limit_bytes:,} bytes without a line end")
        self.limit_bytes = limit_bytes


class AnswersUnread(ConnectionLost):
    """The other side takes none of what waits for it, and more than may wait does."""

    def __init__(self, waiting_bytes: int) -> None:
        super().__init__(f"it has not read {waiting_bytes:,} bytes of what was sent to it")
        self.waiting_bytes = waiting_bytes
