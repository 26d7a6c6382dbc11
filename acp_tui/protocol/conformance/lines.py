"""Rules of an agent's process: the lines on its stdout, and how it ends. What a message is, is `exchange`'s matter."""

from __future__ import annotations

from typing import Any, Final

from acp_tui.protocol.conformance.rule import Frame, Judge, Rule, Severity, read_json

JUNK: Final = Rule(
    "A-LINE-1",
    Severity.ERROR,
    "An agent writes nothing to stdout but messages.",
    "Write banners, warnings and logs to stderr; see what your libraries print.",
    "transports",
    "R-TRANS-5",
)
UTF_8: Final = Rule(
    "A-LINE-2",
    Severity.ERROR,
    "Messages are encoded in UTF-8.",
    "Set the encoding of stdout, and cut text at characters, not at bytes.",
    "transports",
    "R-TRANS-1",
)
WHOLE: Final = Rule(
    "A-LINE-3",
    Severity.ERROR,
    "A message stands on one line, without line ends inside.",
    "Serialise without indentation; a line end inside a string is written \\n.",
    "transports",
    "R-TRANS-2",
)
LINE_END: Final = Rule(
    "A-LINE-4",
    Severity.WARNING,
    "Lines end with \\n alone.",
    "Write bytes, so that nobody makes \\r\\n of it.",
    "transports",
    "R-TRANS-5",
)
NO_BOM: Final = Rule(
    "A-LINE-5",
    Severity.WARNING,
    "No byte order mark stands before a message.",
    "Use an encoder that writes none.",
    "transports",
    "R-TRANS-5",
)
NOT_BLANK: Final = Rule(
    "A-LINE-6",
    Severity.NOTE,
    "No blank lines stand between messages.",
    "End each message with one line end.",
    "transports",
    "R-TRANS-5",
)
SIZE: Final = Rule(
    "A-LINE-7",
    Severity.NOTE,
    "A message has less than 16 MiB.",
    "Send pictures smaller and files as links: not every client takes lines of that length.",
    "transports",
    "R-TRANS-4",
)
RULES: Final = (JUNK, UTF_8, WHOLE, LINE_END, NO_BOM, NOT_BLANK, SIZE)

LARGE_BYTES: Final = 16 << 20
BOM: Final = b"\xef\xbb\xbf"
MOST_PIECES: Final = 200
MOST_PIECES_BYTES: Final = 64 << 10


class LineCheck:
    """Reads the agent's lines, and gives the objects among them."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        # Lines that may be the pieces of one message, with their frames.
        self._pieces: list[bytes] = []
        self._frames: list[int] = []

    def read(self, index: int, frame: Frame) -> dict[str, Any] | None:
        """The message, or None for a line that is none."""
        self._look_at(frame.raw)
        if not frame.raw.strip():
            return None
        try:
            value = frame.value()
        except ValueError:
            self._take_piece(index, frame.raw)
            return None
        if not isinstance(value, dict):
            # A bracket or a number on a line of its own stands in any indented object.
            if self._pieces and not isinstance(value, list):
                self._take_piece(index, frame.raw)
                return None
            what = "a batch of messages" if isinstance(value, list) else "JSON that is no object"
            self._judge.check(JUNK, False, f"a line is {what}, and not a message")
            return None
        if self._pieces and "jsonrpc" not in value and "method" not in value:
            self._take_piece(index, frame.raw)
            return None
        self.finish()
        self._judge.check(JUNK, True, "")
        return value

    def finish(self) -> None:
        """What was held to be pieces of a message are single lines."""
        frames, self._frames, self._pieces = self._frames, [], []
        now = self._judge.frame
        for frame in frames:
            self._judge.frame = frame
            self._judge.check(JUNK, False, "a line is not JSON")
        self._judge.frame = now

    def _look_at(self, raw: bytes) -> None:
        check = self._judge.check
        check(LINE_END, not raw.endswith(b"\r"), "a line ends with \\r\\n")
        check(NO_BOM, not raw.startswith(BOM), "a line begins with a byte order mark")
        check(NOT_BLANK, bool(raw.strip()), "a line is blank")
        check(SIZE, len(raw) <= LARGE_BYTES, f"a line has {len(raw):,} bytes")
        check(UTF_8, _is_utf_8(raw), "a line is not UTF-8")

    def _take_piece(self, index: int, raw: bytes) -> None:
        if not self._pieces and not raw.lstrip().startswith(b"{"):
            self._judge.check(JUNK, False, "a line is not JSON")
            return
        self._pieces.append(raw)
        self._frames.append(index)
        if raw.rstrip().endswith(b"}") and self._is_whole():
            *earlier, _ = self._frames
            text = f"one message stands on {len(self._frames)} lines"
            self._pieces, self._frames = [], []
            self._judge.check(WHOLE, False, text, *earlier)
        elif len(self._pieces) > MOST_PIECES or sum(map(len, self._pieces)) > MOST_PIECES_BYTES:
            self.finish()

    def _is_whole(self) -> bool:
        # A line end may have stood between two values or inside a string.
        for glue in (b"\n", b"\\n"):
            try:
                value = read_json(glue.join(self._pieces))
            except ValueError:
                continue
            return isinstance(value, dict)
        return False


def _is_utf_8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


# The end. No frame tells it: whoever runs the agent says what it did.


ENDS: Final = Rule(
    "A-END-1",
    Severity.WARNING,
    "An agent exits when its stdin is closed.",
    "Read until the end of stdin, then stop what runs and exit: else it is left behind when a client dies.",
    "transports",
    "R-TRANS-8",
)
STATUS: Final = Rule(
    "A-END-2",
    Severity.NOTE,
    "An agent that ends with its stdin exits with status 0.",
    "Treat the end of stdin as what it is: nobody needs the agent any more.",
    "transports",
    "R-TRANS-8",
)
SURVIVES: Final = Rule(
    "A-END-3",
    Severity.ERROR,
    "An agent stays until its stdin is closed.",
    "See the end of its stderr, and catch what single requests raise.",
    "transports",
    "R-TRANS-7",
)
END_RULES: Final = (ENDS, STATUS, SURVIVES)


def judge_end(judge: Judge, *, exit_code: int | None, waited_s: float, had_to_be_terminated: bool) -> None:
    """Its stdin was closed; `exit_code` None: it was ended by a signal, or it is not known."""
    judge.check(SURVIVES, True, "")
    judge.check(ENDS, not had_to_be_terminated, f"it did not within {waited_s:.0f} s, and was terminated")
    if exit_code is not None and not had_to_be_terminated:
        judge.check(STATUS, exit_code == 0, f"the status is {exit_code}")


def judge_death(judge: Judge, how: str) -> None:
    """It ended by itself."""
    judge.check(SURVIVES, False, how)
