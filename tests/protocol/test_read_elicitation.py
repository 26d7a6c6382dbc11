"""Elicitations on the wire, read as values; and their answers, validated against the official schema."""

from __future__ import annotations

from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from acp_tui.conversation.elicitation import (
    BooleanField,
    ChoiceField,
    Field,
    FieldChoice,
    Form,
    MultiChoiceField,
    NumberField,
    TextField,
    UnknownField,
    UrlVisit,
)
from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.roles import ClientOffer, ElicitationAnswer
from acp_tui.protocol.v1.inbound import UNPARKED, read_elicitation
from acp_tui.protocol.v1.outbound import elicitation_answer
from support.schema import needs_schema, schema_v1

BOTH = ClientOffer(elicitation_form=True, elicitation_url=True)
RED = FieldChoice("r", "Red", "like blood")


def form(properties: Any, **schema: Any) -> Form:
    requested = {"properties": properties, **schema}
    params = {"mode": "form", "message": "m", "sessionId": "s", "requestedSchema": requested}
    session_id, elicitation = read_elicitation(params, BOTH)
    assert session_id == "s"
    assert isinstance(elicitation, Form)
    return elicitation


@pytest.mark.parametrize(
    ("prop", "field"),
    [
        ({"type": "string"}, TextField("f")),
        (
            {
                "type": "string",
                "title": "T",
                "minLength": 1,
                "maxLength": 2,
                "pattern": "a+",
                "format": "email",
            },
            TextField("f", "T", min_length=1, max_length=2, pattern="a+", format="email"),
        ),
        ({"type": "string", "default": 5}, TextField("f")),
        (
            {"type": "string", "enum": ["a", "b"], "default": "b"},
            ChoiceField("f", (FieldChoice("a", "a"), FieldChoice("b", "b")), default="b"),
        ),
        (
            {
                "type": "string",
                "oneOf": [{"const": "r", "title": "Red", "description": "like blood"}],
                "default": "x",
            },
            ChoiceField("f", (RED,)),
        ),
        ({"type": "number", "minimum": 0.5, "default": 1}, NumberField("f", default=1, minimum=0.5)),
        (
            {"type": "integer", "maximum": 9, "default": 1.5},
            NumberField("f", is_integer=True, maximum=9),
        ),
        (
            {"type": "boolean", "default": False, "description": "D"},
            BooleanField("f", None, "D", default=False),
        ),
        (
            {
                "type": "array",
                "items": {"type": "string", "enum": ["a"]},
                "default": ["a", "x"],
                "minItems": 1,
            },
            MultiChoiceField("f", (FieldChoice("a", "a"),), default=("a",), min_items=1),
        ),
        (
            {
                "type": "array",
                "items": {"anyOf": [{"const": "r", "title": "Red", "description": "like blood"}]},
            },
            MultiChoiceField("f", (RED,)),
        ),
        ({"type": "hologram", "x": 1}, UnknownField("f", "hologram", {"type": "hologram", "x": 1})),
    ],
)
def test_a_property_is_the_field_that_it_describes(prop: Any, field: Field) -> None:
    """R-ELIC-5, R-ELIC-6, R-ELIC-7."""
    assert form({"f": prop}).fields == (field,)


def test_a_list_of_unknown_things_is_no_list_of_choices() -> None:
    """R-ELIC-7."""
    [field] = form({"f": {"type": "array", "items": {"type": "hologram"}}}).fields
    assert isinstance(field, UnknownField)
    assert field.kind == "array"


def test_fields_keep_their_order_and_know_whether_they_are_required() -> None:
    """R-ELIC-4."""
    read = form({"b": {"type": "string"}, "a": {"type": "boolean"}}, required=["a"], title="T")
    assert [(field.name, field.is_required) for field in read.fields] == [("b", False), ("a", True)]
    assert (read.key, read.title) == (UNPARKED, "T")


def test_a_required_field_that_is_not_described_cannot_be_filled_in() -> None:
    """R-ELIC-7."""
    assert form({}, required=["x"]).fields == (UnknownField("x", "undescribed", None, is_required=True),)


def test_a_form_without_type_or_properties_is_an_empty_one() -> None:
    """R-ELIC-4."""
    params = {"mode": "form", "message": "m", "requestId": None, "requestedSchema": {"type": 5}}
    session_id, elicitation = read_elicitation(params, BOTH)
    assert session_id is None
    assert isinstance(elicitation, Form)
    assert elicitation.fields == ()


def test_a_page_is_read_as_it_is() -> None:
    """R-ELIC-11."""
    params = {"mode": "url", "message": "m", "elicitationId": "e", "url": "javascript:x", "sessionId": "s"}
    assert read_elicitation(params | {"toolCallId": "t"}, BOTH) == (
        "s",
        UrlVisit(UNPARKED, "m", "e", "javascript:x", "t"),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"requestedSchema": {"properties": {"f": {"type": "string", "minLength": -1}}}},
        {"requestedSchema": {"properties": {"f": {"type": "string", "enum": "ab"}}}},
        {"requestedSchema": {"properties": None}},
        {"requestedSchema": {"properties": {}, "required": "f"}},
        {"requestedSchema": None},
        {"message": None},
        {"sessionId": 5},
        {"mode": "hologram"},
        {"mode": None},
    ],
)
def test_what_an_answer_would_have_to_fit_is_read_strictly(changed: Any) -> None:
    """R-ELIC-2, R-LEN-3."""
    params = {"mode": "form", "message": "m", "sessionId": "s", "requestedSchema": {}}
    with pytest.raises(MalformedMessage):
        read_elicitation(params | changed, BOTH)


@needs_schema
@pytest.mark.parametrize(
    ("answer", "written"),
    [
        (ElicitationAnswer("accept"), {"action": "accept"}),
        (ElicitationAnswer("accept", {}), {"action": "accept", "content": {}}),
        (
            ElicitationAnswer("accept", {"t": "x", "i": 1, "f": 1.5, "b": True, "l": ["a"]}),
            {"action": "accept", "content": {"t": "x", "i": 1, "f": 1.5, "b": True, "l": ["a"]}},
        ),
        (ElicitationAnswer("decline", {"t": "x"}), {"action": "decline"}),
        (ElicitationAnswer("cancel"), {"action": "cancel"}),
    ],
)
def test_only_accepting_a_form_says_more_than_the_action(answer: ElicitationAnswer, written: Any) -> None:
    """R-ELIC-3, R-ELIC-8."""
    assert elicitation_answer(answer) == written
    # Without validating the schema itself, which takes half a second.
    schema = {"$ref": "#/$defs/CreateElicitationResponse", "$defs": schema_v1()["$defs"]}
    jsonschema.Draft202012Validator(schema).validate(elicitation_answer(answer))
