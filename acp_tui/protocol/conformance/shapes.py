"""The wire models of ACP v1 without their leniency: what the schema marks as required, and of which type.

A client reads leniently, and says nothing; here every flaw is told. Which messages are looked at is `messages`' matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

from pydantic import Field, Tag, TypeAdapter, ValidationError, WrapValidator, create_model
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from acp_tui.conversation.unset import UnsetType
from acp_tui.protocol.v1.agent_requests import PermissionOption
from acp_tui.protocol.v1.content import Annotations, ToolCallFields
from acp_tui.protocol.v1.session import PromptResponse
from acp_tui.protocol.v1.updates import CompactionUpdate, Notice, PlanEntry
from acp_tui.protocol.wire import UNKNOWN, DefaultOnError, WireModel, describe

BARE_BLOCK: Final = "block"
"""The tag of a tool call's content without its wrapper, which clients bear and the schema has not (R-DOC-2)."""

_STATUSES: Final = frozenset({"pending", "in_progress", "completed", "failed"})
_KINDS: Final = "read edit delete move search execute think fetch switch_mode other"
KNOWN_VALUES: Final[dict[type[WireModel], dict[str, frozenset[str]]]] = {
    ToolCallFields: {"status": _STATUSES, "kind": frozenset(_KINDS.split())},
    PlanEntry: {
        "priority": frozenset({"high", "medium", "low"}),
        "status": _STATUSES - {"failed"},
    },
    PermissionOption: {
        "kind": frozenset({"allow_once", "allow_always", "reject_once", "reject_always"}),
    },
    PromptResponse: {
        "stop_reason": frozenset({"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"}),
    },
    Notice: {"severity": frozenset({"info", "warning", "error", "other"})},
    Annotations: {"audience": frozenset({"assistant", "user"})},
    CompactionUpdate: {"status": frozenset({"in_progress", "completed", "failed", "cancelled", "other"})},
}
"""What version 1 knows for the fields in which clients bear anything."""

UNSTABLE_KEYS: Final = frozenset(
    {"models", "usage", "fork", "archive", "archived", "status", "setTitle", "systemPrompt", "acp"}
    | {"nes", "providers", "subagents", "positionEncoding", "userMessageId", "title"}
)
"""Keys of drafts and of what was removed; they are told apart from an agent's own."""


class Shape:
    """A type of the wire, strict."""

    def __init__(self, model: Any) -> None:
        self._adapter: TypeAdapter[Any] = TypeAdapter(_strict(model))

    def read(self, value: Any) -> tuple[Any, str]:
        """The value, and ""; or None, and what is wrong and where."""
        try:
            return self._adapter.validate_python(value, by_alias=True, by_name=False), ""
        except ValidationError as error:
            return None, describe(error)


@cache
def shape_of(model: Any) -> Shape:
    """Made where it is first wanted: a validator takes milliseconds to build."""
    return Shape(model)


# Strict types


def _strict(kind: Any) -> Any:
    """The type without what bears a malformed value."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        kept = [each for each in parts[1:] if not isinstance(each, DefaultOnError | WrapValidator)]
        inner = _strict(parts[0])
        return Annotated[(inner, *kept)] if kept else inner
    if origin in (Union, UnionType):
        return Union[tuple(_strict(part) for part in parts if _is_in_schema(part))]  # noqa: UP007 - made at run time
    if origin in (list, dict):
        return origin[tuple(map(_strict, parts))]
    if isinstance(kind, type) and issubclass(kind, WireModel):
        return _strict_model(kind)
    return kind


def _is_in_schema(part: Any) -> bool:
    is_bare_block = any(isinstance(each, Tag) and each.tag == BARE_BLOCK for each in get_args(part)[1:])
    return part is not UnsetType and not (get_origin(part) is Annotated and is_bare_block)


@cache
def _strict_model(model: type[WireModel]) -> type[WireModel]:
    hints = get_type_hints(model, include_extras=True)
    fields: dict[str, Any] = {
        name: (_strict(hints[name]), _presence(field)) for name, field in model.model_fields.items()
    }
    return create_model(model.__name__, __base__=model, **fields)


def _presence(field: FieldInfo) -> Any:
    """Whether it may be left out; under another name than the schema's it is missing."""
    if field.default_factory is not None:
        return Field(default_factory=field.default_factory)
    return ... if field.default is PydanticUndefined else Field(default=field.default)


# What is well-formed and yet strange


def own_keys(value: Any, raw: Any, path: str = "") -> Iterator[str]:
    """Where the raw JSON of a strict value has keys that its types do not know, outside of `_meta`."""
    for model, part, where in _models(value, raw, path):
        known = _keys(type(model))
        yield from (f"{where}{key}" for key in part if key not in known)


def strange_values(value: Any, raw: Any) -> Iterator[str]:
    """Where a strict value has words that version 1 does not know, such as a new kind of tool call."""
    for model, _, where in _models(value, raw, ""):
        for name, known in _known_values(type(model)):
            words = getattr(model, name)
            for word in words if isinstance(words, list) else [words]:
                if isinstance(word, str) and word not in known:
                    yield f"{where}{name}: {word}"
        for name in _open_unions(type(model)):
            for member in _members(getattr(model, name)):
                if isinstance(member, dict):
                    yield f"{where}{name}: {member.get('sessionUpdate', member.get('type'))}"


def _models(value: Any, raw: Any, path: str) -> Iterator[tuple[WireModel, dict[str, Any], str]]:
    """Every model within a value, with its raw JSON and its place."""
    if isinstance(value, WireModel) and isinstance(raw, dict):
        yield value, raw, path
        for name, key in _names(type(value)):
            if key in raw:
                yield from _models(getattr(value, name), raw[key], f"{path}{key}.")
    elif isinstance(value, list) and isinstance(raw, list):
        for index, (item, part) in enumerate(zip(value, raw, strict=False)):
            yield from _models(item, part, f"{path}{index}.")
    elif isinstance(value, dict) and isinstance(raw, dict):
        for key, item in value.items():
            if isinstance(item, WireModel):
                yield from _models(item, raw.get(key), f"{path}{key}.")


@cache
def _names(model: type[WireModel]) -> tuple[tuple[str, str], ...]:
    """The fields with their keys; not those that hold any JSON."""
    return tuple(
        (name, field.alias or name)
        for name, field in model.model_fields.items()
        if field.annotation is not Any and name != "meta"
    )


@cache
def _keys(model: type[WireModel]) -> frozenset[str]:
    return frozenset(field.alias or name for name, field in model.model_fields.items())


@cache
def _known_values(model: type[WireModel]) -> tuple[tuple[str, frozenset[str]], ...]:
    return tuple(
        item for kind, values in KNOWN_VALUES.items() if issubclass(model, kind) for item in values.items()
    )


@cache
def _open_unions(model: type[WireModel]) -> tuple[str, ...]:
    """The fields in which a variant that is not known stays the dict that it is."""
    return tuple(name for name, field in model.model_fields.items() if _is_open(field.annotation))


def _is_open(kind: Any) -> bool:
    if any(isinstance(each, Tag) and each.tag == UNKNOWN for each in get_args(kind)):
        return True
    return any(_is_open(part) for part in get_args(kind))


def _members(value: Any) -> list[Any]:
    """Of a list, of a mapping (a form's fields), or the one."""
    if isinstance(value, list):
        return value
    is_mapping = isinstance(value, dict) and not isinstance(
        value.get("type", value.get("sessionUpdate")), str
    )
    return list(value.values()) if is_mapping else [value]
