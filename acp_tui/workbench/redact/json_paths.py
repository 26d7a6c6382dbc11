"""The strings in a recording's lines, and what their place says about them: a piece of a stream, or a secret."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from acp_tui.client.secrets.names import is_secret_name
from acp_tui.client.secrets.shapes import looks_random
from acp_tui.client.transcript.lines import mapping
from acp_tui.values import dataclass

Path: TypeAlias = tuple[str | int, ...]
"""Keys and indexes, from the top."""

_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},]|[-\d][-+.\deE]*', re.DOTALL)
_DECODER: Final = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class JsonString:
    """One string or number of a line."""

    start: int
    end: int
    """Including its quotes."""
    text: str
    path: Path
    """For a key: its object's path and the key itself."""
    is_key: bool
    is_number: bool = False
    """A number: as written, without quotes."""


def strings(line: str) -> Iterator[JsonString]:
    """The strings and numbers of a JSON line, in order."""
    path: list[str | int] = []
    is_key = False
    for token in _TOKEN.finditer(line):
        match token[0]:
            case "{":
                path.append("")
                is_key = True
            case "[":
                path.append(0)
            case "}" | "]":
                path.pop()
                is_key = False
            case ",":
                last = path[-1] if path else ""
                if isinstance(last, int):
                    path[-1] = last + 1
                else:
                    is_key = True
            case literal if literal[0] == '"':
                text = decoded(literal)
                if is_key:
                    path[-1] = text
                yield JsonString(*token.span(), text, tuple(path), is_key)
                is_key = False
            case number:
                yield JsonString(*token.span(), number, tuple(path), is_key=False, is_number=True)


def rewritten(line: str, its: Iterable[JsonString], change: Callable[[JsonString], str]) -> str:
    """Replace the strings that `change` returns a different text for."""
    parts: list[str] = []
    at = 0
    for each in its:
        text = change(each)
        if text != each.text:
            like = line[each.start : each.end]
            parts += [line[at : each.start], text if each.is_number else encoded(text, like)]
            at = each.end
    return "".join((*parts, line[at:])) if parts else line


def decoded(literal: str) -> str:
    """Decode a JSON string, including its quotes."""
    if "\\" not in literal:
        return literal[1:-1]
    text = _DECODER.decode(literal)
    assert isinstance(text, str)
    return text


def encoded(text: str, like: str) -> str:
    # Half of a surrogate pair can only be written as an escape, and was.
    return json.dumps(text, ensure_ascii=like.isascii() or "\\u" in like)


MAX_DEPTH: Final = 200
_SAID_OF_SECRETS: Final = ("provider", "type", "kind", "protocol", "description", "title", "label", "placeholder")
"""Keys in an object with a secret's name whose values aren't secret."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of a text that continues elsewhere."""

    stream: tuple[Any, ...]
    """Identifies the text."""
    message: str | None = ""
    """Identifies the message; None if not given, which means the same as for the previous piece."""
    line_end: str = ""
    """The text between pieces."""
    is_base64: bool = False
    is_alone: bool = False
    """It may also be a complete text, and a message ends where another begins."""


@dataclass(frozen=True, slots=True)
class Binary:
    kind: str
    """Its MIME type up to the slash, perhaps "image" or "audio", or ""."""


@dataclass(frozen=True, slots=True)
class NamedSecret:
    """A value that is secret because of its name."""


Place: TypeAlias = TextPiece | Binary | NamedSecret
Places: TypeAlias = dict[Path, Place]


class RecordingPass:
    """One pass over a recording, line by line."""

    def __init__(self) -> None:
        self.folders: list[str] = []
        """The folders of sessions in the last line."""
        self._updates = 0
        """The number of tool call updates with several blocks."""
        self._places: Places = {}

    def places(self, line: Any) -> Places:
        """What the strings of a decoded line are. Strings without an entry are ordinary."""
        self._places, self.folders = {}, []
        if isinstance(line, dict):
            self._event(line)
            self._walk(line, (), 0)
        return self._places

    def _event(self, line: Mapping[str, Any]) -> None:
        kind = line.get("type")
        if kind in ("in", "out") and isinstance(line.get("frame"), dict):
            self._frame(line["frame"])
        elif kind in ("in", "out", "stderr"):
            self._written(line, (kind,), line_end="\n")
        elif kind == "terminal_output":
            self._written(line, ("terminal", line.get("session"), line.get("terminal_id")))
        elif isinstance(line.get("cwd"), str):
            self.folders.append(line["cwd"])

    def _written(self, line: Mapping[str, Any], stream: tuple[Any, ...], line_end: str = "") -> None:
        is_base64 = "base64" in line
        self._piece(("base64" if is_base64 else "text",), stream, line_end, is_base64=is_base64)

    def _piece(self, path: Path, stream: tuple[Any, ...], line_end: str = "", *, is_base64: bool = False) -> None:
        self._places[path] = TextPiece(tuple(map(str, stream)), "", line_end, is_base64)

    def _frame(self, frame: Mapping[str, Any]) -> None:
        params = mapping(frame.get("params"))
        match frame.get("method"):
            case "session/update":
                self._update(params, mapping(params.get("update")))
            case "session/prompt":
                self._prompt(params.get("prompt"), frame.get("id"))
        if isinstance(params.get("cwd"), str):
            self.folders.append(params["cwd"])

    def _update(self, params: Mapping[str, Any], update: Mapping[str, Any]) -> None:
        at: Path = ("frame", "params", "update")
        kind = update.get("sessionUpdate")
        if kind in ("terminal_output_chunk", "terminal_update"):
            terminal = (params.get("sessionId"), "terminal", update.get("terminalId"))
            self._piece((*at, "data") if kind.endswith("chunk") else (*at, "output", "data"), terminal, is_base64=True)
        elif isinstance(kind, str) and kind.endswith("_chunk"):
            about = (params.get("sessionId"), kind, *map(update.get, ("compactionId", "toolCallId")))
            message = update.get("messageId")
            within = ("content",) if "content" in mapping(update.get("content")) else ()
            self._places[*at, "content", *within, "text"] = TextPiece(
                tuple(map(str, about)), None if message is None else str(message)
            )
        elif kind in ("user_message", "agent_message", "agent_thought"):
            for number, block in enumerate(update.get("content") or ()):
                if isinstance(mapping(block).get("text"), str):
                    self._places[*at, "content", number, "text"] = TextPiece(
                        (str(params.get("sessionId")), str(kind)), str(update.get("messageId"))
                    )
        elif isinstance(blocks := update.get("content"), list) and len(blocks) > 1:
            self._blocks(blocks, (*at, "content"))
        meta = mapping(update.get("_meta"))
        for name in ("terminal_output", "terminal_output_delta"):
            if name in meta:
                terminal_id = mapping(meta[name]).get("terminal_id")
                self._piece((*at, "_meta", name, "data"), (params.get("sessionId"), "terminal", terminal_id))

    def _prompt(self, blocks: Any, request_id: Any) -> None:
        for at, block in enumerate(blocks if isinstance(blocks, list) else ()):
            if isinstance(mapping(block).get("text"), str):
                self._piece(("frame", "params", "prompt", at, "text"), ("prompt", request_id))

    def _blocks(self, blocks: list[Any], at: Path) -> None:
        """A text may continue from one block to the next. Each update repeats all of it."""
        self._updates += 1
        for number, block in enumerate(blocks):
            if isinstance(mapping(mapping(block).get("content")).get("text"), str):
                self._places[*at, number, "content", "text"] = TextPiece(("blocks",), str(self._updates), is_alone=True)

    def _walk(self, value: Any, path: Path, depth: int) -> None:
        if depth > MAX_DEPTH:
            return
        if isinstance(value, list):
            self._options(value, path)
            for at, item in enumerate(value):
                self._walk(item, (*path, at), depth + 1)
        elif isinstance(value, dict):
            self._object(value, path)
            for key, item in value.items():
                if is_secret_name(key):
                    self._all_named(item, (*path, key))
                else:
                    self._walk(item, (*path, key), depth + 1)

    def _object(self, value: Mapping[str, Any], path: Path) -> None:
        match value:
            case {"type": "image" | "audio" as kind, "data": str()}:
                self._places[*path, "data"] = Binary(kind)
            case {"type": "resource", "resource": {"uri": str(), "blob": _, **resource}}:
                kind = str(resource.get("mimeType", "")).partition("/")[0]
                self._places[*path, "resource", "blob"] = Binary(kind)
            case {"name": str(name), "value": str(text)}:
                if is_secret_name(name) or ("headers" in path and looks_random(text)):
                    self._places[*path, "value"] = NamedSecret()

    def _all_named(self, value: Any, path: Path) -> None:
        for below in _texts(value, path):
            if len(below) == len(path) or below[-1] not in _SAID_OF_SECRETS:
                self._places.setdefault(below, NamedSecret())

    def _options(self, words: list[Any], path: Path) -> None:
        """In a command line, the word after an option with a secret's name is secret."""
        for at, word in enumerate(words[:-1]):
            if isinstance(word, str) and word.startswith("-") and is_secret_name(word):
                self._places[*path, at + 1] = NamedSecret()


def _texts(value: Any, path: Path, depth: int = 0) -> Iterator[Path]:
    """Where the strings and numbers in a value are, without keys."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        yield path
    elif isinstance(value, list | dict) and depth < MAX_DEPTH:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from _texts(item, (*path, key), depth + 1)
