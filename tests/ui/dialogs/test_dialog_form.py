"""Forms: every kind of field, with the keyboard alone, and what goes back to the agent."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.events import Key

from acp_tui.conversation.elicitation import (
    BooleanField,
    ChoiceField,
    Field,
    FieldChoice,
    Form,
    FormValues,
    MultiChoiceField,
    NumberField,
    TextField,
    UnknownField,
)
from acp_tui.conversation.facts import RequestKey
from acp_tui.ui.screens.form import FormDialog
from acp_tui.ui.widgets.fields.editors import SECRET_WARNING
from support.dialogs import NOTHING, SIZE, DialogPage, open_dialog
from support.screens import rows

CHOICES = (FieldChoice("a", "First", "what it is"), FieldChoice("b", "Second"), FieldChoice("c", "Third"))


def dialog(*fields: Field, message: str = "Please say") -> FormDialog:
    return FormDialog(Form(RequestKey(1), message, fields), "Agent")


@asynccontextmanager
async def open_form(form: FormDialog, size: tuple[int, int] = SIZE) -> AsyncIterator[DialogPage]:
    """The form, with the user in its first field."""
    async with open_dialog(form, size=size) as page:
        await page.press("tab")
        yield page


ANSWERS: list[tuple[Field, tuple[str, ...], FormValues]] = [
    (TextField("f"), ("h", "i"), {"f": "hi"}),
    (TextField("f", default="as it is"), (), {"f": "as it is"}),
    (TextField("f", default="ab"), ("backspace",), {"f": "a"}),
    (TextField("f"), (), {}),
    (NumberField("f", is_integer=True), ("4", "2"), {"f": 42}),
    (NumberField("f", is_integer=True, default=3.0), (), {"f": 3}),
    (NumberField("f", default=0.5), (), {"f": 0.5}),
    (NumberField("f", default=0), (), {"f": 0}),
    (BooleanField("f"), (), {}),
    (BooleanField("f", default=False), (), {"f": False}),
    (BooleanField("f"), ("down", "space"), {"f": True}),
    (BooleanField("f", default=True), ("down", "space"), {"f": False}),
    (ChoiceField("f", CHOICES), (), {}),
    (ChoiceField("f", CHOICES, default="b"), (), {"f": "b"}),
    (ChoiceField("f", CHOICES, default="gone"), (), {}),
    (ChoiceField("f", CHOICES), ("down", "down", "space"), {"f": "b"}),
    (ChoiceField("f", CHOICES, default="b"), ("backspace",), {}),
    (MultiChoiceField("f", CHOICES), (), {}),
    (MultiChoiceField("f", CHOICES, default=("c", "a")), (), {"f": ["a", "c"]}),
    (MultiChoiceField("f", CHOICES), ("down", "space", "down", "down", "space"), {"f": ["a", "c"]}),
    (MultiChoiceField("f", CHOICES, default=("a",)), ("space",), {}),
    (UnknownField("f", "object", {"a": 1}), (), {}),
]


@pytest.mark.parametrize(("field", "keys", "values"), ANSWERS)
async def test_ctrl_enter_sends_each_kind_in_its_own_type(
    field: Field, keys: tuple[str, ...], values: FormValues
) -> None:
    async with open_form(dialog(field)) as page:
        await page.press(*keys, "ctrl+enter")
        assert page.result == ("accept", values)
        assert [type(value) for value in page.result[1].values()] == [
            type(value) for value in values.values()
        ]


WRONG: list[tuple[Field, tuple[str, ...], str]] = [
    (TextField("f", is_required=True), (), "is required"),
    (TextField("f", min_length=3), ("a",), "at least 3 characters"),
    (TextField("f", pattern="^b"), ("a",), "must fit"),
    (NumberField("f", is_integer=True), ("4", ".", "5"), "whole number"),
    (NumberField("f", maximum=5), ("6",), "at most 5"),
    (BooleanField("f", is_required=True), (), "is required"),
    (ChoiceField("f", CHOICES, is_required=True), (), "is required"),
    (MultiChoiceField("f", CHOICES, max_items=1, default=("a", "b")), (), "at most 1 choice"),
]


@pytest.mark.parametrize(("field", "keys", "words"), WRONG)
async def test_what_does_not_fit_is_said_beside_the_field_and_not_sent(
    field: Field, keys: tuple[str, ...], words: str
) -> None:
    async with open_form(dialog(field)) as page:
        await page.press(*keys, "ctrl+enter")
        assert page.result is NOTHING
        assert words in page.words


async def test_a_mended_answer_is_sent() -> None:
    async with open_form(dialog(TextField("a"), TextField("b", min_length=2), TextField("c"))) as page:
        await page.press(
            "tab", "x", "tab", "ctrl+enter", "y", "ctrl+enter"
        )  # the focus went to what was wrong
        assert page.result == ("accept", {"b": "xy"})


CHANGES: list[tuple[Field, tuple[str, ...], tuple[str, ...]]] = [
    (TextField("f", is_required=True), (), ("x",)),
    (TextField("f", default="one\ntwo", max_length=3), (), ("x",)),
    (NumberField("f", maximum=5), ("6",), ("backspace",)),
    (BooleanField("f", is_required=True), (), ("down", "space")),
    (ChoiceField("f", CHOICES, is_required=True), (), ("space", "space")),
    (MultiChoiceField("f", CHOICES, min_items=3, default=("a", "b")), (), ("space",)),
]


@pytest.mark.parametrize(("field", "before", "change"), CHANGES)
async def test_what_was_wrong_is_said_until_the_answer_is_another(
    field: Field, before: tuple[str, ...], change: tuple[str, ...]
) -> None:
    async with open_form(dialog(field)) as page:
        await page.press(*before, "ctrl+enter")
        assert "✗" in page.words
        await page.press(*change[:-1])
        assert "✗" in page.words
        await page.press(change[-1])
        assert "✗" not in page.words


async def test_an_answer_that_was_typed_and_sent_at_once_keeps_what_is_said_of_it() -> None:
    async with open_form(dialog(NumberField("f", maximum=5))) as page:
        for key in ("6", "ctrl+enter"):  # the second comes before the first has been told of
            page.app.post_message(Key(key, key if len(key) == 1 else None))
        await page.settled()
        assert "at most 5" in page.words


@pytest.mark.parametrize("field", [BooleanField("f"), ChoiceField("f", CHOICES)])
async def test_space_brings_a_cursor_that_is_not_there_and_then_chooses_in_view(field: Field) -> None:
    async with open_form(dialog(field)) as page:
        assert "↑ ↓ and Space choose one" in page.words
        await page.press("space")
        assert "◉" not in page.words
        await page.press("space")
        assert "◉" in page.words


async def test_the_field_that_is_answered_is_marked_and_whole_in_view() -> None:
    fields = [TextField(f"field-{number}") for number in range(9)]
    last = ChoiceField("last", CHOICES, is_required=True)
    async with open_form(dialog(*fields, last), size=(80, 24)) as page:
        assert "▌ field-0" in page.text
        await page.press(*["enter"] * 9, "ctrl+enter")
        for words in ("▌ last", "▌ ○ First", "▌ ○ Third", "▌ ✗ is required"):
            assert words in page.text


async def test_enter_leads_through_the_fields_and_from_the_last_one_sends() -> None:
    fields = (TextField("a"), BooleanField("b"), ChoiceField("c", CHOICES), MultiChoiceField("d", CHOICES))
    async with open_form(dialog(*fields, UnknownField("e", "object", {}))) as page:
        await page.press("x", "enter", "enter", "down", "enter", "down", "space")
        assert page.result is NOTHING
        await page.press("enter")
        assert page.result == ("accept", {"a": "x", "c": "a", "d": ["a"]})


async def test_enter_on_a_choice_that_was_not_moved_to_chooses_nothing() -> None:
    async with open_form(dialog(BooleanField("delete everything", is_required=True))) as page:
        await page.press("enter")
        assert page.result is NOTHING


async def test_a_form_without_fields_is_not_accepted_by_enter() -> None:
    async with open_dialog(dialog()) as page:
        await page.press("enter", "space")
        assert page.result is NOTHING
        await page.press("tab", "enter")
        assert page.result == ("accept", {})


async def test_esc_cancels_and_the_button_declines() -> None:
    async with open_form(dialog(TextField("a"))) as page:
        await page.press("x", "escape")
        assert page.result == ("cancel", None)
    async with open_form(dialog(TextField("a"))) as page:
        await page.press("tab", "tab", "enter")
        assert page.result == ("decline", None)


async def test_it_works_by_mouse() -> None:
    async with open_form(dialog(ChoiceField("a", CHOICES))) as page:
        await page.click("Second")
        await page.click("Send")
        assert page.result == ("accept", {"a": "b"})


async def test_a_required_field_of_an_unknown_kind_can_only_be_declined_or_cancelled() -> None:
    fields = (TextField("a"), UnknownField("where", "object", {"type": "object"}, is_required=True))
    async with open_form(dialog(*fields)) as page:
        assert "This cannot be sent: “where” is required" in page.words
        assert '{"type": "object"}' in page.words
        await page.click("Send")
        await page.press("x", "ctrl+enter", "enter")
        assert page.result is NOTHING
        await page.press("tab", "enter")
        assert page.result == ("decline", None)


async def test_it_names_the_agent_and_what_each_field_wants() -> None:
    fields = (
        TextField("n", "Name", "of the project", True, min_length=3, max_length=9),
        NumberField("w", is_integer=True, minimum=1),
        TextField("p", pattern="("),
    )
    async with open_form(dialog(*fields)) as page:
        for words in (
            "Agent asks",
            "Name required",
            "of the project",
            "3 to 9 characters",
            "w optional",
            "at least 1",
        ):
            assert words in page.words
        assert "only the agent can check it" in page.words


async def test_a_field_that_looks_like_a_secret_is_warned_of() -> None:
    async with open_form(dialog(TextField("apiKey"))) as page:
        assert SECRET_WARNING in page.words
    async with open_form(dialog(TextField("name"))) as page:
        assert SECRET_WARNING not in page.words


async def test_a_default_of_several_lines_is_sent_as_it_is() -> None:
    async with open_form(dialog(TextField("a", default="one\n\ttwo"))) as page:
        await page.press("ctrl+enter")
        assert page.result == ("accept", {"a": "one\n\ttwo"})


async def test_a_default_that_cannot_be_seen_is_not_filled_in_unseen() -> None:
    async with open_form(dialog(TextField("a", default="safe\u202e\x1b[2J"))) as page:
        assert "not filled in: safe⟨U+202E⟩␛[2J" in page.words
        await page.press("ctrl+enter")
        assert page.result == ("accept", {})


async def test_a_choice_that_has_no_room_is_shown_whole_under_the_cursor() -> None:
    long = FieldChoice("a", "A title", "with many words " * 10 + "and an end")
    async with open_form(dialog(ChoiceField("a", (long, *CHOICES))), size=(60, 30)) as page:
        assert "and an end" not in page.words
        await page.press("down")
        assert "and an end" in page.words


async def test_every_field_of_a_long_form_is_reached_on_a_small_screen() -> None:
    fields = tuple(TextField(f"field-{number}", description="about it") for number in range(30))
    async with open_form(dialog(*fields), size=(40, 24)) as page:
        await page.press(*["enter"] * 29, "z")
        assert "field-29" in page.words
        await page.press("enter")
        assert page.result == ("accept", {"field-29": "z"})


async def test_an_address_in_its_words_cannot_be_clicked() -> None:
    """R-ELIC-10."""
    form = dialog(
        TextField("f", title="See http://a.example"), message="[Go](https://b.example) https://c.example"
    )
    async with open_form(form) as page:
        segments = [segment for strip in rows(page.pilot) for segment in strip]
        assert "https://b.example" in page.words
        assert [segment.text for segment in segments if segment.style and segment.style.link] == []
        assert not any("click" in str(segment.style.meta) for segment in segments if segment.style)
