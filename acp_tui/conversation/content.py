"""Content blocks of prompts, messages, and tool calls, as plain values without their wire form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

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
    """Markdown or plain text."""

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
    """A resource that is referenced, not included."""

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
