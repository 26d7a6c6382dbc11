"""Turns annotations of wire types into pydantic-core validators. Knows no messages or types of the protocol.

pydantic itself does the same and more. But loading it, creating its classes, and building its schemas took a quarter
of the CPU time until the agent's title appears. So only its validators are used, each built on first use.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    NamedTuple,
    NewType,
    Union,
    get_args,
    get_origin,
)

from acp_tui.conversation import UnsetType
from acp_tui.conversation.visible.cutting import cut_text, cut_value
from acp_tui.json_core import SchemaValidator

if TYPE_CHECKING:
    # Only to check what is written here: these are plain dictionaries.
    from pydantic_core.core_schema import (
        CoreSchema,
        ModelField,
        ModelSchema,
        TypedDictField,
        ValidatorFunctionWrapHandler,
    )

# Annotations besides the type


class Bounds(NamedTuple):
    """The allowed numbers: from `least` on, below `end`."""

    least: int
    end: int


class Before(NamedTuple):
    """A function that changes the value first. A ValueError it raises marks the value as invalid."""

    change: Callable[[Any], Any]


class AtMost(NamedTuple):
    """The limit for a string that must be kept as it is; a longer one is invalid. Without a note, it's `MAX_EXACT`."""

    characters: int | None
    """None for any length."""


class Cut(NamedTuple):
    """The limit for a string that is only shown: a longer one is cut."""

    characters: int


class Uncut(NamedTuple):
    """Keeps a value without a schema as it is."""


class WrapValidator(NamedTuple):
    """A function that gets the value and the type's own validator."""

    validate: Callable[[Any, ValidatorFunctionWrapHandler], Any]


class DefaultOnError(NamedTuple):
    """`x-deserialize-default-on-error`: replaces a malformed value with `factory()` (R-LEN-1)."""

    factory: Callable[[], Any] = NoneType


class OrEmptyObject(NamedTuple):
    """Reads an absent model, and unless `exact` a malformed one, as an empty object."""


class OpenUnion(NamedTuple):
    """Use the member whose field at `key` has the value's string there as its constant, or else the last one.

    If the last one is a dict, there must be a string.
    """

    key: str = "type"


class Tag(NamedTuple):
    """The name of a union's member, if it isn't the constant of its field."""

    tag: str
    is_in_schema: bool = True
    """False for a member outside the schema that agents send anyway."""


class Discriminator(NamedTuple):
    """How to tell a union's members apart: a key, or a function that returns the tag."""

    by: str | Callable[[Any], str | None]


class FirstMatch(NamedTuple):
    """Use the first of a union's members that can read the value."""


MAX_EXACT: Final = 4_096
"""Characters of an ID, a name, a value, or a path that must be kept as it is. A system opens no longer path."""

# Fields and models


class Field(NamedTuple):
    """One field of a model."""

    key: str
    """The name on the wire."""
    annotation: Any
    default: Any = ...
    """`...` if the value is required or comes from `factory`."""
    factory: Callable[[], Any] | None = None
    aliases: tuple[str, ...] = ()
    """Other keys that are also read."""


class _FieldArguments(NamedTuple):
    """The arguments of `field`."""

    default_factory: Callable[[], Any] | None
    aliases: tuple[str, ...]


def field(*, default_factory: Callable[[], Any] | None = None, aliases: tuple[str, ...] = ()) -> Any:
    """Describe a field beyond its type and default."""
    return _FieldArguments(default_factory, aliases)


def _wire_name(name: str) -> str:
    first, *rest = name.split("_")
    return "_meta" if name == "meta" else first + "".join(map(str.title, rest))


class _ModelType(type):
    """Makes models keys of caches for mypy, which takes a class for hashable only if it has its own metaclass."""


class Model(metaclass=_ModelType):
    """Fields by name, strictly read from a JSON object by `reader_of`. Nothing else creates or changes one."""

    # pydantic-core sets these on what it reads.
    __slots__ = ("__dict__", "__pydantic_extra__", "__pydantic_fields_set__", "__pydantic_private__")
    __pydantic_fields_set__: ClassVar[set[str]]

    def _settle(self, _: Any, /) -> None:
        """Called once the fields are set. A ValueError marks the model as invalid."""

    @property
    def given(self) -> set[str]:
        """The names of the fields that were sent."""
        return self.__pydantic_fields_set__

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


@cache
def fields_of(model: type[Model]) -> Mapping[str, Field]:
    """Return the fields by name, those of base classes first."""
    known: dict[str, Field] = {}
    for base in reversed(model.__mro__):
        scope = vars(sys.modules[base.__module__])
        for name, annotation in inspect.get_annotations(base).items():
            if annotation.startswith("ClassVar"):
                continue
            default = vars(base).get(name, ...)
            factory, aliases = default if isinstance(default, _FieldArguments) else (None, ())
            default = ... if isinstance(default, _FieldArguments) else default
            known[name] = Field(_wire_name(name), eval(annotation, scope), default, factory, aliases)
    return known


# Validators


@cache
def reader_of(kind: Any, *, exact: bool = False) -> SchemaValidator:
    """Return a type's validator. With `exact`, it follows the protocol's schema without our leniency."""
    return SchemaValidator(_Schemas(exact, is_bounded=not exact).of(kind), {"strict": True})


@cache
def value_reader(kind: type) -> SchemaValidator:
    """Return a validator for a dataclass we wrote as JSON, where tuples are lists."""
    return SchemaValidator(_Schemas(exact=False).of(kind))


class _Schemas:
    """Builds the schemas of one validator."""

    def __init__(self, exact: bool, is_bounded: bool = False) -> None:
        self._exact = exact
        self._is_bounded = is_bounded
        """Whether strings have a limit, and values without a schema too."""
        self._models: dict[type[Model], CoreSchema] = {}

    def of(self, kind: Any) -> CoreSchema:
        """Return the schema for a type in an annotation."""
        if self._is_bounded and kind in _BOUNDED:
            return _BOUNDED[kind]
        if kind in _PLAIN:
            return _PLAIN[kind]
        if isinstance(kind, type) and issubclass(kind, Model):
            return self._model(kind)
        origin, parts = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self._annotated(parts[0], parts[1:])
        if origin in (Union, UnionType):
            return self._union(parts, ())
        if origin is Literal:
            return {"type": "literal", "expected": list(parts)}
        if origin is list:
            return {"type": "list", "items_schema": self.of(parts[0])}
        if origin in (dict, Mapping):
            keys, values = map(self.of, parts)
            return {"type": "dict", "keys_schema": keys, "values_schema": values}
        if origin is tuple:
            return {"type": "tuple", "items_schema": [self.of(parts[0])], "variadic_item_index": 0}
        if isinstance(kind, NewType):
            return self.of(kind.__supertype__)
        if is_dataclass(kind) and isinstance(kind, type):
            return self._dataclass(kind)
        raise TypeError(f"no wire type: {kind}")

    def _model(self, model: type[Model]) -> CoreSchema:
        if model not in self._models:
            known = {name: self._field(of) for name, of in fields_of(model).items()}
            schema: ModelSchema = {
                "type": "model",
                "cls": model,
                "schema": {"type": "model-fields", "fields": known, "model_name": model.__name__},
                "config": {"strict": True, "title": model.__name__, "extra_fields_behavior": "ignore"},
            }
            if model._settle is not Model._settle:
                schema["post_init"] = "_settle"
            self._models[model] = schema
        return self._models[model]

    def _field(self, of: Field) -> ModelField:
        schema = self.of(of.annotation)
        if of.factory is not None:
            schema = {"type": "default", "schema": schema, "default_factory": of.factory}
        elif of.default is not ...:
            schema = {"type": "default", "schema": schema, "default": of.default}
        keys: list[list[str | int]] = [[key] for key in (of.key, *(() if self._exact else of.aliases))]
        return {"type": "model-field", "schema": schema, "validation_alias": keys}

    def _dataclass(self, kind: type) -> CoreSchema:
        scope = vars(sys.modules[kind.__module__])
        kinds = {name: eval(text, scope) for name, text in inspect.get_annotations(kind).items()}
        of_fields: dict[str, TypedDictField] = {
            of.name: {
                "type": "typed-dict-field",
                "schema": self.of(kinds[of.name]),
                "required": of.default is MISSING and of.default_factory is MISSING,
            }
            for of in fields(kind)
        }
        return {
            "type": "function-after",
            "function": {"type": "no-info", "function": lambda values: kind(**values)},
            "schema": {"type": "typed-dict", "fields": of_fields},
        }

    def _annotated(self, kind: Any, notes: tuple[Any, ...]) -> CoreSchema:
        if get_origin(kind) in (Union, UnionType):
            schema = self._union(get_args(kind), notes)
        else:
            schema = self.of(kind)
        for note in notes:
            match note:
                case Bounds(least, end):
                    schema = {"type": "int", "ge": least, "lt": end}
                case AtMost(characters) if self._is_bounded:
                    schema = _PLAIN[str] if characters is None else _at_most(characters)
                case Cut(characters) if self._is_bounded:
                    schema = _cut(characters)
                case Uncut():
                    schema = _Schemas(self._exact).of(kind)
                case Before(change):
                    schema = _changed(change, schema)
                case WrapValidator(validate) if not self._exact:
                    schema = {
                        "type": "function-wrap",
                        "function": {"type": "no-info", "function": validate},
                        "schema": schema,
                    }
                case OrEmptyObject():
                    empty = partial(reader_of(kind, exact=self._exact).validate_python, {})
                    schema = {"type": "default", "schema": schema, "default_factory": empty}
                    if not self._exact:
                        schema["on_error"] = "default"
                case DefaultOnError(factory) if not self._exact:
                    schema = {"type": "default", "schema": schema, "default_factory": factory, "on_error": "default"}
        return schema

    def _union(self, members: tuple[Any, ...], notes: tuple[Any, ...]) -> CoreSchema:
        for note in notes:
            match note:
                case OpenUnion(key):
                    choices = {_constant(member, key): self.of(member) for member in members[:-1]}
                    needs_kind = get_origin(members[-1]) is dict
                    by = _kind_at(key, frozenset(choices), needs_kind)
                    choices[OTHER] = self.of(members[-1])
                    return {"type": "tagged-union", "choices": choices, "discriminator": by}
                case Discriminator(by):
                    tagged = [(_tag_of(member, by), member) for member in members]
                    choices = {of.tag: self.of(member) for of, member in tagged if of.is_in_schema or not self._exact}
                    return {"type": "tagged-union", "choices": choices, "discriminator": by}
        kept = [member for member in members if member is not NoneType]
        if self._exact:
            kept = [member for member in kept if member != UnsetType]
        mode: Literal["smart", "left_to_right"] = "left_to_right" if FirstMatch() in notes else "smart"
        schemas = [self.of(member) for member in kept]
        schema: CoreSchema = (
            schemas[0] if len(schemas) == 1 else {"type": "union", "choices": list(schemas), "mode": mode}
        )
        return {"type": "nullable", "schema": schema} if NoneType in members else schema


_PLAIN: Final[Mapping[Any, CoreSchema]] = {
    Any: {"type": "any"},
    str: {"type": "str"},
    int: {"type": "int"},
    float: {"type": "float"},
    bool: {"type": "bool"},
    bytes: {"type": "bytes"},
}


def _cut(characters: int) -> CoreSchema:
    # Before the validator: it would write out all of a long string first, to count its characters.
    return _changed(partial(_shortened, most=characters), _PLAIN[str])


def _shortened(value: Any, most: int) -> Any:
    return cut_text(value, most) if type(value) is str else value


def _at_most(characters: int) -> CoreSchema:
    def checked(value: Any) -> Any:
        if type(value) is str and len(value) > characters:
            raise ValueError(f"a string of at most {characters} characters is wanted")
        return value

    return _changed(checked, _PLAIN[str])


def _changed(change: Callable[[Any], Any], schema: CoreSchema) -> CoreSchema:
    return {"type": "function-before", "function": {"type": "no-info", "function": change}, "schema": schema}


_BOUNDED: Final[Mapping[Any, CoreSchema]] = {
    str: _at_most(MAX_EXACT),
    Any: _changed(cut_value, _PLAIN[Any]),
    dict[str, Any]: _changed(cut_value, {"type": "dict", "keys_schema": _PLAIN[str], "values_schema": _PLAIN[Any]}),
}


OTHER: Final = "?"
"""The tag of an open union's last member."""


def _kind_at(key: str, known: frozenset[str], needs_kind: bool) -> Callable[[Any], str | None]:
    def tag(value: Any) -> str | None:
        kind = value.get(key) if isinstance(value, dict) else None
        if isinstance(kind, str):
            return kind if kind in known else OTHER
        return None if needs_kind else OTHER

    return tag


def _tag_of(member: Any, by: str | Callable[[Any], str | None]) -> Tag:
    if isinstance(by, str):
        return Tag(_constant(member, by))
    return next(note for note in get_args(member)[1:] if isinstance(note, Tag))


def _constant(member: type[Model], key: str) -> str:
    constant: str = next(of.default for of in fields_of(member).values() if of.key == key)
    return constant
