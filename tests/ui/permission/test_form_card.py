"""Forms on their card: every kind of field, by keyboard alone, and the answer sent to the agent."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from random import Random

import pytest
from textual.events import Key
from textual.widgets import Button

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
from acp_tui.ui.kit.field_editors import SECRET_WARNING, FieldEditor
from acp_tui.ui.permission.form_card import FormCard
from acp_tui.ui.prompt.input import IDLE_S
from support.folding import ALLOW
from support.screens import SIZE, Page, open_page, rows

CHOICES = (FieldChoice("a", "First", "what it is"), FieldChoice("b", "Second"), FieldChoice("c", "Third"))


MORE = TextField("more")
"""Added beside a choice, so that choosing doesn't answer the form."""


def form(*fields: Field, message: str = "Please say") -> Form:
    return Form(RequestKey(1), message, fields)


@asynccontextmanager
async def open_form(asked: Form, size: tuple[int, int] = SIZE) -> AsyncIterator[Page]:
    """The form, with the user in its first field; a single choice stays on the card."""
    async with open_page(size=size) as page:
        await page.elicit(asked)
        await page.press_slowly("tab")
        yield page


ANSWERS: list[tuple[Field, tuple[str, ...], FormValues]] = [
    (TextField("f"), ("h", "i"), {"f": "hi"}),
    (TextField("f", default="as it is"), (), {"f": "as it is"}),
    (TextField("f", default="one\n\ttwo"), (), {"f": "one\n\ttwo"}),
    (TextField("f", default="one\ntwo"), ("ctrl+x",), {"f": "one\ntwo"}),
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


@pytest.mark.parametrize("is_default", [True, False], ids=["as filled in", "changed"])
async def test_ctrl_s_sends_each_kind_in_its_own_type(is_default: bool) -> None:
    answers = [(replace(field, name=f"{at}"), keys, values) for at, (field, keys, values) in enumerate(ANSWERS)]
    answers = [(field, keys, values) for field, keys, values in answers if is_default is (not keys)]
    expected = {field.name: value for field, _, values in answers for value in values.values()}
    async with open_form(form(*(field for field, *_ in answers))) as page:
        for _, keys, _ in () if is_default else answers:
            await page.press_slowly(*keys, "tab")
        while not page.answers:
            await page.press_slowly("ctrl+s")
        ((action, sent),) = page.answers
        assert (action, sent) == ("accept", expected)
        assert list(map(type, (sent or {}).values())) == list(map(type, expected.values()))


async def test_a_mended_answer_is_sent() -> None:
    async with open_form(form(TextField("a"), TextField("b", min_length=2), TextField("c"))) as page:
        await page.press_slowly("tab", "x", "tab", "ctrl+s", "y", "ctrl+s")  # the invalid field has the focus
        assert await page.gets_answer() == ("accept", {"b": "xy"})


CHANGES: list[tuple[Field, tuple[str, ...], str, tuple[str, ...]]] = [
    (TextField("f", is_required=True), (), "is required", ("x",)),
    (TextField("f", default="one\ntwo", max_length=3), (), "at most 3 characters", ("x",)),
    (NumberField("f", maximum=5), ("6",), "at most 5", ("backspace",)),
    (BooleanField("f", is_required=True), (), "is required", ("down", "space")),
    (ChoiceField("f", CHOICES, is_required=True), (), "is required", ("space", "space")),
    (MultiChoiceField("f", CHOICES, min_items=3, default=("a", "b")), (), "at least 3 choices", ("space",)),
]
"""What doesn't fit is decided in `tests/client/test_form_answers.py`."""


async def test_what_does_not_fit_is_not_sent_and_is_said_until_the_answer_is_another() -> None:
    async with open_page() as page:
        for field, before, words, change in CHANGES:
            await page.elicit(form(field, MORE))
            await page.press_slowly("tab", *before, "ctrl+s")
            assert page.answers == [], field
            assert words in page.words, field
            await page.press_slowly(*change[:-1])
            assert "✗" in page.words, field
            await page.press_slowly(change[-1])
            assert "✗" not in page.words, field
            await page.start_over()


async def test_an_answer_that_was_typed_and_sent_at_once_keeps_what_is_said_of_it() -> None:
    async with open_form(form(NumberField("f", maximum=5))) as page:
        for key in ("6", "ctrl+s"):  # the second arrives before the first was reported
            page.pilot.app.post_message(Key(key, key if len(key) == 1 else None))
        await page.settled()
        assert "at most 5" in page.words


async def test_space_brings_a_cursor_that_is_not_there_and_then_chooses_in_view() -> None:
    async with open_page() as page:
        for field in (BooleanField("f"), ChoiceField("f", CHOICES)):
            await page.elicit(form(field, MORE))
            await page.press_slowly("tab")
            assert "Space choose" in page.words, field
            await page.press_slowly("space")
            assert "◉" not in page.words, field
            await page.press_slowly("space")
            assert "◉" in page.words, field
            await page.start_over()


async def test_on_the_smallest_screen_a_question_shows_its_answers_and_how_to_give_one() -> None:
    asked = form(ChoiceField("database", CHOICES), message="Which database shall I use for the project?")
    async with open_form(asked, size=(40, 12)) as page:
        for part in ("for the project?", "1 ○ First", "Send 0 Decline Cancel", "1-3 ↑↓ Enter answer"):
            assert part in page.words


@pytest.mark.parametrize("seed", range(4))
async def test_keys_that_come_together_do_in_a_form_what_they_do_one_by_one(seed: int) -> None:
    edits = ("a", "b", "2", "space", "backspace", "delete", "left", "right", "home", "end", "ctrl+w")
    keys = Random(seed).choices((*edits, "tab", "enter", "down"), k=60)
    fields = (TextField("one", default="as it is"), ChoiceField("which", CHOICES), TextField("two", default="x\n"))
    filled = []
    for is_burst in (False, True):
        async with open_form(form(*fields)) as page:
            await (page.press_at_once(*keys) if is_burst else page.press(*keys))
            editors = page.pilot.app.screen.query(FieldEditor)
            filled.append([(editor.raw, editor.control.has_focus) for editor in editors])
    assert filled[0] == filled[1]


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 16)])
async def test_who_asks_and_the_buttons_stay_in_view_while_a_long_form_scrolls(size: tuple[int, int]) -> None:
    fields = tuple(TextField(f"field-{number}", description="about it") for number in range(12))
    async with open_form(form(*fields), size=size) as page:
        for keys in ((), ("pagedown",), ("tab",) * 11):
            await page.press(*keys)
            assert "Send 0 Decline Cancel" in page.words, keys
            assert "The agent asks" in page.words, keys
        assert "▌ field-11" in page.text
        assert page.text.count("─" * (size[0] - 4)) == 4, "no words in the frames of the form and the prompt"


async def test_a_row_below_the_buttons_counts_as_unseen() -> None:
    many = tuple(FieldChoice(f"{number}", f"Way {number}") for number in range(1, 9))
    async with open_form(form(ChoiceField("f", many)), size=(80, 20)) as page:
        hidden = next(number for number in range(1, 9) if f"Way {number}" not in page.words)
        await page.press_slowly(f"{hidden}")
        assert page.answers == []
        assert "You hadn't seen that row" in page.text
        assert f"Way {hidden}" in page.words
        await page.press_slowly(f"{hidden}")
        assert await page.gets_answer() == ("accept", {"f": f"{hidden}"})


async def test_the_field_that_is_answered_is_marked_and_whole_in_view() -> None:
    fields = [TextField(f"field-{number}") for number in range(6)]
    last = ChoiceField("last", CHOICES, is_required=True)
    async with open_form(form(*fields, last), size=(80, 24)) as page:
        assert "▌ field-0" in page.text
        await page.press_slowly(*["enter"] * 6, "ctrl+s")
        shown = page.text
        for words in ("▌ last", "▌ 1 ○ First", "▌ 3 ○ Third", "▌ ✗ is required"):
            assert words in shown


@pytest.mark.parametrize("default", [None, "two\nlines"])
@pytest.mark.parametrize("size", [(80, 24), (60, 16), (40, 12)])
async def test_the_field_with_the_keyboard_stays_in_view_when_the_screen_gets_smaller(
    size: tuple[int, int], default: str | None
) -> None:
    fields = [TextField(f"field-{number}", description="about it " * 12) for number in range(4)]
    last = TextField("last", description="about it " * 12, default=default)
    async with open_form(form(*fields, last), size=(120, 40)) as page:
        await page.press_slowly(*["tab"] * 4, *"words")
        assert "words" in page.text
        await page.pilot.resize_terminal(*size)
        await page.until(lambda: "words" in page.text)
        await page.press("pageup", "pageup", *"more")
        await page.until(lambda: "wordsmore" in page.text)


async def test_a_form_is_sent_only_once_all_its_fields_were_in_view() -> None:
    fields = [TextField(f"f{number}", title=f"Field {number}") for number in range(12)]
    async with open_form(form(*fields), size=(80, 24)) as page:
        sent, focused = 0, list[str]()
        while not page.answers:
            await page.press_slowly("ctrl+s")
            sent += 1
            if not page.answers:
                assert "You hadn't seen this field: read on, then send again" in page.words
                focused.append(
                    next(
                        editor.field.name
                        for editor in page.pilot.app.screen.query(FieldEditor)
                        if editor.control.has_focus
                    )
                )
        assert 1 < sent < len(fields)
        assert "f0" not in focused
        assert focused == sorted(set(focused), key=lambda name: int(name[1:]))


async def test_a_form_that_was_read_to_its_end_is_sent_at_once() -> None:
    fields = [TextField(f"f{number}", title=f"Field {number}") for number in range(12)]
    async with open_form(form(*fields), size=(80, 24)) as page:
        while "Field 11" not in page.text:
            await page.press_slowly("pagedown")
        await page.press_slowly("pagedown", "ctrl+s")
        assert len(page.answers) == 1


async def test_tab_leads_to_the_first_field_of_a_form_that_has_just_come() -> None:
    async with open_page() as page:
        await page.elicit(form(TextField("name"), TextField("more")))
        page.pilot.app.screen.query_one(FormCard).guard.come_unasked()
        await page.press("tab", *"Ada")
        await page.press_slowly("ctrl+s")
        assert [values for _, values in page.answers] == [{"name": "Ada"}]


async def test_enter_leads_through_the_fields_and_from_the_last_one_sends() -> None:
    fields = (TextField("a"), BooleanField("b"), ChoiceField("c", CHOICES), MultiChoiceField("d", CHOICES))
    async with open_form(form(*fields, UnknownField("e", "object", {}))) as page:
        await page.press_slowly("x", "enter", "enter", "down", "enter", "down", "space")
        assert page.answers == []
        await page.press_slowly("enter")
        assert await page.gets_answer() == ("accept", {"a": "x", "c": "a", "d": ["a"]})


async def test_enter_on_a_choice_that_was_not_moved_to_chooses_nothing() -> None:
    async with open_form(form(BooleanField("delete everything", is_required=True), MORE)) as page:
        await page.press_slowly("enter")
        assert page.answers == []


async def test_a_form_without_fields_is_not_accepted_by_enter() -> None:
    async with open_form(form()) as page:
        await page.press_slowly("enter", "space")
        assert page.answers == []
        await page.press_slowly("tab", "enter")
        assert await page.gets_answer() == ("accept", {})


async def test_a_form_is_declined_and_cancelled() -> None:
    async with open_page() as page:
        for keys, action in (("tab tab enter", "decline"), ("tab tab tab enter", "cancel"), ("shift+tab 0", "decline")):
            await page.elicit(form(TextField("a")))
            await page.press_slowly("tab", *keys.split())
            assert await page.gets_answer() == (action, None), keys
            await page.start_over()


async def test_esc_leads_back_to_the_prompt_and_what_is_filled_in_stays() -> None:
    async with open_form(form(TextField("a"))) as page:
        await page.press_slowly("x", "escape", "d", "tab", "y", "enter")
        assert page.draft == "d"
        assert await page.gets_answer() == ("accept", {"a": "xy"})


# A form with a single choice


async def test_a_number_answers_a_form_that_is_one_choice_or_yes_or_no() -> None:
    async with open_page() as page:
        for field, words, value in (
            (ChoiceField("f", CHOICES, is_required=True), "1 ○ First what it is 2 ○ Second", "b"),
            (ChoiceField("f", CHOICES), "1 ○ First what it is 2 ○ Second", "b"),
            (BooleanField("f"), "1 ○ Yes 2 ○ No", False),
        ):
            await page.elicit(form(field))
            await page.press_slowly("tab")
            assert words in page.words, field
            await page.press_slowly("2")
            assert await page.gets_answer() == ("accept", {"f": value}), field
            assert page.prompt.has_focus, field
            await page.start_over()


async def test_arrows_and_enter_answer_it_too_and_enter_alone_answers_nothing() -> None:
    async with open_form(form(ChoiceField("f", CHOICES, default="a"))) as page:
        await page.press_slowly("enter")
        assert page.answers == []
        await page.press_slowly("down", "down", "enter")
        assert await page.gets_answer() == ("accept", {"f": "b"})


async def test_a_number_that_no_choice_has_does_nothing_but_say_so() -> None:
    async with open_form(form(ChoiceField("f", CHOICES))) as page:
        await page.press_slowly("7")
        assert "No answer has that number" in page.text
        assert (page.answers, page.draft) == ([], "")


async def test_text_that_begins_with_a_number_goes_whole_into_the_draft() -> None:
    async with open_page() as page:
        await page.elicit(form(ChoiceField("f", CHOICES)))
        await page.press("tab", *"1 is wrong")
        assert (page.answers, page.draft) == ([], "1 is wrong")


async def test_a_number_that_came_too_soon_is_told_with_the_way_to_answer() -> None:
    async with open_page() as page:
        await page.elicit(form(ChoiceField("f", CHOICES)))
        await page.press("2")
        assert "2 went into your prompt; press Tab, then 2" in page.text
        await page.press("tab")
        assert "went into your prompt" not in page.text
        await page.press_slowly("2")
        assert await page.gets_answer() == ("accept", {"f": "b"})
        assert page.draft == ""


async def test_a_choice_that_is_out_of_view_comes_into_view_before_its_number_counts() -> None:
    asked = form(ChoiceField("f", CHOICES), message="word " * 400)
    async with open_form(asked, size=(60, 20)) as page:
        assert "Third" not in page.words
        await page.press_slowly("3")
        assert page.answers == []
        assert "Third" in page.words
        await page.press_slowly("3")
        assert await page.gets_answer() == ("accept", {"f": "c"})


async def test_in_a_form_of_several_fields_a_number_chooses_and_sends_nothing() -> None:
    fields = (ChoiceField("a", CHOICES), MultiChoiceField("b", CHOICES))
    async with open_form(form(*fields)) as page:
        await page.press_slowly("2", "tab", "1", "3", "2", "2")
        assert page.answers == []
        await page.press_slowly("ctrl+s")
        assert await page.gets_answer() == ("accept", {"a": "b", "b": ["a", "c"]})


async def test_where_a_form_came_by_itself_a_number_chooses_in_its_first_field() -> None:
    async with open_page() as page:
        for first, value in ((ChoiceField("a", CHOICES), "b"), (MultiChoiceField("a", CHOICES), ["b"])):
            page.clock.pass_guard()
            await page.elicit(form(first, MORE))
            assert not page.prompt.has_focus
            assert "1-3 choose · Tab fill in" in page.words
            assert "2 ○ Second" in page.words or "2 □ Second" in page.words
            await page.press("2")
            assert "Too soon" in page.words
            await page.press_slowly("2")
            assert page.answers == []
            await page.press_slowly("enter", *"why", "enter")
            assert await page.gets_answer() == ("accept", {"a": value, "more": "why"})
            assert page.draft == ""
            await page.start_over()


@pytest.mark.usefixtures("keys_are_held")
async def test_text_that_begins_with_a_number_chooses_nothing_in_a_first_field() -> None:
    async with open_page() as page:
        page.clock.pass_guard()
        await page.elicit(form(ChoiceField("a", CHOICES), MORE))
        await page.press_slowly("2")
        assert "2 chooses in a moment" in page.words
        await page.press(*" more")
        assert page.draft == "2 more"
        await page.press_slowly("tab", "ctrl+s")
        assert await page.gets_answer() == ("accept", {})


async def test_it_works_by_mouse() -> None:
    async with open_form(form(ChoiceField("a", CHOICES))) as page:
        await page.click("Second")
        assert page.answers == []
        page.clock.pass_guard()
        await page.click("Send")
        assert await page.gets_answer() == ("accept", {"a": "b"})


async def test_a_required_field_of_an_unknown_kind_can_only_be_declined_or_cancelled() -> None:
    fields = (TextField("a"), UnknownField("where", "object", {"type": "object"}, is_required=True))
    async with open_form(form(*fields)) as page:
        assert "Can't send this: “where” is required" in page.words
        assert '{"type": "object"}' in page.words
        await page.click("Send")
        await page.press_slowly("tab", "x", "ctrl+s", "enter")
        assert page.answers == []
        await page.press_slowly("tab", "enter")
        assert await page.gets_answer() == ("decline", None)


async def test_it_names_the_agent_and_what_each_field_wants() -> None:
    fields = (
        TextField("n", "Name", "of the project", True, min_length=3, max_length=9),
        NumberField("w", is_integer=True, minimum=1),
        TextField("p", pattern="("),
    )
    async with open_form(form(*fields)) as page:
        shown = page.words
        for words in (
            "The agent asks",
            "Name required",
            "of the project",
            "3 to 9 characters",
            "w optional",
            "at least 1",
            "only the agent can check it",
        ):
            assert words in shown


async def test_a_field_that_looks_like_a_secret_is_warned_of() -> None:
    async with open_page() as page:
        for name in ("apiKey", "name"):
            await page.elicit(form(TextField(name)))
            assert (SECRET_WARNING in page.words) is (name == "apiKey"), name
            await page.start_over()


async def test_a_default_that_cannot_be_seen_is_not_filled_in_unseen() -> None:
    async with open_form(form(TextField("a", default="safe\u202e\x1b[2J"))) as page:
        assert "n't filled in: safe⟨U+202E⟩␛[2J" in page.words
        await page.press_slowly("ctrl+s")
        assert await page.gets_answer() == ("accept", {})


async def test_a_choice_that_has_no_room_is_shown_whole_under_the_cursor() -> None:
    long = FieldChoice("a", "A title", "with many words " * 10 + "and an end")
    async with open_form(form(ChoiceField("a", (long, *CHOICES)), MORE), size=(60, 30)) as page:
        assert "and an end" not in page.words
        await page.press_slowly("down")
        assert "and an end" in page.words


async def test_every_field_of_a_long_form_is_reached_on_a_small_screen() -> None:
    fields = tuple(TextField(f"field-{number}", description="about it") for number in range(7))
    async with open_form(form(*fields), size=(40, 24)) as page:
        await page.press_slowly(*["enter"] * 6, "z")
        assert "field-6" in page.words
        await page.press_slowly("enter")
        assert await page.gets_answer() == ("accept", {"field-6": "z"})


async def test_an_address_in_its_words_cannot_be_clicked() -> None:
    """R-ELIC-10."""
    asked = form(TextField("f", title="See http://a.example"), message="[Go](https://b.example) https://c.example")
    async with open_form(asked) as page:
        segments = [segment for strip in rows(page.pilot) for segment in strip]
        assert "https://b.example" in page.words
        assert [segment.text for segment in segments if segment.style and segment.style.link] == []
        assert not any("click" in str(segment.style.meta) for segment in segments if segment.style)


# Keys meant for something else


async def test_no_field_takes_a_letter_before_the_user_has_gone_to_it() -> None:
    async with open_page() as page:
        await page.elicit(form(TextField("name")))
        await page.press("tab", *"on and", "space", *"on")
        assert (page.answers, page.draft) == ([], "on and on")
        await page.press_slowly("tab")
        await page.press(*"Ada", "enter")
        assert await page.gets_answer() == ("accept", {"name": "Ada"})


async def test_an_enter_that_was_on_its_way_sends_no_form() -> None:
    async with open_page() as page:
        await page.elicit(form(BooleanField("yes", default=True)))
        await page.press("tab", "ctrl+s", "enter", "1")
        assert page.answers == []
        assert "Too soon" in page.words
        await page.press_slowly("ctrl+s")
        assert await page.gets_answer() == ("accept", {"yes": True})


async def test_a_form_comes_to_the_keyboard_where_nothing_is_written() -> None:
    async with open_page() as page:
        for draft in ("", "I write"):
            await page.write(draft)
            page.clock.pass_guard()
            await page.elicit(form(ChoiceField("f", CHOICES)))
            assert page.prompt.has_focus is bool(draft), draft
            await page.press_slowly("2")
            assert bool(page.answers) is not bool(draft), draft
            assert page.draft == (draft and "I write2")
            await page.start_over()


async def test_a_form_right_after_a_key_comes_to_the_keyboard_after_a_pause() -> None:
    async with open_page() as page:
        await page.press("home")
        await page.elicit(form(ChoiceField("f", CHOICES)))
        assert page.prompt.has_focus
        page.clock.now_s += IDLE_S
        await page.until(lambda: not page.prompt.has_focus)
        await page.press_slowly("2")
        assert page.answers


async def test_the_draft_and_the_form_keep_what_was_typed_into_them_when_it_is_withdrawn() -> None:
    async with open_page() as page:
        await page.write("my draft")
        await page.elicit(form(TextField("name")))
        await page.press_slowly("tab", *"Ada")
        page.withdraw()
        await page.until(lambda: "The agent asks" not in page.words)
        await page.press_slowly("!")
        assert page.draft == "my draft!"


# One queue with permission requests


async def test_the_oldest_question_goes_first_and_no_other_takes_its_place() -> None:
    async with open_page() as page:
        await page.elicit(form(TextField("first")))
        await page.ask("then", title="Delete everything")
        await page.elicit(form(TextField("last")))
        assert "1 of 2" in page.words
        assert not page.card.display
        await page.press_slowly("tab", "a", "enter")
        await page.until(lambda: page.card.display)
        await page.settled()
        assert "The agent asks" not in page.words
        await page.enter_card()
        await page.press("1")
        await page.until(lambda: "last optional" in page.words)
        assert page.decisions == {"then": ALLOW.option_id}


async def test_a_form_that_is_being_removed_takes_no_keyboard() -> None:
    async with open_page() as page:
        await page.press("home")
        await page.elicit(form(BooleanField("yes")))
        (card,) = page.pilot.app.screen.query(FormCard)
        page.clock.now_s += IDLE_S
        page.withdraw()
        while card.display:
            await asyncio.sleep(0)
        page.prompt.give_way_to(card.guard)
        await page.settled()
        await page.press(*"text")
        assert page.draft == "text"


async def test_a_widget_that_is_gone_keeps_no_keys_for_itself() -> None:
    async with open_page() as page:
        await page.elicit(form(BooleanField("yes")))
        (card,) = page.pilot.app.screen.query(FormCard)
        page.withdraw()
        await page.settled()
        page.pilot.app.screen.focused = card
        await page.press("escape", *"text")
        assert page.draft == "text"


async def test_tab_leads_through_a_form_at_once_and_only_sending_is_too_soon() -> None:
    async with open_page() as page:
        await page.write("I write")
        await page.elicit(form(TextField("name"), BooleanField("yes", default=True)))
        await page.press("tab", "tab", "x")
        assert page.draft == "I write"
        assert "Too soon" not in page.words
        await page.press("shift+tab", "ctrl+s")
        assert page.answers == []
        assert "Too soon" in page.words
        await page.press_slowly("ctrl+s")
        assert await page.gets_answer() == ("accept", {"name": "x", "yes": True})


@pytest.mark.usefixtures("far_screen")
@pytest.mark.parametrize("declines", ["0", "Cancel"])
async def test_a_form_that_is_not_on_the_users_screen_yet_can_be_declined_and_not_sent(declines: str) -> None:
    async with open_page() as page:
        await page.elicit(form(TextField("name"), BooleanField("yes", default=True)))
        await page.press_slowly("tab")
        await page.press("x")
        await page.press_slowly("ctrl+s")
        assert "Too soon" in page.words
        await page.press_slowly("tab")
        await page.press_slowly("enter")
        assert page.answers == []
        assert "Too soon" in page.words
        await page.press("shift+tab", "shift+tab")
        page.clock.pass_guard()
        await (page.press("0") if declines == "0" else page.click(declines))
        assert await page.gets_answer() == ("decline" if declines == "0" else "cancel", None)


@pytest.mark.parametrize("size", [(40, 12), (60, 16)])
async def test_on_a_small_screen_the_question_stays_in_view_with_the_focused_field(
    size: tuple[int, int],
) -> None:
    fields = (TextField("name", description="What everybody calls it"), BooleanField("yes"), TextField("why"))
    asked = form(*fields, message="Which name has the module, and who owns it from now on?")
    async with open_form(replace(asked, title="New module"), size=size) as page:
        for number in range(len(fields)):
            assert "Which name" in page.words
            focused = page.pilot.app.focused
            assert focused is not None
            in_view = page.pilot.app.screen.find_widget(focused).visible_region
            assert in_view.height == focused.region.height > 0, number
            await page.press_slowly("tab")


SIZES = (SIZE, (80, 24), (60, 16), (40, 12), (40, 9))


@pytest.mark.parametrize("kind", ["fields", "choice"])
async def test_a_key_that_would_answer_a_form_is_never_dropped_without_a_word(kind: str) -> None:
    """Keys, and sizes that change before and after them, at random times."""
    required = ChoiceField("a", tuple(FieldChoice(str(at), f"Number {at}") for at in range(12)), is_required=True)
    asked = form(required) if kind == "choice" else form(TextField("b", is_required=True), required)
    told = 0
    async with open_page() as page:
        for seed in range(8):
            random = Random(seed)
            await page.elicit(asked)
            await page.press_slowly("tab")
            answered = len(page.answers)
            for _ in range(12):
                page.clock.now_s += random.choice((0.0, 0.1, 0.3, 0.5, 1.3))
                if random.random() < 0.5:
                    await page.pilot.resize_terminal(*random.choice(SIZES))
                key = random.choice(("ctrl+s", "ctrl+s", "0", "enter", "tab", "x"))
                focused = page.pilot.app.focused
                decides = focused is not None and any(
                    isinstance(each, FormCard) for each in focused.ancestors_with_self
                )
                decides &= key == "ctrl+s" or (key == "enter" and isinstance(focused, Button))
                await page.press(key)
                if len(page.answers) > answered:
                    break
                told += decides
                assert not decides or "Too soon" in page.words or "✗" in page.words, (seed, key, page.text)
            page.withdraw()
            await page.settled()
            page.prompt.text = ""
    assert told


async def test_the_numbers_of_choices_are_shown_where_they_count() -> None:
    async with open_page() as page:
        await page.elicit(form(ChoiceField("a", CHOICES), MultiChoiceField("b", CHOICES)))
        for keys in ((), ("tab",)):
            await page.press_slowly(*keys)
            assert "1 ○ First" in page.words, keys
            assert "1 □ First" not in page.words, keys
        await page.press_slowly("tab")
        assert "1 □ First" in page.words
        assert "1 ○ First" not in page.words
        await page.press_slowly("shift+tab", "shift+tab")
        assert "1 ○ First" in page.words, "on the card itself"


async def test_the_keys_say_what_enter_does_in_each_field() -> None:
    fields = (TextField("a"), TextField("b", default="one\ntwo"), BooleanField("c"))
    async with open_form(form(*fields, UnknownField("d", "object", {}))) as page:
        assert "Enter Tab next · Ctrl+S send · Esc back" in page.text
        await page.press_slowly("tab")
        assert "Tab next · Ctrl+S send · Esc back" in page.text
        assert "Enter, Tab" not in page.text
        await page.press_slowly("tab")
        assert "Enter send · Tab next · Esc back" in page.text
        await page.press_slowly("tab")
        assert "Enter answer · Esc back" in page.text
