"""What the wire models of every protocol version share: naming, strictness, leniency, decoding, encoding.

It knows no message of the protocol. Models are strict (a bool is no int, a float is no int) and lenient only
where a field says so, as the schema's `x-deserialize-*` annotations do.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from types import NoneType
from typing import Annotated, Any, ClassVar, Final, TypeAlias, TypeVar

from pydantic_core import ValidationError
from pydantic_core.core_schema import ValidatorFunctionWrapHandler

from acp_tui.conversation import UNSET, UnsetType
from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.schemas import (
    Around,
    Before,
    Bounds,
    DefaultOnError,
    Discriminator,
    Model,
    fields_of,
    reader_of,
)

log = logging.getLogger(__name__)

T = TypeVar("T")
M = TypeVar("M", bound="WireModel")

# Leniency, field by field


def skip_invalid(fallback: Callable[[], Any]) -> Around:
    """`x-deserialize-skip-invalid-items`: malformed items are left out (R-LEN-2); what is no list is `fallback()`."""

    def validate(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except ValidationError as error:
            if isinstance(value, list):
                return _valid_items(value, handler)
            log.debug("replaced a malformed list: %s", describe(error))
            return fallback()

    return Around(validate)


def _valid_items(items: list[Any], handler: ValidatorFunctionWrapHandler) -> list[Any]:
    kept: list[Any] = []
    for item in items:
        try:
            kept += handler([item])
        except ValidationError as error:
            log.debug("dropped a malformed item: %s", describe(error))
    return kept


Lenient: TypeAlias = Annotated[T | None, DefaultOnError()]
"""None where the value is absent, null or malformed."""
LenientFlag: TypeAlias = Annotated[bool, DefaultOnError(bool)]
"""False where the value is malformed."""
Items: TypeAlias = Annotated[list[T], skip_invalid(list)]
"""The valid items of a list; empty where it is no list."""
OptionalItems: TypeAlias = Annotated[list[T] | None, skip_invalid(NoneType)]
"""The valid items of a list; None where it is absent, null or no list."""
Tristate: TypeAlias = Annotated[T | None | UnsetType, DefaultOnError(lambda: UNSET)]
"""For a `PatchModel`: None clears; UNSET where the value is absent or malformed."""
TristateItems: TypeAlias = Annotated[list[T] | None | UnsetType, skip_invalid(lambda: UNSET)]
"""As `Tristate`, with the valid items of a list."""
NullIsEmpty: TypeAlias = Annotated[list[T], Before(lambda value: [] if value is None else value)]
"""`x-deserialize-default-on-null`: strict but for null, since these lists decide what is run (R-LEN-5)."""

UInt16: TypeAlias = Annotated[int, Bounds(0, 2**16)]
UInt32: TypeAlias = Annotated[int, Bounds(0, 2**32)]
UInt64: TypeAlias = Annotated[int, Bounds(0, 2**64)]
Int64: TypeAlias = Annotated[int, Bounds(-(2**63), 2**63)]

# Models


class WireModel(Model):
    """A message, or a part of one. Unknown keys are ignored, and never written (R-RPC-9)."""

    meta: Lenient[dict[str, Any]] = None


class Variant(WireModel):
    """A variant of a union: its constant discriminator is written even though nobody sets it."""

    discriminator: ClassVar[str] = "type"

    def _settle(self, _: Any, /) -> None:
        self.given.add(self.discriminator)


class PatchModel(Variant):
    """A variant with `Tristate` fields: one that was malformed counts as not sent, so that it is not written."""

    def _settle(self, _: Any, /) -> None:
        super()._settle(_)
        self.given.difference_update([name for name in self.given if getattr(self, name) is UNSET])


UNKNOWN: Final = "?"
"""The union tag of a variant that we do not know; such a value is kept as the dict it is (R-LEN-4)."""


def kind_of(value: Any, key: str = "type") -> str | None:
    """The discriminator of a union's member, decoded or not; None where it has none."""
    if isinstance(value, Variant):
        kind = getattr(value, value.discriminator)
    else:
        kind = value.get(key) if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else None


def open_union(known: Collection[str], key: str = "type") -> Discriminator:
    """Choose a union's variant by the string at `key`; a string that is not known chooses `UNKNOWN`."""

    def tag(value: Any) -> str | None:
        kind = kind_of(value, key)
        return kind if kind is None or kind in known else UNKNOWN

    return Discriminator(tag)


# Decoding and encoding


def decode(model: type[M], value: object) -> M:
    """`value` as the `model`; an absent one counts as `{}`, as some peers send `null` for no content (R-RPC-8).

    Raises: MalformedMessage.
    """
    try:
        decoded: M = reader_of(model).validate_python({} if value is None else value)
    except ValidationError as error:
        raise MalformedMessage(model.__name__, describe(error)) from None
    return decoded


def describe(error: ValidationError) -> str:
    """What is wrong and where, without the values."""
    flaws = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, flaw['loc'])) or 'it'}: {flaw['msg']}" for flaw in flaws[:3])


def to_wire(model: WireModel) -> dict[str, Any]:
    """The JSON object of a model: only what was set, so that an omitted field and a null one stay different."""
    given = model.given
    return {
        field.key: as_json(getattr(model, name))
        for name, field in fields_of(type(model)).items()
        if name in given
    }


def as_json(value: Any) -> Any:
    """A field's value, or that of a union that is no model, as JSON."""
    if isinstance(value, WireModel):
        return to_wire(value)
    if isinstance(value, list):
        return list(map(as_json, value))
    return {key: as_json(part) for key, part in value.items()} if isinstance(value, dict) else value
