"""Content blocks of prompts, messages, and tool calls, as plain values without their wire form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from acp_tui.values import dataclass

Meta: TypeAlias = Mapping[str, Any]
"""The protocol's `_meta`: kept and passed on, never interpreted here."""
OWN_META: Final = "acp_tui"
"""The `_meta` key for data that one acp-tui sends to another."""


@dataclass(frozen=True, slots=True)
class Annotations:
    """Hints about a block's audience and importance."""

    audience: tuple[str, ...] | None = None
    """Roles: "user", "assistant". None if not given."""
    last_modified: str | None = None
    priority: float | None = None
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    annotations: Annotations | None = None
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class Image:
    """A picture; `data` is base64 as received."""

    data: str
    mime_type: str
    uri: str | None = None
    annotations: Annotations | None = None
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class Audio:
    """A sound; `data` is base64 as received."""

    data: str
    mime_type: str
    annotations: Annotations | None = None
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class ResourceLink:
    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    """Bytes."""
    annotations: Annotations | None = None
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class TextResource:
    uri: str
    text: str
    mime_type: str | None = None
    annotations: Annotations | None = None
    meta: Meta | None = None
    resource_meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class BlobResource:
    """An embedded resource with its bytes; `blob` is base64 as received."""

    uri: str
    blob: str
    mime_type: str | None = None
    annotations: Annotations | None = None
    meta: Meta | None = None
    resource_meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class UnknownBlock:
    """A block of an unknown kind, unchanged: agents may be newer than clients."""

    kind: str
    raw: Any


ContentBlock: TypeAlias = Text | Image | Audio | ResourceLink | TextResource | BlobResource | UnknownBlock


def is_for_user(block: ContentBlock) -> bool:
    """Whether the block's audience includes the user. Blocks without an audience do."""
    annotations = None if isinstance(block, UnknownBlock) else block.annotations
    return annotations is None or annotations.audience is None or "user" in annotations.audience


# Parts of a prompt that the user didn't type

PREVIEW: Final = 24


def labeled(text: str, label: str) -> Text:
    """A text that stands for itself in the prompt, and is shown by its label until the user unfolds it."""
    return Text(text, meta={OWN_META: {"label": label}})


def with_pastes(text: str, pasted: Sequence[str]) -> Text:
    """A text of which these parts, in their order, were pasted. The agent gets it in one piece, as it was written."""
    spans: list[list[int]] = []
    for part in pasted:
        start = text.index(part, spans[-1][1] if spans else 0)
        spans.append([start, start + len(part)])
    return Text(text, meta={OWN_META: {"pastes": spans, "of": len(text)}} if spans else None)


def label_of(block: ContentBlock) -> str:
    label = _own(block).get("label") if isinstance(block, Text) else None
    return label if isinstance(label, str) else ""


def typed_and_pasted(block: Text) -> list[Text]:
    """The text in pieces: what was pasted with a label, the rest without. In a masked recording, it's one piece."""
    pastes = _own(block).get("pastes")
    if not isinstance(pastes, list) or _own(block).get("of") != len(block.text):
        return [block]
    pieces, at = [], 0
    for span in pastes:
        match span:
            case [int(start), int(stop)] if at <= start < stop <= len(block.text):
                pasted = block.text[start:stop]
                pieces += [Text(block.text[at:start]), labeled(pasted, paste_label(pasted))]
                at = stop
    return [piece for piece in (*pieces, Text(block.text[at:])) if piece.text]


def paste_label(text: str) -> str:
    """What was pasted, such as `pasted 12 lines: "Traceback (most recent…"`."""
    lines = text.rstrip("\n").count("\n") + 1
    extent = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
    first = next((line for line in text.split("\n") if line.strip()), "")[: PREVIEW * 4]
    words = " ".join(first.split())
    return f'pasted {extent}: "{words}"' if len(words) <= PREVIEW else f'pasted {extent}: "{words[:PREVIEW]}…"'


def _own(block: Text) -> Mapping[str, Any]:
    own = (block.meta or {}).get(OWN_META)
    return own if isinstance(own, dict) else {}


# In words

COMMAND_SCHEME: Final = "terminal:"
"""Begins the URI of the output of a command that the user ran."""
FILE_SCHEME: Final = "file://"
MAX_TITLE: Final = 200
_ATTACHED: Final = re.compile(r"\s*(?:\[[^\]]*\]\((?:file|terminal):|<context ref=).*")
"""How codex-acp and Claude Agent write down what was attached."""
_MARKS: Final = re.compile(r"^(?:#{1,6}|>) +(?=\S)|(?<!\w)(\*\*|`)(?=\S)(?P<marked>[^*`]+)(?<=\S)\1(?!\w)")
"""Of a heading, a quote, strong text, and code."""


def block_words(block: ContentBlock, where: Callable[[str | None], str] | None = None) -> str:
    """Return what is known about a block in one line, such as "[image: PNG, 12 KB]"; a text without a label unchanged.

    `where` says where a URI leads.
    """
    where = where or shown_uri
    match block:
        case Text(text):
            return f"[{label}]" if (label := label_of(block)) else text
        case Image(data, mime_type, uri):
            return _bracketed("image", _format(mime_type), _size_of(data), where(uri))
        case Audio(data, mime_type):
            return _bracketed("audio", _format(mime_type), _size_of(data))
        case ResourceLink(uri, name, title, size=size):
            called, place = title or name, where(uri)
            return _bracketed("link", called, "" if size is None else _size(size), place if place != called else "")
        case TextResource(uri, text) if uri.startswith(COMMAND_SCHEME) and text.startswith("$ "):
            return f"[output of {text.splitlines()[0].removeprefix('$ ')}]"
        case TextResource(uri, text):
            return _bracketed("file", where(uri), _count_lines(text))
        case BlobResource(uri, blob, mime_type):
            return _bracketed("file", where(uri), mime_type or "", _size_of(blob))
        case _:
            return unknown_words(block.kind)


def unknown_words(kind: str) -> str:
    return f"[{kind}: a kind of content acp-tui doesn't know]"


def _bracketed(kind: str, *facts: str) -> str:
    return f"[{kind}: {', '.join(filter(None, facts))}]"


def _format(mime_type: str) -> str:
    """Return the short name of a format, such as "SVG" for "image/svg+xml"."""
    subtype = mime_type.partition("/")[2].partition(";")[0].partition("+")[0]
    return subtype.strip().removeprefix("x-").upper() or mime_type


def shown_uri(uri: str | None) -> str:
    """Return where the content is: a path for a local file, otherwise the address."""
    uri = uri or ""
    return unquote(uri.removeprefix(FILE_SCHEME)) if uri.startswith(f"{FILE_SCHEME}/") else uri


def title_in_line(told: str) -> str:
    """A session's title in a short line, without Markdown's marks.

    Without what was attached, too, if it's the first prompt as its agent got it.
    """
    words = " ".join(told.split())
    words = _MARKS.sub(r"\g<marked>", _ATTACHED.sub("", words)) or words
    return words if len(words) <= MAX_TITLE else f"{words[: MAX_TITLE - 1]}…"


def _count_lines(text: str) -> str:
    count = len(text.splitlines())
    return "1 line" if count == 1 else f"{count} lines"


def _size_of(base64: str) -> str:
    return _size(len(base64.rstrip("=")) * 3 // 4)


def _size(size_bytes: int) -> str:
    if size_bytes < 1000:
        return f"{size_bytes} bytes"
    return f"{size_bytes / 1000:.0f} KB" if size_bytes < 1e6 else f"{size_bytes / 1e6:.1f} MB"
