"""What a terminal printed, as text for readers who are not terminals: line for line, without a screen."""

from __future__ import annotations

import codecs
import re
from typing import Final

from acp_tui.client.terminals.overwritten import SIGNS, as_shown

# Linear on any input: no body can run past the next ESC, and every part but the first two characters is optional, so
# that a sequence cut short at either end of the output goes too.
_ESCAPE_SEQUENCE: Final = re.compile(
    r"\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]?"  # CSI: colours, cursor, modes
    r"|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # OSC: titles, links; ends with the line at the latest
    r"|[PX^_][^\x1b\n]*(?:\x1b\\)?"  # DCS, SOS, PM, APC
    r"|[ -/]*[0-~]"  # character sets, keypad modes, resets
    r")"
)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NO_CONTROL: Final = dict.fromkeys([*range(0x09), *range(0x0B, 0x20), 0x7F])


def plain_text(data: bytes, *, is_complete: bool) -> str:
    """`data` without escape sequences and controls, with LF for line ends, bad UTF-8 as U+FFFD.

    Of a line that was written over (a progress bar), what a terminal would show in the end is left. Unless the output
    `is_complete`, a character that is still arriving is left out.
    """
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(data, is_complete)
    text = text.replace("\r\n", "\n")
    if _goes_back(text):
        lines = text.split("\n")
        text = "\n".join(as_shown(line, _ESCAPE_SEQUENCE) if _goes_back(line) else line for line in lines)
    if "\x1b" in text:
        text = _ESCAPE_SEQUENCE.sub("", text)
    # The event loop waits for this: ASCII is translated five times faster than searched.
    return text.translate(_NO_CONTROL) if text.isascii() else _CONTROL.sub("", text)


def _goes_back(text: str) -> bool:
    return any(map(text.__contains__, SIGNS))
