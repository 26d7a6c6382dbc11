"""Questions of an agent to the user: a form to fill in, or a page to visit; as plain values."""

from __future__ import annotations

from typing import Any, TypeAlias

from acp_tui.conversation.content import Meta
from acp_tui.conversation.facts import RequestKey
from acp_tui.conversation.tool_calls import ToolCallId
from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class FieldChoice:
    """One value of a choice."""

    value: str
    title: str
    description: str | None = None


@dataclass(frozen=True, slots=True)
class TextField:
    """A line or a text."""

    name: str
    title: str | None = None
    description: str | None = None
    is_required: bool = False
    default: str | None = None
    min_length: int | None = None
    """Characters."""
    max_length: int | None = None
    pattern: str | None = None
    """A regular expression of the agent's: never to be evaluated without a time limit (R-ELIC-9)."""
    format: str | None = None
    """email, uri, date, date-time; any other is ignored."""


@dataclass(frozen=True, slots=True)
class NumberField:
    """A number, whole or not."""

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
    """Yes or no."""

    name: str
    title: str | None = None
    description: str | None = None
    is_required: bool = False
    default: bool | None = None


@dataclass(frozen=True, slots=True)
class ChoiceField:
    """One of several values."""

    name: str
    choices: tuple[FieldChoice, ...]
    title: str | None = None
    description: str | None = None
    is_required: bool = False
    default: str | None = None


@dataclass(frozen=True, slots=True)
class MultiChoiceField:
    """Any of several values."""

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
    """A property of a kind we do not know; where it is required, the form cannot be accepted (R-ELIC-7)."""

    name: str
    kind: str
    raw: Any
    is_required: bool = False


KnownField: TypeAlias = TextField | NumberField | BooleanField | ChoiceField | MultiChoiceField
Field: TypeAlias = KnownField | UnknownField


@dataclass(frozen=True, slots=True)
class Form:
    """A question that is answered by values."""

    key: RequestKey
    message: str
    fields: tuple[Field, ...]
    title: str | None = None
    description: str | None = None
    tool_call_id: ToolCallId | None = None
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class UrlVisit:
    """A page that the user is asked to visit; it is opened only on consent and never looked at before."""

    key: RequestKey
    message: str
    elicitation_id: str
    url: str
    tool_call_id: ToolCallId | None = None
    is_complete: bool = False
    """The agent said that what was to be done there is done."""
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class FilledIn:
    """What the user wrote into a field of a form, in words; of what seems to be a secret, only that it was written."""

    name: str
    """What the form calls the field."""
    value: str


Elicitation: TypeAlias = Form | UrlVisit
FormValues: TypeAlias = dict[str, str | int | float | bool | list[str]]
"""What a form is accepted with; fields left empty are not in it."""
