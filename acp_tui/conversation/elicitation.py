"""An agent's questions to the user, as plain values: a form to fill in, or a page to visit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar, TypeAlias

from acp_tui.conversation.content import Meta
from acp_tui.conversation.facts import RequestKey
from acp_tui.conversation.tool_calls import ToolCallId
from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class FieldChoice:
    value: str
    title: str
    description: str | None = None


@dataclass(frozen=True, slots=True)
class TextField:
    name: str
    title: str | None = None
    description: str | None = None
    is_required: bool = False
    default: str | None = None
    min_length: int | None = None
    """Characters."""
    max_length: int | None = None
    pattern: str | None = None
    """A regular expression from the agent: never evaluate it without a time limit (R-ELIC-9)."""
    format: str | None = None
    """email, uri, date, date-time; others are ignored."""


@dataclass(frozen=True, slots=True)
class NumberField:
    name: str
    title: str | None = None
    description: str | None = None
    is_required: bool = False
    is_integer: bool = False
    default: float | int | None = None
    minimum: float | int | None = None
    maximum: float | int | None = None


@dataclass(frozen=True, slots=True)
class BooleanField:
    name: str
    title: str | None = None
    description: str | None = None
    is_required: bool = False
    default: bool | None = None


@dataclass(frozen=True, slots=True)
class ChoiceField:
    name: str
    choices: tuple[FieldChoice, ...]
    title: str | None = None
    description: str | None = None
    is_required: bool = False
    default: str | None = None


@dataclass(frozen=True, slots=True)
class MultiChoiceField:
    name: str
    choices: tuple[FieldChoice, ...]
    title: str | None = None
    description: str | None = None
    is_required: bool = False
    default: tuple[str, ...] = ()
    min_items: int | None = None
    max_items: int | None = None


@dataclass(frozen=True, slots=True)
class UnknownField:
    """A property of an unknown kind; if it's required, the form can't be accepted (R-ELIC-7)."""

    name: str
    kind: str
    raw: Any
    is_required: bool = False


KnownField: TypeAlias = TextField | NumberField | BooleanField | ChoiceField | MultiChoiceField
Field: TypeAlias = KnownField | UnknownField


@dataclass(frozen=True, slots=True)
class Form:
    url: ClassVar[str] = ""
    """It leads to no page."""
    key: RequestKey
    message: str
    fields: tuple[Field, ...]
    title: str | None = None
    description: str | None = None
    tool_call_id: ToolCallId | None = None
    meta: Meta | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """The form as the agent wrote it, for clients of a host."""


@dataclass(frozen=True, slots=True)
class UrlVisit:
    """A page the user is asked to visit. It's opened only after consent and never fetched before."""

    key: RequestKey
    message: str
    elicitation_id: str
    url: str
    tool_call_id: ToolCallId | None = None
    is_complete: bool = False
    """The agent said that the task on the page is done."""
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class FieldAnswer:
    """What the user entered in a form field, in words. A likely secret only shows that it was entered."""

    name: str
    value: str
    is_choice: bool = False
    """One of the agent's own choices, or yes or no, where it asks for no secret. A recording keeps it."""

    @property
    def label(self) -> str:
        """The name as it stands before the value: a question has its own mark."""
        return self.name if self.name.rstrip().endswith(("?", ":")) else f"{self.name}:"


Elicitation: TypeAlias = Form | UrlVisit
FormValues: TypeAlias = dict[str, str | int | float | bool | list[str]]
"""The values a form is accepted with, without empty fields."""
