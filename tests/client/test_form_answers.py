"""What is sent for what the user entered in a form, and the message if it isn't valid."""

from typing import Any

import pytest

from acp_tui.client import form_answers
from acp_tui.client.form_answers import InvalidAnswer, Raw, check, check_all, pattern_note
from acp_tui.conversation.elicitation import (
    BooleanField,
    ChoiceField,
    Field,
    FieldChoice,
    MultiChoiceField,
    NumberField,
    TextField,
    UnknownField,
)

CHOICES = (FieldChoice("a", "A"), FieldChoice("b", "B"), FieldChoice("c", "C"))
CATASTROPHE = "^(a|a|b?)*(a|aa)*$"

FITS: list[tuple[Field, Raw, Any]] = [
    (TextField("f"), "  as written ", "  as written "),
    (TextField("f", min_length=2, max_length=2), "👩é", "👩é"),
    (TextField("f", format="email"), "me@example.org", "me@example.org"),
    (TextField("f", format="uri"), "urn:isbn:1", "urn:isbn:1"),
    (TextField("f", format="date"), "2024-02-29", "2024-02-29"),
    (TextField("f", format="date-time"), "2026-01-31T13:45:00.5+02:00", "2026-01-31T13:45:00.5+02:00"),
    (TextField("f", format="hostname"), "anything", "anything"),
    (TextField("f", pattern="^[a-z]+$"), "abc", "abc"),
    (TextField("f", pattern="b"), "abc", "abc"),
    (NumberField("f", is_integer=True, minimum=1, maximum=8), "8", 8),
    (NumberField("f", is_integer=True), " -3 ", -3),
    (NumberField("f"), "4.5", 4.5),
    (NumberField("f"), "1e3", 1000.0),
    (NumberField("f"), "7", 7),
    (BooleanField("f"), False, False),
    (BooleanField("f", is_required=True), True, True),
    (ChoiceField("f", CHOICES), "b", "b"),
    (MultiChoiceField("f", CHOICES, min_items=1, max_items=2), ["c", "a"], ["a", "c"]),
    (MultiChoiceField("f", CHOICES, is_required=True), [], []),
    (UnknownField("f", "object", {}), None, None),
]
DOES_NOT: list[tuple[Field, Raw, str]] = [
    (TextField("f", min_length=3), "ab", "at least 3 characters"),
    (TextField("f", max_length=1), "ab", "at most 1 character;"),
    (TextField("f", format="email"), "me@", "e-mail"),
    (TextField("f", format="uri"), "example.org", "whole address"),
    (TextField("f", format="uri"), "http://[", "whole address"),
    (TextField("f", format="date"), "2026-02-29", "a date"),
    (TextField("f", format="date-time"), "2026-01-31T13:45:00", "with a time zone"),
    (TextField("f", pattern="^[a-z]+$"), "ABC", "doesn't fit the agent's pattern"),
    (TextField("f", pattern=r"^\d$"), "٣", "pattern"),
    (NumberField("f", is_integer=True), "4.5", "whole number"),
    (NumberField("f", is_integer=True), "٣", "whole number"),
    (NumberField("f", is_integer=True), "9" * 5000, "whole number"),
    (NumberField("f"), "1e999", "a number"),
    (NumberField("f"), "nan", "a number"),
    (NumberField("f"), "1_0", "a number"),
    (NumberField("f", minimum=1), "0.5", "at least 1"),
    (NumberField("f", maximum=1), "2", "at most 1"),
    (BooleanField("f"), "true", "yes or no"),
    (ChoiceField("f", CHOICES), "d", "one of the choices"),
    (MultiChoiceField("f", CHOICES), ["d"], "one or more of the choices"),
    (MultiChoiceField("f", CHOICES, min_items=2), ["a"], "at least 2 choices"),
    (MultiChoiceField("f", CHOICES, max_items=1), ["a", "b"], "at most 1 choice;"),
    (MultiChoiceField("f", CHOICES, is_required=True, min_items=1), [], "required"),
    (UnknownField("f", "object", {}, is_required=True), None, "can't be answered"),
]
EMPTIES: list[tuple[type[Any], dict[str, Any], Raw]] = [
    (TextField, {"min_length": 3}, ""),
    (NumberField, {}, ""),
    (BooleanField, {}, None),
    (ChoiceField, {"choices": CHOICES}, None),
    (MultiChoiceField, {"choices": CHOICES, "min_items": 1}, []),
]


@pytest.mark.parametrize(("field", "raw", "value"), FITS)
def test_what_fits_is_sent_in_its_own_type(field: Field, raw: Raw, value: Any) -> None:
    answer = check(field, raw)

    assert answer == value
    assert type(answer) is type(value)


@pytest.mark.parametrize(("field", "raw", "words"), DOES_NOT)
def test_what_does_not_fit_is_said(field: Field, raw: Raw, words: str) -> None:
    with pytest.raises(InvalidAnswer) as raised:
        check(field, raw)
    assert words in str(raised.value)


@pytest.mark.parametrize(("kind", "more", "raw"), EMPTIES)
def test_an_empty_field_is_left_out_unless_it_is_required(kind: type[Any], more: dict[str, Any], raw: Raw) -> None:
    assert check(kind("f", **more), raw) is None
    with pytest.raises(InvalidAnswer, match="is required"):
        check(kind("f", is_required=True, **more), raw)


def test_a_form_is_checked_whole() -> None:
    fields = (
        TextField("a"),
        NumberField("b", is_integer=True),
        TextField("c", is_required=True),
        TextField("d"),
    )

    assert check_all(fields, {"a": "x", "b": "two", "c": ""}) == (
        {"a": "x"},
        {"b": "must be a whole number, such as 42", "c": "is required"},
    )


# Patterns are an agent's (R-ELIC-9)


def test_a_pattern_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(form_answers, "PATTERN_TIMEOUT_S", 0.01)

    with pytest.raises(InvalidAnswer, match="takes too long to check"):
        check(TextField("f", pattern=CATASTROPHE), "a" * 40 + "!")


@pytest.mark.parametrize("pattern", ["(", r"\u{1F600}", "a{2,1}", "(?<n>a)(?<n", "a" * 5000])
def test_a_pattern_that_cannot_be_read_is_not_checked_and_said_so(pattern: str) -> None:
    field = TextField("f", pattern=pattern)

    assert check(field, "anything") == "anything"
    assert "only the agent can check it" in pattern_note(field)


def test_a_pattern_that_can_be_read_is_told() -> None:
    assert pattern_note(TextField("f", pattern="^(?<year>[0-9]{4})$")) == "fits ^(?<year>[0-9]{4})$"
    assert pattern_note(TextField("f", pattern="a" * 500)).endswith("aaa …")
    assert pattern_note(TextField("f")) == pattern_note(NumberField("f")) == ""
