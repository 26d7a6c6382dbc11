"""What was filled in: whether it can be sent at all, with known fields of the right types; and what it is in words.

It does not judge lengths, ranges, patterns and formats: that is for whoever shows the form, field by field.
"""

from __future__ import annotations

from typing import Any, assert_never

from acp_tui.client.secrets.masking import MASK, masked_text
from acp_tui.client.secrets.questions import field_asks_for_secret, form_asks_for_secret
from acp_tui.conversation.elicitation import (
    BooleanField,
    ChoiceField,
    Field,
    FilledIn,
    Form,
    FormValues,
    KnownField,
    MultiChoiceField,
    NumberField,
    TextField,
    UnknownField,
)


def misfit(form: Form, values: FormValues) -> str | None:
    """What is wrong with the values; None where they fit."""
    fields = {field.name: field for field in form.fields}
    for name in values.keys() - fields.keys():
        return f"the form has no field {name!r}"
    for name, field in fields.items():
        if name not in values:
            if field.is_required:
                return f"the field {name!r} is required"
        elif not _fits(field, values[name]):
            return f"the value of {name!r} is none for such a field"
    return None


def _fits(field: Field, value: Any) -> bool:
    match field:
        case TextField():
            return isinstance(value, str)
        case NumberField():
            return type(value) is int or (type(value) is float and not field.is_integer)
        case BooleanField():
            return isinstance(value, bool)
        case ChoiceField():
            return value in [choice.value for choice in field.choices]
        case MultiChoiceField():
            known = [choice.value for choice in field.choices]
            return isinstance(value, list) and all(item in known for item in value)
        case UnknownField():
            return False
        case _:
            assert_never(field)


def in_words(form: Form, values: FormValues) -> tuple[FilledIn, ...]:
    """Each field that was filled in, for whoever reads of it later; where it seems to be a secret, masked."""
    asks_for_secret = form_asks_for_secret(form)
    return tuple(
        _filled_in(field, values[field.name], is_secret=asks_for_secret or field_asks_for_secret(field))
        for field in form.fields
        if field.name in values and not isinstance(field, UnknownField)
    )


def _filled_in(field: KnownField, value: Any, *, is_secret: bool) -> FilledIn:
    is_secret = is_secret and not isinstance(field, BooleanField)
    words = MASK if is_secret else masked_text(_words(field, value))
    return FilledIn(field.title or field.name, words)


def _words(field: KnownField, value: Any) -> str:
    """As the form shows it."""
    match field:
        case BooleanField():
            return "yes" if value else "no"
        case ChoiceField():
            return _title(field, value)
        case MultiChoiceField():
            return ", ".join(_title(field, each) for each in value) or "none"
        case _:
            return str(value)


def _title(field: ChoiceField | MultiChoiceField, value: str) -> str:
    return next((choice.title for choice in field.choices if choice.value == value), value)
