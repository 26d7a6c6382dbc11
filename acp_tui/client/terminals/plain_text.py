"""What a terminal printed, as text for readers who are not terminals; it emulates no cursor and no screen."""

from __future__ import annotations

import codecs
import re
from typing import Final

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
_STRUCK_OUT: Final = re.compile(r"[^\n\x08]\x08")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NO_CONTROL: Final = dict.fromkeys([*range(0x09), *range(0x0B, 0x20), 0x7F])


def plain_text(data: bytes, *, is_complete: bool) -> str:
    """`data` without escape sequences and controls, with LF for line ends, bad UTF-8 as U+FFFD.

    Of a line that was written over after a carriage return (a progress bar), the last state is left; a character
    followed by a backspace goes. Unless the output `is_complete`, a character that is still arriving is left out.
    """
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(data, is_complete)
    text = text.replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(_last_state(line) for line in text.split("\n"))
    if "\x1b" in text:
        text = _ESCAPE_SEQUENCE.sub("", text)
    if "\x08" in text:
        text = _STRUCK_OUT.sub("", text)
    # The event loop waits for this: ASCII is translated five times faster than searched.
    return text.translate(_NO_CONTROL) if text.isascii() else _CONTROL.sub("", text)


def _last_state(line: str) -> str:
    # Before escape sequences go, so that "\r" and "erase line" leave an empty line and not what was erased.
    return line.rstrip("\r").rpartition("\r")[2]
