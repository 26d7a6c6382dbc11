"""Redacts recordings so that you can share them: names, addresses, keys, and file contents. README.md has the list."""

from __future__ import annotations

import json
import os
import pwd
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Final

from acp_tui.client.errors import ClientError
from acp_tui.client.safe_git import GitFailed, ask_git
from acp_tui.client.secrets.names import counts_tokens, without_scheme
from acp_tui.client.secrets.shapes import looks_random
from acp_tui.client.transcript.lines import open_recording
from acp_tui.client.transcript.store import create
from acp_tui.protocol.v1 import inbound, outbound  # noqa: F401 - loads all models of the protocol
from acp_tui.protocol.validators import keys_of
from acp_tui.protocol.wire import WireModel
from acp_tui.values import dataclass
from acp_tui.workbench.redact import json_paths
from acp_tui.workbench.redact.pseudonyms import NUMBER, Pseudonyms, Secret, number_stand_in
from acp_tui.workbench.redact.replacing import JoinedTexts, Redacted, Redactor, as_bytes, as_text, bytes_of


@dataclass(frozen=True, slots=True)
class RedactOptions:
    """What to replace in addition to what is found automatically."""

    secrets: Sequence[str] = ()
    drops_media: bool = False


@dataclass(slots=True)
class RedactionReport:
    """What was done, without any secret."""

    replaced: Sequence[Secret] = ()
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
BLANKS: Final = {
    "image": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg==",
    "audio": "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=",
}
"""A gray pixel and silence, in base64."""
MIN_DIGITS: Final = 4
"""A shorter number isn't a secret, whatever its name."""


class Redaction:
    """One recording's secrets, and how to replace them."""

    def __init__(self, redactor: Redactor, options: RedactOptions) -> None:
        self._redactor = redactor
        self._options = options
        self._streams = JoinedTexts(redactor)
        self._report = RedactionReport()
        self._readings = 0
        self._known_before = -1

    @property
    def is_to_be_read(self) -> bool:
        """Whether the last pass may have missed something that it learned only later."""
        return self._readings < MAX_READINGS and self._known_before != self._redactor.pseudonyms.version

    # Reading

    def read(self, lines: Iterable[bytes]) -> None:
        self._readings += 1
        self._known_before = self._redactor.pseudonyms.version
        reading = json_paths.RecordingPass()
        for number, line in enumerate(lines):
            text = as_text(line)
            value = _event(text)
            if value is None:
                self._redactor.redact(text)
                continue
            marked = reading.places(value)
            for folder in reading.folders:
                self._redactor.pseudonyms.learn_folders(folder)
            for each in json_paths.strings(text):
                self._note(number, each, _place(marked, each))
        self._streams.end()

    def _note(self, number: int, each: json_paths.JsonString, place: json_paths.Place | None) -> None:
        match place:
            case _ if each.is_number:
                self._number(each, place)
            case json_paths.Binary("image" | "audio"):
                pass
            case json_paths.TextPiece(is_base64=is_base64):
                text = as_text(bytes_of(each.text)) if is_base64 else each.text
                self._streams.see((number, each.start), place, text)
            case _:
                self._changed_text(each, place)

    # Writing

    def write(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        reading = json_paths.RecordingPass()
        for number, line in enumerate(lines):
            self._report.blobs_kept += b"H4sI" in line and len(_PACKED.findall(line))
            text = as_text(line)
            new = self._written(number, text, reading)
            yield line if new == text else new.encode("utf-8", "surrogateescape")

    def _written(self, number: int, text: str, reading: json_paths.RecordingPass) -> str:
        value = _event(text)
        if value is None:
            self._report.bad_lines += not text.isspace()
            return self._counted(self._redactor.redact(text))
        marked = reading.places(value)
        return json_paths.rewritten(
            text, json_paths.strings(text), lambda each: self._changed(number, each, _place(marked, each))
        )

    def _changed(self, number: int, each: json_paths.JsonString, place: json_paths.Place | None) -> str:
        match place:
            case _ if each.is_number:
                return self._counted_number(each, place)
            case json_paths.Binary("image" | "audio" as kind):
                return self._media(kind, each.text)
            case json_paths.TextPiece(is_base64=is_base64):
                return self._piece((number, each.start), each.text, is_base64)
            case json_paths.Binary():
                try:
                    bytes_of(each.text).decode()
                except UnicodeDecodeError:
                    self._report.blobs_kept += 1
                return self._counted(self._redactor.redact_base64(each.text))
            case _:
                return self._counted(self._changed_text(each, place))

    def _changed_text(self, each: json_paths.JsonString, place: json_paths.Place | None) -> Redacted:
        if isinstance(place, json_paths.Binary):
            return self._redactor.redact_base64(each.text)
        whole = self._named(each.text) if isinstance(place, json_paths.NamedSecret) else None
        redacted = self._redactor.redact(each.text, whole)
        is_own = redacted.found and is_own_word(each.text, each.path, is_key=each.is_key)
        return Redacted(each.text) if is_own else redacted

    def _named(self, text: str) -> Secret | None:
        secret = without_scheme(text)
        return self._redactor.pseudonyms.learn(secret, "key", is_everywhere=looks_random(secret, 8))

    def _number(self, each: json_paths.JsonString, place: json_paths.Place | None) -> Secret | None:
        """The secret that a number is; None if it isn't one."""
        pseudonyms = self._redactor.pseudonyms
        digits = [char for char in each.text if char.isdigit()]
        if len(digits) < MIN_DIGITS or {*digits} == {NUMBER}:
            return None
        if isinstance(place, json_paths.NamedSecret) and not counts_tokens(each.path[-1]):
            return pseudonyms.learn_number(each.text)
        return pseudonyms.secrets[each.text] if each.text in pseudonyms.numbers else None

    def _counted_number(self, each: json_paths.JsonString, place: json_paths.Place | None) -> str:
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

    def _media(self, kind: str, text: str) -> str:
        if not self._options.drops_media:
            self._report.media_kept += 1
            return text
        self._report.media_left_out += text != BLANKS[kind]
        return BLANKS[kind]

    @staticmethod
    def _counted(redacted: Redacted) -> str:
        for place in redacted.found:
            place.secret.count += 1
        return redacted.text

    def report(self) -> RedactionReport:
        self._report.replaced = tuple(self._redactor.pseudonyms.replaced())
        return self._report


def _place(marked: json_paths.Places, each: json_paths.JsonString) -> json_paths.Place | None:
    return None if each.is_key else marked.get(each.path)


def _event(text: str) -> dict[str, Any] | None:
    """Parse a line; return None if it isn't an event."""
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


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


def is_own_word(text: str, path: json_paths.Path, *, is_key: bool) -> bool:
    """Whether a string belongs to the protocol or the recording format."""
    if is_key:
        return len(path) == 1 or text in _keys()
    return path[-1:] != () and path[-1] in _NAMING and _WORD.fullmatch(text) is not None


@cache
def _keys() -> frozenset[str]:
    return _RPC | {key for model in _models(WireModel) for key in keys_of(model).values()}


def _models(model: type[WireModel]) -> list[type[WireModel]]:
    below = [each for sub in model.__subclasses__() for each in _models(sub)]
    return [model, *below]


def redact(
    source: Path,
    out: Path,
    options: RedactOptions,
    environ: Mapping[str, str],
    host: str,
    full_names: Iterable[str] = (),
    later: Sequence[Path] = (),
) -> RedactionReport:
    """Write a redacted copy of a recording, and of `later` ones below it, to a new file only for its owner. Blocks.

    `environ`, `host`, and `full_names` describe who made it and where. Memory holds one line, the ends of texts in
    pieces, and the known secrets.

    Raises ClientError, and then leaves nothing.
    """
    open_recording(source, *later).close()
    if os.path.lexists(out):
        raise ClientError(f"{out} exists and won't be overwritten; give the redacted recording another name")
    pseudonyms = Pseudonyms()
    for text in options.secrets:
        pseudonyms.learn(text, "given")
    pseudonyms.learn_environment(environ, host, full_names)
    try:
        return _written((source, *later), out, Redaction(Redactor(pseudonyms), options))
    except FileExistsError as error:
        raise ClientError(f"{out} exists and won't be overwritten") from error
    except OSError as error:
        raise ClientError(f"{out} can't be written: {error.strerror or error}") from error


def _written(sources: Sequence[Path], out: Path, redaction: Redaction) -> RedactionReport:
    with ExitStack() as opened:
        old = [opened.enter_context(source.open("rb")) for source in sources]
        sizes = [os.fstat(file.fileno()).st_size for file in old]
        while redaction.is_to_be_read:
            redaction.read(_lines(old, sizes))
        new = create(out)
        try:
            with new:
                new.writelines(redaction.write(_lines(old, sizes)))
        except BaseException:
            out.unlink(missing_ok=True)  # an incomplete file is worse than none
            raise
    return redaction.report()


def _lines(files: Sequence[BinaryIO], sizes: Sequence[int]) -> Iterator[bytes]:
    """The lines that existed when the sizes were read, because a file may still grow."""
    for file, size in zip(files, sizes, strict=True):
        file.seek(0)
        while size > 0 and (line := file.readline()):
            size -= len(line)
            is_cut = not line.endswith(b"\n") and file is not files[-1]
            yield line + b"\n" if is_cut else line


_VARIABLES: Final = ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "FULLNAME", "DEBFULLNAME")


async def full_names(environ: Mapping[str, str]) -> frozenset[str]:
    """All known full names."""
    names = {_of_account(), *(environ.get(name, "") for name in _VARIABLES)}
    with suppress(GitFailed):
        # Only git's global settings, because those of a project may be someone else's.
        told = await ask_git(Path("/"), "config", "--global", "--get", "user.name")
        names.add(told.output.decode("utf-8", "replace"))
    return frozenset(name for each in names if (name := each.strip()))


def _of_account() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_gecos.partition(",")[0]
    except KeyError:  # a container whose user is only a number
        return ""
