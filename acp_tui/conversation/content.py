"""Content blocks: what a prompt, a message or a tool call is made of, as plain values without their wire form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from acp_tui.values import dataclass

Meta: TypeAlias = Mapping[str, Any]
"""The protocol's `_meta`: kept and passed on, never interpreted here."""
OWN_META: Final = "acp_tui"
"""The key of it under which one acp-tui writes to another."""


@dataclass(frozen=True, slots=True)
class Annotations:
    """Hints on whom a block is for."""

    audience: tuple[str, ...] | None = None
    """Roles: "user", "assistant". None: not said."""
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
    """A resource that is named, not included."""

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
    """An embedded resource with its text."""

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
    """A block of a kind we do not know, whole: agents are newer than clients."""

    kind: str
    raw: Any


ContentBlock: TypeAlias = Text | Image | Audio | ResourceLink | TextResource | BlobResource | UnknownBlock


def is_for_user(block: ContentBlock) -> bool:
    """False where the block's annotations name an audience and the user is not in it."""
    annotations = None if isinstance(block, UnknownBlock) else block.annotations
    return annotations is None or annotations.audience is None or "user" in annotations.audience
