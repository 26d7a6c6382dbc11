"""Builds pydantic-core's validators from annotations of dataclasses. Knows no messages or types of the protocol.

pydantic's `TypeAdapter` does the same and more, but a start would wait for it (decision 5 in the map). pydantic-core is
its public lower half: what is here only turns annotations into its schemas. Each validator is built on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Final, Literal, NewType, Union, get_args, get_origin, get_type_hints

from pydantic_core import SchemaValidator

from acp_tui.conversation import UnsetType
from acp_tui.values import dataclass

Schema = dict[str, Any]
"""Written out: `pydantic_core.core_schema`, whose functions fill in these dicts, takes 1 MB and 8 ms to load."""

# Models


class _ModelType(type):
    """Makes models keys of caches for mypy, which takes a class for hashable only if it has its own metaclass."""


class Model(metaclass=_ModelType):
    """Fields by name, read from a JSON object by `reader_of`. Nothing else creates or changes one."""

    also_read: ClassVar[Mapping[str, str]] = {}
    """Keys outside the schema that agents send, by the names of the fields."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


def wire_name(name: str) -> str:
    first, *rest = name.split("_")
    return "_meta" if name == "meta" else first + "".join(map(str.title, rest))


@cache
def fields_of(kind: type) -> tuple[Field[Any], ...]:
    """Return the fields of a model or another dataclass.

    A model becomes a dataclass here: a start needs few of them, and creating all would take 5 ms.
    """
    if issubclass(kind, Model):
        for base in reversed(kind.__mro__[:-1]):
            if "__dataclass_fields__" not in vars(base):
                base.__doc__ = base.__doc__ or base.__name__  # or `dataclass` parses a signature for it
                dataclass(init=False, repr=False, eq=False, kw_only=True)(base)
    return fields(kind)


@cache
def keys_of(kind: type) -> Mapping[str, str]:
    """Return the names of the fields of a model or another dataclass, with those on the wire."""
    return {field.name: wire_name(field.name) for field in fields_of(kind)}


# Readers


@cache
def reader_of(kind: Any, *, exact: bool = False) -> SchemaValidator:
    """Return what reads a type. With `exact`, it follows the protocol's schema without our leniency and limits.

    Dataclasses that aren't models are read by their fields' names, and tuples from lists.
    """
    return SchemaValidator(Build(exact).of(kind))


class SchemaNote:
    """What an annotation says besides the type."""

    def schema(self, kind: Any, build: Build, inner: Callable[[], Schema]) -> Schema:
        """Return the schema for the type, whose own one is `inner()`."""
        raise NotImplementedError


class Build:
    """Builds the schemas of one reader. All are strict: a bool or a float is no int."""

    def __init__(self, is_exact: bool) -> None:
        self.is_exact = is_exact
        self._known: dict[type, Schema] = {}

    def of(self, kind: Any) -> Schema:
        if kind in _PLAIN:
            return _PLAIN[kind]
        if isinstance(kind, NewType):
            return self.of(kind.__supertype__)
        if isinstance(kind, type) and (issubclass(kind, Model) or is_dataclass(kind)):
            return self._dataclass(kind)
        origin, parts = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self._annotated(parts[0], parts[1:])
        if origin in (Union, UnionType):
            return self._union(parts)
        if origin is Literal:
            return {"type": "literal", "expected": list(parts)}
        if origin is list:
            return {"type": "list", "items_schema": self.of(parts[0]), "strict": True}
        if origin is tuple:
            return {"type": "tuple", "items_schema": [self.of(parts[0])], "variadic_item_index": 0}
        if origin in (dict, Mapping):
            keys, values = map(self.of, parts)
            return {"type": "dict", "keys_schema": keys, "values_schema": values, "strict": True}
        raise TypeError(f"no type that can be read: {kind}")

    def _annotated(self, kind: Any, notes: tuple[Any, ...]) -> Schema:
        if not notes:
            return self.of(kind)
        *others, last = notes
        schema: Schema = last.schema(kind, self, lambda: self._annotated(kind, tuple(others)))
        return schema

    def _union(self, members: tuple[Any, ...]) -> Schema:
        kept = [self.of(member) for member in members if member not in (NoneType, UnsetType)]
        schema = kept[0] if len(kept) == 1 else {"type": "union", "choices": kept}
        return {"type": "nullable", "schema": schema} if NoneType in members else schema

    def _dataclass(self, kind: type) -> Schema:
        if kind not in self._known:
            kinds = get_type_hints(kind, include_extras=True)
            parts = [self._field(kind, field, kinds[field.name]) for field in fields_of(kind)]
            self._known[kind] = {
                "type": "dataclass",
                "cls": kind,
                "schema": {"type": "dataclass-args", "dataclass_name": kind.__name__, "fields": parts},
                "fields": [field.name for field in fields_of(kind)],
                "post_init": hasattr(kind, "__post_init__"),
                "slots": "__slots__" in vars(kind),
            }
        return self._known[kind]

    def _field(self, kind: type, field: Field[Any], annotation: Any) -> Schema:
        schema = self.of(annotation)
        if field.default_factory is not MISSING:
            schema = with_default(schema, default_factory=field.default_factory)
        elif field.default is not MISSING:
            schema = with_default(schema, default=field.default)
        keys = [field.name]
        if issubclass(kind, Model):
            keys = [wire_name(field.name)]
            if field.name in kind.also_read and not self.is_exact:
                keys.append(kind.also_read[field.name])
        alias = [[key] for key in keys]
        described = {"name": field.name, "schema": schema, "kw_only": True, "validation_alias": alias}
        return {"type": "dataclass-field", **described}


def with_default(schema: Schema, **default: Any) -> Schema:
    return {"type": "default", "schema": schema, **default}


_PLAIN: Final[Mapping[Any, Schema]] = {
    Any: {"type": "any"},
    **{kind: {"type": kind.__name__, "strict": True} for kind in (str, int, float, bool, bytes)},
}

# Notes


class Changed(SchemaNote):
    """Changes the schema. What is `ours` has no place in the protocol's schema, so exact readers leave it out."""

    def __init__(self, change: Callable[[Schema], Schema], *, ours: bool = True) -> None:
        self._change = change
        self._is_ours = ours

    def schema(self, kind: Any, build: Build, inner: Callable[[], Schema]) -> Schema:
        return inner() if self._is_ours and build.is_exact else self._change(inner())


def before(change: Callable[[Any], Any], *, ours: bool = False) -> Changed:
    """Change the value first. A ValueError marks it as invalid."""
    return Changed(_calling("function-before", change), ours=ours)


def around(read: Callable[[Any, Callable[[Any], Any]], Any]) -> Changed:
    """Read the value with a function, which also gets what reads it without that."""
    return Changed(_calling("function-wrap", read))


def _calling(kind: str, function: Callable[..., Any]) -> Callable[[Schema], Schema]:
    return lambda schema: {"type": kind, "function": {"type": "no-info", "function": function}, "schema": schema}


def bounds(least: int, end: int) -> Changed:
    """Allow the integers from `least` on, below `end`."""
    return Changed(lambda _: {"type": "int", "strict": True, "ge": least, "lt": end}, ours=False)


def default_on_error(factory: Callable[[], Any] = NoneType) -> Changed:
    """`x-deserialize-default-on-error`: replaces a malformed value with `factory()` (R-LEN-1)."""
    return Changed(lambda schema: with_default(schema, default_factory=factory, on_error="default"))


FIRST_MATCH: Final = Changed(lambda schema: {**schema, "mode": "left_to_right"}, ours=False)
"""Uses the first of a union's members that can read the value."""


class OrEmptyObject(SchemaNote):
    """Reads an absent model, and unless exact a malformed one, as an empty object."""

    def schema(self, kind: Any, build: Build, inner: Callable[[], Schema]) -> Schema:
        exact = build.is_exact
        return with_default(
            inner(),
            default_factory=lambda: reader_of(kind, exact=exact).validate_python({}),
            on_error="raise" if exact else "default",
        )


class Tag(SchemaNote):
    """The name of a union's member, if it isn't the constant of its field.

    It's not `in_schema` if agents send it anyway.
    """

    def __init__(self, tag: str, *, in_schema: bool = True) -> None:
        self.tag = tag
        self.is_in_schema = in_schema

    def schema(self, kind: Any, build: Build, inner: Callable[[], Schema]) -> Schema:
        return inner()


class Discriminator(SchemaNote):
    """Tells a union's members apart: by a key, or by a function that returns the tag."""

    def __init__(self, by: str | Callable[[Any], str | None]) -> None:
        self._by = by

    def schema(self, kind: Any, build: Build, inner: Callable[[], Schema]) -> Schema:
        tagged = [(self._tag_of(member), member) for member in get_args(kind)]
        choices: dict[Any, Schema] = {
            of.tag: build.of(member) for of, member in tagged if of.is_in_schema or not build.is_exact
        }
        return {"type": "tagged-union", "choices": choices, "discriminator": self._by}

    def _tag_of(self, member: Any) -> Tag:
        if isinstance(self._by, str):
            return Tag(_constant(member, self._by))
        return next(note for note in get_args(member)[1:] if isinstance(note, Tag))


OTHER: Final = "?"
"""The tag of an open union's last member."""


class OpenUnion(SchemaNote):
    """Uses the member whose field at `key` has the value's string there as its constant, or else the last one.

    If the last one is no model, there must be a string.
    """

    def __init__(self, key: str = "type") -> None:
        self._key = key

    def schema(self, kind: Any, build: Build, inner: Callable[[], Schema]) -> Schema:
        *known, other = get_args(kind)
        choices: dict[Any, Schema] = {_constant(member, self._key): build.of(member) for member in known}
        tag = _kind_at(self._key, frozenset(choices), needs_kind=not isinstance(other, type))
        choices[OTHER] = build.of(other)
        return {"type": "tagged-union", "choices": choices, "discriminator": tag}


def _kind_at(key: str, known: frozenset[str], *, needs_kind: bool) -> Callable[[Any], str | None]:
    def tag(value: Any) -> str | None:
        kind = value.get(key) if isinstance(value, dict) else None
        if isinstance(kind, str):
            return kind if kind in known else OTHER
        return None if needs_kind else OTHER

    return tag


def _constant(member: Any, key: str) -> str:
    return next(str(field.default) for field in fields_of(member) if wire_name(field.name) == key)
