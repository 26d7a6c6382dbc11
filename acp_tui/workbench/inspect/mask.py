"""Lines without secrets, for whatever leaves the inspector; what a secret is, `client.secrets` knows."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any

from acp_tui.client.secrets.masking import Masker
from acp_tui.client.transcript.frame_line import Kind, Line
from acp_tui.client.transcript.lines import line as json_line
from acp_tui.protocol.conformance.rule import read_json


class Mask:
    """Learns secrets where they pass, and hides them wherever they come back; callable from any thread."""

    def __init__(self, environ: Mapping[str, str] | None = None, *, is_needed: bool = True) -> None:
        """It is not where the lines have come through one already."""
        self.is_needed = is_needed
        self._masker = Masker(environ)
        self._lock = Lock()

    def learn(self, line: Line) -> None:
        """Take note of the secrets in it."""
        if self.is_needed and line.kind in (Kind.IN, Kind.OUT):
            self.hidden(line)

    def hidden(self, line: Line, *, is_answer_to_form: bool = False) -> Line:
        """The line without its secrets; the same one where there are none."""
        if not self.is_needed:
            return line
        with self._lock:
            if not is_answer_to_form and not self._masker.is_suspect(line.data):
                return line
            return line._replace(data=self._without_secrets(line, is_answer_to_form))

    def _without_secrets(self, line: Line, is_answer_to_form: bool) -> bytes:
        value = _message(line)
        if value is None:
            text = line.data.decode("utf-8", "surrogateescape")
            return self._masker.line(text).encode("utf-8", "surrogateescape")
        hidden = self._masker.message(value, is_answer_to_form=is_answer_to_form)
        return line.data if hidden == value else json_line(hidden)[:-1]


def _message(line: Line) -> Any:
    """What a frame says; None for what is no message."""
    if line.kind not in (Kind.IN, Kind.OUT):
        return None
    try:
        value = read_json(line.data)
    except ValueError:
        return None
    return value if isinstance(value, dict | list) else None
