"""The passes over a recording: the first finds secrets, the second finds split ones, and the last rewrites the lines.

`redact` opens the files. `Shortcuts` lets nearly all lines skip a close look: a line with only clean strings isn't
parsed; a line whose strings say nothing about each other gets them replaced one by one; and a piece of a text usually
has the same surroundings as the piece before.
"""

from __future__ import annotations

import io
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from PIL import Image, UnidentifiedImageError

from acp_tui.client.secrets.names import counts_tokens, without_scheme
from acp_tui.client.secrets.shapes import looks_random
from acp_tui.protocol.schemas import fields_of
from acp_tui.protocol.v1 import inbound, outbound  # noqa: F401 - loads all models of the protocol
from acp_tui.protocol.wire import WireModel
from acp_tui.values import dataclass
from acp_tui.workbench.redact.ledger import NUMBER, Secret, number_stand_in
from acp_tui.workbench.redact.places import (
    Blob,
    Contents,
    FileContent,
    JsonString,
    Media,
    NamedSecret,
    Path,
    Piece,
    Place,
    Places,
    RecordingPass,
    decoded,
    encoded,
    literals,
    may_have_blocks,
    rewritten,
    strings,
    tells_a_place,
)
from acp_tui.workbench.redact.texts import (
    OVERLAP,
    Redacted,
    Redactor,
    SecretStart,
    Streams,
    as_bytes,
    as_text,
    bytes_of,
    total,
)


@dataclass(frozen=True, slots=True)
class RedactOptions:
    """What to replace in addition to what is found automatically."""

    secrets: Sequence[str] = ()
    drop_contents: Sequence[str] = ()
    keep_contents: Sequence[str] | None = None
    """If given, the contents of all other files are removed."""
    drops_media: bool = False

    @property
    def leaves_contents_out(self) -> bool:
        """Whether the contents of some files are removed."""
        return bool(self.drop_contents) or self.keep_contents is not None


@dataclass(slots=True)
class Report:
    """What was done, without any secret."""

    replaced: Sequence[Secret] = ()
    files_left_out: int = 0
    media_left_out: int = 0
    media_kept: int = 0
    """Images and sounds that weren't examined."""
    blobs_kept: int = 0
    """Binary data: only secrets readable as text were found."""
    bad_lines: int = 0
    """Lines that aren't events and were redacted as text."""


MAX_READINGS: Final = 2
"""The first pass finds secrets. The second finds split ones, including secrets that were discovered later."""
_PACKED: Final = re.compile(rb"(?<![A-Za-z0-9+/])H4sI[A-Za-z0-9+/]{20}")
"""gzip data in base64, which isn't unpacked."""
MIN_DIGITS: Final = 4
"""A shorter number isn't a secret, whatever its name."""


class Redaction:
    """One recording's secrets, and how to replace them."""

    def __init__(self, redactor: Redactor, options: RedactOptions) -> None:
        self._redactor = redactor
        self._contents = Contents(options.drop_contents, options.keep_contents)
        self._options = options
        self._streams = Streams(redactor)
        self._shortcuts = Shortcuts(redactor, every_place_counts=options.leaves_contents_out)
        self._report = Report()
        self._readings = 0
        self._known_before = -1
        self._news_until = 0
        """After the last line that revealed something new. Later lines were read with full knowledge."""
        self._settled = bytearray()
        """For each line, whether it's a known piece of a text with nothing else to check, as of `_settled_by`."""
        self._settled_by = -1

    @property
    def is_to_be_read(self) -> bool:
        """Whether the last pass may have missed something that it learned only later."""
        return self._readings < MAX_READINGS and self._known_before != self._redactor.ledger.version

    # Reading

    def read(self, lines: Iterable[bytes]) -> None:
        """Record every secret."""
        self._readings += 1
        ledger = self._redactor.ledger
        self._known_before = known_then = ledger.version
        reading = RecordingPass(self._contents)
        number = -1
        for number, line in enumerate(lines):
            if self._is_read(number):
                self._streams.end()
                if self._is_read(number):  # ending them revealed nothing new
                    break
            text = as_text(line)
            known = framed(text)
            piece = self._shortcuts.piece(known)
            self._settle(number, piece is not None)
            if known is not None and piece is not None:
                self._streams.see((number, known.start), piece, known.text)
            elif self._readings == 1 or may_hold_a_piece(text) or "@" in text:
                # In a second pass, only a host can be new: after a user who wasn't known yet.
                self._read_line(number, text, known, reading)
            if known_then != ledger.version:
                known_then, self._news_until = ledger.version, number + 1
        self._streams.end()
        # A secret longer than the streams' overlap may have been found in only a part of itself.
        if known_then != ledger.version or ledger.longest_with_line_end > OVERLAP:
            self._news_until = number + 1

    def _is_read(self, number: int) -> bool:
        """Whether there is nothing to find from this line on beyond the previous pass."""
        has_news = self._known_before != self._redactor.ledger.version
        return self._readings > 1 and not has_news and number >= self._news_until

    def _settle(self, number: int, is_settled: bool) -> None:
        if self._settled_by != self._redactor.ledger.version:
            self._settled = bytearray(number)
            self._settled_by = self._redactor.ledger.version
        self._settled[number : number + 1] = bytes((is_settled,))

    def _is_settled(self, number: int) -> bool:
        is_known = self._settled_by == self._redactor.ledger.version and number < len(self._settled)
        return is_known and bool(self._settled[number])

    def _read_line(self, number: int, text: str, known: Framed | None, reading: RecordingPass) -> None:
        value = _event(text)
        if value is None:
            self._redactor.redact(text)
            return
        if self._shortcuts.line(text) is not None:
            return
        places = reading.places(value)
        for folder in reading.folders:
            self._redactor.ledger.learn_folders(folder)
        its = list(strings(text))
        for each in its:
            self._note(number, each, _place(places, each))
        self._learn_shortcut(known, its, places)

    def _note(self, number: int, each: JsonString, place: Place | None) -> None:
        match place:
            case _ if each.is_number:
                self._number(each, place)
            case Media() | FileContent():
                pass
            case Piece(is_base64=is_base64):
                text = as_text(bytes_of(each.text)) if is_base64 else each.text
                self._streams.see((number, each.start), place, text)
            case _:
                self._changed_text(each, place)

    def _learn_shortcut(self, framed: Framed | None, its: list[JsonString], places: Places) -> None:
        """Remember the surroundings of a piece, if nothing else in the line matters."""
        if framed is None:
            return
        pieces = [place for each in its if isinstance(place := _place(places, each), Piece)]
        others = [each for each in its if each.start != framed.start]
        if len(pieces) == 1 and len(others) < len(its) and not any(self._is_secret(places, each) for each in others):
            self._shortcuts.remember(framed, pieces[0])

    def _is_secret(self, places: Places, each: JsonString) -> bool:
        place = _place(places, each)
        if each.is_number:
            return self._number(each, place) is not None
        return place is not None or not self._redactor.is_clean(each.text)

    # Writing

    def write(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Yield every line without its secrets."""
        reading = RecordingPass(self._contents)
        split = {number for number, _ in self._streams.split}
        for number, line in enumerate(lines):
            self._report.blobs_kept += b"H4sI" in line and len(_PACKED.findall(line))
            if number not in split and self._is_settled(number):
                yield line
                continue
            text = as_text(line)
            known = framed(text)
            if known is not None and self._shortcuts.piece(known) is not None:
                new = self._with_piece(number, text, known)
            else:
                new = self._written(number, text, known, reading)
            yield line if new == text else new.encode("utf-8", "surrogateescape")

    def _with_piece(self, number: int, text: str, known: Framed) -> str:
        redacted = self._streams.split.get((number, known.start))
        if redacted is None:
            return text
        return rewritten(text, (known.string,), lambda _: self._counted(redacted))

    def _written(self, number: int, text: str, known: Framed | None, reading: RecordingPass) -> str:
        value = _event(text)
        if value is None:
            self._report.bad_lines += not text.isspace()
            return self._counted(self._redactor.redact(text))
        quick = self._shortcuts.line(text)
        if quick is not None:
            total(quick.found)
            return quick.text
        places = reading.places(value)
        its = list(strings(text))
        new = rewritten(text, its, lambda each: self._changed(number, each, _place(places, each)))
        self._learn_shortcut(known, its, places)
        return new

    def _changed(self, number: int, each: JsonString, place: Place | None) -> str:
        match place:
            case _ if each.is_number:
                return self._counted_number(each, place)
            case Media():
                return self._media(each.text)
            case FileContent(path, is_base64):
                return self._left_out(path, each.text, is_base64)
            case Piece(is_base64=is_base64):
                return self._piece((number, each.start), each.text, is_base64)
            case Blob():
                return self._blob(each.text)
            case _:
                return self._counted(self._changed_text(each, place))

    def _changed_text(self, each: JsonString, place: Place | None) -> Redacted:
        if isinstance(place, Blob):
            return self._redactor.redact_base64(each.text)
        whole = self._named(each.text) if isinstance(place, NamedSecret) else None
        redacted = self._redactor.redact(each.text, whole)
        is_own = redacted.found and is_own_word(each.text, each.path, is_key=each.is_key)
        return Redacted(each.text) if is_own else redacted

    def _named(self, text: str) -> Secret | None:
        secret = without_scheme(text)
        return self._redactor.ledger.learn(secret, "key", is_everywhere=looks_random(secret, 8))

    def _number(self, each: JsonString, place: Place | None) -> Secret | None:
        """The secret that a number is; None if it isn't one."""
        ledger = self._redactor.ledger
        digits = [char for char in each.text if char.isdigit()]
        if len(digits) < MIN_DIGITS or {*digits} == {NUMBER}:
            return None
        if isinstance(place, NamedSecret) and not counts_tokens(each.path[-1]):
            return ledger.learn_number(each.text)
        return ledger.secrets[each.text] if each.text in ledger.numbers else None

    def _counted_number(self, each: JsonString, place: Place | None) -> str:
        secret = self._number(each, place)
        if secret is None:
            return each.text
        secret.count += 1
        return number_stand_in(each.text)

    def _piece(self, where: tuple[int, int], text: str, is_base64: bool) -> str:
        data = bytes_of(text) if is_base64 else b""
        plain = as_text(data) if is_base64 else text
        new = self._counted(self._streams.split.get(where) or self._redactor.redact(plain, goes_on=True))
        if not is_base64 or new == plain:
            return text if is_base64 else new
        return b64encode(as_bytes(new, data)).decode()

    def _left_out(self, path: str, text: str, is_base64: bool) -> str:
        if not is_base64:
            return self._contents.filler(path, text)
        data = bytes_of(text)
        return b64encode(as_bytes(self._contents.filler(path, as_text(data)), data)).decode()

    def _media(self, text: str) -> str:
        drops = self._options.drops_media
        new = blanked(text) if drops else text
        self._report.media_left_out += new != text
        self._report.media_kept += not drops
        return new

    def _blob(self, text: str) -> str:
        try:
            bytes_of(text).decode()
        except UnicodeDecodeError:
            self._report.blobs_kept += 1
        return self._counted(self._redactor.redact_base64(text))

    @staticmethod
    def _counted(redacted: Redacted) -> str:
        total(redacted.found)
        return redacted.text

    def report(self) -> Report:
        """Report what was done."""
        self._report.replaced = tuple(self._redactor.ledger.replaced())
        self._report.files_left_out = len(self._contents.dropped)
        return self._report


def _place(places: Places, each: JsonString) -> Place | None:
    return None if each.is_key else places.get(each.path)


def _event(text: str) -> dict[str, Any] | None:
    """Parse a line; return None if it isn't an event."""
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


MAX_PLAIN: Final = 50_000
MAX_PLAIN_CHARS: Final = 100
MAX_FRAMES: Final = 1_000

_TIME: Final = re.compile(r'\{"t":\d+(?:\.\d+)?,')
_FRAME_KEY: Final = '"frame":'
_TEXT_KEY: Final = '"text":"'
_PLAIN: Final = r'[^"\\\x00-\x1f]*+'
_TEXT: Final = re.compile(rf'{_PLAIN}(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{{4}}){_PLAIN})*+(?=")')
_STREAMED: Final = ('_chunk"', '_message"', "terminal_update", "terminal_output", '"session/prompt"')


class Framed(NamedTuple):
    """A line that looks like one piece of a text, with its surroundings except for the time."""

    around: tuple[str, str]
    start: int
    """Where the text begins, including its quote."""
    end: int
    literal: str

    @property
    def text(self) -> str:
        """The piece's text."""
        return decoded(self.literal)

    @property
    def string(self) -> JsonString:
        """The piece as a JSON string."""
        return JsonString(self.start, self.end, self.text, (), is_key=False)


class Shortcuts:
    """Knows what needn't be checked again. Forgets everything when new secrets are learned."""

    def __init__(self, redactor: Redactor, *, every_place_counts: bool) -> None:
        """If the contents of files are removed, any line may say something about another."""
        self._redactor = redactor
        self._every_place_counts = every_place_counts
        self._plain: set[str] = set()
        """JSON literals that contain no secret and describe no place."""
        self._pieces: dict[tuple[str, str], Piece] = {}
        self._known_then = -1

    def piece(self, framed: Framed | None) -> Piece | None:
        """The text that a line is a piece of, if its surroundings are known."""
        self._forget_what_may_be_wrong()
        return None if framed is None else self._pieces.get(framed.around)

    def remember(self, framed: Framed, piece: Piece) -> None:
        """Record that lines with these surroundings contain only a piece to check."""
        if not self._every_place_counts:
            self._forget_what_may_be_wrong()
            self._pieces[framed.around] = piece

    def line(self, text: str) -> Redacted | None:
        """Redact a JSON line string by string; return None if places matter."""
        if self._every_place_counts or _FRAME_KEY not in text or '"headers"' in text or may_have_blocks(text):
            return None
        if any(map(text.__contains__, self._redactor.ledger.numbers)):
            return None
        self._forget_what_may_be_wrong()
        written = literals(text)
        if self._plain.issuperset(written):
            return Redacted(text)
        return self._replaced(text, {*written} - self._plain)

    def _replaced(self, text: str, written: set[str]) -> Redacted | None:
        found: list[SecretStart] = []
        for each in written:
            said = decoded(f'"{each}"')
            if tells_a_place(said):
                return None
            redacted = self._redactor.redact(said)
            if not redacted.found:
                if len(each) <= MAX_PLAIN_CHARS:
                    self._plain.add(each)
                continue
            if may_be_own_word(said) or each[0] in " ,:[]{}":  # the text between two strings may look the same
                return None
            old = f'"{each}"'
            found += redacted.found * text.count(old)
            text = text.replace(old, encoded(redacted.text, old))
        return Redacted(text, tuple(found))

    def _forget_what_may_be_wrong(self) -> None:
        known = self._redactor.ledger.version
        if known != self._known_then or len(self._plain) > MAX_PLAIN or len(self._pieces) > MAX_FRAMES:
            self._plain.clear()
            self._pieces.clear()
            self._known_then = known


def framed(line: str) -> Framed | None:
    """Split a line into a text and its surroundings; None if it doesn't look like a piece."""
    at = line.find(_TEXT_KEY)
    time = _TIME.match(line) if at >= 0 else None
    if time is None:
        return None
    start = at + len(_TEXT_KEY) - 1
    text = _TEXT.match(line, start + 1)
    if text is None:
        return None
    end = text.end() + 1
    return Framed((line[time.end() : start], line[end:]), start, end, line[start:end])


def may_hold_a_piece(line: str) -> bool:
    """Whether the line must be parsed to know that it contains no piece of a text."""
    return _FRAME_KEY not in line or any(map(line.__contains__, _STREAMED)) or may_have_blocks(line)


# fmt: off
_NAMING: Final = frozenset((
    "type", "method", "sessionUpdate", "kind", "status", "stopReason", "jsonrpc", "outcome", "action", "priority",
    "role", "mode", "format", "version",
))
"""The keys whose values are protocol words too."""
_RPC: Final = frozenset((
    "jsonrpc", "id", "method", "params", "result", "error", "code", "message", "data", "requestId",
))
# fmt: on
_WORD: Final = re.compile(r"[a-z][a-z0-9]*(?:[_/-][a-z0-9]+)*|2\.0")


def is_own_word(text: str, path: Path, *, is_key: bool) -> bool:
    """Whether a string belongs to the protocol or the recording format."""
    if is_key:
        return len(path) == 1 or text in _keys()
    return path[-1:] != () and path[-1] in _NAMING and _WORD.fullmatch(text) is not None


def may_be_own_word(text: str) -> bool:
    """Whether a string can belong to the protocol somewhere."""
    return _WORD.fullmatch(text) is not None or text in _keys()


@cache
def _keys() -> frozenset[str]:
    return _RPC | {field.key for model in _models(WireModel) for field in fields_of(model).values()}


def _models(model: type[WireModel]) -> list[type[WireModel]]:
    below = [each for sub in model.__subclasses__() for each in _models(sub)]
    return [model, *below]


GRAY: Final = 128
MAX_PIXELS: Final = 50_000_000
_SILENCE: Final = (
    b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00"
    b"\x02\x00\x10\x00data\x00\x00\x00\x00"
)


def blanked(data: str) -> str:
    """A gray image of the same size and format, or silence; in base64."""
    try:
        with Image.open(io.BytesIO(bytes_of(data))) as image:
            size, kind = image.size, image.format or "PNG"
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError):
        return b64encode(_SILENCE).decode()
    if size[0] * size[1] > MAX_PIXELS:
        size, kind = (1, 1), "PNG"
    blank = io.BytesIO()
    Image.new("L", size, GRAY).save(blank, kind)
    return b64encode(blank.getvalue()).decode()
