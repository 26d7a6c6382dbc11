"""Cuts a byte stream into lines; the only limit on a line is the ceiling it is given."""

from __future__ import annotations

from typing import Final

from acp_tui.rpc.errors import FrameTooLarge

DEFAULT_MAX_FRAME_BYTES: Final = 64 << 20


class FrameSplitter:
    """Collects received bytes and gives back whole lines, without their line ends."""

    def __init__(self, max_frame_bytes: int = DEFAULT_MAX_FRAME_BYTES) -> None:
        self._max_frame_bytes = max_frame_bytes
        # The pieces of a line that has not ended: joined once, so that a line of many MiB is not copied per read.
        self._partial: list[bytes] = []
        self._partial_bytes = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes. Raises FrameTooLarge for a line over the ceiling."""
        *lines, rest = data.split(b"\n")
        if lines and self._partial:
            lines[0] = b"".join([*self._partial, lines[0]])
            self._partial, self._partial_bytes = [], 0
        if rest:
            self._partial.append(rest)
            self._partial_bytes += len(rest)
        longest = max((len(line) for line in lines), default=0)
        if max(longest, self._partial_bytes) > self._max_frame_bytes:
            raise FrameTooLarge(self._max_frame_bytes)
        return lines
