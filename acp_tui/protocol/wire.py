"""What the wire models of all protocol versions share: leniency, limits, decoding, encoding.

Knows no messages. Models are lenient only where a field says so, like the schema's `x-deserialize-*` annotations. They
are bounded: each string is cut or has a limit, unless it's a `Text`, and so is each list that an agent may fill.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import is_dataclass
from types import NoneType
from typing import Annotated, Any, Final, TypeAlias, TypeGuard, TypeVar

from pydantic_core import PydanticSerializationError, ValidationError, to_json

from acp_tui.conversation import UNSET, UnsetType
from acp_tui.conversation.visible.cutting import MAX_ITEMS, MAX_LINE, MAX_PASSAGE, cut_text, cut_value, mark_of
from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.validators import (
    Changed,
    Model,
    OrEmptyObject,
    around,
    before,
    bounds,
    default_on_error,
    keys_of,
    reader_of,
)

log = logging.getLogger(__name__)

T = TypeVar("T")
M = TypeVar("M", bound="WireModel")

# Leniency and limits, field by field


def skip_invalid(fallback: Callable[[], Any]) -> Changed:
    """`x-deserialize-skip-invalid-items`: drops malformed items (R-LEN-2); uses `fallback()` for what isn't a list."""

    def validate(value: Any, handler: Callable[[Any], Any]) -> Any:
        try:
            return handler(value)
        except ValidationError as error:
            if isinstance(value, list):
                return _valid_items(value, handler)
            log.debug("replaced a malformed list: %s", describe(error))
            return fallback()

    return around(validate)


def _valid_items(items: list[Any], handler: Callable[[Any], Any]) -> list[Any]:
    kept: list[Any] = []
    for item in items:
        try:
            kept += handler([item])
        except ValidationError as error:
            log.debug("dropped a malformed item: %s", describe(error))
    return kept


def _size(value: Any) -> int:
    try:
        return len(to_json(value))
    except PydanticSerializationError:  # half a surrogate pair
        return len(str(value))


def cut_items(marked: Callable[[str], Any] | None = None) -> Changed:
    """Keeps the first items of a list. `marked` makes one more of the mark that says how much is missing.

    Nothing else reads the rest: validating 45,000 blocks takes half a second, and drawing them ten times as long.
    """

    def cut(value: Any) -> Any:
        if not isinstance(value, list) or len(value) <= MAX_ITEMS:
            return value
        kept = value[:MAX_ITEMS]
        return kept if marked is None else [*kept, marked(mark_of(_size(value[MAX_ITEMS:])))]

    return before(cut, ours=True)


def _cut(characters: int) -> Changed:
    # Before the validator: it would write out all of a long string first, to count its characters.
    return before(lambda value: cut_text(value, characters) if type(value) is str else value, ours=True)


def _at_most(characters: int) -> Changed:
    def checked(value: Any) -> Any:
        if type(value) is str and len(value) > characters:
            raise ValueError(f"a string of at most {characters} characters is wanted")
        return value

    return before(checked, ours=True)


# Types of fields

Lenient: TypeAlias = Annotated[T | None, default_on_error()]
"""None if the value is absent, null, or malformed."""
OrEmpty: TypeAlias = Annotated[T, OrEmptyObject()]
"""A model without required fields; as if it were `{}` if it's absent or malformed."""
LenientFlag: TypeAlias = Annotated[bool, default_on_error(bool)]
"""False if the value is malformed."""
Items: TypeAlias = Annotated[list[T], skip_invalid(list)]
"""The valid items of a list; empty if it isn't a list."""
OptionalItems: TypeAlias = Annotated[list[T] | None, skip_invalid(NoneType)]
"""The valid items of a list; None if it's absent, null, or not a list."""
Tristate: TypeAlias = Annotated[T | None | UnsetType, default_on_error(lambda: UNSET)]
"""None clears; UNSET if the value is absent or malformed."""
TristateItems: TypeAlias = Annotated[list[T] | None | UnsetType, skip_invalid(lambda: UNSET)]
"""Like `Tristate`, with the valid items of a list."""
NullIsEmpty: TypeAlias = Annotated[list[T], before(lambda value: [] if value is None else value)]
"""`x-deserialize-default-on-null`: strict except for null, since these lists decide what is run (R-LEN-5)."""

MAX_EXACT: Final = 4_096
"""Characters of an ID, a name, a value, or a path that must be kept as it is. A system opens no longer path."""

Line: TypeAlias = Annotated[str, _cut(MAX_LINE)]
"""A text that is only shown, in one line or a few."""
Passage: TypeAlias = Annotated[str, _cut(MAX_PASSAGE)]
"""A text that is only shown, and may be longer: a question, an error, a command to decide on."""
Text: TypeAlias = str
"""A text of any length: what draws or stores it does so in parts."""
Short: TypeAlias = Annotated[str, _at_most(MAX_EXACT)]
"""A string that is used as it is: an ID, a name, a value, or a path."""
Word: TypeAlias = Annotated[str, _at_most(131_072)]
"""A longer one, such as an argument or an address. Linux passes no longer one to a program."""
Raw: TypeAlias = Annotated[Any, before(cut_value, ours=True)]
"""Any JSON, with its texts cut."""
RawObject: TypeAlias = Annotated[dict[str, Any], before(cut_value, ours=True)]
"""Any JSON object, with its texts cut."""
Whole: TypeAlias = dict[str, Any]
"""An object that is read by other models."""

NullIsEmptyObject: TypeAlias = Annotated[dict[Short, T], before(lambda value: {} if value is None else value)]
"""`NullIsEmpty` for an object."""

UInt16: TypeAlias = Annotated[int, bounds(0, 2**16)]
UInt32: TypeAlias = Annotated[int, bounds(0, 2**32)]
UInt64: TypeAlias = Annotated[int, bounds(0, 2**64)]
Int64: TypeAlias = Annotated[int, bounds(-(2**63), 2**63)]

# Models


class WireModel(Model):
    """A message or a part of one. Unknown keys are ignored (R-RPC-9)."""

    meta: Lenient[RawObject] = None


# Decoding and encoding

Wire: TypeAlias = dict[str, Any]
"""A message to send, or a part of one."""


def decode(model: type[M], value: object) -> M:
    """Decode `value` as the `model`. None counts as `{}`, as some peers send `null` for no content (R-RPC-8).

    Raises MalformedMessage.
    """
    try:
        decoded: M = reader_of(model).validate_python({} if value is None else value)
    except ValidationError as error:
        raise MalformedMessage(model.__name__, describe(error)) from None
    return decoded


def reading(model: type[M], serve: Callable[[M], T]) -> Callable[[Any], T]:
    """Return what reads params as the `model` and serves them. Raises MalformedMessage."""
    return lambda params: serve(decode(model, params))


def describe(error: ValidationError) -> str:
    """Describe what is invalid and where, without the values."""
    flaws = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, flaw['loc'])) or 'it'}: {flaw['msg']}" for flaw in flaws[:3])


def is_id(value: object) -> TypeGuard[str]:
    """Whether a value that no model reads can be an ID."""
    return type(value) is str and len(value) <= MAX_EXACT


def written(value: Any) -> Any:
    """Return a value of a conversation as JSON: the fields that are set, under their names on the wire."""
    if isinstance(value, tuple):
        return list(map(written, value))
    kind: type = type(value)
    if not is_dataclass(kind):
        return value
    parts = ((key, getattr(value, name)) for name, key in keys_of(kind).items())
    return {key: written(part) for key, part in parts if part is not None and part is not UNSET}


def with_some(fields: Wire, **optional: Any) -> Wire:
    """Add the fields that aren't None: they are omitted on the wire, not null."""
    return fields | {name: value for name, value in optional.items() if value is not None}
