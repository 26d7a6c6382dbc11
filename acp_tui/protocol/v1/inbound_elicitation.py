"""Elicitations of ACP v1 as the conversation's values, and their answers as the wire has them; it asks nobody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, assert_never

from acp_tui.conversation.elicitation import (
    BooleanField,
    ChoiceField,
    Elicitation,
    Field,
    FieldChoice,
    Form,
    MultiChoiceField,
    NumberField,
    TextField,
    UnknownField,
    UrlVisit,
)
from acp_tui.conversation.facts import RequestKey, SessionId
from acp_tui.conversation.tool_calls import ToolCallId
from acp_tui.protocol.errors import MalformedMessage
from acp_tui.protocol.handler import ClientOffer, ElicitationAnswer
from acp_tui.protocol.v1 import elicitation
from acp_tui.protocol.wire import decode, to_wire

UNPARKED: Final = RequestKey(0)
"""The key of an elicitation until the client gives it one."""


def read_elicitation(params: Mapping[str, Any], offer: ClientOffer) -> tuple[SessionId | None, Elicitation]:
    """Whose question, None for no session's, and the question. Raises MalformedMessage, also for a mode not offered."""
    match params.get("mode"):
        case "form" if offer.elicitation_form:
            form = decode(elicitation.ElicitationFormMode, params)
            return _session_of(form), _form(form)
        case "url" if offer.elicitation_url:
            page = decode(elicitation.ElicitationUrlMode, params)
            return _session_of(page), _visit(page)
        case _:
            # Shown as one that we know it would be another question (R-ELIC-2).
            raise MalformedMessage("CreateElicitationRequest", "mode: not one that the client offers")


def read_completed(params: Any) -> str:
    """The id of an elicitation that the agent calls complete. Raises MalformedMessage."""
    return decode(elicitation.CompleteElicitationNotification, params).elicitation_id


def write_answer(answer: ElicitationAnswer) -> dict[str, Any]:
    """The answer on the wire: content goes only with accepting a form (R-ELIC-3, R-ELIC-11)."""
    if answer.action != "accept" or answer.values is None:
        return to_wire(elicitation.CreateElicitationResponse(action=answer.action))
    return to_wire(elicitation.CreateElicitationResponse(action=answer.action, content=answer.values))


def _session_of(request: elicitation.ElicitationMode) -> SessionId | None:
    return None if request.session_id is None else SessionId(request.session_id)


def _tool_call_of(request: elicitation.ElicitationMode) -> ToolCallId | None:
    return None if request.tool_call_id is None else ToolCallId(request.tool_call_id)


def _visit(request: elicitation.ElicitationUrlMode) -> UrlVisit:
    return UrlVisit(
        UNPARKED,
        request.message,
        request.elicitation_id,
        request.url,
        _tool_call_of(request),
        meta=request.meta,
    )


def _form(request: elicitation.ElicitationFormMode) -> Form:
    schema = request.requested_schema
    return Form(
        UNPARKED,
        request.message,
        tuple(_fields(schema)),
        schema.title,
        schema.description,
        _tool_call_of(request),
        request.meta,
    )


# Fields


def _fields(schema: elicitation.ElicitationSchema) -> Iterator[Field]:
    required = set(schema.required or ())
    for name, prop in schema.properties.items():
        yield _field(name, prop, name in required)
    # Required and not described: nothing that we could send would do.
    for name in sorted(required - schema.properties.keys()):
        yield UnknownField(name, "undescribed", None, is_required=True)


def _field(name: str, prop: elicitation.ElicitationPropertySchema, is_required: bool) -> Field:
    match prop:
        case elicitation.StringPropertySchema():
            return _string(name, prop, is_required)
        case elicitation.NumberPropertySchema() | elicitation.IntegerPropertySchema():
            return NumberField(
                name,
                prop.title,
                prop.description,
                is_required,
                isinstance(prop, elicitation.IntegerPropertySchema),
                prop.default,
                prop.minimum,
                prop.maximum,
            )
        case elicitation.BooleanPropertySchema():
            return BooleanField(name, prop.title, prop.description, is_required, prop.default)
        case elicitation.MultiSelectPropertySchema():
            return _multi_choice(name, prop, is_required)
        case dict():
            return UnknownField(name, str(prop.get("type")), prop, is_required)
        case _:
            assert_never(prop)


def _string(name: str, prop: elicitation.StringPropertySchema, is_required: bool) -> Field:
    choices = _choices(prop.enum, prop.one_of)
    if choices is not None:
        default = prop.default if prop.default in {choice.value for choice in choices} else None
        return ChoiceField(name, choices, prop.title, prop.description, is_required, default)
    return TextField(
        name,
        prop.title,
        prop.description,
        is_required,
        prop.default,
        prop.min_length,
        prop.max_length,
        prop.pattern,
        prop.format,
    )


def _multi_choice(name: str, prop: elicitation.MultiSelectPropertySchema, is_required: bool) -> Field:
    items = prop.items
    if isinstance(items, dict):
        return UnknownField(name, "array", prop.model_dump(by_alias=True, exclude_unset=True), is_required)
    if isinstance(items, elicitation.StringMultiSelectItems):
        choices = _choices(items.enum, None)
    else:
        choices = _choices(None, items.any_of)
    values = {choice.value for choice in choices or ()}
    return MultiChoiceField(
        name,
        choices or (),
        prop.title,
        prop.description,
        is_required,
        tuple(value for value in prop.default or () if value in values),
        prop.min_items,
        prop.max_items,
    )


def _choices(
    values: list[str] | None, titled: list[elicitation.EnumOption] | None
) -> tuple[FieldChoice, ...] | None:
    if titled is not None:
        return tuple(FieldChoice(option.const, option.title, option.description) for option in titled)
    return None if values is None else tuple(FieldChoice(value, value) for value in values)
