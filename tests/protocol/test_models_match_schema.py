"""The models compared with the official schema, field by field: strict or lenient where it says so."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic_core import SchemaValidator, ValidationError

from acp_tui.protocol import v1
from acp_tui.protocol.validators import reader_of
from support.schema import SHARED_MODELS, as_json, needs_schema, schema_v1

# Without models of their own: JSON-RPC's envelopes and identifiers, IDs and open enums (plain str and int here),
# capability markers (`Marker`), parts that a model includes, and what only acp-tui writes: the frame
# log of all tests (`support/frame_log.py`) validates that against the schema.
NOT_MODELLED = {
    *("LogoutRequest", "SetSessionModeRequest", "ResumeSessionRequest"),
    *(
        "CreateTerminalResponse",
        "TerminalOutputResponse",
        "WaitForTerminalExitResponse",
        "KillTerminalResponse",
    ),
    *("ReleaseTerminalResponse", "ReadTextFileResponse", "WriteTextFileResponse", "DeleteSessionRequest"),
    *("AgentRequest", "AgentResponse", "AgentNotification", "ClientRequest", "ClientResponse"),
    *("ClientNotification", "ExtRequest", "ExtResponse", "ExtNotification", "Error", "ErrorCode"),
    *(
        "ElicitationId",
        "MessageId",
        "CompactionId",
        "TerminalId",
        "ToolCallId",
        "SessionId",
        "PermissionOptionId",
    ),
    *("SessionModeId", "SessionConfigId", "SessionConfigValueId", "SessionConfigGroupId", "AuthMethodId"),
    *("ProtocolVersion", "CompactionStatus", "NoticeSeverity", "PermissionOptionKind", "PlanEntryPriority"),
    *("PlanEntryStatus", "StringFormat", "SessionConfigOptionCategory", "ElicitationSchemaType"),
    *(
        "CompactionCapabilities",
        "BooleanConfigOptionCapabilities",
        "NoticeCapabilities",
        "LogoutCapabilities",
    ),
    *("ElicitationFormCapabilities", "ElicitationUrlCapabilities", "SessionListCapabilities"),
    *("SessionDeleteCapabilities", "SessionAdditionalDirectoriesCapabilities", "SessionResumeCapabilities"),
    *(
        "SessionCloseCapabilities",
        "ElicitationSessionScope",
        "ElicitationRequestScope",
        "ElicitationAcceptAction",
    ),
}
# What the schema says outside a type, and a model inside it.
AROUND: dict[str, dict[str, Any]] = {
    "ElicitationFormMode": {"mode": "form", "message": "x"},
    "ElicitationUrlMode": {"mode": "url", "message": "x"},
    "SessionConfigSelect": {"id": "x", "name": "x"},
    "SessionConfigBoolean": {"id": "x", "name": "x"},
}
DEFINITIONS: dict[str, Any] = schema_v1()["$defs"]


def _modelled() -> dict[str, Any]:
    names = [info.name for info in pkgutil.iter_modules(v1.__path__)]
    wire = [
        name
        for name in names
        if not name.startswith(("inbound", "outbound", "connection", "methods", "encode_updates"))
    ]
    modules = [importlib.import_module(f"{v1.__name__}.{name}") for name in wire]
    own = {name: getattr(module, name) for module in modules for name in DEFINITIONS if hasattr(module, name)}
    return own | {name: model for name, model in SHARED_MODELS.items() if name in DEFINITIONS}


MODELS = _modelled()


def _reader(name: str) -> SchemaValidator:
    return reader_of(MODELS[name])


def _example(schema: Any) -> Any:
    """The smallest value the schema allows."""
    if "$ref" in schema:
        return _example(DEFINITIONS[schema["$ref"].rsplit("/", 1)[1]])
    if "const" in schema:
        return schema["const"]
    properties = schema.get("properties", {})
    value: Any = {name: _example(properties[name]) for name in schema.get("required", ()) if name in properties}
    parts = [*schema.get("allOf", ()), *schema.get("oneOf", ())[:1], *schema.get("anyOf", ())[:1]]
    for part in map(_example, parts):
        value = value | part if isinstance(part, dict) else part
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    scalars = {"string": "x", "integer": 1, "number": 1.5, "boolean": True, "array": [], "null": None}
    return scalars.get(kind, value)


def _fields() -> Iterator[tuple[str, str, Any]]:
    for name in sorted(MODELS):
        for field, schema in DEFINITIONS[name].get("properties", {}).items():
            yield name, field, schema


def _types(schema: Any) -> set[str]:
    if "$ref" in schema:
        return _types(DEFINITIONS[schema["$ref"].rsplit("/", 1)[1]])
    kinds = schema.get("type", [])
    found = {kinds} if isinstance(kinds, str) else set(kinds)
    return found.union(*(_types(part) for key in ("allOf", "anyOf", "oneOf") for part in schema.get(key, ())))


def _is_accepted(name: str, value: Any) -> bool:
    try:
        _reader(name).validate_python(value)
    except ValidationError:
        return False
    return True


@needs_schema
def test_every_type_of_the_schema_has_a_model() -> None:
    assert set(DEFINITIONS) - set(MODELS) - NOT_MODELLED == set()


@needs_schema
@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_smallest_example_survives_decoding_and_encoding(name: str) -> None:
    example = _example(DEFINITIONS[name])
    example = example | AROUND.get(name, {}) if isinstance(example, dict) else example
    encoded = as_json(_reader(name).validate_python(example), example)
    if isinstance(encoded, dict):
        encoded = {key: value for key, value in encoded.items() if key in example}
    assert encoded == example


@needs_schema
@pytest.mark.parametrize(("name", "field", "schema"), [pytest.param(*f, id=f"{f[0]}.{f[1]}") for f in _fields()])
def test_a_field_is_as_strict_as_the_schema(name: str, field: str, schema: Any) -> None:
    """R-LEN-1, R-LEN-2, R-LEN-3, R-LEN-5"""
    example = _example(DEFINITIONS[name]) | AROUND.get(name, {})
    is_lenient = schema.get("x-deserialize-default-on-error", False)
    types = _types(schema)
    if types:
        wrong = "x" if "number" in types else 1.5
        assert _is_accepted(name, example | {field: wrong}) is is_lenient
        takes_null = is_lenient or "null" in types or schema.get("x-deserialize-default-on-null", False)
        assert _is_accepted(name, example | {field: None}) is takes_null
    without = {key: value for key, value in example.items() if key != field}
    assert _is_accepted(name, without) is (field not in DEFINITIONS[name].get("required", ()))
    if schema.get("x-deserialize-skip-invalid-items"):
        raw = example | {field: [1.5, None]}
        encoded = as_json(_reader(name).validate_python(raw), raw)
        assert encoded[field] == []


@needs_schema
@pytest.mark.parametrize(
    ("name", "field", "schema"),
    [pytest.param(*f, id=f"{f[0]}.{f[1]}") for f in _fields() if "integer" in _types(f[2]) and f[1] != "requestId"],
)
def test_an_integer_is_no_bool_no_float_and_within_its_bounds(name: str, field: str, schema: Any) -> None:
    example = _example(DEFINITIONS[name]) | AROUND.get(name, {})

    def decoded(value: Any) -> Any:
        raw = example | {field: value}
        try:
            return as_json(_reader(name).validate_python(raw), raw)[field]
        except ValidationError:
            return None

    assert decoded(7) == 7
    assert [decoded(value) for value in (True, 1.0, "1", 2**64)] == [None] * 4
    if "minimum" in schema:
        assert decoded(-1) is None
