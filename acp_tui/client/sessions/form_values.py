"""Whether what was filled in can be sent at all: every field known, of its type, and the required ones there.

It does not judge lengths, ranges, patterns and formats: that is for whoever shows the form, field by field.
"""

from __future__ import annotations

from typing import Any, assert_never

from acp_tui.conversation.elicitation import (
    BooleanField,
    ChoiceField,
    Field,
    Form,
    FormValues,
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
