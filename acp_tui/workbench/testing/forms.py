"""A form or a page in words, with an example of how a test answers it; what is answered the test says."""

from __future__ import annotations

from collections.abc import Iterator

from acp_tui.conversation.elicitation import (
    BooleanField,
    ChoiceField,
    Elicitation,
    Field,
    Form,
    MultiChoiceField,
    NumberField,
    TextField,
)
from acp_tui.conversation.visible import make_visible_line


def described(elicitation: Elicitation) -> list[str]:
    """What is to be filled in, a line a field; the address of a page."""
    if not isinstance(elicitation, Form):
        return [f"page {make_visible_line(elicitation.url)}"]
    return [make_visible_line(_line(field)) for field in elicitation.fields]


def _line(field: Field) -> str:
    required = "; required" if field.is_required else ""
    return f"field {field.name!r}: {_wanted(field)}{required}"


def _wanted(field: Field) -> str:
    match field:
        case TextField():
            return "a text" if field.format is None else f"a text, {field.format}"
        case NumberField():
            return "a whole number" if field.is_integer else "a number"
        case BooleanField():
            return "True or False"
        case ChoiceField():
            return f"one of {', '.join(repr(choice.value) for choice in field.choices)}"
        case MultiChoiceField():
            return f"a list, of {', '.join(repr(choice.value) for choice in field.choices)}"
        case _:
            return f"{field.kind}, which acp-tui does not know"


def example(elicitation: Elicitation) -> str:
    """Arguments that fill in what is required, or all where nothing is; "" for a page."""
    if not isinstance(elicitation, Form):
        return ""
    required = [field for field in elicitation.fields if field.is_required]
    return make_visible_line(_arguments(dict(_values(required or elicitation.fields))))


def _values(fields: list[Field] | tuple[Field, ...]) -> Iterator[tuple[str, object]]:
    for field in fields:
        match field:
            case TextField():
                yield field.name, field.default or "..."
            case NumberField():
                yield (
                    field.name,
                    next((each for each in (field.default, field.minimum) if each is not None), 1),
                )
            case BooleanField():
                yield field.name, True
            case ChoiceField():
                yield field.name, field.choices[0].value if field.choices else "..."
            case MultiChoiceField():
                yield field.name, [choice.value for choice in field.choices[:1]]


def _arguments(values: dict[str, object]) -> str:
    if all(name.isidentifier() for name in values):
        return ", ".join(f"{name}={value!r}" for name, value in values.items())
    return f"**{values!r}"
