"""Makes a recording that can be given away of one that cannot: reads it twice to know its secrets, then writes it anew.

Memory holds one line at a time, and what is known to be secret.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from acp_tui.client.errors import ClientError
from acp_tui.client.redaction.contents import Contents
from acp_tui.client.redaction.json_strings import JsonString, rewritten, strings
from acp_tui.client.redaction.ledger import Ledger
from acp_tui.client.redaction.patterns import looks_random
from acp_tui.client.redaction.pictures import blanked
from acp_tui.client.redaction.places import Blob, FileContent, Media, Named, Piece, Place, Places, Reading
from acp_tui.client.redaction.stand_ins import Secret
from acp_tui.client.redaction.streams import Streams
from acp_tui.client.redaction.texts import Redacted, Redactor, as_bytes, as_text, bytes_of, total
from acp_tui.client.redaction.words import is_own_word
from acp_tui.client.transcript.reader import open_recording
from acp_tui.client.transcript.store import create

MAX_READINGS: Final = 2
"""The first finds secrets, the second where they are split: also those that were only found behind that place."""


class RedactionFailed(ClientError):
    """Nothing was written."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is to be replaced beyond what is found by itself."""

    secrets: Sequence[str] = ()
    drop_contents: Sequence[str] = ()
    keep_contents: Sequence[str] | None = None
    """Where given, the contents of all other files are left out."""
    drops_media: bool = False


@dataclass(slots=True)
class Report:
    """What was done, without any secret."""

    replaced: Sequence[Secret] = ()
    files_left_out: int = 0
    media_left_out: int = 0
    media_kept: int = 0
    """Images and sounds that nobody has looked into."""
    blobs_kept: int = 0
    """Bytes that are no text: only what stands in them as text was found."""
    bad_lines: int = 0
    """Lines that are no event; they were looked at as text."""


def redact(source: Path, out: Path, wishes: Wishes, environ: Mapping[str, str], host: str) -> Report:
    """Write what can be given away of a recording to a new file, for its owner only. It blocks.

    Raises: RecordingUnreadable, RedactionFailed.
    """
    ledger = Ledger()
    for text in wishes.secrets:
        ledger.learn(text, "given")
    ledger.learn_environment(environ, host)
    open_recording(source).close()
    try:
        return _written(source, out, _Redaction(ledger, wishes))
    except FileExistsError as error:
        raise RedactionFailed(f"{out} exists: nothing is overwritten") from error
    except OSError as error:
        raise RedactionFailed(f"{error.filename or out}: {error.strerror or error}") from error


def _written(source: Path, out: Path, redaction: _Redaction) -> Report:
    with create(out) as new:
        try:
            with source.open("rb") as old:
                size = source.stat().st_size
                while redaction.is_to_be_read:
                    redaction.read(_lines(old, size))
                new.writelines(redaction.write(_lines(old, size)))
        except BaseException:
            out.unlink(missing_ok=True)  # half a recording is worse than none
            raise
    return redaction.report()


def _lines(file: BinaryIO, size: int) -> Iterator[bytes]:
    """The lines that were there when the size was asked for: it may still be written."""
    file.seek(0)
    while file.tell() < size and (line := file.readline()):
        yield line


class _Redaction:
    """One recording's secrets, and the ways to replace them."""

    def __init__(self, ledger: Ledger, wishes: Wishes) -> None:
        self._redactor = Redactor(ledger)
        self._contents = Contents(wishes.drop_contents, wishes.keep_contents)
        self._drops_media = wishes.drops_media
        self._streams = Streams(self._redactor)
        self._report = Report()
        self._readings = 0
        self._known_before = -1

    @property
    def is_to_be_read(self) -> bool:
        """Whether the last reading may have passed by what it came to know only later."""
        return self._readings < MAX_READINGS and self._known_before != len(self._redactor.ledger)

    # Reading

    def read(self, lines: Iterator[bytes]) -> None:
        """Take note of every secret."""
        self._readings += 1
        self._known_before = len(self._redactor.ledger)
        reading = Reading(self._contents)
        self._streams = Streams(self._redactor)
        for number, line in enumerate(lines):
            text, value = _decoded(line)
            if value is None:
                self._redactor.redact(text)
                continue
            places = reading.places(value)
            for folder in reading.folders:
                self._redactor.ledger.learn_folders(folder)
            for each in self._strings(text, places):
                self._note(number, each, _place(places, each))
        self._streams.end()

    def _strings(self, text: str, places: Places) -> Iterator[JsonString]:
        """Those of a line that may be more than is known of them."""
        return strings(text, self._redactor.clean, {path[-1] for path in places})

    def _note(self, number: int, each: JsonString, place: Place | None) -> None:
        match place:
            case Media() | FileContent():
                pass
            case Piece(is_base64=is_base64) if not is_base64:
                self._streams.see((number, each.start), place, each.text)
            case Piece():
                data = bytes_of(each.text)
                self._streams.see((number, each.start), place, as_text(data))
            case _:
                self._changed_text(each, place)

    # Writing

    def write(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        """Every line without its secrets."""
        reading = Reading(self._contents)
        for number, line in enumerate(lines):
            text, value = _decoded(line)
            if value is None:
                self._report.bad_lines += not text.isspace()
                yield self._counted(self._redactor.redact(text)).encode("utf-8", "surrogateescape")
            else:
                yield self._line(number, text, reading.places(value))

    def _line(self, number: int, text: str, places: Places) -> bytes:
        def change(each: JsonString) -> str:
            return self._changed(number, each, _place(places, each))

        return rewritten(text, self._strings(text, places), change).encode("utf-8", "surrogateescape")

    def _changed(self, number: int, each: JsonString, place: Place | None) -> str:
        match place:
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
        whole = self._named(each.text) if isinstance(place, Named) else None
        redacted = self._redactor.redact(each.text, whole)
        is_own = redacted.found and is_own_word(each.text, each.path, is_key=each.is_key)
        return Redacted(each.text) if is_own else redacted

    def _named(self, text: str) -> Secret | None:
        scheme, space, rest = text.partition(" ")
        secret = rest.strip() if space and scheme.lower() in ("bearer", "basic", "token") else text
        return self._redactor.ledger.learn(secret, "key", is_everywhere=looks_random(secret, 8))

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
        new = blanked(text) if self._drops_media else text
        self._report.media_left_out += new != text
        self._report.media_kept += not self._drops_media
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
        """What was done."""
        self._report.replaced = tuple(self._redactor.ledger.replaced())
        self._report.files_left_out = len(self._contents.dropped)
        return self._report


def _place(places: Places, each: JsonString) -> Place | None:
    return None if each.is_key else places.get(each.path)


def _decoded(line: bytes) -> tuple[str, Any]:
    """A line as text, and what it says; None where it is no event."""
    text = as_text(line)
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return text, None
    return text, value if isinstance(value, dict) else None
