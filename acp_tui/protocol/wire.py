"""What the wire models of every protocol version share: naming, strictness, leniency, decoding, encoding.

It knows no message of the protocol. Models are strict (a bool is no int, a float is no int) and lenient only
where a field says so, as the schema's `x-deserialize-*` annotations do.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from types import NoneType
from typing import Annotated, Any, ClassVar, Final, TypeAlias, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic.alias_generators import to_camel
from pydantic.plugin import _loader
from pydantic_core import CoreSchema, core_schema

from acp_tui.conversation import UNSET, UnsetType
from acp_tui.protocol import MalformedMessage
from acp_tui.values import dataclass

log = logging.getLogger(__name__)

# No package that happens to be installed beside us should read what passes between user and agent; and looking for such
# plugins takes as long as building the models of a start. The public switch is an environment variable, which agents
# would inherit.
_loader._plugins = {}

T = TypeVar("T")
M = TypeVar("M", bound="WireModel")

# Leniency, field by field


@dataclass(frozen=True, slots=True)
class DefaultOnError:
    """`x-deserialize-default-on-error`: a malformed value is replaced by `factory()` (R-LEN-1)."""

    factory: Callable[[], Any] = NoneType

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_default_schema(
            handler(source), default_factory=self.factory, on_error="default"
        )


def skip_invalid(fallback: Callable[[], Any]) -> WrapValidator:
    """`x-deserialize-skip-invalid-items`: malformed items are left out (R-LEN-2); what is no list is `fallback()`."""

    def validate(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except ValidationError as error:
            if isinstance(value, list):
                return _valid_items(value, handler)
            log.debug("replaced a malformed list: %s", describe(error))
            return fallback()

    return WrapValidator(validate)


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
NullIsEmpty: TypeAlias = Annotated[list[T], BeforeValidator(lambda value: [] if value is None else value)]
"""`x-deserialize-default-on-null`: strict but for null, since these lists decide what is run (R-LEN-5)."""

UInt16: TypeAlias = Annotated[int, Field(ge=0, lt=2**16)]
UInt32: TypeAlias = Annotated[int, Field(ge=0, lt=2**32)]
UInt64: TypeAlias = Annotated[int, Field(ge=0, lt=2**64)]
Int64: TypeAlias = Annotated[int, Field(ge=-(2**63), lt=2**63)]

# Models


def _wire_name(name: str) -> str:
    return "_meta" if name == "meta" else to_camel(name)


class WireModel(BaseModel):
    """A message, or a part of one. Unknown keys are ignored, and never written (R-RPC-9)."""

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        extra="ignore",
        alias_generator=_wire_name,
        validate_by_name=True,
        validate_by_alias=True,
        # Building all validators takes hundreds of milliseconds; the first use of a model builds its own.
        defer_build=True,
    )

    meta: Lenient[dict[str, Any]] = None


class Variant(WireModel):
    """A variant of a union: its constant discriminator is written even though nobody sets it."""

    discriminator: ClassVar[str] = "type"

    def model_post_init(self, context: Any, /) -> None:
        """Count the discriminator as set."""
        self.__pydantic_fields_set__.add(self.discriminator)


class PatchModel(Variant):
    """A variant with `Tristate` fields: one that was malformed counts as not sent."""

    def model_post_init(self, context: Any, /) -> None:
        """Count what became UNSET as not set, so that it is not written."""
        super().model_post_init(context)
        fields_set = self.__pydantic_fields_set__
        fields_set -= {name for name in fields_set if getattr(self, name) is UNSET}


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
        return model.model_validate({} if value is None else value, by_alias=True, by_name=False)
    except ValidationError as error:
        raise MalformedMessage(model.__name__, describe(error)) from None


def describe(error: ValidationError) -> str:
    """What is wrong and where, without the values."""
    flaws = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, flaw['loc'])) or 'it'}: {flaw['msg']}" for flaw in flaws[:3])


def to_wire(model: WireModel) -> dict[str, Any]:
    """The JSON object of a model: only what was set, so that an omitted field and a null one stay different."""
    return model.model_dump(by_alias=True, exclude_unset=True)
